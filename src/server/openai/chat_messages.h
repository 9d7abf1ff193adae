#pragma once

#include <optional>

#include "server/openai/json_body.h"

namespace tessera::server::openai {

/// Reads "messages" of a request into what chat templates expect: role system, user, assistant or tool (developer is
/// system, function is tool); content a string (text parts are joined); reasoning_content (also read from "reasoning");
/// name; tool_call_id; tool_calls whose arguments are objects. Several system messages at the start become one.
/// Pictures, sound and files are refused.
std::optional<ApiError> parse_messages(const Json& request, const RequestLimits& limits, Json& out);

}  // namespace tessera::server::openai
