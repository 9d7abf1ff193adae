#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "kernels/backend.h"
#include "model/runner.h"
#include "model/weight_plan.h"
#include "tessera/engine.h"

// The speed-of-light meter: the bytes that a decode step has to read, over the time it takes, as a share of the rate
// at which the GPU reads its memory. A step cannot be faster than a share of 1; what is missing is time in which
// memory waits.
namespace tessera::engine {

/// The least that steps read of the GPU's memory.
struct StepBytes {
  model::WeightTraffic weights = {};
  kernels::CacheBytes cache = {};

  /// Weights once, of a layer's routed experts as many as tokens that choose independently and evenly reach (real
  /// routers reach fewer); keys and values of each sequence up to its rows; states, read and written.
  [[nodiscard]] double of(const model::Step& step) const;
  /// Without the weights.
  [[nodiscard]] double cache_of(const model::Step& step) const;
};

/// Share of `bytes_per_second` that the decode steps between two readings have reached; nothing if there were none.
std::optional<double> read_fraction(const DecodeTraffic& before, const DecodeTraffic& now, double bytes_per_second);

/// Follows the steps of a runner. A step's time begins when it is submitted or when the step before it has ended,
/// whichever is later, and ends when its results are there: with a step ahead, and nothing else to do, that is the
/// time from result to result. Steps that read prompts are bound by arithmetic, not by bytes, and are left out.
class StepMeter {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StepMeter(StepBytes bytes) : bytes_(std::move(bytes)) {}
  /// Before the runner has it: where submit() computes, that is part of its time.
  void submitting(const model::Step& step, Clock::time_point now);
  /// The oldest step that was submitted and not collected.
  void collected(Clock::time_point now);

  [[nodiscard]] const DecodeTraffic& decode() const { return decode_; }

 private:
  struct UnderWay {
    Clock::time_point submitted;
    double bytes = 0;  // 0: not a decode step
  };

  StepBytes bytes_;
  std::deque<UnderWay> under_way_;
  Clock::time_point last_end_;
  DecodeTraffic decode_;
};

}  // namespace tessera::engine
