#pragma once

#include <algorithm>

#include "kernels/cuda/attention_state.cuh"
#include "kernels/cuda/attention_units.cuh"

// What a block of decode attention takes: its shared memory, and which rows and splits.
namespace tessera::kernels::cuda::attn {

template <int dim_, bool fp8_, int row_blocks_>
struct DecodeShape {
  static constexpr int dim = dim_, row_blocks = row_blocks_;
  static constexpr bool fp8 = fp8_;
  static constexpr int kWarps = kDecodeThreads / 32;
  static constexpr int kRows = row_blocks * 16;
  static constexpr int kRowBytes = dim * (fp8 ? 1 : 2);  // of the cache
  // K: a stage is 16 positions and up to 128 bytes of each.
  static constexpr int kWarpTokens = kDecodeSplitTokens / kWarps;
  static constexpr int kSplitBlocks = kDecodeSplitTokens / kBlockTokens;
  static_assert(kBlockTokens % kWarpTokens == 0);
  static constexpr int kKeyBytes = std::min(kRowBytes, 128), kKeyParts = kRowBytes / kKeyBytes;
  static constexpr int kKeyTiles = kWarpTokens / 8;
  // V: a stage is 16 positions and the warp's dimensions.
  static constexpr int kWarpDims = decode_warp_dims(dim, fp8), kValueWarps = dim / kWarpDims;
  static constexpr int kValueBytes = kWarpDims * (fp8 ? 1 : 2), kValueTiles = kWarpDims / 8;
  static constexpr int kStageTokens = 16;
  static constexpr int kStageBytes = 2048;
  static_assert(kStageTokens * std::max(kKeyBytes, kValueBytes) <= kStageBytes);
  static constexpr int kStages = row_blocks == 1 ? 5 : 4;
  // Shared memory: the rows of Q, later of P; rings; maxima and sums of warps.
  static constexpr int kProbabilityBytes = kDecodeSplitTokens * 2;
  static constexpr int kRing = kRows * std::max(kProbabilityBytes, dim * 2);
  static constexpr int kExchange = kRing + kWarps * kStages * kStageBytes;
  static constexpr int kBytes = kExchange + 2 * kWarps * 32 * 4;
  static_assert(kBytes <= 50176, "two blocks on an SM");

  using Softmax = State<row_blocks, kValueTiles>;
  using Memory = Slots<row_blocks, kValueTiles, kDecodeThreads, kRows>;
  static_assert(Memory::kBytes == decode_slot_bytes(dim, fp8, row_blocks));
};

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

  __device__ explicit DecodeUnits(const LaunchArgs& a) : args(a), group_rows(decode_group_rows(a.group, row_blocks)) {}

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
