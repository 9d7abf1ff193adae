#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu_model.h"
#include "model/cuda_runner.h"
#include "model/loaded_model.h"
#include "model/speculation.h"

// Runs of a CUDA runner: sequences that are read, and drawn from, step by step.
namespace tessera::model {

using kernels::RowClass;
using kernels::SampleResult;

/// One sequence of a run: its prompt, and how it draws.
struct Job {
  std::vector<int32_t> prompt;
  kernels::SampleParams params;
  std::vector<uint32_t> allowed = {};  // of every draw behind the first
};

struct RunnerOptions {
  bool graphs = true, pdl = true;
  bool draws_later = false;  // of every step that draws
  int32_t slots = 8;
  int32_t rows = 1024;  // of a step, at most
  int64_t chunk = 512;  // rows of a prefill step
  int drafts = 0;       // at most
  bool ahead = false;   // all graphs are made before the first step

  [[nodiscard]] std::string text() const {
    return std::string(graphs ? "" : ", no graphs") + (pdl ? "" : ", no PDL") + ", chunks of " + std::to_string(chunk) +
           ", drafts " + std::to_string(drafts) + (draws_later ? ", draws come later" : "") +
           (ahead ? ", graphs made ahead" : "");
  }
};

/// A model that steps; the cache has room for `slots` sequences of 512 tokens.
struct Stepping {
  Stepping(const std::string& directory, const RunnerOptions& o) : options(o), model(directory, gpu(o.pdl)) {
    constexpr int kBlocks = 8, kPages = 64;
    cache = *model->make_cache(DType::bf16, kBlocks * o.slots, o.slots, /*with_mtp=*/o.drafts > 0, o.drafts);
    pages = *model->backend().make_host_pages(cache->shape(), kPages);
    auto made = make_cuda_runner({.model = &*model,
                                  .cache = cache.get(),
                                  .pages = pages.get(),
                                  .gpu = 0,
                                  .known_ids = static_cast<int64_t>(model.vocab()),
                                  .rows_max = o.rows,
                                  .sequences_max = o.slots,
                                  .sequence_blocks_max = kBlocks,
                                  .samples_max = o.slots + 64,
                                  .drafts_max = o.drafts,
                                  .graphs = o.graphs,
                                  .pdl = o.pdl});
    EXPECT_TRUE(made.ok()) << made.status().message();
    runner = *std::move(made);
    for (bool more = o.ahead; more;) {
      const auto made_one = runner->prepare_ahead();
      EXPECT_TRUE(made_one.ok()) << made_one.status().message();
      more = made_one.ok() && *made_one;
    }
    for (int32_t slot = 0; slot < o.slots; ++slot) {
      // Not in order, so that a wrong table is found out.
      std::vector<int32_t>& table = tables.emplace_back();
      for (int32_t i = 0; i < kBlocks; ++i) table.push_back((i * 5 + 3) % kBlocks * o.slots + slot);
    }
  }

  /// The draws of each job, all of them in the same steps, in slots from `first_slot` on.
  std::vector<std::vector<SampleResult>> run(const std::vector<Job>& jobs, int draws, int32_t first_slot = 0) {
    std::vector<std::vector<SampleResult>> results(jobs.size());
    std::vector<std::vector<size_t>> under_way;
    const auto collect = [&] {
      const auto step = runner->collect();
      ASSERT_TRUE(step.ok()) << step.status().message();
      for (size_t i = 0; i < under_way.front().size(); ++i) results[under_way.front()[i]].push_back((*step)[i]);
      under_way.erase(under_way.begin());
    };
    const auto submit = [&](Step& step, std::vector<size_t> drawing) {
      const std::vector<kernels::SampleRow> samples = step.samples;
      step.draws_later = options.draws_later && !drawing.empty();
      if (step.draws_later) {
        for (kernels::SampleRow& sample : step.samples) {
          sample = {.row = sample.row, .slot = sample.slot, .params = sample.params};
        }
      }
      const Status status = runner->submit(step);
      ASSERT_TRUE(status.ok()) << status.message();
      under_way.push_back(std::move(drawing));
      if (static_cast<int>(under_way.size()) > runner->steps_ahead()) collect();
      if (!step.draws_later) return;
      const Status drawn = runner->draw(samples);
      ASSERT_TRUE(drawn.ok()) << drawn.message();
    };
    for (size_t first = 0; first < 512; first += static_cast<size_t>(options.chunk)) {
      Step step;
      std::vector<size_t> drawing;
      for (size_t j = 0; j < jobs.size(); ++j) {
        const auto& prompt = jobs[j].prompt;
        if (first >= prompt.size()) continue;
        const size_t rows = std::min(prompt.size() - first, static_cast<size_t>(options.chunk));
        const bool last = first + rows == prompt.size();
        add(step, jobs, j, first_slot, first, rows, RowClass::prefill, last);
        step.tokens.insert(step.tokens.end(), prompt.begin() + static_cast<long>(first),
                           prompt.begin() + static_cast<long>(first + rows));
        if (last) drawing.push_back(j);
      }
      if (step.tokens.empty()) continue;
      submit(step, drawing);
    }
    for (int i = 1; i < draws; ++i) {
      Step step;
      std::vector<size_t> drawing;
      for (size_t j = 0; j < jobs.size(); ++j) {
        add(step, jobs, j, first_slot, jobs[j].prompt.size() + static_cast<size_t>(i) - 1, 1, RowClass::decode, true);
        step.samples.back().allowed = jobs[j].allowed;
        step.tokens.push_back(kLastDrawn);
        drawing.push_back(j);
      }
      submit(step, drawing);
    }
    while (!under_way.empty()) collect();
    return results;
  }

  /// The same draws with drafts, of as many as `wanted` says.
  template <typename Wanted>
  std::vector<Speculating> speculate(const std::vector<Job>& jobs, size_t draws, const Wanted& wanted,
                                     int steps_between = 0) {
    std::vector<Speculating> all;
    for (size_t j = 0; j < jobs.size(); ++j) {
      all.push_back({.prompt = jobs[j].prompt,
                     .params = &jobs[j].params,
                     .slot = static_cast<int32_t>(j),
                     .blocks = tables[j],
                     .noise_key = 1000 + j,
                     .begins = static_cast<int>(j) * steps_between});
    }
    model::speculate(*runner, all, draws, wanted);
    return all;
  }

  void add(Step& step, const std::vector<Job>& jobs, size_t j, int32_t first_slot, size_t first, size_t rows,
           RowClass row_class, bool draws) {
    const auto slot = first_slot + static_cast<int32_t>(j);
    const auto first_row = static_cast<int32_t>(step.tokens.size());
    step.sequences.push_back({.first_row = first_row,
                              .rows = static_cast<int32_t>(rows),
                              .first_position = static_cast<int32_t>(first),
                              .row_class = row_class,
                              .state_slot = slot,
                              .block_table = tables[static_cast<size_t>(slot)]});
    if (first == 0 && jobs[j].params.has_penalty())
      step.histories.push_back({.slot = slot, .prompt = jobs[j].prompt, .output = {}});
    if (!draws) return;
    step.samples.push_back({.row = first_row + static_cast<int32_t>(rows) - 1,
                            .slot = slot,
                            .params = &jobs[j].params,
                            .noise = {.key = 1000 + j, .position = first + rows}});
  }

  RunnerOptions options;
  LoadedModel model;
  std::unique_ptr<kernels::Cache> cache;
  std::unique_ptr<kernels::HostPages> pages;
  std::unique_ptr<StepRunner> runner;
  std::vector<std::vector<int32_t>> tables;
};

inline std::vector<Job> mixed_jobs(size_t vocab) {
  std::vector<Job> jobs;
  for (const size_t size : {5, 64, 130, 1, 200}) {
    Job job{.prompt = random_tokens(size, vocab, static_cast<uint32_t>(size)), .params = {}};
    job.params.logprobs = 3;
    job.params.temperature = jobs.size() % 2 == 0 ? 0.8F : 0.0F;
    if (jobs.size() == 2) job.params.top_k = 20, job.params.top_p = 0.9F;
    if (jobs.size() == 3) job.params.repetition_penalty = 1.3F, job.params.presence_penalty = 0.5F;
    if (jobs.size() == 4) job.params.min_p = 0.05F, job.params.frequency_penalty = 0.7F;
    jobs.push_back(std::move(job));
  }
  return jobs;
}

inline void expect_same(const std::vector<SampleResult>& found, const std::vector<SampleResult>& want,
                        const std::string& what) {
  ASSERT_EQ(found.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_TRUE(found[i].status.ok()) << found[i].status.message();
    ASSERT_EQ(found[i].token, want[i].token) << what << ", draw " << i;
    ASSERT_EQ(found[i].logprobs.size(), want[i].logprobs.size()) << what;
    for (size_t k = 0; k < want[i].logprobs.size(); ++k) {
      ASSERT_EQ(found[i].logprobs[k].token, want[i].logprobs[k].token) << what << ", draw " << i;
      ASSERT_EQ(std::memcmp(&found[i].logprobs[k].logprob, &want[i].logprobs[k].logprob, sizeof(float)), 0)
          << what << ", draw " << i;
    }
  }
}

}  // namespace tessera::model
