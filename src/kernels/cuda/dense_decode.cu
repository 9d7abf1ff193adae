#include "kernels/cuda/dense_decode.h"

#include <string>

#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/decode.cuh"
#include "kernels/cuda/dense_rows.cuh"
#include "kernels/cuda/norm.cuh"
#include "kernels/ptx/barrier_sync.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "kernels/spelt_math.h"

// A warp owns strips, one after another, and a ring of stages that its weights pass through in one stream, whatever
// strip, matrix and format they are of: no barrier of the block stands in its way. The ring is full before the PDL
// wait.
//
// x: a few rows lie in shared memory (resident), normed there if there is a norm, in the order of lanes: for each half
// slice [column][4 x 16 bytes], so that lanes of one column read the same, and those of several read without bank
// conflicts. More rows are read where they lie, 16 bytes a lane, a slice ahead: they stay in L1, and weights have all
// of the ring. Columns without a row repeat the last one: no MMA mixes columns, and none of theirs is written.
namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = kDecodeWarps * 32;

// ---- who does what ----

struct Task {
  int matrix = 0;
  int strip = 0;
  int segment = 0;
};

/// The first task of a warp from turn `turn` on; false: none is left. `turn` becomes the task's.
__device__ bool find_task(const DecodeArgs& args, int& turn, Task& task) {
  for (; turn < args.turns; turn += args.working_warps) {
    int m = 0;
    while (m + 1 < args.count && turn >= args.matrices[m].end_turn) ++m;
    const DecodeMatrix& matrix = args.matrices[m];
    if (turn < matrix.first_turn) continue;  // between matrices of different segments
    const int own = turn - matrix.first_turn;
    const int blocks = static_cast<int>(gridDim.x);
    const int block = static_cast<int>(blockIdx.x) - matrix.first_block;
    task = {m, own / matrix.segments * blocks + (block < 0 ? block + blocks : block), own % matrix.segments};
    if (task.strip < matrix.strips) return true;
  }
  return false;
}

// ---- weights ----

/// Until all but the last stages - `fewer` groups of copies have landed.
template <int fewer>
__device__ void wait_for_stages(int stages) {
  switch (stages) {
    case 20: return ptx::cp_async_wait_group<20 - fewer>();
    case 12: return ptx::cp_async_wait_group<12 - fewer>();
    case 8: return ptx::cp_async_wait_group<8 - fewer>();
    case 6: return ptx::cp_async_wait_group<6 - fewer>();
    case 5: return ptx::cp_async_wait_group<5 - fewer>();
    default: return ptx::cp_async_wait_group<4 - fewer>();
  }
}

/// A warp's ring. Stages are loaded in the order in which they are read, stages - 2 ahead, across tasks: the two others
/// are those that the warp reads now. It takes two at a time where a task has two: a warp is alone on its scheduler, so
/// that every instruction that is not a weight's costs its whole latency.
class WeightRing {
 public:
  /// A warp without work has a ring of no tasks.
  __device__ WeightRing(const DecodeArgs& args, std::byte* smem, int warp, int lane)
      : turn_(warp < args.working_warps ? warp : args.turns),
        lane_(lane),
        bytes_(args.stages * args.ring_stage_bytes),
        smem_(smem + (warp < args.working_warps ? warp * bytes_ : 0)),
        shared_(ptx::shared_address(smem_)) {
    find(args);
#pragma unroll 1
    for (int i = 0; i < args.stages - 2; ++i) load(args);
  }

  /// The next stage, which has landed. The one before it has been read, and is loaded anew.
  __device__ const std::byte* next(const DecodeArgs& args) {
    wait_for_stages<3>(args.stages);
    __syncwarp();  // what each lane has brought and has read, for all lanes
    load(args);
    return take(args);
  }
  /// The next two.
  __device__ void next(const DecodeArgs& args, const std::byte*& first, const std::byte*& second) {
    wait_for_stages<4>(args.stages);
    __syncwarp();
    load(args);
    load(args);
    first = take(args);
    second = take(args);
  }

 private:
  __device__ const std::byte* take(const DecodeArgs& args) {
    const std::byte* stage = smem_ + read_;
    read_ = read_ + args.ring_stage_bytes == bytes_ ? 0 : read_ + args.ring_stage_bytes;
    return stage;
  }

  __device__ void find(const DecodeArgs& args) {
    Task task;
    left_ = 0;
    if (!find_task(args, turn_, task)) return;
    turn_ += args.working_warps;
    const DecodeMatrix& m = args.matrices[task.matrix];
    const int first = args.segment_slice(m.segments, task.segment);
    const int end = args.segment_slice(m.segments, task.segment + 1);
    from_ = m.weights + (int64_t{task.strip} * args.slices + first) * m.slice_bytes + lane_ * 16;
    left_ = (end - first) * m.slice_bytes;
    stage_bytes_ = m.stage_bytes;
  }

  /// After the last task, of nothing.
  __device__ void load(const DecodeArgs& args) {
    const int bytes = min(stage_bytes_, left_) - lane_ * 16;
#pragma unroll
    for (int i = 0; i < kDecodeStageBytes; i += 512) {
      if (i < bytes) ptx::cp_async_cg_16(shared_ + write_ + lane_ * 16 + i, from_ + i);
    }
    ptx::cp_async_commit_group();
    if (left_ == 0) return;
    write_ = write_ + args.ring_stage_bytes == bytes_ ? 0 : write_ + args.ring_stage_bytes;
    from_ += stage_bytes_;
    left_ -= min(stage_bytes_, left_);
    if (left_ == 0) find(args);
  }

  int turn_, lane_, bytes_, read_ = 0, write_ = 0;
  int left_ = 0, stage_bytes_ = 0;  // of the task's part of its strip
  std::byte* smem_;
  uint32_t shared_;
  const std::byte* from_ = nullptr;
};

// ---- activations ----

/// x of this lane's columns: what two MMAs take of a half slice.
template <int cols>
using HalfSlice = uint4[cols];

/// Where chunk `chunk` (8 elements of K) of row `row` lies in shared memory.
__device__ int resident_place(int chunk, int row, int rows) { return ((chunk / 4 * rows + row) * 4 + chunk % 4) * 16; }

class ResidentX {
 public:
  __device__ ResidentX(const DecodeArgs& /*args*/, const std::byte* x, int rows, int lane)
      : at_(x + (min(lane / 4, rows - 1) * 4 + lane % 4) * 16), half_bytes_(rows * 64) {}
  __device__ void start(const DecodeArgs& /*args*/, int /*slice*/) {}
  __device__ void take(const DecodeArgs& /*args*/, int slice, HalfSlice<1>& low, HalfSlice<1>& high) {
    const std::byte* at = at_ + 2 * slice * half_bytes_;
    low[0] = *reinterpret_cast<const uint4*>(at);
    high[0] = *reinterpret_cast<const uint4*>(at + half_bytes_);
  }

 private:
  const std::byte* at_;
  int half_bytes_;
};

template <int cols>
class DistantX {
 public:
  __device__ DistantX(const DecodeArgs& args, const std::byte* /*x*/, int rows, int lane) : k_(lane % 4 * 8) {
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      const int column = min(c * plan::kMmaCols + lane / 4, rows - 1);
      const int64_t row = args.row_index != nullptr ? __ldcg(args.row_index + column) : column;
      rows_[c] = args.x + row * args.x_stride + k_;
    }
  }
  /// Before the first slice of a task.
  __device__ void start(const DecodeArgs& args, int slice) { load(args, slice); }
  /// What was loaded for `slice`; the next one is on its way.
  __device__ void take(const DecodeArgs& args, int slice, HalfSlice<cols>& low, HalfSlice<cols>& high) {
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      low[c] = low_[c];
      high[c] = high_[c];
    }
    load(args, slice + 1);
  }

 private:
  __device__ void load(const DecodeArgs& args, int slice) {
    const int k = slice * kSliceDepth;
    const bool has_low = k + k_ < args.depth, has_high = k + k_ + 32 < args.depth;
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      low_[c] = has_low ? *reinterpret_cast<const uint4*>(rows_[c] + k) : uint4{};
      high_[c] = has_high ? *reinterpret_cast<const uint4*>(rows_[c] + k + 32) : uint4{};
    }
  }

  int k_;
  const uint16_t* rows_[cols];
  HalfSlice<cols> low_, high_;
};

/// Rows of x to shared memory as they are. Elements beyond the depth are zeros.
__device__ void copy_rows(const DecodeArgs& args, std::byte* x, int rows) {
  const int chunks = args.depth / 8, padded = args.slices * (kSliceDepth / 8);
  for (int i = static_cast<int>(threadIdx.x); i < rows * padded; i += kThreads) {
    const int row = i / padded, chunk = i % padded;
    uint4 v{};
    if (chunk < chunks) {
      const int64_t from = args.row_index != nullptr ? __ldcg(args.row_index + row) : row;
      v = *reinterpret_cast<const uint4*>(args.x + from * args.x_stride + chunk * 8);
    }
    *reinterpret_cast<uint4*>(x + resident_place(chunk, row, rows)) = v;
  }
}

/// Chunks of a row that a thread has under way: those of 4,096 elements.
constexpr int kChunksAtOnce = 4;

/// The norm's weights of a thread's first chunks, asked for before the PDL wait.
struct NormWeights {
  float4 low[kChunksAtOnce], high[kChunksAtOnce];

  __device__ NormWeights(const NormInput& norm, int chunks) {
#pragma unroll
    for (int n = 0; n < kChunksAtOnce; ++n) {
      const int chunk = static_cast<int>(threadIdx.x) + n * kThreads;
      if (norm.residual == nullptr || chunk >= chunks) continue;
      low[n] = *reinterpret_cast<const float4*>(norm.weight + chunk * kNormChunk);
      high[n] = *reinterpret_cast<const float4*>(norm.weight + chunk * kNormChunk + 4);
    }
  }
};

/// The same of normed rows: every block norms all of them, and one keeps what is to be kept of a row. A thread has
/// chunks threadIdx.x + n * kThreads throughout, which are those that sum_parts gives it.
struct NormedRows {
  const DecodeArgs& args;
  std::byte* x;
  int rows;
  int chunks = args.depth / kNormChunk;

  [[nodiscard]] __device__ uint4* place(int chunk, int row) const {
    return reinterpret_cast<uint4*>(x + resident_place(chunk, row, rows));
  }
  [[nodiscard]] __device__ uint16_t* kept(uint16_t* all, int row) const {
    const bool mine = static_cast<int>(blockIdx.x) == row % static_cast<int>(gridDim.x);
    return mine && all != nullptr ? all + int64_t{row} * args.depth : nullptr;
  }

  /// residual + delta, loads first.
  __device__ void add(int row) const {
    const NormInput& norm = args.norm;
    uint16_t* keep = kept(norm.residual_out, row);
    const int64_t at = int64_t{row} * args.depth;
    for (int first = static_cast<int>(threadIdx.x); first < chunks; first += kChunksAtOnce * kThreads) {
      uint4 v[kChunksAtOnce], d[kChunksAtOnce];
#pragma unroll
      for (int n = 0; n < kChunksAtOnce; ++n) {
        const int chunk = first + n * kThreads;
        if (chunk >= chunks) continue;
        v[n] = *reinterpret_cast<const uint4*>(norm.residual + at + chunk * kNormChunk);
        if (norm.delta != nullptr) d[n] = *reinterpret_cast<const uint4*>(norm.delta + at + chunk * kNormChunk);
      }
#pragma unroll
      for (int n = 0; n < kChunksAtOnce; ++n) {
        const int chunk = first + n * kThreads;
        if (chunk >= chunks) continue;
        if (norm.delta != nullptr) v[n] = add_bf16(v[n], d[n]);
        *place(chunk, row) = v[n];
        if (keep != nullptr) *reinterpret_cast<uint4*>(keep + chunk * kNormChunk) = v[n];
      }
    }
  }

  __device__ void scale_chunk(int row, int chunk, float inverse, const float4& low, const float4& high) const {
    const uint4 v = normed(*place(chunk, row), inverse, low, high);
    *place(chunk, row) = v;
    uint16_t* keep = kept(args.norm.normed_out, row);
    if (keep != nullptr) *reinterpret_cast<uint4*>(keep + chunk * kNormChunk) = v;
  }
  __device__ void scale(int row, float inverse, const NormWeights& weights) const {
#pragma unroll
    for (int n = 0; n < kChunksAtOnce; ++n) {
      const int chunk = static_cast<int>(threadIdx.x) + n * kThreads;
      if (chunk < chunks) scale_chunk(row, chunk, inverse, weights.low[n], weights.high[n]);
    }
    for (int chunk = static_cast<int>(threadIdx.x) + kChunksAtOnce * kThreads; chunk < chunks; chunk += kThreads) {
      const auto* weight = reinterpret_cast<const float4*>(args.norm.weight + chunk * kNormChunk);
      scale_chunk(row, chunk, inverse, weight[0], weight[1]);
    }
  }
};

__device__ void norm_rows(const DecodeArgs& args, const NormWeights& weights, std::byte* x, float* parts, int rows,
                          int warp, int lane) {
  const NormedRows normed_rows{args, x, rows};
  const int chunks = normed_rows.chunks, padded = args.slices * (kSliceDepth / 8);
  for (int row = 0; row < rows; ++row) normed_rows.add(row);
  for (int row = 0; row < rows; ++row) {
    sum_parts(chunks, warp, kDecodeWarps, lane, parts + row * kNormParts,
              [&](int i, float sum) { return add_squares(*normed_rows.place(i, row), sum); });
    const int beyond = chunks + static_cast<int>(threadIdx.x);
    if (beyond < padded) *normed_rows.place(beyond, row) = {};
  }
  __syncthreads();
  for (int row = 0; row < rows; ++row) {
    normed_rows.scale(row, inverse_norm(parts + row * kNormParts, args.depth, args.norm.eps), weights);
  }
}

// ---- product ----

template <int cols>
using Sums = float[cols][4];

/// A slice.
template <WeightFormat format, int cols, typename X>
__device__ void multiply_slice(const DecodeArgs& args, const std::byte* weights, int slice, X& x, int lane,
                               Sums<cols>& sums) {
  HalfSlice<cols> low, high;
  x.take(args, slice, low, high);
  uint32_t a[4][4];
  decode_slice<format>(weights, lane, a);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      const uint4& b = j < 2 ? low[c] : high[c];
      ptx::mma_m16n8k16_bf16(sums[c], a[j], j % 2 == 0 ? b.x : b.z, j % 2 == 0 ? b.y : b.w);
    }
  }
}

/// One segment of one strip, from zero.
template <WeightFormat format, int cols, typename X>
__device__ void multiply(const DecodeArgs& args, int first, int end, WeightRing& ring, X& x, int lane,
                         Sums<cols>& sums) {
  constexpr int kSlices = decode_stage_slices(format);
#pragma unroll
  for (int c = 0; c < cols; ++c) sums[c][0] = sums[c][1] = sums[c][2] = sums[c][3] = 0.0F;
  constexpr int kSliceBytes = plan::weight_slice_bytes(format);
  x.start(args, first);
  int slice = first;
#pragma unroll 1
  for (; slice + 2 * kSlices <= end; slice += 2 * kSlices) {
    const std::byte* stages[2];
    ring.next(args, stages[0], stages[1]);
#pragma unroll
    for (int s = 0; s < 2 * kSlices; ++s) {
      multiply_slice<format, cols>(args, stages[s / kSlices] + s % kSlices * kSliceBytes, slice + s, x, lane, sums);
    }
  }
#pragma unroll 1
  for (; slice < end; slice += kSlices) {
    const std::byte* stage = ring.next(args);
#pragma unroll 1
    for (int s = 0; s < min(kSlices, end - slice); ++s) {
      multiply_slice<format, cols>(args, stage + s * kSliceBytes, slice + s, x, lane, sums);
    }
  }
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

template <int cols, typename X>
__device__ void run_tasks(const DecodeArgs& args, WeightRing& ring, const std::byte* resident, float4* exchange,
                          int rows, int warp, int lane) {
  X x(args, resident, rows, lane);
  Task task;
  for (int turn = warp; find_task(args, turn, task); turn += args.working_warps) {
    const DecodeMatrix& m = args.matrices[task.matrix];
    const float* factors = m.row_alpha + task.strip * kAtomRows + lane / 4;
    const float2 alpha{factors[0], factors[8]};
    const int first = args.segment_slice(m.segments, task.segment);
    const int end = args.segment_slice(m.segments, task.segment + 1);
    Sums<cols> sums;
    switch (m.format) {
      case WeightFormat::fp8_e4m3: multiply<WeightFormat::fp8_e4m3, cols>(args, first, end, ring, x, lane, sums); break;
      case WeightFormat::nvfp4: multiply<WeightFormat::nvfp4, cols>(args, first, end, ring, x, lane, sums); break;
      case WeightFormat::mxfp4: multiply<WeightFormat::mxfp4, cols>(args, first, end, ring, x, lane, sums); break;
      default: multiply<WeightFormat::bf16, cols>(args, first, end, ring, x, lane, sums); break;
    }
    if (m.segments > 1 && !combine<cols>(m, task, exchange, warp, lane, sums)) continue;
    write_sums<cols>(m, task.strip, alpha, rows, lane, sums);
  }
}

struct SmemPlaces {
  int x, norm_parts, exchange;
};

template <int cols, bool resident>
__global__ void __launch_bounds__(kThreads, kDecodeBlocksPerSm)
    dense_decode_rows(const __grid_constant__ DecodeArgs args, const SmemPlaces places) {
  static_assert(cols == 1 || !resident);
  std::byte* smem = ptx::dynamic_shared_memory();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  WeightRing ring(args, smem, warp, lane);
  const NormWeights norm_weights(args.norm, resident ? args.depth / kNormChunk : 0);

  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int rows = live_rows(args);
  if (rows <= 0) {
    ptx::cp_async_wait_group<0>();
    return;
  }
  if constexpr (resident) {
    if (args.norm.residual != nullptr) {
      norm_rows(args, norm_weights, smem + places.x, reinterpret_cast<float*>(smem + places.norm_parts), rows, warp,
                lane);
    } else {
      copy_rows(args, smem + places.x, rows);
    }
    __syncthreads();
  }
  if (warp >= args.working_warps) return;
  auto* exchange = reinterpret_cast<float4*>(smem + places.exchange);
  if constexpr (resident) {
    run_tasks<cols, ResidentX>(args, ring, smem + places.x, exchange, rows, warp, lane);
  } else {
    run_tasks<cols, DistantX<cols>>(args, ring, nullptr, exchange, rows, warp, lane);
  }
  ptx::cp_async_wait_group<0>();
}

}  // namespace

Status dense_decode(const DecodeLaunch& launch, const device::Queue& queue) {
  const DecodeArgs& args = launch.args;
  const DecodeSmem smem = decode_smem(args);
  if (smem.total > plan::smem_limit(kDecodeBlocksPerSm)) {
    return {StatusCode::internal, "a decode product of " + std::to_string(args.rows_max) + " rows of " +
                                      std::to_string(args.depth) + " elements takes " + std::to_string(smem.total) +
                                      " bytes of shared memory a block"};
  }
  const auto kernel = args.resident_bytes > 0           ? dense_decode_rows<1, true>
                      : args.rows_max <= plan::kMmaCols ? dense_decode_rows<1, false>
                                                        : dense_decode_rows<2, false>;
  return device::launch(kernel, queue, launch.blocks, kThreads, static_cast<size_t>(smem.total), args,
                        SmemPlaces{smem.x, smem.norm_parts, smem.exchange});
}

}  // namespace tessera::kernels::cuda
