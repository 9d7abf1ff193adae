#include "cli/token_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::cli {

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
