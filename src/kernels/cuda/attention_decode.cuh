#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kernels/cuda/attention_decode_units.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/ldmatrix.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "kernels/ptx/unhoisted.cuh"

// Attention of decode rows. A unit is (sequence, KV head, row group, split of 256 positions), or more splits of them in
// turn. The M operand of the MMA is (position, query head), 16 or 32 rows. In K each of four warps takes 64 positions,
// which are one block of the cache, in V a quarter of the dimensions. A warp loads what it alone reads, through a
// ring of 2 KB stages, first its keys, then its values, so that nobody waits for anybody but for the softmax in
// between.
namespace tessera::kernels::cuda::attn {

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
  int all_see = 0;  // of its positions: those that every row sees
  int old = 0;      // of its positions: those stored in earlier steps
  int blocks = 0;   // lane L: entry L % kSplitBlocks of the split's block table
  int key_stages = 0, stages = 0, issued = 0;
  uint32_t filled = 0, read = 0;  // addresses in the ring: of the stage that is filled next, and read next

  [[nodiscard]] __device__ uint32_t ring() const {
    return smem_address + D::kRing + warp * (D::kStages * D::kStageBytes);
  }
  __device__ void advance(uint32_t& stage) const {
    stage += D::kStageBytes;
    if (stage == ring() + D::kStages * D::kStageBytes) stage = ring();
  }
  __device__ float* exchange(int which, int of_warp) const {
    return reinterpret_cast<float*>(smem + D::kExchange) + (which * D::kWarps + of_warp) * 32;
  }
  __device__ int position(const DecodeUnit& u, int row) const { return u.first_position() + row / args.group; }
  /// Positions of this split that a (position, head) row sees.
  __device__ int seen(const DecodeUnit& u, int row) const {
    return min(max(position(u, min(row, u.live_rows - 1)) + 1 - start, 0), kDecodeSplitTokens);
  }

  // ---- the ring ----

  __device__ void begin_split(const DecodeUnit& u, int split) {
    start = split * kDecodeSplitTokens;
    visible = min(u.last_position() + 1 - start, kDecodeSplitTokens);
    all_see = min(max(u.first_position() + 1 - start, 0), kDecodeSplitTokens);
    old = min(max(u.sequence.first_position - start, 0), kDecodeSplitTokens);
    const int entry = min(start / kBlockTokens + lane % D::kSplitBlocks, u.last_position() / kBlockTokens);
    blocks = __ldcg(args.tables.block_tables + u.sequence.slot * args.tables.block_table_stride + entry);
    const int mine = min(max(visible - warp * D::kWarpTokens, 0), D::kWarpTokens);
    key_stages = (mine + D::kStageTokens - 1) / D::kStageTokens * D::kKeyParts;
    const int value_stages = warp < D::kValueWarps ? (visible + D::kStageTokens - 1) / D::kStageTokens : 0;
    stages = key_stages + value_stages;
    issued = 0;
    filled = read = ring();
  }

  /// Leading stages that hold old positions alone.
  __device__ int old_stages() const {
    const int mine = min(max(old - warp * D::kWarpTokens, 0), D::kWarpTokens);
    const int keys = min(mine / D::kStageTokens * D::kKeyParts, key_stages);
    return keys < key_stages ? keys : min(keys + old / D::kStageTokens, stages);
  }

  /// `bytes` of each of a stage's rows. A lane takes a chunk of every so many rows: what differs from one to the next
  /// are constants, and a bit of where it lies in shared memory.
  template <int bytes>
  __device__ void copy_rows(uint32_t to, const std::byte* from) const {
    constexpr int kChunks = bytes / 16, kRowsAtOnce = 32 / kChunks;
    const int token = lane / kChunks, chunk = lane % kChunks;
    to += token * bytes + swizzled<kChunks>(token, chunk) * 16;
    from += token * D::kRowBytes + chunk * 16;
#pragma unroll
    for (int first = 0; first < D::kStageTokens; first += kRowsAtOnce) {
      const uint32_t flipped = swizzled<kChunks>(first, 0) * 16;
      if (token + first < D::kStageTokens) {
        ptx::cp_async_cg_16((to ^ flipped) + first * bytes, from + first * D::kRowBytes);
      }
    }
  }

  /// Requests the next stage; a group, also behind the last.
  __device__ void issue(const DecodeUnit& u) {
    if (issued < stages) {
      const bool keys = issued < key_stages;
      const int token = keys ? warp * D::kWarpTokens + issued / D::kKeyParts * D::kStageTokens
                             : (issued - key_stages) * D::kStageTokens;
      const int block = __shfl_sync(kAll, blocks, token / kBlockTokens);
      const int64_t from = cache_offset<dim, D::fp8>(args, block, u.kv_head, token % kBlockTokens);
      if (keys) {
        copy_rows<D::kKeyBytes>(filled, args.kv.keys + from + issued % D::kKeyParts * D::kKeyBytes);
      } else {
        copy_rows<D::kValueBytes>(filled, args.kv.values + from + warp * D::kValueBytes);
      }
    }
    ptx::cp_async_commit_group();
    advance(filled);
    ++issued;
  }
  __device__ void issue_until(const DecodeUnit& u, int end) {
#pragma unroll 1
    while (issued < end) issue(u);
  }

  /// The next stage, landed; the one before it is free and is filled again.
  __device__ uint32_t next_stage(const DecodeUnit& u) {
    ptx::cp_async_wait_group<D::kStages - 2>();
    __syncwarp();
    const uint32_t stage = read;
    advance(read);
    issue(u);
    return stage;
  }

  // ---- the phases of a split ----

  /// What the rows of Q take that no kernel of the step makes. Warp w has rows w, w + 4, ... of them.
  struct QueryMaker {
    HeadWeight weight;
    Rotation<dim> rotation;
    int rotated;

    __device__ QueryMaker(const DecodeBlock& block, const DecodeUnit& u)
        : weight(block.args, block.args.q_norm, block.lane), rotated(block.position(u, block.warp)) {
      rotation.set(block.args, rotated, block.lane);
    }
    __device__ void rotate_to(const LaunchArgs& args, int position, int lane) {
      if (position != rotated) rotation.set(args, position, lane);
      rotated = position;
    }
  };

  [[nodiscard]] __device__ uint4 load_query(const DecodeUnit& u, int row) const {
    if (row >= u.live_rows) return {};
    const int64_t from = int64_t{u.sequence.first_row + u.first + row / args.group} * args.query_gate_stride;
    const int head = u.kv_head * args.group + row % args.group;
    return load_head(args, args.query_gate + from + int64_t{head} * 2 * args.plan.shape.head_dim, lane);
  }

  /// Stores K and V of this step's rows in the split, up to the group's last, and makes the rows of Q. Row groups of
  /// one sequence may store the same rows: the same bytes.
  __device__ void prepare(const DecodeUnit& u, QueryMaker& maker) const {
    constexpr int kAtOnce = 2;  // of a warp's rows: their loads are under way together, the first while K is stored
    uint4 words[kAtOnce];
    const auto load = [&](int row) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) words[i] = load_query(u, row + i * D::kWarps);
    };
    load(warp);
    const Rows<dim, false> scratch{smem};
    const Rows<dim, D::fp8> query{smem};
    // A warp's first row of Q is its scratch before.
#pragma unroll 1
    for (int token = old + warp; token < visible; token += D::kWarps) {
      const int p = start + token;
      const int block = __shfl_sync(kAll, blocks, token / kBlockTokens);
      maker.rotate_to(args, p, lane);
      store_key_value<dim, D::fp8>(args, u.sequence.first_row + p - u.sequence.first_position, u.kv_head, block,
                                   token % kBlockTokens, maker.rotation, scratch, warp, lane);
    }
#pragma unroll 1
    for (int first = warp; first < u.live_rows; first += kAtOnce * D::kWarps) {
      if (first > warp) load(first);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int row = first + i * D::kWarps;
        if (row >= u.live_rows) break;
        maker.rotate_to(args, position(u, row), lane);
        norm_and_rotate<dim, D::fp8>(args, words[i], maker.weight, maker.rotation, query, row, lane);
      }
    }
    if (old < visible) __threadfence();  // stored rows are read again past L1
  }

  using Scores = float[D::row_blocks][D::kKeyTiles][4];

  /// Two tiles of 8 positions times the dimensions of one stage.
  template <int tile>
  __device__ void multiply_keys(uint32_t stage, int part, Scores& s) const {
    constexpr int kChunks = D::kKeyBytes / 16;
    const int token = lane % 8 + (lane / 16) * 8;
    const uint32_t keys = stage + token * D::kKeyBytes + swizzled<kChunks>(token, lane / 8 % 2) * 16;
    // Of Q: 128 bytes of a row, or all of a shorter one, are a stage's, in E4M3 twice as many.
    const uint32_t query = smem_address + lane % 16 * (dim * 2) + swizzled<dim / 8>(lane % 16, lane / 16) * 16 +
                           part * (D::kKeyBytes * (D::fp8 ? 2 : 1));
#pragma unroll
    for (int c = 0; c < kChunks; c += 2) {
      uint32_t b[4];  // tile 0: chunks c and c + 1; tile 1
      ptx::ldmatrix_x4(b, chunk_beside<kChunks>(keys, c));
      constexpr int kSteps = D::fp8 ? 2 : 1;  // of 16 dimensions
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        uint32_t k[2][2];
#pragma unroll
        for (int t = 0; t < 2; ++t) {
          if constexpr (D::fp8) {
            k[t][0] = ptx::cvt_bf16x2_e4m3x2(b[2 * t + step] & 0xffffU);
            k[t][1] = ptx::cvt_bf16x2_e4m3x2(b[2 * t + step] >> 16);
          } else {
            k[t][0] = b[2 * t], k[t][1] = b[2 * t + 1];
          }
        }
        const int query_chunk = c * (D::fp8 ? 2 : 1) + 2 * step;
#pragma unroll
        for (int i = 0; i < D::row_blocks; ++i) {
          uint32_t a[4];
          ptx::ldmatrix_x4(a, chunk_beside<dim / 8>(query, query_chunk) + 16 * i * (dim * 2));
          ptx::mma_m16n8k16_bf16(s[i][tile], a, k[0][0], k[0][1]);
          ptx::mma_m16n8k16_bf16(s[i][tile + 1], a, k[1][0], k[1][1]);
        }
      }
    }
  }

  template <int tile>
  __device__ void multiply_all_keys(const DecodeUnit& u, Scores& s) {
    if constexpr (tile < D::kKeyTiles) {
      if (tile / 2 * D::kKeyParts < key_stages) {
#pragma unroll 1
        for (int part = 0; part < D::kKeyParts; ++part) multiply_keys<tile>(next_stage(u), part, s);
      }
      multiply_all_keys<tile + 2>(u, s);
    }
  }

  /// Maxima and sums of the split, and its probabilities in the place of Q.
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
    __syncthreads();  // every warp has read Q, too
    std::byte* probabilities = smem;
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

  /// First of the two neighbouring dimensions that a thread's sums of tile n stand for.
  __device__ int pair_dim(int n) const {
    const int in_warp = D::fp8 ? 16 * (n / 2) + 4 * (lane % 4) + 2 * (n % 2) : 8 * n + 2 * (lane % 4);
    return warp * D::kWarpDims + in_warp;
  }

  /// Sixteen positions from `token` on: sums += P V.
  __device__ void multiply_values(uint32_t stage, int token, typename D::Softmax& state) const {
    constexpr int kChunks = D::kValueBytes / 16;
    uint32_t a[D::row_blocks][4];
    const int from = lane % 16;
#pragma unroll
    for (int i = 0; i < D::row_blocks; ++i) {
      ptx::ldmatrix_x4(a[i], smem_address + (16 * i + from) * D::kProbabilityBytes +
                                 swizzled<D::kProbabilityBytes / 16>(from, token / 8 + lane / 16) * 16);
    }
    const uint32_t values = stage + from * D::kValueBytes + swizzled<kChunks>(from, kChunks < 2 ? 0 : lane / 16) * 16;
#pragma unroll
    for (int c = 0; c < kChunks; c += 2) {
      constexpr int kAtOnce = kChunks < 2 ? 1 : 2;
      uint32_t v[4];  // of chunk c positions 0-7 and 8-15; of chunk c + 1
      if constexpr (kAtOnce == 2) {
        ptx::ldmatrix_x4_trans(v, chunk_beside<kChunks>(values, c));
      } else {
        uint32_t two[2];
        ptx::ldmatrix_x2_trans(two, values);
        v[0] = two[0], v[1] = two[1];
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        if constexpr (D::fp8) {
          // A word holds dimensions 2g and 2g+1 of positions 2q and 2q+1: even dimensions are one tile, odd ones
          // another.
          const uint32_t low = __byte_perm(v[2 * j], 0, 0x3120), high = __byte_perm(v[2 * j + 1], 0, 0x3120);
          const uint32_t even[2] = {ptx::cvt_bf16x2_e4m3x2(low & 0xffffU), ptx::cvt_bf16x2_e4m3x2(high & 0xffffU)};
          const uint32_t odd[2] = {ptx::cvt_bf16x2_e4m3x2(low >> 16), ptx::cvt_bf16x2_e4m3x2(high >> 16)};
#pragma unroll
          for (int i = 0; i < D::row_blocks; ++i) {
            ptx::mma_m16n8k16_bf16(state.o[i][2 * (c + j)], a[i], even[0], even[1]);
            ptx::mma_m16n8k16_bf16(state.o[i][2 * (c + j) + 1], a[i], odd[0], odd[1]);
          }
        } else {
#pragma unroll
          for (int i = 0; i < D::row_blocks; ++i) {
            ptx::mma_m16n8k16_bf16(state.o[i][c + j], a[i], v[2 * j], v[2 * j + 1]);
          }
        }
      }
    }
  }

  static __device__ bool is_nan(uint32_t code) { return D::fp8 ? (code & 0x7fU) == 0x7f : (code & 0x7fffU) > 0x7f80U; }
  using Code = std::conditional_t<D::fp8, uint8_t, uint16_t>;

  /// Zeros in the place of what no row of the group sees, and of NaN that not every row sees, whose rows' sums become
  /// NaN here: 0 x NaN is NaN.
  __device__ void clean(const DecodeUnit& u, uint32_t stage, int token, typename D::Softmax& state) const {
    constexpr int kChunks = D::kValueBytes / 16, kChunkCodes = 16 / static_cast<int>(sizeof(Code));
    std::byte* bytes = smem + (stage - smem_address);
    if (token + D::kStageTokens <= all_see) return;
    bool found = false;
#pragma unroll 1
    for (int i = lane; i < D::kStageTokens * D::kValueBytes / 4; i += 32) {
      const int t = token + i * 4 / D::kValueBytes;
      auto* word = reinterpret_cast<uint32_t*>(bytes) + i;
      if (t >= visible) *word = 0;
      for (int j = 0; j < 4; j += static_cast<int>(sizeof(Code))) {
        if (t >= all_see) found |= is_nan(*word >> (8 * j));
      }
    }
    const bool any = __any_sync(kAll, found ? 1 : 0) != 0;
    __syncwarp();  // zeros are seen
    if (!any) return;
    auto* first_nan = reinterpret_cast<uint8_t*>(exchange(0, warp));  // of a dimension, in the stage; not in use now
    static_assert(D::kWarpDims <= 32 * 4);
#pragma unroll 1
    for (int d = lane; d < D::kWarpDims; d += 32) {
      int first = D::kStageTokens;
#pragma unroll 1
      for (int t = D::kStageTokens - 1; t >= 0; --t) {
        auto* chunk = reinterpret_cast<Code*>(bytes + t * D::kValueBytes + swizzled<kChunks>(t, d / kChunkCodes) * 16);
        Code& code = chunk[d % kChunkCodes];
        if (token + t < all_see || !is_nan(code)) continue;
        first = t;
        code = 0;
      }
      first_nan[d] = static_cast<uint8_t>(first);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < D::row_blocks; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int end = seen(u, 16 * i + 8 * half + lane / 4) - token;
#pragma unroll
        for (int n = 0; n < D::kValueTiles; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            // Sums of E4M3 are still in the MMA's order.
            const int d = D::fp8 ? 16 * (n / 2) + 2 * (2 * (lane % 4) + e) + n % 2 : 8 * n + 2 * (lane % 4) + e;
            const int first = first_nan[d];
            if (first < D::kStageTokens && first < end) state.o[i][n][2 * half + e] = __uint_as_float(0x7fffffffU);
          }
        }
      }
    }
    __syncwarp();
  }

  /// Sums of an empty state over the split.
  __device__ void weigh_values(const DecodeUnit& u, typename D::Softmax& state) {
#pragma unroll
    for (auto& block : state.o) {
#pragma unroll
      for (auto& tile : block) tile[0] = tile[1] = tile[2] = tile[3] = 0;
    }
    if (warp >= D::kValueWarps) return;
#pragma unroll 1
    for (int token = 0; token < visible; token += D::kStageTokens) {
      const uint32_t stage = next_stage(u);
      clean(u, stage, token, state);
      multiply_values(stage, token, state);
    }
    if constexpr (D::fp8) {  // to neighbouring dimensions
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
  }

  // ---- a unit ----

  /// Whether a row sees any of split, or superblock, i.
  [[nodiscard]] __device__ auto sees(const DecodeUnit& u, bool superblocks, int i) const {
    const int first = i * kDecodeSplitTokens * (superblocks ? kDecodeSuperblock : 1);
    const auto* self = this;
    const DecodeUnit* unit = &u;
    return [=](int block, int half) {
      const int row = min(16 * block + 8 * half + self->lane / 4, unit->live_rows - 1);
      return first <= self->position(*unit, row);
    };
  }

  /// The state of a split. before_first_write() is called when what earlier kernels do not write any more is under way.
  template <typename BeforeFirstWrite>
  __device__ void attend(const DecodeUnit& u, int split, QueryMaker& maker, typename D::Softmax& state,
                         const BeforeFirstWrite& before_first_write) {
    begin_split(u, split);
    issue_until(u, min(old_stages(), D::kStages - 1));
    before_first_write();
    prepare(u, maker);
    __syncthreads();
    issue_until(u, D::kStages - 1);
    Scores scores = {};
    multiply_all_keys<0>(u, scores);
    softmax(u, scores, state);
    weigh_values(u, state);
    __syncthreads();  // P and rings may be written again
  }

  template <typename BeforeFirstWrite>
  __device__ void run(const DecodeUnit& u, const BeforeFirstWrite& before_first_write) {
    const typename D::Memory slots{args.workspace + kAttentionCounterBytes, 0, u.live_rows};
    const auto seen_by = [&](bool superblocks, int i) { return sees(u, superblocks, i); };
    typename D::Softmax state;
    QueryMaker maker(*this, u);
#pragma unroll 1
    for (int split = u.begin; split < u.end; ++split) {
      attend(u, split, maker, state, before_first_write);
      accumulate<kDecodeSuperblock>(split, u.begin, u.end, u.parts.running, slots, state, warp == 0, seen_by);
    }
    const PutRows<dim> put{args, {smem}, ptx::unhoisted(0)};
    const auto put_dim = [&](int n) { return pair_dim(n); };
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
__global__ void __launch_bounds__(kDecodeThreads, 2) attention_decode(const __grid_constant__ LaunchArgs args) {
  using D = DecodeShape<dim, fp8, row_blocks>;
  std::byte* smem = ptx::dynamic_shared_memory();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  DecodeUnits<row_blocks> all(args);
  DecodeBlock<D> block{args, smem, ptx::shared_address(smem), warp, lane};

  // Before the wait: the tables, which an earlier kernel of the step wrote, and the cache of earlier steps.
  const int sequences = __ldcg(&args.tables.counts->decode_sequences);
  const UnitCounts counts(args.tables, 0, sequences, lane, kDecodeSuperblock, all.parts_of());
  all.grain = counts.grain(args.plan.decode_slots, args.plan.decode_blocks);
  const int units = counts.units(all.grain);
  bool waits = true;
  const auto wait = [&] {
    if (!waits) return;
    ptx::griddepcontrol_wait();
    ptx::griddepcontrol_launch_dependents();
    waits = false;
  };
  const auto units_of = [&](const Sequence& s) { return all.units(s); };
  for (int unit = static_cast<int>(blockIdx.x); unit < units; unit += static_cast<int>(gridDim.x)) {
    DecodeUnit u;
    if (all.make(find_unit(args.tables, 0, sequences, unit, lane, units_of), unit, u)) block.run(u, wait);
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
