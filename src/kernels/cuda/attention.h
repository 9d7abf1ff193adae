#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "device/cuda.h"
#include "kernels/cuda/step_tables.h"
#include "kernels/gated_attention.h"
#include "tessera/status.h"

// Gated attention between its projections on a GPU, the twin of kernels/gated_attention.h: q and k norm per head,
// partial rotary, K and V written to the cache and read back as stored, causal softmax attention, times sigmoid(gate).
//
// The contract of this backend. Rounding points are the CPU's: normed q and k, cos and sin, rotated q and k with each
// product and the sum, attention output, sigmoid(gate), their product; and one more: probabilities are rounded to BF16
// for their product with V. Scores, sums and states are fp32. head_dim^-0.5, k_scale and log2(e) are one factor of a
// score; exponentials are of base 2 (ptx/ex2.cuh); the output is multiplied by 1 / sum, for E4M3 then by v_scale.
//  - Decode rows take keys in splits of 256 absolute positions, each from an empty state: one maximum over the split,
//    sums by warp of 32 positions, then over warps. Prefill rows take splits of 4,096 absolute positions, each from an
//    empty state, with an online softmax over tiles of 64 positions.
//  - Splits are merged in ascending order within superblocks (16 splits of decode rows, 8 of prefill rows), those in
//    ascending order. Who merges, and how many splits one block takes in turn, changes no bit.
//  - Cache slots beyond a row's position may hold anything. What a later row of the same step has stored does not reach
//    an earlier row either, NaN included. A value that is not finite is stored as NaN (E4M3: infinities saturate).
namespace tessera::kernels::cuda {

/// The KV pool of one layer: keys, and values, each [block][kv_head][64 tokens][padded head_dim], in natural order,
/// with zeros behind head_dim. Kernels swizzle rows on their way to shared memory.
struct KvPool {
  DType dtype = DType::bf16;  // or f8_e4m3
  std::byte* keys = nullptr;
  std::byte* values = nullptr;
  float k_scale = 1.0F;  // f8_e4m3 only, positive: stored = e4m3(k / k_scale), saturating; NaN stays NaN
  float v_scale = 1.0F;
};

/// head_dim as it is stored and computed: 32, 64, 128 or 256; 0 if there is none.
constexpr int padded_head_dim(int head_dim) {
  for (const int dim : {32, 64, 128, 256}) {
    if (head_dim > 0 && head_dim <= dim) return dim;
  }
  return 0;
}

/// Bytes of keys (or of values) in one block of one layer.
size_t kv_block_bytes(DType dtype, const AttentionShape& shape);

/// unsupported, with every parameter: what the kernels cannot run.
Status supports(const AttentionShape& shape, DType kv);

/// Bytes at the start of the workspace that must be zero before the first call, and are again after each. The same
/// whatever the plan, so that plans may share a workspace.
inline constexpr size_t kAttentionCounterBytes = size_t{64} << 10;

/// How a step of given bounds runs: grids, and memory for the states of splits. Nothing in it changes a bit.
struct AttentionPlan {
  AttentionShape shape;
  DType kv = DType::bf16;
  int decode_row_blocks = 1;  // of 16 (position, head) rows that share what is read of the cache: 1 or 2
  int decode_blocks = 0;      // grid
  int decode_slots = 0;       // states of splits; with more splits than these a block takes more of them in turn
  int prefill_blocks = 0;
  int prefill_slots = 0;
  size_t workspace_bytes = 0;
};

/// bounds: counts are not read, so the tables' memory need not exist yet.
Expected<AttentionPlan> plan_attention(const AttentionShape& shape, DType kv, const StepTables& bounds, int sm_count);

/// The most workspace that a step of at most rows_max rows and sequences_max sequences can need, of whatever classes.
/// For shapes that are supported.
size_t attention_workspace_bytes_max(const AttentionShape& shape, DType kv, const StepTables& bounds, int sm_count);

/// All pointers are device memory, 16-byte aligned; strides are in elements, multiples of 8.
struct AttentionArgs {
  AttentionPlan plan;
  StepTables tables;
  KvPool kv;
  const uint16_t* query_gate = nullptr;  // [rows, heads, 2 * head_dim] BF16: per head, query then gate
  const uint16_t* key = nullptr;         // [rows, kv_heads * head_dim] BF16
  const uint16_t* value = nullptr;       // [rows, kv_heads * head_dim] BF16
  int64_t query_gate_stride = 0, key_stride = 0, value_stride = 0;  // row r starts at pointer + r * stride
  const float* q_norm = nullptr;                                    // [head_dim], zero-centred
  const float* k_norm = nullptr;                                    // [head_dim], zero-centred
  const float* inv_freq = nullptr;                                  // [rotary_dim / 2]
  float rope_scale = 1.0F;                                          // factor of cos and sin
  uint16_t* out = nullptr;                                          // [rows, heads * head_dim] BF16
  std::byte* workspace = nullptr;                                   // plan.workspace_bytes
};

/// One launch if the tables may hold decode rows, two more if they may hold prefill rows. Sequences of prefill start at
/// a multiple of 64; those of decode may have any number of rows.
Status attention(const AttentionArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
