#pragma once

#include <bit>
#include <cstdint>
#include <limits>

// UE8M0 (E8M0): eight exponent bits and nothing else. Byte b is 2^(b - 127); 255 is NaN; there is no zero.
namespace tessera::format {

/// 2^-127, the value of byte 0, is a subnormal of fp32.
constexpr float decode_ue8m0(uint8_t code) {
  if (code == 255) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(code == 0 ? 0x00400000U : static_cast<uint32_t>(code) << 23);
}

/// The largest power of two that does not exceed `value` (the floor that the OCP Microscaling rule asks for), not
/// the nearest. Saturates: below 2^-127, zero included, gives byte 0, infinity gives 254. NaN and negative values
/// give 255.
constexpr uint8_t encode_ue8m0(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (bits == 0x80000000U) return 0;
  if (bits > 0x7f800000U) return 255;
  if (bits == 0x7f800000U) return 254;
  return static_cast<uint8_t>(bits >> 23);
}

}  // namespace tessera::format
