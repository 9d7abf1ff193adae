#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "kernels/sample.h"

namespace tessera::kernels {

/// More occurrences of one token than this count as this many.
inline constexpr uint32_t kTokenCountMax = 0x7fff;

/// The tokens that occurred in one sequence; kept only for sequences with a penalty.
class TokenCounts {
 public:
  explicit TokenCounts(std::span<const int32_t> prompt) {
    for (const int32_t token : prompt) in_output_.try_emplace(token, 0);
  }
  void add_output(int32_t token) {
    uint32_t& count = in_output_[token];
    count = std::min(count + 1, kTokenCountMax);
  }

  /// Penalises in place each logit whose token occurred. Repetition (Keskar et al. 2019, "CTRL"; over prompt and
  /// output): a positive logit is divided, a negative one multiplied. Then, over the output alone and as OpenAI's API
  /// defines them: minus frequency_penalty times the count, minus presence_penalty.
  void apply(const SampleParams& params, std::span<float> logits) const {
    for (const auto& [token, count] : in_output_) {
      float& logit = logits[static_cast<size_t>(token)];
      logit = logit > 0 ? logit / params.repetition_penalty : logit * params.repetition_penalty;
      logit -= params.frequency_penalty * static_cast<float>(count);
      if (count > 0) logit -= params.presence_penalty;
    }
  }

 private:
  std::unordered_map<int32_t, uint32_t> in_output_;  // 0 for tokens of the prompt alone
};

}  // namespace tessera::kernels
