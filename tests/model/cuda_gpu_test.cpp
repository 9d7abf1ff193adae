// Whole models on the GPU: against the CPU with a tolerance, against themselves bit for bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "checkpoint_files.h"
#include "engine/demo_transcripts.h"
#include "kernels/cuda_backend.h"
#include "model/cuda_runner.h"
#include "model/loaded_model.h"
#include "model/speculation.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using kernels::Compute;
using kernels::RowClass;
using kernels::SampleResult;

std::unique_ptr<kernels::Backend> gpu(bool pdl = true) {
  auto backend = kernels::make_cuda_backend({.gpu = 0, .pdl = pdl});
  EXPECT_TRUE(backend.ok()) << backend.status().message();
  EXPECT_EQ((*backend)->name(), "cuda");
  return *std::move(backend);
}

std::vector<int32_t> random_tokens(size_t count, size_t vocab, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % vocab);
  return tokens;
}

double relative_error(std::span<const float> found, std::span<const float> want) {
  EXPECT_EQ(found.size(), want.size());
  double error = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    error += std::pow(double{found[i]} - want[i], 2);
    size += std::pow(double{want[i]}, 2);
  }
  return std::sqrt(error / size);
}

/// Errors against fp32 of single rows of logits, of the GPU and of the CPU in BF16. Both round at the same places, but
/// a router's near tie falls to one side or the other, and then a row's logits are others: so rows are many, and what
/// is compared is where their errors lie.
class RowErrors {
 public:
  explicit RowErrors(size_t vocab) : vocab_(vocab) {}

  void add(std::span<const float> cuda, std::span<const float> bf16, std::span<const float> fp32) {
    for (size_t row = 0; row < fp32.size(); row += vocab_) {
      cuda_.push_back(relative_error(cuda.subspan(row, vocab_), fp32.subspan(row, vocab_)));
      bf16_.push_back(relative_error(bf16.subspan(row, vocab_), fp32.subspan(row, vocab_)));
    }
  }

  void expect_alike(const std::string& what) {
    std::sort(cuda_.begin(), cuda_.end());
    std::sort(bf16_.begin(), bf16_.end());
    ASSERT_GE(cuda_.size(), 50U);
    for (const double share : {0.25, 0.5, 0.75}) {
      const auto at = static_cast<size_t>(share * static_cast<double>(cuda_.size()));
      EXPECT_LE(cuda_[at], 1.5 * bf16_[at] + 0.005) << what << ", quantile " << share << " of " << cuda_.size();
    }
    EXPECT_LT(cuda_.back(), 2) << what << ": the worst row; the CPU's is " << bf16_.back();
  }

 private:
  size_t vocab_;
  std::vector<double> cuda_, bf16_;
};

void expect_same_bits(std::span<const float> found, std::span<const float> want, const std::string& what) {
  ASSERT_EQ(found.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(std::memcmp(&found[i], &want[i], sizeof(float)), 0)
        << what << ": element " << i << " is " << found[i] << ", want " << want[i];
  }
}

void expect_like_cpu(const std::string& directory, DType kv_dtype = DType::bf16) {
  LoadedModel cuda(directory, gpu(), kv_dtype), bf16(directory, Compute::bf16, 4, kv_dtype),
      fp32(directory, Compute::f32, 4);
  const auto tokens = random_tokens(200, cuda.vocab());
  RowErrors prefill(cuda.vocab()), decode(cuda.vocab()), mtp(cuda.vocab());
  for (const size_t prompt : {1, 63, 64, 65, 140}) {
    const auto rows = std::span(tokens).first(prompt);
    prefill.add(cuda.step(rows, 0, RowClass::prefill), bf16.step(rows, 0, RowClass::prefill),
                fp32.step(rows, 0, RowClass::prefill));
    for (size_t t = prompt; t < prompt + 20; ++t) {
      const auto row = std::span(tokens).subspan(t, 1);
      const auto at = static_cast<int32_t>(t);
      decode.add(cuda.step(row, at, RowClass::decode), bf16.step(row, at, RowClass::decode),
                 fp32.step(row, at, RowClass::decode));
    }
  }
  prefill.expect_alike("prefill");
  decode.expect_alike("decode");
  if (!cuda->has_mtp()) return;
  const auto rows = std::span(tokens).first(100), next = std::span(tokens).subspan(1, 100);
  for (LoadedModel* model : {&cuda, &bf16, &fp32}) model->step(rows, 0, RowClass::prefill);
  mtp.add(cuda.mtp_step(next), bf16.mtp_step(next), fp32.mtp_step(next));
  mtp.expect_alike("the MTP head");
}

TEST(CudaModel, GoldenModelsAreLikeTheCpus) {
  for (const char* name : {"qwen3_5_moe", "qwen3_5_dense"}) {
    SCOPED_TRACE(name);
    expect_like_cpu(std::string(TESSERA_SOURCE_DIR "/tests/golden/") + name);
  }
}

TEST(CudaModel, TheBundledModelIsLikeTheCpus) { expect_like_cpu(TESSERA_SOURCE_DIR "/models/demo"); }

SynthOptions synth(bool is_moe, WeightFormat experts, WeightFormat rest, bool fused = false) {
  SynthOptions options;
  options.shape = test::small_shape(is_moe);
  options.shape.num_hidden_layers = 4;
  for (const TensorKind kind : {TensorKind::routed_expert, TensorKind::mlp}) options.formats[kind] = experts;
  for (const TensorKind kind :
       {TensorKind::attention, TensorKind::delta_net, TensorKind::shared_expert, TensorKind::lm_head}) {
    options.formats[kind] = rest;
  }
  options.fused_experts = fused;
  return options;
}

TEST(CudaModel, EveryFormatIsLikeTheCpus) {
  constexpr auto kBf16 = WeightFormat::bf16, kFp8 = WeightFormat::fp8_e4m3, kNvfp4 = WeightFormat::nvfp4,
                 kMxfp4 = WeightFormat::mxfp4;
  const std::pair<WeightFormat, WeightFormat> formats[] = {{kBf16, kBf16},   {kNvfp4, kBf16},  {kNvfp4, kFp8},
                                                           {kNvfp4, kNvfp4}, {kMxfp4, kMxfp4}, {kFp8, kFp8}};
  for (const bool is_moe : {true, false}) {
    for (const auto& [experts, rest] : formats) {
      const test::TempDirectory directory;
      SCOPED_TRACE(std::string(is_moe ? "MoE " : "dense ") + std::string(format::name(experts)) + " " +
                   std::string(format::name(rest)));
      test::synthesize(directory / "model", synth(is_moe, experts, rest));
      expect_like_cpu((directory / "model").string());
    }
  }
  const test::TempDirectory directory;
  test::synthesize(directory / "fused", synth(true, kBf16, kBf16, /*fused=*/true));
  expect_like_cpu((directory / "fused").string());
}

TEST(CudaModel, Fp8KvIsLikeTheCpus) { expect_like_cpu(TESSERA_SOURCE_DIR "/models/demo", DType::f8_e4m3); }

TEST(CudaModel, BitsDoNotDependOnPrefillSplit) {
  for (const char* path : {"/models/demo", "/tests/golden/qwen3_5_moe", "/tests/golden/qwen3_5_dense"}) {
    const std::string directory = std::string(TESSERA_SOURCE_DIR) + path;
    LoadedModel whole(directory, gpu()), split(directory, gpu());
    const auto tokens = random_tokens(300, whole.vocab());
    const auto once = whole.step(tokens, 0, RowClass::prefill);
    for (const size_t piece : {64, 128, 192}) {
      std::vector<float> pieces;
      for (size_t first = 0; first < tokens.size(); first += piece) {
        const size_t count = std::min(piece, tokens.size() - first);
        const auto logits =
            split.step(std::span(tokens).subspan(first, count), static_cast<int32_t>(first), RowClass::prefill);
        pieces.insert(pieces.end(), logits.begin(), logits.end());
      }
      expect_same_bits(pieces, once, std::string(path) + ", pieces of " + std::to_string(piece));
    }
  }
}

// ---- steps ----

/// One sequence of a run: its prompt, and how it draws.
struct Job {
  std::vector<int32_t> prompt;
  kernels::SampleParams params;
  std::vector<uint32_t> allowed = {};  // of every draw behind the first
};

struct RunnerOptions {
  bool graphs = true, pdl = true;
  bool draws_later = false;  // of decode steps
  int32_t slots = 8;
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
                                  .rows_max = 1024,
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
    const auto submit = [&](const Step& step, std::vector<size_t> drawing) {
      const Status status = runner->submit(step);
      ASSERT_TRUE(status.ok()) << status.message();
      under_way.push_back(std::move(drawing));
      if (static_cast<int>(under_way.size()) > runner->steps_ahead()) collect();
    };
    const auto submit_then_draw = [&](Step& step, const std::vector<size_t>& drawing) {
      const std::vector<kernels::SampleRow> samples = step.samples;
      for (kernels::SampleRow& sample : step.samples) {
        sample = {.row = sample.row, .slot = sample.slot, .params = sample.params};
      }
      step.draws_later = true;
      submit(step, drawing);
      const Status status = runner->draw(samples);
      ASSERT_TRUE(status.ok()) << status.message();
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
      if (!step.tokens.empty()) submit(step, drawing);
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
      if (options.draws_later) {
        submit_then_draw(step, drawing);
      } else {
        submit(step, drawing);
      }
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

std::vector<Job> mixed_jobs(size_t vocab) {
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

void expect_same(const std::vector<SampleResult>& found, const std::vector<SampleResult>& want,
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

TEST(CudaRunner, RowsThatHoldHaveTheBitsOfRowsOneAtATime) {
  for (const char* path : {"/models/demo", "/tests/golden/qwen3_5_dense"}) {
    const std::string directory = std::string(TESSERA_SOURCE_DIR) + path;
    Stepping plain(directory, {});
    const auto jobs = mixed_jobs(plain.model.vocab());
    constexpr int kDraws = 48;
    const auto want = plain.run(jobs, kDraws);
    for (const auto& options :
         {RunnerOptions{.drafts = 5}, RunnerOptions{.graphs = false, .drafts = 5},
          RunnerOptions{.graphs = false, .pdl = false, .drafts = 3}, RunnerOptions{.drafts = 1},
          RunnerOptions{.slots = 5, .drafts = 8}, RunnerOptions{.slots = 24, .drafts = 5, .ahead = true}}) {
      const std::string what = path + options.text();
      Stepping drafting(directory, options);
      for (const bool varied : {false, true}) {
        const auto wanted = [&](size_t sequence, int step) {
          const int some = static_cast<int>(sequence) + step;
          return varied ? some % (options.drafts + 1) : options.drafts;
        };
        auto found = drafting.speculate(jobs, kDraws, wanted, /*steps_between=*/varied ? 2 : 0);
        int right = 0, wrong = 0;
        for (size_t j = 0; j < jobs.size(); ++j) {
          found[j].results.resize(kDraws);
          expect_same(found[j].results, want[j], what + ", job " + std::to_string(j));
          for (const int n : found[j].right) right += n;
          for (const int n : found[j].wrong) wrong += n;
        }
        EXPECT_GT(wrong, 0) << what;
        if (path == std::string("/models/demo")) {
          EXPECT_GT(right, 0) << what;
        }
      }
      // And a runner that can draft does without as one that cannot.
      const auto without = drafting.run(jobs, kDraws);
      for (size_t j = 0; j < jobs.size(); ++j) expect_same(without[j], want[j], what + ", without drafts");
    }
  }
}

TEST(CudaRunner, DraftsOfTheBundledModelAreMostlyRight) {
  std::vector<Job> jobs;
  std::vector<size_t> draws;  // behind the end of an answer nothing is likely
  for (const DemoTranscript& transcript : read_demo_transcripts()) {
    if (transcript.prompt.size() > 400 || transcript.tokens.size() < 20 || jobs.size() == 5) continue;
    jobs.push_back({.prompt = transcript.prompt, .params = {.temperature = 0}});
    draws.push_back(std::min<size_t>(transcript.tokens.size(), 60));
  }
  ASSERT_EQ(jobs.size(), 5U);
  Stepping drafting(TESSERA_SOURCE_DIR "/models/demo", {.drafts = 3});
  std::vector<int> right(4), wrong(4);
  for (size_t j = 0; j < jobs.size(); ++j) {
    const auto found = drafting.speculate({jobs[j]}, draws[j], [](size_t /*sequence*/, int /*step*/) { return 3; });
    for (size_t k = 0; k < found[0].right.size(); ++k) {
      right[k] += found[0].right[k];
      wrong[k] += found[0].wrong[k];
    }
  }
  for (size_t k = 0; k < 3; ++k) {
    std::printf("draft %zu: %d right, %d wrong\n", k + 1, right[k], wrong[k]);
    EXPECT_GT(right[k], 9 * wrong[k]) << "draft " << k + 1;
  }
}

TEST(CudaRunner, AStepSubmittedBehindDraftsChangesNone) {
  Stepping stepping(TESSERA_SOURCE_DIR "/models/demo", {.drafts = 3});
  const std::vector<Job> jobs = {{.prompt = random_tokens(100, stepping.model.vocab()), .params = {.temperature = 0}}};
  const std::vector<int32_t>& prompt = jobs[0].prompt;
  const auto drafts = [&](bool behind) {
    Step step;
    stepping.add(step, jobs, 0, 0, 0, prompt.size(), RowClass::prefill, true);
    step.tokens = prompt;
    step.drafting = {{.next_token = kLastDrawn, .count = 3}};
    EXPECT_TRUE(stepping.runner->submit(step).ok());
    Step other;
    stepping.add(other, jobs, 0, 1, 0, prompt.size(), RowClass::prefill, true);
    other.tokens = prompt;
    std::reverse(other.tokens.begin(), other.tokens.end());
    if (behind) {
      EXPECT_TRUE(stepping.runner->submit(other).ok());
    }
    EXPECT_TRUE(stepping.runner->collect().ok());
    const auto last = *stepping.runner->drafts();
    const std::vector<int32_t> made(last.begin(), last.end());
    EXPECT_EQ(made.size(), 3U);
    if (behind) {
      EXPECT_TRUE(stepping.runner->collect().ok());
    }
    return made;
  };
  const auto alone = drafts(false);
  EXPECT_EQ(drafts(true), alone);
}

/// A part at a time, and then there is an end of it; what is drawn stays what it is.
TEST(CudaRunner, GraphsThatAreMadeAheadChangeNoDraft) {
  const std::vector<int32_t> prompt = random_tokens(100, 4096);
  std::vector<std::vector<int32_t>> made;
  for (const bool ahead : {false, true}) {
    Stepping stepping(TESSERA_SOURCE_DIR "/models/demo", {.drafts = 3});
    const std::vector<Job> jobs = {{.prompt = prompt, .params = {.temperature = 1}}};
    int parts = 0;
    while (ahead) {
      const auto more = stepping.runner->prepare_ahead();
      ASSERT_TRUE(more.ok()) << more.status().message();
      if (!*more) break;
      ASSERT_LT(++parts, 1000);
    }
    if (ahead) EXPECT_GE(parts, 8) << "steps, first passes and further ones for one sequence alone";
    Step step;
    stepping.add(step, jobs, 0, 0, 0, prompt.size(), RowClass::prefill, true);
    step.tokens = prompt;
    step.drafting = {{.next_token = kLastDrawn, .count = 3}};
    ASSERT_TRUE(stepping.runner->submit(step).ok());
    ASSERT_TRUE(stepping.runner->collect().ok());
    const auto drafts = stepping.runner->drafts();
    ASSERT_TRUE(drafts.ok()) << drafts.status().message();
    made.emplace_back(drafts->begin(), drafts->end());
    const auto more = stepping.runner->prepare_ahead();
    EXPECT_TRUE(more.ok() && *more != ahead);
    EXPECT_TRUE(std::ranges::equal(*stepping.runner->drafts(), made.back()));
  }
  EXPECT_EQ(made[0], made[1]);
}

TEST(CudaModel, SelectedHiddenRowsAreThoseSelected) {
  LoadedModel loaded(TESSERA_SOURCE_DIR "/models/demo", gpu());
  const auto tokens = random_tokens(70, loaded.vocab());
  auto cache = *loaded->make_cache(DType::bf16, 4, 1, /*with_mtp=*/false);
  auto pass = *loaded->make_pass({.rows_max = 70,
                                  .sequences_max = 1,
                                  .logit_rows_max = 1,
                                  .state_slots = 1,
                                  .sequence_blocks_max = 4,
                                  .keeps_hidden = true});
  const std::vector<int32_t> blocks = {2, 0, 1, 3};
  const std::vector<kernels::SequenceRows> sequences = {
      {.rows = 70, .row_class = RowClass::prefill, .block_table = blocks}};
  kernels::Backend& runs = loaded->backend();
  ASSERT_TRUE(runs.begin(*pass, *cache, {.tokens = tokens, .sequences = sequences}, {}).ok());
  ASSERT_TRUE(loaded->forward(*pass).ok());
  const auto size = static_cast<size_t>(loaded->config().hidden_size);
  std::vector<float> before(70 * size), after(70 * size);
  ASSERT_TRUE(runs.read_hidden(*pass, before).ok());
  const std::vector<int32_t> rows = {1, 4, 5, 69};
  ASSERT_TRUE(runs.select_hidden(*pass, rows).ok());
  ASSERT_TRUE(runs.read_hidden(*pass, after).ok());
  for (size_t i = 0; i < rows.size(); ++i) {
    expect_same_bits(std::span(after).subspan(i * size, size),
                     std::span(before).subspan(static_cast<size_t>(rows[i]) * size, size), "row " + std::to_string(i));
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

}  // namespace
}  // namespace tessera::model
