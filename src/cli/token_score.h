#pragma once

#include <cstdint>
#include <span>

namespace tessera::cli {

struct TokenScore {
  double logprob = 0;  // natural log of the softmax
  int64_t rank = 0;    // 1 is the most likely; tokens with equal logits share the best rank
};

/// How likely `token` is by one row of logits [vocab]. The sum of exponentials is taken in double. logprob is NaN
/// when a logit is NaN.
TokenScore score_token(std::span<const float> logits, int32_t token);

/// The divergence of `other` from `reference`, both rows of logits [vocab], in nats: what a coder that takes the one
/// for the other loses a token. 0 for equal rows; NaN when a logit is NaN.
double kl_divergence(std::span<const float> reference, std::span<const float> other);

/// The largest logit's token; ties go to the lower id, as in the sampler. NaN never wins.
int32_t greedy_token(std::span<const float> logits);

}  // namespace tessera::cli
