#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kernels/cuda/attention_decode_units.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/ldmatrix.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/prefetch.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "kernels/ptx/unhoisted.cuh"

// Attention of decode rows. A unit is (sequence, KV head, row group, split of 256 positions), or more splits of them in
// turn. The M operand of the MMA is (position, query head), 16 or 32 rows. In K each of eight warps takes 32 positions,
// in V an eighth of the dimensions, so that nobody waits for anybody but for the softmax in between. Keys and values
// come from the cache straight into the registers that the MMA takes them from: which dimensions of a head stand where
// in its K, and which are the columns of its N, is free as long as Q, or the output, agrees.
namespace tessera::kernels::cuda::attn {

template <typename T>
__device__ inline T load_cached(const std::byte* p) {
  return __ldcg(reinterpret_cast<const T*>(p));
}

/// One block's passage through its units.
template <typename D>
struct DecodeBlock {
  static constexpr int dim = D::dim;
  const LaunchArgs& args;
  std::byte* smem;
  uint32_t smem_address;
  int warp, lane;

  // Of a split.
  int start = 0;    // its first position
  int visible = 0;  // of its positions, to the last row of the group
  int blocks = 0;   // lane L: entry L % kSplitBlocks of the split's block table

  __device__ float* exchange(int which, int of_warp) const {
    return reinterpret_cast<float*>(smem + D::kExchange) + (which * D::kWarps + of_warp) * 32;
  }
  __device__ int position(const DecodeUnit& u, int row) const { return u.first_position() + row / args.group; }
  /// Positions of this split that every row sees.
  __device__ int all_see(const DecodeUnit& u) const {
    return min(max(u.first_position() + 1 - start, 0), kDecodeSplitTokens);
  }
  /// Those that a (position, head) row sees.
  __device__ int seen(const DecodeUnit& u, int row) const {
    if (u.rows == 1) return visible;
    return min(max(position(u, min(row, u.live_rows - 1)) + 1 - start, 0), kDecodeSplitTokens);
  }

  __device__ void begin_split(const DecodeUnit& u, int split) {
    start = split * kDecodeSplitTokens;
    visible = min(u.last_position() + 1 - start, kDecodeSplitTokens);
    const int entry = min(start / kBlockTokens + lane % D::kSplitBlocks, u.last_position() / kBlockTokens);
    blocks = __ldcg(args.tables.block_tables + u.sequence.slot * args.tables.block_table_stride + entry);
  }
  /// Where a position of the split lies in keys or values, the same in all lanes; within its block of the cache others
  /// follow.
  [[nodiscard]] __device__ int64_t offset_of(const DecodeUnit& u, int token) const {
    const int block = __shfl_sync(kAll, blocks, token / kBlockTokens);
    return cache_offset<dim, D::fp8>(args, block, u.kv_head, token % kBlockTokens);
  }

  /// Brings the first split's keys and values to L2: a line a lane, of the warp's positions.
  __device__ void prefetch(const DecodeUnit& u) const {
    const int first = warp * D::kWarpTokens;
    const int64_t from = offset_of(u, first) + lane * D::kRowBytes;
    if (first + lane >= visible) return;
#pragma unroll
    for (int byte = 0; byte < D::kRowBytes; byte += 128) {
      ptx::prefetch_l2(args.kv.keys + from + byte);
      ptx::prefetch_l2(args.kv.values + from + byte);
    }
  }

  // ---- the rows of a unit ----

  /// What a warp norms and rotates: keys of this step's rows in the unit's splits, then rows of Q. One code for both:
  /// a launch fetches it anew.
  struct Heads {
    const DecodeBlock& block;
    const DecodeUnit& u;
    int first_new, keys, index;  // index: of the warp's next one
    HeadWeight weight;
    int rotated;
    LaneRotation rotation;

    /// Reads nothing that a kernel of the step makes.
    __device__ Heads(const DecodeBlock& b, const DecodeUnit& unit)
        : block(b),
          u(unit),
          first_new(max(unit.sequence.first_position, unit.begin * kDecodeSplitTokens)),
          keys(max(min(unit.last_position() + 1, unit.end * kDecodeSplitTokens) - first_new, 0)),
          index(b.warp),
          weight(b.args, norm(), b.lane),
          rotated(position()),
          rotation(b.args, rotated, b.lane) {}
    [[nodiscard]] __device__ bool exist() const { return index < keys + u.live_rows; }
    [[nodiscard]] __device__ bool of_key() const { return index < keys; }
    [[nodiscard]] __device__ int row() const { return index - keys; }
    [[nodiscard]] __device__ int position() const { return of_key() ? first_new + index : block.position(u, row()); }
    [[nodiscard]] __device__ const float* norm() const { return of_key() ? block.args.k_norm : block.args.q_norm; }
    /// Of the batch.
    [[nodiscard]] __device__ int key_row() const {
      return u.sequence.first_row + first_new + index - u.sequence.first_position;
    }
    [[nodiscard]] __device__ const uint16_t* source() const {
      const LaunchArgs& args = block.args;
      const int head_dim = args.plan.shape.head_dim;
      if (of_key()) return args.key + key_row() * args.key_stride + int64_t{u.kv_head} * head_dim;
      const int64_t from = int64_t{u.sequence.first_row + u.first + row() / args.group} * args.query_gate_stride;
      const int head = u.kv_head * args.group + row() % args.group;
      return args.query_gate + from + int64_t{head} * 2 * head_dim;
    }
    /// The next one's.
    __device__ void advance() {
      index += D::kWarps;
      if (!exist()) return;
      weight = HeadWeight(block.args, norm(), block.lane);
      if (position() != rotated) rotation = LaneRotation(block.args, position(), block.lane);
      rotated = position();
    }
  };

  /// Stores K and V of this step's rows in the unit's splits, up to the group's last, and makes the rows of Q. Row
  /// groups of one sequence may store the same rows: the same bytes.
  __device__ void prepare(Heads& heads) const {
    const Rows<dim> scratch{smem + D::kProbabilities};
#pragma unroll 1
    for (; heads.exist(); heads.advance()) {
      const uint4 words = load_head(args, heads.source(), lane);
      const bool of_key = heads.of_key();
      norm_and_rotate<dim>(args, words, heads.weight, heads.rotation, {smem + (of_key ? D::kProbabilities : 0)},
                           of_key ? warp : heads.row(), lane);
      if (of_key) store_key(heads, scratch);
    }
    if (heads.keys > 0) __threadfence();  // stored rows are read again past L1
    __syncthreads();
  }
  __device__ void store_key(const Heads& heads, const Rows<dim>& scratch) const {
    const int p = heads.position();
    const int block =
        __ldcg(args.tables.block_tables + heads.u.sequence.slot * args.tables.block_table_stride + p / kBlockTokens);
    const int64_t to = cache_offset<dim, D::fp8>(args, block, heads.u.kv_head, p % kBlockTokens);
    const uint16_t* value = args.value + heads.key_row() * args.value_stride;
    store_head<dim, D::fp8>(args, to, load_head(args, value + heads.u.kv_head * args.plan.shape.head_dim, lane),
                            scratch, warp, lane);
  }

  // ---- the phases of a split ----

  using Scores = float[D::row_blocks][D::kKeyTiles][4];

  /// Positions times dimensions. Of a group of 64 bytes of a position lane 4 g + q has 16, dimensions that follow each
  /// other; of Q's rows g and g + 8 the same ones. An MMA takes four of them from each lane. Positions behind those
  /// that are seen lie in the same block of the cache, whatever it has there.
  __device__ void multiply_keys(const DecodeUnit& u, Scores& s) const {
    using Key = typename D::Key;
    const int first = warp * D::kWarpTokens, g = lane / 4, q = lane % 4;
    if (first >= visible) return;
    const std::byte* from = args.kv.keys + offset_of(u, first) + g * D::kRowBytes + q * sizeof(Key);
    Key keys[D::kKeyTiles][D::kKeyGroupsAtOnce];
    const auto load = [&](int group) {
#pragma unroll
      for (int n = 0; n < D::kKeyTiles; ++n) {
        keys[n][group] = load_cached<Key>(from + n * 8 * D::kRowBytes + group * 4 * static_cast<int>(sizeof(Key)));
      }
    };
#pragma unroll
    for (int group = 0; group < D::kKeyGroupsAtOnce; ++group) load(group);
    using Query = Rows<dim>;
    constexpr int kChunks = 4 * D::kLaneChunks;  // of Q in a group
    auto query_at = static_cast<uint32_t>(g * Query::kBytes + swizzled<Query::kChunks>(g, q * D::kLaneChunks) * 16);
    const bool upper = u.live_rows > 8;
#pragma unroll 1
    for (int left = D::kKeyGroups; left > 0; left -= D::kKeyGroupsAtOnce) {
      from += D::kKeyGroupsAtOnce * 4 * sizeof(Key);
#pragma unroll
      for (int group = 0; group < D::kKeyGroupsAtOnce; ++group) {
        uint4 query[D::row_blocks][2][D::kLaneChunks];
#pragma unroll
        for (int i = 0; i < D::row_blocks; ++i) {
#pragma unroll
          for (int c = 0; c < D::kLaneChunks; ++c) {
            const std::byte* row = smem + chunk_beside<Query::kChunks>(query_at, group * kChunks + c);
            query[i][0][c] = *reinterpret_cast<const uint4*>(row + 16 * i * Query::kBytes);
            query[i][1][c] = {};
            if (upper) query[i][1][c] = *reinterpret_cast<const uint4*>(row + (16 * i + 8) * Query::kBytes);
          }
        }
#pragma unroll
        for (int step = 0; step < 2 * D::kLaneChunks; ++step) {
#pragma unroll
          for (int n = 0; n < D::kKeyTiles; ++n) {
            uint32_t k[2];
            D::key_pairs(keys[n][group], step, k);
#pragma unroll
            for (int i = 0; i < D::row_blocks; ++i) {
              const auto pairs = [&](int half) {
                const uint4& c = query[i][half][step / 2];
                return step % 2 == 0 ? uint2{c.x, c.y} : uint2{c.z, c.w};
              };
              const uint2 low = pairs(0), high = pairs(1);
              const uint32_t a[4] = {low.x, high.x, low.y, high.y};
              ptx::mma_m16n8k16_bf16(s[i][n], a, k[0], k[1]);
            }
          }
        }
        if (left > D::kKeyGroupsAtOnce) load(group);
      }
      query_at += D::kKeyGroupsAtOnce * kChunks * 16;
    }
  }

  /// Maxima and sums of the split, and its probabilities to shared memory.
  __device__ void softmax(const DecodeUnit& u, Scores& s, typename D::Softmax& state) const {
    const int g = lane / 4, q = lane % 4;
    const float factor = args.score_factor;
#pragma unroll
    for (int i = 0; i < D::row_blocks; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = 16 * i + 8 * half + g;
        const int mine = seen(u, row) - warp * D::kWarpTokens;
        float largest = -INFINITY;
#pragma unroll
        for (int n = 0; n < D::kKeyTiles; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float& score = s[i][n][2 * half + e];
            score = 8 * n + 2 * q + e < mine ? score : -INFINITY;
            largest = fmaxf(largest, score);
          }
        }
        largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, 2));
        if (q == 0) exchange(0, warp)[row] = largest;
      }
    }
    __syncthreads();
    std::byte* probabilities = smem + D::kProbabilities;
#pragma unroll
    for (int i = 0; i < D::row_blocks; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = 16 * i + 8 * half + g;
        float largest = exchange(0, 0)[row];
#pragma unroll
        for (int w = 1; w < D::kWarps; ++w) largest = fmaxf(largest, exchange(0, w)[row]);
        const float max = __fmul_rn(largest, factor);
        const float shift = reference(max);
        float sum = 0;
#pragma unroll
        for (int n = 0; n < D::kKeyTiles; ++n) {
          float p[2];
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            p[e] = ptx::ex2_approx(__fmaf_rn(s[i][n][2 * half + e], factor, -shift));
            sum = __fadd_rn(sum, p[e]);
          }
          const int chunk = swizzled<D::kProbabilityBytes / 16>(row, warp * D::kKeyTiles + n);
          *reinterpret_cast<uint32_t*>(probabilities + row * D::kProbabilityBytes + chunk * 16 + q * 4) =
              ptx::cvt_bf16x2(p[1], p[0]);
        }
        sum = __fadd_rn(sum, __shfl_xor_sync(kAll, sum, 1));
        sum = __fadd_rn(sum, __shfl_xor_sync(kAll, sum, 2));
        if (q == 0) exchange(1, warp)[row] = sum;
        state.max[i][half] = max;
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < D::row_blocks; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = 16 * i + 8 * half + g;
        float sum = exchange(1, 0)[row];
#pragma unroll
        for (int w = 1; w < D::kWarps; ++w) sum = __fadd_rn(sum, exchange(1, w)[row]);
        state.sum[i][half] = sum;
      }
    }
  }

  // ---- values ----

  /// A lane's part of sixteen positions: dimensions kLaneDims g on of positions 2q, 2q + 1, 2q + 8 and 2q + 9.
  struct Values {
    typename D::Value of[4];

    static __device__ int token(int lane, int i) { return lane % 4 * 2 + i % 2 + i / 2 * 8; }
    __device__ void load(const std::byte* from) {
#pragma unroll
      for (int i = 0; i < 4; ++i) of[i] = load_cached<typename D::Value>(from + token(0, i) * D::kRowBytes);
    }
  };

  /// Zeros in the place of what no row of the group sees, and of NaN that not every row sees: 0 x NaN is NaN. Returns
  /// whether there was such a NaN.
  __device__ bool clean(const DecodeUnit& u, int token, Values& values) const {
    bool found = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int t = token + Values::token(lane, i);
      if (t >= visible) values.of[i] = {};
      if (t >= all_see(u)) found |= D::take_nan(values.of[i]);
    }
    return found;
  }

  /// First of the two neighbouring dimensions that a thread's sums of tile n stand for.
  __device__ int pair_dim(int n) const {
    constexpr int kEach = D::kLaneDims;
    return warp * D::kWarpDims + lane % 4 * 2 * kEach + (kEach == 1 ? 0 : n / 2 * 2 + n % 2 * kEach);
  }

  /// Sums of rows that see a NaN in place of which the others had zeros.
  __device__ void spread_nan(const DecodeUnit& u, typename D::Softmax& state) const {
#pragma unroll 1
    for (int token = all_see(u); token < visible; ++token) {
      const std::byte* row = args.kv.values + offset_of(u, token);
#pragma unroll
      for (int n = 0; n < D::kValueTiles; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const auto code =
              load_cached<typename D::Code>(row + (pair_dim(n) + e) * static_cast<int>(sizeof(typename D::Code)));
          if (!D::is_nan(code)) continue;
#pragma unroll
          for (int i = 0; i < D::row_blocks; ++i) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
              if (token < seen(u, 16 * i + 8 * half + lane / 4)) {
                state.o[i][n][2 * half + e] = __uint_as_float(0x7fffffffU);
              }
            }
          }
        }
      }
    }
  }

  static constexpr int kBlockSteps = kBlockTokens / 16;
  using BlockValues = Values[kBlockSteps];

  /// Where a lane's values of a block of the cache begin, or of the split's last.
  [[nodiscard]] __device__ const std::byte* my_values(const DecodeUnit& u, int token) const {
    return args.kv.values + offset_of(u, min(token, kDecodeSplitTokens - kBlockTokens)) + lane % 4 * 2 * D::kRowBytes +
           (warp * 8 + lane / 4) * static_cast<int>(sizeof(typename D::Value));
  }
  __device__ void load_first(const DecodeUnit& u, BlockValues& values) const {
    const std::byte* from = my_values(u, 0);
    if (warp >= D::kValueWarps) return;
#pragma unroll
    for (int i = 0; i < kBlockSteps; ++i) values[i].load(from + 16 * i * D::kRowBytes);
  }

  /// Sums of an empty state over the split: P V. values: the first ones.
  __device__ void weigh_values(const DecodeUnit& u, BlockValues& values, typename D::Softmax& state) const {
#pragma unroll
    for (auto& block : state.o) {
#pragma unroll
      for (auto& tile : block) tile[0] = tile[1] = tile[2] = tile[3] = 0;
    }
    if (warp >= D::kValueWarps) return;
    constexpr int kChunks = D::kProbabilityBytes / 16;
    const uint32_t probabilities = smem_address + D::kProbabilities + lane % 16 * D::kProbabilityBytes +
                                   swizzled<kChunks>(lane % 16, lane / 16) * 16;
    bool found = false;
#pragma unroll 1
    for (int token = 0; token < visible; token += kBlockTokens) {
      const std::byte* next = my_values(u, token + kBlockTokens);
      if (token + kBlockTokens > all_see(u)) {
#pragma unroll
        for (int i = 0; i < kBlockSteps; ++i) found |= clean(u, token + 16 * i, values[i]);
      }
#pragma unroll
      for (int i = 0; i < kBlockSteps; ++i) {
        uint32_t a[D::row_blocks][4];
#pragma unroll
        for (int r = 0; r < D::row_blocks; ++r) {
          ptx::ldmatrix_x4(a[r],
                           chunk_beside<kChunks>(probabilities, 2 * i) + 16 * r * D::kProbabilityBytes + token * 2);
        }
#pragma unroll
        for (int n = 0; n < D::kValueTiles; ++n) {
          const uint32_t low = D::value_pair(values[i].of[0], values[i].of[1], n);
          const uint32_t high = D::value_pair(values[i].of[2], values[i].of[3], n);
#pragma unroll
          for (int r = 0; r < D::row_blocks; ++r) ptx::mma_m16n8k16_bf16(state.o[r][n], a[r], low, high);
        }
        if (token + kBlockTokens < visible) values[i].load(next + 16 * i * D::kRowBytes);
      }
    }
    if constexpr (D::kLaneDims > 1) {  // to neighbouring dimensions
#pragma unroll
      for (auto& block : state.o) {
#pragma unroll
        for (int n = 0; n < D::kValueTiles; n += 2) {
#pragma unroll
          for (int e = 0; e < 4; e += 2) {
            const float second = block[n][e + 1];
            block[n][e + 1] = block[n + 1][e];
            block[n + 1][e] = second;
          }
        }
      }
    }
    if (__any_sync(kAll, found ? 1 : 0) != 0) spread_nan(u, state);
  }

  // ---- a unit ----

  /// Whether a row sees any of split, or superblock, i.
  [[nodiscard]] __device__ auto sees(const DecodeUnit& u, bool superblocks, int i) const {
    const int first = i * kDecodeSplitTokens * (superblocks ? kDecodeSuperblock : 1);
    const int first_row = (first - u.first_position()) * args.group, last_row = u.live_rows - 1, g = lane / 4;
    return [=](int block, int half) { return first_row <= min(16 * block + 8 * half + g, last_row); };
  }

  [[nodiscard]] __device__ typename D::Memory slots_of(const DecodeUnit& u) const {
    return {args.workspace + kAttentionCounterBytes, 32 * warp + lane, 0, u.live_rows};
  }

  /// The state of a split.
  __device__ void attend(const DecodeUnit& u, typename D::Softmax& state) const {
    Scores scores = {};
    multiply_keys(u, scores);
    BlockValues values;
    load_first(u, values);
    softmax(u, scores, state);
    weigh_values(u, values, state);
    __syncthreads();  // P may be written again
  }

  /// before_first_write() is called when what earlier kernels do not write any more is under way. ahead: keys and
  /// values are brought to L2 before, which holds those of so few blocks.
  template <typename BeforeFirstWrite>
  __device__ void run(const DecodeUnit& found, bool ahead, const BeforeFirstWrite& before_first_write) {
    DecodeUnit& u = reinterpret_cast<DecodeShared*>(smem + D::kShared)->unit;
    {
      if (threadIdx.x == 0) u = found;
      begin_split(found, found.begin);
      if (ahead) prefetch(found);
      Heads heads(*this, found);
      before_first_write();
      prepare(heads);
    }
    const auto seen_by = [&](bool superblocks, int i) { return sees(u, superblocks, i); };
    typename D::Softmax state;
#pragma unroll 1
    for (int split = u.begin; split < u.end; ++split) {
      begin_split(u, split);
      attend(u, state);
      accumulate<kDecodeSuperblock>(split, u.begin, u.end, u.parts.running, slots_of(u), state, warp == 0, seen_by);
    }
    const auto slots = slots_of(u);
    const PutRows<dim> put{args, {smem}, ptx::unhoisted(0)};
    const auto put_dim = [&](int n) { return ptx::unhoisted(pair_dim(n)); };
    if (u.parts.parts == 1) {
      if (warp < D::kValueWarps) put.all(state, put_dim);
    } else if (!combine(u.parts, reinterpret_cast<int32_t*>(args.workspace), args.plan.decode_slots, slots, state,
                        warp == 0, reinterpret_cast<int32_t*>(smem + D::kExchange), seen_by,
                        [&](int b, int half, int first_tile, const auto& batch) {
                          if (warp < D::kValueWarps) put.some(b, half, first_tile, batch, put_dim);
                        })) {
      return;
    }
    write_rows(args, put.rows, {u.sequence.first_row + u.first, u.kv_head, u.live_rows});
  }
};

template <int dim, bool fp8, int row_blocks>
__global__ void __launch_bounds__(kDecodeThreads, row_blocks == 1 ? 2 : 1)
    attention_decode(const __grid_constant__ LaunchArgs args) {
  using D = DecodeShape<dim, fp8, row_blocks>;
  std::byte* smem = ptx::dynamic_shared_memory();
  auto* shared = reinterpret_cast<DecodeShared*>(smem + D::kShared);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;

  // Before the wait: the tables, which an earlier kernel of the step wrote, and the cache of earlier steps.
  {
    DecodeUnits<row_blocks> all{args, decode_group_rows(args.group, row_blocks)};
    const int sequences = __ldcg(&args.tables.counts->decode_sequences);
    const UnitCounts counts(args.tables, 0, sequences, lane, kDecodeSuperblock, all.parts_of());
    all.grain = counts.grain(args.plan.decode_slots, args.plan.decode_blocks);
    if (threadIdx.x == 0) shared->step = {sequences, counts.units(all.grain), all.group_rows, all.grain};
  }
  __syncthreads();
  const auto wait = [] {
    ptx::griddepcontrol_wait();
    ptx::griddepcontrol_launch_dependents();
  };
  for (int unit = static_cast<int>(blockIdx.x); unit < shared->step.units; unit += static_cast<int>(gridDim.x)) {
    DecodeUnit u;
    {
      const DecodeUnits<row_blocks> all{args, shared->step.group_rows, shared->step.grain};
      const auto units_of = [&](const Sequence& s) { return all.units(s); };
      if (!all.make(find_unit(args.tables, 0, shared->step.sequences, unit, lane, units_of), unit, u)) continue;
    }
    const bool ahead = shared->step.units <= static_cast<int>(gridDim.x);
    // Most blocks have one unit: what it takes is not worth registers beyond it.
    DecodeBlock<D>{args, smem, ptx::shared_address(smem), ptx::unhoisted(warp), ptx::unhoisted(lane)}.run(u, ahead,
                                                                                                          wait);
  }
  wait();
}

template <int dim, bool fp8, int row_blocks>
Status launch_decode(const LaunchArgs& args, const device::Queue& queue) {
  return device::launch(attention_decode<dim, fp8, row_blocks>, queue, static_cast<unsigned>(args.plan.decode_blocks),
                        kDecodeThreads, DecodeShape<dim, fp8, row_blocks>::kBytes, args);
}

template <bool fp8>
Status launch_decode(const LaunchArgs& args, const device::Queue& queue) {
  const bool two = args.plan.decode_row_blocks == 2;
  switch (padded_head_dim(args.plan.shape.head_dim)) {
    case 32: return launch_decode<32, fp8, 1>(args, queue);
    case 64: return launch_decode<64, fp8, 1>(args, queue);
    case 128: return two ? launch_decode<128, fp8, 2>(args, queue) : launch_decode<128, fp8, 1>(args, queue);
    case 256: return two ? launch_decode<256, fp8, 2>(args, queue) : launch_decode<256, fp8, 1>(args, queue);
    default: break;
  }
  return {StatusCode::unsupported,
          "attention on the GPU: no decode kernel for head_dim " + std::to_string(args.plan.shape.head_dim)};
}

}  // namespace tessera::kernels::cuda::attn
