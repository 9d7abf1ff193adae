#include "engine/guide_state.h"

#include <algorithm>

namespace tessera::engine {

void GuideState::advance(int32_t token) {
  if (done_) return;
  if (thinking_) {
    ++thinking_tokens_;
    thinking_ = token != guide_.thinking_end;
  } else {
    begun_.push_back(token);
  }
  update();
}

void GuideState::update() {
  allowed_.clear();
  if (!thinking_) return allow_beginnings();
  if (guide_.thinking_tokens_max < 0 || thinking_tokens_ < guide_.thinking_tokens_max) return;
  // Thinking goes on past the bound only by the closer's tokens.
  const auto given = static_cast<size_t>(thinking_tokens_ - guide_.thinking_tokens_max);
  allowed_.push_back(guide_.thinking_closer[given]);
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
