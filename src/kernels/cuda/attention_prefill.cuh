#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/cuda/attention_state.cuh"
#include "kernels/cuda/attention_units.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/ldmatrix.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "kernels/ptx/unhoisted.cuh"

// Attention of prefill rows. One kernel stores K and V of all of them; in the next a unit is (sequence, query tile, KV
// head, split of 4,096 positions), or more splits in turn. A query tile is up to 128 rows (position, query head), 16 a
// warp, of a power of two of positions, so that it lies within one KV tile of 64 positions: the tiles that its rows see
// are the same, whatever the chunk that they came in. Q and the sums stay in registers, tiles of K and V pass through
// shared memory.
namespace tessera::kernels::cuda::attn {

inline constexpr int kStoreThreads = 256;

/// A warp a row and KV head.
template <int dim, bool fp8>
__global__ void __launch_bounds__(kStoreThreads) store_prefill(const __grid_constant__ LaunchArgs args) {
  constexpr int kWarps = kStoreThreads / 32;
  const Rows<dim> scratch{ptx::dynamic_shared_memory()};
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int first = __ldcg(&args.tables.counts->decode_rows), end = __ldcg(&args.tables.counts->rows);
  const int kv_heads = args.plan.shape.kv_heads;
  const int index = static_cast<int>(blockIdx.x) * kWarps + warp;
  const int row = first + index / kv_heads;
  if (row >= end) return;
  const int position = __ldcg(args.tables.row_position + row);
  const Sequence sequence = load_sequence(args.tables, __ldcg(args.tables.row_sequence + row));
  const int block =
      __ldcg(args.tables.block_tables + sequence.slot * args.tables.block_table_stride + position / kBlockTokens);
  const LaneRotation rotation(args, position, lane);
  store_key_value<dim, fp8>(args, row, index % kv_heads, block, position % kBlockTokens, rotation, scratch, warp, lane);
}

template <int dim_, bool fp8_>
struct PrefillShape {
  static constexpr int dim = dim_;
  static constexpr bool fp8 = fp8_;
  static constexpr int kWarps = kPrefillThreads / 32;
  static constexpr int kTileTokens = kBlockTokens;
  static constexpr int kTileBytes = kTileTokens * dim * 2;  // of BF16
  static constexpr int kStoredBytes = kTileTokens * dim * (fp8 ? 1 : 2);
  // Three areas. BF16: K, V, Q. E4M3: two landing places of K and V in turn; the tile in use, as BF16; Q.
  static constexpr int kLanding = 0, kConverted = kTileBytes, kQuery = 2 * kTileBytes;
  static_assert(!fp8 || 2 * kStoredBytes == kTileBytes);
  static constexpr int kAhead = fp8 ? 2 : 1;  // stages requested before the one in use is done
  // Of the fragments of Q as many stay in registers as leave room for the sums; the rest lie in their area, in the
  // order of threads. The rows pass through the last two areas on their way.
  static constexpr int kSteps = dim / 16, kResident = std::min(kSteps, 8);
  static_assert((kSteps - kResident) * kPrefillThreads * 16 <= kTileBytes);
  static_assert(kPrefillRows * dim * 2 == 2 * kTileBytes);
  static constexpr int kWords = 3 * kTileBytes;
  static constexpr int kFirstNan = kWords + 16;
  static constexpr int kUnit = kFirstNan + dim, kBlocks = kUnit + 128;
  static constexpr int kSplitTiles = kPrefillSplitTokens / kTileTokens;
  static constexpr int kBytes = kBlocks + kSplitTiles * 4;
  static_assert(kBytes <= 101376);

  using Softmax = State<1, dim / 8>;
  using Memory = Slots<1, dim / 8, kPrefillThreads, kPrefillRows>;
  static_assert(Memory::kBytes == prefill_slot_bytes(dim));
};

struct PrefillUnit {
  Sequence sequence;
  int kv_head = 0;
  int first = 0, positions = 0;  // of the sequence's rows in this step
  int splits = 0;                // of these rows
  int begin = 0, end = 0;        // ours; maybe none
  int last_tile = 0;             // KV tile of these rows
  int live_rows = 0;
  Parts parts;

  [[nodiscard]] __device__ int first_position() const { return sequence.first_position + first; }
  [[nodiscard]] __device__ int last_position() const { return first_position() + positions - 1; }
};

/// Units of a step in order: sequence, query tile from the last on (the longest first), part, KV head.
struct PrefillUnits {
  const LaunchArgs& args;
  int tile_positions;
  Grain grain = Grain::split;

  struct PartsOf {
    int kv_heads, tile_positions;
    [[nodiscard]] __device__ int splits(const Sequence& s) const { return s.last_position() / kPrefillSplitTokens + 1; }
    [[nodiscard]] __device__ int tiles(const Sequence& s) const {
      return (s.rows + tile_positions - 1) / tile_positions;
    }
    [[nodiscard]] __device__ int each(const Sequence& s) const { return tiles(s) * kv_heads; }
  };
  [[nodiscard]] __device__ PartsOf parts_of() const { return {args.plan.shape.kv_heads, tile_positions}; }
  [[nodiscard]] __device__ int parts(int splits) const {
    if (grain == Grain::split) return splits;
    return grain == Grain::superblock ? (splits + kPrefillSuperblock - 1) / kPrefillSuperblock : 1;
  }
  [[nodiscard]] __device__ int units(const Sequence& s) const {
    return parts_of().each(s) * parts(parts_of().splits(s));
  }

  __device__ explicit PrefillUnits(const LaunchArgs& a) : args(a), tile_positions(prefill_tile_positions(a.group)) {}

  __device__ void make(const FoundUnit& found, int index, PrefillUnit& u) const {
    const Sequence& s = found.sequence;
    const int kv_heads = args.plan.shape.kv_heads, of_tile = parts(parts_of().splits(s)) * kv_heads;
    const int local = index - found.first_unit, tile = parts_of().tiles(s) - 1 - local / of_tile;
    const int part = local % of_tile / kv_heads;
    u.sequence = s;
    u.kv_head = local % kv_heads;
    u.first = tile * tile_positions;
    u.positions = min(tile_positions, s.rows - u.first);
    u.splits = u.last_position() / kPrefillSplitTokens + 1;
    u.live_rows = u.positions * args.group;
    u.last_tile = u.last_position() / kBlockTokens;
    const int grain_splits = grain == Grain::split ? 1 : grain == Grain::superblock ? kPrefillSuperblock : u.splits;
    u.begin = part * grain_splits;
    u.end = min(u.begin + grain_splits, u.splits);
    u.parts = {.first_slot = index - part * kv_heads,
               .stride = kv_heads,
               .part = part,
               .parts = parts(u.splits),
               .superblock = grain == Grain::split ? kPrefillSuperblock : 1,
               .running = grain == Grain::all ? 2 * static_cast<int>(blockIdx.x) : index};
  }
};

static_assert(sizeof(PrefillUnit) <= 128);

/// One block's passage through its units. Stages are tiles of K and of V in turn.
template <typename P>
struct PrefillBlock {
  static constexpr int dim = P::dim, kSteps = P::kSteps, kChunks = dim / 8;
  const LaunchArgs& args;
  std::byte* smem;
  uint32_t smem_address;
  int warp, lane;

  int split = 0;
  int issued = 0;  // stages of the split

  /// KV tiles of the split.
  [[nodiscard]] __device__ int tiles(const PrefillUnit& u) const {
    return min(P::kSplitTiles, u.last_tile + 1 - split * P::kSplitTiles);
  }
  [[nodiscard]] __device__ int32_t* blocks() const { return reinterpret_cast<int32_t*>(smem + P::kBlocks); }

  // ---- tiles of K and V ----

  __device__ uint32_t landing(int stage) const {
    return smem_address + P::kLanding + stage % 2 * (P::fp8 ? P::kStoredBytes : P::kTileBytes);
  }
  /// Requests the next stage; a group, also behind the last.
  __device__ void issue(const PrefillUnit& u) {
    const int tile = issued / 2;
    if (tile < tiles(u)) {
      constexpr int kRowChunks = P::kStoredBytes / P::kTileTokens / 16, kTileChunks = P::kStoredBytes / 16;
      static_assert(kPrefillThreads / kRowChunks % 8 == 0, "a thread's rows are swizzled alike");
      const int thread = ptx::unhoisted(static_cast<int>(threadIdx.x)), row = thread / kRowChunks,
                chunk = thread % kRowChunks;
      const int block = blocks()[tile];
      const std::byte* from = (issued % 2 == 0 ? args.kv.keys : args.kv.values) +
                              cache_offset<dim, P::fp8>(args, block, u.kv_head, 0) + thread * 16;
      const uint32_t to =
          landing(issued) + (P::fp8 ? thread : row * kRowChunks + swizzled<kRowChunks>(row, chunk)) * 16;
      if (kTileChunks >= kPrefillThreads || thread < kTileChunks) {
#pragma unroll
        for (int i = 0; i < kTileChunks; i += kPrefillThreads) ptx::cp_async_cg_16(to + i * 16, from + i * 16);
      }
    }
    ++issued;
    ptx::cp_async_commit_group();
  }

  /// A landed E4M3 tile to BF16.
  __device__ void convert(int stage) const {
    constexpr int kRowChunks = dim / 16;
    const std::byte* from = smem + (landing(stage) - smem_address);
    const Rows<dim> to{smem + P::kConverted};
#pragma unroll
    for (int i = static_cast<int>(threadIdx.x); i < P::kStoredBytes / 16; i += kPrefillThreads) {
      const int row = i / kRowChunks, chunk = i % kRowChunks;
      const uint4 codes = *reinterpret_cast<const uint4*>(from + i * 16);
      const auto pairs = [](uint32_t low, uint32_t high) {
        return uint4{ptx::cvt_bf16x2_e4m3x2(low & 0xffffU), ptx::cvt_bf16x2_e4m3x2(low >> 16),
                     ptx::cvt_bf16x2_e4m3x2(high & 0xffffU), ptx::cvt_bf16x2_e4m3x2(high >> 16)};
      };
      *reinterpret_cast<uint4*>(to.chunk(row, 2 * chunk)) = pairs(codes.x, codes.y);
      *reinterpret_cast<uint4*>(to.chunk(row, 2 * chunk + 1)) = pairs(codes.z, codes.w);
    }
  }

  /// The next stage, landed for all. What the one before it held is free, and requested anew.
  __device__ uint32_t next_stage(const PrefillUnit& u) {
    const int stage = issued - P::kAhead;
    ptx::cp_async_wait_group<P::kAhead - 1>();
    __syncthreads();
    if constexpr (P::fp8) {
      convert(stage);
      __syncthreads();
    }
    issue(u);
    return P::fp8 ? smem_address + P::kConverted : landing(stage);
  }

  // ---- the phases ----

  /// Whether any of this warp's rows is one. Asked anew each time: a register kept for the answer is one too many.
  [[nodiscard]] __device__ bool live(const PrefillUnit& u) const { return 16 * warp < u.live_rows; }

  /// Of a row in a tile. Tiles of 16 rows repeat the order.
  static __device__ uint32_t chunk_offset(int row, int chunk) {
    return static_cast<uint32_t>(row * (dim * 2) + swizzled<kChunks>(row, chunk) * 16);
  }

  using Query = uint32_t[P::kResident][4];

  [[nodiscard]] __device__ uint4* query_fragment(int k) const {
    return reinterpret_cast<uint4*>(smem + P::kQuery) + (k - P::kResident) * kPrefillThreads + threadIdx.x;
  }

  /// Normed, rotated queries of this warp's rows, as fragments.
  __device__ void load_query(const PrefillUnit& u, Query& query) const {
    const Rows<dim> rows{smem + P::kConverted};
    int rotated = 16 * warp / args.group;
    LaneRotation rotation(args, u.first_position() + rotated, lane);
#pragma unroll 1
    for (int row = 16 * warp; row < min(16 * warp + 16, u.live_rows); ++row) {
      const int p = row / args.group, head = u.kv_head * args.group + row % args.group;
      if (p != rotated) rotation = LaneRotation(args, u.first_position() + p, lane);
      rotated = p;
      const uint16_t* from = args.query_gate + (u.sequence.first_row + u.first + p) * args.query_gate_stride +
                             int64_t{head} * 2 * args.plan.shape.head_dim;
      norm_and_rotate<dim>(args, load_head(args, from, lane), HeadWeight(args, args.q_norm, lane), rotation, rows, row,
                           lane);
    }
    const int row = 16 * warp + lane % 16;
    const uint32_t address = smem_address + P::kConverted + chunk_offset(row, lane / 16);
    uint32_t rest[kSteps > P::kResident ? kSteps - P::kResident : 1][4];
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      ptx::ldmatrix_x4(k < P::kResident ? query[k] : rest[k - P::kResident], chunk_beside<kChunks>(address, 2 * k));
    }
    __syncthreads();  // all rows are read
#pragma unroll
    for (int k = P::kResident; k < kSteps; ++k) {
      const uint32_t(&a)[4] = rest[k - P::kResident];
      *query_fragment(k) = uint4{a[0], a[1], a[2], a[3]};  // read by this thread alone
    }
  }

  using Scores = float[8][4];

  __device__ void multiply_keys(uint32_t tile, const Query& query, Scores& s) const {
#pragma unroll
    for (auto& block : s) block[0] = block[1] = block[2] = block[3] = 0;
    const uint32_t address = tile + chunk_offset(lane % 8 + lane / 16 * 8, lane / 8 % 2);
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      uint32_t a[4];
      if (k < P::kResident) {
        a[0] = query[k][0], a[1] = query[k][1], a[2] = query[k][2], a[3] = query[k][3];
      } else {
        const uint4 stored = *query_fragment(k);
        a[0] = stored.x, a[1] = stored.y, a[2] = stored.z, a[3] = stored.w;
      }
#pragma unroll
      for (int n = 0; n < 8; n += 2) {
        uint32_t b[4];
        ptx::ldmatrix_x4(b, chunk_beside<kChunks>(address, 2 * k) + 8 * n * (dim * 2));
        ptx::mma_m16n8k16_bf16(s[n], a, b[0], b[1]);
        ptx::mma_m16n8k16_bf16(s[n + 1], a, b[2], b[3]);
      }
    }
  }

  /// Positions of the tile that a row sees.
  __device__ int seen(const PrefillUnit& u, int tile, int half) const {
    const int row = min(16 * warp + 8 * half + lane / 4, u.live_rows - 1);
    return u.first_position() + row / args.group + 1 - tile * P::kTileTokens;
  }

  /// Scores to probabilities in BF16, as fragments; sums so far are scaled to the new maximum.
  __device__ void softmax(const PrefillUnit& u, int tile, Scores& s, typename P::Softmax& state,
                          uint32_t (&p)[4][4]) const {
    const int q = lane % 4;
    const float factor = args.score_factor;
    if ((tile + 1) * P::kTileTokens > u.first_position() + 1) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int end = seen(u, tile, half);
#pragma unroll
        for (int n = 0; n < 8; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            if (8 * n + 2 * q + e >= end) s[n][2 * half + e] = -INFINITY;
          }
        }
      }
    }
    float scale[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = s[0][2 * half];
#pragma unroll
      for (int n = 0; n < 8; ++n) largest = fmaxf(fmaxf(largest, s[n][2 * half]), s[n][2 * half + 1]);
      largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, 1));
      largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, 2));
      const float max = fmaxf(state.max[0][half], __fmul_rn(largest, factor));
      const float shift = reference(max);
      scale[half] = ptx::ex2_approx(__fsub_rn(state.max[0][half], shift));
      state.max[0][half] = max;
      float sum = 0;
#pragma unroll
      for (int n = 0; n < 8; ++n) {
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          s[n][e] = ptx::ex2_approx(__fmaf_rn(s[n][e], factor, -shift));
          sum = __fadd_rn(sum, s[n][e]);
        }
      }
      state.sum[0][half] = __fmaf_rn(state.sum[0][half], scale[half], sum);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      p[k][0] = ptx::cvt_bf16x2(s[2 * k][1], s[2 * k][0]);
      p[k][1] = ptx::cvt_bf16x2(s[2 * k][3], s[2 * k][2]);
      p[k][2] = ptx::cvt_bf16x2(s[2 * k + 1][1], s[2 * k + 1][0]);
      p[k][3] = ptx::cvt_bf16x2(s[2 * k + 1][3], s[2 * k + 1][2]);
    }
    // A factor of 1 changes nothing, and is the rule once the largest score has been seen.
    if (__any_sync(kAll, scale[0] != 1.0F || scale[1] != 1.0F) != 0) {
#pragma unroll
      for (auto& o : state.o[0]) {
        o[0] = __fmul_rn(o[0], scale[0]), o[1] = __fmul_rn(o[1], scale[0]);
        o[2] = __fmul_rn(o[2], scale[1]), o[3] = __fmul_rn(o[3], scale[1]);
      }
    }
  }

  __device__ void multiply_values(uint32_t tile, const uint32_t (&p)[4][4], typename P::Softmax& state) const {
    const uint32_t address = tile + chunk_offset(lane % 16, lane / 16);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int c = 0; c < kChunks; c += 2) {
        uint32_t v[4];
        ptx::ldmatrix_x4_trans(v, chunk_beside<kChunks>(address, c) + 16 * k * (dim * 2));
        ptx::mma_m16n8k16_bf16(state.o[0][c], p[k], v[0], v[1]);
        ptx::mma_m16n8k16_bf16(state.o[0][c + 1], p[k], v[2], v[3]);
      }
    }
  }

  /// The tile that holds the rows' own positions: zeros in the place of values that no row sees, and of NaN that not
  /// every row sees, whose rows' sums become NaN here: 0 x NaN is NaN.
  __device__ void clean(const PrefillUnit& u, int tile, uint32_t values, typename P::Softmax& state) const {
    constexpr int kRowWords = dim / 2;
    const Rows<dim> rows{smem + (values - smem_address)};
    const int all_see = u.first_position() + 1 - tile * P::kTileTokens;
    const int any_sees = u.last_position() + 1 - tile * P::kTileTokens;
    const auto is_nan = [](uint32_t code) { return (code & 0x7fffU) > 0x7f80U; };
    bool found = false;
#pragma unroll 1
    for (int i = all_see * kRowWords + static_cast<int>(threadIdx.x); i < P::kTileTokens * kRowWords;
         i += kPrefillThreads) {
      auto* word = reinterpret_cast<uint32_t*>(rows.base) + i;  // whichever of the row's
      if (i / kRowWords >= any_sees) *word = 0;
      found |= is_nan(*word) || is_nan(*word >> 16);
    }
    if (__syncthreads_or(found ? 1 : 0) == 0) return;
    auto* first_nan = reinterpret_cast<uint8_t*>(smem + P::kFirstNan);  // of a dimension
    for (int d = static_cast<int>(threadIdx.x); d < dim; d += kPrefillThreads) {
      int first = P::kTileTokens;
#pragma unroll 1
      for (int t = P::kTileTokens - 1; t >= all_see; --t) {
        uint16_t* code = rows.element(t, d);
        if (!is_nan(*code)) continue;
        first = t;
        *code = 0;
      }
      first_nan[d] = static_cast<uint8_t>(first);
    }
    __syncthreads();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int end = seen(u, tile, half);
#pragma unroll
      for (int n = 0; n < kChunks; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          if (first_nan[8 * n + 2 * (lane % 4) + e] < end) state.o[0][n][2 * half + e] = __uint_as_float(0x7fffffffU);
        }
      }
    }
    __syncthreads();
  }

  static __device__ void clear(typename P::Softmax& state) {
#pragma unroll
    for (auto& o : state.o[0]) o[0] = o[1] = o[2] = o[3] = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) state.max[0][half] = -INFINITY, state.sum[0][half] = 0;
  }

  // ---- a unit ----

  /// The state of one split. Q is made anew for each, so that it need not stay while states are merged.
  __device__ void attend(const PrefillUnit& u, typename P::Softmax& state) {
    if (static_cast<int>(threadIdx.x) < tiles(u)) {
      const int entry = split * P::kSplitTiles + static_cast<int>(threadIdx.x);
      blocks()[threadIdx.x] =
          __ldcg(args.tables.block_tables + u.sequence.slot * args.tables.block_table_stride + entry);
    }
    __syncthreads();
    issued = 0;
    Query query;
#pragma unroll
    for (int i = 0; i < P::kAhead; ++i) issue(u);
    load_query(u, query);
    clear(state);
#pragma unroll 1
    do {
      uint32_t p[4][4];
      const uint32_t keys = next_stage(u);
      const int tile = split * P::kSplitTiles + (issued - P::kAhead) / 2;
      // By warps without rows too: a branch here takes registers that there are not. Their product with V is left out.
      Scores scores;
      multiply_keys(keys, query, scores);
      softmax(u, tile, scores, state, p);
      const uint32_t values = next_stage(u);
      if (tile == u.last_tile) clean(u, tile, values, state);
      if (live(u)) multiply_values(values, p, state);
    } while (issued < 2 * tiles(u) + P::kAhead);
    ptx::cp_async_wait_group<0>();
    __syncthreads();  // shared memory may be written again
#pragma unroll
    for (float& sum : state.sum[0]) {
      sum = __fadd_rn(sum, __shfl_xor_sync(kAll, sum, 1));
      sum = __fadd_rn(sum, __shfl_xor_sync(kAll, sum, 2));
    }
  }

  __device__ void run(const PrefillUnit& u) {
    const typename P::Memory slots{args.workspace + kAttentionCounterBytes, static_cast<int>(threadIdx.x), 16 * warp,
                                   u.live_rows};
    const auto sees = [](bool, int) { return [](int, int) { return true; }; };  // a tile's rows see the same splits
    typename P::Softmax state;
#pragma unroll 1
    for (split = u.begin; split < u.end; ++split) {
      attend(u, state);
      accumulate<kPrefillSuperblock>(split, u.begin, u.end, u.parts.running, slots, state, true, sees);
    }
    const PutRows<dim> put{args, {smem}, ptx::unhoisted(16 * warp)};
    const auto pair_dim = [&](int n) { return 8 * n + 2 * (lane % 4); };
    if (u.parts.parts == 1) {
      put.all(state, pair_dim);
    } else if (!combine(u.parts, reinterpret_cast<int32_t*>(args.workspace + kPrefillTicketsOffset),
                        args.plan.prefill_slots, slots, state, true, reinterpret_cast<int32_t*>(smem + P::kWords), sees,
                        [&](int b, int half, int first_tile, const auto& batch) {
                          put.some(b, half, first_tile, batch, pair_dim);
                        })) {
      return;
    }
    write_rows(args, put.rows, {u.sequence.first_row + u.first, u.kv_head, u.live_rows});
  }
};

/// Units go to blocks as they come, the longest first; a unit's description lies in shared memory, as sums take the
/// registers. Returns whether there was one. words: the next unit, and blocks that have found none; the last such block
/// resets them.
__device__ inline bool next_unit(const LaunchArgs& args, int32_t* words, PrefillUnit* u) {
  __syncthreads();  // the one before is not read any more
  if (threadIdx.x < 32) {
    const int lane = static_cast<int>(threadIdx.x);
    const int first = __ldcg(&args.tables.counts->decode_sequences), end = __ldcg(&args.tables.counts->sequences);
    PrefillUnits all(args);
    const UnitCounts counts(args.tables, first, end, lane, kPrefillSuperblock, all.parts_of());
    all.grain = counts.grain(args.plan.prefill_slots, args.plan.prefill_blocks);
    const int unit = __shfl_sync(kAll, lane == 0 ? atomicAdd(words, 1) : 0, 0);
    if (unit < counts.units(all.grain)) {
      const auto found =
          find_unit(args.tables, first, end, unit, lane, [&](const Sequence& s) { return all.units(s); });
      if (lane == 0) all.make(found, unit, *u);
    } else if (lane == 0) {
      u->live_rows = 0;
      if (atomicAdd(words + 1, 1) == static_cast<int>(gridDim.x) - 1) words[0] = words[1] = 0;
    }
  }
  __syncthreads();
  return u->live_rows > 0;
}

template <int dim, bool fp8>
__global__ void __launch_bounds__(kPrefillThreads, 1) attention_prefill(const __grid_constant__ LaunchArgs args) {
  using P = PrefillShape<dim, fp8>;
  std::byte* smem = ptx::dynamic_shared_memory();
  PrefillBlock<P> block{args, smem, ptx::shared_address(smem), static_cast<int>(threadIdx.x) / 32,
                        static_cast<int>(threadIdx.x) % 32};
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  auto* words = reinterpret_cast<int32_t*>(args.workspace + kPrefillWordsOffset);
  auto* unit = reinterpret_cast<PrefillUnit*>(smem + P::kUnit);
  while (next_unit(args, words, unit)) {
    if (unit->begin < unit->end) block.run(*unit);
  }
}

template <int dim, bool fp8>
Status launch_prefill(const LaunchArgs& args, const device::Queue& queue) {
  constexpr int kWarps = kStoreThreads / 32;
  // Rows of prefill may be all rows: their number is known on the device alone.
  const int64_t warps = int64_t{args.tables.rows_max} * args.plan.shape.kv_heads;
  TESSERA_RETURN_IF_ERROR(device::launch(store_prefill<dim, fp8>, queue,
                                         static_cast<unsigned>((warps + kWarps - 1) / kWarps), kStoreThreads,
                                         kWarps * dim * 2, args));
  return device::launch(attention_prefill<dim, fp8>, queue, static_cast<unsigned>(args.plan.prefill_blocks),
                        kPrefillThreads, PrefillShape<dim, fp8>::kBytes, args);
}

template <bool fp8>
Status launch_prefill(const LaunchArgs& args, const device::Queue& queue) {
  switch (padded_head_dim(args.plan.shape.head_dim)) {
    case 32: return launch_prefill<32, fp8>(args, queue);
    case 64: return launch_prefill<64, fp8>(args, queue);
    case 128: return launch_prefill<128, fp8>(args, queue);
    case 256: return launch_prefill<256, fp8>(args, queue);
    default: break;
  }
  return {StatusCode::unsupported,
          "attention on the GPU: no prefill kernel for head_dim " + std::to_string(args.plan.shape.head_dim)};
}

}  // namespace tessera::kernels::cuda::attn
