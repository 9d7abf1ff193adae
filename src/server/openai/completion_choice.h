#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/openai/logprobs.h"
#include "tessera/engine.h"

namespace tessera::server::openai {

struct CompletionDelta {
  std::string text = {};
  LegacyLogprobs logprobs = {};
  std::vector<int32_t> tokens = {};  // where they were asked for
  const char* finish_reason = nullptr;

  [[nodiscard]] bool empty() const { return text.empty() && logprobs.empty() && finish_reason == nullptr; }
  void add(const CompletionDelta& delta);  // gathers a whole choice
};

/// The events of one choice of a completion request.
class CompletionChoice {
 public:
  struct Options {
    bool logprobs = false;
    bool return_token_ids = false;
    bool must_be_whole = false;   // it follows a format: stopped by anything but the model, it was cut
    TokenBytes token_bytes = {};  // needed with logprobs
  };
  explicit CompletionChoice(Options options) : options_(std::move(options)) {}

  /// With echo: what stands before the first event. `logprobs` are Event::prompt_logprobs of choice 0; empty if they
  /// were not asked for.
  CompletionDelta echo(const std::string& prompt_text, const std::vector<int32_t>& prompt,
                       const std::vector<std::vector<TokenLogprob>>& logprobs);
  CompletionDelta feed(const Event& event);

  [[nodiscard]] int64_t tokens() const { return tokens_; }
  /// Of the prompt, those that the prefix cache had.
  [[nodiscard]] int64_t cached_tokens() const { return cached_tokens_; }
  /// Of these, what only its tier in the host's memory had.
  [[nodiscard]] int64_t tier_tokens() const { return tier_tokens_; }
  /// Once it has ended.
  [[nodiscard]] const DraftStats& drafts() const { return drafts_; }

 private:
  Options options_;
  int64_t tokens_ = 0, cached_tokens_ = 0, tier_tokens_ = 0;
  DraftStats drafts_;
  int64_t offset_ = 0;  // code points of the tokens so far
};

}  // namespace tessera::server::openai
