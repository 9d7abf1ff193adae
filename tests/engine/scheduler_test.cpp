#include "engine/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler_steps.h"

namespace tessera::engine {
namespace {

using kernels::RowClass;

TEST(Scheduler, PrefillsInChunksOf64) {
  Scheduler scheduler({.blocks = 10, .slots = 2, .max_batched_rows = 200});
  const auto sequence = make_sequence(300);
  scheduler.add(sequence.get());

  const auto first = run_step(scheduler);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].rows, 192);  // the multiple of 64 below 200
  EXPECT_EQ(first[0].row_class, RowClass::prefill);
  EXPECT_TRUE(first[0].starts);
  EXPECT_FALSE(first[0].needs_next_token);

  const auto second = run_step(scheduler);
  EXPECT_EQ(second[0].rows, 108);
  EXPECT_FALSE(second[0].starts);
  EXPECT_TRUE(second[0].needs_next_token);

  const auto third = scheduler.plan();
  EXPECT_EQ(third[0].rows, 1);
  EXPECT_EQ(third[0].row_class, RowClass::decode);
  scheduler.remove(sequence.get());
  EXPECT_EQ(scheduler.blocks().used(), 0);
  EXPECT_EQ(scheduler.slots().used(), 0);
  EXPECT_TRUE(scheduler.plan().empty());
}

TEST(Scheduler, DecodeRowsComeFirst) {
  Scheduler scheduler({.blocks = 20, .slots = 2, .max_batched_rows = 66});
  const auto decoding = make_sequence(3);
  scheduler.add(decoding.get());
  run_step(scheduler);
  const auto prefilling = make_sequence(300);
  scheduler.add(prefilling.get());
  const auto plan = scheduler.plan();
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].sequence, decoding.get());
  EXPECT_EQ(plan[1].sequence, prefilling.get());
  EXPECT_EQ(plan[1].rows, 64);
}

TEST(Scheduler, ChunksAreBoundedWhileOthersDecode) {
  Scheduler scheduler({.blocks = 20, .slots = 2, .max_batched_rows = 500});
  scheduler.limit_chunk_rows(130);
  const auto first = make_sequence(300);
  scheduler.add(first.get());
  EXPECT_EQ(run_step(scheduler)[0].rows, 300);  // nobody waits for it
  const auto second = make_sequence(193);
  scheduler.add(second.get());
  EXPECT_EQ(run_step(scheduler)[1].rows, 128);
  scheduler.limit_chunk_rows(1);
  EXPECT_EQ(run_step(scheduler)[1].rows, 64);
  scheduler.limit_chunk_rows(0);
  EXPECT_EQ(run_step(scheduler).size(), 1U);  // nothing is read beside the one that decodes
  scheduler.remove(first.get());
  EXPECT_EQ(run_step(scheduler)[0].rows, 1);
}

TEST(Scheduler, PromptLogitsComeOneChunkAStep) {
  Scheduler scheduler({.blocks = 20, .slots = 2, .max_batched_rows = 500});
  const auto a = make_sequence(100);
  const auto b = make_sequence(100);
  a->wants_prompt_logits = b->wants_prompt_logits = true;
  scheduler.add(a.get());
  scheduler.add(b.get());
  const auto plan = scheduler.plan();
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].sequence, a.get());
  EXPECT_EQ(plan[0].rows, 64);
  EXPECT_TRUE(plan[0].needs_all_logits);
}

TEST(Scheduler, PreemptsTheYoungestAndReplaysIt) {
  Scheduler scheduler({.blocks = 4, .slots = 2, .max_batched_rows = 256});
  const auto old = make_sequence(64);
  const auto young = make_sequence(64);
  scheduler.add(old.get());
  scheduler.add(young.get());
  // Both start (1 block each and a spare one); after 65 tokens they hold 2 each; at 129 the old one needs a third.
  while (old->size() < 129) run_step(scheduler);
  EXPECT_EQ(scheduler.counts().preemptions, 0U);
  run_step(scheduler);
  EXPECT_EQ(scheduler.counts().preemptions, 1U);
  EXPECT_EQ(young->slot, -1);
  EXPECT_THAT(scheduler.waiting(), testing::ElementsAre(young.get()));

  const int64_t young_size = young->size();
  scheduler.remove(old.get());
  auto plan = run_step(scheduler);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].row_class, RowClass::prefill);
  EXPECT_EQ(plan[0].rows, 64);
  EXPECT_TRUE(plan[0].starts);
  EXPECT_FALSE(plan[0].needs_next_token);
  plan = run_step(scheduler);
  EXPECT_EQ(plan[0].row_class, RowClass::decode);
  EXPECT_EQ(plan[0].rows, young_size - 64);
  EXPECT_TRUE(plan[0].needs_next_token);
}

TEST(Scheduler, PlansARowOfATokenThatHasNotComeBack) {
  Scheduler scheduler({.blocks = 4, .slots = 1, .max_batched_rows = 256});
  const auto sequence = make_sequence(64);
  scheduler.add(sequence.get());
  const auto prompt = submit_step(scheduler);
  EXPECT_EQ(sequence->size(), 64);
  EXPECT_EQ(sequence->length(), 65);
  const auto next = submit_step(scheduler);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].row_class, RowClass::decode);
  EXPECT_TRUE(next[0].needs_next_token);
  EXPECT_EQ(sequence->blocks.size(), 2U);
  EXPECT_EQ(sequence->submitted, 65);
  EXPECT_EQ(sequence->confirmed, 0);
  EXPECT_EQ(sequence->steps_under_way, 2);
  collect_step(scheduler, prompt);
  collect_step(scheduler, next);
  EXPECT_EQ(sequence->confirmed, 65);
  EXPECT_EQ(sequence->size(), sequence->length());
}

TEST(Scheduler, WhoNeedsItsTokenWaitsForIt) {
  Scheduler scheduler({.blocks = 4, .slots = 2, .max_batched_rows = 256});
  const auto guided = make_sequence(3);
  const auto free = make_sequence(3);
  guided->needs_token = true;
  scheduler.add(guided.get());
  scheduler.add(free.get());
  const auto prompts = submit_step(scheduler);
  EXPECT_EQ(prompts.size(), 2U);
  const auto next = submit_step(scheduler);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].sequence, free.get());
  scheduler.remove(free.get());
  EXPECT_TRUE(scheduler.plan().empty());
  guided->output.push_back(7);
  scheduler.commit(guided.get(), 3, 3);
  EXPECT_EQ(scheduler.plan().size(), 1U);
}

TEST(Scheduler, WhereDrawsComeLaterOnlyDraftsAreWaitedFor) {
  Scheduler scheduler({.blocks = 4, .slots = 2, .max_batched_rows = 256, .draws_later = true});
  const auto guided = make_sequence(3);
  guided->needs_token = true;
  scheduler.add(guided.get());
  EXPECT_EQ(submit_step(scheduler).size(), 1U);
  EXPECT_EQ(submit_step(scheduler).size(), 1U);
  guided->needs_host = true;
  EXPECT_TRUE(scheduler.plan().empty());
}

/// Prompts are read beside the rows of those that draft, not in steps between theirs; so all go on together.
TEST(Scheduler, WhoDraftsAndPromptsAreOfTheSameSteps) {
  Scheduler scheduler({.blocks = 16, .slots = 3, .max_batched_rows = 256});
  const auto first = make_sequence(3), second = make_sequence(3), third = make_sequence(300);
  first->needs_host = second->needs_host = third->needs_host = true;
  scheduler.add(first.get());
  run_step(scheduler);
  const auto decoding = submit_step(scheduler);
  ASSERT_EQ(decoding.size(), 1U);
  scheduler.add(second.get());
  scheduler.add(third.get());
  EXPECT_TRUE(scheduler.plan().empty()) << "nothing is read meanwhile";
  collect_step(scheduler, decoding);
  const auto prompts = submit_step(scheduler);
  ASSERT_EQ(prompts.size(), 3U);
  EXPECT_EQ(prompts[0].sequence, first.get());
  EXPECT_LT(prompts[2].rows, 300);
  EXPECT_TRUE(scheduler.plan().empty()) << "nor the rest of a prompt";
  collect_step(scheduler, prompts);
  const auto together = scheduler.plan();
  ASSERT_EQ(together.size(), 3U);
  EXPECT_EQ(together[1].sequence, second.get());
  EXPECT_EQ(together[1].row_class, RowClass::decode);
  EXPECT_EQ(together[2].rows + prompts[2].rows, 300);
}

/// While nobody decodes, a prompt's steps do not wait for each other.
TEST(Scheduler, WithoutAnybodyThatDecodesPromptsAreReadAhead) {
  Scheduler scheduler({.blocks = 8, .slots = 1, .max_batched_rows = 256});
  const auto sequence = make_sequence(500);
  sequence->needs_host = true;
  scheduler.add(sequence.get());
  EXPECT_EQ(submit_step(scheduler).front().rows, 256);
  EXPECT_EQ(submit_step(scheduler).front().rows, 244);
  EXPECT_TRUE(scheduler.plan().empty());
}

TEST(Scheduler, WhatEndsByCountIsFreeWhenItsLastRowIsSubmitted) {
  Scheduler scheduler({.blocks = 4, .slots = 1, .max_batched_rows = 256});
  const auto sequence = make_sequence(3);
  const auto next = make_sequence(3);
  sequence->tokens_max = 5;
  next->tokens_max = 3;  // nothing is drawn
  scheduler.add(sequence.get());
  scheduler.add(next.get());
  const auto prompt = submit_step(scheduler);
  EXPECT_FALSE(prompt[0].ends);
  const auto last = submit_step(scheduler);
  EXPECT_TRUE(last[0].ends);
  EXPECT_TRUE(last[0].needs_next_token);
  EXPECT_THAT(scheduler.running(), testing::IsEmpty());
  EXPECT_EQ(scheduler.blocks().used(), 0);

  const auto other = submit_step(scheduler);
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].sequence, next.get());
  EXPECT_TRUE(other[0].ends);
  EXPECT_FALSE(other[0].needs_next_token);
  EXPECT_TRUE(scheduler.plan().empty());
  collect_step(scheduler, prompt);
  collect_step(scheduler, last);
  EXPECT_EQ(sequence->size(), 5);
}

TEST(Scheduler, APreemptedSequenceWaitsForItsTokenUnderWay) {
  Scheduler scheduler({.blocks = 3, .slots = 2, .max_batched_rows = 256});
  const auto old = make_sequence(63);
  const auto young = make_sequence(64);
  scheduler.add(old.get());
  scheduler.add(young.get());
  // The old one's row 64 needs the block that is left, young's needs one more.
  const auto prompts = submit_step(scheduler);
  ASSERT_EQ(prompts.size(), 2U);
  const auto first = submit_step(scheduler);
  EXPECT_EQ(first.size(), 2U);
  collect_step(scheduler, prompts);
  const auto second = submit_step(scheduler);  // old preempts young, which has a token under way
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(scheduler.counts().preemptions, 1U);
  EXPECT_EQ(young->steps_under_way, 1);
  EXPECT_EQ(young->size(), 65);
  scheduler.remove(old.get());
  EXPECT_TRUE(scheduler.plan().empty()) << "there is room, but not yet the token";
  young->output.push_back(7);
  scheduler.commit(young.get(), 1, 1);
  EXPECT_EQ(young->confirmed, 0);
  const auto replay = scheduler.plan();
  ASSERT_EQ(replay.size(), 1U);
  EXPECT_TRUE(replay[0].starts);
  EXPECT_EQ(young->size(), 66);
}

TEST(Scheduler, RowsThatWereNotAcceptedAreComputedAgain) {
  Scheduler scheduler({.blocks = 4, .slots = 1, .max_batched_rows = 256});
  const auto sequence = make_sequence(10);
  scheduler.add(sequence.get());
  run_step(scheduler);
  sequence->output = {7, 8, 9};  // a token and two guesses
  const auto guesses = submit_step(scheduler);
  EXPECT_EQ(guesses[0].rows, 3);
  sequence->output = {7, 8, 5};
  scheduler.commit(sequence.get(), 3, 2);
  EXPECT_EQ(sequence->confirmed, 12);
  EXPECT_EQ(sequence->submitted, 12);
  EXPECT_TRUE(sequence->decoding());
  const auto next = scheduler.plan();
  EXPECT_EQ(next[0].rows, 1);
}

TEST(SchedulerDeathTest, RowsBehindRejectedOnesMustNotBeUnderWay) {
  Scheduler scheduler({.blocks = 4, .slots = 1, .max_batched_rows = 256});
  const auto sequence = make_sequence(10);
  scheduler.add(sequence.get());
  submit_step(scheduler);
  submit_step(scheduler);
  EXPECT_DEATH(scheduler.commit(sequence.get(), 10, 9), "steps_under_way");
}

TEST(Scheduler, RefusesWhatCanNeverRun) {
  const Scheduler scheduler({.blocks = 4, .slots = 2, .max_batched_rows = 256});
  EXPECT_TRUE(scheduler.check_fits(256).ok());
  const Status status = scheduler.check_fits(257);
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(status.message(), testing::HasSubstr("needs 5 KV blocks of 64 tokens, and there are 4"));
}

TEST(Scheduler, AdmissionLeavesABlockForEachRunningSequence) {
  Scheduler scheduler({.blocks = 4, .slots = 2, .max_batched_rows = 512});
  const auto old = make_sequence(64);
  const auto young = make_sequence(192);
  scheduler.add(old.get());
  scheduler.add(young.get());
  run_step(scheduler);
  EXPECT_THAT(scheduler.running(), testing::ElementsAre(old.get())) << "three blocks are free, and the old one grows";
  scheduler.remove(young.get());
  const auto shorter = make_sequence(128);
  Scheduler roomy({.blocks = 4, .slots = 2, .max_batched_rows = 512});
  const auto first = make_sequence(64);
  roomy.add(first.get());
  roomy.add(shorter.get());
  EXPECT_EQ(roomy.plan().size(), 2U) << "two blocks and the spare one are free";
}

TEST(SchedulerDeathTest, AStepHasRoomForEveryDecodingRowAndAChunk) {
  const Scheduler least({.blocks = 4, .slots = 2, .max_batched_rows = 66});
  EXPECT_DEATH(Scheduler({.blocks = 4, .slots = 2, .max_batched_rows = 65}), "max_batched_rows");
}

TEST(SchedulerDeathTest, ACommitIsOfTheRowsOfAStep) {
  Scheduler scheduler({.blocks = 4, .slots = 1, .max_batched_rows = 256});
  const auto sequence = make_sequence(10);
  scheduler.add(sequence.get());
  submit_step(scheduler);
  EXPECT_DEATH(scheduler.commit(sequence.get(), 10, 11), "accepted");
  EXPECT_DEATH(scheduler.commit(sequence.get(), 10, -1), "accepted");
}

/// Drafts count against the rows of a step, so that beside them a prompt has what they leave.
TEST(Scheduler, PromptsHaveTheRowsThatDraftsLeave) {
  for (const int64_t tokens : {99, 100}) {
    Scheduler scheduler({.blocks = 20, .slots = 2, .max_batched_rows = 104, .max_decode_rows = 10});
    const auto drafting = make_sequence(10), prompt = make_sequence(tokens);
    scheduler.add(drafting.get());
    run_step(scheduler);
    drafting->drafts = {1, 2, 3, 4};
    scheduler.add(prompt.get());
    const auto plan = scheduler.plan();
    ASSERT_EQ(plan.size(), 2U);
    EXPECT_EQ(plan[0].rows, 5);
    EXPECT_EQ(plan[0].drafts, 4);
    EXPECT_EQ(plan[1].rows, tokens == 99 ? 99 : 64) << "99 rows are left";
  }
}

/// A row is kept free for the draw of each sequence that may end its prompt in the step: as many as have slots.
TEST(Scheduler, WhoHasNoSlotTakesNoRowFromDrafts) {
  Scheduler scheduler({.blocks = 20, .slots = 1, .max_batched_rows = 104, .max_decode_rows = 4});
  const auto drafting = make_sequence(10), second = make_sequence(10, 100), third = make_sequence(10, 200);
  for (Sequence* sequence : {drafting.get(), second.get(), third.get()}) scheduler.add(sequence);
  run_step(scheduler);
  drafting->drafts = {1, 2, 3, 4, 5};
  EXPECT_EQ(scheduler.plan()[0].drafts, 3);
}

/// Where answers are kept, no step with drafts goes on to the last row of a block; elsewhere they fill it.
TEST(Scheduler, DraftsLeaveTheLastRowOfABlockWhereAnswersAreKept) {
  for (const bool keeps : {false, true}) {
    Scheduler scheduler({.blocks = 20,
                         .slots = 1,
                         .kept_slots = 2,
                         .max_batched_rows = 200,
                         .max_decode_rows = 20,
                         .prefix_caching = true,
                         .keeps_answers = keeps});
    const auto sequence = make_sequence(124);
    scheduler.add(sequence.get());
    run_step(scheduler);
    sequence->drafts = {1, 2, 3, 4, 5};
    EXPECT_EQ(scheduler.plan()[0].drafts, keeps ? 2 : 5);
  }
}

/// Replayed rows that were decoded stand with the decoding ones, before the prompt of an older sequence.
TEST(Scheduler, ReplayedRowsComeBeforeAnOlderPrompt) {
  Scheduler scheduler({.blocks = 84, .slots = 3, .max_batched_rows = 300});
  const auto old = make_sequence(64), reading = make_sequence(int64_t{64} * 80), young = make_sequence(64);
  reading->wants_prompt_logits = true;  // a chunk of 64 in every step
  for (Sequence* sequence : {old.get(), reading.get(), young.get()}) scheduler.add(sequence);
  while (scheduler.counts().preemptions == 0) run_step(scheduler);
  EXPECT_THAT(scheduler.waiting(), testing::ElementsAre(young.get()));
  scheduler.remove(old.get());
  run_step(scheduler);
  const auto plan = scheduler.plan();
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].sequence, young.get());
  EXPECT_EQ(plan[0].row_class, RowClass::decode);
  EXPECT_EQ(plan[1].sequence, reading.get());
  EXPECT_EQ(plan[1].row_class, RowClass::prefill);
  EXPECT_EQ(scheduler.counts().prefix_queries, 64U * 82) << "what is replayed is not asked for again";
}

/// One that gives up its blocks before it has a token begins again, and has begun once.
TEST(Scheduler, APromptThatIsReadAgainIsAskedForOnce) {
  Scheduler scheduler({.blocks = 4, .slots = 2, .max_batched_rows = 300});
  const auto old = make_sequence(64), young = make_sequence(128);
  young->wants_prompt_logits = true;  // in chunks of 64
  scheduler.add(old.get());
  scheduler.add(young.get());
  ASSERT_EQ(run_step(scheduler).size(), 2U);
  scheduler.limit_chunk_rows(0);
  while (scheduler.counts().preemptions == 0) run_step(scheduler);
  EXPECT_THAT(scheduler.waiting(), testing::ElementsAre(young.get()));
  scheduler.remove(old.get());
  while (young->output.empty()) run_step(scheduler);
  EXPECT_EQ(scheduler.counts().prefix_queries, 64U + 128U);
}

/// While nothing is read beside those that decode, an older prompt waits with them for results.
TEST(Scheduler, AnOlderPromptWaitsForThoseThatDecodeWhereNoneIsReadBesideThem) {
  for (const bool needs_host : {true, false}) {
    Scheduler scheduler({.blocks = 20, .slots = 2, .max_batched_rows = 300});
    const auto reading = make_sequence(640), decoding = make_sequence(64);
    reading->wants_prompt_logits = true;
    decoding->needs_host = needs_host;
    decoding->needs_token = !needs_host;
    scheduler.add(reading.get());
    scheduler.add(decoding.get());
    ASSERT_EQ(run_step(scheduler).size(), 2U);
    scheduler.limit_chunk_rows(0);
    const auto step = submit_step(scheduler);
    ASSERT_EQ(step.size(), 1U);
    EXPECT_EQ(step[0].sequence, decoding.get());
    EXPECT_TRUE(scheduler.plan().empty());
    collect_step(scheduler, step);
    EXPECT_EQ(scheduler.plan().size(), 1U);
  }
}

TEST(Scheduler, WhoLeavesWhileWaitingIsForgotten) {
  Scheduler scheduler({.blocks = 4, .slots = 1, .max_batched_rows = 256});
  const auto running = make_sequence(10), gone = make_sequence(10, 20), next = make_sequence(10, 40);
  for (Sequence* sequence : {running.get(), gone.get(), next.get()}) scheduler.add(sequence);
  run_step(scheduler);
  scheduler.remove(gone.get());
  EXPECT_THAT(scheduler.waiting(), testing::ElementsAre(next.get()));
  scheduler.remove(running.get());
  const auto plan = scheduler.plan();
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].sequence, next.get());
}

/// A waiting sequence holds nothing, whatever it had: it is as one that has just come, with its tokens.
TEST(Scheduler, APreemptionTakesEverything) {
  Scheduler scheduler({.blocks = 4,
                       .slots = 2,
                       .kept_slots = 4,
                       .max_batched_rows = 300,
                       .max_decode_rows = 20,
                       .prefix_caching = true,
                       .keeps_answers = true});
  const auto old = make_sequence(30), young = make_sequence(20, 1000);
  young->needs_host = true;
  scheduler.add(old.get());
  scheduler.add(young.get());
  while (old->size() < 128) run_step(scheduler);
  EXPECT_EQ(scheduler.counts().preemptions, 0U);
  EXPECT_GE(young->answer_slot, 0);
  EXPECT_EQ(scheduler.slots_in_use(), 2);
  young->drafts = {1, 2};  // of which none holds
  for (const ScheduledRows& item : submit_step(scheduler)) {
    item.sequence->output.push_back(7);
    scheduler.commit(item.sequence, item.rows, 1);
  }
  EXPECT_EQ(young->held, 1);
  young->drafts = {3};
  run_step(scheduler);
  ASSERT_EQ(scheduler.counts().preemptions, 1U);
  EXPECT_EQ(young->slot, -1);
  EXPECT_EQ(young->answer_slot, -1);
  EXPECT_EQ(young->restore_slot, -1);
  EXPECT_EQ(young->submitted + young->confirmed + young->resumed + young->point_tokens + young->answer_tokens, 0);
  EXPECT_EQ(young->steps_under_way + young->held, 0);
  EXPECT_FALSE(young->keeps_records);
  EXPECT_EQ(young->standing, nullptr);
  EXPECT_TRUE(young->blocks.empty() && young->drafts.empty() && young->next_points.empty());
  EXPECT_EQ(scheduler.slots_in_use(), 1);
  EXPECT_EQ(scheduler.prefixes().kept_slots(), 0) << "nobody goes on from a part of an answer";
  EXPECT_EQ(scheduler.prefixes().points_given_up(), 0U);
}

TEST(Scheduler, ReplayedRowsTakeAllRowsThatAreLeft) {
  Scheduler scheduler({.blocks = 6, .slots = 2, .max_batched_rows = 90});
  const auto old = make_sequence(64), young = make_sequence(64);
  scheduler.add(old.get());
  scheduler.add(young.get());
  while (scheduler.counts().preemptions == 0) run_step(scheduler);
  const int64_t generated = young->size() - 64;
  ASSERT_GT(generated, 90);
  scheduler.remove(old.get());
  young->wants_prompt_logits = true;
  EXPECT_TRUE(run_step(scheduler)[0].needs_all_logits);
  const auto replay = run_step(scheduler);
  EXPECT_EQ(replay[0].row_class, RowClass::decode);
  EXPECT_EQ(replay[0].rows, 90) << "a chunk of a prompt would be 64";
  EXPECT_FALSE(replay[0].needs_all_logits) << "they are no rows of the prompt";
}

/// Nor does it hold a slot or a block before its first rows have room.
TEST(Scheduler, NobodyBeginsWhereFewerThan64RowsAreLeft) {
  for (const int32_t rows : {127, 128}) {
    Scheduler scheduler({.blocks = 20, .slots = 2, .max_batched_rows = rows});
    const auto first = make_sequence(64), second = make_sequence(50, 1000);
    scheduler.add(first.get());
    scheduler.add(second.get());
    EXPECT_EQ(scheduler.plan().size(), rows == 128 ? 2U : 1U);
    EXPECT_EQ(scheduler.slots_in_use(), rows == 128 ? 2 : 1);
  }
}

/// However many rows may decode: a block's worth of them is a prompt's.
TEST(Scheduler, DraftsLeaveRowsForAPrompt) {
  Scheduler scheduler({.blocks = 20, .slots = 2, .max_batched_rows = 72, .max_decode_rows = 100});
  const auto drafting = make_sequence(10), prompt = make_sequence(200, 1000);
  scheduler.add(drafting.get());
  run_step(scheduler);
  drafting->drafts = std::vector<int32_t>(30, 5);
  scheduler.add(prompt.get());
  const auto plan = scheduler.plan();
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].drafts, 6) << "of eight rows, but for a draw of each";
  EXPECT_EQ(plan[1].rows, 64);
}

}  // namespace
}  // namespace tessera::engine
