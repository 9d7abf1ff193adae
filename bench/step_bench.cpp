// What a step of 64 sequences costs the engine thread beside the GPU: planning, the sampler's tables, results,
// detokenising, stop strings, events. The runner is a GPU's as far as the host's part goes, and computes nothing.
// docs/benchmarks/server.md has the budget.
#include <benchmark/benchmark.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>

#include "engine/step_loop.h"
#include "kernels/cuda/sample_tables.h"
#include "text/bundled.h"

namespace {

using namespace tessera;
using Clock = std::chrono::steady_clock;

constexpr int kSequences = 64;
constexpr int64_t kVocab = 248'320;
constexpr int64_t kTokensMax = int64_t{1} << 20;  // of a sequence
constexpr const char* kProse =
    "The planner knows every byte of a block: stages of weights, rows of tokens, barriers, and what the way out needs. "
    "\"It fits,\" she said, \xe2\x80\x9c"
    "or it does not.\xe2\x80\x9d Nothing else decides; 17 + 25 is 42.\n";

enum Kind { plain, stop_strings, penalties, logprobs, guides };

/// Draws the tokens of a text, one after another.
class TextRunner final : public model::StepRunner {
 public:
  explicit TextRunner(std::vector<int32_t> text) : text_(std::move(text)) {
    const auto words = static_cast<uint32_t>((kernels::mask_words(kVocab) + 4096) * kSequences);
    capacity_ = {.rows_max = kSequences, .pool_words = words};
    memory_.resize(capacity_.bytes());
    outputs_.resize(kSequences);
  }

  [[nodiscard]] int steps_ahead() const override { return 1; }

  Status submit(const model::Step& step) override {
    const kernels::cuda::SampleLimits limits{.vocab = kVocab, .slots = kSequences, .has_counts = true};
    if (Status status = write_sample_tables(step.samples, limits, capacity_, memory_); !status.ok()) return status;
    std::vector<kernels::SampleRow>& rows = under_way_.emplace_back();
    rows.assign(step.samples.begin(), step.samples.end());
    return {};
  }

  Expected<std::span<const kernels::SampleResult>> collect() override {
    results_.clear();
    for (const kernels::SampleRow& row : under_way_.front()) {
      kernels::cuda::SampleOutput& output = outputs_[results_.size()];
      output.token = text_[(next_ + static_cast<size_t>(row.slot) * 7) % text_.size()];
      const int alternatives = row.params->logprobs.value_or(-1);
      output.logprob_count = alternatives + 1;
      for (int i = 0; i <= alternatives; ++i) output.logprobs[i] = {.token = i, .logprob = -1.0F};
      results_.push_back(sample_result(output, kVocab));
    }
    ++next_;
    under_way_.pop_front();
    return std::span<const kernels::SampleResult>(results_);
  }

 private:
  std::vector<int32_t> text_;
  kernels::cuda::SampleCapacity capacity_;
  std::vector<std::byte> memory_;
  std::vector<kernels::cuda::SampleOutput> outputs_;
  std::deque<std::vector<kernels::SampleRow>> under_way_;
  std::vector<kernels::SampleResult> results_;
  size_t next_ = 0;
};

/// Takes the events of all channels, woken once for those that have gathered, as the network thread is.
class Reader {
 public:
  void watch(const std::shared_ptr<engine::EventChannel>& channel) {
    channel->on_ready([this, channel = channel.get()] {
      bool first = false;
      {
        const std::lock_guard lock(mutex_);
        first = ready_.empty();
        ready_.push_back(channel);
      }
      if (first) wake_.notify_one();
    });
    channels_.push_back(channel);
  }
  ~Reader() {
    for (const auto& channel : channels_) channel->on_ready({});
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<engine::EventChannel*> ready;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, stop, [this] { return !ready_.empty(); });
        ready.swap(ready_);
      }
      for (engine::EventChannel* channel : ready) {
        while (const auto event = channel->try_next()) benchmark::DoNotOptimize(event->text.data());
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<engine::EventChannel*> ready_;
  std::vector<std::shared_ptr<engine::EventChannel>> channels_;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

Request request(Kind kind, int index, const std::vector<int32_t>& text) {
  Request request;
  request.prompt = {1 + index, 2, 3};
  request.sampling = {.temperature = 0.6F, .top_k = 20, .top_p = 0.95F, .seed = 1, .max_tokens = kTokensMax / 2};
  switch (kind) {
    case plain: break;
    case stop_strings:
      for (int i = 0; i < 16; ++i) request.sampling.stop.push_back("The planner knows no " + std::to_string(i));
      break;
    case penalties:
      request.sampling.repetition_penalty = 1.1F;
      request.sampling.min_tokens = kTokensMax / 2;
      for (int i = 0; i < 300; ++i) request.sampling.logit_bias.emplace_back((i * 7919) % kVocab, 0.5F);
      break;
    case logprobs: request.sampling.logprobs = 20; break;
    case guides:  // the answer is what two beginnings have in common, so that every token has a mask
      for (const int32_t end : {5, 6}) {
        std::vector<int32_t>& beginning = request.guide.beginnings.emplace_back();
        for (size_t i = 0; i < 4096; ++i) beginning.push_back(text[(i + static_cast<size_t>(index) * 7) % text.size()]);
        beginning.push_back(end);
      }
  }
  return request;
}

void BM_Step(benchmark::State& state, Kind kind) {
  const auto pause = std::chrono::microseconds(state.range(0));
  const auto tokenizer = *text::Tokenizer::parse(text::bundled_tokenizer_json(), "bundled");
  const std::vector<int32_t> text = *tokenizer.encode(kProse);
  TextRunner runner(text);
  engine::StepLoop loop({.runner = &runner,
                         .tokenizer = &tokenizer,
                         .vocab_size = kVocab,
                         .kv_blocks = static_cast<int32_t>(kSequences * (kTokensMax / kernels::kBlockTokens)),
                         .max_num_seqs = kSequences,
                         .max_model_len = kTokensMax,
                         .max_num_batched_tokens = 8192,
                         .eos_token_ids = {2},
                         .step_bytes = engine::StepBytes()});
  Reader reader;
  for (int i = 0; i < kSequences; ++i) reader.watch(*loop.submit(request(kind, i, text)));
  for (int i = 0; i < 64; ++i) loop.step();
  double longest = 0;
  for (auto _ : state) {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);  // the GPU's turn; everyone else's too
    const auto begin = Clock::now();
    loop.step();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    longest = std::max(longest, seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["longest_us"] = longest * 1e6;
  if (loop.stats().running != kSequences) state.SkipWithError("sequences have ended");
}

#define STEP_BENCH(kind)                 \
  BENCHMARK_CAPTURE(BM_Step, kind, kind) \
      ->ArgName("pause_us")              \
      ->Arg(0)                           \
      ->Arg(2000)                        \
      ->Iterations(1000)                 \
      ->UseManualTime()                  \
      ->Unit(benchmark::kMicrosecond)
STEP_BENCH(plain);
STEP_BENCH(stop_strings);
STEP_BENCH(penalties);
STEP_BENCH(logprobs);
STEP_BENCH(guides);

}  // namespace

BENCHMARK_MAIN();
