#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tessera {

/// Element types as stored in files and caches. 4-bit codes live in u8, two to a byte.
enum class DType { u8, i32, i64, f32, f16, bf16, f8_e4m3, f8_e8m0 };

/// Bytes of one element.
constexpr size_t size_bytes(DType dtype) {
  switch (dtype) {
    case DType::u8:
    case DType::f8_e4m3:
    case DType::f8_e8m0: return 1;
    case DType::f16:
    case DType::bf16: return 2;
    case DType::i32:
    case DType::f32: return 4;
    case DType::i64: return 8;
  }
  return 0;
}

/// The name safetensors uses: "BF16", "F8_E4M3", ...
constexpr std::string_view name(DType dtype) {
  switch (dtype) {
    case DType::u8: return "U8";
    case DType::i32: return "I32";
    case DType::i64: return "I64";
    case DType::f32: return "F32";
    case DType::f16: return "F16";
    case DType::bf16: return "BF16";
    case DType::f8_e4m3: return "F8_E4M3";
    case DType::f8_e8m0: return "F8_E8M0";
  }
  return "?";
}

/// BF16 bits to fp32: exact.
constexpr float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// fp32 to BF16 bits, round to nearest, ties to even; NaN stays NaN (quiet).
constexpr uint16_t float_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// The nearest BF16 value, as fp32.
constexpr float round_to_bf16(float value) { return bf16_to_float(float_to_bf16(value)); }

}  // namespace tessera
