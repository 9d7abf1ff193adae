#include "plan/routing.h"

#include <algorithm>
#include <cmath>

#include "base/ceil_div.h"

namespace tessera::plan {

Routing::Routing(const Desc& d) : experts_(d.experts) {
  const double p = static_cast<double>(d.experts_per_token) / d.experts;
  const auto t = static_cast<double>(d.tokens);
  distinct_ = d.tokens == 0 ? 0 : experts_ * (p >= 1 ? 1 : 1 - std::pow(1 - p, t));
  if (p >= 1) {
    first_ = d.tokens;
    probability_ = {1};
    return;
  }
  const double reach = 12 * std::sqrt(t * p * (1 - p)) + 8;
  first_ = static_cast<int64_t>(std::max(0.0, std::floor(t * p - reach)));
  const auto last = static_cast<int64_t>(std::min(t, std::ceil(t * p + reach)));
  for (int64_t j = first_; j <= last; ++j) {
    const auto x = static_cast<double>(j);
    const double log_choose = std::lgamma(t + 1) - std::lgamma(x + 1) - std::lgamma(t - x + 1);
    probability_.push_back(std::exp(log_choose + x * std::log(p) + (t - x) * std::log1p(-p)));
  }
}

double Routing::column_tiles(int n) const {
  double tiles = 0;
  for (size_t i = 0; i < probability_.size(); ++i) {
    tiles += probability_[i] * ceil_div(first_ + static_cast<int64_t>(i), n);
  }
  return experts_ * tiles;
}

}  // namespace tessera::plan
