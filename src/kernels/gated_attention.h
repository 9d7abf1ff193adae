#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "kernels/batch.h"
#include "kernels/context.h"

namespace tessera::kernels {

/// The KV pool of one layer. Layout on the CPU, per block of 64 tokens and KV head:
///   keys   [block][kv_head][4 groups of 16 tokens][head_dim][16 tokens]    (lanes of a vector are tokens)
///   values [block][kv_head][groups of 16 dimensions][64 tokens][16 dims]   (lanes are dimensions; the last group is
///                                                                           narrower if head_dim % 16 is not 0)
/// so that neither scores nor outputs need a horizontal sum and both are read in the order they lie in memory. Element
/// type f32 (compute f32), bf16 or f8_e4m3.
struct KvLayer {
  DType dtype = DType::bf16;
  std::byte* keys = nullptr;
  std::byte* values = nullptr;
  float k_scale = 1.0F;  // f8_e4m3 only: stored = e4m3(k / k_scale), IEEE division, saturating; NaN stays NaN
  float v_scale = 1.0F;
};

/// Bytes of keys (or of values) in one block of one layer.
size_t kv_block_bytes(DType dtype, int kv_heads, int head_dim);

struct AttentionShape {
  int heads = 0;
  int kv_heads = 0;    // divides heads; query head j reads kv head j / (heads / kv_heads)
  int head_dim = 0;    // even
  int rotary_dim = 0;  // even, <= head_dim; rotary pairs are (i, i + rotary_dim / 2)
  float norm_eps = 0;
};

struct GatedAttentionArgs {
  AttentionShape shape;
  const Batch* batch = nullptr;
  const float* query_gate = nullptr;  // [rows, heads, 2 * head_dim]: per head, query then gate
  const float* key = nullptr;         // [rows, kv_heads * head_dim]
  const float* value = nullptr;       // [rows, kv_heads * head_dim]
  const float* q_norm = nullptr;      // [head_dim], zero-centred
  const float* k_norm = nullptr;      // [head_dim], zero-centred
  const float* inv_freq = nullptr;    // [rotary_dim / 2], fp32 (YaRN and the like are folded in by the model)
  float rope_scale = 1.0F;            // factor of cos and sin (YaRN attention factor)
  KvLayer kv;
  float* out = nullptr;  // [rows, heads * head_dim]
};

/// Gated attention between its projections: q and k norm per head, partial rotary, K and V written to the cache
/// and read back as stored, causal softmax attention, times sigmoid(gate). Cache slots that no row has written yet may
/// hold anything, NaN included.
///
/// Order, fixed by the contract: a score is a serial fma over head_dim, ascending, times one factor: head_dim^-0.5,
/// for f8_e4m3 times k_scale. Keys are taken in splits of 256 absolute positions, each from an empty state (max,
/// exp(s - max), sum of p in 16 lanes = position mod 16 and a fixed tree, output as a serial fma over positions
/// ascending); splits are merged in ascending order; output / sum, for f8_e4m3 times v_scale. Angles are the fp32
/// product position * inv_freq; their sine and cosine are our own, correct to the last fp32 bit or nearly so.
///
/// Rounding to BF16: normed q and k; cos and sin; rotated q and k (each product and the sum, as BF16 arithmetic
/// does); attention output; sigmoid(gate); their product. These are transformers' points, except that its eager
/// attention also rounds scores and probabilities.
void gated_attention(const Context& context, const GatedAttentionArgs& args);

}  // namespace tessera::kernels
