#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "base/status.h"
#include "engine/meter.h"
#include "kernels/cuda_backend.h"
#include "model/runner.h"

namespace tessera::cli {

/// Sequences of a batch, driven as the engine drives its own: a step ahead, but for those
/// that draft, whose next step has what the one before drafted, and is submitted before that is known here.
class BenchBatch {
 public:
  /// `blocks`: KV blocks of each sequence; outlives this.
  BenchBatch(model::StepRunner& runner, int64_t sequences, int64_t vocab,
             const std::vector<std::vector<int32_t>>& blocks);

  /// Reads prompts of `tokens` tokens, `rows_max` rows a step; returns the seconds. drafts: that each sequence makes
  /// behind its prompt, and then behind every step.
  Expected<double> prefill(int64_t tokens, int64_t rows_max, int32_t drafts);

  struct Decoded {
    std::vector<double> step_seconds;  // from result to result
    double cache_bytes = 0;            // mean of a step: keys and values, states read and written
    int64_t tokens = 0;                // of all sequences
    [[nodiscard]] double seconds() const;
  };
  Expected<Decoded> decode(int64_t steps, const engine::StepBytes& bytes);

  /// Distinct experts that a layer reads in a step, the mean of so many more decode steps. Their tokens are not drawn:
  /// a runner has no graph for them. `read`: what the runner's backend counts in.
  Expected<double> count_experts(int64_t steps, kernels::ExpertsRead& read);

 private:
  using Clock = std::chrono::steady_clock;

  struct Sequence {
    int64_t length = 0;           // of what holds
    int32_t newest = 0;           // token, known where there are drafts behind it
    std::vector<int32_t> drafts;  // behind it, for the next step, or what stands for them
    int32_t held = 0;             // of the step before, of several rows
  };

  void add_prompt(model::Step& step, size_t sequence, int64_t rows, bool draws);
  void add_decode(model::Step& step, size_t sequence, bool draws);
  void add_sample(model::Step& step, int32_t row, size_t sequence, int64_t position);
  model::Step decode_step(bool draws);
  void take_drafts(std::span<const int32_t> made);
  int64_t take_results();
  Status submit(const model::Step& step);
  Status collect();
  Status drain();

  model::StepRunner& runner_;
  int64_t vocab_;
  const std::vector<std::vector<int32_t>>& blocks_;
  std::vector<Sequence> sequences_;
  int32_t drafts_ = 0;  // of a sequence, in every step
  kernels::SampleParams params_;
  std::mt19937_64 random_{1};
  int under_way_ = 0;
  std::span<const kernels::SampleResult> results_;  // of the step collected last
  std::vector<Clock::time_point> ends_;             // of the steps of decode()
};

}  // namespace tessera::cli
