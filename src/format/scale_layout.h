#pragma once

#include <cstddef>
#include <cstdint>

// Block scales in the order that block-scaled tensor-core instructions of other libraries read: tiles of 128 rows x
// 4 scale columns, 512 bytes each, tiles row-major. Inside a tile the 4 columns of a row lie together, and rows 32
// apart are neighbours. Checkpoints store scales linearly, [rows, cols] row-major.
namespace tessera::format {

inline constexpr int64_t kScaleTileRows = 128;
inline constexpr int64_t kScaleTileCols = 4;

/// Bytes of [rows, cols] scales with rows padded to 128 and cols to 4.
constexpr size_t scale_128x4_bytes(int64_t rows, int64_t cols) {
  const int64_t row_tiles = (rows + kScaleTileRows - 1) / kScaleTileRows;
  const int64_t col_tiles = (cols + kScaleTileCols - 1) / kScaleTileCols;
  return static_cast<size_t>(row_tiles * col_tiles * kScaleTileRows * kScaleTileCols);
}

/// Where the scale of (row, col) lies; `cols` is the unpadded number of scale columns.
constexpr size_t scale_128x4_offset(int64_t row, int64_t col, int64_t cols) {
  const int64_t col_tiles = (cols + kScaleTileCols - 1) / kScaleTileCols;
  const int64_t tile = row / kScaleTileRows * col_tiles + col / kScaleTileCols;
  return static_cast<size_t>(tile * kScaleTileRows * kScaleTileCols + row % 32 * 16 + row % kScaleTileRows / 32 * 4 +
                             col % kScaleTileCols);
}

/// linear: [rows, cols]; tiled: scale_128x4_bytes(rows, cols) bytes, padding set to zero. No overlap.
void scales_to_128x4(const std::byte* linear, int64_t rows, int64_t cols, std::byte* tiled);

/// The reverse; padding is not read.
void scales_from_128x4(const std::byte* tiled, int64_t rows, int64_t cols, std::byte* linear);

}  // namespace tessera::format
