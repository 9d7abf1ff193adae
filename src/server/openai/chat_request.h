#pragma once

#include <optional>

#include "server/request/chat_request.h"

namespace tessera::server::openai {

/// A request of /v1/chat/completions.
///
/// Fields that would change the answer but are not supported (chat_template, audio...) are refused unless they hold
/// their neutral value; unknown ones are ignored and listed.
///
/// Thinking. On or off: chat_template_kwargs.enable_thinking, else enable_thinking, else thinking {type: enabled or
/// disabled}, else reasoning {enabled}, else reasoning_effort (none and minimal: off, others: on), else the template's
/// way. Budget, each in tokens: thinking_token_budget, thinking_budget, max_thinking_tokens, reasoning.max_tokens,
/// thinking.budget_tokens, else reasoning_effort low: 2048, others unbounded (clients send "medium" unasked).
std::optional<ApiError> parse_chat_request(const Json& body, const RequestOptions& options, ChatRequest& out);

}  // namespace tessera::server::openai
