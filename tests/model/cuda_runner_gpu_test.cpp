// The CUDA runner's steps, bit for bit against themselves.

#include "stepping.h"

namespace tessera::model {
namespace {

TEST(CudaRunner, BitsDoNotDependOnBatchGraphsPdlOrChunks) {
  for (const char* path : {"/models/demo", "/tests/golden/qwen3_5_dense"}) {
    const std::string directory = std::string(TESSERA_SOURCE_DIR) + path;
    Stepping together(directory, {});
    const auto jobs = mixed_jobs(together.model.vocab());
    constexpr int kDraws = 40;
    const auto want = together.run(jobs, kDraws);
    const auto again = together.run(jobs, kDraws, /*first_slot=*/2);
    for (size_t j = 0; j < jobs.size(); ++j) {
      expect_same(again[j], want[j], "other slots, which others have used");
      // Keys follow the place in the batch; alone it is the first.
      Stepping& alone = together;
      std::vector<Job> one(j + 1, Job{.prompt = {1}, .params = {.temperature = 0}});
      one[j] = jobs[j];
      expect_same(alone.run(one, kDraws)[j], want[j], "beside sequences of one token");
    }
    for (const auto& options : {RunnerOptions{.graphs = false}, RunnerOptions{.graphs = false, .pdl = false},
                                RunnerOptions{.pdl = false}, RunnerOptions{.chunk = 64}, RunnerOptions{.slots = 5},
                                RunnerOptions{.slots = 24, .chunk = 64, .ahead = true}}) {
      Stepping other(directory, options);
      const auto found = other.run(jobs, kDraws);
      const std::string what = path + options.text();
      for (size_t j = 0; j < jobs.size(); ++j) expect_same(found[j], want[j], what);
    }
  }
}

TEST(CudaRunner, DrawsThatComeLaterHaveTheSameBits) {
  for (const char* path : {"/models/demo", "/tests/golden/qwen3_5_dense"}) {
    const std::string directory = std::string(TESSERA_SOURCE_DIR) + path;
    Stepping at_once(directory, {});
    auto jobs = mixed_jobs(at_once.model.vocab());
    for (const size_t j : {size_t{0}, size_t{3}}) {
      jobs[j].allowed.assign(static_cast<size_t>(kernels::mask_words(static_cast<int64_t>(at_once.model.vocab()))),
                             0x5a5a5a5aU << j);
    }
    constexpr int kDraws = 60;
    const auto want = at_once.run(jobs, kDraws);
    for (const auto& options :
         {RunnerOptions{.draws_later = true}, RunnerOptions{.graphs = false, .draws_later = true},
          RunnerOptions{.pdl = false, .draws_later = true}, RunnerOptions{.draws_later = true, .slots = 5}}) {
      Stepping later(directory, options);
      for (int time = 0; time < 2; ++time) {
        const auto found = later.run(jobs, kDraws);
        for (size_t j = 0; j < jobs.size(); ++j) expect_same(found[j], want[j], path + options.text());
      }
    }
  }
}

TEST(CudaRunner, StatesAreCopied) {
  Stepping stepping(TESSERA_SOURCE_DIR "/models/demo", {.slots = 2});
  const Job job{.prompt = random_tokens(64, stepping.model.vocab()), .params = {.temperature = 0}};
  const auto token = random_tokens(1, stepping.model.vocab(), 9);
  const auto decode = [&](int32_t slot, std::vector<kernels::StateCopy> copies) {
    Step step;
    step.tokens = token;
    step.sequences = {{.rows = 1,
                       .first_position = 64,
                       .row_class = RowClass::decode,
                       .state_slot = slot,
                       .block_table = stepping.tables[0]}};
    kernels::SampleParams params{.temperature = 0, .logprobs = 5};
    step.samples = {{.row = 0, .slot = slot, .params = &params}};
    step.copies = std::move(copies);
    EXPECT_TRUE(stepping.runner->submit(step).ok());
    const auto results = stepping.runner->collect();
    EXPECT_TRUE(results.ok());
    return std::vector<SampleResult>(results->begin(), results->end());
  };
  stepping.run({job}, 1);
  const auto copied = decode(1, {{.from = 0, .to = 1}});
  expect_same(decode(0, {}), copied, "the copy goes on as the original");
}

/// What a prompt has left goes to the host; others compute over it; it comes back to another slot and other blocks, and
/// the sequence goes on as if nothing had been. Two steps are under way all the time; the moves are made with the
/// sequence's rows, or in a step without any.
TEST(CudaRunner, WhatWasMovedToTheHostComesBackWithTheSameBits) {
  using What = kernels::PageMove::What;
  for (const auto& [slots, alone] : {std::pair(2, false), {5, false}, {2, true}}) {
    Stepping stepping(TESSERA_SOURCE_DIR "/models/demo", {.slots = slots});
    const Job job{.prompt = random_tokens(192, stepping.model.vocab()), .params = {.temperature = 0, .logprobs = 5}};
    const Job other{.prompt = random_tokens(200, stepping.model.vocab(), 5), .params = {.temperature = 0}};
    const int32_t state_pages = kernels::pages_of_state(stepping.model->backend().cache_bytes(stepping.cache->shape()));
    ASSERT_GE(state_pages, 1);
    ASSERT_LE(3 + state_pages, stepping.pages->count());
    /// Its three blocks are in the first pages from behind, its state in those behind them.
    const auto moves = [&](bool to_host, int32_t slot) {
      std::vector<kernels::PageMove> all;
      for (int32_t i = 0; i < 3; ++i) {
        const int32_t block = stepping.tables[static_cast<size_t>(slot)][static_cast<size_t>(i)];
        all.push_back({.what = What::block, .to_host = to_host, .index = block, .page = 2 - i});
      }
      for (int32_t i = 0; i < state_pages; ++i) {
        all.push_back({.what = What::state, .to_host = to_host, .index = slot, .piece = i, .page = 3 + i});
      }
      return all;
    };
    const auto token = random_tokens(1, stepping.model.vocab(), 9);
    const kernels::SampleParams params{.temperature = 0, .logprobs = 5};
    const auto submit = [&](int32_t slot, std::vector<kernels::PageMove> first) {
      Step step;
      step.moves = std::move(first);
      step.tokens = token;
      step.sequences = {{.rows = 1,
                         .first_position = 192,
                         .row_class = RowClass::decode,
                         .state_slot = slot,
                         .block_table = stepping.tables[static_cast<size_t>(slot)]}};
      step.samples = {{.row = 0, .slot = slot, .params = &params}};
      EXPECT_TRUE(stepping.runner->submit(step).ok());
    };
    const auto collect = [&] {
      const auto results = stepping.runner->collect();
      EXPECT_TRUE(results.ok()) << results.status().message();
      return std::vector<SampleResult>(results->begin(), results->end());
    };
    /// In a step without rows, or what is to be done in the one that follows.
    const auto move = [&](std::vector<kernels::PageMove> wanted) {
      Step step;
      if (alone) {
        step.moves = std::exchange(wanted, {});
        EXPECT_TRUE(stepping.runner->submit(step).ok());
      }
      return wanted;
    };
    stepping.run({job}, 1);
    auto first = move(moves(/*to_host=*/true, 0));
    if (alone) {
      EXPECT_TRUE(collect().empty());
    }
    submit(0, std::move(first));  // a row that changes the state
    const auto expected = collect();
    stepping.run({other, other}, 3);  // both slots and all their blocks hold something else
    submit(0, {});
    first = move(moves(/*to_host=*/false, 1));
    if (alone) {
      EXPECT_EQ(collect().size(), 1U);
      EXPECT_TRUE(collect().empty());
    }
    submit(1, std::move(first));
    if (!alone) {
      EXPECT_EQ(collect().size(), 1U);
    }
    expect_same(collect(), expected, "it goes on where it was");
  }
}

TEST(CudaRunner, ReplaysOfManyDecodeRowsHaveTheBitsOfSingleRows) {
  Stepping stepping(TESSERA_SOURCE_DIR "/models/demo", {});
  const auto tokens = random_tokens(300, stepping.model.vocab());
  const kernels::SampleParams params{.temperature = 0, .logprobs = 5};
  const auto decode = [&](int32_t slot, int32_t first, int32_t rows) {
    Step step;
    step.tokens.assign(tokens.begin() + first, tokens.begin() + first + rows);
    step.sequences = {{.rows = rows,
                       .first_position = first,
                       .row_class = RowClass::decode,
                       .state_slot = slot,
                       .block_table = stepping.tables[static_cast<size_t>(slot)]}};
    step.samples = {{.row = rows - 1, .slot = slot, .params = &params}};
    EXPECT_TRUE(stepping.runner->submit(step).ok());
    const auto results = stepping.runner->collect();
    EXPECT_TRUE(results.ok());
    return std::vector<SampleResult>(results->begin(), results->end());
  };
  const auto together = decode(0, 0, 300);
  std::vector<SampleResult> single;
  for (int32_t i = 0; i < 300; ++i) single = decode(1, i, 1);
  expect_same(together, single, "300 rows at once");
}

/// A record for each row of a sequence: those of drafts, and the one before them.
TEST(CudaRunner, DraftsNeedRecordsInTheCache) {
  LoadedModel model(TESSERA_SOURCE_DIR "/models/demo", gpu());
  const auto made = [&](int recorded, int drafts) {
    const auto cache = *model->make_cache(DType::bf16, /*blocks=*/8, /*state_slots=*/1, /*with_mtp=*/true, recorded);
    return make_cuda_runner({.model = &*model,
                             .cache = cache.get(),
                             .gpu = 0,
                             .known_ids = static_cast<int64_t>(model.vocab()),
                             .rows_max = 64,
                             .sequences_max = 1,
                             .sequence_blocks_max = 8,
                             .samples_max = 16,
                             .drafts_max = drafts})
        .status();
  };
  EXPECT_TRUE(made(2, 2).ok()) << made(2, 2).message();
  EXPECT_EQ(made(2, 3).code(), StatusCode::invalid_argument);
  EXPECT_NE(made(2, 3).message().find("3 drafts at a time, with records of 3 rows"), std::string::npos)
      << made(2, 3).message();
}

}  // namespace
}  // namespace tessera::model
