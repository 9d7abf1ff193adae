#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/gated_attention.h"

namespace tessera::kernels::cpu {

/// Absolute positions [256 s, 256 s + 256) are split s.
inline constexpr int64_t kSplitTokens = 256;

/// Consecutive positions of one sequence with all query heads of one KV head. Rows of the tile are (position, head),
/// head fastest; they share every K and V that is read.
struct AttentionTile {
  AttentionShape shape;
  KvLayer kv;
  const SequenceRows* sequence = nullptr;
  int64_t first = 0;  // of the sequence's rows in this step
  int64_t positions = 0;
  int64_t kv_head = 0;

  [[nodiscard]] int64_t group() const { return shape.heads / shape.kv_heads; }
  [[nodiscard]] int64_t rows() const { return positions * group(); }
  [[nodiscard]] int64_t position(int64_t row) const { return sequence->first_position + first + row / group(); }
  [[nodiscard]] int64_t splits() const { return position(rows() - 1) / kSplitTokens + 1; }
  /// Keys from token `offset` (a multiple of 16) of a split to the end of its block.
  [[nodiscard]] const std::byte* keys(int64_t split, int64_t offset) const {
    return block(kv.keys, split, offset) + offset % kBlockTokens * shape.head_dim * element_bytes();
  }
  /// Values of dimensions `dim` (a multiple of 16) to dim + 16 or the last, from token `offset` of a split on.
  [[nodiscard]] const std::byte* values(int64_t split, int64_t offset, int64_t dim) const {
    const int64_t width = std::min<int64_t>(16, shape.head_dim - dim);
    return block(kv.values, split, offset) + (dim * kBlockTokens + offset % kBlockTokens * width) * element_bytes();
  }
  [[nodiscard]] int64_t element_bytes() const { return static_cast<int64_t>(size_bytes(kv.dtype)); }

 private:
  [[nodiscard]] const std::byte* block(const std::byte* base, int64_t split, int64_t offset) const {
    const int64_t id = sequence->block_table[static_cast<size_t>((split * kSplitTokens + offset) / kBlockTokens)];
    return base + (id * shape.kv_heads + kv_head) * kBlockTokens * shape.head_dim * element_bytes();
  }
};

/// Softmax state of the rows of a tile: out is not yet divided by sum.
struct RowStates {
  float* out = nullptr;  // [rows, padded head_dim]
  float* max = nullptr;  // [rows]
  float* sum = nullptr;  // [rows]; 0: has seen no token
};

/// One thread's memory while it works on a tile.
struct TileScratch {
  float* decoded = nullptr;  // [padded head_dim, 64]: keys or values of up to a block
  float* query = nullptr;    // [rows, padded head_dim]
  float* scores = nullptr;   // [rows, 256]
};

}  // namespace tessera::kernels::cpu
