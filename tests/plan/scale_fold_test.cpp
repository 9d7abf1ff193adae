#include "plan/scale_fold.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace tessera::plan {
namespace {

TEST(ScaleFold, KnownCases) {
  struct Case {
    WeightFormat format;
    int k, scales, mma_scales, block, folds, blocks;
  };
  const Case cases[] = {
      {WeightFormat::nvfp4, 64, 4, 4, 4, 1, 1},   {WeightFormat::nvfp4, 128, 8, 4, 4, 1, 2},
      {WeightFormat::nvfp4, 256, 16, 4, 4, 1, 4}, {WeightFormat::mxfp4, 64, 2, 2, 2, 1, 1},
      {WeightFormat::mxfp4, 128, 4, 2, 4, 2, 1},  {WeightFormat::mxfp4, 256, 8, 2, 4, 2, 2},
  };
  for (const Case& c : cases) {
    const ScaleFold fold = scale_fold(c.format, c.k);
    EXPECT_EQ(fold.scales, c.scales) << c.k;
    EXPECT_EQ(fold.mma_scales, c.mma_scales) << c.k;
    EXPECT_EQ(fold.block, c.block) << c.k;
    EXPECT_EQ(fold.folds, c.folds) << c.k;
    EXPECT_EQ(fold.blocks, c.blocks) << c.k;
    // Folding leaves no scale out: blocks of folds of MMAs are the tile.
    EXPECT_EQ(fold.blocks * fold.folds * fold.mma_scales, fold.scales) << c.k;
    EXPECT_EQ(fold.blocks * fold.folds, c.k / kMmaDepth) << c.k;
  }
}

TEST(ScaleFold, HalfABlockIsWhatTheUnfoldedDivisionLoses) {
  // Without the minimum the tile has 2 / 4 = 0 blocks.
  static_assert(64 / format::group_size(WeightFormat::mxfp4) / format::kScaleTileCols == 0);
  static_assert(scale_fold(WeightFormat::mxfp4, 64).blocks == 1);
  constexpr ScaleFold kFold = scale_fold(WeightFormat::mxfp4, 64);
  // Two tiles read the two halves of one word.
  constexpr ScaleWord kEven = scale_word(kFold, 5, 0, 0, 8), kOdd = scale_word(kFold, 5, 1, 0, 8);
  static_assert(kEven.offset == kOdd.offset && kEven.byte_id == 0 && kOdd.byte_id == 2);
}

/// Scales of a matrix as a kernel collects them, tile by tile and MMA by MMA, against the linear ones.
RC_GTEST_PROP(ScaleFold, EveryTileDepthReadsTheSameScales, ()) {
  const auto format = *rc::gen::element(WeightFormat::nvfp4, WeightFormat::mxfp4);
  const int tile_k = *rc::gen::element(64, 128, 256);
  const auto rows = *rc::gen::inRange<int64_t>(1, 300);
  const auto depth = *rc::gen::inRange<int64_t>(1, 20) * kMmaDepth;
  const int64_t cols = depth / format::group_size(format);
  std::vector<std::byte> linear(static_cast<size_t>(rows * cols));
  for (auto& b : linear) b = static_cast<std::byte>(*rc::gen::inRange(1, 256));
  std::vector<std::byte> tiled(format::scale_128x4_bytes(rows, cols));
  format::scales_to_128x4(linear.data(), rows, cols, tiled.data());

  const ScaleFold fold = scale_fold(format, tile_k);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < depth; k += kMmaDepth) {
      const ScaleWord word = scale_word(fold, row, k / tile_k, static_cast<int>(k % tile_k) / kMmaDepth, cols);
      RC_ASSERT(word.offset % 4 == 0U);
      RC_ASSERT(word.byte_id + fold.mma_scales <= 4);
      for (int s = 0; s < fold.mma_scales; ++s) {
        const auto col = static_cast<size_t>(k / format::group_size(format) + s);
        RC_ASSERT(tiled[word.offset + static_cast<size_t>(word.byte_id + s)] ==
                  linear[static_cast<size_t>(row * cols) + col]);
      }
    }
  }
}

TEST(ScaleFold, Nvfp4IsTheIdentity) {
  for (const int tile_k : {64, 128, 256}) {
    const ScaleFold fold = scale_fold(WeightFormat::nvfp4, tile_k);
    for (int64_t row = 0; row < 256; ++row) {
      for (int step = 0; step < tile_k / kMmaDepth; ++step) {
        const ScaleWord word = scale_word(fold, row, 1, step, 64);
        EXPECT_EQ(word.byte_id, 0);
        EXPECT_EQ(word.offset, format::scale_128x4_offset(row, fold.scales + step * 4, 64));
      }
    }
  }
}

}  // namespace
}  // namespace tessera::plan
