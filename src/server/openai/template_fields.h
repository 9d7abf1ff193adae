#pragma once

#include <optional>

#include "server/request/chat_request.h"

namespace tessera::server::openai {

/// The part of a chat request that makes the prompt: fills messages, continues_message,
/// add_generation_prompt, template_variables, tools, thinking_budget and include_reasoning; see parse_chat_request.
std::optional<ApiError> parse_template_fields(const Json& body, const RequestOptions& options, ChatRequest& out);

/// The part of that which says how the model thinks: template_variables, thinking_budget and include_reasoning.
std::optional<ApiError> parse_thinking_fields(const Json& body, const RequestOptions& options, ChatRequest& out);

}  // namespace tessera::server::openai
