#pragma once

#include <string>
#include <vector>

#include "loadgen/results.h"

namespace tessera::loadgen {

/// How a figure of B stands to that of A, with the middle 95 % of what chance would make of it.
struct Change {
  std::string case_name, figure;
  double a = 0, b = 0;
  double ratio = 1;
  Interval interval;       // of the ratio
  bool paired = false;     // both runs have asked the same prompts, which are drawn together
  bool by_rounds = false;  // rounds are drawn, then requests
  int64_t requests_a = 0, requests_b = 0;

  [[nodiscard]] bool differs() const { return interval.low > 1 || interval.high < 1; }
};

struct Comparison {
  std::vector<Change> changes;
  std::vector<std::string> notes;  // what keeps the two from being compared
};

/// Cases that both have, by resampling their requests (a percentile bootstrap); docs/benchmarks/method.md has the
/// method. Files that have been edited are errors.
Expected<Comparison> compare(const Json& a, const Json& b);

}  // namespace tessera::loadgen
