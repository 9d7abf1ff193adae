#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/attention_row.cuh"
#include "kernels/ptx/ex2.cuh"

// Softmax states of rows over a part of their keys: kept in registers as the MMA leaves them, laid down in memory for
// other blocks, merged, and finished to output rows. Lane L: g = L / 4, q = L % 4.
namespace tessera::kernels::cuda::attn {

/// Loads of a few tiles are under way at a time: the compiler would take registers for all of them, but does
/// not move loads across a __syncwarp(), which all lanes pass.
template <int tiles>
__device__ inline void after_tile(int tile) {
  constexpr int kAtOnce = tiles > 8 ? 4 : 8;
  if (tile % kAtOnce == kAtOnce - 1) __syncwarp();
}

/// The exponent that a maximum is taken from: a row that has seen no number but -infinity must not make NaN of it.
__device__ inline float reference(float maximum) { return maximum == -INFINITY ? 0.0F : maximum; }

/// `blocks` blocks of 16 rows, of which a thread holds rows g and g + 8; `tiles` tiles of 8 dimensions.
template <int blocks, int tiles>
struct State {
  float o[blocks][tiles][4];               // sums of p V: [0], [1] of row g, [2], [3] of row g + 8
  float max[blocks][2], sum[blocks][2];    // of row g and of row g + 8; max in powers of two
};

/// Factors of two states' sums, and the maximum and sum of both. The earlier state comes first.
struct Merge {
  float earlier, later;

  __device__ Merge(float& max, float& sum, float later_max, float later_sum) {
    const float both = fmaxf(max, later_max);
    earlier = ptx::ex2_approx(__fsub_rn(max, reference(both)));
    later = ptx::ex2_approx(__fsub_rn(later_max, reference(both)));
    max = both;
    sum = __fmaf_rn(later_sum, later, __fmul_rn(sum, earlier));
  }
  [[nodiscard]] __device__ float operator()(float before, float after) const {
    return __fmaf_rn(after, later, __fmul_rn(before, earlier));
  }
};

/// Memory of states: sums as threads hold them, two to a word of 8 bytes, then maximum and sum by row.
template <int blocks, int tiles, int threads, int rows>
struct Slots {
  using S = State<blocks, tiles>;
  static constexpr int64_t kSumBytes = int64_t{blocks} * 2 * tiles * threads * sizeof(float2);
  static constexpr int64_t kBytes = kSumBytes + int64_t{rows} * sizeof(float2);
  std::byte* base;
  int first_row;  // of this warp
  int live_rows;  // those behind are no rows: neither written nor read

  [[nodiscard]] __device__ bool live(int block, int half) const {
    return first_row + 16 * block + 8 * half < live_rows;
  }
  [[nodiscard]] __device__ float2* sums(int64_t slot, int block, int half) const {
    return reinterpret_cast<float2*>(base + slot * kBytes) + (block * 2 + half) * tiles * threads + threadIdx.x;
  }
  [[nodiscard]] __device__ float2* row(int64_t slot, int block, int half) const {
    const int g = static_cast<int>(threadIdx.x) % 32 / 4;
    return reinterpret_cast<float2*>(base + slot * kBytes + kSumBytes) + first_row + 16 * block + 8 * half + g;
  }

  /// writes_rows: whether this warp writes its rows' maximum and sum; warps with the same rows have the same.
  __device__ void store(int64_t slot, const S& s, bool writes_rows) const {
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (!live(b, half)) continue;
        float2* to = sums(slot, b, half);
#pragma unroll
        for (int n = 0; n < tiles; ++n) __stcg(to + n * threads, float2{s.o[b][n][2 * half], s.o[b][n][2 * half + 1]});
        if (writes_rows && threadIdx.x % 4 == 0) __stcg(row(slot, b, half), float2{s.max[b][half], s.sum[b][half]});
      }
    }
  }

  __device__ void load(int64_t slot, S& s) const {
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (!live(b, half)) continue;
        const float2* from = sums(slot, b, half);
        const float2 r = __ldcg(row(slot, b, half));
        s.max[b][half] = r.x, s.sum[b][half] = r.y;
#pragma unroll
        for (int n = 0; n < tiles; ++n) {
          const float2 v = __ldcg(from + n * threads);
          s.o[b][n][2 * half] = v.x, s.o[b][n][2 * half + 1] = v.y;
          after_tile<tiles>(n);
        }
      }
    }
  }

  /// s becomes the earlier state in memory, then s, which is left out for rows that have not seen any of it.
  template <typename Sees>
  __device__ void put_before(int64_t slot, S& s, const Sees& sees) const {
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (!live(b, half)) continue;
        const bool seen = sees(b, half);
        const float2* from = sums(slot, b, half);
        const float2 before = __ldcg(row(slot, b, half));
        float2 r = before;
        const Merge merge(r.x, r.y, s.max[b][half], s.sum[b][half]);
        s.max[b][half] = seen ? r.x : before.x, s.sum[b][half] = seen ? r.y : before.y;
#pragma unroll
        for (int n = 0; n < tiles; ++n) {
          const float2 v = __ldcg(from + n * threads);
          s.o[b][n][2 * half] = seen ? merge(v.x, s.o[b][n][2 * half]) : v.x;
          s.o[b][n][2 * half + 1] = seen ? merge(v.y, s.o[b][n][2 * half + 1]) : v.y;
          after_tile<tiles>(n);
        }
      }
    }
  }

  /// s, then the later state in memory, for rows that have seen any of it.
  template <typename Sees>
  __device__ void append(S& s, int64_t slot, const Sees& sees) const {
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (!live(b, half)) continue;
        const bool seen = sees(b, half);
        const float2* from = sums(slot, b, half);
        const float2 r = __ldcg(row(slot, b, half));
        float max = s.max[b][half], sum = s.sum[b][half];
        const Merge merge(max, sum, r.x, r.y);
        if (seen) s.max[b][half] = max, s.sum[b][half] = sum;
#pragma unroll
        for (int n = 0; n < tiles; ++n) {
          const float2 v = __ldcg(from + n * threads);
          if (seen) s.o[b][n][2 * half] = merge(s.o[b][n][2 * half], v.x);
          if (seen) s.o[b][n][2 * half + 1] = merge(s.o[b][n][2 * half + 1], v.y);
          after_tile<tiles>(n);
        }
      }
    }
  }
};

/// The parts of one query tile or row group, each a block's work.
struct Parts {
  int first_slot, stride;  // slot of part 0, and from part to part
  int part, parts;         // ours, and how many
  int superblock;          // parts in a superblock; 1: each part is one

  [[nodiscard]] __device__ int slot(int i) const { return first_slot + i * stride; }
};

/// Whether this block is the last of `expected` to come. All threads call it, after the last write that others shall
/// see. word: in shared memory.
__device__ inline bool last_to_come(int32_t* ticket, int expected, int32_t* word) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    const int32_t before = atomicAdd(ticket, 1);
    if (before == expected - 1) *ticket = 0;
    *word = before == expected - 1 ? 1 : 0;
  }
  __syncthreads();
  const bool last = *word != 0;
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/// Lays down this part's state; in the last block to come, s becomes the state of all parts. Returns whether this is
/// that block. The order of arrival decides who merges, not what. tickets: [2, slots], of superblocks, at the slot of
/// their first part, then of all parts, at that of part 0. sees(superblocks, i): whether a row has seen any of part or
/// superblock i, given as a function of (block, half).
template <typename Slots, typename Sees>
__device__ inline bool combine(const Parts& p, int32_t* tickets, int ticket_slots, const Slots& slots,
                               typename Slots::S& s, bool writes_rows, int32_t* word, const Sees& sees) {
  slots.store(p.slot(p.part), s, writes_rows);
  if (p.superblock > 1) {
    const int first = p.part / p.superblock * p.superblock, count = min(p.superblock, p.parts - first);
    if (!last_to_come(tickets + p.slot(first), count, word)) return false;
    slots.load(p.slot(first), s);
#pragma unroll 1
    for (int i = first + 1; i < first + count; ++i) slots.append(s, p.slot(i), sees(false, i));
    if (count == p.parts) return true;
    __syncthreads();  // every warp has read its rows
    slots.store(p.slot(first), s, writes_rows);
  }
  const int superblocks = (p.parts + p.superblock - 1) / p.superblock;
  if (!last_to_come(tickets + ticket_slots + p.slot(0), superblocks, word)) return false;
  slots.load(p.slot(0), s);
#pragma unroll 1
  for (int i = 1; i < superblocks; ++i) slots.append(s, p.slot(i * p.superblock), sees(true, i));
  return true;
}

/// Two neighbouring outputs of a row: sums times 1 / sum and `scale`, times sigmoid(gate).
__device__ inline uint32_t gated(float low, float high, float inverse, float scale, uint32_t gate) {
  const auto one = [&](float o, float g) {
    const float attended = spelt::round_bf16(__fmul_rn(__fmul_rn(o, inverse), scale));
    return __fmul_rn(attended, spelt::round_bf16(spelt::sigmoid(g)));
  };
  return bf16_pair(one(low, low_bf16(gate)), one(high, high_bf16(gate)));
}

/// Where a row's output goes, and its gate; row < 0: nowhere.
struct OutputRow {
  int64_t row;
  int head;
};

/// Writes the rows of a complete state. row_of(block, half): of this thread. pair_dim(tile): of the first two of the
/// four sums of a tile.
template <int blocks, int tiles, typename RowOf, typename PairDim>
__device__ inline void write_rows(const LaunchArgs& args, const State<blocks, tiles>& s, const RowOf& row_of,
                                  const PairDim& pair_dim) {
  const AttentionShape& shape = args.plan.shape;
  const float scale = args.kv.dtype == DType::f8_e4m3 ? args.kv.v_scale : 1.0F;
#pragma unroll
  for (int b = 0; b < blocks; ++b) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const OutputRow at = row_of(b, half);
      const bool exists = at.row >= 0;
      const uint16_t* gate =
          args.query_gate + at.row * args.query_gate_stride + (int64_t{at.head} * 2 + 1) * shape.head_dim;
      uint16_t* out = args.out + (at.row * shape.heads + at.head) * shape.head_dim;
      const float inverse = __fdiv_rn(1.0F, s.sum[b][half]);
#pragma unroll
      for (int n = 0; n < tiles; ++n) {
        const int d = pair_dim(n);
        if (exists && d < shape.head_dim) {
          const uint32_t pair = __ldcg(reinterpret_cast<const uint32_t*>(gate + d));
          *reinterpret_cast<uint32_t*>(out + d) =
              gated(s.o[b][n][2 * half], s.o[b][n][2 * half + 1], inverse, scale, pair);
        }
        after_tile<tiles>(n);
      }
    }
  }
}

}  // namespace tessera::kernels::cuda::attn
