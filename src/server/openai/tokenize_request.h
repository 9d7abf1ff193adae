#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/request/chat_request.h"
#include "server/request/token_text.h"

namespace tessera::server::openai {

/// POST /tokenize: a prompt, or a conversation as for /v1/chat/completions. add_special_tokens is accepted; the
/// tokenizers served here add none.
struct TokenizeRequest {
  std::string model = {};
  std::optional<std::string> prompt = {};  // none: the conversation of `chat`
  ChatRequest chat = {};                   // what makes the prompt alone
  bool return_token_strs = false;
};
std::optional<ApiError> parse_tokenize_request(const Json& body, const RequestOptions& options, TokenizeRequest& out);

/// POST /detokenize
struct DetokenizeRequest {
  std::string model = {};
  std::vector<int32_t> tokens = {};
};
std::optional<ApiError> parse_detokenize_request(const Json& body, const RequestOptions& options,
                                                 DetokenizeRequest& out);

/// {"count", "max_model_len", "tokens", "token_strs"}: the last is null unless `strings` is given.
std::string tokenize_json(const std::vector<int32_t>& tokens, int64_t max_model_len, const TokenBytes* strings);
/// {"prompt"}
std::string detokenize_json(const std::string& text);

}  // namespace tessera::server::openai
