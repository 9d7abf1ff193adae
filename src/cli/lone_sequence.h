#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/batch.h"
#include "model/cache.h"
#include "model/model.h"

namespace tessera::cli {

/// One sequence in a cache of its own: the model without scheduler and sampler, for scoring.
class LoneSequence {
 public:
  /// Takes the memory for `tokens_max` tokens. `model` must outlive this.
  LoneSequence(model::Model& model, DType kv_dtype, int64_t tokens_max);

  /// Starts again from nothing.
  void restart() { position_ = 0; }
  [[nodiscard]] int64_t position() const { return position_; }

  /// Runs the next `tokens` as one step of rows of one class; `logits` receives [tokens, vocab]. Prefill starts at a
  /// multiple of 64.
  void run(std::span<const int32_t> tokens, kernels::RowClass row_class, float* logits);

 private:
  model::Model& model_;
  std::vector<int32_t> block_table_;  // block i is block i
  model::Cache cache_;
  int64_t position_ = 0;
};

}  // namespace tessera::cli
