#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/dtype.h"
#include "format/e2m1.h"
#include "format/e4m3.h"
#include "format/f16.h"
#include "format/ue8m0.h"

namespace tessera::format {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// sign, `exponent_bits` and `mantissa_bits` of the low bits of `magnitude`, by the definition of a binary float.
double value_of(uint32_t magnitude, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(magnitude >> mantissa_bits);
  const double fraction = std::ldexp(magnitude & ((1U << mantissa_bits) - 1), -mantissa_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
}

/// A format's non-negative values in the order of their codes.
std::vector<double> magnitudes(uint32_t count, int exponent_bits, int mantissa_bits) {
  std::vector<double> values(count);
  for (uint32_t i = 0; i < count; ++i) values[i] = value_of(i, exponent_bits, mantissa_bits);
  return values;
}

/// The code of the nearest magnitude, ties to the even code, saturating at the last.
uint32_t nearest(const std::vector<double>& values, double x) {
  const auto above = static_cast<size_t>(std::upper_bound(values.begin(), values.end(), x) - values.begin());
  if (above == values.size()) return static_cast<uint32_t>(values.size() - 1);
  const double low = x - values[above - 1];
  const double high = values[above] - x;
  const size_t code = low < high ? above - 1 : high < low ? above : above % 2 == 0 ? above : above - 1;
  return static_cast<uint32_t>(code);
}

/// Every value, every tie and their fp32 neighbours on both sides; subnormals, extremes, infinity, zero.
std::vector<float> interesting_points(const std::vector<double>& values) {
  std::vector<float> points = {0.0F, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::min(),
                               std::numeric_limits<float>::max(), kInf};
  const auto with_neighbours = [&](double x) {
    const auto f = static_cast<float>(x);
    ASSERT_EQ(static_cast<double>(f), x);
    for (const float p : {f, std::nextafter(f, 0.0F), std::nextafter(f, kInf)}) points.push_back(p);
  };
  for (size_t i = 0; i < values.size(); ++i) {
    with_neighbours(values[i]);
    // Behind the largest value, the tie with the value that would follow it.
    with_neighbours(i + 1 < values.size() ? (values[i] + values[i + 1]) / 2
                                          : values[i] + (values[i] - values[i - 1]) / 2);
  }
  return points;
}

/// Checks `encode` at the interesting points of both signs and at some four million bit patterns.
template <typename Code>
void check_encode(Code (*encode)(float), const std::vector<double>& values, Code sign) {
  const auto check = [&](float x) {
    const auto expected = static_cast<Code>(nearest(values, std::fabs(x)) | (std::signbit(x) ? sign : 0U));
    if (encode(x) != expected) {
      ADD_FAILURE() << "value " << x << " (0x" << std::hex << std::bit_cast<uint32_t>(x) << ") encoded as "
                    << +encode(x) << ", expected " << +expected;
    }
  };
  for (const float x : interesting_points(values)) {
    check(x);
    check(-x);
  }
  for (uint64_t bits = 0; bits <= 0xffffffffU && !::testing::Test::HasFailure(); bits += 1021) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (!std::isnan(x)) check(x);
  }
}

TEST(E2m1, DecodesEveryCode) {
  const std::vector<double> values = magnitudes(8, 2, 1);
  for (uint32_t code = 0; code < 16; ++code) {
    const float decoded = decode_e2m1(static_cast<uint8_t>(code));
    EXPECT_EQ(std::fabs(decoded), values[code & 7U]) << code;
    EXPECT_EQ(std::signbit(decoded), code >= 8) << code;
    EXPECT_EQ(encode_e2m1(decoded), code);
  }
}

TEST(E2m1, EncodesToNearestEven) { check_encode<uint8_t>(encode_e2m1, magnitudes(8, 2, 1), 8); }

TEST(E2m1, EncodesNanAsLargest) {
  EXPECT_EQ(encode_e2m1(kNan), 7);
  EXPECT_EQ(encode_e2m1(-kNan), 7);
}

TEST(E2m1, PacksLowNibbleFirst) {
  for (uint32_t pair = 0; pair < 256; ++pair) {
    const std::byte packed = pack_e2m1(pair & 0xfU, pair >> 4 & 0xfU);
    EXPECT_EQ(static_cast<uint32_t>(packed), pair);
    EXPECT_EQ(e2m1_at(&packed, 0), pair & 0xfU);
    EXPECT_EQ(e2m1_at(&packed, 1), pair >> 4);
  }
}

TEST(E4m3, DecodesEveryCode) {
  const std::vector<double> values = magnitudes(127, 4, 3);
  EXPECT_EQ(values.back(), kE4m3Max);
  for (uint32_t code = 0; code < 256; ++code) {
    const float decoded = decode_e4m3(static_cast<uint8_t>(code));
    if ((code & 0x7fU) == 0x7fU) {
      EXPECT_TRUE(std::isnan(decoded)) << code;
      continue;
    }
    EXPECT_EQ(std::fabs(decoded), values[code & 0x7fU]) << code;
    EXPECT_EQ(std::signbit(decoded), code >= 128) << code;
    EXPECT_EQ(encode_e4m3(decoded), code);
  }
}

TEST(E4m3, EncodesToNearestEven) { check_encode<uint8_t>(encode_e4m3, magnitudes(127, 4, 3), 128); }

TEST(E4m3, EncodesNanAsNan) {
  EXPECT_EQ(encode_e4m3(kNan), 0x7f);
  EXPECT_EQ(encode_e4m3(-kNan), 0x7f);
}

TEST(Ue8m0, DecodesEveryCode) {
  for (int code = 0; code < 255; ++code) {
    EXPECT_EQ(decode_ue8m0(static_cast<uint8_t>(code)), std::ldexp(1.0F, code - 127)) << code;
    EXPECT_EQ(encode_ue8m0(decode_ue8m0(static_cast<uint8_t>(code))), code);
  }
  EXPECT_TRUE(std::isnan(decode_ue8m0(255)));
}

TEST(Ue8m0, EncodesTheFloor) {
  for (int code = 0; code < 254; ++code) {
    const float power = decode_ue8m0(static_cast<uint8_t>(code));
    EXPECT_EQ(encode_ue8m0(std::nextafter(power, kInf)), code);
    EXPECT_EQ(encode_ue8m0(power * 1.5F), code);
    EXPECT_EQ(encode_ue8m0(std::nextafter(power * 2, 0.0F)), code);
    EXPECT_EQ(encode_ue8m0(power * 2), code + 1);
  }
  EXPECT_EQ(encode_ue8m0(std::numeric_limits<float>::max()), 254);
}

TEST(Ue8m0, SaturatesAndRefuses) {
  EXPECT_EQ(encode_ue8m0(0.0F), 0);
  EXPECT_EQ(encode_ue8m0(-0.0F), 0);
  EXPECT_EQ(encode_ue8m0(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(encode_ue8m0(kInf), 254);
  EXPECT_EQ(encode_ue8m0(kNan), 255);
  EXPECT_EQ(encode_ue8m0(-1.0F), 255);
  EXPECT_EQ(encode_ue8m0(-kInf), 255);
}

TEST(F16, DecodesEveryCode) {
  const std::vector<double> values = magnitudes(0x7c00, 5, 10);
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float decoded = f16_to_float(static_cast<uint16_t>(code));
    const uint32_t magnitude = code & 0x7fffU;
    ASSERT_EQ(std::signbit(decoded), code >= 0x8000) << code;
    if (magnitude > 0x7c00U) {
      ASSERT_TRUE(std::isnan(decoded)) << code;
      ASSERT_EQ(float_to_f16(decoded), code | 0x200U);
    } else {
      ASSERT_EQ(std::fabs(decoded), magnitude == 0x7c00U ? kInf : values[magnitude]) << code;
      ASSERT_EQ(float_to_f16(decoded), code);
    }
  }
}

TEST(F16, EncodesToNearestEven) {
  // Infinity takes the place of the value that would follow the largest, 65536.
  check_encode<uint16_t>(float_to_f16, magnitudes(0x7c01, 5, 10), 0x8000);
}

TEST(F16, EncodesNanAsNan) {
  EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(kNan))));
  // A payload in the low bits alone must not turn into infinity.
  EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(std::bit_cast<float>(0x7f800001U)))));
}

static_assert(decode_e2m1(7) == 6.0F && encode_e2m1(5.0F) == 6 && encode_e4m3(448.0F) == 0x7e);
static_assert(decode_e4m3(0x38) == 1.0F && encode_ue8m0(1.0F) == 127 && float_to_f16(1.0F) == 0x3c00);

}  // namespace
}  // namespace tessera::format
