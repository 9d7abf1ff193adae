#include "cli/token_score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tessera::cli {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(TokenScore, IsTheLogOfTheSoftmax) {
  const std::vector<float> logits = {1.0F, 2.0F, 3.0F, 2.0F};
  const double sum = std::exp(1.0) + 2 * std::exp(2.0) + std::exp(3.0);
  EXPECT_NEAR(score_token(logits, 0).logprob, 1.0 - std::log(sum), 1e-14);
  EXPECT_NEAR(score_token(logits, 2).logprob, 3.0 - std::log(sum), 1e-14);
  EXPECT_EQ(score_token(logits, 2).rank, 1);
  EXPECT_EQ(score_token(logits, 1).rank, 2);
  EXPECT_EQ(score_token(logits, 3).rank, 2);
  EXPECT_EQ(score_token(logits, 0).rank, 4);
}

TEST(TokenScore, LargeLogitsDoNotOverflow) {
  const std::vector<float> logits = {3e38F, -3e38F, 3e38F};
  EXPECT_NEAR(score_token(logits, 0).logprob, -std::log(2.0), 1e-14);
  EXPECT_LT(score_token(logits, 1).logprob, -1e38);
}

TEST(TokenScore, NanShows) {
  EXPECT_TRUE(std::isnan(score_token(std::vector<float>{1.0F, kNan, 2.0F}, 0).logprob));
  EXPECT_TRUE(std::isnan(score_token(std::vector<float>{kNan, 1.0F, 2.0F}, 1).logprob));
}

TEST(TokenScore, DivergenceIsWhatTheOtherDistributionCosts) {
  const std::vector<float> even = {0.0F, 0.0F}, uneven = {std::log(3.0F), 0.0F};  // 1/2, 1/2 and 3/4, 1/4
  EXPECT_NEAR(kl_divergence(even, uneven), 0.5 * std::log(0.5 / 0.75) + 0.5 * std::log(0.5 / 0.25), 1e-7);
  EXPECT_NEAR(kl_divergence(uneven, even), 0.75 * std::log(0.75 / 0.5) + 0.25 * std::log(0.25 / 0.5), 1e-7);
  EXPECT_EQ(kl_divergence(uneven, uneven), 0);
  EXPECT_TRUE(std::isnan(kl_divergence(even, std::vector<float>{kNan, 0.0F})));
  EXPECT_TRUE(std::isnan(kl_divergence(std::vector<float>{0.0F, kNan}, even)));
}

TEST(TokenScore, GreedyTakesTheLowestOfEqualTokens) {
  EXPECT_EQ(greedy_token(std::vector<float>{1.0F, 3.0F, 3.0F}), 1);
  EXPECT_EQ(greedy_token(std::vector<float>{-kInfinity, -5.0F}), 1);
  EXPECT_EQ(greedy_token(std::vector<float>{kNan, -5.0F}), 1);
}

}  // namespace
}  // namespace tessera::cli
