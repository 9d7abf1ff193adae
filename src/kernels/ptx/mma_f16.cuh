#pragma once

#include <cstdint>

// The FP16 matrix instruction of a warp, and conversions around it. Lane L: g = L / 4, q = L % 4.
namespace tessera::kernels::ptx {

/// d += A B, A 16x16 and B 16x8 of FP16, fp32 sums; fragments as those of mma_m16n8k16_bf16.
__device__ inline void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Two floats to FP16, nearest even: `low` in the low half. Beyond 65,504: infinity.
__device__ inline uint32_t cvt_f16x2(float high, float low) {
  uint32_t d;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
  return d;
}

/// The low and the high half of a pair of FP16, exactly.
__device__ inline float low_f16(uint32_t pair) {
  float d;
  asm("{\n"
      ".reg .b16 low, high;\n"
      "mov.b32 {low, high}, %1;\n"
      "cvt.f32.f16 %0, low;\n"
      "}"
      : "=f"(d)
      : "r"(pair));
  return d;
}
__device__ inline float high_f16(uint32_t pair) {
  float d;
  asm("{\n"
      ".reg .b16 low, high;\n"
      "mov.b32 {low, high}, %1;\n"
      "cvt.f32.f16 %0, high;\n"
      "}"
      : "=f"(d)
      : "r"(pair));
  return d;
}

}  // namespace tessera::kernels::ptx
