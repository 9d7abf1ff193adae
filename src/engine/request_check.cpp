#include "engine/request_check.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "text/utf8.h"

namespace tessera::engine {
namespace {

template <typename T>
Status check_range(std::string_view field, T value, T low, T high) {
  if (value >= low && value <= high) return {};  // false for NaN
  return error(StatusCode::invalid_argument, "{} is {}; it must be between {} and {}", field, value, low, high);
}

Status check_positive(std::string_view field, float value) {
  if (value > 0 && std::isfinite(value)) return {};
  return error(StatusCode::invalid_argument, "{} is {}; it must be a finite number above 0", field, value);
}

Status check_token(std::string_view field, int32_t token, const RequestLimits& limits) {
  if (token >= 0 && token < limits.vocab_size) return {};
  return error(StatusCode::invalid_argument, "{} holds token id {}; the model's ids are 0 to {}", field, token,
               limits.vocab_size - 1);
}

Status check_tokens(std::string_view field, const std::vector<int32_t>& tokens, const RequestLimits& limits) {
  for (const int32_t token : tokens) TESSERA_RETURN_IF_ERROR(check_token(field, token, limits));
  return {};
}

/// Each is some well-formed text, and all together have at most `bytes_max` bytes; otherwise what is said of it.
Status check_texts(const std::vector<std::string>& texts, size_t bytes_max, const char* empty, const char* ill_formed,
                   std::string_view length) {
  size_t bytes = 0;
  for (const std::string& one : texts) {
    bytes += one.size();
    if (one.empty()) return {StatusCode::invalid_argument, empty};
    if (text::find_invalid_utf8(one) != std::string::npos) return {StatusCode::invalid_argument, ill_formed};
  }
  return check_range<size_t>(length, bytes, 0, bytes_max);
}

Status check_stop_strings(const SamplingParams& params, const RequestLimits& limits) {
  TESSERA_RETURN_IF_ERROR(check_range<size_t>("the number of stop strings", params.stop.size(), 0, kMaxStopStrings));
  if (!params.stop.empty() && !limits.has_tokenizer) {
    return {StatusCode::invalid_argument,
            "stop strings need a tokenizer, and the model directory has no tokenizer.json; use stop_token_ids"};
  }
  return check_texts(params.stop, kMaxStopBytes, "a stop string is empty", "a stop string is not well-formed UTF-8",
                     "the length of all stop strings in bytes");
}

Status check_filter(const SamplingParams& params, const RequestLimits& limits) {
  TESSERA_RETURN_IF_ERROR(
      check_range<size_t>("the number of allowed_token_ids", params.allowed_token_ids.size(), 0, kMaxAllowedTokenIds));
  TESSERA_RETURN_IF_ERROR(check_tokens("allowed_token_ids", params.allowed_token_ids, limits));
  TESSERA_RETURN_IF_ERROR(check_range<size_t>("the number of bad_words", params.bad_words.size(), 0, kMaxBadWords));
  if (!params.bad_words.empty() && !limits.has_tokenizer) {
    return {StatusCode::invalid_argument,
            "bad_words holds text, and the model directory has no tokenizer.json; use logit_bias"};
  }
  return check_texts(params.bad_words, kMaxBadWordBytes, "bad_words holds an empty text; leave it out",
                     "bad_words holds a text that is not well-formed UTF-8", "the length of all bad_words in bytes");
}

Status check_truncation(const SamplingParams& params, const RequestLimits& limits) {
  if (!params.truncate_prompt_tokens || *params.truncate_prompt_tokens == -1) return {};
  const int64_t tokens = *params.truncate_prompt_tokens;
  if (tokens >= 1 && tokens <= limits.max_model_len) return {};
  return error(StatusCode::invalid_argument,
               "truncate_prompt_tokens is {}; it must be between 1 and the context's {} tokens, or -1 (as many as fit)",
               tokens, limits.max_model_len);
}

Status check_numbers(const SamplingParams& params, const RequestLimits& limits) {
  if (!(params.temperature >= 0) || !std::isfinite(params.temperature)) {
    return error(StatusCode::invalid_argument, "temperature is {}; it must be a finite number, 0 (greedy) or above",
                 params.temperature);
  }
  if (params.top_k < 0) {
    return error(StatusCode::invalid_argument, "top_k is {}; it must be 0 (off) or above", params.top_k);
  }
  if (!(params.top_p > 0 && params.top_p <= 1)) {
    return error(StatusCode::invalid_argument, "top_p is {}; it must be above 0 and at most 1", params.top_p);
  }
  TESSERA_RETURN_IF_ERROR(check_range("min_p", params.min_p, 0.0F, 1.0F));
  TESSERA_RETURN_IF_ERROR(check_positive("repetition_penalty", params.repetition_penalty));
  TESSERA_RETURN_IF_ERROR(check_range("presence_penalty", params.presence_penalty, -2.0F, 2.0F));
  TESSERA_RETURN_IF_ERROR(check_range("frequency_penalty", params.frequency_penalty, -2.0F, 2.0F));
  TESSERA_RETURN_IF_ERROR(check_range("n", params.n, 1, kMaxChoices));
  if (params.logprobs) TESSERA_RETURN_IF_ERROR(check_range("logprobs", *params.logprobs, 0, kMaxLogprobs));
  if (params.prompt_logprobs) {
    TESSERA_RETURN_IF_ERROR(check_range("prompt_logprobs", *params.prompt_logprobs, 0, kMaxLogprobs));
  }
  TESSERA_RETURN_IF_ERROR(
      check_range<size_t>("the number of logit_bias entries", params.logit_bias.size(), 0, kMaxLogitBias));
  for (const auto& [token, bias] : params.logit_bias) {
    TESSERA_RETURN_IF_ERROR(check_token("logit_bias", token, limits));
    TESSERA_RETURN_IF_ERROR(check_range("a value of logit_bias", bias, -100.0F, 100.0F));
  }
  TESSERA_RETURN_IF_ERROR(
      check_range<size_t>("the number of stop_token_ids", params.stop_token_ids.size(), 0, kMaxStopTokenIds));
  TESSERA_RETURN_IF_ERROR(check_tokens("stop_token_ids", params.stop_token_ids, limits));
  if (params.max_tokens < -1) {
    return error(StatusCode::invalid_argument, "max_tokens is {}; it must be 0 or above, or -1 (as many as fit)",
                 params.max_tokens);
  }
  if (params.min_tokens < 0 || (params.max_tokens >= 0 && params.min_tokens > params.max_tokens)) {
    return error(StatusCode::invalid_argument, "min_tokens is {}; it must be between 0 and max_tokens ({})",
                 params.min_tokens, params.max_tokens);
  }
  TESSERA_RETURN_IF_ERROR(check_filter(params, limits));
  return check_stop_strings(params, limits);
}

/// In order of their tokens, what begins with a list stands right behind it.
bool one_begins_another(std::vector<std::vector<int32_t>> beginnings) {
  std::sort(beginnings.begin(), beginnings.end());
  return std::adjacent_find(beginnings.begin(), beginnings.end(), [](const auto& a, const auto& b) {
           return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
         }) != beginnings.end();
}

Status check_guide(const Guide& guide, const RequestLimits& limits) {
  if (guide.thinking_end != -1) TESSERA_RETURN_IF_ERROR(check_token("guide.thinking_end", guide.thinking_end, limits));
  if (guide.thinking_excludes != -1) {
    TESSERA_RETURN_IF_ERROR(check_token("guide.thinking_excludes", guide.thinking_excludes, limits));
    if (guide.thinking_excludes == guide.thinking_end) {
      return {StatusCode::invalid_argument, "guide.thinking_excludes is the token that ends thinking"};
    }
  }
  if (guide.thinking_tokens_max < -1) {
    return error(StatusCode::invalid_argument, "guide.thinking_tokens_max is {}; it must be 0 or above, or -1 (off)",
                 guide.thinking_tokens_max);
  }
  if (guide.thinking_tokens_max >= 0 && guide.thinking_end >= 0) {
    // The closer's last token is the first that ends thinking, so that the closer is said whole and once.
    const auto& closer = guide.thinking_closer;
    const auto end = std::find(closer.begin(), closer.end(), guide.thinking_end);
    if (end == closer.end() || end + 1 != closer.end()) {
      return error(StatusCode::invalid_argument,
                   "guide.thinking_closer must end with thinking_end ({}) and hold it once", guide.thinking_end);
    }
  }
  TESSERA_RETURN_IF_ERROR(check_tokens("guide.thinking_closer", guide.thinking_closer, limits));
  size_t tokens = guide.thinking_closer.size();
  for (const auto& beginning : guide.beginnings) {
    if (beginning.empty()) return {StatusCode::invalid_argument, "a beginning in guide.beginnings is empty"};
    TESSERA_RETURN_IF_ERROR(check_tokens("guide.beginnings", beginning, limits));
    tokens += beginning.size();
  }
  TESSERA_RETURN_IF_ERROR(check_range<size_t>("the number of tokens in guide", tokens, 0, kMaxGuideTokens));
  if (one_begins_another(guide.beginnings)) {
    return {StatusCode::invalid_argument, "in guide.beginnings, one is the beginning of another, or twice there"};
  }
  return {};
}

}  // namespace

void truncate_prompt(const SamplingParams& params, int64_t max_model_len, std::vector<int32_t>& prompt) {
  if (!params.truncate_prompt_tokens) return;
  int64_t kept = *params.truncate_prompt_tokens;
  if (kept == -1) kept = std::max<int64_t>(1, max_model_len - (params.max_tokens < 0 ? 1 : params.max_tokens));
  const auto size = static_cast<int64_t>(prompt.size());
  if (kept >= 1 && kept < size) prompt.erase(prompt.begin(), prompt.end() - kept);
}

Status check_prompt(const std::vector<int32_t>& prompt, int64_t room, const RequestLimits& limits) {
  const auto size = static_cast<int64_t>(prompt.size());
  if (size == 0) return {StatusCode::invalid_argument, "the prompt is empty; it must have at least one token"};
  if (size + room > limits.max_model_len) {
    return error(
        StatusCode::invalid_argument,
        "the prompt has {} tokens; the context is {} tokens, prompt and output together; shorten the prompt or "
        "raise max_model_len",
        size, limits.max_model_len);
  }
  return check_tokens("the prompt", prompt, limits);
}

Status check_sampling(const SamplingParams& params, const RequestLimits& limits) {
  TESSERA_RETURN_IF_ERROR(check_truncation(params, limits));
  return check_numbers(params, limits);
}

Status check_request(const Request& request, const RequestLimits& limits) {
  TESSERA_RETURN_IF_ERROR(check_sampling(request.sampling, limits));
  TESSERA_RETURN_IF_ERROR(check_prompt(request.prompt, request.sampling.max_tokens == 0 ? 0 : 1, limits));
  return check_guide(request.guide, limits);
}

}  // namespace tessera::engine
