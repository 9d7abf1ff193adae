#pragma once

#include <cstdint>

#include "kernels/batch.h"
#include "kernels/context.h"

namespace tessera::kernels {

struct DeltaNetShape {
  int key_heads = 0;
  int value_heads = 0;  // multiple of key_heads; value head j reads key head j / (value_heads / key_heads)
  int key_dim = 0;
  int value_dim = 0;
  int conv_width = 4;
  float norm_eps = 0;

  [[nodiscard]] int64_t channels() const {  // of the convolution: q | k | v
    return 2LL * key_heads * key_dim + static_cast<int64_t>(value_heads) * value_dim;
  }
  /// fp32 values in one sequence's state of one layer: S [value_heads, key_dim, value_dim], then the last
  /// conv_width - 1 convolution inputs [conv_width - 1, channels], oldest first.
  [[nodiscard]] int64_t state_floats() const {
    return static_cast<int64_t>(value_heads) * key_dim * value_dim + (conv_width - 1) * channels();
  }
  /// fp32 values of a row that may not hold: all that advances the state.
  [[nodiscard]] int64_t record_floats() const { return channels() + 2LL * value_heads; }
};

struct GatedDeltaNetArgs {
  DeltaNetShape shape;
  const Batch* batch = nullptr;
  const float* qkv = nullptr;          // [rows, channels()], before the convolution
  const float* z = nullptr;            // [rows, value_heads * value_dim], output gate
  const float* b = nullptr;            // [rows, value_heads]; beta = sigmoid(b)
  const float* a = nullptr;            // [rows, value_heads]; decay input
  const float* conv_weight = nullptr;  // [channels(), conv_width]; the last tap multiplies the current token
  const float* a_log = nullptr;        // [value_heads]
  const float* dt_bias = nullptr;      // [value_heads]
  const float* norm_weight = nullptr;  // [value_dim], NOT zero-centred
  float* states = nullptr;             // [slots, state_floats()]; slot = SequenceRows::state_slot
  float* records = nullptr;            // [slots, record_rows, record_floats()]; null: no sequence keeps records
  int32_t record_rows = 0;
  float* out = nullptr;  // [rows, value_heads * value_dim]
};

/// Gated DeltaNet between its projections: causal depthwise convolution with SiLU; q and k to unit L2 norm
/// (x / sqrt(sum(x^2) + 1e-6)), q times key_dim^-0.5; beta = sigmoid(b), g = -exp(a_log) softplus(a + dt_bias),
/// softplus linear above 20; the delta rule; RMSNorm of each head's output with norm_weight, times silu(z). Decode
/// rows: S <- exp(g) S; u = beta (v - S^T k); S <- S + k u^T; o = S^T q, one token at a time. Prefill rows: the chunked
/// form over 64 tokens aligned to absolute position, the last chunk as short as it is. A sequence whose first_position
/// is 0 starts from a zero state, whatever the slot holds. Records of rows are their qkv, b and a. A prefill sequence
/// with a snapshot_slot also writes its state after position snapshot_position - 1 there, the convolution's inputs
/// included: a sequence that goes on from a copy of it has the bits of one that never stopped. All sums are fp32,
/// serial (fma) in ascending order; norms in 16 lanes and the tree of rms_norm.
///
/// Rounding to BF16: SiLU(conv); beta; o; normalised o; times weight; gated output. These are transformers' points,
/// except that its convolution, where it has no fused kernel, also rounds before SiLU.
void gated_delta_net(const Context& context, const GatedDeltaNetArgs& args);

/// A sequence's state, from one slot to another.
struct StateCopy {
  int32_t from = 0, to = 0;
};

/// states: [slots, state_floats()], of one layer.
void copy_state(const DeltaNetShape& shape, const StateCopy& copy, float* states);

}  // namespace tessera::kernels
