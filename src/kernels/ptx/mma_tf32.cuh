#pragma once

#include <cstdint>

// The TF32 matrix instruction of a warp. Lane L: g = L / 4, q = L % 4.
namespace tessera::kernels::ptx {

/// d += A B, A 16x8 and B 8x8, fp32 sums. Of each operand the first 10 fraction bits count, and the rest is dropped:
/// round with cvt_tf32, unless the value is exact (FP16 and BF16 are).
///   a[0]: row g, k q; a[1]: row g+8, k q; a[2]: row g, k q+4; a[3]: row g+8, k q+4
///   b0:   k q, column g; b1: k q+4, column g
///   d[0], d[1]: row g, columns 2q and 2q+1; d[2], d[3]: row g+8
__device__ inline void mma_m16n8k8_tf32(float (&d)[4], const float (&a)[4], float b0, float b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
        "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}

/// To TF32, nearest, ties away from zero.
__device__ inline float cvt_tf32(float x) {
  uint32_t d;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(d) : "f"(x));
  return __uint_as_float(d);
}

}  // namespace tessera::kernels::ptx
