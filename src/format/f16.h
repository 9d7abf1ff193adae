#pragma once

#include <bit>
#include <cstdint>

// IEEE binary16. BF16 is in base/dtype.h.
namespace tessera::format {

/// Exact. NaN keeps its sign and payload, and becomes quiet.
constexpr float f16_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits >> 15) << 31;
  const uint32_t exponent = (bits >> 10) & 0x1fU;
  const uint32_t mantissa = bits & 0x3ffU;
  uint32_t magnitude = 0;
  if (exponent == 0) {
    magnitude = std::bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-24F);
  } else if (exponent == 31) {
    magnitude = 0x7f800000U | mantissa << 13 | (mantissa != 0 ? 0x400000U : 0);
  } else {
    magnitude = (exponent + 127 - 15) << 23 | mantissa << 13;
  }
  return std::bit_cast<float>(sign | magnitude);
}

/// Round to nearest, ties to even; 65520 and more become infinity; NaN stays NaN (quiet).
constexpr uint16_t float_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 31 << 15;
  const uint32_t magnitude = bits & 0x7fffffffU;
  uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U | (magnitude >> 13 & 0x3ffU);
  } else if (magnitude >= 0x47800000U) {  // 2^16
    half = 0x7c00U;
  } else if (magnitude < 0x38800000U) {
    // Below 2^-14 halves count multiples of 2^-24; adding 0.5, whose last place is 2^-24, lets the addition round.
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<uint32_t>(0.5F);
  } else {
    const uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
    half = (rounded >> 13) - ((127 - 15) << 10);
  }
  return static_cast<uint16_t>(sign | half);
}

}  // namespace tessera::format
