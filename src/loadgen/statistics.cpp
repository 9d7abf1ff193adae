#include "loadgen/statistics.h"

#include <algorithm>
#include <numeric>

namespace tessera::loadgen {
namespace {

double percentile_of_sorted(const std::vector<double>& sorted, double percent) {
  if (sorted.empty()) return 0;
  const double at = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  return percentile_of_sorted(values, percent);
}

Percentiles percentiles_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double percent) { return percentile_of_sorted(values, percent); };
  return {.count = static_cast<int64_t>(values.size()),
          .mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          .p50 = at(50),
          .p90 = at(90),
          .p95 = at(95),
          .p99 = at(99),
          .min = values.front(),
          .max = values.back()};
}

Interval bootstrap(int times, const std::function<double()>& draw) {
  std::vector<double> drawn(static_cast<size_t>(times));
  for (double& value : drawn) value = draw();
  std::sort(drawn.begin(), drawn.end());
  return {percentile_of_sorted(drawn, 2.5), percentile_of_sorted(drawn, 97.5)};
}

}  // namespace tessera::loadgen
