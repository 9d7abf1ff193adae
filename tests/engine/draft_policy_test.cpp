#include "engine/draft_policy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::engine {
namespace {

/// Steps at `sequences` sequences that cost `base` and `each` draft, every draft being right with probability `right`
/// as far as those before it are; the mean number of drafts over the last half of `steps`.
/// wait: what a step with drafts costs besides.
double settle(DraftPolicy& policy, int sequences, double base, double each, double right, int steps, double wait = 0) {
  DraftPolicy::Clock::time_point now;
  double sum = 0, carry = 0;
  for (int step = 0; step < steps; ++step) {
    const int drafts = policy.drafts(sequences);
    if (step >= steps / 2) sum += drafts;
    double tokens = 0;
    for (int i = 0; i <= drafts; ++i) tokens += std::pow(right, i);
    carry += tokens * sequences;
    const auto whole = static_cast<int64_t>(carry);
    carry -= static_cast<double>(whole);
    now += std::chrono::duration_cast<DraftPolicy::Clock::duration>(
        std::chrono::duration<double>(base + each * drafts + (drafts > 0 ? wait : 0)));
    policy.collected(now, sequences, drafts, whole);
  }
  return sum / (steps - steps / 2);
}

TEST(DraftPolicy, TakesAsManyAsPay) {
  DraftPolicy cheap(5);
  EXPECT_GT(settle(cheap, 1, 1e-3, 1e-4, 0.95, 2000), 4.5);
  DraftPolicy wrong(5);
  EXPECT_LT(settle(wrong, 1, 1e-3, 1e-4, 0.02, 2000), 0.2);
  DraftPolicy between(8);  // the second right draft costs as much as it gives
  const double drafts = settle(between, 1, 1e-3, 3e-4, 0.5, 4000);
  EXPECT_GT(drafts, 0.5);
  EXPECT_LT(drafts, 2.5);
}

/// One draft is the slowest, many are better, none is best: also from many it finds there.
TEST(DraftPolicy, NoneIsFoundBehindFew) {
  DraftPolicy policy(5);
  EXPECT_LT(settle(policy, 8, 3e-4, 1e-4, 0.7, 2000, /*wait=*/8e-4), 0.3);
  DraftPolicy pays(5);
  EXPECT_GT(settle(pays, 8, 3e-4, 1e-4, 0.98, 4000, /*wait=*/4e-4), 4);
}

TEST(DraftPolicy, EachNumberOfSequencesHasItsOwn) {
  DraftPolicy policy(5);
  EXPECT_GT(settle(policy, 1, 1e-3, 1e-4, 0.9, 2000), 4);
  EXPECT_LT(settle(policy, 64, 1e-3, 2e-3, 0.9, 2000), 0.5);
  EXPECT_GT(settle(policy, 1, 1e-3, 1e-4, 0.9, 200), 4);
}

TEST(DraftPolicy, WhatChangesIsFollowed) {
  DraftPolicy policy(4);
  settle(policy, 4, 1e-3, 1e-4, 0.95, 1000);
  EXPECT_LT(settle(policy, 4, 1e-3, 1e-3, 0.1, 20'000), 0.5);
}

TEST(DraftPolicy, TriesCostLittle) {
  DraftPolicy policy(5);
  settle(policy, 1, 1e-3, 1e-3, 0.5, 3000);  // none pays
  EXPECT_LT(settle(policy, 1, 1e-3, 1e-3, 0.5, 20'000), 0.02);
}

/// A guide or the end of an answer leaves fewer drafts than were wanted: such steps say nothing of those.
TEST(DraftPolicy, StepsWithOtherNumbersAreNoPartOfATry) {
  DraftPolicy policy(5);
  const int wanted = policy.drafts(1);
  DraftPolicy::Clock::time_point now;
  for (int step = 0; step < 100; ++step) policy.collected(now += std::chrono::milliseconds(1), 1, wanted - 1, 1);
  EXPECT_EQ(policy.drafts(1), wanted);
}

TEST(DraftPolicy, NoneWhereNoneMayBe) {
  DraftPolicy policy(0);
  EXPECT_EQ(policy.drafts(1), 0);
  DraftPolicy one(1);
  EXPECT_GT(settle(one, 2, 1e-3, 1e-4, 0.9, 500), 0.9);
}

}  // namespace
}  // namespace tessera::engine
