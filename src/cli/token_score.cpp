#include "cli/token_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::cli {

namespace {

/// log(sum(exp(logits)))
double log_sum(std::span<const float> logits) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum);
}

}  // namespace

TokenScore score_token(std::span<const float> logits, int32_t token) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  const float chosen = logits[static_cast<size_t>(token)];
  double sum = 0;
  int64_t better = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
    better += logit > chosen;
  }
  return {.logprob = static_cast<double>(chosen) - largest - std::log(sum), .rank = better + 1};
}

double kl_divergence(std::span<const float> reference, std::span<const float> other) {
  const double reference_sum = log_sum(reference), other_sum = log_sum(other);
  double sum = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double logprob = reference[i] - reference_sum;
    sum += std::exp(logprob) * (logprob - (other[i] - other_sum));
  }
  return std::max(sum, 0.0);  // NaN stays
}

int32_t greedy_token(std::span<const float> logits) {
  float largest = -std::numeric_limits<float>::infinity();
  size_t token = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > largest) {
      largest = logits[i];
      token = i;
    }
  }
  return static_cast<int32_t>(token);
}

}  // namespace tessera::cli
