#pragma once

#include <cstdint>

#include "kernels/gated_delta_net.h"

namespace tessera::kernels::cpu {

/// One thread's work: a key head of one sequence, and the value heads that read it, over the sequence's rows of this
/// step. Nothing but states and outputs leaves the caches.
struct DeltaNetGroup {
  const GatedDeltaNetArgs* args = nullptr;
  const SequenceRows* sequence = nullptr;
  int64_t key_head = 0;
  bool to_bf16 = false;
  bool replays = false;       // rows are records of an earlier step: the state is advanced, nothing is put out
  bool next_follows = false;  // the same thread takes the next key head: its state is worth fetching early

  [[nodiscard]] int64_t value_heads() const { return args->shape.value_heads / args->shape.key_heads; }
  [[nodiscard]] int64_t first_head() const { return key_head * value_heads(); }
  /// First channels of the convolution: of the key head's q and k, and of a value head.
  [[nodiscard]] int64_t query_channel() const { return key_head * args->shape.key_dim; }
  [[nodiscard]] int64_t key_channel() const { return (args->shape.key_heads + key_head) * args->shape.key_dim; }
  [[nodiscard]] int64_t value_channel(int64_t head) const {
    return 2LL * args->shape.key_heads * args->shape.key_dim + head * args->shape.value_dim;
  }
  [[nodiscard]] bool prefill() const { return sequence->row_class == RowClass::prefill; }
  /// S of a value head in a slot, and the convolution's last inputs, which follow those of all heads.
  [[nodiscard]] float* state(int64_t value_head, int32_t slot) const {
    const DeltaNetShape& shape = args->shape;
    return args->states + slot * shape.state_floats() + value_head * shape.key_dim * shape.value_dim;
  }
  [[nodiscard]] float* inputs(int32_t slot) const { return state(args->shape.value_heads, slot); }
  /// Those of the sequence's own slot.
  [[nodiscard]] float* state(int64_t value_head) const { return state(value_head, sequence->state_slot); }
  [[nodiscard]] float* inputs() const { return inputs(sequence->state_slot); }
  /// Whether the state after the first `rows` rows of this step is also kept in the snapshot's slot.
  [[nodiscard]] bool snapshot_after(int64_t rows) const {
    return prefill() && sequence->snapshot_slot >= 0 && sequence->first_position + rows == sequence->snapshot_position;
  }
};

/// One thread's memory. k, v: key_dim and value_dim padded to 16. A chunk is up to 64 rows.
struct DeltaNetScratch {
  float* query = nullptr;            // [64, k]; normalised and scaled
  float* key = nullptr;              // [64, k]; normalised
  float* value = nullptr;            // [64, v]
  float* taps = nullptr;             // [conv_width + 1, max(k, v)]
  float* keys_keys = nullptr;        // [64, 64]: K K^T, the upper triangle unspecified
  float* queries_keys = nullptr;     // [64, 64]: Q K^T, likewise
  float* transposed_keys = nullptr;  // [k, 64]: K^T
  float* decayed_keys = nullptr;     // [k, 64]
  float* mix_u = nullptr;            // [64, 64]
  float* mix_out = nullptr;          // [64, 64]
  float* u = nullptr;                // [64, v + 16]
  float* out = nullptr;              // [64, v]
  float* states = nullptr;           // [value heads of a key head, k, v + 16]
};

}  // namespace tessera::kernels::cpu
