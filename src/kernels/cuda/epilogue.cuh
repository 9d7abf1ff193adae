#pragma once

#include <cstdint>

#include "kernels/cuda/pipeline.cuh"
#include "kernels/ptx/barrier_sync.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/stmatrix.cuh"
#include "kernels/spelt_math.h"
#include "plan/budget.h"

// From the sums of a block to BF16 rows, for every grouped product.
namespace tessera::kernels::cuda {

/// Two elements of SwiGLU, of words with two BF16 each.
__device__ inline uint32_t swiglu_pair(uint32_t gate, uint32_t up) {
  const uint32_t low = swiglu(__uint_as_float(gate << 16), __uint_as_float(up << 16));
  const uint32_t high = swiglu(__uint_as_float(gate & 0xffff0000U), __uint_as_float(up & 0xffff0000U));
  return low | high << 16;
}

/// Called by all consumer warps. The sums go to shared memory, where the stages were, scaled and rounded to BF16, as
/// [column][row]; then to `out` in runs of 16 bytes, SwiGLU on the way, so that its code stands in a kernel once.
///   S: the kernel's shape; sum(i, c): accumulators of strip i and column block c of the warp, in the MMA's order
template <typename S, typename Sum>
__device__ inline void write_rows(const GemmArgs& args, const BlockTile& block, std::byte* smem, uint32_t smem_address,
                                  int warp, int lane, const Sum& sum) {
  constexpr int kThreads = S::kConsumers * 32;
  constexpr int kPitch = S::kTile.m * 2 + 16;  // bytes of a column
  constexpr int kStripBytes = plan::kMmaRows * 2;
  const float alpha0 = args.alpha[block.tile.group * 2], alpha1 = args.alpha[block.tile.group * 2 + 1];
  ptx::barrier_sync(1, kThreads);  // every warp has read its last stage
  const uint32_t at = smem_address + (warp / S::kWarpsM * S::kWarpCols * plan::kMmaCols + (lane & 7)) * kPitch +
                      warp % S::kWarpsM * S::kWarpStrips * kStripBytes + (lane & 8) * 2;
#pragma unroll
  for (int i = 0; i < S::kWarpStrips; ++i) {
#pragma unroll
    for (int c = 0; c < S::kWarpCols; ++c) {
      const float4 v = sum(i, c);
      ptx::stmatrix_x2_trans(at + c * plan::kMmaCols * kPitch + i * kStripBytes,
                             ptx::cvt_bf16x2(__fmul_rn(v.y, alpha0), __fmul_rn(v.x, alpha0)),
                             ptx::cvt_bf16x2(__fmul_rn(v.w, alpha1), __fmul_rn(v.z, alpha1)));
    }
  }
  ptx::barrier_sync(1, kThreads);
  const int strip_chunks = args.swiglu ? 1 : 2;  // of 8 values
  const int chunks = block.strips * strip_chunks, first_chunk = block.strip * strip_chunks;
  uint16_t* out = args.out + int64_t{block.tile.first_slot} * args.width + int64_t{first_chunk} * 8;
  for (int i = warp * 32 + lane; i < block.tile.columns * chunks; i += kThreads) {
    const int column = i / chunks, chunk = i % chunks;
    if ((first_chunk + chunk) * 8 >= args.width) continue;  // a padded last strip has rows that `out` lacks
    std::byte* from = smem + column * kPitch + chunk * (kStripBytes / strip_chunks);
    if (args.swiglu) {  // gate rows, then up rows, of the strip
      auto* words = reinterpret_cast<uint32_t*>(from);
#pragma unroll(S::kTile.n < 64 ? 1 : 2)
      for (int w = 0; w < 4; ++w) words[w] = swiglu_pair(words[w], words[w + 4]);
    }
    *reinterpret_cast<uint4*>(out + int64_t{column} * args.width + chunk * 8) = *reinterpret_cast<const uint4*>(from);
  }
}

}  // namespace tessera::kernels::cuda
