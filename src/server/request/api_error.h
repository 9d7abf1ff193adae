#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/engine.h"

namespace tessera::server {

/// What a client is told in place of an answer. Parse functions return std::optional<ApiError>; none is success.
struct ApiError {
  int http_status = 400;
  std::string message = {};
  std::string param = {};  // path of the field at fault, such as "messages[2].content[0].type"; empty: null
  std::string type = "invalid_request_error";
  std::string code = {};  // empty: null
};

/// 400, or another status of that kind: the request is at fault.
ApiError bad_request(std::string param, std::string message);

/// An engine's Status as an answer: what the request is to blame for is 400, a full queue 429, unavailable and
/// cancelled (the server is going down: a client that left reads nothing) 503, the rest 500. `param` is the field at
/// fault; if empty, the sampling parameter that the message names.
ApiError api_error(const Status& status, std::string param = {});

/// What the chat template says of a conversation: its refusals and exceeded limits are 400, no renderer 503.
ApiError render_error(const Status& status);

/// 404, code model_not_found.
ApiError model_not_found(std::string_view model, const std::vector<std::string>& served);

/// 401, code invalid_api_key.
ApiError invalid_api_key();

/// 400, code context_length_exceeded, unless the prompt and one token fit (the prompt alone, if max_tokens is 0).
/// `param`: "messages" or "prompt". `at_least`: the prompt may have more tokens than were counted.
std::optional<ApiError> check_context(size_t prompt_tokens, const SamplingParams& sampling, int64_t max_model_len,
                                      const std::string& param, bool at_least = false);

}  // namespace tessera::server
