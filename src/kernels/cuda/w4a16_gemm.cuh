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
#include "kernels/ptx/shared_memory.cuh"
#include "plan/budget.h"
#include "plan/registers.h"

// Products of weights (M), decoded to BF16, and BF16 tokens (N): the W4A16 grouped product, and what it shares with the
// dense product of many rows (dense_gemm.cuh), whose Args differ.
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
// from zero in each K segment, of which dense products may have several; segments are added in ascending order by fp32
// additions. Slices beyond the depth are not multiplied, so that the number of steps depends on the depth alone.
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
  static_assert(kTile.warps_n == 1 && (kWarpStrips == 1 || kWarpStrips == 2));

  using Ring = Pipeline<kStages, Budget::kSmem.barriers_offset>;

  static __device__ int steps(int slices) { return (slices + kSlices - 1) / kSlices; }
};

/// What a block works on.
struct BlockWork : BlockTile {
  int cols;    // column blocks with a column, at most tile.n / 8
  int slices;  // of K
};

// ---- loads ----

/// Brings the weights of one consumer warp, stage by stage. For strips that do not exist, those of another: nothing is
/// written of them.
template <typename Budget>
class WeightLoads {
  using S = Shape<Budget>;

 public:
  /// Issues the loads of the first kStages - 1 steps.
  template <typename Args>
  __device__ WeightLoads(const Args& args, const BlockWork& work, uint32_t smem, int warp, int lane) {
    const int strip = warp * S::kWarpStrips + lane / kLanes;
    const int64_t strip_bytes = int64_t{work.slices} * S::kSliceBytes;
    from_ = args.group_weights(work.tile.group) + (work.strip + min(strip, work.strips - 1)) * strip_bytes +
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
template <typename Budget, typename Args>
class ActivationLoads {
  using S = Shape<Budget>;

 public:
  /// After the kernel's PDL wait.
  __device__ ActivationLoads(const Args& args, const BlockWork& work, int loader, int lane)
      : loader_(loader), lane_(lane), k_(lane % 4 * 8) {
#pragma unroll
    for (int i = 0; i < kMine; ++i) {
      const int column = (i * S::kLoaders + loader) * plan::kMmaCols + lane / 4;
      const int slot = work.tile.first_slot + min(column, work.tile.columns - 1);
      const int64_t row = args.x_rows != nullptr ? __ldcg(args.x_rows + slot) : slot;
      rows_[i] = args.x + row * args.x_row_elements() + k_;
    }
  }

  /// The next step, `step`.
  __device__ void load(const Args& args, const BlockWork& work, uint32_t smem, int step) {
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

/// After the kernel's PDL wait.
template <typename Budget, typename Args>
__device__ void produce_activations(const Args& args, const BlockWork& work, uint32_t smem, int loader, int lane) {
  using S = Shape<Budget>;
  ActivationLoads<Budget, Args> activations(args, work, loader, lane);
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

/// Steps [step, end) of K; `at` and `weights` run on from call to call. load_ahead(step) is called
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

/// Multiplies and writes the rows. weights, load_ahead: multiply_steps.
template <typename Budget, typename Args, typename LoadAhead>
__device__ inline void consume(const Args& args, const BlockWork& work, std::byte* smem, uint32_t smem_address,
                               int warp, int lane, WeightLoads<Budget>& weights, const LoadAhead& load_ahead) {
  using S = Shape<Budget>;
  Accumulators<Budget> acc = {};
  typename S::Ring::Place at;
  const int steps = S::steps(work.slices);
  if constexpr (Args::kSegments && S::kFolds) {
    Accumulators<Budget> total = {};
    int step = 0;
    const int group = work.tile.group, segments = args.segments(group);
#pragma unroll 1
    for (int segment = 0; segment < segments; ++segment) {
      const int end = segment + 1 == segments ? steps : args.segment_slice(group, segment + 1) / S::kSlices;
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
  write_rows<S>(args, work, smem, smem_address, warp, lane, [&](int i, int c) {
    const float(&v)[4] = acc[i][c];
    return float4{v[0], v[1], v[2], v[3]};
  });
}

/// A consumer warp that loads its share of the activations as well, kStages - 1 steps ahead. After the kernel's PDL
/// wait.
template <typename Budget, typename Args>
__device__ inline void load_and_consume(const Args& args, const BlockWork& work, std::byte* smem, uint32_t smem_address,
                                        int warp, int lane, WeightLoads<Budget>& weights) {
  using S = Shape<Budget>;
  const int steps = S::steps(work.slices), ahead = S::kStages - 1;
  ActivationLoads<Budget, Args> activations(args, work, warp, lane);
  for (int step = 0; step < min(steps, ahead); ++step) activations.load(args, work, smem_address, step);
  consume<Budget>(args, work, smem, smem_address, warp, lane, weights, [&](int step) {
    step += ahead;
    if (step >= steps) return;
    S::Ring::wait_until_empty(smem_address, step);
    activations.load(args, work, smem_address, step);
  });
}

/// A block, from the point where its part of the weights is known. wait(): the PDL wait, if it is still to come, and
/// what can be known only then; false: there is nothing to do. By every thread.
template <typename Budget, typename Args, typename Wait>
__device__ inline void run_block(const Args& args, BlockWork& work, std::byte* smem, uint32_t smem_address,
                                 const Wait& wait) {
  using S = Shape<Budget>;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  __syncthreads();  // the ring is there
  if (warp >= S::kConsumers) {
    if (wait()) produce_activations<Budget>(args, work, smem_address, warp - S::kConsumers, lane);
    return;
  }
  WeightLoads<Budget> weights(args, work, smem_address, warp, lane);
  RowFactors<Args>(args, work).prefetch(lane);  // for write_rows
  if (!wait()) {
    ptx::cp_async_wait_group<0>();
    return;
  }
  if constexpr (S::kConsumersLoad) {
    load_and_consume<Budget>(args, work, smem, smem_address, warp, lane, weights);
  } else {
    consume<Budget>(args, work, smem, smem_address, warp, lane, weights, [](int) {});
  }
}

}  // namespace w4a16

template <typename Budget>
__global__ void __launch_bounds__(Budget::kThreads, Budget::kTile.blocks_per_sm)
    w4a16_gemm(const __grid_constant__ GemmArgs args) {
  using S = w4a16::Shape<Budget>;
  std::byte* smem = ptx::dynamic_shared_memory();
  const uint32_t smem_address = ptx::shared_address(smem);
  if (threadIdx.x == 0) S::Ring::init(smem_address, 32 * S::kLoaders, 32 * S::kConsumers);
  if (!args.weights_early) ptx::griddepcontrol_wait();
  w4a16::BlockWork work;
  if (!find_block_tile(args, S::kStrips, work)) {
    ptx::griddepcontrol_wait();  // on every path: else a grid without work would end before the one before it
    return;
  }
  work.cols = (work.tile.columns + plan::kMmaCols - 1) / plan::kMmaCols;
  work.slices = static_cast<int>(plan::slices(args.depth));
  w4a16::run_block<Budget>(args, work, smem, smem_address, [&] {
    if (args.weights_early) ptx::griddepcontrol_wait();
    ptx::griddepcontrol_launch_dependents();
    return true;
  });
}

}  // namespace tessera::kernels::cuda
