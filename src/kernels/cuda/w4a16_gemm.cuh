#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/decode.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/grouped_gemm.h"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/ptx/barrier_sync.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/prefetch.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "plan/budget.h"
#include "plan/registers.h"

// The W4A16 grouped product: 4-bit weights (M) times BF16 tokens (N).
//
// One block computes tile.m weight rows of up to tile.n slots of one group. Consumer warps own whole strips and all
// columns: each weight is decoded once. Activations lie in a stage in the order of lanes, in each slice and 8 columns
// as [k half][column][4 x 16 bytes], so that consumers read without bank conflicts; K beyond the depth is zeros.
// Columns without a slot hold the last slot's or anything: no MMA mixes columns, and none of theirs is written.
//
// A warp loads the weights of its own strips, and nobody else reads them: it waits for its own copies alone, and loads
// again as soon as the next stage is there, whatever other warps do. Activations are everybody's and go by the ring's
// barriers: in decode tiles a warp more brings them, since a step is short; in prefill tiles all consumers do, and have
// its registers.
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
  static constexpr int kSlices = kTile.k / kSliceDepth;
  static constexpr int kSliceBytes = plan::weight_slice_bytes(kTile.format);
  static constexpr int kStrips = kTile.m / kAtomRows;
  static constexpr int kWarpsM = kTile.warps_m;
  static constexpr int kWarpStrips = kStrips / kWarpsM;
  static constexpr int kCols = kTile.n / plan::kMmaCols;
  static constexpr int kWarpCols = kCols;
  static constexpr int kColBytes = plan::kMmaCols * kSliceDepth * 2;  // of one slice
  static constexpr int kConsumers = kTile.warps_m;
  static constexpr bool kConsumersLoad = plan::producer_warps(kTile) == 0;  // activations
  static constexpr int kLoaders = kConsumersLoad ? kConsumers : plan::producer_warps(kTile);
  static constexpr bool kFolds = plan::folds_segments(kTile);
  static constexpr bool kSplits = plan::splits_segments(kTile);
  static_assert(kTile.warps_n == 1 && (kWarpStrips == 1 || kWarpStrips == 2));

  using Ring = Pipeline<kStages, Budget::kSmem.barriers_offset>;

  static __device__ int steps(int slices) { return (slices + kSlices - 1) / kSlices; }
};

/// What a block works on.
struct BlockWork : BlockTile {
  int cols;         // column blocks with a column, at most tile.n / 8
  int first_slice;  // of K
  int slices;
};

/// First slice of segment s: plan::segment_begin.
__device__ inline int segment_slice(const GemmArgs& args, int s) {
  const int units = (args.depth + kAtomDepth - 1) / kAtomDepth;
  const int slices = (args.depth + kSliceDepth - 1) / kSliceDepth;
  return min(s * units / args.segments * (kAtomDepth / kSliceDepth), slices);
}

// ---- loads ----

/// Brings the weights of one consumer warp, stage by stage. For strips that do not exist, those of another: nothing is
/// written of them.
template <typename Budget>
class WeightLoads {
  using S = Shape<Budget>;

 public:
  /// Issues the loads of the first kStages - 1 steps.
  __device__ WeightLoads(const GemmArgs& args, const BlockWork& work, uint32_t smem, int warp, int lane) {
    const int strip = warp * S::kWarpStrips + lane / kLanes;
    const int64_t strip_bytes = int64_t{args.atoms} * (kAtomDepth / kSliceDepth) * S::kSliceBytes;
    from_ = args.weights + work.tile.group * args.group_bytes +
            (work.strip + min(strip, work.strips - 1)) * strip_bytes + work.first_slice * S::kSliceBytes +
            first_byte(lane);
    to_ = smem + strip * kStepBytes + first_byte(lane);
#pragma unroll 1
    for (int step = 0; step < S::kStages - 1; ++step) load(work, step, false, lane);
  }

  /// Waits for `step`, which is in `stage`, and issues the load of the stage before it, which the warp has read.
  __device__ void wait_and_load(const BlockWork& work, int step, int stage, int lane) {
    ptx::cp_async_wait_group<S::kStages - 2>();
    __syncwarp();  // what each lane has brought and has read, for all lanes
    load(work, step + S::kStages - 1, stage == 0, lane);
  }

 private:
  static constexpr int kLanes = 32 / S::kWarpStrips;  // of a strip
  static constexpr int kStepBytes = S::kSlices * S::kSliceBytes;

  static __device__ int first_byte(int lane) { return lane % kLanes * 16; }

  __device__ void load(const BlockWork& work, int step, bool last_stage, int lane) {
    const int bytes = min(S::kSlices, work.slices - step * S::kSlices) * S::kSliceBytes - first_byte(lane);
#pragma unroll
    for (int i = 0; i < kStepBytes; i += kLanes * 16) {
      if (i < bytes) ptx::cp_async_cg_16(to_ + i, from_ + i);
    }
    ptx::cp_async_commit_group();  // after the last step, of nothing
    from_ += kStepBytes;
    to_ += last_stage ? (1 - S::kStages) * S::kStageBytes : S::kStageBytes;
  }

  const std::byte* from_;
  uint32_t to_;
};

/// Brings activations, as one of kLoaders warps: every kLoaders-th column block. Lane 4 c + q brings bytes 16 q of
/// column c, of both halves of a slice. Through L1: blocks of one column tile read the same rows at the same time, and
/// for one token all blocks do, which would queue up at the L2 slices that have them.
template <typename Budget>
class ActivationLoads {
  using S = Shape<Budget>;

 public:
  /// After the kernel's PDL wait.
  __device__ ActivationLoads(const GemmArgs& args, const BlockWork& work, int loader, int lane)
      : loader_(loader), lane_(lane), k_(work.first_slice * kSliceDepth + lane % 4 * 8) {
#pragma unroll
    for (int i = 0; i < kMine; ++i) {
      const int column = (i * S::kLoaders + loader) * plan::kMmaCols + lane / 4;
      const int slot = work.tile.first_slot + min(column, work.tile.columns - 1);
      const int64_t row = args.x_rows != nullptr ? __ldcg(args.x_rows + slot) : slot;
      rows_[i] = args.x + row * args.depth + k_;
    }
  }

  /// The next step, `step`.
  __device__ void load(const GemmArgs& args, const BlockWork& work, uint32_t smem, int step) {
    const int stage = step % S::kStages;
    const int slices = work.slices - step * S::kSlices;
    const uint32_t to = smem + stage * S::kStageBytes + S::kActivations + loader_ * S::kColBytes + lane_ * 16;
#pragma unroll
    for (int i = 0; i < kMine; ++i) {
      if (i * S::kLoaders + loader_ >= work.cols) break;
#pragma unroll
      for (int s = 0; s < S::kSlices; ++s) {
        if (s >= slices) break;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int offset = s * kSliceDepth + half * 32;
          ptx::cp_async_ca_16(to + (s * S::kCols + i * S::kLoaders) * S::kColBytes + half * 512, rows_[i] + offset,
                              k_ + offset < args.depth ? 16 : 0);
        }
      }
    }
    ptx::cp_async_mbarrier_arrive_noinc(S::Ring::full(smem, stage));
    k_ += S::kTile.k;
#pragma unroll
    for (int i = 0; i < kMine; ++i) rows_[i] += S::kTile.k;
  }

 private:
  static constexpr int kMine = (S::kCols + S::kLoaders - 1) / S::kLoaders;

  int loader_, lane_, k_;
  const uint16_t* rows_[kMine];
};

template <typename Budget>
__device__ void produce_activations(const GemmArgs& args, const BlockWork& work, uint32_t smem, int loader, int lane) {
  using S = Shape<Budget>;
  if (args.weights_early) ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  ActivationLoads<Budget> activations(args, work, loader, lane);
  for (int step = 0; step < S::steps(work.slices); ++step) {
    S::Ring::wait_until_empty(smem, step);
    activations.load(args, work, smem, step);
  }
}

// ---- consumer ----

template <typename Budget>
using Accumulators = float[Shape<Budget>::kWarpStrips][Shape<Budget>::kCols][4];

/// A warp's weights of one slice of K = 64, decoded.
template <typename Budget>
using Fragments = uint32_t[Shape<Budget>::kWarpStrips][4][4];

template <typename Budget>
__device__ inline void decode(const std::byte* stage, int slice, int warp, int lane, Fragments<Budget>& a) {
  using S = Shape<Budget>;
#pragma unroll
  for (int i = 0; i < S::kWarpStrips; ++i) {
    const int strip = warp * S::kWarpStrips + i;
    decode_slice<S::kTile.format>(stage + (strip * S::kSlices + slice) * S::kSliceBytes, lane, a[i]);
  }
}

/// The MMAs of one slice. `cols` of its column blocks hold columns.
template <typename Budget>
__device__ inline void multiply(const std::byte* stage, int slice, int cols, int lane, const Fragments<Budget>& a,
                                Accumulators<Budget>& acc) {
  using S = Shape<Budget>;
  const std::byte* x = stage + S::kActivations + slice * S::kCols * S::kColBytes + lane * 16;
  // Column blocks at once: so that an MMA does not wait for the one before. In narrow tiles of two strips one, since so
  // many of them have a single column block, and decoding stands between.
  constexpr int kAtOnce = S::kWarpStrips == 2 && S::kCols <= 3 ? 1 : 4 / S::kWarpStrips;
  // Ways out at every eighth, in narrow tiles in the middle, and in the last third, since wide tiles are chosen to be
  // nearly full. No more: the compiler loads columns ahead of their MMAs, but not across a branch.
  constexpr int kWayOut = S::kCols < 8 ? std::max(S::kCols / 2 / kAtOnce, 1) * kAtOnce : 8;
  constexpr int kLastThird = (2 * S::kCols + 2) / 3;
#pragma unroll
  for (int first = 0; first < S::kCols; first += kAtOnce) {
    if (first > 0 && (first % kWayOut == 0 || first >= kLastThird) && first >= cols) break;
    uint4 low[kAtOnce], high[kAtOnce];
#pragma unroll
    for (int c = 0; c < kAtOnce; ++c) {
      if (first + c >= S::kCols) continue;
      low[c] = *reinterpret_cast<const uint4*>(x + (first + c) * S::kColBytes);
      high[c] = *reinterpret_cast<const uint4*>(x + (first + c) * S::kColBytes + 512);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int c = 0; c < kAtOnce; ++c) {
        if (first + c >= S::kCols) continue;
        const uint4& b = j < 2 ? low[c] : high[c];
#pragma unroll
        for (int i = 0; i < S::kWarpStrips; ++i) {
          ptx::mma_m16n8k16_bf16(acc[i][first + c], a[i][j], j % 2 == 0 ? b.x : b.z, j % 2 == 0 ? b.y : b.w);
        }
      }
    }
  }
}

/// Steps [step, end) of this block's K range; `at` and `weights` run on from call to call. load_ahead(step) is called
/// in each, after its first slice: by then other warps too have left the stage before.
template <typename Budget, typename LoadAhead>
__device__ inline void multiply_steps(const BlockWork& work, const std::byte* smem, uint32_t smem_address, int step,
                                      int end, typename Shape<Budget>::Ring::Place& at, WeightLoads<Budget>& weights,
                                      int warp, int lane, Accumulators<Budget>& acc, const LoadAhead& load_ahead) {
  using S = Shape<Budget>;
  for (; step < end; ++step) {
    weights.wait_and_load(work, step, at.stage, lane);
    ptx::mbarrier_wait_parity(S::Ring::full(smem_address, at.stage), at.parity);
    const std::byte* stage = smem + at.stage * S::kStageBytes;
    const int slices = min(S::kSlices, work.slices - step * S::kSlices);
    if (S::kCols <= 2 && slices == S::kSlices) {  // few MMAs between loads: let them overlap across slices
#pragma unroll
      for (int s = 0; s < S::kSlices; ++s) {
        Fragments<Budget> a;
        decode<Budget>(stage, s, warp, lane, a);
        multiply<Budget>(stage, s, work.cols, lane, a, acc);
      }
      load_ahead(step);
    } else {
#pragma unroll 1
      for (int s = 0; s < slices; ++s) {
        Fragments<Budget> a;
        decode<Budget>(stage, s, warp, lane, a);
        multiply<Budget>(stage, s, work.cols, lane, a, acc);
        if (s == 0) load_ahead(step);
      }
    }
    // By every lane: what it has read is then known to be read without a __syncwarp(), which compute-sanitizer does not
    // take for an order between one lane's reads and another's arrival.
    ptx::mbarrier_arrive(S::Ring::empty(smem_address, at.stage));
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
__device__ inline bool combine_segments(const GemmArgs& args, std::byte* smem, int warp, int lane,
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
  ptx::barrier_sync(1, kThreads);  // every warp has written, and has read its last stage: its bytes are free
  auto* shared_word = reinterpret_cast<int32_t*>(smem);
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

/// Multiplies the block's K range and writes the rows. weights, load_ahead: multiply_steps.
template <typename Budget, typename LoadAhead>
__device__ inline void consume(const GemmArgs& args, const BlockWork& work, std::byte* smem, uint32_t smem_address,
                               int warp, int lane, WeightLoads<Budget>& weights, const LoadAhead& load_ahead) {
  using S = Shape<Budget>;
  ptx::prefetch_l2(row_factors(args, work));  // for write_rows
  Accumulators<Budget> acc = {};
  typename S::Ring::Place at;
  const int steps = S::steps(work.slices);
  if constexpr (S::kFolds) {
    const int segments = args.partials != nullptr ? 1 : args.segments;
    Accumulators<Budget> total = {};
    int step = 0;
#pragma unroll 1
    for (int segment = 0; segment < segments; ++segment) {
      const int end = segment + 1 == segments ? steps : segment_slice(args, segment + 1) / S::kSlices;
      for_each_accumulator<Budget>([&](int i, int c, int e) { acc[i][c][e] = 0.0F; });
      multiply_steps<Budget>(work, smem, smem_address, step, end, at, weights, warp, lane, acc, load_ahead);
      for_each_accumulator<Budget>([&](int i, int c, int e) {
        total[i][c][e] = segment == 0 ? acc[i][c][e] : __fadd_rn(total[i][c][e], acc[i][c][e]);
      });
      step = end;
    }
    for_each_accumulator<Budget>([&](int i, int c, int e) { acc[i][c][e] = total[i][c][e]; });
  } else {
    multiply_steps<Budget>(work, smem, smem_address, 0, steps, at, weights, warp, lane, acc, load_ahead);
  }
  if constexpr (S::kSplits) {
    if (args.partials != nullptr && !combine_segments<Budget>(args, smem, warp, lane, acc)) return;
  }
  write_rows<S>(args, work, smem, smem_address, warp, lane, [&](int i, int c) {
    const float(&v)[4] = acc[i][c];
    return float4{v[0], v[1], v[2], v[3]};
  });
}

/// A consumer warp that loads its share of the activations as well, kStages - 1 steps ahead.
template <typename Budget>
__device__ inline void load_and_consume(const GemmArgs& args, const BlockWork& work, std::byte* smem,
                                        uint32_t smem_address, int warp, int lane) {
  using S = Shape<Budget>;
  const int steps = S::steps(work.slices), ahead = S::kStages - 1;
  WeightLoads<Budget> weights(args, work, smem_address, warp, lane);
  if (args.weights_early) ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  ActivationLoads<Budget> activations(args, work, warp, lane);
  for (int step = 0; step < min(steps, ahead); ++step) activations.load(args, work, smem_address, step);
  consume<Budget>(args, work, smem, smem_address, warp, lane, weights, [&](int step) {
    step += ahead;
    if (step >= steps) return;
    S::Ring::wait_until_empty(smem_address, step);
    activations.load(args, work, smem_address, step);
  });
}

}  // namespace w4a16

template <typename Budget>
__global__ void __launch_bounds__(Budget::kThreads, Budget::kTile.blocks_per_sm)
    w4a16_gemm(const __grid_constant__ GemmArgs args) {
  using S = w4a16::Shape<Budget>;
  std::byte* smem = ptx::dynamic_shared_memory();
  const uint32_t smem_address = ptx::shared_address(smem);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;

  if (threadIdx.x == 0) S::Ring::init(smem_address, 32 * S::kLoaders, 32 * S::kConsumers);
  if (!args.weights_early) ptx::griddepcontrol_wait();
  w4a16::BlockWork work;
  if (!find_block_tile(args, S::kStrips, work)) {
    ptx::griddepcontrol_wait();
    return;
  }
  work.cols = (work.tile.columns + plan::kMmaCols - 1) / plan::kMmaCols;
  const bool one_segment = args.partials != nullptr;
  work.first_slice = one_segment ? w4a16::segment_slice(args, static_cast<int>(blockIdx.y)) : 0;
  work.slices =
      w4a16::segment_slice(args, one_segment ? static_cast<int>(blockIdx.y) + 1 : args.segments) - work.first_slice;
  __syncthreads();
  if constexpr (S::kConsumersLoad) {
    w4a16::load_and_consume<Budget>(args, work, smem, smem_address, warp, lane);
  } else if (warp < S::kConsumers) {
    w4a16::WeightLoads<Budget> weights(args, work, smem_address, warp, lane);
    if (args.weights_early) ptx::griddepcontrol_wait();
    w4a16::consume<Budget>(args, work, smem, smem_address, warp, lane, weights, [](int) {});
  } else {
    w4a16::produce_activations<Budget>(args, work, smem_address, warp - S::kConsumers, lane);
  }
}

}  // namespace tessera::kernels::cuda
