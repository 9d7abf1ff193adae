#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/request/chat_request.h"

namespace tessera::server::openai {

/// Reads "messages" of a request: role system, user, assistant or tool (developer is system, function is tool); content
/// a string (text parts are joined); reasoning_content (also read from "reasoning"); name; tool_call_id; tool_calls.
/// Pictures, sound and files are refused, or left out where RequestOptions say so. `notes`: what was repaired.
std::optional<ApiError> parse_messages(const Json& request, const RequestOptions& options, std::vector<Message>& out,
                                       std::vector<std::string>& notes);

}  // namespace tessera::server::openai
