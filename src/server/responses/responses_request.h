#pragma once

#include <optional>
#include <string>

#include "server/request/chat_request.h"
#include "server/responses/response_store.h"
#include "server/responses/tool_fields.h"

namespace tessera::server::responses {

/// A request of /v1/responses.
struct ResponsesRequest {
  ChatRequest chat = {};
  ToolNames tools = {};
  bool store = true;
  bool background = false;  // made whether or not its client waits
  std::string previous_id = {};
  std::string input = {};      // its own items as JSON, each with an id; empty: not to be stored
  Json echo = Json::object();  // members of the response that repeat the request, or say what counts in its place
  bool shows_summary = false;  // reasoning comes as a summary too
  bool shows_sealed_reasoning = false;  // and as encrypted_content
  bool truncates = false;               // what does not fit is left out from the beginning of the conversation
  bool sums_up = false;  // the answer is the conversation in short: the input ends with compaction_trigger
  /// Where the prompt has more tokens, the conversation is summed up before it is answered; 0: where the server wants.
  std::optional<int64_t> tokens_before_summary = {};
};

/// Reads a body. `id`: of the response, which ids of its items are made from.
///
/// context_management: [{"type": "compaction", "compact_threshold": N}]. Unknown fields are ignored. Sampling
/// parameters of this server besides OpenAI's, response formats by vLLM's names, chat_template_kwargs and what else
/// says whether a model thinks are read as in chat completions. Refused: conversation and prompt (they need what is
/// kept at the provider).
std::optional<ApiError> parse_responses_request(const Json& body, const RequestOptions& options, const std::string& id,
                                                ResponseStore& store, ResponsesRequest& out);

}  // namespace tessera::server::responses
