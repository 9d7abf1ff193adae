#pragma once

#include <optional>

#include "server/openai/chat_request.h"

namespace tessera::server::openai {

/// The part of a chat request that makes the prompt: fills template_request, tools, thinking_budget and
/// include_reasoning; see parse_chat_request.
std::optional<ApiError> parse_template_fields(const Json& body, const RequestOptions& options, ChatRequest& out);

}  // namespace tessera::server::openai
