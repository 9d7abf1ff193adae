#pragma once

#include <cstdint>

#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/silu.cuh"
#include "kernels/ptx/barrier_sync.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/prefetch.cuh"
#include "kernels/ptx/stmatrix.cuh"
#include "kernels/spelt_math.h"
#include "plan/budget.h"

// From the sums of a block to BF16 rows, for every grouped product.
namespace tessera::kernels::cuda {

/// Two elements of SwiGLU (kernels/spelt_math.h), of words with two BF16 each.
__device__ inline uint32_t swiglu_pair(uint32_t gate, uint32_t up) {
  uint32_t pair = 0;
#pragma unroll 1  // one copy of its code
  for (int bit = 0; bit < 32; bit += 16) pair |= uint32_t{swiglu(low_bf16(gate >> bit), low_bf16(up >> bit))} << bit;
  return pair;
}

/// Whether swiglu_pair_ordinary() gives the bits of swiglu_pair().
__device__ inline bool ordinary(uint32_t gate, uint32_t up) {
  return ordinary_gate(low_bf16(gate)) && ordinary_gate(high_bf16(gate)) && low_bf16(up) == low_bf16(up) &&
         high_bf16(up) == high_bf16(up);
}

__device__ inline uint32_t swiglu_pair_ordinary(uint32_t gate, uint32_t up) {
  const uint32_t silu = ptx::cvt_bf16x2(silu_ordinary(high_bf16(gate)), silu_ordinary(low_bf16(gate)));
  return ptx::cvt_bf16x2(__fmul_rn(high_bf16(silu), high_bf16(up)), __fmul_rn(low_bf16(silu), low_bf16(up)));
}

/// What sums are multiplied by.
template <typename Args>
struct RowFactors;

/// In a grouped product: one factor for rows 0..7 of every strip and one for rows 8..15.
template <>
struct RowFactors<GemmArgs> {
  const float2* pair;

  __device__ RowFactors(const GemmArgs& args, const BlockTile& block)
      : pair(reinterpret_cast<const float2*>(args.alpha + block.tile.group * 2)) {}
  /// Of row g of a strip of the block and of row g + 8.
  [[nodiscard]] __device__ float2 of_rows(int /*strip*/, int /*g*/) const { return *pair; }
  __device__ void prefetch(int /*lane*/) const { ptx::prefetch_l2(pair); }
};

/// Where a block's rows go.
struct OutRows {
  uint16_t* out;   // of the first column
  int64_t stride;  // elements from column to column
  int width;       // of them that exist
};

/// The block's sums as BF16 in shared memory: [column][row], columns kPitch bytes apart. Rows go out from there whole.
template <typename S>
struct Staged {
  static constexpr int kThreads = S::kConsumers * 32;
  static constexpr int kPitch = S::kTile.m * 2 + 16;
  static constexpr int kStripBytes = plan::kMmaRows * 2;
  static constexpr int kWords = S::kStrips * 4, kChunks = S::kStrips * 2;  // of a column: SwiGLU's pairs, 16 bytes
  static_assert(kThreads % kWords == 0 && kThreads % kChunks == 0);
  /// Columns, `step` apart, of which a thread has an element each under way: whole turns, so that none lies beyond the
  /// tile. Few in decode tiles, which are many, and whose other block covers the wait.
  static constexpr int at_once(int step) {
    for (const int columns : {4, 2}) {
      if (S::kTile.n % (step * columns) == 0 && columns * S::kTile.blocks_per_sm <= 4) return columns;
    }
    return 1;
  }

  /// SwiGLU of gate rows and up rows, by 8 in each strip: two elements at a time.
  static __device__ void write_gated(const OutRows& rows, const BlockTile& block, const std::byte* smem, int thread) {
    constexpr int kStep = kThreads / kWords, kAtOnce = at_once(kStep);
    const int word = thread % kWords, first = block.strip * 8 + word * 2;
    if (word >= block.strips * 4 || first >= rows.width) return;  // a padded last strip has rows that `out` lacks
    int column = thread / kWords;
    const std::byte* from = smem + column * kPitch + word / 4 * kStripBytes + word % 4 * 4;
    uint16_t* out = rows.out + column * rows.stride + first;
    const int64_t stride = kStep * rows.stride;
    const auto gate_at = [](const std::byte* p) { return *reinterpret_cast<const uint32_t*>(p); };
    const auto up_at = [](const std::byte* p) { return *reinterpret_cast<const uint32_t*>(p + kStripBytes / 2); };
#pragma unroll 1
    for (; column < block.tile.columns; column += kStep * kAtOnce) {
      bool all_ordinary = true;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const std::byte* p = from + i * kStep * kPitch;
        all_ordinary &= column + i * kStep >= block.tile.columns || ordinary(gate_at(p), up_at(p));
      }
      uint32_t pairs[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const std::byte* p = from + i * kStep * kPitch;
        pairs[i] = swiglu_pair_ordinary(gate_at(p), up_at(p));
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (column + i * kStep < block.tile.columns) *reinterpret_cast<uint32_t*>(out + i * stride) = pairs[i];
      }
      if (!all_ordinary) {
#pragma unroll 1
        for (int i = 0; i < kAtOnce && column + i * kStep < block.tile.columns; ++i) {
          const std::byte* p = from + i * kStep * kPitch;
          *reinterpret_cast<uint32_t*>(out + i * stride) = swiglu_pair(gate_at(p), up_at(p));
        }
      }
      from += kAtOnce * kStep * kPitch;
      out += kAtOnce * stride;
    }
  }

  /// 16 bytes at a time. tails: the width need not be a multiple of 8.
  template <bool tails>
  static __device__ void write(const OutRows& rows, const BlockTile& block, const std::byte* smem, int thread) {
    constexpr int kStep = kThreads / kChunks, kAtOnce = at_once(kStep);
    const int chunk = thread % kChunks, first = block.strip * plan::kMmaRows + chunk * 8;
    if (chunk >= block.strips * 2 || first >= rows.width) return;
    int column = thread / kChunks;
    const std::byte* from = smem + column * kPitch + chunk * 16;
    uint16_t* out = rows.out + column * rows.stride + first;
    const int64_t stride = kStep * rows.stride;
    if (tails && first + 8 > rows.width) {
#pragma unroll 1
      for (; column < block.tile.columns; column += kStep, from += kStep * kPitch, out += stride) {
        for (int i = 0; first + i < rows.width; ++i) out[i] = reinterpret_cast<const uint16_t*>(from)[i];
      }
      return;
    }
#pragma unroll 1
    for (; column < block.tile.columns; column += kStep * kAtOnce) {
      uint4 values[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) values[i] = *reinterpret_cast<const uint4*>(from + i * kStep * kPitch);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (column + i * kStep < block.tile.columns) *reinterpret_cast<uint4*>(out + i * stride) = values[i];
      }
      from += kAtOnce * kStep * kPitch;
      out += kAtOnce * stride;
    }
  }
};

/// Called by all consumer warps. The sums go to shared memory, where the stages were, scaled and rounded to BF16.
///   S: the kernel's shape; sum(i, c): accumulators of strip i and column block c of the warp, in the MMA's order
template <typename S, typename Factors, typename Sum>
__device__ inline void stage_rows(const Factors& factors, uint32_t smem_address, int warp, int lane, const Sum& sum) {
  using Rows = Staged<S>;
  const int first_strip = warp % S::kWarpsM * S::kWarpStrips;
  float2 alpha[S::kWarpStrips];
#pragma unroll
  for (int i = 0; i < S::kWarpStrips; ++i) alpha[i] = factors.of_rows(first_strip + i, lane / 4);
  ptx::barrier_sync(1, Rows::kThreads);  // every warp has read its last stage
  const uint32_t at = smem_address + (warp / S::kWarpsM * S::kWarpCols * plan::kMmaCols + (lane & 7)) * Rows::kPitch +
                      first_strip * Rows::kStripBytes + (lane & 8) * 2;
#pragma unroll
  for (int i = 0; i < S::kWarpStrips; ++i) {
#pragma unroll
    for (int c = 0; c < S::kWarpCols; ++c) {
      const float4 v = sum(i, c);
      ptx::stmatrix_x2_trans(at + c * plan::kMmaCols * Rows::kPitch + i * Rows::kStripBytes,
                             ptx::cvt_bf16x2(__fmul_rn(v.y, alpha[i].x), __fmul_rn(v.x, alpha[i].x)),
                             ptx::cvt_bf16x2(__fmul_rn(v.w, alpha[i].y), __fmul_rn(v.z, alpha[i].y)));
    }
  }
  ptx::barrier_sync(1, Rows::kThreads);
}

/// Called by all consumer warps: to `out`, SwiGLU on the way.
template <typename S, typename Sum>
__device__ inline void write_rows(const GemmArgs& args, const BlockTile& block, std::byte* smem, uint32_t smem_address,
                                  int warp, int lane, const Sum& sum) {
  stage_rows<S>(RowFactors<GemmArgs>(args, block), smem_address, warp, lane, sum);
  const OutRows rows{args.out + int64_t{block.tile.first_slot} * args.width, args.width, args.width};
  if (args.swiglu) {
    Staged<S>::write_gated(rows, block, smem, warp * 32 + lane);
  } else {
    Staged<S>::template write<false>(rows, block, smem, warp * 32 + lane);
  }
}

}  // namespace tessera::kernels::cuda
