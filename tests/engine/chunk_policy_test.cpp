#include "engine/chunk_policy.h"

#include <gtest/gtest.h>

namespace tessera::engine {
namespace {

using Seconds = std::chrono::duration<double>;

/// Steps that read as much as they may and take `base` and `row` a row; what the last one took.
double settle(ChunkPolicy& policy, double base, double row, int steps) {
  double time = 0;
  for (int i = 0; i < steps; ++i) {
    time = base + row * static_cast<double>(policy.rows());
    policy.took(Seconds(time), policy.rows());
  }
  return time;
}

TEST(ChunkPolicy, StepsTakeTheWantedTime) {
  ChunkPolicy policy(Seconds(0.05), 8192);
  EXPECT_NEAR(settle(policy, 0.004, 25e-6, 30), 0.05, 0.003);
  EXPECT_NEAR(settle(policy, 0.004, 100e-6, 30), 0.05, 0.01);  // far into a long prompt
  EXPECT_NEAR(settle(policy, 0.004, 10e-6, 30), 0.05, 0.003);
}

TEST(ChunkPolicy, StaysWithinItsBounds) {
  ChunkPolicy slow(Seconds(0.05), 8192);
  settle(slow, 1, 1e-3, 30);
  EXPECT_EQ(slow.rows(), 64);  // prompts are read, however slowly
  ChunkPolicy fast(Seconds(0.05), 8192);
  settle(fast, 1e-6, 1e-9, 40);
  EXPECT_EQ(fast.rows(), 8192);
  ChunkPolicy free(Seconds(0), 8192);
  settle(free, 1, 1e-3, 30);
  EXPECT_EQ(free.rows(), 8192);
  EXPECT_EQ(ChunkPolicy(Seconds(0.05), 512).rows(), 512);
}

TEST(ChunkPolicy, ShortPromptsSayNothingOfLongOnes) {
  ChunkPolicy policy(Seconds(0.05), 8192);
  const int64_t before = policy.rows();
  for (int i = 0; i < 100; ++i) policy.took(Seconds(0.001), 64);
  EXPECT_EQ(policy.rows(), before);
  policy.took(Seconds(0.2), 64);  // but that even a few rows take too long
  EXPECT_LT(policy.rows(), before);
}

}  // namespace
}  // namespace tessera::engine
