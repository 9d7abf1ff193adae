#pragma once

#include <cstddef>
#include <vector>

#include "base/dtype.h"
#include "base/zeroed_pages.h"
#include "kernels/gated_attention.h"
#include "model/config.h"

namespace tessera::model {

/// Bytes of one KV block (64 tokens) over all attention layers, the MTP layers included when `with_mtp`.
size_t kv_block_bytes(const ModelConfig& config, DType kv_dtype, bool with_mtp);

/// Bytes of one sequence's Gated DeltaNet states over all linear-attention layers.
size_t state_slot_bytes(const ModelConfig& config);

/// The memory behind block tables and state slots, taken once at start. Who owns which block or slot is the
/// engine's business; here they are numbers.
class Cache {
 public:
  /// Zero-filled, so that no stale NaN can ever be read. k_scales/v_scales: one per attention layer (FP8), or empty.
  Cache(const ModelConfig& config, DType kv_dtype, int blocks, int state_slots, bool with_mtp,
        std::vector<float> k_scales, std::vector<float> v_scales);

  [[nodiscard]] int blocks() const { return blocks_; }
  [[nodiscard]] int state_slots() const { return state_slots_; }
  /// KV of the i-th attention layer; the MTP layers follow the main ones.
  [[nodiscard]] kernels::KvLayer kv_layer(int attention_layer);
  /// [state_slots, state_floats] of the i-th linear-attention layer.
  [[nodiscard]] float* states(int linear_layer);

 private:
  int blocks_ = 0;
  int state_slots_ = 0;
  DType kv_dtype_ = DType::bf16;
  size_t layer_kv_bytes_ = 0;  // keys, or values, of all blocks of one layer
  size_t layer_state_floats_ = 0;
  std::vector<float> k_scales_, v_scales_;
  ZeroedPages kv_;
  ZeroedPages states_;
};

}  // namespace tessera::model
