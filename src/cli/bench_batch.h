#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include "base/status.h"
#include "engine/meter.h"
#include "model/runner.h"

namespace tessera::cli {

/// Sequences of a batch, all of one length, driven as the engine drives its own: a step ahead.
class BenchBatch {
 public:
  /// `blocks`: KV blocks of each sequence; outlives this.
  BenchBatch(model::StepRunner& runner, int64_t sequences, int64_t vocab,
             const std::vector<std::vector<int32_t>>& blocks);

  /// Reads prompts of `tokens` tokens, `rows_max` rows a step; returns the seconds.
  Expected<double> prefill(int64_t tokens, int64_t rows_max);

  struct Decoded {
    std::vector<double> step_seconds;  // from result to result
    double cache_bytes = 0;            // mean of a step: keys and values, states read and written
    [[nodiscard]] double seconds() const;
  };
  Expected<Decoded> decode(int64_t steps, const engine::StepBytes& bytes);

  /// One more decode step whose tokens are not drawn: a runner has no graph for it.
  Status decode_plainly();

 private:
  using Clock = std::chrono::steady_clock;

  void add_rows(model::Step& step, size_t sequence, int64_t rows, kernels::RowClass row_class, bool draws);
  model::Step decode_step(bool draws);
  Status submit(const model::Step& step);
  Status collect();
  Status drain();

  model::StepRunner& runner_;
  int64_t vocab_;
  const std::vector<std::vector<int32_t>>& blocks_;
  std::vector<int64_t> lengths_;
  kernels::SampleParams params_;
  std::mt19937_64 random_{1};
  int under_way_ = 0;
  std::vector<Clock::time_point> ends_;  // of the steps of decode()
};

}  // namespace tessera::cli
