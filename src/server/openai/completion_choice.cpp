#include "server/openai/completion_choice.h"

namespace tessera::server::openai {
namespace {

void append_list(const std::string& elements, std::string& out) {
  if (!out.empty() && !elements.empty()) out += ',';
  out += elements;
}

}  // namespace

void CompletionDelta::add(const CompletionDelta& delta) {
  text += delta.text;
  append_list(delta.logprobs.tokens, logprobs.tokens);
  append_list(delta.logprobs.token_logprobs, logprobs.token_logprobs);
  append_list(delta.logprobs.top_logprobs, logprobs.top_logprobs);
  append_list(delta.logprobs.text_offset, logprobs.text_offset);
  tokens.insert(tokens.end(), delta.tokens.begin(), delta.tokens.end());
  if (delta.finish_reason != nullptr) finish_reason = delta.finish_reason;
}

CompletionDelta CompletionChoice::echo(const std::string& prompt_text, const std::vector<int32_t>& prompt,
                                       const std::vector<std::vector<TokenLogprob>>& logprobs) {
  CompletionDelta delta;
  delta.text = prompt_text;
  if (!options_.logprobs) return delta;
  for (size_t i = 0; i < prompt.size() && i < logprobs.size(); ++i) {
    delta.logprobs.add(prompt[i], logprobs[i], options_.token_bytes, offset_);
  }
  return delta;
}

CompletionDelta CompletionChoice::feed(const Event& event) {
  CompletionDelta delta;
  delta.text = event.text;
  tokens_ += static_cast<int64_t>(event.tokens.size());
  cached_tokens_ = event.cached_tokens;
  tier_tokens_ = event.tier_tokens;
  drafts_ = event.drafts;
  if (options_.logprobs) {
    for (size_t i = 0; i < event.tokens.size() && i < event.logprobs.size(); ++i) {
      delta.logprobs.add(event.tokens[i], event.logprobs[i], options_.token_bytes, offset_);
    }
  }
  if (options_.return_token_ids) delta.tokens = event.tokens;
  const bool cut = options_.must_be_whole && event.stop_cause != StopCause::model;
  if (event.finish_reason == FinishReason::stop) delta.finish_reason = cut ? "length" : "stop";
  if (event.finish_reason == FinishReason::length) delta.finish_reason = "length";
  return delta;
}

}  // namespace tessera::server::openai
