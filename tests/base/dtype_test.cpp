#include "base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tessera {
namespace {

TEST(Bf16, EveryValueRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = bf16_to_float(static_cast<uint16_t>(bits));
    const uint16_t back = float_to_bf16(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bf16_to_float(back)));
    } else {
      EXPECT_EQ(back, bits);
    }
  }
}

TEST(Bf16, RoundsToNearestTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const float low = bf16_to_float(static_cast<uint16_t>(bits));
    const float high = bf16_to_float(static_cast<uint16_t>(bits + 1));
    const auto tie = static_cast<float>((static_cast<double>(low) + high) / 2);
    EXPECT_EQ(float_to_bf16(tie), bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(float_to_bf16(std::nextafter(tie, low)), bits);
    EXPECT_EQ(float_to_bf16(std::nextafter(tie, high)), bits + 1);
    EXPECT_EQ(float_to_bf16(-tie), (bits % 2 == 0 ? bits : bits + 1) | 0x8000U);
  }
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::infinity()), 0x7f80);
}

}  // namespace
}  // namespace tessera
