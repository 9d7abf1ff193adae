#include "model/cpu_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "checkpoint_files.h"
#include "kernels/cpu/cache.h"
#include "model/loaded_model.h"
#include "model/selected_hidden.h"
#include "model/speculation.h"

namespace tessera::model {
namespace {

using kernels::RowClass;
using kernels::SampleParams;
using kernels::SampleResult;

const char* const kDirectory = TESSERA_SOURCE_DIR "/tests/golden/qwen3_5_moe";
const std::vector<int32_t> kPrompt = {3, 1, 4, 1, 5, 9, 2, 6};
const std::vector<int32_t> kBlocks = {2, 0};

/// One sequence a step, in the blocks above.
class CpuRunnerTest : public testing::TestWithParam<int> {
 protected:
  std::unique_ptr<StepRunner> make_runner(int64_t known_ids = 0, kernels::HostPages* pages = nullptr) {
    return *make_cpu_runner({.model = &*model_,
                             .cache = cache_.get(),
                             .pages = pages,
                             .pool = &model_.pool(),
                             .known_ids = known_ids > 0 ? known_ids : static_cast<int64_t>(model_.vocab()),
                             .rows_max = 64,
                             .samples_max = 8,
                             .steps_ahead = GetParam()});
  }

  /// Rows from `first` on, with a draw behind the last of them.
  static Step make_step(std::vector<int32_t> tokens, int32_t first, const SampleParams& params, int32_t slot = 0) {
    Step step;
    const auto rows = static_cast<int32_t>(tokens.size());
    step.tokens = std::move(tokens);
    step.sequences = {{.rows = rows,
                       .first_position = first,
                       .row_class = first == 0 ? RowClass::prefill : RowClass::decode,
                       .state_slot = slot,
                       .block_table = kBlocks}};
    step.samples = {{.row = rows - 1,
                     .slot = slot,
                     .params = &params,
                     .noise = {.key = 7, .position = static_cast<uint64_t>(first + rows)}}};
    return step;
  }

  static std::vector<SampleResult> collect(StepRunner& runner) {
    const auto results = runner.collect();
    EXPECT_TRUE(results.ok()) << results.status().message();
    return {results->begin(), results->end()};
  }

  static SampleResult run(StepRunner& runner, const Step& step) {
    EXPECT_TRUE(runner.submit(step).ok());
    return collect(runner).at(0);
  }

  /// Tokens behind the prompt, each row but the first of a token that only the runner knows.
  std::vector<int32_t> generate(const SampleParams& params, int count) {
    const auto runner = make_runner();
    std::vector<int32_t> tokens;
    int under_way = 0;
    for (int i = 0; i < count; ++i) {
      Step step = i == 0 ? make_step(kPrompt, 0, params)
                         : make_step({kLastDrawn}, static_cast<int32_t>(kPrompt.size()) + i - 1, params);
      if (i == 0) step.histories = {{.slot = 0, .prompt = kPrompt, .output = {}}};
      EXPECT_TRUE(runner->submit(step).ok());
      if (++under_way <= runner->steps_ahead()) continue;
      tokens.push_back(collect(*runner).at(0).token);
      --under_way;
    }
    for (; under_way > 0; --under_way) tokens.push_back(collect(*runner).at(0).token);
    return tokens;
  }

  LoadedModel model_{kDirectory, kernels::Compute::bf16};
  std::unique_ptr<kernels::Cache> cache_ =
      *model_->make_cache(DType::bf16, /*blocks=*/8, /*state_slots=*/2, /*with_mtp=*/false);
};
INSTANTIATE_TEST_SUITE_P(StepsAhead, CpuRunnerTest, testing::Values(0, 1));

TEST_P(CpuRunnerTest, GreedyTokensAreTheLargestLogits) {
  const std::vector<int32_t> tokens = generate({.temperature = 0}, 10);
  LoadedModel alone(kDirectory, kernels::Compute::bf16);
  std::vector<float> logits = alone.step(kPrompt, 0, RowClass::prefill);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto last = logits.end() - static_cast<std::ptrdiff_t>(alone.vocab());
    ASSERT_EQ(tokens[i], std::max_element(last, logits.end()) - last) << "token " << i;
    logits = alone.step(std::span(tokens).subspan(i, 1), static_cast<int32_t>(kPrompt.size() + i), RowClass::decode);
  }
}

TEST_P(CpuRunnerTest, PenaltiesSeeHistoriesAndWhatIsDrawn) {
  // Rewards: what the prompt has comes more easily, and what was drawn once is drawn for good.
  const SampleParams of_prompt{.temperature = 0, .repetition_penalty = 0.1F};
  const SampleParams of_draws{.temperature = 0, .frequency_penalty = -100};
  const std::vector<int32_t> free = generate({.temperature = 0}, 6);
  EXPECT_THAT(kPrompt, testing::Contains(generate(of_prompt, 1).at(0)));
  EXPECT_THAT(generate(of_draws, 6), testing::Each(free[0]));
  // The same where every step is told all that came before.
  for (const SampleParams& params : {of_prompt, of_draws}) {
    const std::vector<int32_t> tokens = generate(params, 6);
    EXPECT_NE(tokens, free);
    const auto runner = make_runner();
    std::vector<int32_t> told;
    for (size_t i = 0; i < tokens.size(); ++i) {
      Step step = i == 0 ? make_step(kPrompt, 0, params)
                         : make_step({told.back()}, static_cast<int32_t>(kPrompt.size() + i) - 1, params);
      step.histories = {{.slot = 0, .prompt = kPrompt, .output = told}};
      told.push_back(run(*runner, step).token);
    }
    EXPECT_EQ(tokens, told);
  }
}

TEST_P(CpuRunnerTest, AHistoryTakesThePlaceOfTheOneBefore) {
  const SampleParams params{.temperature = 0, .frequency_penalty = -100};
  const int32_t free = generate({.temperature = 0}, 1).at(0);
  const auto runner = make_runner();
  for (const std::vector<int32_t>& output : {std::vector<int32_t>{free == 0 ? 1 : free - 1}, {}}) {
    Step step = make_step(kPrompt, 0, params);
    step.histories = {{.slot = 0, .prompt = kPrompt, .output = output}};
    EXPECT_EQ(run(*runner, step).token, output.empty() ? free : output[0]);
  }
}

TEST_P(CpuRunnerTest, ACopiedStateGoesOnAsTheOriginal) {
  const auto runner = make_runner();
  const SampleParams params{.temperature = 0, .logprobs = 0};
  const auto next = static_cast<int32_t>(kPrompt.size());
  run(*runner, make_step(kPrompt, 0, params));
  const auto logprob = [&](const Step& step) {
    return std::bit_cast<uint32_t>(run(*runner, step).logprobs.at(0).logprob);
  };
  Step copied = make_step({11}, next, params, /*slot=*/1);
  const uint32_t without = logprob(copied);
  copied.copies = {{.from = 0, .to = 1}};
  const uint32_t copy = logprob(copied);
  EXPECT_NE(copy, without) << "the state does not matter here";
  EXPECT_EQ(copy, logprob(make_step({11}, next, params)));
}

TEST_P(CpuRunnerTest, TargetsAreScoredAndChangeNothing) {
  const auto runner = make_runner();
  const SampleParams params{.temperature = 0, .logprobs = 2};
  Step step = make_step(kPrompt, 0, params);
  step.samples.insert(step.samples.begin(), {.row = 2, .slot = 0, .target = 5, .params = &params});
  ASSERT_TRUE(runner->submit(step).ok());
  const auto results = collect(*runner);
  ASSERT_EQ(results.size(), 2U);
  ASSERT_EQ(results[0].logprobs.size(), 3U);
  EXPECT_EQ(results[0].logprobs[0].token, 5);
  EXPECT_EQ(results[1].token, generate({.temperature = 0}, 1).at(0));
  const SampleParams no_others{.temperature = 0};
  step.samples[0].params = &no_others;
  ASSERT_TRUE(runner->submit(step).ok());
  EXPECT_EQ(collect(*runner)[0].logprobs.size(), 1U) << "its own alone";
}

TEST_P(CpuRunnerTest, WhatGoesWrongForOneRowStaysThere) {
  const auto runner = make_runner(/*known_ids=*/2);
  const SampleParams params{.temperature = 0};
  const std::vector<int32_t> banned = {0, 1};
  Step step = make_step(kPrompt, 0, params);
  step.samples[0].banned = banned;
  const SampleResult failed = run(*runner, step);
  EXPECT_EQ(failed.status.code(), StatusCode::invalid_argument);
  const SampleResult behind =
      run(*runner, make_step({kLastDrawn}, static_cast<int32_t>(kPrompt.size()), params));  // of any token
  EXPECT_TRUE(behind.status.ok());
  EXPECT_LT(behind.token, 2);
}

TEST_P(CpuRunnerTest, AMaskAllowsNothingElse) {
  const auto runner = make_runner();
  const SampleParams params{.temperature = 1};
  std::vector<uint32_t> mask((model_.vocab() + 31) / 32);
  mask[1] = 1U << 9;
  Step step = make_step(kPrompt, 0, params);
  step.samples[0].allowed = mask;
  EXPECT_EQ(run(*runner, step).token, 41);
}

TEST_P(CpuRunnerTest, DrawsThatComeLaterAreTheSame) {
  const SampleParams params{.temperature = 1, .frequency_penalty = 0.5F, .logprobs = 2};
  const auto next = static_cast<int32_t>(kPrompt.size());
  std::vector<uint32_t> mask((model_.vocab() + 31) / 32, 0x55555555);
  const auto draws = [&](bool later) {
    const auto runner = make_runner();
    std::vector<SampleResult> drawn;
    for (int32_t i = 0; i < 8; ++i) {
      Step step = i == 0 ? make_step(kPrompt, 0, params) : make_step({kLastDrawn}, next + i - 1, params);
      if (i == 0) step.histories = {{.slot = 0, .prompt = kPrompt, .output = {}}};
      if (i % 2 == 1) step.samples[0].allowed = mask;
      const std::vector<kernels::SampleRow> samples = step.samples;
      step.draws_later = later;
      if (later) step.samples[0] = {.row = samples[0].row, .slot = 0, .params = &params};
      EXPECT_TRUE(runner->submit(step).ok());
      EXPECT_TRUE(!later || runner->draw(samples).ok());
      drawn.push_back(collect(*runner).at(0));
    }
    return drawn;
  };
  const auto at_once = draws(false), later = draws(true);
  for (size_t i = 0; i < at_once.size(); ++i) {
    EXPECT_EQ(later[i].token, at_once[i].token);
    EXPECT_EQ(std::bit_cast<uint32_t>(later[i].logprobs.at(0).logprob),
              std::bit_cast<uint32_t>(at_once[i].logprobs.at(0).logprob));
    EXPECT_TRUE(i % 2 == 0 || later[i].token % 2 == 0) << "not of the mask";
  }
}

/// A step may have nothing but moves: a block that went to a page is read where it came back.
TEST_P(CpuRunnerTest, StepsWithoutRowsMoveBlocks) {
  const SampleParams params{.temperature = 0, .logprobs = 1};
  const size_t bytes = kernels::cpu::cache_bytes(cache_->shape()).kv_block;
  kernels::cpu::PlainPages pages(ZeroedPages(bytes), bytes, 1);
  const auto runner = make_runner(/*known_ids=*/0, &pages);
  const auto move = [&](const kernels::PageMove& moved) {
    Step step;
    step.moves = {moved};
    ASSERT_TRUE(runner->submit(step).ok());
    EXPECT_TRUE(collect(*runner).empty());
  };
  const auto logprob_behind_prompt = [&](int32_t block, bool moves) {
    run(*runner, make_step(kPrompt, 0, params));
    if (moves) {
      move({.to_host = true, .index = kBlocks[0], .page = 0});
      move({.index = block, .page = 0});
    }
    Step step = make_step({11}, static_cast<int32_t>(kPrompt.size()), params);
    const std::vector<int32_t> blocks = {block, kBlocks[1]};
    step.sequences[0].block_table = blocks;
    return std::bit_cast<uint32_t>(run(*runner, step).logprobs.at(0).logprob);
  };
  const uint32_t there = logprob_behind_prompt(kBlocks[0], false);
  EXPECT_NE(logprob_behind_prompt(5, false), there) << "what the block has does not matter here";
  EXPECT_EQ(logprob_behind_prompt(5, true), there);
}

/// A step's moves come first, in their order, then its copies, then its rows.
TEST_P(CpuRunnerTest, AStateThatComesBackIsCopiedInTheSameStep) {
  const SampleParams params{.temperature = 0, .logprobs = 1};
  const auto next = static_cast<int32_t>(kPrompt.size());
  const kernels::CacheBytes bytes = kernels::cpu::cache_bytes(cache_->shape());
  const int32_t count = kernels::pages_of_state(bytes);
  const size_t page = bytes.kv_block;
  kernels::cpu::PlainPages pages(ZeroedPages(page * static_cast<size_t>(count)), page, count);
  const auto runner = make_runner(/*known_ids=*/0, &pages);
  const auto add_moves = [&](Step& step, bool to_host, int32_t slot) {
    for (int32_t i = 0; i < count; ++i) {
      step.moves.push_back(
          {.what = kernels::PageMove::What::state, .to_host = to_host, .index = slot, .piece = i, .page = i});
    }
  };
  const auto logprob = [&](const Step& step) {
    return std::bit_cast<uint32_t>(run(*runner, step).logprobs.at(0).logprob);
  };
  run(*runner, make_step(kPrompt, 0, params));
  Step through = make_step({11}, next, params);
  add_moves(through, /*to_host=*/true, 0);
  add_moves(through, /*to_host=*/false, 1);
  const uint32_t want = logprob(through);
  EXPECT_EQ(logprob(make_step({11}, next, params, /*slot=*/1)), want) << "of what only just went to the host";
  EXPECT_NE(logprob(make_step({11}, next, params)), want) << "the state does not matter here";
  Step back = make_step({11}, next, params, /*slot=*/1);
  add_moves(back, /*to_host=*/false, 0);
  back.copies = {{.from = 0, .to = 1}};
  EXPECT_EQ(logprob(back), want) << "of the copy";
  EXPECT_EQ(logprob(make_step({11}, next, params)), want) << "of what came back";
}

/// A model may have a layer for each of its first drafts; then they begin anew.
TEST(CpuRunnerDrafts, EachIsDrawnByALayerOfItsOwn) {
  const test::TempDirectory directory;
  SynthShape shape = test::small_shape();
  shape.mtp_num_hidden_layers = 2;
  test::synthesize(directory / "model", {.shape = shape});
  LoadedModel model((directory / "model").string(), kernels::Compute::bf16);
  constexpr int kDrafts = 3;
  const std::vector<int32_t> blocks = {0};
  const SampleParams greedy{.temperature = 0};
  const auto vocab = model.vocab();
  for (int32_t seed = 1; seed <= 8; ++seed) {
    const std::vector<int32_t> prompt = {seed, 3 * seed, 5 * seed, 2};
    const kernels::SequenceRows rows{
        .rows = 4, .first_position = 0, .row_class = RowClass::prefill, .state_slot = 0, .block_table = blocks};
    auto cache = *model->make_cache(DType::bf16, 1, 1, /*with_mtp=*/true, kDrafts);
    const auto runner = *make_cpu_runner({.model = &*model,
                                          .cache = cache.get(),
                                          .pool = &model.pool(),
                                          .known_ids = static_cast<int64_t>(vocab),
                                          .rows_max = 64,
                                          .samples_max = 8,
                                          .drafts_max = kDrafts});
    Step step;
    step.tokens = prompt;
    step.sequences = {rows};
    step.samples = {{.row = 3, .slot = 0, .params = &greedy}};
    step.drafting = {{.count = kDrafts}};
    ASSERT_TRUE(runner->submit(step).ok());
    const auto drawn = runner->collect();
    ASSERT_TRUE(drawn.ok());
    const int32_t token = (*drawn)[0].token;
    const auto made = runner->drafts();
    ASSERT_TRUE(made.ok());
    const std::vector<int32_t> drafts(made->begin(), made->end());

    // The same by hand.
    auto other = *model->make_cache(DType::bf16, 1, 1, /*with_mtp=*/true, kDrafts);
    auto pass = *model->make_pass({.rows_max = 64,
                                   .sequences_max = 1,
                                   .logit_rows_max = 1,
                                   .state_slots = 1,
                                   .sequence_blocks_max = 1,
                                   .keeps_hidden = true});
    kernels::Backend& backend = model->backend();
    std::vector<float> logits(vocab);
    std::vector<int32_t> tokens, last(1);  // of the pass
    const auto begin = [&](std::vector<int32_t> begun, const kernels::SequenceRows& of) {
      tokens = std::move(begun);
      last[0] = of.rows - 1;
      EXPECT_TRUE(backend.begin(*pass, *other, {.tokens = tokens, .sequences = {&of, 1}}, last).ok());
    };
    const auto draft_of = [&](int layer) {
      EXPECT_TRUE(model->forward_mtp(*pass, layer).ok());
      EXPECT_TRUE(backend.read_logits(*pass, logits).ok());
      return static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
    };
    begin(prompt, rows);
    ASSERT_TRUE(model->forward(*pass).ok());
    begin({prompt[1], prompt[2], prompt[3], token}, rows);
    std::vector<int32_t> expected = {draft_of(0)};
    kernels::SequenceRows next{
        .rows = 1, .first_position = 4, .row_class = RowClass::decode, .state_slot = 0, .block_table = blocks};
    for (int32_t number = 1; number < kDrafts; ++number, ++next.first_position) {
      const std::vector<int32_t> before = {number == 1 ? 3 : 0};
      ASSERT_TRUE(backend.select_hidden(*pass, before).ok());
      begin({expected.back()}, next);
      expected.push_back(draft_of(number % 2));
    }
    EXPECT_EQ(drafts, expected) << "behind " << seed;
  }
}

TEST(CpuModel, SelectedHiddenRowsAreThoseSelected) {
  LoadedModel loaded(kDirectory, kernels::Compute::bf16);
  test::expect_hidden_rows_are_those_selected(loaded);
}

/// Behind a draft that was not drawn, the head drafts as if it had not been there.
TEST(CpuRunnerDrafts, NothingIsDraftedBehindWhatDoesNotHold) {
  const test::TempDirectory directory;
  test::synthesize(directory / "model", {.shape = test::small_shape()});
  LoadedModel model((directory / "model").string(), kernels::Compute::bf16);
  constexpr int kDrafts = 3;
  const std::vector<int32_t> blocks = {0};
  const SampleParams greedy{.temperature = 0};
  const auto vocab = static_cast<int32_t>(model.vocab());
  struct Drawn {
    int32_t token;  // behind the prompt's next token
    std::vector<int32_t> drafts;
  };
  const auto run = [&](const std::vector<int32_t>& prompt, const std::vector<int32_t>& guesses) {
    auto cache = *model->make_cache(DType::bf16, 1, 1, /*with_mtp=*/true, kDrafts);
    const auto runner = *make_cpu_runner({.model = &*model,
                                          .cache = cache.get(),
                                          .pool = &model.pool(),
                                          .known_ids = vocab,
                                          .rows_max = 64,
                                          .samples_max = 8,
                                          .drafts_max = kDrafts});
    Step step;
    const auto results_of = [&](std::vector<int32_t> tokens, int32_t first, size_t draws) {
      const auto rows = static_cast<int32_t>(tokens.size());
      step.clear();
      step.tokens = std::move(tokens);
      step.sequences = {{.rows = rows,
                         .first_position = first,
                         .row_class = first == 0 ? RowClass::prefill : RowClass::decode,
                         .keeps_records = draws > 1,
                         .block_table = blocks}};
      for (auto row = rows - static_cast<int32_t>(draws); row < rows; ++row) {
        step.samples.push_back({.row = row, .slot = 0, .params = &greedy});
      }
      step.drafting = {{.count = kDrafts}};
      EXPECT_TRUE(runner->submit(step).ok());
      return *runner->collect();
    };
    std::vector<int32_t> tokens = {results_of(prompt, 0, 1)[0].token};
    tokens.insert(tokens.end(), guesses.begin(), guesses.end());
    const size_t rows = tokens.size();
    const int32_t token = results_of(std::move(tokens), static_cast<int32_t>(prompt.size()), rows)[0].token;
    const auto drafts = *runner->drafts();
    return Drawn{token, {drafts.begin(), drafts.end()}};
  };
  for (int32_t seed = 1; seed <= 8; ++seed) {
    const std::vector<int32_t> prompt = {seed, 3 * seed, 5 * seed, 2};
    const Drawn alone = run(prompt, {});
    const Drawn behind = run(prompt, {(alone.token + 1) % vocab, 7});
    EXPECT_EQ(behind.token, alone.token);
    EXPECT_EQ(behind.drafts, alone.drafts) << "behind " << seed;
  }
}

/// Sequences with and without drafts, in one step after the other; of the bundled model drafts are right and wrong.
TEST(CpuRunnerDrafts, RowsThatHoldHaveTheBitsOfRowsOneAtATime) {
  LoadedModel model(TESSERA_SOURCE_DIR "/models/demo", kernels::Compute::bf16);
  constexpr int kSlots = 4, kDrafts = 3;
  const std::vector<SampleParams> params = {{.temperature = 0, .logprobs = 2},
                                            {.temperature = 0.8F, .logprobs = 2},
                                            {.temperature = 0, .frequency_penalty = 0.7F, .logprobs = 2},
                                            {.temperature = 0.6F, .repetition_penalty = 1.3F, .logprobs = 2}};
  const auto run = [&](int drafts_max, bool varied) {
    auto cache = *model->make_cache(DType::bf16, 2 * kSlots, kSlots, /*with_mtp=*/drafts_max > 0, drafts_max);
    const auto runner = *make_cpu_runner({.model = &*model,
                                          .cache = cache.get(),
                                          .pool = &model.pool(),
                                          .known_ids = static_cast<int64_t>(model.vocab()),
                                          .rows_max = 64,
                                          .samples_max = 32,
                                          .drafts_max = drafts_max});
    std::vector<Speculating> all;
    for (int32_t i = 0; i < kSlots; ++i) {
      std::vector<int32_t> prompt = {4071, 309, 198, 3155, 3028, 3097, 2970, 3143, 64, 13, 4072, 198, 4071, 313, 198};
      prompt.resize(static_cast<size_t>(15 - i));
      all.push_back({.prompt = prompt,
                     .params = &params[static_cast<size_t>(i)],
                     .slot = i,
                     .blocks = {i + kSlots, i},
                     .noise_key = static_cast<uint64_t>(i)});
    }
    speculate(*runner, all, 40, [&](size_t sequence, int step) {
      return varied ? (static_cast<int>(sequence) + step) % (drafts_max + 1) : drafts_max;
    });
    return all;
  };
  auto want = run(0, false);
  for (const bool varied : {false, true}) {
    const auto found = run(kDrafts, varied);
    int right = 0, wrong = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      for (const int n : found[i].right) right += n;
      for (const int n : found[i].wrong) wrong += n;
      for (size_t k = 0; k < 40; ++k) {
        const SampleResult &one = found[i].results[k], &other = want[i].results[k];
        ASSERT_EQ(one.token, other.token) << "sequence " << i << ", draw " << k;
        ASSERT_EQ(std::bit_cast<uint32_t>(one.logprobs.at(0).logprob),
                  std::bit_cast<uint32_t>(other.logprobs.at(0).logprob));
      }
    }
    EXPECT_GT(right, 20);
    EXPECT_GT(wrong, 0);
  }
}

}  // namespace
}  // namespace tessera::model
