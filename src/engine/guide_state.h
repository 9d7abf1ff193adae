#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/engine.h"

namespace tessera::engine {

/// Where one choice stands in its request's Guide: inside thinking, in the beginning of what follows, or past both.
class GuideState {
 public:
  /// `guide` must outlive this.
  explicit GuideState(const Guide& guide) : guide_(guide), thinking_(guide.thinking_end >= 0) { update(); }

  /// The tokens that may come next, ascending; empty: any.
  [[nodiscard]] std::span<const int32_t> allowed() const { return allowed_; }

  /// After each token of the answer.
  void advance(int32_t token);

 private:
  void update();
  void allow_beginnings();

  const Guide& guide_;
  bool thinking_;
  int64_t thinking_tokens_ = 0;
  std::vector<int32_t> begun_;  // of a beginning
  bool done_ = false;
  std::vector<int32_t> allowed_;
};

}  // namespace tessera::engine
