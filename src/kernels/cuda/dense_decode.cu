#include "kernels/cuda/dense_decode.h"

#include <string>

#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/decode.cuh"
#include "kernels/cuda/dense_rows.cuh"
#include "kernels/cuda/norm.cuh"
#include "kernels/ptx/barrier_sync.cuh"
#include "kernels/ptx/cp_async_bulk.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "kernels/spelt_math.h"

// Seven warps of a block own strips, one after another; the eighth brings each of them its weights through a ring of
// its own, in one stream whatever strip, matrix and format they are of. The rings are full before the PDL wait, after
// which the time from one MMA of a strip to its next is what counts: a strip's sum is one chain.
//
// x lies in shared memory (resident) where there is room, normed there if there is a norm, in the order of lanes: for
// each half slice [column][4 x 16 bytes], so that lanes of one column read the same, and those of several read without
// bank conflicts. Otherwise it is read where it lies, 16 bytes a lane, a slice ahead. Columns without a row repeat the
// last one: no MMA mixes columns, and none of theirs is written.
namespace tessera::kernels::cuda {
namespace {

constexpr int kWarps = kDecodeWarps + 1;  // those that multiply, and the one that brings their weights
constexpr int kThreads = kWarps * 32;

// ---- who does what ----

struct Task {
  int matrix = 0;
  int strip = 0;
  int segment = 0;
};

/// The first task of a warp from turn `turn` on; false: none is left. `turn` becomes the task's.
__device__ bool find_task(const DecodeArgs& args, int& turn, Task& task) {
  for (; turn < args.turns; turn += args.working_warps) {
    for (int m = 0; m < args.count; ++m) {
      const DecodeMatrix& matrix = args.matrices[m];
      if (turn < matrix.first_turn || turn >= matrix.end_turn) continue;
      const int own = turn - matrix.first_turn, row = own / matrix.segments;
      const int strip = row * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x) - matrix.first_strip;
      if (strip < 0 || strip >= matrix.strips) continue;
      task = {m, strip, own - row * matrix.segments};
      return true;
    }
  }
  return false;
}

// ---- weights ----

/// A warp's ring: for each stage a barrier that is full when its weights have landed, and one that is empty when they
/// have been read.
struct Ring {
  std::byte* stages;
  uint32_t stages_address, barriers;

  __device__ Ring(const DecodeArgs& args, std::byte* smem, int barriers_offset, int warp)
      : stages(smem + warp * args.stages * args.ring_stage_bytes),
        stages_address(ptx::shared_address(stages)),
        barriers(ptx::shared_address(smem) + barriers_offset + warp * args.stages * kDecodeBarrierBytes) {}

  [[nodiscard]] __device__ uint32_t full(int stage) const { return barriers + stage * kDecodeBarrierBytes; }
  [[nodiscard]] __device__ uint32_t empty(int stage) const { return full(stage) + 8; }
};

/// Where a ring is read or written.
struct RingPlace {
  int stage = 0;
  uint32_t parity = 0;

  __device__ void advance(int stages) {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// What fills the ring of one warp: a lane of the block's last warp, so that the warps that multiply do nothing else.
class WeightSource {
 public:
  /// A lane that no working warp belongs to has nothing to bring.
  __device__ WeightSource(const DecodeArgs& args, const Ring& ring, int lane)
      : ring_(ring), turn_(lane < args.working_warps ? lane : args.turns) {
    if (lane < args.working_warps) {
      for (int i = 0; i < args.stages; ++i) {
        ptx::mbarrier_init(ring.full(i), 1);
        ptx::mbarrier_init(ring.empty(i), 32);
      }
      ptx::fence_mbarrier_init();
    }
    find(args);
  }

  /// All stages, which nobody has read yet.
  __device__ void fill(const DecodeArgs& args) {
    for (int i = 0; i < args.stages && left_ > 0; ++i) {
      load(args);
      ++filled_;
    }
  }
  /// All that is left, as stages get free. Lanes wait together, each for its warp's: no warp is ahead of another that
  /// it waits for, since segments of a strip are of one length.
  __device__ void refill(const DecodeArgs& args) {
    while (left_ > 0) {
      ptx::mbarrier_wait_parity(ring_.empty(place_.stage), place_.parity ^ 1);
      load(args);
    }
  }
  /// Instead: until nothing more lands.
  __device__ void drain() const {
    for (int i = 0; i < filled_; ++i) ptx::mbarrier_wait_parity(ring_.full(i), 0);
  }

 private:
  __device__ void find(const DecodeArgs& args) {
    Task task;
    left_ = 0;
    if (!find_task(args, turn_, task)) return;
    turn_ += args.working_warps;
    const DecodeMatrix& m = args.matrices[task.matrix];
    const int first = args.segment_slice(m.segments, task.segment);
    const int end = args.segment_slice(m.segments, task.segment + 1);
    from_ = m.weights + (int64_t{task.strip} * args.slices + first) * m.slice_bytes;
    left_ = (end - first) * m.slice_bytes;
    stage_bytes_ = m.stage_slices * m.slice_bytes;
  }

  __device__ void load(const DecodeArgs& args) {
    const auto bytes = static_cast<uint32_t>(min(stage_bytes_, left_));
    const uint32_t full = ring_.full(place_.stage);
    ptx::mbarrier_arrive_expect_tx(full, bytes);
    ptx::cp_async_bulk(ring_.stages_address + place_.stage * args.ring_stage_bytes, from_, bytes, full);
    place_.advance(args.stages);
    from_ += bytes;
    left_ -= static_cast<int>(bytes);
    if (left_ == 0) find(args);
  }

  Ring ring_;
  RingPlace place_;
  int turn_, filled_ = 0;
  int left_ = 0, stage_bytes_ = 0;  // of the task's part of its strip
  const std::byte* from_ = nullptr;
};

/// The other end: slice after slice of a task.
class WeightReader {
 public:
  __device__ WeightReader(const DecodeArgs& args, const Ring& ring)
      : ring_(ring), stages_(args.stages), stage_bytes_(args.ring_stage_bytes) {}

  /// The first slice of a task, of `slices`.
  __device__ const std::byte* first(int slices, int stage_slices) {
    left_ = slices;
    stage_slices_ = stage_slices;
    return next_stage();
  }
  /// The one after `slice`, whose values are used; the last stays.
  __device__ const std::byte* next(const std::byte* slice, int slice_bytes) {
    if (--in_stage_ > 0) return slice + slice_bytes;
    if (left_ == 0) return slice;
    release();
    return next_stage();
  }
  /// The task's last stage, once its values are used. Every lane arrives: what it has read is then known to be read
  /// without a __syncwarp(), which compute-sanitizer does not take for an order between one lane's reads and another's
  /// arrival.
  __device__ void release() {
    ptx::mbarrier_arrive(ring_.empty(place_.stage));
    place_.advance(stages_);
  }

 private:
  __device__ const std::byte* next_stage() {
    in_stage_ = min(stage_slices_, left_);
    left_ -= in_stage_;
    ptx::mbarrier_wait_parity(ring_.full(place_.stage), place_.parity);
    return ring_.stages + place_.stage * stage_bytes_;
  }

  Ring ring_;
  RingPlace place_;
  int stages_, stage_bytes_;
  int left_ = 0, stage_slices_ = 0, in_stage_ = 0;
};

// ---- activations ----

/// x of this lane's columns: what the MMAs of a slice take.
template <int cols>
struct XSlice {
  uint4 low[cols], high[cols];  // elements 0..31 of K, and 32..63
};

/// Where chunk `chunk` (8 elements of K) of row `row` lies in shared memory.
__device__ int resident_place(int chunk, int row, int rows) { return ((chunk / 4 * rows + row) * 4 + chunk % 4) * 16; }

template <int cols>
class ResidentX {
 public:
  __device__ ResidentX(const DecodeArgs& args, const std::byte* x, int rows, int lane)
      : half_bytes_(rows * 64), slices_(args.slices) {
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      at_[c] = static_cast<int>(x - ptx::dynamic_shared_memory()) +
               (min(c * plan::kMmaCols + lane / 4, rows - 1) * 4 + lane % 4) * 16;
    }
  }
  __device__ void load(int slice, XSlice<cols>& x) const {
    if (slice >= slices_) return;
    const int at = 2 * slice * half_bytes_;
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      const std::byte* from = ptx::dynamic_shared_memory() + at_[c] + at;
      x.low[c] = *reinterpret_cast<const uint4*>(from);
      x.high[c] = *reinterpret_cast<const uint4*>(from + half_bytes_);
    }
  }

 private:
  int at_[cols], half_bytes_, slices_;
};

template <int cols>
class DistantX {
 public:
  __device__ DistantX(const DecodeArgs& args, const std::byte* /*x*/, int rows, int lane)
      : k_(lane % 4 * 8), depth_(args.depth) {
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      const int column = min(c * plan::kMmaCols + lane / 4, rows - 1);
      const int64_t row = args.row_index != nullptr ? __ldcg(args.row_index + column) : column;
      rows_[c] = args.x + row * args.x_stride + k_;
    }
  }
  __device__ void load(int slice, XSlice<cols>& x) const {
    const int k = slice * kSliceDepth;
    const bool has_low = k + k_ < depth_, has_high = k + k_ + 32 < depth_;
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      x.low[c] = has_low ? *reinterpret_cast<const uint4*>(rows_[c] + k) : uint4{};
      x.high[c] = has_high ? *reinterpret_cast<const uint4*>(rows_[c] + k + 32) : uint4{};
    }
  }

 private:
  int k_, depth_;
  const uint16_t* rows_[cols];
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

/// The norm's weights of a thread's first chunks, asked for before the PDL wait: all of rows of 4,096 elements.
struct NormWeights {
  static constexpr int kChunks = 2;
  float4 low[kChunks], high[kChunks];

  __device__ NormWeights(const NormInput& norm, int chunks) {
#pragma unroll
    for (int n = 0; n < kChunks; ++n) {
      const int chunk = static_cast<int>(threadIdx.x) + n * kThreads;
      if (norm.residual == nullptr || chunk >= chunks) continue;
      low[n] = *reinterpret_cast<const float4*>(norm.weight + chunk * kNormChunk);
      high[n] = *reinterpret_cast<const float4*>(norm.weight + chunk * kNormChunk + 4);
    }
  }
};

/// The same of normed rows: every block norms all of them, and one keeps what is to be kept of a row. A thread has
/// chunks threadIdx.x + n * kThreads of every row throughout, which are those that sum_parts gives it.
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

  /// residual + delta of one chunk of every row, loads first.
  __device__ void add(int chunk) const {
    constexpr int kAtOnce = 4;
    const NormInput& norm = args.norm;
    for (int first = 0; first < rows; first += kAtOnce) {
      uint4 v[kAtOnce], d[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (first + i >= rows) continue;
        const int64_t at = int64_t{first + i} * args.depth + chunk * kNormChunk;
        v[i] = *reinterpret_cast<const uint4*>(norm.residual + at);
        if (norm.delta != nullptr) d[i] = *reinterpret_cast<const uint4*>(norm.delta + at);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int row = first + i;
        if (row >= rows) continue;
        if (norm.delta != nullptr) v[i] = add_bf16(v[i], d[i]);
        *place(chunk, row) = v[i];
        uint16_t* keep = kept(norm.residual_out, row);
        if (keep != nullptr) *reinterpret_cast<uint4*>(keep + chunk * kNormChunk) = v[i];
      }
    }
  }

  __device__ void scale(int chunk, const float* inverses, const float4& low, const float4& high) const {
#pragma unroll 2
    for (int row = 0; row < rows; ++row) {
      const uint4 v = normed(*place(chunk, row), inverses[row], low, high);
      *place(chunk, row) = v;
      uint16_t* keep = kept(args.norm.normed_out, row);
      if (keep != nullptr) *reinterpret_cast<uint4*>(keep + chunk * kNormChunk) = v;
    }
  }
};

/// parts: [kFusedNormRowsMax, kNormParts], and [kFusedNormRowsMax] more.
__device__ void norm_rows(const DecodeArgs& args, const NormWeights& weights, std::byte* x, float* parts, int rows,
                          int warp, int lane) {
  const NormedRows normed_rows{args, x, rows};
  const int chunks = normed_rows.chunks, padded = args.slices * (kSliceDepth / 8);
  const auto thread = static_cast<int>(threadIdx.x);
  float* inverses = parts + kFusedNormRowsMax * kNormParts;
  for (int chunk = thread; chunk < chunks; chunk += kThreads) normed_rows.add(chunk);
#pragma unroll 4
  for (int row = 0; row < rows; ++row) {
    sum_parts(chunks, warp, kWarps, lane, parts + row * kNormParts,
              [&](int i, float sum) { return add_squares(*normed_rows.place(i, row), sum); });
    if (chunks + thread < padded) *normed_rows.place(chunks + thread, row) = {};
  }
  __syncthreads();
  if (thread < rows) inverses[thread] = inverse_norm(parts + thread * kNormParts, args.depth, args.norm.eps);
  __syncthreads();
#pragma unroll
  for (int n = 0; n < NormWeights::kChunks; ++n) {
    const int chunk = thread + n * kThreads;
    if (chunk < chunks) normed_rows.scale(chunk, inverses, weights.low[n], weights.high[n]);
  }
  for (int chunk = thread + NormWeights::kChunks * kThreads; chunk < chunks; chunk += kThreads) {
    const auto* weight = reinterpret_cast<const float4*>(args.norm.weight + chunk * kNormChunk);
    normed_rows.scale(chunk, inverses, weight[0], weight[1]);
  }
}

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
__device__ void multiply(const DecodeArgs& args, const DecodeMatrix& m, int segment, WeightReader& weights, const X& x,
                         int lane, Sums<cols>& sums) {
  constexpr int kBytes = plan::weight_slice_bytes(format);
  const int end = args.segment_slice(m.segments, segment + 1);
  int slice = args.segment_slice(m.segments, segment);
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
      case WeightFormat::fp8_e4m3:
        multiply<WeightFormat::fp8_e4m3, cols>(args, m, segment, weights, x, lane, sums);
        break;
      case WeightFormat::nvfp4: multiply<WeightFormat::nvfp4, cols>(args, m, segment, weights, x, lane, sums); break;
      case WeightFormat::mxfp4: multiply<WeightFormat::mxfp4, cols>(args, m, segment, weights, x, lane, sums); break;
      default: multiply<WeightFormat::bf16, cols>(args, m, segment, weights, x, lane, sums); break;
    }
    if (m.segments > 1 && !combine<cols>(m, work.task, exchange, warp, lane, sums)) continue;
    write_sums<cols>(m, work.task.strip, work.alpha, rows, lane, sums);
  }
}

struct SmemPlaces {
  int x, norm_parts, exchange, barriers;
};

template <int cols, bool resident>
__global__ void __launch_bounds__(kThreads, kDecodeKernelsPerSm)
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
  constexpr bool kNorms = resident && cols == 1;
  const NormWeights norm_weights(args.norm, kNorms ? args.depth / kNormChunk : 0);
  const int rows = live_rows(args);
  __syncthreads();  // barriers are made
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  if (rows <= 0) return source.drain();

  if constexpr (resident) {
    if (kNorms && args.norm.residual != nullptr) {
      norm_rows(args, norm_weights, smem + places.x, reinterpret_cast<float*>(smem + places.norm_parts), rows, warp,
                lane);
    } else {
      copy_rows(args, smem + places.x, rows);
    }
    __syncthreads();
  }
  if (brings) return source.refill(args);
  auto* exchange = reinterpret_cast<float4*>(smem + places.exchange);
  if constexpr (resident) {
    run_tasks<cols, ResidentX<cols>>(args, work, ring, smem + places.x, exchange, rows, warp, lane);
  } else {
    run_tasks<cols, DistantX<cols>>(args, work, ring, nullptr, exchange, rows, warp, lane);
  }
}

}  // namespace

Status dense_decode(const DecodeLaunch& launch, const device::Queue& queue) {
  const DecodeArgs& args = launch.args;
  const DecodeSmem smem = decode_smem(args);
  if (args.stages < kDecodeStagesMin || smem.total > plan::kSmemPerBlockMax) {
    return {StatusCode::internal, "a decode product of " + std::to_string(args.rows_max) + " rows of " +
                                      std::to_string(args.depth) + " elements has " + std::to_string(args.stages) +
                                      " stages a warp in " + std::to_string(smem.total) + " bytes of shared memory"};
  }
  const bool wide = args.rows_max > plan::kMmaCols;
  const auto kernel = args.resident_bytes > 0 ? (wide ? dense_decode_rows<2, true> : dense_decode_rows<1, true>)
                                              : (wide ? dense_decode_rows<2, false> : dense_decode_rows<1, false>);
  return device::launch(kernel, queue, launch.blocks, kThreads, static_cast<size_t>(smem.total), args,
                        SmemPlaces{smem.x, smem.norm_parts, smem.exchange, smem.barriers});
}

}  // namespace tessera::kernels::cuda
