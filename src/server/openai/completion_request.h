#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/request/chat_request.h"

namespace tessera::server::openai {

/// Text, or token ids as they are.
using CompletionPrompt = std::variant<std::string, std::vector<int32_t>>;

/// A request of /v1/completions, checked.
struct CompletionRequest {
  std::string model = {};                      // empty: not given
  std::vector<CompletionPrompt> prompts = {};  // at least one
  bool echo = false;
  /// max_tokens is 16 where not given. With echo and logprobs, prompt_logprobs is set too.
  SamplingParams sampling = {};
  bool prompt_logprobs = false;  // asked for by that name: goes into the response beside the legacy logprobs
  std::optional<AnswerFormat> format = {};
  StreamFields stream = {};
  bool return_token_ids = false, return_draft_stats = false;
  std::string cache_salt = {};          // Request::cache_salt
  std::vector<std::string> notes = {};  // what was left out: for the log and a header of the answer
};

/// `prompt` is a string, an array of strings, an array of token ids or an array of arrays of token ids. Choice c of
/// prompt p has the index p * n + c in the response.
std::optional<ApiError> parse_completion_request(const Json& body, const RequestOptions& options,
                                                 CompletionRequest& out);

}  // namespace tessera::server::openai
