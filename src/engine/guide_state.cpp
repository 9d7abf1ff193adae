#include "engine/guide_state.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/sample.h"

namespace tessera::engine {

GuideState::GuideState(const Guide& guide, int64_t vocab_size)
    : guide_(guide), vocab_size_(vocab_size), thinking_tokens_(guide.thinking_end >= 0 ? -1 : 0) {
  update();
}

bool GuideState::needs_token() const {
  if (!thinking()) return !done_;
  if (!guide_.beginnings.empty()) return true;
  return guide_.thinking_tokens_max >= 0 && tokens_ + 1 >= guide_.thinking_tokens_max;
}

void GuideState::advance(int32_t token) {
  ++tokens_;
  if (done_) return;
  if (!thinking()) {
    begun_.push_back(token);
  } else if (token == guide_.thinking_end) {
    thinking_tokens_ = tokens_;
  }
  update();
}

void GuideState::rollback(int64_t tokens) {
  TESSERA_CHECK(tokens >= 0 && tokens <= tokens_);
  tokens_ -= tokens;
  if (guide_.thinking_end >= 0 && tokens_ < thinking_tokens_) thinking_tokens_ = -1;
  const int64_t followed = thinking() ? 0 : tokens_ - thinking_tokens_;
  begun_.resize(static_cast<size_t>(std::min(followed, static_cast<int64_t>(begun_.size()))));
  update();
}

void GuideState::update() {
  for (const int32_t id : allowed_) mask_[static_cast<size_t>(id) / 32] = 0;
  allowed_.clear();
  done_ = false;
  if (!thinking()) {
    allow_beginnings();
  } else if (guide_.thinking_tokens_max >= 0 && tokens_ >= guide_.thinking_tokens_max) {
    // Thinking goes on past the bound only by the closer's tokens.
    allowed_.push_back(guide_.thinking_closer[static_cast<size_t>(tokens_ - guide_.thinking_tokens_max)]);
  }
  if (allowed_.empty()) return;
  mask_.resize(static_cast<size_t>(kernels::mask_words(vocab_size_)));
  for (const int32_t id : allowed_) mask_[static_cast<size_t>(id) / 32] |= uint32_t{1} << (id % 32);
}

void GuideState::allow_beginnings() {
  for (const std::vector<int32_t>& beginning : guide_.beginnings) {
    if (beginning.size() <= begun_.size() || !std::equal(begun_.begin(), begun_.end(), beginning.begin())) continue;
    allowed_.push_back(beginning[begun_.size()]);
  }
  std::sort(allowed_.begin(), allowed_.end());
  allowed_.erase(std::unique(allowed_.begin(), allowed_.end()), allowed_.end());
  done_ = allowed_.empty();
}

}  // namespace tessera::engine
