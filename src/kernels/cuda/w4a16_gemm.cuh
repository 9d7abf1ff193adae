#pragma once

#include <cstdint>

#include "kernels/cuda/decode.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/grouped_gemm.h"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/ptx/barrier_sync.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/cp_async_bulk.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "plan/budget.h"
#include "plan/registers.h"

// The W4A16 grouped product: 4-bit weights (M) times BF16 tokens (N).
//
// One block computes tile.m weight rows of up to tile.n slots of one group. A producer warp fills stages: weights by
// one bulk copy a strip, activations by 16-byte copies, in each slice and 8 columns as [k half][column][16 bytes],
// which is the order of lanes, so that consumers read without bank conflicts. Columns without a slot, and K beyond the
// depth, are zeros. Consumer warps own whole strips and all columns: each weight is decoded once.
//
// Same bits for every tile: an accumulator is summed serially over slices of K = 64, in each by MMAs 0..3 (atom.h),
// from zero in each K segment; segments are added in ascending order by fp32 additions. Slices beyond the depth are not
// multiplied, so that the number of steps depends on the depth alone.
namespace tessera::kernels::cuda {

namespace w4a16 {

/// Shared memory of a block (plan/budget.h) and the loop constants of its tile.
template <typename Budget>
struct Shape {
  static constexpr plan::Tile kTile = Budget::kTile;
  static constexpr int kStages = kTile.stages;
  static constexpr int kStageBytes = Budget::kSmem.stage_bytes;
  static constexpr int kActivations = Budget::kSmem.activations_offset;
  static constexpr int kColumns = Budget::kSmem.columns_offset;
  static constexpr int kSlices = kTile.k / kSliceDepth;
  static constexpr int kSliceBytes = plan::weight_slice_bytes(kTile.format);
  static constexpr int kStrips = kTile.m / kAtomRows;
  static constexpr int kWarpsM = kTile.warps_m;
  static constexpr int kWarpStrips = kStrips / kWarpsM;
  static constexpr int kCols = kTile.n / plan::kMmaCols;
  static constexpr int kWarpCols = kCols;
  static constexpr int kColBytes = plan::kMmaCols * kSliceDepth * 2;  // of one slice
  static constexpr int kConsumers = kTile.warps_m;
  static constexpr bool kFolds = plan::folds_segments(kTile);
  static constexpr bool kSplits = plan::splits_segments(kTile);
  static_assert(kTile.warps_n == 1 && kStrips <= 32);

  using Ring = Pipeline<kStages, Budget::kSmem.barriers_offset>;
};

/// What a block works on.
struct BlockWork : BlockTile {
  int first_slice;  // of K
  int slices;
};

/// First slice of segment s: plan::segment_begin.
__device__ inline int segment_slice(const GemmArgs& args, int s) {
  const int units = (args.depth + kAtomDepth - 1) / kAtomDepth;
  const int slices = (args.depth + kSliceDepth - 1) / kSliceDepth;
  return min(s * units / args.segments * (kAtomDepth / kSliceDepth), slices);
}

// ---- producer ----

template <typename Budget>
__device__ void load_weights(const GemmArgs& args, const BlockWork& work, uint32_t smem, int step, int stage,
                             int lane) {
  using S = Shape<Budget>;
  const int slices = min(S::kSlices, work.slices - step * S::kSlices);
  const uint32_t bytes = slices * S::kSliceBytes;
  if (lane == 0) ptx::mbarrier_arrive_expect_tx(S::Ring::full(smem, stage), bytes * work.strips);
  __syncwarp();
  if (lane < work.strips) {
    const int64_t strip_bytes = int64_t{args.atoms} * (kAtomDepth / kSliceDepth) * S::kSliceBytes;
    const std::byte* from = args.weights + work.tile.group * args.group_bytes + (work.strip + lane) * strip_bytes +
                            int64_t{work.first_slice + step * S::kSlices} * S::kSliceBytes;
    ptx::cp_async_bulk(smem + stage * S::kStageBytes + lane * (S::kSlices * S::kSliceBytes), from, bytes,
                       S::Ring::full(smem, stage));
  }
}

template <typename Budget>
__device__ void load_activations(const GemmArgs& args, const BlockWork& work, uint32_t smem, const int32_t* columns,
                                 int step, int stage, int lane) {
  using S = Shape<Budget>;
  const int slices = min(S::kSlices, work.slices - step * S::kSlices);
  const int k0 = (work.first_slice + step * S::kSlices) * kSliceDepth + lane % 4 * 8;
  const uint32_t to = smem + stage * S::kStageBytes + S::kActivations + lane * 16;
#pragma unroll 2
  for (int c = 0; c < S::kCols; ++c) {
    const int column = c * plan::kMmaCols + lane / 4;
    const uint16_t* row = args.x + int64_t{columns[column]} * args.depth;
    const bool exists = column < work.tile.columns;
#pragma unroll 1
    for (int s = 0; s < slices; ++s) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int k = k0 + s * kSliceDepth + half * 32;
        const bool inside = exists && k < args.depth;
        ptx::cp_async_cg_16(to + (s * S::kCols + c) * S::kColBytes + half * 512, inside ? row + k : args.x,
                            inside ? 16 : 0);
      }
    }
  }
  ptx::cp_async_mbarrier_arrive_noinc(S::Ring::full(smem, stage));
}

template <typename Budget>
__device__ void produce(const GemmArgs& args, const BlockWork& work, uint32_t smem, int32_t* columns, int lane) {
  using S = Shape<Budget>;
  const int steps = (work.slices + S::kSlices - 1) / S::kSlices;
  for (int step = 0; step < min(steps, S::kStages); ++step) load_weights<Budget>(args, work, smem, step, step, lane);
  if (args.weights_early) ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  for (int i = lane; i < S::kTile.n; i += 32) {
    const int slot = work.tile.first_slot + i;
    columns[i] = i >= work.tile.columns ? 0 : args.x_rows != nullptr ? __ldcg(args.x_rows + slot) : slot;
  }
  __syncwarp();
  typename S::Ring::Place at{.parity = 1};
  for (int step = 0; step < steps; ++step) {
    ptx::mbarrier_wait_parity(S::Ring::empty(smem, at.stage), at.parity);
    if (step >= S::kStages) load_weights<Budget>(args, work, smem, step, at.stage, lane);
    load_activations<Budget>(args, work, smem, columns, step, at.stage, lane);
    at.advance();
  }
}

// ---- consumer ----

template <typename Budget>
using Accumulators = float[Shape<Budget>::kWarpStrips][Shape<Budget>::kCols][4];

/// One slice of K = 64.
template <typename Budget>
__device__ inline void multiply_slice(const std::byte* stage, int slice, int warp, int lane,
                                      Accumulators<Budget>& acc) {
  using S = Shape<Budget>;
  uint32_t a[S::kWarpStrips][4][4];
#pragma unroll
  for (int i = 0; i < S::kWarpStrips; ++i) {
    const int strip = warp * S::kWarpStrips + i;
    decode_slice<S::kTile.format>(stage + (strip * S::kSlices + slice) * S::kSliceBytes, lane, a[i]);
  }
  const std::byte* x = stage + S::kActivations + slice * S::kCols * S::kColBytes + lane * 16;
#pragma unroll
  for (int c = 0; c < S::kCols; ++c) {
    const uint4 low = *reinterpret_cast<const uint4*>(x + c * S::kColBytes);
    const uint4 high = *reinterpret_cast<const uint4*>(x + c * S::kColBytes + 512);
#pragma unroll
    for (int i = 0; i < S::kWarpStrips; ++i) {
      ptx::mma_m16n8k16_bf16(acc[i][c], a[i][0], low.x, low.y);
      ptx::mma_m16n8k16_bf16(acc[i][c], a[i][1], low.z, low.w);
      ptx::mma_m16n8k16_bf16(acc[i][c], a[i][2], high.x, high.y);
      ptx::mma_m16n8k16_bf16(acc[i][c], a[i][3], high.z, high.w);
    }
  }
}

/// Stages [step, end) of this block's K range; `at` runs on from call to call.
template <typename Budget>
__device__ inline void multiply_steps(const BlockWork& work, const std::byte* smem, uint32_t smem_address, int step,
                                      int end, typename Shape<Budget>::Ring::Place& at, int warp, int lane,
                                      Accumulators<Budget>& acc) {
  using S = Shape<Budget>;
  for (; step < end; ++step) {
    ptx::mbarrier_wait_parity(S::Ring::full(smem_address, at.stage), at.parity);
    const std::byte* from = smem + at.stage * S::kStageBytes;
    const int slices = min(S::kSlices, work.slices - step * S::kSlices);
    if (S::kCols <= 2 && slices == S::kSlices) {  // few MMAs between loads: let them overlap across slices
#pragma unroll
      for (int s = 0; s < S::kSlices; ++s) multiply_slice<Budget>(from, s, warp, lane, acc);
    } else {
#pragma unroll 1
      for (int s = 0; s < slices; ++s) multiply_slice<Budget>(from, s, warp, lane, acc);
    }
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive(S::Ring::empty(smem_address, at.stage));
    at.advance();
  }
}

template <typename Budget, typename Each>
__device__ inline void for_each_accumulator(Each&& each) {
  using S = Shape<Budget>;
#pragma unroll
  for (int i = 0; i < S::kWarpStrips; ++i) {
#pragma unroll
    for (int c = 0; c < S::kCols; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) each(i, c, e);
    }
  }
}

/// Writes this segment's sums, and in the last block to come, adds all segments in order. Returns whether this is that
/// block. The order of arrival decides who adds, not what. Sums lie as threads hold them, four to a load.
template <typename Budget>
__device__ inline bool combine_segments(const GemmArgs& args, int32_t* shared_word, int warp, int lane,
                                        Accumulators<Budget>& acc) {
  using S = Shape<Budget>;
  constexpr int kThreads = S::kConsumers * 32;
  constexpr int kQuads = S::kWarpStrips * S::kCols;
  const int64_t segment_quads = int64_t{gridDim.x} * kQuads * kThreads;
  float4* quads = reinterpret_cast<float4*>(args.partials) + int64_t{blockIdx.x} * kQuads * kThreads + warp * 32 + lane;
  float4* mine = quads + blockIdx.y * segment_quads;
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    const float(&v)[4] = acc[i / S::kCols][i % S::kCols];
    __stcg(mine + i * kThreads, float4{v[0], v[1], v[2], v[3]});
  }
  __threadfence();
  ptx::barrier_sync(1, kThreads);
  if (warp == 0 && lane == 0) {
    const int32_t before = atomicAdd(args.tickets + blockIdx.x, 1);
    if (before == args.segments - 1) args.tickets[blockIdx.x] = 0;
    *shared_word = before;
  }
  ptx::barrier_sync(1, kThreads);
  if (*shared_word != args.segments - 1) return false;
  __threadfence();
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    float(&v)[4] = acc[i / S::kCols][i % S::kCols];
    const float4 first = __ldcg(quads + i * kThreads);
    v[0] = first.x, v[1] = first.y, v[2] = first.z, v[3] = first.w;
  }
#pragma unroll 1
  for (int segment = 1; segment < args.segments; ++segment) {
    quads += segment_quads;
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
      float(&v)[4] = acc[i / S::kCols][i % S::kCols];
      const float4 part = __ldcg(quads + i * kThreads);
      v[0] = __fadd_rn(v[0], part.x), v[1] = __fadd_rn(v[1], part.y);
      v[2] = __fadd_rn(v[2], part.z), v[3] = __fadd_rn(v[3], part.w);
    }
  }
  return true;
}

template <typename Budget>
__device__ void consume(const GemmArgs& args, const BlockWork& work, std::byte* smem, uint32_t smem_address,
                        int32_t* shared_word, int warp, int lane) {
  using S = Shape<Budget>;
  Accumulators<Budget> acc = {};
  typename S::Ring::Place at;
  const int steps = (work.slices + S::kSlices - 1) / S::kSlices;
  if constexpr (S::kFolds) {
    const int segments = args.partials != nullptr ? 1 : args.segments;
    Accumulators<Budget> total = {};
    int step = 0;
#pragma unroll 1
    for (int segment = 0; segment < segments; ++segment) {
      const int end = segment + 1 == segments ? steps : segment_slice(args, segment + 1) / S::kSlices;
      for_each_accumulator<Budget>([&](int i, int c, int e) { acc[i][c][e] = 0.0F; });
      multiply_steps<Budget>(work, smem, smem_address, step, end, at, warp, lane, acc);
      for_each_accumulator<Budget>([&](int i, int c, int e) {
        total[i][c][e] = segment == 0 ? acc[i][c][e] : __fadd_rn(total[i][c][e], acc[i][c][e]);
      });
      step = end;
    }
    for_each_accumulator<Budget>([&](int i, int c, int e) { acc[i][c][e] = total[i][c][e]; });
  } else {
    multiply_steps<Budget>(work, smem, smem_address, 0, steps, at, warp, lane, acc);
  }
  if constexpr (S::kSplits) {
    if (args.partials != nullptr && !combine_segments<Budget>(args, shared_word, warp, lane, acc)) return;
  }
  write_rows<S>(args, work, smem, smem_address, warp, lane, [&](int i, int c) {
    const float(&v)[4] = acc[i][c];
    return float4{v[0], v[1], v[2], v[3]};
  });
}

}  // namespace w4a16

template <typename Budget>
__global__ void __launch_bounds__(Budget::kThreads, Budget::kTile.blocks_per_sm)
    w4a16_gemm(const __grid_constant__ GemmArgs args) {
  using S = w4a16::Shape<Budget>;
  std::byte* smem = ptx::dynamic_shared_memory();
  const uint32_t smem_address = ptx::shared_address(smem);
  auto* columns = reinterpret_cast<int32_t*>(smem + S::kColumns);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;

  if (!args.weights_early) ptx::griddepcontrol_wait();
  w4a16::BlockWork work;
  if (!find_block_tile(args, S::kStrips, work)) return;
  const bool one_segment = args.partials != nullptr;
  work.first_slice = one_segment ? w4a16::segment_slice(args, static_cast<int>(blockIdx.y)) : 0;
  work.slices =
      w4a16::segment_slice(args, one_segment ? static_cast<int>(blockIdx.y) + 1 : args.segments) - work.first_slice;

  // A stage is filled by the bytes that lane 0 announces and by each producer lane's own copies.
  if (threadIdx.x == 0) S::Ring::init(smem_address, 1 + 32, S::kConsumers);
  __syncthreads();
  if (warp == S::kConsumers) {
    w4a16::produce<Budget>(args, work, smem_address, columns, lane);
  } else {
    w4a16::consume<Budget>(args, work, smem, smem_address, columns, warp, lane);
  }
}

}  // namespace tessera::kernels::cuda
