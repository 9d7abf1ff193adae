#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/delta_net_launch.h"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/spelt_math.h"

// What the kernels of Gated DeltaNet share.
namespace tessera::kernels::cuda::delta {

inline constexpr unsigned kAll = 0xffffffffU;
inline constexpr int kWarp = 32;
inline constexpr int kTapsMax = 4;

/// call(std::integral_constant<int, padded size>) for a head of `dim`.
template <typename Call>
Status with_padded(int dim, const Call& call) {
  if (padded_dim(dim) == kHeadDimSmall) return call(std::integral_constant<int, kHeadDimSmall>());
  return call(std::integral_constant<int, kHeadDimMax>());
}
template <typename Call>
Status with_padded(const DeltaNetShape& shape, const Call& call) {
  return with_padded(shape.key_dim, [&](auto key) {
    return with_padded(shape.value_dim, [&](auto value) { return call(key, value); });
  });
}

__device__ inline int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ inline int warp() { return static_cast<int>(threadIdx.x) / kWarp; }

/// Past L1: it may be read before the wait.
__device__ inline SequenceEntry load_entry(const SequenceEntry* from) {
  const uint4 low = __ldcg(reinterpret_cast<const uint4*>(from)),
              high = __ldcg(reinterpret_cast<const uint4*>(from) + 1);
  SequenceEntry entry;
  entry.first_row = static_cast<int32_t>(low.x);
  entry.rows = static_cast<int32_t>(low.y);
  entry.first_position = static_cast<int32_t>(low.z);
  entry.slot = static_cast<int32_t>(low.w);
  entry.row_class = static_cast<RowClass>(high.x & 0xffU);
  entry.keeps_records = (high.x >> 8 & 0xffU) != 0;
  entry.snapshot_slot = static_cast<int32_t>(high.y);
  entry.snapshot_position = static_cast<int32_t>(high.z);
  entry.held = static_cast<int32_t>(high.w);
  return entry;
}

// ---- a head's row in a warp: lane L has values [L * kPer, (L + 1) * kPer) ----

template <int kDim>
inline constexpr int kPer = kDim / kWarp;

/// kPer BF16 values as they lie in memory.
template <int n>
using Packed = std::conditional_t<n == 4, uint2, uint16_t>;

__device__ inline void unpack(const uint2& packed, float (&x)[4]) {
  x[0] = low_bf16(packed.x);
  x[1] = high_bf16(packed.x);
  x[2] = low_bf16(packed.y);
  x[3] = high_bf16(packed.y);
}
__device__ inline void unpack(uint16_t packed, float (&x)[1]) { x[0] = low_bf16(packed); }

/// To BF16, nearest even, in two instructions.
__device__ inline float round_bf16(float x) { return low_bf16(ptx::cvt_bf16x2(0.0F, x)); }
__device__ inline void store_bf16(const float (&x)[4], uint16_t* to) {
  *reinterpret_cast<uint2*>(to) = {ptx::cvt_bf16x2(x[1], x[0]), ptx::cvt_bf16x2(x[3], x[2])};
}
__device__ inline void store_bf16(const float (&x)[1], uint16_t* to) {
  *to = static_cast<uint16_t>(ptx::cvt_bf16x2(0.0F, x[0]));
}

__device__ inline float sum_of_warp(float x) {
#pragma unroll
  for (int by = kWarp / 2; by > 0; by /= 2) x = __fadd_rn(x, __shfl_xor_sync(kAll, x, by));
  return x;
}

/// 1 / sqrt(sum(x^2) / divisor + eps) over a row; values that are none must be 0.
template <int n>
__device__ inline float inverse_norm(const float (&x)[n], float divisor, float eps) {
  float squares = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) squares = __fmaf_rn(x[i], x[i], squares);
  return __fdiv_rn(1.0F, __fsqrt_rn(__fadd_rn(__fdiv_rn(sum_of_warp(squares), divisor), eps)));
}

/// RMSNorm of a head's output times silu(z), with its rounding points.
template <int n>
__device__ inline void gated_norm(float (&o)[n], const float (&weight)[n], const float (&silu_z)[n], int dim,
                                  float eps) {
#pragma unroll
  for (int i = 0; i < n; ++i) o[i] = round_bf16(o[i]);
  const float factor = inverse_norm(o, static_cast<float>(dim), eps);
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const float normed = round_bf16(__fmul_rn(o[i], factor));
    o[i] = __fmul_rn(round_bf16(__fmul_rn(weight[i], normed)), silu_z[i]);
  }
}

// ---- channels, gates ----

__device__ inline int key_head_of(const DeltaNetShape& s, int head) { return head / (s.value_heads / s.key_heads); }

/// The convolution's channel of value `c` of q | k | v as value head `head` reads them.
__device__ inline int channel_of(const DeltaNetShape& s, int head, int key_head, int c) {
  if (c < s.key_dim) return key_head * s.key_dim + c;
  if (c < 2 * s.key_dim) return (s.key_heads + key_head - 1) * s.key_dim + c;
  return (2 * s.key_heads - 2) * s.key_dim + head * s.value_dim + c;
}

__device__ inline int window_width(const DeltaNetShape& s) { return 2 * s.key_dim + s.value_dim; }
/// [conv_width - 1, window_width]
__device__ inline uint16_t* window_of(const DeltaNetArgs& args, int slot, int head) {
  const DeltaNetShape& s = args.shape;
  return args.windows + (int64_t{slot} * s.value_heads + head) * (s.conv_width - 1) * window_width(s);
}
/// [key_dim, value_dim]
__device__ inline float* state_of(const DeltaNetArgs& args, int slot, int head) {
  const DeltaNetShape& s = args.shape;
  return args.states + (int64_t{slot} * s.value_heads + head) * s.key_dim * s.value_dim;
}

/// Of one row: decay and three values of nothing, then k and u, of padded sizes, then the inputs [window_width].
__device__ inline float* record_of(const DeltaNetArgs& args, int slot, int head, int row) {
  const int64_t rows = (int64_t{slot} * args.shape.value_heads + head) * args.record_rows + row;
  return reinterpret_cast<float*>(args.records + rows * static_cast<int64_t>(record_bytes(args.shape)));
}

/// Rounded to BF16.
__device__ inline float beta_of(float b) { return round_bf16(spelt::sigmoid(b)); }
__device__ inline float beta_of(const DeltaNetArgs& args, int64_t row, int head) {
  return beta_of(low_bf16(__ldcg(args.b + row * args.b_stride + head)));
}
/// g of a row: -e^a_log softplus(a + dt_bias).
__device__ inline float log_decay_of(float a, float a_log, float dt_bias) {
  return __fmul_rn(__fsub_rn(0.0F, spelt::exp(a_log)), spelt::softplus(__fadd_rn(a, dt_bias)));
}
__device__ inline float log_decay_of(const DeltaNetArgs& args, int64_t row, int head) {
  return log_decay_of(low_bf16(__ldcg(args.a + row * args.a_stride + head)), args.a_log[head], args.dt_bias[head]);
}

// ---- the step's chunks of prefill, sequence by sequence ----

struct ChunkPlace {
  int sequence = -1;  // -1: there is no such chunk
  int index = 0;      // of the sequence's chunks
};

__device__ inline int chunks_of(int rows) { return (rows + kChunk - 1) / kChunk; }

__device__ inline int inclusive_sum(int x) {
#pragma unroll
  for (int by = 1; by < kWarp; by *= 2) {
    const int lower = __shfl_up_sync(kAll, x, by);
    if (lane() >= by) x += lower;
  }
  return x;
}

/// By a whole warp.
__device__ inline ChunkPlace find_chunk(const StepTables& tables, int chunk) {
  const int end = tables.counts->sequences;
  int before = 0;
  for (int first = tables.counts->decode_sequences; first < end; first += kWarp) {
    const int sequence = first + lane();
    const int mine = sequence < end ? chunks_of(tables.sequences[sequence].rows) : 0;
    const int sum = before + inclusive_sum(mine);
    const bool here = chunk >= sum - mine && chunk < sum;
    const int holder = __reduce_max_sync(kAll, here ? lane() : -1);
    if (holder >= 0) return {first + holder, chunk - __shfl_sync(kAll, sum - mine, holder)};
    before = __shfl_sync(kAll, sum, kWarp - 1);
  }
  return {};
}

/// Chunks of the prefill sequences before this one, by a whole warp.
__device__ inline int chunks_before(const StepTables& tables, int sequence) {
  int sum = 0;
  for (int i = tables.counts->decode_sequences + lane(); i < sequence; i += kWarp)
    sum += chunks_of(tables.sequences[i].rows);
  return __shfl_sync(kAll, inclusive_sum(sum), kWarp - 1);
}

}  // namespace tessera::kernels::cuda::delta
