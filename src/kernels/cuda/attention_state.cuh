#pragma once

#include <algorithm>
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
  int thread;     // ours
  int first_row;  // of this warp
  int live_rows;  // those behind are no rows: neither written nor read

  [[nodiscard]] __device__ bool live(int block, int half) const {
    return first_row + 16 * block + 8 * half < live_rows;
  }
  [[nodiscard]] __device__ float2* sums(int64_t slot, int block, int half) const {
    return reinterpret_cast<float2*>(base + slot * kBytes) + (block * 2 + half) * tiles * threads + thread;
  }
  [[nodiscard]] __device__ float2* row(int64_t slot, int block, int half) const {
    const int g = thread % 32 / 4;
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
        if (writes_rows && thread % 4 == 0) __stcg(row(slot, b, half), float2{s.max[b][half], s.sum[b][half]});
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

  /// A few tiles of a thread's sums in one block's half.
  static constexpr int kBatch = std::min(tiles, 8);
  struct Batch {
    float2 o[kBatch];
    float max, sum;

    __device__ void load(const Slots& slots, int64_t slot, int b, int half, int first_tile) {
      const float2 r = __ldcg(slots.row(slot, b, half));
      max = r.x, sum = r.y;
      const float2* from = slots.sums(slot, b, half) + first_tile * threads;
#pragma unroll
      for (int n = 0; n < kBatch; ++n) o[n] = __ldcg(from + n * threads);
    }
    __device__ void append(const Batch& later) {
      const Merge merge(max, sum, later.max, later.sum);
#pragma unroll
      for (int n = 0; n < kBatch; ++n) o[n] = {merge(o[n].x, later.o[n].x), merge(o[n].y, later.o[n].y)};
    }
  };

  /// Merges the states of `count` slots from `first` on, `stride` apart, in ascending order. sees(i, block, half):
  /// whether the thread's row has seen any of the i-th. emit(block, half, first tile, Batch).
  template <typename Sees, typename Emit>
  __device__ void merge(int64_t first, int64_t stride, int count, const Sees& sees, const Emit& emit) const {
    constexpr int kAtOnce = 4;  // slots: their loads are under way together
#pragma unroll 1
    for (int part = 0; part < blocks * 2 * (tiles / kBatch); ++part) {
      const int b = part / (tiles / kBatch) / 2, half = part / (tiles / kBatch) % 2;
      const int first_tile = part % (tiles / kBatch) * kBatch;
      if (!live(b, half)) continue;
      Batch total;
      total.load(*this, first, b, half, first_tile);
#pragma unroll 1
      for (int i = 1; i < count; i += kAtOnce) {
        Batch next[kAtOnce];
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          next[k].load(*this, first + min(i + k, count - 1) * stride, b, half, first_tile);
        }
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          if (i + k < count && sees(i + k, b, half)) total.append(next[k]);
        }
      }
      emit(b, half, first_tile, total);
    }
  }

  /// The same, to the first slot. Rows' maxima and sums follow when every warp has read them.
  template <typename Sees>
  __device__ void merge_in_place(int64_t first, int64_t stride, int count, const Sees& sees, bool writes_rows) const {
    merge(first, stride, count, sees, [&](int b, int half, int first_tile, const Batch& total) {
      float2* to = sums(first, b, half) + first_tile * threads;
#pragma unroll
      for (int n = 0; n < kBatch; ++n) __stcg(to + n * threads, total.o[n]);
    });
    __syncthreads();
    if (!writes_rows) return;
#pragma unroll 1
    for (int part = 0; part < blocks * 2; ++part) {
      const int b = part / 2, half = part % 2;
      if (!live(b, half)) continue;
      float2 total = __ldcg(row(first, b, half));
#pragma unroll 1
      for (int i = 1; i < count; ++i) {
        const float2 r = __ldcg(row(first + i * stride, b, half));
        if (sees(i, b, half)) Merge(total.x, total.y, r.x, r.y);
      }
      __syncwarp();  // all four lanes of the row have read it
      if (thread % 4 == 0) __stcg(row(first, b, half), total);
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

/// Lays down this part's state; the last block to come merges all parts and gives the whole to emit (Slots::merge).
/// Returns whether this is that block. The order of arrival decides who merges, not what. tickets: [2, slots], of
/// superblocks, at the slot of their first part, then of all parts, at that of part 0. sees(superblocks, i): whether a
/// row has seen any of part or superblock i, given as a function of (block, half).
template <typename Slots, typename Sees, typename Emit>
__device__ inline bool combine(const Parts& p, int32_t* tickets, int ticket_slots, const Slots& slots,
                               const typename Slots::S& s, bool writes_rows, int32_t* word, const Sees& sees,
                               const Emit& emit) {
  slots.store(p.slot(p.part), s, writes_rows);
  if (p.superblock > 1) {
    const int first = p.part / p.superblock * p.superblock, count = min(p.superblock, p.parts - first);
    if (!last_to_come(tickets + p.slot(first), count, word)) return false;
    const auto sees_part = [&](int i, int b, int half) { return sees(false, first + i)(b, half); };
    if (count == p.parts) {
      slots.merge(p.slot(first), p.stride, count, sees_part, emit);
      return true;
    }
    slots.merge_in_place(p.slot(first), p.stride, count, sees_part, writes_rows);
  }
  const int superblocks = (p.parts + p.superblock - 1) / p.superblock;
  if (!last_to_come(tickets + ticket_slots + p.slot(0), superblocks, word)) return false;
  slots.merge(
      p.slot(0), int64_t{p.stride} * p.superblock, superblocks,
      [&](int i, int b, int half) { return sees(true, i)(b, half); }, emit);
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

/// Divides sums, as rows in shared memory.
template <int dim>
struct PutRows {
  const LaunchArgs& args;
  Rows<dim> rows;
  int first_row;  // of the warp

  __device__ uint16_t* at(int b, int half, int d) const {
    return rows.element(first_row + 16 * b + 8 * half + static_cast<int>(threadIdx.x) % 32 / 4, d);
  }
  __device__ void put(uint16_t* to, float low, float high, float inverse) const {
    const float scale = args.kv.dtype == DType::f8_e4m3 ? args.kv.v_scale : 1.0F;
    const auto attended = [&](float o) { return __fmul_rn(__fmul_rn(o, inverse), scale); };
    *reinterpret_cast<uint32_t*>(to) = ptx::cvt_bf16x2(attended(high), attended(low));
  }

  /// A complete state in registers. pair_dim(tile): of the first two of its four sums.
  template <int blocks, int tiles, typename PairDim>
  __device__ void all(const State<blocks, tiles>& s, const PairDim& pair_dim) const {
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float inverse = __fdiv_rn(1.0F, s.sum[b][half]);
#pragma unroll
        for (int n = 0; n < tiles; ++n) {
          put(at(b, half, pair_dim(n)), s.o[b][n][2 * half], s.o[b][n][2 * half + 1], inverse);
        }
      }
    }
  }
  /// A few tiles of one.
  template <typename Batch, typename PairDim>
  __device__ void some(int b, int half, int first_tile, const Batch& batch, const PairDim& pair_dim) const {
    const float inverse = __fdiv_rn(1.0F, batch.sum);
    int n = first_tile;
#pragma unroll
    for (const float2& o : batch.o) put(at(b, half, pair_dim(n++)), o.x, o.y, inverse);
  }
};

/// Gates the rows and writes them out, by the whole block.
template <int dim>
__device__ inline void write_rows(const LaunchArgs& args, const Rows<dim>& rows, const OutputRows& to) {
  const AttentionShape& shape = args.plan.shape;
  const int chunks = shape.head_dim / 8;
  __syncthreads();
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < to.live_rows * chunks; i += static_cast<int>(blockDim.x)) {
    const int local = i / chunks, chunk = i % chunks;
    const int64_t row = to.first_row + local / args.group;
    const int64_t head = to.kv_head * args.group + local % args.group;
    const uint16_t* gate = args.query_gate + row * args.query_gate_stride + (head * 2 + 1) * shape.head_dim;
    uint4 g = __ldcg(reinterpret_cast<const uint4*>(gate) + chunk);
    uint4 o = *reinterpret_cast<const uint4*>(rows.chunk(local, chunk));
    // Two elements at a time, in a circle: a block comes here once, and would wait for the code of eight.
#pragma unroll 1
    for (int word = 0; word < 4; ++word) {
      const uint32_t done = gated(o.x, g.x);
      o = {o.y, o.z, o.w, done};
      g = {g.y, g.z, g.w, g.x};
    }
    reinterpret_cast<uint4*>(args.out + (row * shape.heads + head) * shape.head_dim)[chunk] = o;
  }
  __syncthreads();  // the rows may be written again
}

}  // namespace tessera::kernels::cuda::attn
