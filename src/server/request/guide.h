#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "server/request/token_text.h"
#include "server/request/tools.h"
#include "tessera/engine.h"

namespace tessera::server {

/// What bounds the thinking and begins the answer of a chat request: with tool_choice required or named, what follows
/// the thinking is the beginning of a call. `opens_thinking`: text::prompt_opens_thinking of the rendered prompt.
/// unsupported where "</think>" is not one token and the guide needs it.
Expected<Guide> make_guide(bool opens_thinking, std::optional<int64_t> thinking_budget, const ToolFields& tools,
                           const Tokenise& tokenise);

}  // namespace tessera::server
