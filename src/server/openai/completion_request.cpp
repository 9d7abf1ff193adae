#include "server/openai/completion_request.h"

#include <algorithm>

#include "server/openai/answer_format.h"
#include "server/openai/request_fields.h"
#include "server/request/json_fields.h"
#include "server/request/sampling_fields.h"

namespace tessera::server::openai {
namespace {

constexpr int64_t kDefaultMaxTokens = 16;  // OpenAI's
constexpr const char* kExpected = "a string, an array of strings, an array of token ids or an array of such arrays";

/// One prompt of a list, of the same kind as the first.
std::optional<ApiError> parse_listed(const Json& prompt, const std::string& path, bool strings, size_t& room,
                                     std::vector<CompletionPrompt>& out) {
  if (strings) {
    if (!prompt.is_string()) return wrong(path, prompt, "a string, as the first prompt is");
    out.emplace_back(prompt.get<std::string>());
    return std::nullopt;
  }
  if (!prompt.is_array()) return wrong(path, prompt, "an array of token ids, as the first prompt is");
  std::vector<int32_t> ids;
  if (auto error = read_ids(prompt, path, room, ids)) return error;
  if (ids.empty()) return wrong(path, prompt, "at least one token id");
  room -= ids.size();
  out.emplace_back(std::move(ids));
  return std::nullopt;
}

std::optional<ApiError> parse_prompts(const Json& body, const RequestLimits& limits,
                                      std::vector<CompletionPrompt>& out) {
  const Json* prompt = find(body, "prompt");
  if (prompt == nullptr) return missing("prompt", kExpected);
  if (prompt->is_string()) {
    out.emplace_back(prompt->get<std::string>());
    return std::nullopt;
  }
  if (!prompt->is_array() || prompt->empty()) return wrong("prompt", *prompt, kExpected);
  const Json& first = prompt->front();
  if (first.is_number()) {
    std::vector<int32_t> ids;
    if (auto error = read_ids(*prompt, "prompt", limits.prompt_tokens_max, ids)) return error;
    out.emplace_back(std::move(ids));
    return std::nullopt;
  }
  if (!first.is_string() && !first.is_array()) return wrong("prompt[0]", first, "a string, a token id or an array");
  if (auto error = too_many("prompt", prompt->size(), limits.prompts_max, "prompts")) return error;
  size_t room = limits.prompt_tokens_max;
  for (size_t i = 0; i < prompt->size(); ++i) {
    if (auto error = parse_listed((*prompt)[i], at("prompt", i), first.is_string(), room, out)) return error;
  }
  return std::nullopt;
}

std::optional<ApiError> parse_counts(const Json& body, const RequestLimits& limits, const CompletionRequest& request) {
  const int n = request.sampling.n;
  std::optional<int64_t> best_of;
  if (auto error = read_whole(body, "best_of", 1, kAnyInt, best_of)) return error;
  if (best_of && *best_of != n) {
    return wrong("best_of", Json(*best_of), std::to_string(n) + ", as \"n\" is: choosing among more is not supported");
  }
  const size_t choices = request.prompts.size() * static_cast<size_t>(n);
  return too_many("n", choices, limits.choices_max, "choices with all prompts");
}

}  // namespace

std::optional<ApiError> parse_completion_request(const Json& body, const RequestOptions& options,
                                                 CompletionRequest& out) {
  out = {};
  out.sampling = options.sampling;
  out.sampling.logprobs.reset();
  if (out.sampling.max_tokens < 0) out.sampling.max_tokens = kDefaultMaxTokens;
  if (auto error = read_text(body, "model", out.model)) return error;
  if (auto error = check_other_fields(body, Endpoint::completion, out.notes)) return error;
  if (auto error = read_cache_salt(body, out.cache_salt)) return error;
  if (auto error = parse_answer_format(body, out.format)) return error;
  if (auto error = parse_stream(body, out.stream)) return error;
  if (auto error = apply_sampling(body, out.sampling)) return error;
  if (auto error = read_flag(body, "echo", out.echo)) return error;
  if (auto error = read_flag(body, "return_token_ids", out.return_token_ids)) return error;
  if (auto error = read_flag(body, "return_draft_stats", out.return_draft_stats)) return error;
  out.prompt_logprobs = out.sampling.prompt_logprobs.has_value();
  if (out.prompt_logprobs && out.stream.stream) {
    return wrong("prompt_logprobs", Json(*out.sampling.prompt_logprobs), "\"stream\" to be false beside it");
  }
  if (out.echo && out.sampling.logprobs) {
    out.sampling.prompt_logprobs = std::max(out.sampling.prompt_logprobs.value_or(0), *out.sampling.logprobs);
  }
  if (auto error = parse_prompts(body, options.limits, out.prompts)) return error;
  return parse_counts(body, options.limits, out);
}

}  // namespace tessera::server::openai
