#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

// Arithmetic with the same bits on the host and on a GPU. exp is that of cpu/simd_math-inl.h, operation by
// operation, every rounding is spelt. Compiled without contraction (-ffp-contract=off, --fmad=false).
#if defined(__CUDACC__)
#define TESSERA_HOST_DEVICE __host__ __device__
#else
#define TESSERA_HOST_DEVICE
#endif

namespace tessera::kernels {
namespace spelt {

TESSERA_HOST_DEVICE inline float fma(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}
TESSERA_HOST_DEVICE inline float divide(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}
/// Correctly rounded.
TESSERA_HOST_DEVICE inline float square_root(float x) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(x);
#else
  return std::sqrt(x);
#endif
}
TESSERA_HOST_DEVICE inline uint32_t bits_of(float x) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(x);
#else
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
#endif
}
TESSERA_HOST_DEVICE inline float float_of(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
#endif
}

/// To BF16, nearest even; NaN stays a quiet NaN. The bits of float_to_bf16 (base/dtype.h).
TESSERA_HOST_DEVICE inline uint16_t to_bf16(float x) {
  const uint32_t bits = bits_of(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}
TESSERA_HOST_DEVICE inline float round_bf16(float x) { return float_of(static_cast<uint32_t>(to_bf16(x)) << 16); }

/// e^x for x from -50 to 88.
TESSERA_HOST_DEVICE inline float exp_in_range(float x) {
  const float shifter = 12582912.0F;
  const float shifted = fma(x, 1.44269504F, shifter);
  const float n = shifted - shifter;
  float r = fma(-n, 0.693145752F, x);
  r = fma(-n, 1.42860682e-6F, r);
  float p = fma(0.00138145596F, r, 0.008368745094F);
  p = fma(p, r, 0.04166839044F);
  p = fma(p, r, 0.166665204F);
  p = fma(p, r, 0.4999999343F);
  const float square = r * r;
  p = fma(p, square, r);
  p = p + 1.0F;
  return float_of(bits_of(p) + (bits_of(shifted) << 23));
}

/// e^x as cpu/simd_math-inl.h has it: 0 below -50, infinity above 88.
TESSERA_HOST_DEVICE inline float exp(float x) {
  const float in_range = exp_in_range(x);  // selects, since a GPU's lanes would part at branches
  const float above = x > 88.0F ? float_of(0x7f800000U) : in_range;
  const float any = x >= -50.0F ? above : 0.0F;
  return x != x ? x : any;
}

TESSERA_HOST_DEVICE inline float sigmoid(float x) { return divide(1.0F, 1.0F + exp(0.0F - x)); }
TESSERA_HOST_DEVICE inline float silu(float x) { return divide(x, 1.0F + exp(0.0F - x)); }

/// log(1 + e^x), x itself above 20: that of cpu/simd_math-inl.h, operation by operation.
TESSERA_HOST_DEVICE inline float softplus(float x) {
  if (!(x <= 20.0F)) return x;
  const uint32_t sqrt_half = 0x3f3504f3U;
  const float e = exp(x);
  const float u = 1.0F + e;
  const float lost = divide(e - (u - 1.0F), u);
  const uint32_t above = bits_of(u) - sqrt_half;
  const float m = float_of((above & 0x007fffffU) + sqrt_half);
  const float s = divide(m - 1.0F, m + 1.0F);
  const float z = s * s;
  float p = fma(z, 1.0F / 9, 1.0F / 7);
  p = fma(p, z, 1.0F / 5);
  p = fma(p, z, 1.0F / 3);
  p = p * z * s;
  const float log_m = (p + s) * 2.0F;
  return fma(static_cast<float>(above >> 23), 0.693147182F, log_m) + lost;
}

}  // namespace spelt

/// silu(gate) * up in BF16 bits. Rounded to BF16: gate, up, silu(gate), the product.
TESSERA_HOST_DEVICE inline uint16_t swiglu(float gate, float up) {
  const float g = spelt::round_bf16(gate);
  const float silu = spelt::divide(g, 1.0F + spelt::exp(0.0F - g));
  return spelt::to_bf16(spelt::round_bf16(silu) * spelt::round_bf16(up));
}

}  // namespace tessera::kernels
