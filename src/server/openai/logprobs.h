#pragma once

#include <string>
#include <vector>

#include "server/request/token_text.h"
#include "tessera/engine.h"

// Log-probabilities in the shapes of three APIs. A token's text is its bytes, U+FFFD where they are a part of a code
// point; log-probabilities below -9999, and those that are no number, are -9999, which JSON can say.
namespace tessera::server::openai {

/// Chat: appends {"token", "logprob", "bytes", "top_logprobs": [...]} for one generated token.
void append_chat_logprob(const std::vector<TokenLogprob>& entry, const TokenBytes& token_bytes, std::string& out);

/// The four arrays of the legacy completions format, as JSON texts without their brackets.
struct LegacyLogprobs {
  std::string tokens = {}, token_logprobs = {}, top_logprobs = {}, text_offset = {};

  [[nodiscard]] bool empty() const { return tokens.empty(); }
  /// `entry` is empty for the first token of a prompt: null. `offset` is that of the token in the text, in code points,
  /// and is moved behind it.
  void add(int32_t token, const std::vector<TokenLogprob>& entry, const TokenBytes& token_bytes, int64_t& offset);
};

/// prompt_logprobs as vLLM writes them: [null, {"token id": {"logprob", "rank", "decoded_token"}, ...}, ...]
std::string prompt_logprobs_json(const std::vector<std::vector<TokenLogprob>>& prompt, const TokenBytes& token_bytes);

}  // namespace tessera::server::openai
