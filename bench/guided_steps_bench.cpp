// What 64 guided streams cost beside 64 free ones, on a device of which the host's part is real and the rest is time: a
// step takes as long as it is told to. Masks are of a JSON schema over 248,320 ids. They are filled behind each step,
// or while it runs (model/runner.h: draws that come later).
#include <benchmark/benchmark.h>

#include <bit>
#include <chrono>
#include <deque>
#include <random>
#include <thread>

#include "base/thread_pool.h"
#include "engine/step_loop.h"
#include "guide/grammar.h"
#include "kernels/cuda/sample_tables.h"

namespace {

using namespace tessera;
using Clock = std::chrono::steady_clock;

constexpr int kSequences = 64;
constexpr int64_t kVocab = 248'320, kTokensMax = 4096;
constexpr auto kForward = std::chrono::microseconds(11'500), kSampler = std::chrono::microseconds(200);

/// Draws any token that may come.
class PacedRunner final : public model::StepRunner {
 public:
  explicit PacedRunner(bool draws_later) : draws_later_(draws_later) { memory_.resize(capacity_.bytes()); }

  [[nodiscard]] int steps_ahead() const override { return 1; }
  [[nodiscard]] bool draws_later() const override { return draws_later_; }

  Status submit(const model::Step& step) override {
    free_at_ = std::max(free_at_, Clock::now()) + kForward;
    under_way_.emplace_back();
    return step.draws_later ? Status() : draw(step.samples);
  }

  Status draw(std::span<const kernels::SampleRow> samples) override {
    const kernels::cuda::SampleLimits limits{.vocab = kVocab, .slots = kSequences, .has_counts = true};
    TESSERA_RETURN_IF_ERROR(write_sample_tables(samples, limits, capacity_, memory_));
    free_at_ = std::max(free_at_, Clock::now()) + kSampler;
    under_way_.back().ends = free_at_;
    for (const kernels::SampleRow& sample : samples) {
      size_t word = random_() % 4;  // brackets and quotes are among the first ids
      while (!sample.allowed.empty() && sample.allowed[word] == 0) word = (word + 1) % sample.allowed.size();
      const uint32_t bits = sample.allowed.empty() ? 1U : std::rotr(sample.allowed[word], static_cast<int>(number_));
      const auto bit = (number_++ + static_cast<uint32_t>(std::countr_zero(bits))) % 32;
      under_way_.back().results.push_back({.token = static_cast<int32_t>(word * 32 + bit)});
    }
    return {};
  }

  Expected<std::span<const kernels::SampleResult>> collect() override {
    std::this_thread::sleep_until(under_way_.front().ends);
    results_ = std::move(under_way_.front().results);
    under_way_.pop_front();
    return std::span<const kernels::SampleResult>(results_);
  }

 private:
  struct UnderWay {
    Clock::time_point ends = {};
    std::vector<kernels::SampleResult> results = {};
  };
  bool draws_later_;
  Clock::time_point free_at_ = {};
  std::deque<UnderWay> under_way_;
  std::vector<kernels::SampleResult> results_;
  kernels::cuda::SampleCapacity capacity_ = {
      .rows_max = kSequences, .pool_words = static_cast<uint32_t>((kernels::mask_words(kVocab) + 4096) * kSequences)};
  std::vector<std::byte> memory_;
  std::minstd_rand random_{1};
  uint32_t number_ = 0;  // of the draw
};

/// Of an array of objects that may go on for ever.
CompiledGrammar grammar() {
  static guide::Compiler compiler([] {
    guide::Vocabulary made;
    for (int byte = 0; byte < 256; ++byte) made.tokens.emplace_back(1, static_cast<char>(byte));
    std::mt19937 random(1);
    while (static_cast<int64_t>(made.tokens.size()) < kVocab - 1) {
      std::string word(2 + random() % 9, ' ');
      for (size_t i = random() % 2; i < word.size(); ++i) word[i] = static_cast<char>('a' + random() % 26);
      made.tokens.push_back(std::move(word));
    }
    made.stop_ids = {static_cast<int32_t>(kVocab - 1)};
    made.tokens.emplace_back();
    return made;
  });
  return *compiler.compile({.kind = GrammarSource::Kind::json_schema, .text = R"({"type":"array","items":
    {"type":"object","properties":{"text":{"type":"string"},"score":{"type":"number"}},"required":["text","score"]}})"});
}

void BM_Steps(benchmark::State& state, bool guided, bool draws_later) {
  PacedRunner runner(draws_later);
  ThreadPool pool(static_cast<int>(std::thread::hardware_concurrency()));
  engine::StepLoop loop({.runner = &runner,
                         .pool = &pool,
                         .vocab_size = kVocab,
                         .kv_blocks = static_cast<int32_t>(kSequences * (kTokensMax / kernels::kBlockTokens)),
                         .max_num_seqs = kSequences,
                         .max_model_len = kTokensMax,
                         .max_num_batched_tokens = 8192,
                         .eos_token_ids = {static_cast<int32_t>(kVocab - 1)},
                         .step_bytes = engine::StepBytes()});
  Request request{.prompt = {1, 2, 3}, .sampling = {.temperature = 1, .max_tokens = 2000}};
  if (guided) request.guide.grammar = grammar();
  std::vector<std::shared_ptr<engine::EventChannel>> channels(kSequences);
  const auto step = [&] {
    for (auto& channel : channels) {  // an answer that has ended makes room for another
      while (channel && channel->try_next()) {
      }
      if (!channel || channel->finished()) channel = *loop.submit(request);
    }
    loop.step();
  };
  for (int i = 0; i < 20; ++i) step();
  const uint64_t before = loop.stats().generated_tokens;
  const auto begin = Clock::now();
  for (auto _ : state) step();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto tokens = static_cast<double>(loop.stats().generated_tokens - before);
  state.counters["tokens_s"] = tokens / seconds;
  state.counters["ms_a_64"] = seconds * 1e3 * kSequences / tokens;  // what a step of all takes
}

#define STEPS_BENCH(name, guided, draws_later) \
  BENCHMARK_CAPTURE(BM_Steps, name, guided, draws_later)->Iterations(300)->Unit(benchmark::kMillisecond)->UseRealTime()
STEPS_BENCH(free, false, true);
STEPS_BENCH(guided_behind_each_step, true, false);
STEPS_BENCH(guided_while_it_runs, true, true);

}  // namespace

BENCHMARK_MAIN();
