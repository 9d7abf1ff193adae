#include "server/openai/chat_request.h"

#include <string_view>

#include "engine/request_check.h"
#include "server/openai/answer_format.h"
#include "server/openai/request_fields.h"
#include "server/openai/template_fields.h"
#include "server/request/json_fields.h"
#include "server/request/sampling_fields.h"

namespace tessera::server::openai {
namespace {

/// logprobs is a switch here; top_logprobs says how many alternatives.
std::optional<ApiError> parse_logprobs(const Json& body, SamplingParams& out) {
  bool wanted = false;
  if (auto error = read_flag(body, "logprobs", wanted)) return error;
  std::optional<int64_t> alternatives;
  if (auto error = read_whole(body, "top_logprobs", 0, engine::kMaxLogprobs, alternatives)) return error;
  if (alternatives.value_or(0) > 0 && !wanted) {
    return wrong("top_logprobs", Json(*alternatives), "\"logprobs\": true beside it");
  }
  out.logprobs.reset();
  if (wanted) out.logprobs = static_cast<int>(alternatives.value_or(0));
  return std::nullopt;
}

std::optional<ApiError> parse_sampling(const Json& body, SamplingParams& out) {
  static constexpr std::string_view kOther[] = {"logprobs"};
  if (auto error = apply_sampling(body, out, kOther)) return error;
  if (auto error = parse_logprobs(body, out)) return error;
  // The newer name counts where both are given.
  std::optional<int64_t> max_tokens;
  if (auto error = read_whole(body, "max_completion_tokens", -1, kAnyCount, max_tokens)) return error;
  if (max_tokens) out.max_tokens = *max_tokens;
  return std::nullopt;
}

}  // namespace

std::optional<ApiError> parse_chat_request(const Json& body, const RequestOptions& options, ChatRequest& out) {
  out = {};
  out.sampling = options.sampling;
  if (auto error = read_text(body, "model", out.model)) return error;
  if (auto error = check_other_fields(body, Endpoint::chat, out.notes)) return error;
  if (auto error = parse_answer_format(body, out.format)) return error;
  if (auto error = parse_stream(body, out.stream)) return error;
  if (auto error = parse_sampling(body, out.sampling)) return error;
  if (out.stream.stream && out.sampling.prompt_logprobs) {
    return wrong("prompt_logprobs", Json(*out.sampling.prompt_logprobs), "\"stream\" to be false beside it");
  }
  if (auto error = read_cache_salt(body, out.cache_salt)) return error;
  if (auto error = read_flag(body, "return_token_ids", out.return_token_ids)) return error;
  if (auto error = read_flag(body, "return_draft_stats", out.return_draft_stats)) return error;
  if (auto error = read_flag(body, "parallel_tool_calls", out.parallel_tool_calls)) return error;
  return parse_template_fields(body, options, out);
}

}  // namespace tessera::server::openai
