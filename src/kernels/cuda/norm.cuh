#pragma once

#include <cstdint>

#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/norm.h"
#include "kernels/ptx/mma_bf16.cuh"

// RMSNorm of a row of BF16 by a block of any number of warps, with one summation tree: element i belongs to lane
// (i / 8) % 256, a lane adds its squares by fma in ascending order, and lanes are added as a binary tree over the bits
// of their number, lowest first. What differs between blocks is only which warp has which 32 of the 256 lanes.
namespace tessera::kernels::cuda {

/// bf16(a + b), element by element.
__device__ inline uint4 add_bf16(const uint4& a, const uint4& b) {
  const auto add = [](uint32_t x, uint32_t y) {
    return ptx::cvt_bf16x2(__fadd_rn(high_bf16(x), high_bf16(y)), __fadd_rn(low_bf16(x), low_bf16(y)));
  };
  return {add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w)};
}

/// sum + squares of eight elements.
__device__ inline float add_squares(const uint4& v, float sum) {
  const uint32_t pairs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sum = __fmaf_rn(low_bf16(pairs[i]), low_bf16(pairs[i]), sum);
    sum = __fmaf_rn(high_bf16(pairs[i]), high_bf16(pairs[i]), sum);
  }
  return sum;
}

/// The tree over a warp's 32 lanes; every lane gets the result.
__device__ inline float add_lanes(float sum) {
#pragma unroll
  for (int by = 1; by < 32; by *= 2) sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffU, sum, by));
  return sum;
}

/// For each chunk of the warp's lanes, a part of 32 at a time: chunk(index, sum) adds its squares to the sum so far.
/// The sum of part p goes to parts[p], in shared memory.
template <typename Chunk>
__device__ inline void sum_parts(int chunks, int warp, int warps, int lane, float* parts, const Chunk& chunk) {
  for (int part = warp; part < kNormParts; part += warps) {
    float sum = 0;
    for (int i = part * 32 + lane; i < chunks; i += kNormLanes) sum = chunk(i, sum);
    sum = add_lanes(sum);
    if (lane == 0) parts[part] = sum;
  }
}

/// 1 / sqrt(mean of squares + eps), of all parts.
__device__ inline float inverse_norm(const float* parts, int hidden, float eps) {
  float sums[kNormParts];
#pragma unroll
  for (int i = 0; i < kNormParts; ++i) sums[i] = parts[i];
#pragma unroll
  for (int by = 1; by < kNormParts; by *= 2) {
#pragma unroll
    for (int i = 0; i < kNormParts; i += 2 * by) sums[i] = __fadd_rn(sums[i], sums[i + by]);
  }
  const float mean = __fdiv_rn(sums[0], static_cast<float>(hidden));
  return __fdiv_rn(1.0F, __fsqrt_rn(__fadd_rn(mean, eps)));
}

/// bf16((v * inverse) * (1 + weight)) of eight elements.
__device__ inline uint4 normed(const uint4& v, float inverse, const float4& low, const float4& high) {
  const auto scale = [&](float x, float w) { return __fmul_rn(__fmul_rn(x, inverse), __fadd_rn(1.0F, w)); };
  const auto pair = [&](uint32_t p, float w0, float w1) {
    return ptx::cvt_bf16x2(scale(high_bf16(p), w1), scale(low_bf16(p), w0));
  };
  return {pair(v.x, low.x, low.y), pair(v.y, low.z, low.w), pair(v.z, high.x, high.y), pair(v.w, high.z, high.w)};
}

/// The norm's weights, by a block of kNormLanes threads: those of a thread's first chunks, all of rows of 4,096
/// elements, are asked for before the PDL wait.
struct NormWeights {
  static constexpr int kChunks = 2;
  float4 low[kChunks], high[kChunks];

  __device__ NormWeights(const NormInput& norm, int chunks) {
#pragma unroll
    for (int n = 0; n < kChunks; ++n) {
      const int chunk = static_cast<int>(threadIdx.x) + n * kNormLanes;
      if (norm.residual == nullptr || chunk >= chunks) continue;
      low[n] = *reinterpret_cast<const float4*>(norm.weight + chunk * kNormChunk);
      high[n] = *reinterpret_cast<const float4*>(norm.weight + chunk * kNormChunk + 4);
    }
  }

  /// scale(chunk, its weights' low and high halves) for each chunk of the thread's lane.
  template <typename Scale>
  __device__ void for_each_chunk(const NormInput& norm, int chunks, const Scale& scale) const {
    const auto thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int n = 0; n < kChunks; ++n) {
      const int chunk = thread + n * kNormLanes;
      if (chunk < chunks) scale(chunk, low[n], high[n]);
    }
    for (int chunk = thread + kChunks * kNormLanes; chunk < chunks; chunk += kNormLanes) {
      const auto* weight = reinterpret_cast<const float4*>(norm.weight + chunk * kNormChunk);
      scale(chunk, weight[0], weight[1]);
    }
  }
};

}  // namespace tessera::kernels::cuda
