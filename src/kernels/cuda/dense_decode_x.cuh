#pragma once

#include "kernels/cuda/dense_decode.h"
#include "kernels/cuda/norm.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/shared_memory.cuh"

// The rows that the decode kernel multiplies with, as they are or normed.
//
// x lies in shared memory (resident) where there is room, normed there if there is a norm, in the order of lanes: for
// each half slice [column][4 x 16 bytes], so that lanes of one column read the same, and those of several read without
// bank conflicts. Otherwise it is read where it lies, 16 bytes a lane, a slice ahead. Columns without a row repeat the
// last one: no MMA mixes columns, and none of theirs is written.
namespace tessera::kernels::cuda {

// ---- activations ----

/// x of this lane's columns: what the MMAs of a slice take.
template <int cols>
struct XSlice {
  uint4 low[cols], high[cols];  // elements 0..31 of K, and 32..63
};

/// Where chunk `chunk` (8 elements of K) of row `row` lies in shared memory.
__device__ inline int resident_place(int chunk, int row, int rows) {
  return ((chunk / 4 * rows + row) * 4 + chunk % 4) * 16;
}

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

/// Rows of x to shared memory as they are, all of it asked for at once. Elements beyond the depth are zeros.
__device__ inline void copy_rows(const DecodeArgs& args, std::byte* x, int rows) {
  const int chunks = args.depth / 8, padded = args.slices * (kSliceDepth / 8);
  const uint32_t to = ptx::shared_address(x);
#pragma unroll 1
  for (int row = 0; row < rows; ++row) {
    const int64_t from = args.row_index != nullptr ? __ldcg(args.row_index + row) : row;
    const uint16_t* source = args.x + from * args.x_stride;
    for (int chunk = static_cast<int>(threadIdx.x); chunk < padded; chunk += kDecodeThreads) {
      ptx::cp_async_ca_16(to + resident_place(chunk, row, rows), source + min(chunk, chunks - 1) * 8,
                          chunk < chunks ? 16 : 0);
    }
  }
  ptx::cp_async_commit_group();
  ptx::cp_async_wait_group<0>();
}

/// The same of normed rows: every block norms all of them, and one keeps what is to be kept of a row. A thread has
/// chunks threadIdx.x + n * kDecodeThreads of every row throughout, which are those of its lane in the norm's tree.
template <int rows_max>
struct NormedRows {
  static_assert(kDecodeThreads == kNormLanes && rows_max <= kFusedNormRowsMax);
  const DecodeArgs& args;
  std::byte* x;
  int rows;
  int chunks = args.depth / kNormChunk;

  [[nodiscard]] __device__ uint4* place(int chunk, int row) const {
    return reinterpret_cast<uint4*>(x + resident_place(chunk, row, rows));
  }
  [[nodiscard]] __device__ uint16_t* kept(uint16_t* all, int row) const {
    const auto block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
    const bool mine = block == (blocks >= kFusedNormRowsMax ? row : row % blocks);
    return mine && all != nullptr ? all + int64_t{row} * args.depth : nullptr;
  }

  /// residual + delta of one chunk of every row, and sums[row] + its squares. All loads are under way together.
  __device__ void add(int chunk, float (&sums)[rows_max]) const {
    const NormInput& norm = args.norm;
    uint4 v[rows_max], d[rows_max];
#pragma unroll
    for (int row = 0; row < rows_max; ++row) {
      if (row >= rows) break;
      const int64_t at = int64_t{row} * args.depth + chunk * kNormChunk;
      v[row] = *reinterpret_cast<const uint4*>(norm.residual + at);
      if (norm.delta != nullptr) d[row] = *reinterpret_cast<const uint4*>(norm.delta + at);
    }
#pragma unroll
    for (int row = 0; row < rows_max; ++row) {
      if (row >= rows) break;
      if (norm.delta != nullptr) v[row] = add_bf16(v[row], d[row]);
      *place(chunk, row) = v[row];
      sums[row] = add_squares(v[row], sums[row]);
      uint16_t* keep = kept(norm.residual_out, row);
      if (keep != nullptr) *reinterpret_cast<uint4*>(keep + chunk * kNormChunk) = v[row];
    }
  }

  __device__ void scale(int chunk, const float* inverses, const float4& low, const float4& high) const {
#pragma unroll 4
    for (int row = 0; row < rows; ++row) {
      const uint4 v = normed(*place(chunk, row), inverses[row], low, high);
      *place(chunk, row) = v;
      uint16_t* keep = kept(args.norm.normed_out, row);
      if (keep != nullptr) *reinterpret_cast<uint4*>(keep + chunk * kNormChunk) = v;
    }
  }
};

/// Of up to rows_max rows: for one the launch fetches little code. parts: [kFusedNormRowsMax, kNormParts], and
/// [kFusedNormRowsMax] more.
template <int rows_max>
__device__ inline void norm_rows(const DecodeArgs& args, const NormWeights& weights, std::byte* x, float* parts,
                                 int rows, int warp, int lane) {
  const NormedRows<rows_max> normed_rows{args, x, rows};
  const int chunks = normed_rows.chunks, padded = args.slices * (kSliceDepth / 8);
  const auto thread = static_cast<int>(threadIdx.x);
  float* inverses = parts + kFusedNormRowsMax * kNormParts;
  float sums[rows_max] = {};
#pragma unroll 1
  for (int chunk = thread; chunk < chunks; chunk += kDecodeThreads) normed_rows.add(chunk, sums);
#pragma unroll
  for (int row = 0; row < rows_max; ++row) {
    if (row >= rows) break;
    sums[row] = add_lanes(sums[row]);
    if (lane == 0) parts[row * kNormParts + warp] = sums[row];
    if (chunks + thread < padded) *normed_rows.place(chunks + thread, row) = {};
  }
  __syncthreads();
  if (thread < rows) inverses[thread] = inverse_norm(parts + thread * kNormParts, args.depth, args.norm.eps);
  __syncthreads();
  weights.for_each_chunk(args.norm, chunks, [&](int chunk, const float4& low, const float4& high) {
    normed_rows.scale(chunk, inverses, low, high);
  });
}

}  // namespace tessera::kernels::cuda
