#include "format/scale_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace tessera::format {
namespace {

TEST(ScaleLayout, KnownOffsets) {
  // One tile: rows 0..31 are 16 bytes apart, rows 32 apart are 4 apart.
  EXPECT_EQ(scale_128x4_offset(0, 3, 4), 3U);
  EXPECT_EQ(scale_128x4_offset(1, 0, 4), 16U);
  EXPECT_EQ(scale_128x4_offset(32, 0, 4), 4U);
  EXPECT_EQ(scale_128x4_offset(127, 3, 4), 511U);
  // The next tile along K, then the next 128 rows; 6 columns take two tiles.
  EXPECT_EQ(scale_128x4_offset(0, 4, 6), 512U);
  EXPECT_EQ(scale_128x4_offset(128, 0, 6), 1024U);
  EXPECT_EQ(scale_128x4_bytes(1, 1), 512U);
  EXPECT_EQ(scale_128x4_bytes(129, 5), 2048U);
  EXPECT_EQ(scale_128x4_bytes(0, 5), 0U);
}

RC_GTEST_PROP(ScaleLayout, RoundTripsAndPadsWithZero, ()) {
  const auto rows = *rc::gen::inRange<int64_t>(1, 400);
  const auto cols = *rc::gen::inRange<int64_t>(1, 40);
  std::vector<std::byte> linear(static_cast<size_t>(rows * cols));
  // No zeros, so that padding can be told from scales.
  for (auto& b : linear) b = static_cast<std::byte>(*rc::gen::inRange(1, 256));

  std::vector<std::byte> tiled(scale_128x4_bytes(rows, cols), std::byte{0xee});
  scales_to_128x4(linear.data(), rows, cols, tiled.data());
  std::vector<bool> used(tiled.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const size_t offset = scale_128x4_offset(r, c, cols);
      RC_ASSERT(offset < tiled.size());
      RC_ASSERT(!used[offset]);
      used[offset] = true;
    }
  }
  for (size_t i = 0; i < tiled.size(); ++i) RC_ASSERT((tiled[i] != std::byte{0}) == used[i]);

  std::vector<std::byte> back(linear.size());
  scales_from_128x4(tiled.data(), rows, cols, back.data());
  RC_ASSERT(back == linear);
}

}  // namespace
}  // namespace tessera::format
