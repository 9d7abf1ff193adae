#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

// E4M3 in its finite ("fn") form: sign, four exponent bits of bias 7, three mantissa bits. No infinity; 0x7f and 0xff
// are NaN; the largest value is 448; subnormals are multiples of 2^-9.
namespace tessera::format {

inline constexpr float kE4m3Max = 448.0F;
inline constexpr float kE4m3MinSubnormal = 0x1p-9F;
inline constexpr uint8_t kE4m3MaxCode = 0x7e;

namespace internal {

constexpr std::array<float, 256> make_e4m3_values() {
  std::array<float, 256> values{};
  for (uint32_t code = 0; code < 256; ++code) {
    const uint32_t sign = code >> 7;
    const uint32_t exponent = (code >> 3) & 0xfU;
    const uint32_t mantissa = code & 7U;
    float magnitude = 0;
    if ((code & 0x7fU) == 0x7fU) {
      magnitude = std::numeric_limits<float>::quiet_NaN();
    } else if (exponent == 0) {
      magnitude = static_cast<float>(mantissa) * kE4m3MinSubnormal;
    } else {
      magnitude = std::bit_cast<float>((exponent + 127 - 7) << 23 | mantissa << 20);
    }
    values[code] = sign != 0 ? -magnitude : magnitude;
  }
  return values;
}

}  // namespace internal

inline constexpr std::array<float, 256> kE4m3Values = internal::make_e4m3_values();

constexpr float decode_e4m3(uint8_t code) { return kE4m3Values[code]; }

/// Nearest code, ties to even; saturates at +-448, infinities included (a value of 464 and more would otherwise be
/// NaN); keeps the sign of zero. NaN gives 0x7f.
constexpr uint8_t encode_e4m3(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 31 << 7;
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return 0x7f;
  uint32_t code = 0;
  if (magnitude < 0x3c800000U) {
    // Below 2^-6, the least normal value, codes count multiples of 2^-9. Adding 2^14, whose last place is 2^-9, lets
    // the addition round, ties to even.
    const float shifted = std::bit_cast<float>(magnitude) + 0x1p14F;
    code = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0x1p14F);
  } else {
    // 20 mantissa bits go; a carry out of the mantissa moves into the exponent, as it should.
    const uint32_t rounded = magnitude + 0x7ffffU + ((magnitude >> 20) & 1U);
    code = (rounded >> 20) - ((127 - 7) << 3);
    if (code > kE4m3MaxCode) code = kE4m3MaxCode;
  }
  return static_cast<uint8_t>(sign | code);
}

}  // namespace tessera::format
