#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/attention.h"

// Sizes of the attention kernels, as host and kernels both need them.
namespace tessera::kernels::cuda::attn {

inline constexpr int kDecodeSplitTokens = 256;
inline constexpr int kDecodeSuperblock = 16;  // splits
inline constexpr int kPrefillSplitTokens = 4096;
inline constexpr int kPrefillSuperblock = 8;
inline constexpr int kDecodeThreads = 256;
inline constexpr int kPrefillThreads = 256;
inline constexpr int kPrefillRows = 128;  // (position, head) rows of a query tile
inline constexpr int kGroupMax = 16;      // query heads of a KV head

/// Counters at the start of the workspace: for decode and for prefill two tickets a slot, and two words more.
inline constexpr int kDecodeSlotsMax = 4096;
inline constexpr int kPrefillSlotsMax = 1024;
inline constexpr size_t kPrefillTicketsOffset = size_t{kDecodeSlotsMax} * 2 * sizeof(int32_t);
inline constexpr size_t kPrefillWordsOffset = kPrefillTicketsOffset + size_t{kPrefillSlotsMax} * 2 * sizeof(int32_t);
static_assert(kPrefillWordsOffset + 2 * sizeof(int32_t) <= kAttentionCounterBytes);

/// Dimensions of V that a warp of the decode kernel takes: an eighth of them, at least one tile of 8.
constexpr int decode_warp_dims(int dim) { return std::max(dim / 8, 8); }

constexpr int64_t decode_slot_bytes(int dim, int row_blocks) {
  return int64_t{row_blocks} * 2 * (decode_warp_dims(dim) / 8) * kDecodeThreads * 8 + int64_t{row_blocks} * 16 * 8;
}
constexpr int64_t prefill_slot_bytes(int dim) {
  return int64_t{2} * (dim / 8) * kPrefillThreads * 8 + int64_t{kPrefillRows} * 8;
}

/// Positions of a query tile: a power of two up to 64, so that a tile never crosses one of 64 tokens.
constexpr int prefill_tile_positions(int group) {
  int positions = 64;
  while (positions * group > kPrefillRows) positions /= 2;
  return positions;
}
static_assert(prefill_tile_positions(kGroupMax) == 8);

/// Positions of one sequence that decode rows of `row_blocks` blocks of 16 hold.
constexpr int decode_group_rows(int group, int row_blocks) { return row_blocks * 16 / group; }

/// Rows of decode share what is read of the cache in blocks of 16, one or two; two where it pays.
constexpr int decode_row_blocks_max(int dim) { return dim >= 128 ? 2 : 1; }

/// What kernels are given: the caller's, and what follows from it.
struct LaunchArgs : AttentionArgs {
  int group = 1;           // query heads of a KV head
  float score_factor = 1;  // of the product of q and k as stored, for exponentials of base 2
};

// One source a cache type, so that they compile side by side.
Status decode_bf16(const LaunchArgs& args, const device::Queue& queue);
Status decode_e4m3(const LaunchArgs& args, const device::Queue& queue);
Status prefill_bf16(const LaunchArgs& args, const device::Queue& queue);
Status prefill_e4m3(const LaunchArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda::attn
