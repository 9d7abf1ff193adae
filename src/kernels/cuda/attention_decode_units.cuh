#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/attention_state.cuh"
#include "kernels/cuda/attention_units.cuh"
#include "kernels/ptx/cvt_e4m3.cuh"

// What a block of decode attention takes: its shared memory, and which rows and splits.
namespace tessera::kernels::cuda::attn {

/// Rows of one sequence and KV head, and the splits that this block takes.
struct DecodeUnit {
  Sequence sequence;
  int kv_head = 0;
  int first = 0, rows = 0;  // of the sequence's rows in this step
  int splits = 0;           // of these rows
  int begin = 0, end = 0;   // ours
  int live_rows = 0;        // (position, query head)
  Parts parts;

  [[nodiscard]] __device__ int first_position() const { return sequence.first_position + first; }
  [[nodiscard]] __device__ int last_position() const { return first_position() + rows - 1; }
};

/// What there are no registers for.
struct DecodeShared {
  struct {
    int sequences, units, group_rows;
    Grain grain;
  } step;
  DecodeUnit unit;
};

template <int dim_, bool fp8_, int row_blocks_>
struct DecodeShape {
  static constexpr int dim = dim_, row_blocks = row_blocks_;
  static constexpr bool fp8 = fp8_;
  static constexpr int kWarps = kDecodeThreads / 32;
  static constexpr int kRows = row_blocks * 16;
  static constexpr int kRowBytes = dim * (fp8 ? 1 : 2);  // of the cache
  static constexpr int kSplitBlocks = kDecodeSplitTokens / kBlockTokens;

  // K: a lane has 16 bytes of each group of 64 of a position (8 of 32 where there are no more).
  static constexpr int kWarpTokens = kDecodeSplitTokens / kWarps;
  static_assert(kWarpTokens == 32 && kBlockTokens % kWarpTokens == 0);
  static constexpr int kKeyTiles = kWarpTokens / 8;
  using Key = std::conditional_t<kRowBytes >= 64, uint4, uint2>;
  static constexpr int kKeyGroups = kRowBytes / (4 * static_cast<int>(sizeof(Key)));
  /// Chunks of 8 dimensions that a lane has of a group.
  static constexpr int kLaneChunks = static_cast<int>(sizeof(Key)) / (fp8 ? 8 : 16);
  /// Of all positions, under way at a time: as many as registers allow.
  static constexpr int kKeyGroupsAtOnce = std::min(kKeyGroups, 2);
  static_assert(kKeyGroups % kKeyGroupsAtOnce == 0 && kKeyGroupsAtOnce * 4 * kLaneChunks % 8 == 0 || kKeyGroups == 1);

  // V: a lane has kLaneDims neighbouring dimensions, each of another tile, of four positions of sixteen.
  using Code = std::conditional_t<fp8, uint8_t, uint16_t>;
  static constexpr int kWarpDims = decode_warp_dims(dim), kValueWarps = dim / kWarpDims;
  static constexpr int kValueTiles = kWarpDims / 8, kLaneDims = kValueTiles;
  static constexpr int kValueBytes = kLaneDims * static_cast<int>(sizeof(Code));
  using Value = std::conditional_t<
      kValueBytes == 8, uint2,
      std::conditional_t<kValueBytes == 4, uint32_t, std::conditional_t<kValueBytes == 2, uint16_t, uint8_t>>>;
  // Shared memory: the rows of Q; those of P; maxima and sums of warps; DecodeShared.
  static constexpr int kProbabilityBytes = kDecodeSplitTokens * 2;
  static constexpr int kProbabilities = kRows * dim * 2;
  static constexpr int kExchange = kProbabilities + kRows * kProbabilityBytes;
  static constexpr int kShared = kExchange + 2 * kWarps * 32 * 4;
  static constexpr int kBytes = kShared + static_cast<int>(sizeof(DecodeShared));
  static_assert(kBytes <= 50176, "two blocks on an SM");

  using Softmax = State<row_blocks, kValueTiles>;
  using Memory = Slots<row_blocks, kValueTiles, kDecodeThreads, kRows>;
  static_assert(Memory::kBytes == decode_slot_bytes(dim, row_blocks));

  /// Of a lane's part of a key: what the step-th MMA takes, dimensions 4 step to 4 step + 3.
  static __device__ void key_pairs(const Key& key, int step, uint32_t (&pairs)[2]) {
    uint32_t words[sizeof(Key) / 4];
    words[0] = key.x, words[1] = key.y;
    if constexpr (sizeof(Key) == 16) words[2] = key.z, words[3] = key.w;
    if constexpr (fp8) {
      pairs[0] = ptx::cvt_bf16x2_e4m3x2(words[step] & 0xffffU);
      pairs[1] = ptx::cvt_bf16x2_e4m3x2(words[step] >> 16);
    } else {
      pairs[0] = words[2 * step], pairs[1] = words[2 * step + 1];
    }
  }

  /// The i-th dimension of two positions.
  static __device__ uint32_t value_pair(const Value& first, const Value& second, int i) {
    if constexpr (fp8) {
      const uint32_t codes = __byte_perm(first, second, static_cast<uint32_t>(i | (4 + i) << 4)) & 0xffffU;
      return ptx::cvt_bf16x2_e4m3x2(codes);
    } else {
      const uint32_t selector = i % 2 == 0 ? 0x5410 : 0x7632;
      if constexpr (kValueBytes == 8) {
        return i < 2 ? __byte_perm(first.x, second.x, selector) : __byte_perm(first.y, second.y, selector);
      } else {
        return __byte_perm(first, second, selector);
      }
    }
  }

  static __device__ bool is_nan(uint32_t code) { return fp8 ? (code & 0x7fU) == 0x7f : (code & 0x7fffU) > 0x7f80U; }
  /// Makes NaN zeros; returns whether there was one.
  static __device__ bool take_nan(Value& value) {
    if constexpr (kValueBytes == 8) {
      const bool low = take_nan_of_word(value.x), high = take_nan_of_word(value.y);
      return low || high;
    } else {
      uint32_t word = value;
      const bool found = take_nan_of_word(word);
      value = static_cast<Value>(word);
      return found;
    }
  }

 private:
  static __device__ bool take_nan_of_word(uint32_t& word) {
    constexpr int kBits = 8 * static_cast<int>(sizeof(Code));
    bool found = false;
#pragma unroll
    for (int bit = 0; bit < std::min(32, 8 * kValueBytes); bit += kBits) {
      if (!is_nan(word >> bit)) continue;
      word &= ~(((1U << kBits) - 1) << bit);
      found = true;
    }
    return found;
  }
};

/// Units of a step in order: sequence, part, KV head, row group, so that neighbours read the same keys.
template <int row_blocks>
struct DecodeUnits {
  const LaunchArgs& args;
  int group_rows;
  Grain grain = Grain::split;

  struct PartsOf {
    int kv_heads, group_rows;
    [[nodiscard]] __device__ int splits(const Sequence& s) const { return s.last_position() / kDecodeSplitTokens + 1; }
    [[nodiscard]] __device__ int row_groups(const Sequence& s) const { return (s.rows + group_rows - 1) / group_rows; }
    [[nodiscard]] __device__ int each(const Sequence& s) const { return row_groups(s) * kv_heads; }
  };
  [[nodiscard]] __device__ PartsOf parts_of() const { return {args.plan.shape.kv_heads, group_rows}; }
  [[nodiscard]] __device__ int parts(int splits) const {
    if (grain == Grain::split) return splits;
    return grain == Grain::superblock ? (splits + kDecodeSuperblock - 1) / kDecodeSuperblock : 1;
  }
  [[nodiscard]] __device__ int units(const Sequence& s) const {
    return parts_of().each(s) * parts(parts_of().splits(s));
  }

  /// False: none of the row group's positions is in the unit's splits.
  __device__ bool make(const FoundUnit& found, int index, DecodeUnit& u) const {
    const Sequence& s = found.sequence;
    const int row_groups = parts_of().row_groups(s), each = parts_of().each(s);
    const int local = index - found.first_unit, part = local / each;
    const int row_group = local % row_groups;
    u.sequence = s;
    u.kv_head = local % each / row_groups;
    u.first = row_group * group_rows;
    u.rows = min(group_rows, s.rows - u.first);
    u.splits = u.last_position() / kDecodeSplitTokens + 1;
    u.live_rows = u.rows * args.group;
    const int grain_splits = grain == Grain::split ? 1 : grain == Grain::superblock ? kDecodeSuperblock : u.splits;
    u.begin = part * grain_splits;
    u.end = min(u.begin + grain_splits, u.splits);
    u.parts = {.first_slot = found.first_unit + local % each,
               .stride = each,
               .part = part,
               .parts = parts(u.splits),
               .superblock = grain == Grain::split ? kDecodeSuperblock : 1,
               .running = grain == Grain::all ? 2 * static_cast<int>(blockIdx.x) : index};
    return u.begin < u.end;
  }
};

}  // namespace tessera::kernels::cuda::attn
