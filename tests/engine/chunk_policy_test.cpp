#include "engine/chunk_policy.h"

#include <gtest/gtest.h>

namespace tessera::engine {
namespace {

using Seconds = ChunkPolicy::Seconds;

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
  ChunkPolicy free(Seconds(0), 8190);
  settle(free, 1, 1e-3, 30);
  EXPECT_EQ(free.rows(), 8190);
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

TEST(ChunkPolicy, TheBoundIsTwiceTheMedianOfStepsWithoutPrompts) {
  ChunkPolicy policy(std::nullopt, 8192);
  EXPECT_FALSE(policy.bound());
  EXPECT_EQ(policy.rows(), 0);  // first a step without prompts
  for (const double time : {0.004, 0.005, 0.9, 0.004, 0.005, 0.004, 0.8, 0.005, 0.005}) policy.took(Seconds(time), 0);
  EXPECT_DOUBLE_EQ(policy.bound()->count(), 0.010);
  EXPECT_EQ(policy.rows(), 1024);
}

/// Steps of a policy with a relative bound: as many rows as it says, which take base + rows * row.
struct Steps {
  double base, row;
  int all = 0, without_prompts = 0, too_long = 0;
  int64_t rows = 0;

  void run(ChunkPolicy& policy, int steps) {
    for (int i = 0; i < steps; ++i) {
      const int64_t next = policy.rows();
      const double time = base + row * static_cast<double>(next);
      ++all;
      rows += next;
      if (next == 0) ++without_prompts;
      if (next > 0 && time > 2 * base) ++too_long;
      policy.took(Seconds(time), next);
    }
  }
};

TEST(ChunkPolicy, StepsWithPromptsTakeAtMostTwiceTheOthers) {
  for (const double row : {10e-6, 17e-6, 25e-6, 40e-6, 60e-6}) {
    ChunkPolicy policy(std::nullopt, 8192);
    Steps steps{.base = 0.004, .row = row};
    steps.run(policy, 100);  // to settle
    steps = {.base = 0.004, .row = row};
    steps.run(policy, 3200);
    EXPECT_LE(steps.too_long, 64) << row;  // what is tried again now and then
    const auto fits = static_cast<int64_t>(0.004 / row) / 64 * 64;
    EXPECT_GE(steps.rows, 3000 * fits * 9 / 10) << row;
  }
}

TEST(ChunkPolicy, PromptsAreReadHoweverLongTheyTake) {
  ChunkPolicy policy(std::nullopt, 8192);
  Steps steps{.base = 0.001, .row = 1e-3};
  steps.run(policy, 340);
  EXPECT_GE(steps.rows, 300 * 64);
  EXPECT_EQ(policy.rows(), 64);
}

TEST(ChunkPolicy, FollowsWhatStepsWithoutPromptsTakeWhilePromptsAreReadWithoutEnd) {
  ChunkPolicy policy(std::nullopt, 8192);
  Steps few{.base = 0.004, .row = 10e-6};
  few.run(policy, 6000);  // more than what follows: what was long ago counts no more
  EXPECT_NEAR(policy.bound()->count(), 0.008, 1e-9);
  Steps many{.base = 0.016, .row = 10e-6};  // more sequences decode
  many.run(policy, 3000);
  EXPECT_NEAR(policy.bound()->count(), 0.032, 1e-9);
  EXPECT_LE(many.without_prompts, 3000 / 32 + 1);
}

TEST(ChunkPolicy, AFixedBoundNeedsNoStepWithoutPrompts) {
  ChunkPolicy policy(Seconds(0.05), 8192);
  Steps steps{.base = 0.03, .row = 25e-6};
  steps.run(policy, 500);
  EXPECT_EQ(steps.without_prompts, 0);
}

TEST(IdleChunk, RowsThatTakeAboutTenMilliseconds) {
  IdleChunk chunk(1000);
  EXPECT_EQ(chunk.rows(), 64);
  const auto step = [&](double seconds_a_row) {
    const int64_t rows = chunk.rows();
    chunk.took(ChunkPolicy::Seconds(seconds_a_row * static_cast<double>(rows)), rows);
    return chunk.rows();
  };
  EXPECT_EQ(step(1e-6), 128);  // no faster: what is known of one says little of many
  EXPECT_EQ(step(1e-6), 256);
  EXPECT_EQ(step(1e-6), 512);
  EXPECT_EQ(step(1e-6), 960);  // all that a step has, in whole blocks
  EXPECT_EQ(step(1e-3), 448);
  for (int i = 0; i < 5; ++i) step(1e-3);
  EXPECT_EQ(chunk.rows(), 64);  // and no less
  for (int i = 0; i < 5; ++i) step(5e-5);
  EXPECT_EQ(chunk.rows(), 192);
  chunk.took(ChunkPolicy::Seconds(0.001), 64);  // the end of a prompt
  EXPECT_EQ(chunk.rows(), 192);
  chunk.took(ChunkPolicy::Seconds(0.020), 128);
  EXPECT_EQ(chunk.rows(), 64);
  chunk.took(ChunkPolicy::Seconds(0), 64);
  EXPECT_EQ(chunk.rows(), 128);
}

}  // namespace
}  // namespace tessera::engine
