#pragma once

#include <algorithm>

#include "format/scale_layout.h"
#include "plan/tile.h"

// How a tile of K elements lies in scales stored as 128x4 blocks (format/scale_layout.h), for weights and activations
// that another library wrote or will read. A block holds 4 scale columns of a row; an FP4 MMA takes 64 K of it: 4
// scales in NVFP4 (groups of 16), 2 in MXFP4 (groups of 32).
//
//   format  K    scales  effective block  an MMA takes  folds
//   NVFP4   64   4       4                4             1   the identity
//   NVFP4   128  8       4                4             1
//   MXFP4   64   2       2                2             1   half a block: two tiles share one
//   MXFP4   128  4       4                2             2   one block feeds two MMAs
//
// A layout that takes 4 scales along K for granted finds 2/4 = 0 blocks in the MXFP4 tile of K = 64 and does not
// compile; NVFP4 never meets the case.
namespace tessera::plan {

struct ScaleFold {
  int scales = 0;      // of a tile along K
  int mma_scales = 0;  // of one MMA
  int block = 0;       // effective block: min(scales, 4)
  int folds = 0;       // MMAs that one block feeds: block / mma_scales
  int blocks = 0;      // effective blocks of a tile
};

/// tile_k: a multiple of kMmaDepth. format: nvfp4 or mxfp4.
constexpr ScaleFold scale_fold(WeightFormat format, int tile_k) {
  const int group = scale_group(format);
  ScaleFold fold;
  fold.scales = tile_k / group;
  fold.mma_scales = kMmaDepth / group;
  fold.block = std::min(fold.scales, static_cast<int>(format::kScaleTileCols));
  fold.folds = fold.block / fold.mma_scales;
  fold.blocks = fold.scales / fold.block;
  return fold;
}

/// Where the MMA at `step` (0 .. tile_k / 64 - 1) of tile `tile` along K finds the scales of `row`.
struct ScaleWord {
  size_t offset = 0;  // of the 4-byte word that holds them, in the 128x4 scales of the matrix; a multiple of 4
  int byte_id = 0;    // the first of them within the word: the MMA's byte selector, 0, or 0 and 2 in MXFP4
};

/// scale_cols: scale columns of the whole matrix, unpadded. A step within ceil(K / 64) may read columns beyond
/// scale_cols, in the padding, which is zero.
constexpr ScaleWord scale_word(const ScaleFold& fold, int64_t row, int64_t tile, int step, int64_t scale_cols) {
  const int64_t col = tile * fold.scales + static_cast<int64_t>(step) * fold.mma_scales;
  const int64_t byte = col % format::kScaleTileCols;
  return {format::scale_128x4_offset(row, col - byte, scale_cols), static_cast<int>(byte)};
}

}  // namespace tessera::plan
