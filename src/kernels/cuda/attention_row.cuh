#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/attention_shape.h"
#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/ptx/cvt_e4m3.cuh"
#include "kernels/sin_cos.h"
#include "kernels/spelt_math.h"

// One head of one row: norm, rotation, and the way of K and V to the cache. By a warp each. Decode and prefill share
// every operation.
namespace tessera::kernels::cuda::attn {

inline constexpr unsigned kAll = 0xffffffffU;
inline constexpr uint32_t kNanBf16 = 0x7fff;  // as conversions make it

/// Where a row's 16-byte chunk lies in shared memory, so that the same chunk of 8 rows lies in different banks.
template <int chunks>
__device__ inline int swizzled(int row, int chunk) {
  if constexpr (chunks >= 8) {
    return chunk ^ (row & 7);
  } else {
    return chunk ^ (row / (8 / chunks) & (chunks - 1));
  }
}

/// From the address of a row's chunk `a` to that of chunk a | c, where a and c have no bit in common. Rows start at
/// multiples of their length, shared memory at one of 128. Spelt so that a constant c takes no register.
template <int chunks>
__device__ inline uint32_t chunk_beside(uint32_t address, int c) {
  return (address ^ static_cast<uint32_t>(c & 7 & (chunks - 1)) * 16) + static_cast<uint32_t>(c & ~7) * 16;
}

/// BF16 rows of `dim` in shared memory.
template <int dim>
struct Rows {
  static constexpr int kChunks = dim / 8, kBytes = dim * 2;
  std::byte* base;

  __device__ std::byte* chunk(int row, int c) const { return base + row * kBytes + swizzled<kChunks>(row, c) * 16; }
  __device__ uint16_t* element(int row, int d) const {
    return reinterpret_cast<uint16_t*>(chunk(row, d >> 3)) + (d & 7);
  }
  /// Dimensions 8 c to 8 c + 7.
  __device__ void put(int row, int c, const uint32_t (&pairs)[4]) const {
    *reinterpret_cast<uint4*>(chunk(row, c)) = uint4{pairs[0], pairs[1], pairs[2], pairs[3]};
  }
};

/// cos and sin of a rotary pair.
struct Rotation {
  float cos, sin;
};

/// Of a position: lane L has that of pair L. Heads with more pairs compute those where they need them.
struct LaneRotation {
  float position;
  Rotation first;

  __device__ LaneRotation(const LaunchArgs& args, int p, int lane) : position(static_cast<float>(p)), first{} {
    if (lane < args.plan.shape.rotary_dim / 2) first = of(args, lane);
  }
  [[nodiscard]] __device__ Rotation of(const LaunchArgs& args, int pair) const {
    const SinCos angle = sin_cos(__fmul_rn(position, args.inv_freq[pair]));
    return {spelt::round_bf16(__fmul_rn(angle.cos, args.rope_scale)),
            spelt::round_bf16(__fmul_rn(angle.sin, args.rope_scale))};
  }
};

__device__ inline float bf16_at(const uint16_t* p) { return __uint_as_float(uint32_t{*p} << 16); }
__device__ inline uint32_t bf16_pair(float low, float high) {
  return uint32_t{spelt::to_bf16(low)} | uint32_t{spelt::to_bf16(high)} << 16;
}

/// A lane's 8 dimensions of a head, zeros behind it.
__device__ inline uint4 load_head(const LaunchArgs& args, const uint16_t* x, int lane) {
  uint4 words = {};
  if (lane < args.plan.shape.head_dim / 8) words = __ldcg(reinterpret_cast<const uint4*>(x) + lane);
  return words;
}

/// A lane's part of a norm's weight, which is static.
struct HeadWeight {
  float w[8] = {};

  __device__ HeadWeight(const LaunchArgs& args, const float* weight, int lane) {
    if (lane >= args.plan.shape.head_dim / 8) return;
    const float4 low = reinterpret_cast<const float4*>(weight)[2 * lane];
    const float4 high = reinterpret_cast<const float4*>(weight)[2 * lane + 1];
    w[0] = low.x, w[1] = low.y, w[2] = low.z, w[3] = low.w;
    w[4] = high.x, w[5] = high.y, w[6] = high.z, w[7] = high.w;
  }
};

/// The normed, rotated head of load_head() to row `row`. The squares of a lane's 8 dimensions are summed in order, then
/// lanes by a butterfly.
template <int dim>
__device__ inline void norm_and_rotate(const LaunchArgs& args, const uint4& words, const HeadWeight& weight,
                                       const LaneRotation& rotation, Rows<dim> rows, int row, int lane) {
  const int head_dim = args.plan.shape.head_dim, half = args.plan.shape.rotary_dim / 2;
  const float v[8] = {low_bf16(words.x), high_bf16(words.x), low_bf16(words.y), high_bf16(words.y),
                      low_bf16(words.z), high_bf16(words.z), low_bf16(words.w), high_bf16(words.w)};
  float squares = 0;
#pragma unroll
  for (const float e : v) squares = __fmaf_rn(e, e, squares);
#pragma unroll
  for (int step = 16; step > 0; step /= 2) squares = __fadd_rn(squares, __shfl_xor_sync(kAll, squares, step));
  const float mean = __fdiv_rn(squares, static_cast<float>(head_dim));
  const float scale = __fdiv_rn(1.0F, __fsqrt_rn(__fadd_rn(mean, args.plan.shape.norm_eps)));
  if (lane < dim / 8) {
    const auto& w = weight.w;
    uint32_t pairs[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      pairs[i] = bf16_pair(__fmul_rn(__fmul_rn(v[2 * i], scale), __fadd_rn(1.0F, w[2 * i])),
                           __fmul_rn(__fmul_rn(v[2 * i + 1], scale), __fadd_rn(1.0F, w[2 * i + 1])));
    }
    rows.put(row, lane, pairs);
  }
  __syncwarp();
  Rotation angle = rotation.first;
#pragma unroll 1
  for (int pair = lane; pair < half; pair += 32) {
    if (pair != lane) angle = rotation.of(args, pair);
    uint16_t* at = rows.element(row, pair);
    uint16_t* other = rows.element(row, pair + half);
    const float a = bf16_at(at), b = bf16_at(other);
    const auto product = [](float x1, float x2) { return spelt::round_bf16(__fmul_rn(x1, x2)); };
    *at = spelt::to_bf16(__fsub_rn(product(a, angle.cos), product(b, angle.sin)));
    *other = spelt::to_bf16(__fadd_rn(product(b, angle.cos), product(a, angle.sin)));
  }
  __syncwarp();
}

/// Infinities become NaN.
__device__ inline uint32_t finite_or_nan(uint32_t pair) {
  if ((pair & 0x7f80U) == 0x7f80U) pair |= kNanBf16;
  if ((pair & 0x7f800000U) == 0x7f800000U) pair |= kNanBf16 << 16;
  return pair;
}

/// Four BF16 values, divided by `scale`, to E4M3.
__device__ inline uint32_t encode(uint32_t low, uint32_t high, float scale) {
  return ptx::cvt_e4m3x2(__fdiv_rn(high_bf16(low), scale), __fdiv_rn(low_bf16(low), scale)) |
         ptx::cvt_e4m3x2(__fdiv_rn(high_bf16(high), scale), __fdiv_rn(low_bf16(high), scale)) << 16;
}

/// Dimensions 8 c to 8 c + 7 of a row of the cache.
template <int dim, bool fp8>
__device__ inline void store_chunk(std::byte* cache_row, int c, uint4 words, float scale) {
  if constexpr (fp8) {
    *reinterpret_cast<uint2*>(cache_row + c * 8) =
        uint2{encode(words.x, words.y, scale), encode(words.z, words.w, scale)};
  } else {
    *reinterpret_cast<uint4*>(cache_row + c * 16) = words;
  }
}

/// Offset of a position's row in keys or values of one layer. block: of the sequence's table.
template <int dim, bool fp8>
__device__ inline int64_t cache_offset(const LaunchArgs& args, int block, int kv_head, int token) {
  constexpr uint32_t kRowBytes = dim * (fp8 ? 1 : 2), kHeadBytes = kBlockTokens * kRowBytes;
  // Within a block 32 bits are enough; the whole is then one wide multiplication and addition.
  const uint32_t in_block = kv_head * kHeadBytes + token * kRowBytes;
  const uint64_t blocks = uint64_t{static_cast<uint32_t>(block)} * (args.plan.shape.kv_heads * kHeadBytes);
  return static_cast<int64_t>(blocks + in_block);
}

/// A normed, rotated key in shared memory and its value, to the cache, by a warp.
template <int dim, bool fp8>
__device__ inline void store_head(const LaunchArgs& args, int64_t to, uint4 value, const Rows<dim>& keys, int key_row,
                                  int lane) {
  if (lane < dim / 8) {
    const uint4 key = *reinterpret_cast<const uint4*>(keys.chunk(key_row, lane));
    store_chunk<dim, fp8>(args.kv.keys + to, lane, key, args.kv.k_scale);
    if constexpr (!fp8) {
      value = {finite_or_nan(value.x), finite_or_nan(value.y), finite_or_nan(value.z), finite_or_nan(value.w)};
    }
    store_chunk<dim, fp8>(args.kv.values + to, lane, value, args.kv.v_scale);
  }
  __syncwarp();  // the key's row may be written again
}

/// K and V of one row and KV head to the cache, by a warp. scratch: a row of shared memory.
template <int dim, bool fp8>
__device__ inline void store_key_value(const LaunchArgs& args, int row, int kv_head, int block, int token,
                                       const LaneRotation& rotation, const Rows<dim>& scratch, int scratch_row,
                                       int lane) {
  const int64_t head = int64_t{kv_head} * args.plan.shape.head_dim;
  const uint4 value = load_head(args, args.value + row * args.value_stride + head, lane);
  norm_and_rotate<dim>(args, load_head(args, args.key + row * args.key_stride + head, lane),
                       HeadWeight(args, args.k_norm, lane), rotation, scratch, scratch_row, lane);
  store_head<dim, fp8>(args, cache_offset<dim, fp8>(args, block, kv_head, token), value, scratch, scratch_row, lane);
}

}  // namespace tessera::kernels::cuda::attn
