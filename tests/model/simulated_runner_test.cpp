// The CUDA runner in the simulator, with a small model: its steps, bit for bit against themselves. Where streams are
// late, the device has done nothing until the host waits for it.

#include <cuda_runtime.h>

#include <optional>
#include <utility>

#include "model/pass_graphs.h"
#include "stepping.h"

namespace tessera::model {
namespace {

constexpr const char* kModel = TESSERA_SOURCE_DIR "/tests/golden/qwen3_5_dense";

/// For as long as it lives, the device does what it is told when the host waits for it.
struct LateStreams {
  LateStreams() { simulator::machine.late_streams = true; }
  ~LateStreams() {
    cudaDeviceSynchronize();
    simulator::machine.late_streams = false;
  }
};

/// One whose draws are likely, one that draws a token until it has done so often enough, a greedy one.
std::vector<Job> few_jobs(size_t vocab) {
  std::vector<Job> jobs;
  for (const size_t size : {5, 70, 1}) {
    Job job{.prompt = random_tokens(size, vocab, static_cast<uint32_t>(size)), .params = {}};
    job.params.logprobs = 3;
    job.params.temperature = 0.8F;
    if (jobs.size() == 1) job.params.logit_bias = {{7, 8.0F}}, job.params.frequency_penalty = 2;
    if (jobs.size() == 2) job.params.temperature = 0;
    jobs.push_back(std::move(job));
  }
  return jobs;
}

class SimulatedRunner : public testing::Test {
 protected:
  /// What a runner draws that is given all the time in the world.
  static const std::vector<std::vector<SampleResult>>& want() {
    static const auto draws = [] {
      Stepping plain(kModel, {.graphs = false, .slots = 3, .rows = 128});
      return plain.run(few_jobs(plain.model.vocab()), kDraws);
    }();
    return draws;
  }
  static constexpr int kDraws = 8;
};

TEST_F(SimulatedRunner, StepsHaveTheSameBitsHoweverTheyAreRun) {
  for (const auto& [options, late] : {std::pair(RunnerOptions{.slots = 3, .rows = 128}, false),
                                      {RunnerOptions{.graphs = false, .slots = 3, .rows = 128}, true},
                                      {RunnerOptions{.draws_later = true, .slots = 3, .rows = 128, .chunk = 64}, true},
                                      {RunnerOptions{.slots = 3, .rows = 128, .ahead = true}, true}}) {
    const std::string what = options.text() + (late ? ", late" : "");
    std::optional<LateStreams> streams;
    if (late) streams.emplace();
    Stepping other(kModel, options);
    const auto jobs = few_jobs(other.model.vocab());
    const auto found = other.run(jobs, kDraws);
    for (size_t j = 0; j < jobs.size(); ++j) expect_same(found[j], want()[j], what);
  }
}

TEST_F(SimulatedRunner, RowsThatHoldHaveTheBitsOfRowsOneAtATime) {
  for (const auto& [options, late] :
       {std::pair(RunnerOptions{.graphs = false, .slots = 3, .rows = 128, .drafts = 3}, false),
        {RunnerOptions{.slots = 3, .rows = 128, .drafts = 2}, true}}) {
    const std::string what = options.text() + (late ? ", late" : "");
    std::optional<LateStreams> streams;
    if (late) streams.emplace();
    Stepping drafting(kModel, options);
    const auto jobs = few_jobs(drafting.model.vocab());
    const auto wanted = [&](size_t sequence, int step) {
      return late ? (static_cast<int>(sequence) + step) % (options.drafts + 1) : options.drafts;
    };
    auto found = drafting.speculate(jobs, kDraws, wanted, /*steps_between=*/late ? 2 : 0);
    for (size_t j = 0; j < jobs.size(); ++j) {
      found[j].results.resize(kDraws);
      expect_same(found[j].results, want()[j], what + ", job " + std::to_string(j));
    }
    const auto without = drafting.run(jobs, kDraws);
    for (size_t j = 0; j < jobs.size(); ++j) expect_same(without[j], want()[j], what + ", without drafts");
  }
}

/// They are there as long as the results of their step, whatever is submitted meanwhile.
TEST_F(SimulatedRunner, DraftsStayUntilTheNextStepIsCollected) {
  Stepping stepping(kModel, {.slots = 3, .rows = 128, .drafts = 3});
  const std::vector<Job> jobs(3, Job{.prompt = random_tokens(9, stepping.model.vocab()), .params = {}});
  const auto drafts = [&](bool behind) {
    Step step;
    stepping.add(step, jobs, 0, 0, 0, 9, RowClass::prefill, true);
    step.tokens = jobs[0].prompt;
    step.drafting = {{.next_token = kLastDrawn, .count = 3}};
    EXPECT_TRUE(stepping.runner->submit(step).ok());
    EXPECT_TRUE(stepping.runner->collect().ok());
    for (size_t j = 1; behind && j < 3; ++j) {
      Step other;
      stepping.add(other, jobs, j, 0, 0, 9, RowClass::prefill, true);
      other.tokens = jobs[j].prompt;
      EXPECT_TRUE(stepping.runner->submit(other).ok());
    }
    const auto made = *stepping.runner->drafts();
    std::vector<int32_t> copied(made.begin(), made.end());
    for (size_t j = 1; behind && j < 3; ++j) EXPECT_TRUE(stepping.runner->collect().ok());
    return copied;
  };
  const auto alone = drafts(false);
  EXPECT_EQ(alone.size(), 3U);
  EXPECT_EQ(drafts(true), alone);
  const LateStreams late;
  EXPECT_EQ(drafts(true), alone);
}

int32_t largest(std::span<const float> logits) {
  return static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
}

/// The drafts of a greedy sequence behind its prompt, by a pass of its own for each.
std::vector<int32_t> drafts_one_by_one(const Model& model, const std::vector<int32_t>& prompt, int count) {
  const auto vocab = static_cast<size_t>(model.config().vocab_size);
  const auto rows = static_cast<int32_t>(prompt.size());
  const std::vector<int32_t> blocks = {0, 1};
  const auto cache = *model.make_cache(DType::bf16, /*blocks=*/2, /*state_slots=*/1, /*with_mtp=*/true);
  const auto pass = *model.make_pass({.rows_max = rows,
                                      .sequences_max = 1,
                                      .logit_rows_max = 1,
                                      .state_slots = 1,
                                      .sequence_blocks_max = 2,
                                      .keeps_hidden = true});
  std::vector<float> logits(vocab);
  const auto run = [&](const std::vector<int32_t>& tokens, int32_t position, bool head) {
    kernels::SequenceRows sequence{.rows = static_cast<int32_t>(tokens.size()),
                                   .first_position = position,
                                   .row_class = position == 0 ? RowClass::prefill : RowClass::decode,
                                   .block_table = blocks};
    const int32_t last = sequence.rows - 1;
    EXPECT_TRUE(model.backend().begin(*pass, *cache, {.tokens = tokens, .sequences = {&sequence, 1}}, {&last, 1}).ok());
    EXPECT_TRUE((head ? model.forward_mtp(*pass) : model.forward(*pass)).ok());
    EXPECT_TRUE(model.backend().read_logits(*pass, logits).ok());
    return largest(logits);
  };
  std::vector<int32_t> tokens = prompt, drafts;
  const int32_t drawn = run(tokens, 0, /*head=*/false);
  tokens.erase(tokens.begin());
  tokens.push_back(drawn);
  for (int32_t position = 0; static_cast<int>(drafts.size()) < count; position = position == 0 ? rows : position + 1) {
    drafts.push_back(run(tokens, position, /*head=*/true));
    const auto last = static_cast<int32_t>(tokens.size()) - 1;
    EXPECT_TRUE(model.backend().select_hidden(*pass, {&last, 1}).ok());
    tokens = {drafts.back()};
  }
  return drafts;
}

/// Each goes on from the hidden row that the one before left, also where others have stopped.
TEST_F(SimulatedRunner, DraftsAreThoseOfTheHeadOneByOne) {
  Stepping stepping(kModel, {.graphs = false, .slots = 3, .rows = 128, .drafts = 3});
  std::vector<Job> jobs;
  for (const uint32_t seed : {1, 2, 3}) {
    jobs.push_back({.prompt = random_tokens(7 * seed, stepping.model.vocab(), seed), .params = {.temperature = 0}});
  }
  Step step;
  for (size_t j = 0; j < jobs.size(); ++j) {
    stepping.add(step, jobs, j, 0, 0, jobs[j].prompt.size(), RowClass::prefill, true);
    step.tokens.insert(step.tokens.end(), jobs[j].prompt.begin(), jobs[j].prompt.end());
  }
  step.drafting = {{.count = 2}, {.count = 1}, {.count = 3}};
  ASSERT_TRUE(stepping.runner->submit(step).ok());
  ASSERT_TRUE(stepping.runner->collect().ok());
  const auto drafts = *stepping.runner->drafts();
  std::vector<int32_t> found(drafts.begin(), drafts.end()), want;
  for (size_t j = 0; j < jobs.size(); ++j) {
    std::ranges::copy(drafts_one_by_one(*stepping.model, jobs[j].prompt, step.drafting[j].count),
                      std::back_inserter(want));
  }
  EXPECT_EQ(found, want);
}

/// Of two steps under way, and of one that has more of them than there is room for at a time.
TEST_F(SimulatedRunner, HistoriesAreKeptApart) {
  Stepping stepping(kModel, {.graphs = false, .slots = 3, .rows = 128});
  std::vector<Job> jobs;
  for (const uint32_t seed : {1, 2}) {
    jobs.push_back({.prompt = random_tokens(40, stepping.model.vocab(), seed), .params = {.temperature = 0}});
  }
  const auto likeliest = stepping.run(jobs, 1);
  ASSERT_NE(likeliest[0][0].token, likeliest[1][0].token);
  const LateStreams late;
  for (const bool together : {false, true}) {
    std::vector<int32_t> found;
    const auto collect = [&] {
      const auto results = stepping.runner->collect();
      ASSERT_TRUE(results.ok()) << results.status().message();
      for (const SampleResult& result : *results) found.push_back(result.token);
    };
    std::vector<std::vector<int32_t>> histories;  // of one token, which was drawn
    for (const auto& draws : likeliest) histories.emplace_back(together ? 600'000 : 40, draws[0].token);
    Step step;
    for (size_t j = 0; j < jobs.size(); ++j) {
      jobs[j].params.repetition_penalty = 100;
      stepping.add(step, jobs, j, 0, 0, 40, RowClass::prefill, true);
      step.tokens.insert(step.tokens.end(), jobs[j].prompt.begin(), jobs[j].prompt.end());
      step.histories.back().prompt = histories[j];
      if (together && j == 0) continue;
      ASSERT_TRUE(stepping.runner->submit(step).ok());
      step.clear();
    }
    collect();
    if (!together) collect();
    for (size_t j = 0; j < jobs.size(); ++j) EXPECT_NE(found.at(j), likeliest[j][0].token) << "together: " << together;
  }
  Step step;
  stepping.add(step, jobs, 0, 0, 0, 1, RowClass::prefill, true);
  step.tokens = {1};
  const std::vector<int32_t> most((size_t{1} << 20) + 1);
  step.histories[0].prompt = std::span(most).first(most.size() - 1);
  ASSERT_TRUE(stepping.runner->submit(step).ok());
  EXPECT_TRUE(stepping.runner->collect().ok());
  step.histories[0].prompt = most;
  EXPECT_EQ(stepping.runner->submit(step).code(), StatusCode::resource_exhausted);
}

/// What a prompt leaves goes to the host and comes back to another slot and another block, or is copied there.
TEST_F(SimulatedRunner, SequencesGoOnFromWhatWasMovedOrCopied) {
  using What = kernels::PageMove::What;
  Stepping stepping(kModel, {.graphs = false, .slots = 3, .rows = 128});
  const Job job{.prompt = random_tokens(64, stepping.model.vocab()), .params = {.temperature = 0, .logprobs = 5}};
  const int32_t state_pages = kernels::pages_of_state(stepping.model->backend().cache_bytes(stepping.cache->shape()));
  ASSERT_LT(state_pages, stepping.pages->count());
  const auto moves = [&](bool to_host, int32_t slot) {
    std::vector<kernels::PageMove> all = {
        {.what = What::block, .to_host = to_host, .index = stepping.tables[static_cast<size_t>(slot)][0], .page = 0}};
    for (int32_t i = 0; i < state_pages; ++i) {
      all.push_back({.what = What::state, .to_host = to_host, .index = slot, .piece = i, .page = 1 + i});
    }
    return all;
  };
  const auto submit = [&](Step step, int32_t slot) {
    step.tokens = {7};
    step.sequences = {{.rows = 1,
                       .first_position = 64,
                       .row_class = RowClass::decode,
                       .state_slot = slot,
                       .block_table = stepping.tables[static_cast<size_t>(slot)]}};
    step.samples = {{.row = 0, .slot = slot, .params = &job.params}};
    EXPECT_TRUE(stepping.runner->submit(step).ok());
  };
  const auto collect = [&] {
    const auto results = stepping.runner->collect();
    EXPECT_TRUE(results.ok()) << results.status().message();
    return std::vector<SampleResult>(results->begin(), results->end());
  };
  const LateStreams late;
  stepping.run({job}, 1);
  Step step;
  step.moves = moves(/*to_host=*/true, 0);
  ASSERT_TRUE(stepping.runner->submit(step).ok());  // it does nothing else
  EXPECT_TRUE(collect().empty());
  const std::byte* const page = stepping.pages->page(0);
  const std::vector<std::byte> moved(page, page + stepping.pages->page_bytes());
  step.clear();
  submit(step, 0);
  const auto expected = collect();
  // To a slot, whose state is copied to another one's, which has the block.
  step.moves = moves(/*to_host=*/false, 1);
  step.moves[0].index = stepping.tables[2][0];
  step.copies = {{.from = 1, .to = 2}};
  submit(step, 2);
  step.clear();
  step.moves = {moves(/*to_host=*/false, 1)[0]};
  submit(step, 1);
  expect_same(collect(), expected, "copied");
  expect_same(collect(), expected, "moved");
  EXPECT_TRUE(std::ranges::equal(moved, std::span(page, moved.size())))
      << "they were there when the step was collected";
}

TEST_F(SimulatedRunner, ErrorsOfTheDeviceEndSteps) {
  for (const bool later : {false, true}) {
    Stepping stepping(kModel, {.graphs = false, .slots = 3, .rows = 64});
    const std::vector<Job> jobs = {{.prompt = {5}, .params = {}}};
    const LateStreams late;
    Step step;
    stepping.add(step, jobs, 0, 0, 0, 1, RowClass::prefill, true);
    step.tokens = {5};
    step.draws_later = later;
    ASSERT_TRUE(stepping.runner->submit(step).ok());
    if (later) {
      ASSERT_TRUE(stepping.runner->draw(step.samples).ok());
    }
    simulator::machine.asked = cudaErrorLaunchFailure;
    const Status status = stepping.runner->collect().status();
    simulator::machine.asked = cudaSuccess;
    EXPECT_EQ(status.code(), StatusCode::internal);
    EXPECT_NE(status.message().find(later ? "the draws of a step on the GPU" : "a step on the GPU"), std::string::npos)
        << status.message();
  }
}

/// A runner of one sequence.
struct LoneRunner {
  explicit LoneRunner(CudaRunnerParts parts, bool with_mtp = true) : model(kModel, gpu()) {
    cache = *model->make_cache(DType::bf16, /*blocks=*/2, /*state_slots=*/1, with_mtp, parts.drafts_max);
    parts.model = &*model;
    parts.cache = cache.get();
    if (parts.known_ids == 0) parts.known_ids = static_cast<int64_t>(model.vocab());
    parts.rows_max = 64;
    parts.sequences_max = 1;
    parts.sequence_blocks_max = 2;
    parts.graphs = false;
    auto made = make_cuda_runner(parts);
    status = made.status();
    if (made.ok()) runner = *std::move(made);
  }

  /// Rows of a prompt, with draws behind the last `draws` of them.
  Step prompt(const std::vector<int32_t>& tokens, int32_t draws, const kernels::SampleParams& params) const {
    Step step;
    step.tokens = tokens;
    const auto rows = static_cast<int32_t>(tokens.size());
    step.sequences = {{.rows = rows, .row_class = RowClass::prefill, .block_table = blocks}};
    for (int32_t row = rows - draws; row < rows; ++row) {
      step.samples.push_back({.row = row, .params = &params, .noise = {.position = static_cast<uint64_t>(row) + 1}});
    }
    return step;
  }
  /// Rows that go on at a position, each with a draw behind it.
  Step decode(const std::vector<int32_t>& tokens, int32_t position, const kernels::SampleParams& params) const {
    Step step = prompt(tokens, static_cast<int32_t>(tokens.size()), params);
    step.sequences[0].first_position = position;
    step.sequences[0].row_class = RowClass::decode;
    return step;
  }
  /// Runs a prompt of three tokens with two drafts behind it; the step that looks whether they hold.
  Step draft(const kernels::SampleParams& params) const {
    Step step = prompt({1, 2, 3}, 1, params);
    step.drafting = {{.count = 2}};
    EXPECT_TRUE(runner->submit(step).ok());
    step = decode({runner->collect()->front().token, draft_token(0), draft_token(1)}, 3, params);
    step.sequences[0].keeps_records = true;
    return step;
  }

  LoadedModel model;
  std::unique_ptr<kernels::Cache> cache;
  std::unique_ptr<StepRunner> runner;
  Status status;
  std::vector<int32_t> blocks = {1, 0};
};

TEST_F(SimulatedRunner, IdsThatNobodyKnowsAreNeverDrawn) {
  LoneRunner lone({.known_ids = 3, .samples_max = 16});
  const kernels::SampleParams params{.temperature = 100};
  ASSERT_TRUE(lone.runner->submit(lone.prompt(random_tokens(16, 250), 16, params)).ok());
  const auto results = lone.runner->collect();
  ASSERT_TRUE(results.ok());
  for (const SampleResult& result : *results) EXPECT_LT(result.token, 3);
  EXPECT_TRUE(std::ranges::any_of(*results, [](const SampleResult& result) { return result.token == 2; }));
}

/// Each draw of a step may have a mask and as many words of lists.
TEST_F(SimulatedRunner, ListsAreAsLongAsTheyMayBe) {
  for (const int32_t words : {4, 3}) {
    LoneRunner lone({.samples_max = 2, .list_words_max = words});
    const kernels::SampleParams params{.logit_bias = {{1, 1.0F}, {2, 1.0F}}};
    const std::vector<uint32_t> allowed(static_cast<size_t>(kernels::mask_words(250)), ~0U);
    Step step = lone.prompt({1, 2}, 2, params);
    for (kernels::SampleRow& sample : step.samples) sample.allowed = allowed;
    EXPECT_EQ(lone.runner->submit(step).code(), words == 4 ? StatusCode::ok : StatusCode::resource_exhausted);
  }
}

TEST_F(SimulatedRunner, DraftsNeedTheHeadsKvAndRecordsForOneRowMore) {
  EXPECT_TRUE(LoneRunner({.samples_max = 16, .drafts_max = 2}).status.ok());
  EXPECT_EQ(LoneRunner({.samples_max = 16, .drafts_max = 2}, /*with_mtp=*/false).status.code(),
            StatusCode::invalid_argument);
}

TEST_F(SimulatedRunner, WhatIsAssumedOfDraftsIsWhatIsCollected) {
  for (const double share : {0.0, 1.0}) {
    LoneRunner lone({.samples_max = 16, .drafts_max = 2, .assumed_acceptance = {share, share}});
    const kernels::SampleParams params;
    const Step step = lone.draft(params);
    const auto drafts = *lone.runner->drafts();
    const std::vector<int32_t> made(drafts.begin(), drafts.end());
    ASSERT_TRUE(lone.runner->submit(step).ok());
    const auto results = *lone.runner->collect();
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(results[i].token == made[i], share == 1.0) << "draft " << i;
  }
}

/// The host knows which of draws one behind the other was the newest, until there is a newer one.
TEST_F(SimulatedRunner, ARowGoesOnFromTheNewestDrawWheneverThatCame) {
  const kernels::SampleParams params{.logprobs = 3};
  std::vector<uint32_t> only_nine(static_cast<size_t>(kernels::mask_words(250)));
  only_nine[0] = 1U << 9;
  std::vector<SampleResult> found;
  for (const bool later : {false, true}) {
    LoneRunner lone({.samples_max = 16, .drafts_max = 2, .assumed_acceptance = {1.0, 1.0}});
    ASSERT_TRUE(lone.runner->submit(lone.draft(params)).ok());
    ASSERT_TRUE(lone.runner->collect().ok());
    for (const int32_t position : {6, 7}) {
      Step step = lone.decode({kLastDrawn}, position, params);
      std::vector<kernels::SampleRow> samples = step.samples;
      if (position == 6) samples[0].allowed = only_nine;
      if (!later) step.samples = samples;
      step.draws_later = later;
      ASSERT_TRUE(lone.runner->submit(step).ok());
      if (later) {
        ASSERT_TRUE(lone.runner->draw(samples).ok());
      }
      found.push_back(lone.runner->collect()->front());
    }
  }
  EXPECT_EQ(found[0].token, 9);
  EXPECT_EQ(found[2].token, 9);
  expect_same({found[3]}, {found[1]}, "behind it");
}

/// Graphs that are made ahead leave 512 MiB of what is free.
TEST_F(SimulatedRunner, GraphsAreMadeAheadWhileThereIsMemory) {
  PassGraphs graphs(GraphSizes(/*sequences_max=*/8, /*rows_max=*/64, /*samples_max=*/16));
  graphs.want({GraphSizes::plain_step(1), GraphSizes::plain_step(2)});
  simulator::machine.free_bytes = size_t{512} << 20;
  EXPECT_EQ(*graphs.next_wanted(), GraphSizes::plain_step(1));
  --simulator::machine.free_bytes;
  EXPECT_EQ(*graphs.next_wanted(), std::nullopt);
  simulator::machine = {};
  EXPECT_EQ(*graphs.next_wanted(), std::nullopt) << "and none later";
}

}  // namespace
}  // namespace tessera::model
