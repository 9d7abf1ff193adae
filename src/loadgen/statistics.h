#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "loadgen/random.h"

namespace tessera::loadgen {

/// The `percent`th percentile, linear between the two nearest values, as numpy does by default; 0 of no values.
double percentile(std::vector<double> values, double percent);

struct Percentiles {
  int64_t count = 0;
  double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, min = 0, max = 0;
};
Percentiles percentiles_of(std::vector<double> values);

struct Interval {
  double low = 0, high = 0;
};
/// The middle 95 % of what `draw` gives, called `times` times: the percentile bootstrap.
Interval bootstrap(int times, const std::function<double()>& draw);

}  // namespace tessera::loadgen
