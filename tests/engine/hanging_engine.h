#pragma once

#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "engine/engine_maker.h"

namespace tessera::engine {

/// A device that draws token after token, until one step hangs: its runner finds out, and can not be destroyed from
/// then on, as the memory of a GPU can not be freed under a kernel that runs.
class HangingRunner final : public model::StepRunner {
 public:
  explicit HangingRunner(int good_steps) : good_steps_(good_steps) {}
  ~HangingRunner() override {
    if (hangs_) std::abort();
  }

  [[nodiscard]] int steps_ahead() const override { return 1; }
  Status submit(const model::Step& step) override {
    under_way_.emplace_back(step.samples.size(), kernels::SampleResult{.token = 7});
    return {};
  }
  Expected<std::span<const kernels::SampleResult>> collect() override {
    hangs_ = good_steps_-- == 0;
    if (hangs_) return Status(StatusCode::unavailable, "step 3 has been on the GPU for 120 s: it hangs");
    results_ = std::move(under_way_.front());
    under_way_.pop_front();
    return std::span<const kernels::SampleResult>(results_);
  }

 private:
  int good_steps_;
  bool hangs_ = false;
  std::deque<std::vector<kernels::SampleResult>> under_way_;
  std::vector<kernels::SampleResult> results_;
};

/// An engine of token ids whose device hangs after so many steps.
inline Engine hanging_engine(int good_steps) {
  StepLoopParts parts;
  parts.vocab_size = 100;
  parts.kv_blocks = 8;
  parts.max_num_seqs = 2;
  parts.max_model_len = 512;
  parts.max_num_batched_tokens = 66;
  return EngineMaker::make(std::make_unique<HangingRunner>(good_steps), std::move(parts));
}

}  // namespace tessera::engine
