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
  bool next_follows = false;  // the same thread takes the next key head: its state is worth fetching early

  [[nodiscard]] int64_t value_heads() const { return args->shape.value_heads / args->shape.key_heads; }
  [[nodiscard]] bool prefill() const { return sequence->row_class == RowClass::prefill; }
  /// The sequence's slot: S of every value head, then the convolution's last inputs.
  [[nodiscard]] float* slot() const { return args->states + sequence->state_slot * args->shape.state_floats(); }
  [[nodiscard]] float* state(int64_t value_head) const {
    return slot() + value_head * args->shape.key_dim * args->shape.value_dim;
  }
  [[nodiscard]] float* inputs() const { return state(args->shape.value_heads); }
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
