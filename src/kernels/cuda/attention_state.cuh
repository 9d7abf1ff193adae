#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/attention_row.cuh"
#include "kernels/ptx/ex2.cuh"
#include "kernels/ptx/mma_bf16.cuh"

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
  float o[blocks][tiles][4];             // sums of p V: [0], [1] of row g, [2], [3] of row g + 8
  float max[blocks][2], sum[blocks][2];  // of row g and of row g + 8; max in powers of two
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
  int running;             // slot, and the one behind it, of what a block that takes several splits has so far

  [[nodiscard]] __device__ int slot(int i) const { return first_slot + i * stride; }
};

/// After a split of a block that takes splits begin to end in turn: s becomes the state of its superblock so far, at
/// the last split that of all. In between the state of the superblock lies in one slot, of those before in the next:
/// sums leave no registers for them. All threads call it. sees: as for combine().
template <int superblock, typename Slots, typename Sees>
__device__ inline void accumulate(int split, int begin, int end, int running, const Slots& slots, typename Slots::S& s,
                                  bool writes_rows, const Sees& sees) {
  if (end - begin == 1) return;
  const bool last = split + 1 == end, ends = last || (split + 1) % superblock == 0;
  if (split > begin && split % superblock != 0) slots.put_before(running, s, sees(false, split));
  if (ends && split - begin >= superblock) slots.put_before(running + 1, s, sees(true, split / superblock));
  __syncthreads();  // every warp has read its rows: the slot may be written, by combine() too
  if (last) return;
  slots.store(running + (ends ? 1 : 0), s, writes_rows);
  __syncthreads();
}

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

/// Two BF16 outputs times sigmoid(gate).
__device__ inline uint32_t gated(uint32_t attended, uint32_t gate) {
  const auto one = [](float o, float g) { return __fmul_rn(o, spelt::round_bf16(spelt::sigmoid(g))); };
  return bf16_pair(one(low_bf16(attended), low_bf16(gate)), one(high_bf16(attended), high_bf16(gate)));
}

/// Rows (position, query head) of one sequence and KV head.
struct OutputRows {
  int first_row = 0;  // of the batch
  int kv_head = 0;
  int live_rows = 0;
};

/// Divides the sums of a complete state, as rows in shared memory. pair_dim(tile): of the first two of its four sums.
template <int dim, int blocks, int tiles, typename PairDim>
__device__ inline void put_rows(const LaunchArgs& args, const State<blocks, tiles>& s, const Rows<dim, false>& rows,
                                int first_row, const PairDim& pair_dim) {
  const float scale = args.kv.dtype == DType::f8_e4m3 ? args.kv.v_scale : 1.0F;
#pragma unroll
  for (int b = 0; b < blocks; ++b) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float inverse = __fdiv_rn(1.0F, s.sum[b][half]);
      const auto attended = [&](float o) { return __fmul_rn(__fmul_rn(o, inverse), scale); };
      const int row = first_row + 16 * b + 8 * half + static_cast<int>(threadIdx.x) % 32 / 4;
#pragma unroll
      for (int n = 0; n < tiles; ++n) {
        *reinterpret_cast<uint32_t*>(rows.element(row, pair_dim(n))) =
            ptx::cvt_bf16x2(attended(s.o[b][n][2 * half + 1]), attended(s.o[b][n][2 * half]));
      }
    }
  }
}

/// Gates the rows and writes them out, by the whole block.
template <int dim>
__device__ inline void write_rows(const LaunchArgs& args, const Rows<dim, false>& rows, const OutputRows& to) {
  const AttentionShape& shape = args.plan.shape;
  const int chunks = shape.head_dim / 8;
  __syncthreads();
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < to.live_rows * chunks; i += static_cast<int>(blockDim.x)) {
    const int local = i / chunks, chunk = i % chunks;
    const int64_t row = to.first_row + local / args.group;
    const int64_t head = to.kv_head * args.group + local % args.group;
    const uint16_t* gate = args.query_gate + row * args.query_gate_stride + (head * 2 + 1) * shape.head_dim;
    const uint4 g = __ldcg(reinterpret_cast<const uint4*>(gate) + chunk);
    const uint4 o = *reinterpret_cast<const uint4*>(rows.chunk(local, chunk));
    reinterpret_cast<uint4*>(args.out + (row * shape.heads + head) * shape.head_dim)[chunk] =
        uint4{gated(o.x, g.x), gated(o.y, g.y), gated(o.z, g.z), gated(o.w, g.w)};
  }
  __syncthreads();  // the rows may be written again
}

}  // namespace tessera::kernels::cuda::attn
