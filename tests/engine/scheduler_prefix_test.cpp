#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler_steps.h"

// What the scheduler does with the prefix cache, and while nobody computes.
namespace tessera::engine {
namespace {

TEST(Scheduler, APlanThatIsDroppedGivesTheSlotOfItsStateBack) {
  Scheduler scheduler(kWithPrefixes);
  const auto sequence = make_sequence(300);
  scheduler.add(sequence.get());
  for (int i = 0; i < 5; ++i) {
    const auto plan = scheduler.plan();
    ASSERT_EQ(plan.size(), 1U);
    EXPECT_GE(plan[0].snapshot_slot, 0);
    EXPECT_EQ(scheduler.slots().used(), 2) << "its own and the state's";
  }
  scheduler.remove(sequence.get());
  EXPECT_EQ(scheduler.slots().used(), 0);
}

TEST(Scheduler, WhoBeginsAlikeWaitsForTheOneThatComputesIt) {
  Scheduler scheduler(kWithPrefixes);
  const auto first = make_sequence(600), second = make_sequence(600);
  second->prompt = first->prompt;  // choices of one request
  scheduler.add(first.get());
  scheduler.add(second.get());
  const auto step = run_step(scheduler);
  ASSERT_EQ(step.size(), 1U);
  EXPECT_EQ(step[0].sequence, first.get());
  EXPECT_THAT(scheduler.waiting(), testing::ElementsAre(second.get()));
  while (second->submitted == 0) run_step(scheduler);
  EXPECT_EQ(second->resumed, 576);
  EXPECT_EQ(scheduler.counts().prefix_hits, 576U);
}

TEST(Scheduler, WithoutAPrefixCacheNobodyWaitsForAnother) {
  SchedulerLimits limits = kWithPrefixes;
  limits.prefix_caching = false;
  Scheduler scheduler(limits);
  const auto first = make_sequence(600), second = make_sequence(600);
  scheduler.add(first.get());
  scheduler.add(second.get());
  EXPECT_EQ(run_step(scheduler).size(), 2U);
}

/// A prompt needs a token behind what it goes on from, so of two equal ones the last block is nobody's to wait for.
TEST(Scheduler, EqualPromptsOfWholeBlocksShareAllButTheLast) {
  for (const auto& [tokens, shared] : {std::pair{640, 576}, {641, 640}}) {
    Scheduler scheduler(kWithPrefixes);
    const auto first = make_sequence(tokens), second = make_sequence(tokens);
    first->wants_prompt_logits = true;  // a block in every step
    scheduler.add(first.get());
    scheduler.add(second.get());
    std::vector<int64_t> states;
    while (second->submitted == 0) {
      const int64_t position = run_step(scheduler)[0].snapshot_position;
      if (position > 0) states.push_back(position);
    }
    EXPECT_THAT(states, testing::ElementsAre(shared)) << "nobody waits for another one";
    EXPECT_EQ(second->resumed, shared);
  }
}

/// It is worth a wait from kLeastPointTokens on. The one that computes leaves a state there, also where it would not
/// have left one of its own.
TEST(Scheduler, WhoSharesLittleDoesNotWait) {
  for (const int64_t shared : {kLeastPointTokens - 64, kLeastPointTokens}) {
    Scheduler scheduler(kWithPrefixes);
    const auto first = make_sequence(600), second = make_sequence(600);
    std::vector<int32_t> tokens = *first->prompt;
    std::fill(tokens.begin() + shared, tokens.end(), 1);
    second->prompt = std::make_shared<const std::vector<int32_t>>(std::move(tokens));
    first->wants_prompt_logits = true;  // a block in every step
    scheduler.add(first.get());
    run_step(scheduler);
    scheduler.add(second.get());
    const bool waits = shared == kLeastPointTokens;
    EXPECT_EQ(run_step(scheduler).size(), waits ? 1U : 2U) << shared;
    while (second->submitted == 0) run_step(scheduler);
    EXPECT_EQ(second->resumed, waits ? shared : 0);
  }
}

/// Where the other one is already, it leaves no state any more.
TEST(Scheduler, NobodyWaitsForAPlaceThatIsPassed) {
  SchedulerLimits limits = kWithPrefixes;
  limits.max_batched_rows = 384;
  Scheduler scheduler(limits);
  const auto first = make_sequence(700), second = make_sequence(600);
  std::vector<int32_t> tokens = *first->prompt;
  tokens.resize(600);
  std::fill(tokens.begin() + 384, tokens.end(), 1);
  second->prompt = std::make_shared<const std::vector<int32_t>>(std::move(tokens));
  scheduler.add(first.get());
  ASSERT_EQ(run_step(scheduler)[0].rows, 384);
  scheduler.add(second.get());
  const auto step = run_step(scheduler);
  ASSERT_EQ(step.size(), 2U);
  EXPECT_EQ(step[1].sequence, second.get());
}

TEST(Scheduler, AChunkEndsAtTheFirstOfTwoResumePoints) {
  Scheduler scheduler(kWithPrefixes);
  const auto sequence = make_sequence(1000);
  sequence->likely_ends = {300};
  scheduler.add(sequence.get());
  const auto first = run_step(scheduler);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].rows, 256);
  EXPECT_EQ(first[0].snapshot_position, 256);
  const auto second = run_step(scheduler);
  EXPECT_EQ(second[0].rows, 744);
  EXPECT_EQ(second[0].snapshot_position, 960);
  EXPECT_EQ(scheduler.prefixes().kept_slots(), 2);
}

TEST(Scheduler, AStateIsLeftWhereAChunkEndsAsFarBehindTheLastAsTheMost) {
  Scheduler scheduler(
      {.blocks = 400, .slots = 1, .kept_slots = 4, .max_batched_rows = kMostPointTokens / 2, .prefix_caching = true});
  const auto sequence = make_sequence(2 * kMostPointTokens + 500);
  scheduler.add(sequence.get());
  EXPECT_EQ(run_step(scheduler)[0].snapshot_position, 0);
  EXPECT_EQ(run_step(scheduler)[0].snapshot_position, kMostPointTokens);
  EXPECT_EQ(run_step(scheduler)[0].snapshot_position, 0);
  EXPECT_EQ(run_step(scheduler)[0].snapshot_position, 2 * kMostPointTokens);
  scheduler.remove(sequence.get());
}

/// Behind its last whole block there is none, however far the last state is.
TEST(Scheduler, NoStateIsLeftAtAPromptsEnd) {
  Scheduler scheduler({.blocks = 200, .slots = 2, .max_batched_rows = 9000, .prefix_caching = true});
  const auto other = make_sequence(3, 20'000), sequence = make_sequence(kMostPointTokens + 74);
  scheduler.add(other.get());
  run_step(scheduler);
  scheduler.add(sequence.get());
  scheduler.limit_chunk_rows(8000);
  const auto first = run_step(scheduler);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[1].rows, 8000);
  EXPECT_EQ(first[1].snapshot_position, 0) << "there is no slot for it";
  scheduler.remove(other.get());
  const auto last = run_step(scheduler);
  EXPECT_EQ(last[0].rows, 266);
  EXPECT_EQ(last[0].snapshot_position, 0);
}

TEST(Scheduler, HitsOfTheTierAreWhatTheDeviceHadNoMore) {
  Scheduler scheduler({.blocks = 20,
                       .slots = 1,
                       .kept_slots = 2,
                       .max_batched_rows = 500,
                       .prefix_caching = true,
                       .host_pages = 40,
                       .state_pages = 1});
  const auto read = [&](int64_t tokens, int32_t first_token) {
    const auto sequence = make_sequence(tokens, first_token);
    scheduler.add(sequence.get());
    run_step(scheduler);
    scheduler.remove(sequence.get());
    (void)scheduler.take_moves();
  };
  read(300, 1);
  read(300, 1);
  EXPECT_EQ(scheduler.counts().prefix_hits, 256U);
  EXPECT_EQ(scheduler.counts().tier_hits, 0U);
  for (int32_t other = 1; other <= 3; ++other) read(300, 1000 * other);
  read(300, 1);
  EXPECT_EQ(scheduler.counts().prefix_hits, 512U);
  EXPECT_EQ(scheduler.counts().tier_hits, 256U);
}

TEST(Scheduler, AnIdlePrefillLeavesItsOwnStateBehindItsLastWholeBlock) {
  Scheduler scheduler(kWithPrefixes);
  const auto idle = make_sequence(300), same = make_sequence(300), longer = make_sequence(500);
  EXPECT_EQ(idle_step(scheduler, *idle, 130), 128);
  EXPECT_EQ(scheduler.slots_in_use(), 1);
  EXPECT_EQ(scheduler.blocks_in_use(), 2);  // no more than its rows want
  EXPECT_EQ(idle_step(scheduler, *idle, 200), 128);
  EXPECT_EQ(idle_step(scheduler, *idle, 200), 0);
  scheduler.end_idle(idle.get());
  EXPECT_EQ(scheduler.slots_in_use(), 0);
  EXPECT_EQ(scheduler.blocks_in_use(), 0);
  EXPECT_EQ(scheduler.prefixes().kept_slots(), 1);
  EXPECT_EQ(scheduler.prefixes().idle_blocks(), 4);
  EXPECT_EQ(scheduler.counts().prefix_queries, 0U);

  EXPECT_EQ(run_and_leave(scheduler, *longer), 256);
  EXPECT_EQ(prefill_idle(scheduler, *same), 0) << "all of it is there";
  const auto block = make_sequence(64, 500), block_and_token = make_sequence(65, 500);
  EXPECT_EQ(prefill_idle(scheduler, *block), 0) << "a prompt that is this could not go on behind it";
  EXPECT_EQ(prefill_idle(scheduler, *block_and_token), 64);
}

TEST(Scheduler, WhatIsThereAlreadyTakesNothingForAnIdlePrefill) {
  Scheduler scheduler(kWithPrefixes);
  const auto first = make_sequence(300), again = make_sequence(300);
  EXPECT_EQ(prefill_idle(scheduler, *first), 256);
  EXPECT_EQ(idle_step(scheduler, *again, 128), 0);
  EXPECT_EQ(scheduler.slots_in_use(), 0);
  EXPECT_EQ(scheduler.blocks_in_use(), 0);
}

TEST(SchedulerDeathTest, NothingIsPrefilledWhileOthersWaitOrRun) {
  Scheduler scheduler(kWithPrefixes);
  const auto idle = make_sequence(300), other = make_sequence(100, 2000);
  scheduler.add(other.get());
  EXPECT_DEATH((void)scheduler.plan_idle(idle.get(), 128), "waiting_");
  run_step(scheduler);
  EXPECT_DEATH((void)scheduler.plan_idle(idle.get(), 128), "running_");
  scheduler.remove(other.get());
  ASSERT_FALSE(scheduler.plan_idle(idle.get(), 128).empty());
  scheduler.mark_submitted();
  EXPECT_DEATH((void)scheduler.plan_idle(idle.get(), 128), "steps_under_way");
}

TEST(Scheduler, AnIdlePrefillGoesOnWhereItWasEnded) {
  Scheduler scheduler(kWithPrefixes);
  const auto idle = make_sequence(600), next = make_sequence(600), other = make_sequence(100, 2000);
  EXPECT_EQ(idle_step(scheduler, *idle, 128), 128);
  scheduler.end_idle(idle.get());  // for the other
  EXPECT_EQ(run_and_leave(scheduler, *other), 0);
  EXPECT_EQ(idle_step(scheduler, *idle, 128), 128);
  EXPECT_EQ(idle->resumed, 128);
  scheduler.end_idle(idle.get());
  EXPECT_EQ(run_and_leave(scheduler, *next), 256) << "who it is for came before it had ended";
  EXPECT_EQ(prefill_idle(scheduler, *idle), 0) << "and has computed the rest";
}

TEST(Scheduler, NothingThatSavesMoreIsGivenUpForAnIdlePrefill) {
  Scheduler scheduler({.blocks = 12, .slots = 1, .kept_slots = 1, .max_batched_rows = 2000, .prefix_caching = true});
  const auto kept = make_sequence(600), again = make_sequence(600);
  run_and_leave(scheduler, *kept);  // nine blocks, and a state that saves 576 tokens
  const auto small = make_sequence(300, 5000);
  EXPECT_EQ(prefill_idle(scheduler, *small), 192) << "there were three blocks, and it wants four";
  EXPECT_EQ(run_and_leave(scheduler, *again), 576);
  const auto large = make_sequence(700, 9000);
  EXPECT_EQ(prefill_idle(scheduler, *large), 640);
  EXPECT_EQ(scheduler.prefixes().points_given_up(), 2U);
}

/// Of a salt that is not its own it takes nothing.
TEST(Scheduler, AnIdlePrefillHasASalt) {
  Scheduler scheduler(kWithPrefixes);
  const auto idle = make_sequence(300), mine = make_sequence(300), other = make_sequence(300);
  idle->cache_salt = mine->cache_salt = "mine";
  EXPECT_EQ(prefill_idle(scheduler, *idle), 256);
  EXPECT_EQ(run_and_leave(scheduler, *other), 0);
  EXPECT_EQ(run_and_leave(scheduler, *mine), 256);
}

TEST(Scheduler, AModelWithoutStatesHasIdlePrefillsToo) {
  SchedulerLimits limits = kWithPrefixes;
  limits.has_states = false;
  Scheduler scheduler(limits);
  const auto idle = make_sequence(300), next = make_sequence(400);
  EXPECT_EQ(prefill_idle(scheduler, *idle), 256);
  EXPECT_EQ(scheduler.slots().used(), 0);
  EXPECT_EQ(run_and_leave(scheduler, *next), 256);
}

TEST(Scheduler, AModelWithoutStatesGoesOnFromPromptsAndAnswers) {
  SchedulerLimits limits = kWithPrefixes;
  limits.has_states = false;
  limits.keeps_answers = true;
  Scheduler scheduler(limits);
  const auto first = make_sequence(300), second = make_sequence(400), next = make_sequence(400);
  EXPECT_EQ(run_and_leave(scheduler, *first), 0);
  scheduler.add(second.get());
  while (second->size() < 460) run_step(scheduler);
  EXPECT_EQ(second->resumed, 256);
  scheduler.remove(second.get());
  std::vector<int32_t> tokens = *second->prompt;
  tokens.insert(tokens.end(), second->output.begin(), second->output.end());
  next->prompt = std::make_shared<const std::vector<int32_t>>(std::move(tokens));
  EXPECT_EQ(run_and_leave(scheduler, *next), 448);
  EXPECT_EQ(scheduler.slots().used(), 0);
}

/// Its newest token need not have come back.
TEST(Scheduler, AnAnswerThatIsCancelledIsKeptUpToItsLastWholeBlock) {
  SchedulerLimits limits = kWithPrefixes;
  limits.keeps_answers = true;
  for (const int64_t known : {63, 64}) {
    Scheduler scheduler(limits);
    const auto earlier = make_sequence(10, 1000), first = make_sequence(60), next = make_sequence(60);
    scheduler.add(earlier.get());
    run_step(scheduler);
    scheduler.add(first.get());
    run_step(scheduler);
    scheduler.remove(earlier.get());  // the slot of number 0 is free
    while (first->size() < known) run_step(scheduler);
    while (first->answer_tokens == 0) submit_step(scheduler);  // the row behind the block, of a token under way
    EXPECT_EQ(first->size(), known);
    EXPECT_EQ(first->answer_tokens, 64);
    EXPECT_EQ(first->answer_slot, 0);
    scheduler.remove(first.get());
    EXPECT_EQ(scheduler.slots().used(), known == 64 ? 1 : 0);
    EXPECT_EQ(scheduler.prefixes().kept_slots(), known == 64 ? 1 : 0);
    std::vector<int32_t> tokens = *first->prompt;
    tokens.insert(tokens.end(), first->output.begin(), first->output.end());
    tokens.resize(70, 3);
    next->prompt = std::make_shared<const std::vector<int32_t>>(std::move(tokens));
    EXPECT_EQ(run_and_leave(scheduler, *next), known == 64 ? 64 : 0) << "not all of the block is known";
  }
}

/// The state behind a block takes the place of the one before.
TEST(Scheduler, AnAnswerHasOneSlotHoweverLongItIs) {
  SchedulerLimits limits = kWithPrefixes;
  limits.kept_slots = 8;
  limits.keeps_answers = true;
  Scheduler scheduler(limits);
  const auto earlier = make_sequence(10, 1000), sequence = make_sequence(10);
  scheduler.add(earlier.get());
  run_step(scheduler);
  scheduler.add(sequence.get());
  run_step(scheduler);
  scheduler.remove(earlier.get());
  for (const int64_t tokens : {70, 140, 260}) {
    while (sequence->size() < tokens) run_step(scheduler);
    EXPECT_EQ(sequence->answer_slot, 0) << "the first number is one, too";
    EXPECT_EQ(scheduler.slots().used(), 2);
    EXPECT_EQ(scheduler.slots_in_use(), 1);
  }
  scheduler.remove(sequence.get());
  EXPECT_EQ(scheduler.slots().used(), 1);
  EXPECT_EQ(scheduler.prefixes().kept_slots(), 1);
  EXPECT_EQ(scheduler.slots_in_use(), 0);
}

/// Also when it ends with the second of them.
TEST(Scheduler, AChunkLeavesOneState) {
  struct Case {
    int32_t rows_max;
    std::vector<int64_t> likely_ends;
    std::vector<std::pair<int32_t, int64_t>> steps;  // rows and where a state is left, of the first ones
  };
  for (const auto& [rows_max, likely_ends, steps] :
       {Case{960, {300}, {{256, 256}, {744, 960}}}, Case{2000, {300, 700}, {{256, 256}, {384, 640}, {360, 960}}},
        Case{640, {300, 700}, {{256, 256}, {640, 640}, {104, 960}}}, Case{128, {300}, {{128, 0}, {128, 256}}}}) {
    SchedulerLimits limits = kWithPrefixes;
    limits.max_batched_rows = rows_max;
    Scheduler scheduler(limits);
    const auto sequence = make_sequence(1000);
    sequence->likely_ends = likely_ends;
    scheduler.add(sequence.get());
    for (const auto& [rows, position] : steps) {
      const auto step = run_step(scheduler);
      EXPECT_EQ(step[0].rows, rows) << rows_max;
      EXPECT_EQ(step[0].snapshot_position, position) << rows_max;
    }
  }
}

TEST(Scheduler, HitsAreWhatIsGoneOnFromNotAllThatIsKept) {
  Scheduler scheduler(kWithPrefixes);
  const auto first = make_sequence(600), parted = make_sequence(600);
  std::vector<int32_t> tokens = *first->prompt;
  std::fill(tokens.begin() + 400, tokens.end(), 1);
  parted->prompt = std::make_shared<const std::vector<int32_t>>(std::move(tokens));
  run_and_leave(scheduler, *first);
  EXPECT_EQ(run_and_leave(scheduler, *parted), 0);
  EXPECT_EQ(parted->matched, 384);
  EXPECT_EQ(scheduler.counts().prefix_hits, 0U);
  EXPECT_EQ(scheduler.counts().prefix_queries, 1200U);
}

/// What it can go on from without the other counts.
TEST(Scheduler, NobodyWaitsForLittleMoreThanWhatIsKept) {
  Scheduler scheduler(kWithPrefixes);
  const auto kept = make_sequence(600), reading = make_sequence(900), next = make_sequence(660);
  run_and_leave(scheduler, *kept);
  reading->wants_prompt_logits = true;  // it goes on from nothing, a block in each step
  scheduler.add(reading.get());
  run_step(scheduler);
  scheduler.add(next.get());
  EXPECT_EQ(run_step(scheduler).size(), 2U) << "another block is not worth it";
  EXPECT_EQ(next->resumed, 576);
}

TEST(Scheduler, APlanOfAnIdlePrefillIsTheNewestAlone) {
  Scheduler scheduler(kWithPrefixes);
  const auto idle = make_sequence(300);
  EXPECT_EQ(scheduler.plan_idle(idle.get(), 64).size(), 1U);
  EXPECT_EQ(scheduler.plan_idle(idle.get(), 64).size(), 1U);
  scheduler.end_idle(idle.get());
  scheduler.mark_submitted();
  EXPECT_EQ(idle->submitted, 0);
  EXPECT_TRUE(scheduler.plan().empty());
  EXPECT_EQ(scheduler.slots().used(), 0);
  EXPECT_EQ(scheduler.blocks().used(), 0);
}

/// Not for a state either; and nothing of what it would have gone on from stays taken.
TEST(Scheduler, WhereEachSlotIsOfMoreWorthNothingIsPrefilled) {
  Scheduler scheduler({.blocks = 40, .slots = 1, .kept_slots = 1, .max_batched_rows = 2000, .prefix_caching = true});
  const auto one = make_sequence(600), other = make_sequence(600, 5000), idle = make_sequence(700);
  run_and_leave(scheduler, *one);
  EXPECT_EQ(prefill_idle(scheduler, *other), 576);
  ASSERT_EQ(scheduler.prefixes().kept_slots(), 2);
  EXPECT_EQ(idle_step(scheduler, *idle, 128), 0) << "64 tokens more than what it goes on from, for 576";
  EXPECT_EQ(scheduler.prefixes().points_given_up(), 0U);
  EXPECT_EQ(scheduler.blocks_in_use(), 0);
  EXPECT_EQ(scheduler.slots_in_use(), 0);
  const auto much = make_sequence(1400);
  EXPECT_EQ(prefill_idle(scheduler, *much), 1344 - 576);
}

/// What of a conversation an idle prefill goes on from stays a point of its own: it is a guess.
TEST(Scheduler, AnIdlePrefillTakesNothingFromWhatItGoesOnFrom) {
  Scheduler scheduler({.blocks = 60, .slots = 1, .kept_slots = 3, .max_batched_rows = 2000, .prefix_caching = true});
  const auto first = make_sequence(300), second = make_sequence(600), idle = make_sequence(900);
  run_and_leave(scheduler, *first);
  run_and_leave(scheduler, *second);
  EXPECT_EQ(prefill_idle(scheduler, *idle), 832 + 64 - 576);
  for (const int32_t other : {5000, 6000, 7000}) run_and_leave(scheduler, *make_sequence(200, other));
  EXPECT_EQ(run_and_leave(scheduler, *make_sequence(700)), 576);
}

SchedulerLimits twenty_blocks_and_a_tier() {
  SchedulerLimits limits = kWithPrefixes;
  limits.blocks = 20;
  limits.host_pages = 40;
  limits.state_pages = 1;
  return limits;
}

/// Nor is there anything for it where each block is of more worth than what it would bring in.
TEST(Scheduler, WhereEachBlockIsOfMoreWorthNothingIsBroughtIn) {
  Scheduler scheduler(twenty_blocks_and_a_tier());
  const auto first = make_sequence(300), large = make_sequence(1270, 5000), idle = make_sequence(400);
  run_and_leave(scheduler, *first);
  run_and_leave(scheduler, *large);
  (void)scheduler.take_moves();
  EXPECT_EQ(idle_step(scheduler, *idle, 128), 0);
  EXPECT_TRUE(scheduler.take_moves().empty());
  EXPECT_EQ(scheduler.blocks_in_use(), 0);
  EXPECT_EQ(scheduler.slots_in_use(), 0);
  EXPECT_EQ(run_and_leave(scheduler, *make_sequence(300)), 256) << "it is there still";
}

TEST(Scheduler, AnIdlePrefillGoesOnFromTheHostsMemory) {
  Scheduler scheduler(twenty_blocks_and_a_tier());
  const auto first = make_sequence(300), idle = make_sequence(600), large = make_sequence(1270, 5000);
  run_and_leave(scheduler, *first);
  scheduler.add(large.get());
  ASSERT_EQ(scheduler.plan().size(), 1U);
  scheduler.remove(large.get());  // before it has computed anything
  (void)scheduler.take_moves();
  ASSERT_EQ(scheduler.plan_idle(idle.get(), 128).size(), 1U);
  EXPECT_EQ(idle->resumed, 256);
  const auto moves = scheduler.take_moves();
  const auto back = [&](kernels::PageMove::What what) {
    return std::ranges::count_if(moves, [&](const auto& move) { return !move.to_host && move.what == what; });
  };
  EXPECT_EQ(back(kernels::PageMove::What::block), 4);
  EXPECT_EQ(back(kernels::PageMove::What::state), 1);
  scheduler.end_idle(idle.get());
}

}  // namespace
}  // namespace tessera::engine
