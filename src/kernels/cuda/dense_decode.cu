#include "kernels/cuda/dense_decode.h"

#include <string>
#include <type_traits>

#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/decode.cuh"
#include "kernels/cuda/dense_decode_weights.cuh"
#include "kernels/cuda/dense_decode_x.cuh"
#include "kernels/cuda/dense_rows.cuh"
#include "kernels/ptx/barrier_sync.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "kernels/spelt_math.h"

// Seven warps of a block own strips, one after another; the eighth brings each of them its weights through a ring of
// its own, in one stream whatever strip, matrix and format they are of. The rings are full before the PDL wait, after
// which the time from one MMA of a strip to its next is what counts: a strip's sum is one chain.
namespace tessera::kernels::cuda {
namespace {

// ---- product ----

template <int cols>
using Sums = float[cols][4];

template <int cols>
__device__ void multiply_slice(const uint32_t (&a)[4][4], const XSlice<cols>& x, Sums<cols>& sums) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      const uint4& b = j < 2 ? x.low[c] : x.high[c];
      ptx::mma_m16n8k16_bf16(sums[c], a[j], j % 2 == 0 ? b.x : b.z, j % 2 == 0 ? b.y : b.w);
    }
  }
}

/// One segment of one strip, from zero. A slice's four MMAs wait for each other; the next slice and its x are fetched
/// meanwhile. A lone warp pays for every other instruction of this loop, and for every branch between them.
template <WeightFormat format, int cols, typename X>
__device__ void multiply(const DecodeMatrix& m, int segment, WeightReader& weights, const X& x, int lane,
                         Sums<cols>& sums) {
  constexpr int kBytes = plan::weight_slice_bytes(format);
  int slice = segment * m.segment_slices;
  const int end = slice + m.segment_slices;
#pragma unroll
  for (int c = 0; c < cols; ++c) sums[c][0] = sums[c][1] = sums[c][2] = sums[c][3] = 0.0F;
  const std::byte* at = weights.first(end - slice, m.stage_slices);
  if constexpr (cols > 1) {  // two chains hide each other's latency, and leave no registers for another slice
#pragma unroll 1
    for (; slice < end; ++slice) {
      uint32_t a[4][4];
      XSlice<cols> columns;
      x.load(slice, columns);
      decode_slice<format>(at, lane, a);
      at = weights.next(at, kBytes);
      multiply_slice<cols>(a, columns, sums);
    }
  } else {
    // x comes a slice ahead as well, but where decoding the next slice covers for it.
    constexpr bool kAhead = format == WeightFormat::bf16;
    uint32_t a[2][4][4];
    XSlice<cols> columns[kAhead ? 2 : 1];
    decode_slice<format>(at, lane, a[0]);
    if (kAhead) x.load(slice, columns[0]);
#pragma unroll 1
    for (; slice < end; slice += 2) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (i == 1 && slice + 1 == end) break;
        if (!kAhead) x.load(slice + i, columns[0]);
        at = weights.next(at, kBytes);
        decode_slice<format>(at, lane, a[1 - i]);
        if constexpr (kAhead) x.load(slice + i + 1, columns[1 - i]);
        multiply_slice<cols>(a[i], columns[kAhead ? i : 0], sums);
      }
    }
  }
  weights.release();
}

/// Adds the segments of a strip, in order, in the warp of the first one; the others are done.
template <int cols>
__device__ bool combine(const DecodeMatrix& matrix, const Task& task, float4* exchange, int warp, int lane,
                        Sums<cols>& sums) {
  const int leader = warp - task.segment, barrier = 1 + leader;
  const auto place = [&](int of_warp, int c) { return exchange + (of_warp * cols + c) * 32 + lane; };
  ptx::barrier_sync(barrier, matrix.segments * 32);  // the sums before have been read
  if (task.segment > 0) {
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      *place(warp, c) = {sums[c][0], sums[c][1], sums[c][2], sums[c][3]};
    }
  }
  ptx::barrier_sync(barrier, matrix.segments * 32);
  if (task.segment > 0) return false;
  for (int segment = 1; segment < matrix.segments; ++segment) {
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      const float4 part = *place(leader + segment, c);
      sums[c][0] = __fadd_rn(sums[c][0], part.x), sums[c][1] = __fadd_rn(sums[c][1], part.y);
      sums[c][2] = __fadd_rn(sums[c][2], part.z), sums[c][3] = __fadd_rn(sums[c][3], part.w);
    }
  }
  return true;
}

// ---- results ----

/// Of one column: low is row g of the strip, high row g + 8, both times their factors.
__device__ void write_column(const DecodeMatrix& m, int strip, int g, int column, float low, float high) {
  const int64_t at = column * m.out_stride;
  const int row = strip * kAtomRows + g;
  if (m.epilogue == Epilogue::f32) {
    float* out = static_cast<float*>(m.out) + at + row;
    if (row < m.rows) out[0] = low;
    if (row + 8 < m.rows) out[8] = high;
    return;
  }
  const uint32_t pair = ptx::cvt_bf16x2(high, low);
  auto* out = static_cast<uint16_t*>(m.out) + at;
  if (m.epilogue == Epilogue::swiglu) {
    const int element = strip * (kAtomRows / 2) + g;
    if (element < m.rows / 2) out[element] = swiglu(low_bf16(pair), high_bf16(pair));
    return;
  }
  if (row < m.rows) out[row] = static_cast<uint16_t>(pair);
  if (row + 8 < m.rows) out[row + 8] = static_cast<uint16_t>(pair >> 16);
}

template <int cols>
__device__ void write_sums(const DecodeMatrix& m, int strip, float2 alpha, int rows, int lane, const Sums<cols>& sums) {
#pragma unroll
  for (int c = 0; c < cols; ++c) {
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const int column = c * plan::kMmaCols + lane % 4 * 2 + odd;
      if (column >= rows) continue;
      write_column(m, strip, lane / 4, column, __fmul_rn(sums[c][odd], alpha.x), __fmul_rn(sums[c][2 + odd], alpha.y));
    }
  }
}

// ---- a warp, a block ----

/// A warp's task, and what of it does not depend on x.
struct Work {
  int turn;
  bool exists;
  Task task;
  float2 alpha;

  __device__ Work(const DecodeArgs& args, int warp, int lane) : turn(warp) {
    exists = warp < args.working_warps && find(args, lane);
  }
  __device__ void advance(const DecodeArgs& args, int lane) {
    turn += args.working_warps;
    exists = find(args, lane);
  }

 private:
  __device__ bool find(const DecodeArgs& args, int lane) {
    if (!find_task(args, turn, task)) return false;
    const float* factors = args.matrices[task.matrix].row_alpha + task.strip * kAtomRows + lane / 4;
    alpha = {factors[0], factors[8]};
    return true;
  }
};

template <int cols, typename X>
__device__ void run_tasks(const DecodeArgs& args, Work& work, const Ring& ring, const std::byte* resident,
                          float4* exchange, int rows, int warp, int lane) {
  WeightReader weights(args, ring);
  const X x(args, resident, rows, lane);
  for (; work.exists; work.advance(args, lane)) {
    const DecodeMatrix& m = args.matrices[work.task.matrix];
    const int segment = work.task.segment;
    Sums<cols> sums;
    switch (m.format) {
      case WeightFormat::fp8_e4m3: multiply<WeightFormat::fp8_e4m3, cols>(m, segment, weights, x, lane, sums); break;
      case WeightFormat::nvfp4: multiply<WeightFormat::nvfp4, cols>(m, segment, weights, x, lane, sums); break;
      case WeightFormat::mxfp4: multiply<WeightFormat::mxfp4, cols>(m, segment, weights, x, lane, sums); break;
      default: multiply<WeightFormat::bf16, cols>(m, segment, weights, x, lane, sums); break;
    }
    if (m.segments > 1 && !combine<cols>(m, work.task, exchange, warp, lane, sums)) continue;
    write_sums<cols>(m, work.task.strip, work.alpha, rows, lane, sums);
  }
}

struct SmemPlaces {
  int x, norm_parts, exchange, barriers;
};

/// norm_rows_max: up to how many rows are normed here.
template <int cols, bool resident, int norm_rows_max>
__global__ void __launch_bounds__(kDecodeThreads, kDecodeKernelsPerSm)
    dense_decode_rows(const __grid_constant__ DecodeArgs args, const SmemPlaces places) {
  std::byte* smem = ptx::dynamic_shared_memory();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  // Before the PDL wait, all that does not depend on x: weights under way, the first task found, and the count of rows,
  // which the step's first kernel wrote (step_tables.h).
  const bool brings = warp == kDecodeWarps;
  const Ring ring(args, smem, places.barriers, min(brings ? lane : warp, args.working_warps - 1));
  WeightSource source(args, ring, brings ? lane : kDecodeWarps);
  source.fill(args);
  Work work(args, warp, lane);
  constexpr bool kNorms = norm_rows_max > 0;
  const NormWeights norm_weights(args.norm, kNorms ? args.depth / kNormChunk : 0);
  const int rows = live_rows(args);
  __syncthreads();  // barriers are made
  if (args.overlaps_previous) {
    ptx::griddepcontrol_launch_dependents_early();
  } else {
    ptx::griddepcontrol_wait();
    ptx::griddepcontrol_launch_dependents();
  }
  if constexpr (resident) {
    if (rows > 0) {
      if constexpr (kNorms) {
        auto* parts = reinterpret_cast<float*>(smem + places.norm_parts);
        norm_rows<norm_rows_max>(args, norm_weights, smem + places.x, parts, rows, warp, lane);
      } else {
        copy_rows(args, smem + places.x, rows);
      }
      __syncthreads();
    }
  }
  if (rows <= 0) {
    source.drain();
  } else if (brings) {
    source.refill(args);
  } else {
    auto* exchange = reinterpret_cast<float4*>(smem + places.exchange);
    run_tasks<cols, std::conditional_t<resident, ResidentX<cols>, DistantX<cols>>>(args, work, ring, smem + places.x,
                                                                                   exchange, rows, warp, lane);
  }
  if (args.overlaps_previous) ptx::griddepcontrol_wait();
}

}  // namespace

Status dense_decode(const DecodeLaunch& launch, const device::Queue& queue) {
  const DecodeArgs& args = launch.args;
  const DecodeSmem smem = decode_smem(args);
  if (args.stages < kDecodeStagesMin || smem.total > launch.smem_limit) {
    return {StatusCode::internal, "a decode product of " + std::to_string(args.rows_max) + " rows of " +
                                      std::to_string(args.depth) + " elements has " + std::to_string(args.stages) +
                                      " stages a warp in " + std::to_string(smem.total) + " bytes of shared memory"};
  }
  const bool wide = args.rows_max > plan::kMmaCols;
  const auto resident = wide                            ? dense_decode_rows<2, true, 0>
                        : args.norm.residual == nullptr ? dense_decode_rows<1, true, 0>
                        : args.rows_max == 1            ? dense_decode_rows<1, true, 1>
                                                        : dense_decode_rows<1, true, kFusedNormRowsMax>;
  const auto distant = wide ? dense_decode_rows<2, false, 0> : dense_decode_rows<1, false, 0>;
  const auto kernel = args.resident_bytes > 0 ? resident : distant;
  return device::launch(kernel, queue, launch.blocks, kDecodeThreads, static_cast<size_t>(smem.total), args,
                        SmemPlaces{smem.x, smem.norm_parts, smem.exchange, smem.barriers});
}

}  // namespace tessera::kernels::cuda
