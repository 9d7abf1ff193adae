#include "engine/draft_policy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace tessera::engine {
namespace {

/// What steps cost and what drafts are worth, somewhere. Seconds.
struct Landscape {
  double base = 1e-3, of_sequence = 0;  // a step, and each of its sequences
  double drafting = 0, of_draft = 0;    // what drafts cost, at all and each
  double of_drafted_row = 0;            // each draft of each sequence
  double right = 0.8, falls = 1;        // the first draft holds so often, each one after it so many times as often
  double noise = 0;                     // of a step's time, relative
  double outliers = 0;                  // share of steps that take five times as long
  double prompts = 0;                   // that are read for each token of all sequences
  double prompt = 0, head_prompt = 0;   // which takes so long, and the head so much longer

  [[nodiscard]] double step(int sequences, int drafts) const {
    return base + of_sequence * sequences + (drafts > 0 ? drafting : 0) + drafts * of_draft +
           drafts * sequences * of_drafted_row;
  }
  [[nodiscard]] double tokens(int drafts) const {
    double sum = 1, all = 1, share = right;
    for (int i = 0; i < drafts; ++i, share *= falls) sum += all *= share;
    return sum;
  }
  /// Of a sequence's token, in the mean.
  [[nodiscard]] double token_seconds(int sequences, int drafts) const {
    return step(sequences, drafts) / tokens(drafts) + prompts * (prompt + (drafts > 0 ? head_prompt : 0));
  }
  [[nodiscard]] double best(int sequences, int most) const {
    double least = token_seconds(sequences, 0);
    for (int drafts = 1; drafts <= most; ++drafts) least = std::min(least, token_seconds(sequences, drafts));
    return least;
  }
};

struct Walk {
  double seconds = 0, drafts = 0;  // of all steps
  double without = 0;              // what the same tokens and prompts would have taken without drafts
  int64_t steps = 0, drafting_steps = 0;
};

/// A policy in a world without other clocks.
class World {
 public:
  World(int most, uint64_t seed = 1) : policy(most), random_(seed) {}

  Walk run(int64_t steps, const std::function<int(int64_t)>& sequences, const Landscape& land) {
    Walk walk;
    for (int64_t i = 0; i < steps; ++i) step(sequences(i), land, walk);
    return walk;
  }
  Walk run(int64_t steps, int sequences, const Landscape& land) {
    return run(
        steps, [=](int64_t /*step*/) { return sequences; }, land);
  }

  DraftPolicy policy;

 private:
  void step(int sequences, const Landscape& land, Walk& walk) {
    const DraftPolicy::Choice choice = policy.choose(sequences);
    const int drafts = choice.drafts;
    // Drafts are of the step before: the first step behind others has none.
    const int has = std::min(drafts, made_);
    made_ = drafts;
    DraftPolicy::Step measured{.decoding = sequences, .choice = choice, .sequences = sequences};
    for (int s = 0; s < sequences; ++s) {
      int held = 0;
      double share = land.right;
      while (held < has && chance(share)) ++held, share *= land.falls;
      if (has > 0) policy.acceptance().tried(has, held);
      measured.tokens += 1 + held;
    }
    const double jitter = 1 + land.noise * (2 * uniform() - 1);
    const double slow = chance(land.outliers) ? 5 : 1;
    measured.seconds = land.step(sequences, drafts) * jitter * slow;
    double prompt_without = 0;
    if (chance(land.prompts * static_cast<double>(measured.tokens) / sequences)) {
      measured.prompt_rows = 1 + static_cast<int64_t>(uniform() * 400);
      const double share = static_cast<double>(measured.prompt_rows) / 200;
      prompt_without = share * land.prompt;
      measured.seconds += prompt_without + (choice.reads_prompts ? share * land.head_prompt : 0);
    }
    walk.without +=
        land.step(sequences, 0) * jitter * slow * static_cast<double>(measured.tokens) / sequences + prompt_without;
    walk.seconds += measured.seconds;
    walk.drafts += drafts;
    ++walk.steps;
    walk.drafting_steps += drafts > 0 ? 1 : 0;
    policy.collected(measured);
  }

  double uniform() { return std::uniform_real_distribution<double>()(random_); }
  bool chance(double share) { return uniform() < share; }

  std::mt19937_64 random_;
  int made_ = 0;
};

TEST(DraftAcceptance, TokensOfAStep) {
  DraftAcceptance acceptance;
  EXPECT_EQ(acceptance.tokens(0), 1);
  EXPECT_GT(acceptance.tokens(3), 2) << "hope";
  for (int i = 0; i < 4000; ++i) acceptance.tried(3, i % 4);  // 3/4 hold at first, 2/3 of these, 1/2 of these
  EXPECT_NEAR(acceptance.tokens(1), 1.75, 0.02);
  EXPECT_NEAR(acceptance.tokens(3), 2.5, 0.04);
  EXPECT_NEAR(acceptance.tokens(4), 2.5 + 0.25 * 0.5, 0.04) << "as the one before";
  for (int i = 0; i < 4000; ++i) acceptance.tried(3, 0);
  EXPECT_NEAR(acceptance.tokens(3), 1, 0.01) << "what was is forgotten";
}

TEST(DraftPolicy, TakesAsManyAsPay) {
  const Landscape cheap{.of_draft = 1e-4, .right = 0.95};
  World world(5);
  world.run(2000, 1, cheap);
  EXPECT_GT(world.run(2000, 1, cheap).drafts, 4.3 * 2000);
  // The second right draft costs as much as it gives.
  const Landscape between{.of_draft = 3e-4, .right = 0.5};
  World few(8);
  few.run(4000, 1, between);
  const double drafts = few.run(4000, 1, between).drafts / 4000;
  EXPECT_GT(drafts, 0.5);
  EXPECT_LT(drafts, 2.5);
}

TEST(DraftPolicy, NoneWhereTheyAreWrongOrMayNotBe) {
  const Landscape wrong{.of_draft = 1e-4, .right = 0.02};
  World world(5);
  EXPECT_LT(world.run(5000, 1, wrong).drafting_steps, 100);
  World none(0);
  EXPECT_EQ(none.run(100, 1, {.right = 1}).drafting_steps, 0);
  EXPECT_FALSE(none.policy.choose(1).reads_prompts);
}

/// One draft is the slowest, many are better: also from none it finds there, and back.
TEST(DraftPolicy, WhatDraftsCostAtAll) {
  const Landscape waits{.base = 3e-4, .drafting = 8e-4, .of_draft = 1e-4, .right = 0.7};
  World world(5);
  EXPECT_LT(world.run(4000, 8, waits).drafting_steps, 100);
  const Landscape pays{.base = 3e-4, .drafting = 4e-4, .of_draft = 3e-5, .right = 0.98};
  World other(5);
  other.run(4000, 8, pays);
  EXPECT_GT(other.run(1000, 8, pays).drafts, 4 * 1000);
}

TEST(DraftPolicy, EachNumberOfSequencesHasItsOwn) {
  const Landscape land{.base = 1e-3, .of_draft = 1e-4, .of_drafted_row = 1e-4, .right = 0.8};
  World world(5);
  world.run(2000, 1, land);
  EXPECT_GT(world.run(500, 1, land).drafts, 2 * 500);
  EXPECT_LT(world.run(2000, 64, land).drafting_steps, 100);
  EXPECT_GT(world.run(200, 1, land).drafts, 2 * 200) << "at once";
}

TEST(DraftPolicy, WhatChangesIsFollowed) {
  World world(4);
  const Landscape good{.of_draft = 1e-4, .right = 0.95}, bad{.of_draft = 4e-4, .right = 0.1};
  world.run(1000, 4, good);
  EXPECT_LT(world.run(2000, 4, bad).drafting_steps, 150);
  world.run(10'000, 4, good);
  EXPECT_GT(world.run(1000, 4, good).drafts, 3 * 1000);
}

/// Steps that read prompts say nothing of drafts, and there may be few others.
TEST(DraftPolicy, LearnsAmongPrompts) {
  const Landscape land{
      .base = 3e-4, .of_draft = 1e-4, .of_drafted_row = 2e-5, .right = 0.9, .prompts = 0.8, .prompt = 5e-4};
  World world(5);
  const Walk walk = world.run(4000, 32, land);  // does not pay
  EXPECT_LT(walk.drafting_steps, 200);
  const Landscape pays{.base = 1e-3, .of_draft = 1e-4, .right = 0.9, .prompts = 0.8, .prompt = 5e-4};
  World other(5);
  other.run(2000, 32, pays);
  EXPECT_GT(other.run(1000, 32, pays).drafts, 3 * 1000);
}

/// Drafts save a little in decoding, and cost more where prompts are read.
TEST(DraftPolicy, WhatTheHeadTakesOfPromptsCounts) {
  const Landscape land{
      .base = 1e-3, .of_draft = 4e-4, .right = 0.95, .prompts = 0.5, .prompt = 4e-3, .head_prompt = 1.5e-3};
  ASSERT_LT(land.step(8, 3) / land.tokens(3), land.step(8, 0));
  ASSERT_GT(land.token_seconds(8, 3), land.token_seconds(8, 0));
  World world(3);
  world.run(20'000, 8, land);
  const Walk walk = world.run(20'000, 8, land);
  EXPECT_LT(walk.seconds, 1.02 * walk.without);
}

TEST(DraftPolicy, PromptsAreNotReadForNothing) {
  const Landscape wrong{.of_draft = 1e-3, .right = 0.1};
  World world(5);
  EXPECT_TRUE(world.policy.choose(1).reads_prompts) << "drafts may be good";
  world.run(200, 1, wrong);
  EXPECT_EQ(world.policy.choose(1), DraftPolicy::Choice());
}

Landscape any_landscape() {
  const auto of = [](std::initializer_list<double> values) { return *rc::gen::elementOf(std::vector<double>(values)); };
  Landscape land;
  land.base = of({2e-4, 1e-3, 3e-3, 0.1});
  land.of_sequence = land.base * of({0, 0.01, 0.05, 0.2});
  land.drafting = land.base * of({0, 0.1, 0.5, 2});
  land.of_draft = land.base * of({0.01, 0.1, 0.3, 1});
  land.of_drafted_row = land.of_sequence * of({0, 0.1, 0.5, 1});
  land.right = of({0.01, 0.3, 0.6, 0.85, 0.98});
  land.falls = of({0.7, 0.9, 1});
  land.noise = of({0, 0.05, 0.3});
  land.outliers = of({0, 0.01, 0.05});
  land.prompts = of({0, 0, 0.05, 0.5});
  land.prompt = land.base * of({0.5, 3});
  land.head_prompt = land.prompt * of({0, 0.05, 0.15});
  return land;
}

constexpr double kLost = 1.02;  // of the time without drafts

/// Whatever steps cost and drafts are worth.
RC_GTEST_PROP(DraftPolicyProperty, IsNeverSlowerThanWithout, ()) {
  const Landscape land = any_landscape();
  const int sequences = *rc::gen::elementOf(std::vector<int>{1, 2, 8, 32, 100});
  World world(*rc::gen::inRange(1, kMostDrafts + 1), *rc::gen::arbitrary<uint64_t>());
  const auto free = [&] { return std::max(DraftPolicy::kFreeLoss, 4 * land.step(sequences, 0)); };
  Walk all;
  for (const int64_t steps : {200, 2000, 8000}) {
    const Walk walk = world.run(steps, sequences, land);
    all.seconds += walk.seconds;
    all.without += walk.without;
    RC_ASSERT(all.seconds <= kLost * all.without + 3 * free());
  }
}

/// And where few prompts disturb it, it is about as good as the best that it could have known.
RC_GTEST_PROP(DraftPolicyProperty, FindsWhatIsBest, ()) {
  Landscape land = any_landscape();
  land.prompts = 0;
  land.outliers = std::min(land.outliers, 0.01);
  land.noise = std::min(land.noise, 0.05);
  const int sequences = *rc::gen::elementOf(std::vector<int>{1, 8, 32});
  const int most = *rc::gen::inRange(1, 6);
  World world(most, *rc::gen::arbitrary<uint64_t>());
  world.run(20'000, sequences, land);
  const Walk walk = world.run(4000, sequences, land);
  const double best = land.best(sequences, most) / land.token_seconds(sequences, 0);
  RC_LOG() << "best " << best << ", found " << walk.seconds / walk.without << std::endl;
  RC_ASSERT(walk.seconds <= (best + 0.12) * walk.without);
}

/// Sequences come and go, and what drafts are worth changes.
RC_GTEST_PROP(DraftPolicyProperty, IsNotSlowerWhileThingsChange, ()) {
  const uint64_t seed = *rc::gen::arbitrary<uint64_t>();
  World world(5, seed);
  std::mt19937_64 random(seed);
  Walk all;
  double free = DraftPolicy::kFreeLoss;
  Landscape land = any_landscape();
  for (int phase = 0; phase < 12; ++phase) {
    land.right = std::uniform_real_distribution<double>(0, 1)(random);
    const auto most = static_cast<int>(1 + random() % 40);
    int sequences = 1;
    const auto walking = [&](int64_t /*step*/) {
      sequences += static_cast<int>(random() % 3) - 1;
      return sequences = std::clamp(sequences, 1, most);
    };
    const Walk walk = world.run(1000, walking, land);
    all.seconds += walk.seconds;
    all.without += walk.without;
    free = std::max(free, 4 * land.step(most, 0));
  }
  constexpr int kRanges = 10;  // of up to 40 sequences, each with an account of its own
  RC_ASSERT(all.seconds <= kLost * all.without + kRanges * free);
}

}  // namespace
}  // namespace tessera::engine
