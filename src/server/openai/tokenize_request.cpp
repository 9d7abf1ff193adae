#include "server/openai/tokenize_request.h"

#include <fmt/format.h>

#include "server/openai/template_fields.h"
#include "server/request/json_fields.h"

namespace tessera::server::openai {

std::optional<ApiError> parse_tokenize_request(const Json& body, const RequestOptions& options, TokenizeRequest& out) {
  out = {};
  bool ignored = true;
  if (auto error = read_text(body, "model", out.model)) return error;
  if (auto error = read_flag(body, "add_special_tokens", ignored)) return error;
  if (auto error = read_flag(body, "return_token_strs", out.return_token_strs)) return error;
  const bool has_prompt = find(body, "prompt") != nullptr;
  if (has_prompt == (find(body, "messages") != nullptr)) {
    return bad_request("prompt", "expected one of \"prompt\" and \"messages\"");
  }
  if (has_prompt) {
    if (!body["prompt"].is_string()) return wrong("prompt", body["prompt"], "a string");
    out.prompt = body["prompt"].get<std::string>();
    return std::nullopt;
  }
  if (const Json* source = find(body, "chat_template")) {
    return wrong("chat_template", *source, "nothing: templates are the operator's choice");
  }
  return parse_template_fields(body, options, out.chat);
}

std::optional<ApiError> parse_detokenize_request(const Json& body, const RequestOptions& options,
                                                 DetokenizeRequest& out) {
  out = {};
  if (auto error = read_text(body, "model", out.model)) return error;
  const Json* tokens = find(body, "tokens");
  if (tokens == nullptr) return missing("tokens", "an array of token ids");
  return read_ids(*tokens, "tokens", options.limits.prompt_tokens_max, out.tokens);
}

std::string tokenize_json(const std::vector<int32_t>& tokens, int64_t max_model_len, const TokenBytes* strings) {
  std::string out = fmt::format(R"({{"count":{},"max_model_len":{},"tokens":)", tokens.size(), max_model_len);
  append_ids(tokens, out);
  out += R"(,"token_strs":)";
  if (strings == nullptr) return out + "null}";
  for (size_t i = 0; i < tokens.size(); ++i) {
    out += i == 0 ? '[' : ',';
    append_string((*strings)(tokens[i]), out);
  }
  return out + (tokens.empty() ? "[]}" : "]}");
}

std::string detokenize_json(const std::string& text) {
  std::string out = R"({"prompt":)";
  append_string(text, out);
  return out + "}";
}

}  // namespace tessera::server::openai
