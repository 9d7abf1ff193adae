#pragma once

#include <cstdint>

#include "kernels/spelt_math.h"

// The arithmetic of a draw, with the same bits on the host, in SIMD on any instruction set, and on a GPU: fp32 and
// integers, IEEE + - * / only, each rounded once (no fma: the oldest x86 targets have none). cpu/sampler.h and
// cuda/sample.h have the draw itself.
//
// All is measured from the largest logit: the depth of an id is x = (largest - logit) / temperature >= 0, its
// probability e^-x over the sum of all. Sums of probabilities are sums of integers, e^-x in units of 2^-44, so that
// no order of adding can change them. An id deeper than kDepthEnd has no mass and can win no draw.
//
// What fp32 does to the distribution. A depth that matters (below 27, the spread of the noise) is off by 5e-6 at most,
// the noise by 1.1e-6, a score by another 1e-6: as if logits had an error of 7e-6, far below what the rounding of a
// BF16 model does to them. Two scores are equal, and the lower id wins, about once in 10^6 draws; the 32 bits of the
// noise alone make that 6e-5 in the flattest distribution of 250,000 ids. Sums of probabilities are right to 3e-7.
namespace tessera::kernels::spelt {

/// 2 atanh(s) for |s| < 0.172: its series, of which 2e-9 is left out. Rises with s.
TESSERA_HOST_DEVICE inline float twice_atanh(float s) {
  const float z = s * s;
  const float q = z * (0.33333334F + z * (0.2F + z * (0.14285715F + z * 0.11111111F)));
  const float twice = s + s;
  return twice + twice * q;
}

/// Natural logarithm of a positive, normal x, within 2 ulp or 1e-7.
TESSERA_HOST_DEVICE inline float log(float x) {
  // x = 2^k m, m from sqrt(1/2) to sqrt(2).
  const uint32_t bits = bits_of(x);
  const int32_t k = static_cast<int32_t>(bits - 0x3f3504f3U) >> 23;
  const float m = float_of(bits - (static_cast<uint32_t>(k) << 23));
  const auto exponent = static_cast<float>(k);
  const float log_m = twice_atanh(divide(m - 1.0F, m + 1.0F));
  // ln 2 in two parts: the first has 16 bits, so that its product with k is exact.
  return exponent * 0.693145752F + (exponent * 1.42860682e-6F + log_m);
}

/// A standard Gumbel value, -log(-log u) with u = (bits + 1/2) / 2^32: from -3.13 to 22.9, never falling as bits rise.
/// Within 1.1e-6, half a unit in the last place of the largest: where u is near 1, -log u is taken from 1 - u, which
/// the integer has exactly.
TESSERA_HOST_DEVICE inline float gumbel(uint32_t bits) {
  constexpr uint32_t kRootHalf = 0xb504f333U;  // sqrt(1/2) 2^32
  const bool near_one = bits > kRootHalf;
  const float part = (static_cast<float>(near_one ? ~bits : bits) + 0.5F) * 0x1p-32F;
  // -log(1 - v) = 2 atanh(v / (2 - v)).
  const float exponential = near_one ? twice_atanh(divide(part, 2.0F - part)) : -log(part);
  return -log(exponential);
}
inline constexpr float kNoiseMax = 22.874F;  // > gumbel(2^32 - 1) = 33 ln 2 = 22.87386

/// e^-x for x >= 0 in fp32, 0 beyond 40; within 2e-7 of it, never above 1.
TESSERA_HOST_DEVICE inline float exp_minus(float x) {
  x = x < 40.0F ? x : 40.0F;
  const float shifter = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer, left in the low bits
  const float shifted = shifter - x * 1.44269504F;
  const float n = shifted - shifter;
  const float r = (0.0F - x) - n * 0.693145752F - n * 1.42860682e-6F;  // ln 2 in two parts, as in log()
  // A minimax polynomial of e^r (simd_math-inl.h).
  float p = 0.00138145596F * r + 0.008368745094F;
  p = p * r + 0.04166839044F;
  p = p * r + 0.166665204F;
  p = p * r + 0.4999999343F;
  p = p * (r * r) + r;
  p = p + 1.0F;
  return float_of(bits_of(p) + (bits_of(shifted) << 23));
}

/// e^-x in units of 2^-44, rounded down, for x >= 0; 2^44 at 0, and 0 from 30.5 on. 2^19 of them cannot overflow.
inline constexpr int kMassBits = 44;
TESSERA_HOST_DEVICE inline uint64_t mass(float x) {
  const uint32_t bits = bits_of(exp_minus(x));  // exponent field 69 to 127
  return static_cast<uint64_t>((bits & 0x7fffffU) | 0x800000U) << (kMassBits - 23) >> (127U - (bits >> 23));
}

/// 1 / temperature, or the largest float where that overflows.
TESSERA_HOST_DEVICE inline float inverse_temperature(float temperature) {
  const float inverse = divide(1.0F, temperature);
  return inverse < 3.40282347e+38F ? inverse : 3.40282347e+38F;
}

TESSERA_HOST_DEVICE inline float depth(float largest, float logit, float inverse) {
  return (largest - logit) * inverse;
}
inline constexpr float kDepthEnd = 32.0F;

/// Depth in steps of 1/64, for sums of mass by depth. For depths below kDepthEnd.
inline constexpr int kBucketsPerUnit = 64, kBuckets = 2048;
TESSERA_HOST_DEVICE inline int bucket(float depth) { return static_cast<int>(depth * 64.0F); }

/// min_p keeps what is no deeper: e^-depth >= min_p. For min_p from 0 (all) to 1.
TESSERA_HOST_DEVICE inline float min_p_depth(float min_p) {
  return min_p < 1.17549435e-38F ? float_of(0x7f800000U) : -log(min_p);
}

/// top_p in (0, 1) as a fraction of 2^32, rounded up.
TESSERA_HOST_DEVICE inline uint32_t top_p_fraction(float top_p) {
  const float scaled = top_p * 0x1p32F;
  const auto whole = static_cast<uint32_t>(scaled);
  return static_cast<float>(whole) < scaled ? whole + 1 : whole;
}
/// ceil(total * fraction / 2^32), for total < 2^63.
TESSERA_HOST_DEVICE inline uint64_t share(uint64_t total, uint32_t fraction) {
  const uint64_t low = (total & 0xffffffffU) * fraction;
  return (total >> 32) * fraction + (low >> 32) + ((low & 0xffffffffU) != 0 ? 1 : 0);
}

/// Noise bits below this lose: their gumbel() is under `need`, with room for the rounding of the score and of need
/// itself. Not the least such number; from 1 - u <= -log u = e^-need.
TESSERA_HOST_DEVICE inline uint32_t least_winning_bits(float need) {
  if (!(need > 0.01F)) return 0;
  return 0U - (static_cast<uint32_t>(exp_minus(need) * (1.0001F * 0x1p32F)) + 1U);
}

/// Larger for larger values, as integers; -0 is 0. Not for NaN.
TESSERA_HOST_DEVICE inline uint32_t order_key(float value) {
  const uint32_t bits = bits_of(value == 0.0F ? 0.0F : value);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
TESSERA_HOST_DEVICE inline float of_order_key(uint32_t key) {
  return float_of((key >> 31) != 0 ? key & 0x7fffffffU : ~key);
}

/// log of a sum of masses, at least 2^44.
TESSERA_HOST_DEVICE inline float log_of_mass(uint64_t sum) { return log(static_cast<float>(sum) * 0x1p-44F); }

}  // namespace tessera::kernels::spelt
