#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/matrix.h"
#include "plan/tile.h"

// A model, in integers, of the block-scaled FP4 tensor-core instruction of compute capability 12.x,
//
//   mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::{4X,2X}.m16n8k64.row.col.f32.e2m1.e2m1.f32.{ue4m3,ue8m0}
//
// 4X with UE4M3 scales multiplies NVFP4, 2X with UE8M0 scales MXFP4. Fragments and selectors are those of the PTX ISA.
// The arithmetic is documented by nobody who makes the hardware; it follows the group-scaled truncated fused
// dot-product-add that P. Xie, S. Xu, Y. Wang, F. Yang and M. Yang derived from tests of Blackwell GPUs: "Bit-Accurate
// Modeling of GPU Matrix Multiply-Accumulate Units: Demystifying Numerical Discrepancy and Accuracy",
// arXiv:2511.10909 (first version: "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores"), F = 35,
// groups of 16, truncation. Here it is a PREDICTION about compute capability 12.x: this project has not run the
// instruction. What does not depend on the model is called order-free: if no bit is truncated and the sum is exact in
// fp32, every summation gives it.
//
// One element: 64 products fall into 4 groups of 16. In each, the sum of products is exact, and is multiplied exactly
// by the significands of the two scales. A group's exponent is the sum of the two scales' exponents, whatever its sum;
// that of the accumulator c is its own. Subnormal numbers keep the least exponent of their format and a significand
// below 1. The five terms are aligned to the largest exponent, each is truncated towards zero to 35 fractional bits
// there, their sum is exact, and it is truncated towards zero to fp32.
//
// A group of nothing but zero products, a group with a zero scale, and a zero accumulator have exponent -139. A NaN
// scale or accumulator gives the NaN 0x7fffffff; an infinite accumulator passes through; 2^128 and above is infinite.
// The sign bit of a UE4M3 scale is not looked at. An exact zero is +0 here: the sign is not published.
namespace tessera::kernels::cpu {

/// One element: c + sum over k of (a_k scale_a)(b_k scale_b).
///   a, b:              32 bytes each, 64 codes along K, low nibble first
///   scales_a, scales_b: 4 (nvfp4) or 2 (mxfp4) scales, of 16 or 32 codes each
float fp4_multiply_add(format::WeightFormat format, const std::byte* a, const std::byte* scales_a, const std::byte* b,
                       const std::byte* scales_b, float c);

/// The registers of one lane. Lane L has group g = L / 4 and q = L % 4.
struct Fp4Lane {
  std::array<uint32_t, 4> a;  // a0: row g, k 8q .. 8q+7, low nibble first; a1: row g+8; a2, a3: the same, k + 32
  std::array<uint32_t, 2> b;  // b0: column g, k 8q .. 8q+7; b1: k + 32
  std::array<float, 4> c;     // c0, c1: row g, columns 2q and 2q+1; c2, c3: row g+8
  uint32_t scale_a;           // lanes q = 2 thread_a and 2 thread_a + 1: rows g and g+8; the others' are not read
  uint32_t scale_b;           // lane q = thread_b: column g
};

/// Which bytes of the scale registers are read, from `byte` on: 4X reads all four, so byte is 0; 2X reads 0 and 1 or
/// 2 and 3, so byte is 0 or 2.
struct Fp4Selectors {
  uint16_t byte_a = 0, thread_a = 0;  // thread_a: 0 or 1
  uint16_t byte_b = 0, thread_b = 0;  // thread_b: 0 to 3
};

/// d of each lane, laid out as c. Selectors that PTX forbids are a broken invariant.
std::array<std::array<float, 4>, 32> mma_fp4(format::WeightFormat format, std::span<const Fp4Lane, 32> lanes,
                                             const Fp4Selectors& selectors);

}  // namespace tessera::kernels::cpu
