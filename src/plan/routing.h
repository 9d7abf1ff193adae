#pragma once

#include <vector>

#include "plan/desc.h"

namespace tessera::plan {

/// What random routing (each token picks its experts uniformly) makes of a step, in expectation. Real routing is
/// skewed: then fewer experts are read, with more tokens each.
class Routing {
 public:
  explicit Routing(const Desc& desc);

  /// Experts whose weights are read: E (1 - (1 - k/E)^T).
  [[nodiscard]] double distinct_experts() const { return distinct_; }
  /// Tiles of n columns over all experts: the sum of ceil(tokens of the expert / n).
  [[nodiscard]] double column_tiles(int n) const;

 private:
  double experts_, distinct_;
  int64_t first_ = 0;                // tokens of an expert that probability_[0] speaks of
  std::vector<double> probability_;  // that an expert has first_ + i tokens; the tails beyond 12 sigma are left out
};

}  // namespace tessera::plan
