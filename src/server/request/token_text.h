#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace tessera::server {

/// The bytes of a token; see Engine::token_bytes.
using TokenBytes = std::function<std::string(int32_t token)>;

/// Engine::tokenize
using Tokenise = std::function<Expected<std::vector<int32_t>>(const std::string& text)>;

}  // namespace tessera::server
