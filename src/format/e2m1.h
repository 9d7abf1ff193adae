#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// E2M1, the 4-bit float of NVFP4 and MXFP4: sign, two exponent bits, one mantissa bit; no infinity, no NaN.
// Two codes to a byte: the low nibble is the even column.
namespace tessera::format {

inline constexpr float kE2m1Max = 6.0F;

/// Value of each code; bit 3 is the sign, so code 8 is -0.
inline constexpr std::array<float, 16> kE2m1Values = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                                      -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};

constexpr float decode_e2m1(uint8_t code) { return kE2m1Values[code & 0xfU]; }

/// Nearest code, ties to the even code; saturates at +-6, infinities included; -0 and small negatives give -0 (8).
/// NaN gives +6, as the GPU's cvt.rn.satfinite.e2m1x2 does.
constexpr uint8_t encode_e2m1(float value) {
  if (value != value) return 7;
  const bool negative = std::bit_cast<uint32_t>(value) >> 31 != 0;
  const float x = negative ? -value : value;
  // A code is reached from its lower midpoint; the midpoint itself goes to the even neighbour.
  const int magnitude = static_cast<int>(x > 0.25F) + static_cast<int>(x >= 0.75F) + static_cast<int>(x > 1.25F) +
                        static_cast<int>(x >= 1.75F) + static_cast<int>(x > 2.5F) + static_cast<int>(x >= 3.5F) +
                        static_cast<int>(x > 5.0F);
  return static_cast<uint8_t>(magnitude | (negative ? 8 : 0));
}

/// Code of column `col` in a row of packed codes.
inline uint8_t e2m1_at(const std::byte* row, int64_t col) {
  const auto pair = static_cast<uint8_t>(row[col / 2]);
  return col % 2 == 0 ? pair & 0xfU : pair >> 4;
}

constexpr std::byte pack_e2m1(uint8_t even, uint8_t odd) {
  return static_cast<std::byte>((even & 0xfU) | (odd & 0xfU) << 4);
}

}  // namespace tessera::format
