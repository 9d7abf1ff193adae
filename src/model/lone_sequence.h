#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/batch.h"
#include "model/model.h"

namespace tessera::model {

/// One sequence in a cache of its own: the model without scheduler and sampler, on any backend, for scoring and tests.
class LoneSequence {
 public:
  /// Takes the memory for `tokens_max` tokens, `rows_max` of them at once; with_mtp: also for the MTP head. `model`
  /// must outlive this.
  static Expected<LoneSequence> create(const Model& model, DType kv_dtype, int64_t tokens_max, int64_t rows_max,
                                       bool with_mtp = false);

  /// Starts again from nothing.
  void restart() { position_ = 0; }
  /// Runs a step of one token, and starts again: what a device cannot run shows in its first step at the latest.
  Status try_step();
  [[nodiscard]] int64_t position() const { return position_; }

  /// Runs the next `tokens` as one step of rows of one class; `logits` receives [tokens, vocab]. Prefill starts at a
  /// multiple of 64.
  Status run(std::span<const int32_t> tokens, kernels::RowClass row_class, std::span<float> logits);

  /// The MTP head on the rows of the last run(): next_tokens[i] is the token behind its i-th. `logits` [tokens, vocab].
  Status run_mtp(std::span<const int32_t> next_tokens, std::span<float> logits);

 private:
  explicit LoneSequence(const Model& model) : model_(&model) {}
  Status begin(std::span<const int32_t> tokens, int64_t first_position, kernels::RowClass row_class);

  const Model* model_;
  std::unique_ptr<kernels::Cache> cache_;
  std::unique_ptr<kernels::Pass> pass_;
  std::vector<int32_t> block_table_;  // block i is block i
  kernels::SequenceRows rows_;
  std::vector<int32_t> tokens_, logit_rows_;
  int64_t position_ = 0;
};

}  // namespace tessera::model
