#pragma once

#include <cstdint>

#include "kernels/atom.h"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/grouped_gemm.h"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/quantize.h"
#include "kernels/ptx/cp_async_bulk.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mma_fp4.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "plan/budget.h"

// The grouped product of W4A4 for one tile. A block computes m weight rows by n columns of one group over all of K. One
// producer warp fills a ring of stages with bulk copies alone, weights and activations; the other warps multiply; the
// epilogue overlays the stages.
namespace tessera::kernels::cuda {

namespace w4a4 {

/// Shared memory of a block (plan/budget.h) and the loop constants of its tile.
template <typename Budget>
struct Shape {
  static constexpr plan::Tile kTile = Budget::kTile;
  static constexpr bool kMxfp4 = kTile.format == WeightFormat::mxfp4;
  static constexpr int kStages = kTile.stages;
  static constexpr int kStageBytes = Budget::kSmem.stage_bytes;
  static constexpr int kActivations = Budget::kSmem.activations_offset;
  static constexpr int kSlices = kTile.k / kSliceDepth;
  static constexpr int kWeightBytes = plan::weight_slice_bytes(kTile.format);  // of a slice
  static constexpr int kActivationBytes = plan::activation_slice_bytes(plan::Path::w4a4, kTile.format);
  static constexpr int kActivationCodes = plan::kMmaCols * kSliceDepth / 2;
  static constexpr int kScaleBytes = kSliceDepth / plan::scale_group(kTile.format);  // of a row or column in a slice
  static constexpr int kStrips = kTile.m / kAtomRows;
  static constexpr int kCols = kTile.n / plan::kMmaCols;
  static constexpr int kWarpsM = kTile.warps_m;
  static constexpr int kWarpStrips = kStrips / kWarpsM;
  static constexpr int kWarpCols = kCols / kTile.warps_n;
  static constexpr int kConsumers = plan::consumer_warps(kTile);
  static constexpr int kSliceUnroll = TESSERA_NATIVE_FP4_MMA == 1 ? kSlices : 1;  // emulated, they are calls, and many
  static_assert(kTile.path == plan::Path::w4a4);

  using Ring = Pipeline<kStages, Budget::kSmem.barriers_offset>;
};

/// What a block works on.
struct BlockWork : BlockTile {
  int cols;    // column blocks with a column, at most tile.n / 8
  int slices;  // of K
};

/// A slice's scales of one row or column: 4 bytes, or 2 in the low half.
template <bool mxfp4>
__device__ inline uint32_t load_scales(const std::byte* p) {
  if constexpr (mxfp4) return *reinterpret_cast<const uint16_t*>(p);
  return *reinterpret_cast<const uint32_t*>(p);
}

template <typename Budget>
__device__ inline void produce(const GemmArgs& args, const BlockWork& work, uint32_t smem, int lane) {
  using S = Shape<Budget>;
  const int64_t strip_bytes = plan::slices(args.depth) * S::kWeightBytes;
  const std::byte* weights = args.group_weights(work.tile.group) + work.strip * strip_bytes;
  const int64_t col_bytes = int64_t{work.slices} * S::kActivationBytes;
  const std::byte* activations = args.activations + column_block(work.tile.first_slot, work.tile.group) * col_bytes;
  for (int step = 0, slice = 0; slice < work.slices; ++step, slice += S::kSlices) {
    S::Ring::wait_until_empty(smem, step);
    const int stage = step % S::kStages, slices = min(S::kSlices, work.slices - slice);
    const uint32_t weight_bytes = slices * S::kWeightBytes, activation_bytes = slices * S::kActivationBytes;
    const uint32_t full = S::Ring::full(smem, stage);
    if (lane == 0) {
      ptx::mbarrier_arrive_expect_tx(full, work.strips * weight_bytes + work.cols * activation_bytes);
    }
    __syncwarp();
    const uint32_t to = smem + stage * S::kStageBytes;
    for (int i = lane; i < work.strips; i += 32) {
      ptx::cp_async_bulk(to + i * (S::kSlices * S::kWeightBytes),
                         weights + i * strip_bytes + int64_t{slice} * S::kWeightBytes, weight_bytes, full);
    }
    for (int i = lane; i < work.cols; i += 32) {
      ptx::cp_async_bulk(to + S::kActivations + i * (S::kSlices * S::kActivationBytes),
                         activations + i * col_bytes + int64_t{slice} * S::kActivationBytes, activation_bytes, full);
    }
  }
}

template <typename Budget>
using Accumulators = float4[Shape<Budget>::kWarpStrips][Shape<Budget>::kWarpCols];

/// One slice of a stage: every MMA of a warp's tile. `cols` of its column blocks hold columns.
template <typename Budget>
__device__ inline void multiply_slice(const std::byte* weights, const std::byte* activations, int cols, int lane,
                                      Accumulators<Budget>& d) {
  using S = Shape<Budget>;
  constexpr auto kVec = S::kMxfp4 ? ptx::ScaleVec::x2_ue8m0 : ptx::ScaleVec::x4_ue4m3;
  // Two strips at a time: four of them with 128 accumulators spill from the 168 registers that 9 warps leave each.
  constexpr int kAtOnce = S::kWarpStrips < 2 ? S::kWarpStrips : 2;
#pragma unroll
  for (int first = 0; first < S::kWarpStrips; first += kAtOnce) {
    uint4 a[kAtOnce];
    uint32_t scale_a[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const std::byte* slice = weights + (first + i) * (S::kSlices * S::kWeightBytes);
      a[i] = *reinterpret_cast<const uint4*>(slice + lane * 16);
      // Lanes q = 0 and 1 bring rows g and g + 8; lanes 2 and 3 read the same words and are not asked.
      scale_a[i] = load_scales<S::kMxfp4>(slice + kSliceCodeBytes + (lane / 4 * 2 + lane % 2) * S::kScaleBytes);
    }
#pragma unroll
    for (int j = 0; j < S::kWarpCols; ++j) {
      if (j >= cols) continue;
      const std::byte* slice = activations + j * (S::kSlices * S::kActivationBytes);
      const uint2 b = *reinterpret_cast<const uint2*>(slice + lane * 8);
      const uint32_t scale_b = load_scales<S::kMxfp4>(slice + S::kActivationCodes + lane / 4 * S::kScaleBytes);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) ptx::mma_fp4<kVec>(d[first + i][j], a[i], b, scale_a[i], scale_b);
    }
  }
}

template <typename Budget>
__device__ inline void consume(const GemmArgs& args, const BlockWork& work, std::byte* smem, uint32_t smem_address,
                               int warp, int lane) {
  using S = Shape<Budget>;
  const int first_col = warp / S::kWarpsM * S::kWarpCols;
  const int weights = warp % S::kWarpsM * S::kWarpStrips * S::kSlices * S::kWeightBytes;
  const int activations = S::kActivations + first_col * S::kSlices * S::kActivationBytes;
  RowFactors<GemmArgs>(args, work).prefetch(lane);  // for write_rows
  Accumulators<Budget> d = {};
  typename S::Ring::Place at;
  for (int slice = 0; slice < work.slices; slice += S::kSlices) {
    ptx::mbarrier_wait_parity(S::Ring::full(smem_address, at.stage), at.parity);
    const std::byte* from = smem + at.stage * S::kStageBytes;
#pragma unroll(S::kSliceUnroll)
    for (int s = 0; s < S::kSlices; ++s) {
      if (slice + s >= work.slices) continue;
      multiply_slice<Budget>(from + weights + s * S::kWeightBytes, from + activations + s * S::kActivationBytes,
                             work.cols - first_col, lane, d);
    }
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive(S::Ring::empty(smem_address, at.stage));
    at.advance();
  }
  write_rows<S>(args, work, smem, smem_address, warp, lane, [&](int i, int j) { return d[i][j]; });
}

}  // namespace w4a4

template <typename Budget>
__global__ void __launch_bounds__(Budget::kThreads, Budget::kTile.blocks_per_sm)
    w4a4_gemm(const __grid_constant__ GemmArgs args) {
  using S = w4a4::Shape<Budget>;
  std::byte* smem = ptx::dynamic_shared_memory();
  const uint32_t smem_address = ptx::shared_address(smem);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;

  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  w4a4::BlockWork work;
  if (!find_block_tile(args, S::kStrips, work)) return;
  work.cols = (work.tile.columns + plan::kMmaCols - 1) / plan::kMmaCols;
  work.slices = (args.depth + kSliceDepth - 1) / kSliceDepth;

  if (threadIdx.x == 0) S::Ring::init(smem_address, 1, S::kConsumers);
  __syncthreads();
  if (warp == S::kConsumers) {
    w4a4::produce<Budget>(args, work, smem_address, lane);
  } else {
    w4a4::consume<Budget>(args, work, smem, smem_address, warp, lane);
  }
}

}  // namespace tessera::kernels::cuda
