#include "server/request/api_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/request/json_text.h"
#include "server/request/sampling_fields.h"

namespace tessera::server {
namespace {

bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

bool holds_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) && (end == text.size() || !is_word_character(text[end]))) {
      return true;
    }
  }
  return false;
}

/// The first sampling parameter that the message is about, which begins with it: "top_k is -1; it must be ...".
std::string named_parameter(std::string_view message) {
  const std::string_view subject = message.substr(0, std::min(message.find(" is "), message.find(" holds ")));
  for (const SamplingField& field : sampling_fields()) {
    if (std::string_view(field.key).size() > 1 && holds_word(subject, field.key)) return field.key;
  }
  return subject == "n" ? "n" : "";
}

}  // namespace

ApiError bad_request(std::string param, std::string message) {
  return {.message = std::move(message), .param = std::move(param)};
}

ApiError api_error(const Status& status, std::string param) {
  const std::string& message = status.message();
  switch (status.code()) {
    case StatusCode::invalid_argument:
    case StatusCode::unsupported:
    case StatusCode::not_found:  // such as text for a model without a tokenizer
      if (param.empty()) param = named_parameter(message);
      return bad_request(std::move(param), message);
    case StatusCode::resource_exhausted:
      return {.http_status = 429, .message = message, .type = "rate_limit_error", .code = "rate_limit_exceeded"};
    case StatusCode::unavailable:
    case StatusCode::cancelled:
      return {.http_status = 503, .message = message, .type = "server_error", .code = "service_unavailable"};
    case StatusCode::ok:
    case StatusCode::corrupt_data:
    case StatusCode::internal: break;
  }
  return {.http_status = 500, .message = message, .type = "server_error", .code = "internal_error"};
}

ApiError render_error(const Status& status) {
  if (status.code() == StatusCode::resource_exhausted) return bad_request("messages", status.message());
  return api_error(status, "messages");
}

ApiError model_not_found(std::string_view model, const std::vector<std::string>& served) {
  return {.http_status = 404,
          .message = fmt::format("there is no model \"{}\" here; this server has \"{}\"", shortened(model, 200),
                                 fmt::join(served, "\", \"")),
          .param = "model",
          .code = "model_not_found"};
}

ApiError invalid_api_key() {
  return {.http_status = 401,
          .message = "the API key is missing or wrong; send one of the server's keys as \"Authorization: Bearer KEY\"",
          .code = "invalid_api_key"};
}

std::optional<ApiError> check_context(size_t prompt_tokens, const SamplingParams& sampling, int64_t max_model_len,
                                      const std::string& param, bool at_least) {
  const size_t room = sampling.max_tokens == 0 ? 0 : 1;  // for the first token
  if (prompt_tokens + room <= static_cast<size_t>(max_model_len)) return std::nullopt;
  // Clients look for "prompt is too long" or "maximum context length", and shorten the conversation by themselves.
  return ApiError{
      .message = fmt::format("prompt is too long: {}{} tokens > {} maximum; this model's maximum context length "
                             "is {} tokens, prompt and answer together; shorten the prompt",
                             at_least ? "at least " : "", prompt_tokens, max_model_len, max_model_len),
      .param = param,
      .code = "context_length_exceeded"};
}

}  // namespace tessera::server
