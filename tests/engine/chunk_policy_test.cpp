#include "engine/chunk_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

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

TEST(ChunkPolicy, ABoundOfNoneIsNotTheRelativeOne) {
  EXPECT_EQ(ChunkPolicy::fixed_bound(-1), std::nullopt);
  EXPECT_EQ(ChunkPolicy::fixed_bound(0), Seconds(0));
  EXPECT_EQ(ChunkPolicy::fixed_bound(20), Seconds(0.02));
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
  for (const double time : {0.004, 0.005, 0.9, 0.004, 0.8, 0.004, 0.005, 0.005, 0.005}) policy.took(Seconds(time), 0);
  EXPECT_DOUBLE_EQ(policy.bound()->count(), 0.010);
  EXPECT_EQ(policy.rows(), 1024);
}

/// Steps of a policy with a relative bound: as many rows as it says, which take base + touched + rows * row. `ahead`: a
/// step is planned before the time of the one before it is known.
struct Steps {
  double base, row, touched = 0;
  bool ahead = false;
  int all = 0, without_prompts = 0;
  int64_t rows = 0;
  double time = 0, longest = 0;

  void run(ChunkPolicy& policy, int steps) {
    for (int i = 0; i < steps; ++i) {
      const int64_t next = policy.rows();
      const double took = base + (next > 0 ? touched : 0) + row * static_cast<double>(next);
      ++all;
      rows += next;
      time += took;
      longest = std::max(longest, took);
      if (next == 0) ++without_prompts;
      const Step before = std::exchange(under_way, {.seconds = took, .rows = next});
      if (!ahead) policy.took(Seconds(std::exchange(under_way, {}).seconds), next);
      if (before.seconds > 0) policy.took(Seconds(before.seconds), before.rows);
    }
  }
  struct Step {
    double seconds = 0;
    int64_t rows = 0;
  };
  Step under_way = {};
  [[nodiscard]] double mean() const { return time / all; }
};

TEST(ChunkPolicy, WhoDecodesWaitsAtMostTwiceAsLongOnAverage) {
  for (const double base : {0.0003, 0.004, 0.012, 0.03}) {
    for (const double touched : {0.0, 0.010}) {  // reading even few rows takes so long
      for (int i = 0; i < 10; ++i) {
        const double row = std::array{1e-6, 10e-6, 25e-6, 60e-6, 200e-6}[static_cast<size_t>(i / 2)];
        const bool ahead = i % 2 == 1;
        SCOPED_TRACE(testing::Message() << base << " + " << touched << " + " << row << " a row, " << ahead);
        ChunkPolicy policy(std::nullopt, 8192);
        Steps steps{.base = base, .row = row, .touched = touched, .ahead = ahead};
        steps.run(policy, 1500);  // to settle
        steps = {.base = base, .row = row, .touched = touched, .ahead = ahead};
        steps.run(policy, 3200);
        EXPECT_LE(steps.mean(), 2.03 * base);
        EXPECT_LE(steps.longest, std::max(0.056, 2.3 * base));
        // What is read takes as much of the time as it may, in steps that are worth it.
        const double worth = std::min(512., std::max(64., (0.050 - base - touched) / row / 64 * 64));
        const double rate = worth / (touched + worth * row);
        EXPECT_GE(static_cast<double>(steps.rows), 0.7 * std::min(8192. / base, rate) * base * steps.all);
      }
    }
  }
}

TEST(ChunkPolicy, EachStepTakesTwiceTheOthersWhereThatIsWorthIt) {
  ChunkPolicy policy(std::nullopt, 8192);
  Steps steps{.base = 0.012, .row = 20e-6};
  steps.run(policy, 200);
  steps = {.base = 0.012, .row = 20e-6};
  steps.run(policy, 3200);
  EXPECT_LE(steps.longest, 0.0253);  // what is tried again now and then
  EXPECT_LE(steps.without_prompts, 3200 / 32 + 3);
}

TEST(ChunkPolicy, AShortPieceThatWasSlowSaysNothingOfWhatLongOnesAreWorth) {
  ChunkPolicy policy(std::nullopt, 8192);
  for (int i = 0; i < 9; ++i) policy.took(Seconds(0.002), 0);
  policy.took(Seconds(0.030), 64);
  for (int i = 0; i < 100 && policy.rows() == 0; ++i) policy.took(Seconds(0.002), 0);
  EXPECT_EQ(policy.rows(), 512);
}

TEST(ChunkPolicy, APieceThatTookMoreThanTheMostGetsShorter) {
  ChunkPolicy policy(std::nullopt, 8192);
  for (int i = 0; i < 9; ++i) policy.took(Seconds(0.002), 0);
  const auto next_rows = [&] {
    for (int i = 0; i < 100 && policy.rows() == 0; ++i) policy.took(Seconds(0.002), 0);
    return policy.rows();
  };
  policy.took(Seconds(0.0526), 512);  // at most 50 ms: by a block, however little it was
  EXPECT_EQ(next_rows(), 448);
  policy.took(Seconds(0.1), 256);  // the end of a prompt, which was too long as well
  EXPECT_EQ(next_rows(), 128);
}

TEST(ChunkPolicy, PromptsAreReadHoweverLongTheyTake) {
  ChunkPolicy policy(std::nullopt, 8192);
  Steps steps{.base = 0.001, .row = 1e-3};
  steps.run(policy, 3400);
  EXPECT_GE(steps.rows, 60 * 64);  // what is made up for is bounded
  EXPECT_EQ(steps.rows % 64, 0);
  EXPECT_LE(steps.longest, 1.03);  // the first
}

TEST(ChunkPolicy, AStepThatWasSlowHoldsPromptsUpNoLongerThanOthers) {
  ChunkPolicy policy(std::nullopt, 8192);
  Steps steps{.base = 0.004, .row = 20e-6};
  steps.run(policy, 100);
  policy.took(Seconds(30), 512);
  int waited = 0;
  while (policy.rows() == 0) {
    policy.took(Seconds(0.004), 0);
    ++waited;
  }
  EXPECT_LE(waited, 30);  // 100 ms, made up for by 85 % of each
}

TEST(ChunkPolicy, FollowsWhatStepsWithoutPromptsTakeWhilePromptsAreReadWithoutEnd) {
  ChunkPolicy policy(std::nullopt, 8192);
  Steps few{.base = 0.004, .row = 10e-6};
  few.run(policy, 6000);  // more than what follows: what was long ago counts no more
  EXPECT_NEAR(policy.bound()->count(), 0.008, 1e-9);
  Steps many{.base = 0.016, .row = 10e-6};  // more sequences decode
  many.run(policy, 3000);
  EXPECT_NEAR(policy.bound()->count(), 0.032, 1e-9);
  EXPECT_LE(many.without_prompts, 3000 / 25);
}

TEST(ChunkPolicy, WhoWaitsHasTheSameShareOfTheTime) {
  ChunkPolicy policy(std::nullopt, 8192);
  policy.share(1, 63);  // before anything is known
  for (int i = 0; i < 9; ++i) policy.took(Seconds(0.002), 0);
  const auto bound = [&](int decoding, int waiting) {
    policy.share(decoding, waiting);
    return policy.bound()->count();
  };
  EXPECT_DOUBLE_EQ(bound(8, 1), 0.004);  // one long prompt: twice the median
  EXPECT_DOUBLE_EQ(bound(8, 8), 0.004);
  EXPECT_DOUBLE_EQ(bound(8, 24), 0.008);
  EXPECT_DOUBLE_EQ(bound(0, 64), 0.008);  // nobody decodes: says nothing
  EXPECT_DOUBLE_EQ(bound(1, 63), 0.050);  // at most
  EXPECT_DOUBLE_EQ(bound(64, 0), 0.004);
  for (int i = 0; i < 31; ++i) policy.took(Seconds(0.2), 0);
  EXPECT_DOUBLE_EQ(bound(1, 63), 0.4);  // where twice the median is more than that, it is twice the median

  ChunkPolicy fixed(Seconds(0.03), 8192);
  fixed.share(1, 63);
  EXPECT_DOUBLE_EQ(fixed.bound()->count(), 0.03);
}

TEST(ChunkPolicy, RowsFollowTheShareAtOnce) {
  ChunkPolicy policy(std::nullopt, 8192);
  Steps steps{.base = 0.002, .row = 10e-6};
  steps.run(policy, 200);
  while (policy.rows() == 0) steps.run(policy, 1);  // what is owed
  EXPECT_EQ(policy.rows(), 512);
  policy.share(4, 20);  // 12 ms, 10 of them for prompts
  EXPECT_NEAR(static_cast<double>(policy.rows()), 960, 64);
  policy.share(1, 63);  // 50 ms
  EXPECT_NEAR(static_cast<double>(policy.rows()), 4600, 200);
  steps.run(policy, 40);
  EXPECT_NEAR(static_cast<double>(policy.rows()), 4700, 100);
  policy.share(32, 1);
  EXPECT_EQ(policy.rows(), 512);
}

TEST(ChunkPolicy, AFixedBoundNeedsNoStepWithoutPrompts) {
  ChunkPolicy policy(Seconds(0.05), 8192);
  Steps steps{.base = 0.03, .row = 25e-6};
  steps.run(policy, 500);
  EXPECT_EQ(steps.without_prompts, 0);
}

/// The rows of each step, as "0x1 1024x3"; a step takes `base` and `row` for each of them. `at` comes before each.
std::string rows_of_steps(
    ChunkPolicy& policy, int steps, double base, double row, const std::function<void(int)>& at = [](int) {}) {
  std::string all;
  int64_t last = -1;
  int count = 0;
  const auto say = [&] {
    if (count > 0) all += (all.empty() ? "" : " ") + std::to_string(last) + "x" + std::to_string(count);
  };
  for (int i = 0; i < steps; ++i) {
    at(i);
    const int64_t rows = policy.rows();
    if (rows != last) {
      say();
      last = rows;
      count = 0;
    }
    ++count;
    policy.took(Seconds(base + row * static_cast<double>(rows)), rows);
  }
  say();
  return all;
}

TEST(ChunkPolicy, RowsGrowByAQuarterAtMostAndHalveAtMost) {
  ChunkPolicy fixed(Seconds(0.05), 8192);
  EXPECT_EQ(rows_of_steps(fixed, 12, 0.004, 10e-6),
            "1024x1 1280x1 1600x1 1984x1 2496x1 3072x1 3904x1 4480x1 4608x1 4544x3");
  EXPECT_EQ(rows_of_steps(fixed, 12, 0.004, 200e-6), "4544x1 2304x1 1152x1 576x1 256x1 192x7");
  // What was too long is not tried again for 64 steps.
  EXPECT_EQ(rows_of_steps(fixed, 80, 0.004, 60e-6), "192x1 320x1 384x1 448x1 576x1 768x1 704x64 768x1 704x9");
}

/// A part of one counts as a whole one.
TEST(ChunkPolicy, BehindAPieceThatWasALittleTooLongThereIsABlockLess) {
  ChunkPolicy policy(Seconds(0.010), 1024);
  policy.took(Seconds(0.0101), 130);
  EXPECT_EQ(policy.rows(), 128);
}

/// After 32 steps with prompts there is one without; so there is wherever prompts have had more than their part, which
/// 512 rows have that take longer than the bound. What there is more time for takes in proportion.
TEST(ChunkPolicy, StepsOfARelativeBound) {
  ChunkPolicy fast(std::nullopt, 8192), slow(std::nullopt, 8192), shared(std::nullopt, 8192);
  EXPECT_EQ(rows_of_steps(fast, 60, 0.010, 5e-6),
            "0x1 1024x1 1280x1 1536x1 1728x1 1856x1 1920x1 1984x6 2048x1 1984x19 0x1 1984x26");
  EXPECT_EQ(rows_of_steps(slow, 60, 0.010, 60e-6),
            "0x1 1024x1 0x5 512x1 0x3 512x1 0x2 512x1 0x3 512x1 0x2 512x1 0x3 512x1 0x2 512x1 0x2 512x1 0x3 512x1 0x2 "
            "512x1 0x3 512x1 0x2 512x1 0x3 512x1 0x2 512x1 0x3 512x1 0x2 512x1");
  EXPECT_EQ(rows_of_steps(shared, 80, 0.010, 10e-6, [&](int i) { shared.share(2, i < 40 ? 1 : 6); }),
            "0x1 1024x1 960x31 0x1 960x6 2816x1 3008x1 2944x24 0x1 2944x13");
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
