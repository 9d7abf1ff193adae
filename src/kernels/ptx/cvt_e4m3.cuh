#pragma once

#include <cstdint>

namespace tessera::kernels::ptx {

/// Two E4M3 codes (in the low 16 bits) to two BF16, exact; NaN stays NaN.
__device__ inline uint32_t cvt_bf16x2_e4m3x2(uint32_t codes) {
  uint32_t d;
  asm("{\n"
      ".reg .b16 pair, low, high;\n"
      ".reg .b32 halves;\n"
      ".reg .f32 a, b;\n"
      "cvt.u16.u32 pair, %1;\n"
      "cvt.rn.f16x2.e4m3x2 halves, pair;\n"
      "mov.b32 {low, high}, halves;\n"
      "cvt.f32.f16 a, low;\n"
      "cvt.f32.f16 b, high;\n"
      "cvt.rn.bf16x2.f32 %0, b, a;\n"
      "}"
      : "=r"(d)
      : "r"(codes));
  return d;
}

/// Two floats to E4M3, nearest even, saturating at +-448, infinities too; NaN gives 0x7f. `low` in the low byte.
__device__ inline uint32_t cvt_e4m3x2(float high, float low) {
  uint32_t d;
  asm("{\n"
      ".reg .b16 pair;\n"
      "cvt.rn.satfinite.e4m3x2.f32 pair, %1, %2;\n"
      "cvt.u32.u16 %0, pair;\n"
      "}"
      : "=r"(d)
      : "f"(high), "f"(low));
  return d;
}

}  // namespace tessera::kernels::ptx
