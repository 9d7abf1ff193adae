#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "server/request/token_text.h"
#include "tessera/engine.h"

namespace tessera::server {

enum class AnswerStart { unguided, freely, guided };

/// What bounds the thinking of a chat request, and where the grammar that its answer follows begins: with
/// `freely` (text that may hold calls) right behind the thinking, else behind the blank line that comes after it.
/// The grammar itself is for the caller to add. `opens_thinking`: text::prompt_opens_thinking of the rendered prompt.
/// unsupported where "</think>" is not one token and the guide needs it.
Expected<Guide> make_guide(bool opens_thinking, std::optional<int64_t> thinking_budget, AnswerStart start,
                           const Tokenise& tokenise);

}  // namespace tessera::server
