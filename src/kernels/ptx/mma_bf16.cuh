#pragma once

#include <cstdint>

// The BF16 matrix instruction of a warp, and arithmetic around it. Lane L: g = L / 4, q = L % 4.
namespace tessera::kernels::ptx {

/// d += A B, A 16x16 and B 16x8 of BF16, fp32 sums.
///   a[0], a[2]: row g, k 2q, 2q+1 and 2q+8, 2q+9; a[1], a[3]: row g+8
///   b0, b1:     column g, the same k
///   d[0], d[1]: row g, columns 2q and 2q+1; d[2], d[3]: row g+8
__device__ inline void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Two BF16 products, each rounded to nearest even, subnormals kept.
__device__ inline uint32_t mul_bf16x2(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

/// The same with one factor for both: the low half of `b` (0), or its high half (1).
template <int half>
__device__ inline uint32_t mul_bf16x2_by(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("{\n"
      ".reg .b16 h<2>;\n"
      ".reg .b32 both;\n"
      "mov.b32 {h0, h1}, %2;\n"
      "mov.b32 both, {h%3, h%3};\n"
      "mul.rn.bf16x2 %0, %1, both;\n"
      "}"
      : "=r"(d)
      : "r"(a), "r"(b), "n"(half));
  return d;
}

/// Two floats to BF16, nearest even: `low` in the low half.
__device__ inline uint32_t cvt_bf16x2(float high, float low) {
  uint32_t d;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
  return d;
}

}  // namespace tessera::kernels::ptx
