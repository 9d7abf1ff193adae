#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/openai/json_body.h"
#include "server/openai/tool_fields.h"
#include "tessera/engine.h"

namespace tessera::server::openai {

/// What the operator sets for all requests.
struct RequestOptions {
  RequestLimits limits = {};
  SamplingParams sampling = {};           // where a request is silent; see Engine::default_sampling
  Json template_kwargs = Json::object();  // --default-chat-template-kwargs
  /// chat_template_kwargs that requests may set besides enable_thinking, thinking, preserve_thinking, add_vision_id.
  std::vector<std::string> template_kwargs_allowed = {};
};

struct StreamFields {
  bool stream = false;
  bool include_usage = false;     // a last chunk with usage and no choices
  bool continuous_usage = false;  // usage in every chunk
};

/// A request of /v1/chat/completions, checked.
struct ChatRequest {
  std::string model = {};  // empty: not given, the served one is meant
  /// For Engine::render_chat: messages, tools, add_generation_prompt, enable_thinking and other template variables.
  Json template_request = Json::object();
  ToolFields tools = {};
  bool parallel_tool_calls = true;
  std::optional<int64_t> thinking_budget = {};  // tokens
  bool include_reasoning = true;
  SamplingParams sampling = {};  // max_tokens -1: as many as fit
  StreamFields stream = {};
  bool return_token_ids = false;
  std::vector<std::string> ignored = {};  // fields that mean nothing here, for the debug log; at most 32
};

/// Fields that would change the answer but are not supported (response_format json_schema, guided_json, chat_template,
/// functions...) are refused unless they hold their neutral value; unknown ones are ignored and listed.
///
/// Thinking. On or off: chat_template_kwargs.enable_thinking, else enable_thinking, else thinking {type: enabled or
/// disabled}, else reasoning {enabled}, else reasoning_effort (none and minimal: off, others: on), else the template's
/// way. Budget, each in tokens: thinking_token_budget, thinking_budget, max_thinking_tokens, reasoning.max_tokens,
/// thinking.budget_tokens, else reasoning_effort low: 2048, others unbounded (clients send "medium" unasked).
std::optional<ApiError> parse_chat_request(const Json& body, const RequestOptions& options, ChatRequest& out);

}  // namespace tessera::server::openai
