#include "engine/guide_state.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/sample.h"

namespace tessera::engine {

GuideState::GuideState(const Guide& guide, int64_t vocab_size)
    : guide_(guide), vocab_size_(vocab_size), thinking_tokens_(guide.thinking_end >= 0 ? -1 : 0) {
  if (guide.grammar) matcher_.emplace(guide.grammar);
  update();
}

bool GuideState::needs_token() const {
  if (!thinking()) return !done_ || matcher_.has_value();
  if (!guide_.beginnings.empty() || matcher_ || guide_.thinking_excludes >= 0) return true;
  return guide_.thinking_tokens_max >= 0 && tokens_ + 1 >= guide_.thinking_tokens_max;
}

void GuideState::advance(int32_t token) {
  ++tokens_;
  if (in_grammar()) {
    ++matched_;
    if (status_.ok()) status_ = matcher_->accept(token);
    stale_ = true;
    return;
  }
  if (done_) return;
  if (!thinking()) {
    begun_.push_back(token);
  } else if (token == guide_.thinking_end) {
    thinking_tokens_ = tokens_;
  }
  update();
}

Status GuideState::prepare() {
  if (!stale_) return {};
  TESSERA_RETURN_IF_ERROR(status_);
  mask_.resize(static_cast<size_t>(kernels::mask_words(vocab_size_)));
  status_ = matcher_->fill(mask_);
  masked_by_grammar_ = status_.ok();
  stale_ = false;
  return status_;
}

void GuideState::rollback(int64_t tokens) {
  TESSERA_CHECK(tokens >= 0 && tokens <= tokens_);
  tokens_ -= tokens;
  if (tokens_ < thinking_tokens_) thinking_tokens_ = -1;
  const int64_t followed = thinking() ? 0 : tokens_ - thinking_tokens_;
  const int64_t matched = std::clamp<int64_t>(followed - static_cast<int64_t>(begun_.size()), 0, matched_);
  if (matched < matched_ && status_.ok()) status_ = matcher_->rollback(matched_ - matched);
  matched_ = matched;
  begun_.resize(static_cast<size_t>(std::min(followed, static_cast<int64_t>(begun_.size()))));
  update();
}

void GuideState::update() {
  if (masked_by_grammar_) {
    std::fill(mask_.begin(), mask_.end(), 0);
  } else {
    for (const int32_t id : allowed_) mask_[static_cast<size_t>(id) / 32] = 0;
  }
  allowed_.clear();
  done_ = masked_by_grammar_ = false;
  if (!thinking()) {
    allow_beginnings();
  } else if (guide_.thinking_tokens_max >= 0 && tokens_ >= guide_.thinking_tokens_max) {
    // Thinking goes on past the bound only by the closer's tokens.
    allowed_.push_back(guide_.thinking_closer[static_cast<size_t>(tokens_ - guide_.thinking_tokens_max)]);
  }
  stale_ = in_grammar();
  if (allowed_.empty()) return;
  mask_.resize(static_cast<size_t>(kernels::mask_words(vocab_size_)));
  for (const int32_t id : allowed_) mask_[static_cast<size_t>(id) / 32] |= uint32_t{1} << (id % 32);
}

void GuideState::allow_beginnings() {
  for (const std::vector<int32_t>& beginning : guide_.beginnings) {
    if (beginning.size() <= begun_.size() || !std::equal(begun_.begin(), begun_.end(), beginning.begin())) continue;
    allowed_.push_back(beginning[begun_.size()]);
  }
  done_ = allowed_.empty();
}

}  // namespace tessera::engine
