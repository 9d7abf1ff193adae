// Time of one draw from a vocabulary of 248,320 on one core. "flat": normal logits, as a random model gives; "peaked":
// a few tokens hold nearly all the probability, as a trained model gives. The row of logits is in cache.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "kernels/cpu/sampler.h"

namespace tessera::kernels {
namespace {

constexpr size_t kVocab = 248320;

std::vector<float> logits(bool peaked) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, peaked ? 3.0F : 1.0F);
  std::vector<float> row(kVocab);
  for (float& logit : row) logit = normal(random);
  if (peaked) row[100] = 20, row[5000] = 19, row[77777] = 18;
  return row;
}

void draw(benchmark::State& state, bool peaked, SampleParams params) {
  std::vector<float> row = logits(peaked);
  Sampler sampler;
  uint64_t position = 0;
  for (auto _ : state) {
    DrawArgs args;
    args.logits = row;
    args.known_ids = static_cast<int64_t>(kVocab);
    args.params = &params;
    args.noise = {.key = 42, .position = position++};
    benchmark::DoNotOptimize(sampler.draw(args));
  }
  state.SetItemsProcessed(state.iterations());
}

#define DRAW(name, ...)                                                                                 \
  BENCHMARK_CAPTURE(draw, flat_##name, false, SampleParams __VA_ARGS__)->Unit(benchmark::kMicrosecond); \
  BENCHMARK_CAPTURE(draw, peaked_##name, true, SampleParams __VA_ARGS__)->Unit(benchmark::kMicrosecond)

DRAW(greedy, {.temperature = 0});
DRAW(temperature_1, {});
DRAW(top_k_20_top_p_95, {.temperature = 0.6F, .top_k = 20, .top_p = 0.95F});
DRAW(top_p_95, {.top_p = 0.95F});
DRAW(min_p_05, {.min_p = 0.05F});
DRAW(logprobs_5, {.logprobs = 5});

}  // namespace
}  // namespace tessera::kernels

BENCHMARK_MAIN();
