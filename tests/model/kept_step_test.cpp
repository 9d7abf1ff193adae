#include "model/kept_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <tuple>
#include <vector>

namespace tessera::model {
namespace {

using kernels::RowClass;
using testing::ElementsAre;
using testing::IsEmpty;

/// Three sequences: a token and two drafts, a token that is not known yet, and three rows of a prompt that goes on.
class KeptStepTest : public testing::Test {
 protected:
  KeptStepTest() {
    step_.tokens = {10, 11, 12, kLastDrawn, 20, 21, 22};
    step_.sequences = {{.first_row = 0,
                        .rows = 3,
                        .first_position = 100,
                        .state_slot = 4,
                        .keeps_records = true,
                        .held = 2,
                        .block_table = blocks_},
                       {.first_row = 3, .rows = 1, .first_position = 7, .state_slot = 1, .block_table = blocks_},
                       {.first_row = 4,
                        .rows = 3,
                        .first_position = 64,
                        .row_class = RowClass::prefill,
                        .state_slot = 2,
                        .snapshot_slot = 5,
                        .snapshot_position = 64,
                        .block_table = blocks_}};
    for (const int32_t row : {0, 1, 2, 3}) {
      step_.samples.push_back({.row = row,
                               .slot = row < 3 ? 4 : 1,
                               .params = row < 3 ? &*penalised_ : &*plain_,
                               .banned = banned_,
                               .allowed = allowed_,
                               .noise = {.key = 9, .choice = 2, .position = static_cast<uint64_t>(50 + row)}});
    }
    step_.drafting = {{.count = 3}, {.count = 1}, {.next_token = 23}};
  }

  /// What is pointed to is gone once the step is kept.
  KeptStep keep() {
    KeptStep kept(step_);
    blocks_.assign(3, -1);
    banned_.assign(2, -1);
    penalised_.reset();
    plain_.reset();
    step_.clear();
    return kept;
  }
  static std::vector<kernels::SampleResult> draws(const std::vector<int32_t>& tokens) {
    std::vector<kernels::SampleResult> results;
    for (const int32_t token : tokens) results.push_back({.token = token});
    return results;
  }

  std::vector<int32_t> blocks_ = {3, 1, 2}, banned_ = {7, 8};
  std::vector<uint32_t> allowed_ = {1};
  std::optional<kernels::SampleParams> penalised_ = kernels::SampleParams{.presence_penalty = 1, .logprobs = 3},
                                       plain_ = kernels::SampleParams{};
  [[nodiscard]] std::vector<size_t> places() const {
    std::vector<size_t> places;
    for (const HeadPass::Draft& draft : pass_.drafts) places.push_back(draft.place);
    return places;
  }

  Step step_;
  HeadPass pass_;
};

TEST_F(KeptStepTest, RowsHoldAsLongAsDraftsAreDrawn) {
  const std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>> cases = {
      {{99, 12, 13, 30}, {99}}, {{11, 98, 13, 30}, {11, 98}}, {{11, 12, 13, 30}, {11, 12, 13}}};
  for (const auto& [results, drawn] : cases) {
    KeptStep kept(step_);
    kept.set_results(draws(results));
    const auto sequences = kept.sequences();
    EXPECT_EQ(sequences[0].held, static_cast<int32_t>(drawn.size()));
    EXPECT_EQ(sequences[0].drawn, drawn);
    EXPECT_TRUE(sequences[0].draws_several && sequences[0].has_penalty);
    EXPECT_EQ(sequences[1].held, 1);
    EXPECT_THAT(sequences[1].drawn, ElementsAre(30));
    EXPECT_FALSE(sequences[1].draws_several || sequences[1].has_penalty);
    EXPECT_EQ(sequences[2].held, 3);
    EXPECT_THAT(sequences[2].drawn, IsEmpty());
  }
}

TEST_F(KeptStepTest, DraftsThatWereNamedAreFoundAgain) {
  KnownDrafts known(6);
  known.set({.slot = 4, .number = 0}, 11);
  known.set({.slot = 4, .number = 1}, 12);
  known.set({.slot = 1, .number = 0}, 5);  // another slot's
  EXPECT_EQ(known.resolve(4, draft_token(1)), 12);
  EXPECT_EQ(known.resolve(4, kLastDrawn), kLastDrawn);
  EXPECT_EQ(known.resolve(4, 3), 3);
  step_.tokens[1] = draft_token(0);
  step_.tokens[2] = draft_token(1);
  KeptStep kept(step_);
  kept.set_drafts(known);
  kept.set_results(draws({11, 98, 13, 30}));
  EXPECT_EQ(kept.sequences()[0].held, 2);
  kept.first_pass(pass_);
  EXPECT_THAT(pass_.tokens, ElementsAre(11, 98, 12, 30, 21, 22, 23));
}

TEST_F(KeptStepTest, TheFirstPassHasAllRowsWithTheTokensBehindThem) {
  KeptStep kept = keep();
  kept.set_results(draws({11, 98, 13, 30}));
  kept.first_pass(pass_);
  EXPECT_THAT(pass_.tokens, ElementsAre(11, 98, 12, 30, 21, 22, 23));
  EXPECT_THAT(pass_.hidden_rows, IsEmpty());
  ASSERT_EQ(pass_.sequences.size(), 3U);
  for (const kernels::SequenceRows& rows : pass_.sequences) {
    EXPECT_FALSE(rows.keeps_records);
    EXPECT_EQ(rows.held, 0);
    EXPECT_EQ(rows.snapshot_slot, -1);
    EXPECT_THAT(rows.block_table, ElementsAre(3, 1, 2));
  }
  EXPECT_EQ(pass_.sequences[0].first_position, 100);
  EXPECT_EQ(pass_.sequences[2].row_class, RowClass::prefill);
  ASSERT_EQ(pass_.samples.size(), 2U);
  EXPECT_THAT(places(), ElementsAre(0, 3));
  const kernels::SampleRow& sample = pass_.samples[0];
  EXPECT_EQ(sample.row, 1);
  EXPECT_EQ(sample.slot, 4);
  EXPECT_EQ(sample.noise.position, 103U);  // the row at 101 draws token 102, and the head the one behind
  EXPECT_EQ(sample.noise.key, 9U);
  EXPECT_EQ(sample.params->presence_penalty, 1);
  EXPECT_FALSE(sample.params->logprobs.has_value());
  EXPECT_THAT(sample.banned, ElementsAre(7, 8));
  EXPECT_THAT(sample.allowed, IsEmpty());
  EXPECT_EQ(pass_.samples[1].row, 3);
  EXPECT_EQ(pass_.samples[1].noise.position, 9U);
}

TEST_F(KeptStepTest, LaterPassesHaveARowOfEachThatStillDrafts) {
  step_.drafting = {{.count = 3}, {.count = 2}, {.next_token = 23}};
  KeptStep kept = keep();
  kept.set_results(draws({11, 98, 13, 30}));
  ASSERT_TRUE(kept.next_pass(0, pass_));
  EXPECT_THAT(pass_.tokens, ElementsAre(draft_token(0), draft_token(0)));
  EXPECT_THAT(pass_.hidden_rows, ElementsAre(1, 3));
  EXPECT_THAT(places(), ElementsAre(1, 4));
  EXPECT_EQ(pass_.sequences[0].first_position, 102);
  EXPECT_EQ(pass_.sequences[0].rows, 1);
  EXPECT_EQ(pass_.sequences[1].first_row, 1);
  EXPECT_EQ(pass_.sequences[1].first_position, 8);
  EXPECT_EQ(pass_.samples[0].noise.position, 104U);
  ASSERT_TRUE(kept.next_pass(1, pass_));
  EXPECT_THAT(pass_.hidden_rows, ElementsAre(0));
  EXPECT_THAT(places(), ElementsAre(2));
  EXPECT_EQ(pass_.drafts[0].slot, 4);
  EXPECT_EQ(pass_.drafts[0].number, 2);
  EXPECT_EQ(pass_.samples[0].draft, 3);
  EXPECT_THAT(pass_.tokens, ElementsAre(draft_token(1)));
  EXPECT_EQ(pass_.sequences[0].first_position, 103);
  EXPECT_EQ(pass_.samples[0].noise.position, 105U);
  EXPECT_FALSE(kept.next_pass(2, pass_));
}

/// What a runner needs that lets the device make the later passes: all that they draw.
TEST_F(KeptStepTest, AllDraftsAreThoseOfItsPasses) {
  step_.drafting = {{.count = 3}, {.count = 2}, {.next_token = 23}};
  KeptStep kept = keep();
  kept.set_results(draws({11, 98, 13, 30}));
  const auto parts = [](const HeadPass::Draft& draft) { return std::tuple(draft.place, draft.slot, draft.number); };
  std::vector<std::tuple<size_t, int32_t, int32_t>> all, of_passes;
  for (const HeadPass::Draft& draft : kept.all_drafts()) all.push_back(parts(draft));
  kept.first_pass(pass_);
  EXPECT_THAT(pass_.wanted, ElementsAre(3, 2));
  int32_t number = 0;
  do {
    for (const HeadPass::Draft& draft : pass_.drafts) of_passes.push_back(parts(draft));
  } while (kept.next_pass(number++, pass_));
  EXPECT_THAT(of_passes, testing::UnorderedElementsAreArray(all));
}

TEST_F(KeptStepTest, ASequenceThatStopsDraftingLeavesAGapInTheRowsBefore) {
  step_.drafting = {{.count = 2}, {.count = 3}, {.next_token = 23}};
  KeptStep kept = keep();
  kept.set_results(draws({11, 12, 13, 30}));
  ASSERT_TRUE(kept.next_pass(0, pass_));
  EXPECT_THAT(pass_.hidden_rows, ElementsAre(2, 3));
  ASSERT_TRUE(kept.next_pass(1, pass_));
  EXPECT_THAT(pass_.hidden_rows, ElementsAre(1));
  EXPECT_EQ(pass_.sequences[0].state_slot, 1);
}

TEST_F(KeptStepTest, OnlyWhatHasSomethingBehindItIsKept) {
  EXPECT_TRUE(KeptStep::is_needed(step_));
  step_.drafting.clear();
  EXPECT_TRUE(KeptStep::is_needed(step_));
  for (size_t i = 0; i < 2; ++i) step_.samples[i].target = 0;  // scored, not drawn
  EXPECT_FALSE(KeptStep::is_needed(step_));
}

/// A sequence of one row may lie beside one that draws behind two: samples are no more than sequences then.
TEST_F(KeptStepTest, FewSamplesMayBeSeveralOfOneSequence) {
  step_.drafting.clear();
  step_.samples.resize(2);
  step_.sequences.resize(2);
  step_.tokens.resize(4);
  EXPECT_TRUE(KeptStep::is_needed(step_));
}

TEST_F(KeptStepTest, WhatIsScoredIsNotDrawn) {
  step_.drafting.clear();
  step_.samples[0].target = step_.samples[3].target = 0;
  KeptStep kept(step_);
  kept.set_results(draws({99, 98, 13, 30}));
  EXPECT_THAT(kept.sequences()[0].drawn, ElementsAre(98)) << "and ends nothing";
  EXPECT_EQ(kept.sequences()[0].held, 2);
  EXPECT_THAT(kept.sequences()[1].drawn, IsEmpty());
  EXPECT_EQ(kept.sequences()[1].held, 1);
}

/// Rows are counted from a sequence's own first one.
TEST_F(KeptStepTest, SequencesHoldRowsOfTheirOwn) {
  Step step;
  step.tokens = {20, 10, 11, 12};
  step.sequences = {{.first_row = 0, .rows = 1, .state_slot = 1, .block_table = blocks_},
                    {.first_row = 1, .rows = 3, .first_position = 5, .state_slot = 4, .block_table = blocks_}};
  for (const int32_t row : {0, 1, 2, 3}) step.samples.push_back({.row = row, .params = &*plain_});
  KeptStep kept(step);
  kept.set_results(draws({30, 11, 98, 13}));
  EXPECT_EQ(kept.sequences()[1].held, 2);
  EXPECT_THAT(kept.sequences()[1].drawn, ElementsAre(11, 98));
}

TEST_F(KeptStepTest, PassesAreMadeAnew) {
  step_.drafting = {{.count = 1}, {.count = 3}, {}};  // of the third, nothing is drawn
  step_.sequences[1].row_class = RowClass::prefill;
  KeptStep kept = keep();
  kept.set_results(draws({11, 98, 13, 30}));
  for (int time = 0; time < 2; ++time) {
    kept.first_pass(pass_);
    EXPECT_THAT(pass_.wanted, ElementsAre(1, 3));
    EXPECT_EQ(pass_.samples.size(), 2U);
    EXPECT_EQ(pass_.tokens.back(), kLastDrawn);
    ASSERT_TRUE(kept.next_pass(0, pass_));
    EXPECT_THAT(pass_.hidden_rows, ElementsAre(3));
    EXPECT_EQ(pass_.sequences[0].row_class, RowClass::decode) << "a row, whatever the step had";
    ASSERT_TRUE(kept.next_pass(1, pass_));
    EXPECT_THAT(pass_.hidden_rows, ElementsAre(0)) << "the first is in no pass any more";
    EXPECT_THAT(pass_.wanted, ElementsAre(3));
  }
}

/// What is made up is no draft, and what is drawn last is nobody's draft.
TEST_F(KeptStepTest, WhatIsAssumedNotToHoldDoesNot) {
  step_.tokens = {10, 0, 12, 13, 20, 21, 22};
  const KeptStep kept = keep();
  std::mt19937_64 random(1);
  auto results = draws({0, 12, 13, 30});
  kept.assume(std::vector<double>{0, 0}, random, results);
  EXPECT_EQ(results[0].token, 1) << "a token, and not the draft";
  EXPECT_EQ(results[1].token, 11);
  EXPECT_EQ(results[2].token, 13) << "which stands before another sequence's row";
}

TEST_F(KeptStepTest, WhatIsAssumedToHoldDoes) {
  const KeptStep kept = keep();
  std::mt19937_64 random(1);
  std::vector<int> holding(3);
  for (int i = 0; i < 1000; ++i) {
    auto results = draws({99, 12, 13, 30});
    kept.assume(std::vector<double>{0.75, 0.25}, random, results);
    const int first = results[0].token == 11 ? 1 : 0;
    ++holding[static_cast<size_t>(first + (first == 1 && results[1].token == 12 ? 1 : 0))];
    EXPECT_EQ(results[2].token, 13);
    EXPECT_EQ(results[3].token, 30);  // one row: nothing is drafted there
  }
  EXPECT_NEAR(holding[0], 250, 60);
  EXPECT_NEAR(holding[1], 500, 60);
  EXPECT_NEAR(holding[2], 250, 60);
}

}  // namespace
}  // namespace tessera::model
