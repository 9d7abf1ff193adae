// Sixteen logical lanes of fp32 on any vector width, and the functions of the model on them.
//
// A kernel written on F32x16 (one 512-bit vector, two of 256 or four of 128 bits) does the same operations on the same
// lanes whatever the target, so all targets give the same bits by construction. Every function here is made of IEEE
// operations and fma alone; none calls the C library. Where the CPU has no fma (SSSE3), mul_add computes the same in
// double precision, slowly: right for a virtual machine of a generic type, not fast.

#if defined(TESSERA_KERNELS_CPU_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_KERNELS_CPU_SIMD_MATH_INL_H_
#undef TESSERA_KERNELS_CPU_SIMD_MATH_INL_H_
#else
#define TESSERA_KERNELS_CPU_SIMD_MATH_INL_H_
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/highway.h"
#include "kernels/cpu/lanes.h"

#ifndef TESSERA_UNROLL
#if defined(__clang__)
#define TESSERA_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TESSERA_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
using DU = hn::Rebind<uint32_t, D>;
using VU = hn::Vec<DU>;
inline constexpr size_t kPartLanes = hn::MaxLanes(D());
inline constexpr size_t kParts = 16 / kPartLanes;

#if HWY_NATIVE_FMA
/// a * b + c, rounded once.
HWY_INLINE V mul_add(V a, V b, V c) { return hn::MulAdd(a, b, c); }
/// c - a * b, rounded once.
HWY_INLINE V neg_mul_add(V a, V b, V c) { return hn::NegMulAdd(a, b, c); }
#else
using DHalf = hn::Half<D>;
using DWide = hn::Rebind<double, DHalf>;

/// fma of half a vector. The product of two fp32 values is exact in double precision. Their sum with c is rounded to
/// odd, so that rounding it to fp32 is the only rounding that counts (Boldo and Melquiond, "Emulation of FMA and
/// correctly rounded sums", 2008): double has more than two bits more than fp32, subnormal results included.
HWY_INLINE hn::Vec<DHalf> mul_add_half(hn::Vec<DHalf> a, hn::Vec<DHalf> b, hn::Vec<DHalf> c) {
  const DWide dw;
  const hn::RebindToSigned<DWide> di;
  const auto product = hn::Mul(hn::PromoteTo(dw, a), hn::PromoteTo(dw, b));
  const auto addend = hn::PromoteTo(dw, c);
  const auto sum = hn::Add(product, addend);
  // What the sum lost (Knuth's TwoSum, exact); NaN where the sum is not finite, and then not compared as lost.
  const auto from_addend = hn::Sub(sum, product);
  const auto lost = hn::Add(hn::Sub(product, hn::Sub(sum, from_addend)), hn::Sub(addend, from_addend));
  const auto inexact = hn::Or(hn::Gt(lost, hn::Zero(dw)), hn::Lt(lost, hn::Zero(dw)));
  // Towards zero, then the last bit set.
  const auto bits = hn::BitCast(di, sum);
  const auto down = hn::BroadcastSignBit(hn::Xor(bits, hn::BitCast(di, lost)));  // -1: the sum was rounded away from 0
  const auto odd = hn::BitCast(dw, hn::Or(hn::Add(bits, down), hn::Set(di, 1)));
  return hn::DemoteTo(DHalf(), hn::IfThenElse(inexact, odd, sum));
}

/// a * b + c, rounded once. Not inlined: it is long, and kernels unroll.
HWY_NOINLINE inline V mul_add(V a, V b, V c) {
  const DHalf dh;
  const auto lower = mul_add_half(hn::LowerHalf(dh, a), hn::LowerHalf(dh, b), hn::LowerHalf(dh, c));
  const auto upper = mul_add_half(hn::UpperHalf(dh, a), hn::UpperHalf(dh, b), hn::UpperHalf(dh, c));
  return hn::Combine(D(), upper, lower);
}
/// c - a * b, rounded once.
HWY_INLINE V neg_mul_add(V a, V b, V c) { return mul_add(hn::Neg(a), b, c); }
#endif

/// fp32 values of binary16 ones, infinities and NaN included: Highway's own conversion without F16C makes numbers of
/// them.
template <typename Halves>
HWY_INLINE V from_half(const Halves& halves) {
#if HWY_TARGET == HWY_SSSE3
  const DU du;
  const VU bits = hn::PromoteTo(du, hn::BitCast(hn::Rebind<uint16_t, D>(), halves));
  const VU magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fffU)));
  const VU sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000U)));
  // Exponents are 112 apart; the product is exact, and subnormals need nothing else.
  const V value = hn::Mul(hn::BitCast(D(), magnitude), hn::Set(D(), 0x1p112F));
  const auto finite = hn::Lt(hn::BitCast(D(), magnitude), hn::Set(D(), 0x1p-96F));  // exponent 31 of 31
  const VU special = hn::Or(magnitude, hn::Set(du, 0x7f800000U));
  return hn::BitCast(D(), hn::Or(hn::BitCast(du, hn::IfThenElse(finite, value, hn::BitCast(D(), special))), sign));
#else
  return hn::PromoteTo(D(), halves);
#endif
}

struct F32x16 {
  V part[kParts];
};

/// Applies f(part...) to every part.
template <typename Function, typename... Args>
HWY_INLINE F32x16 map(const Function& f, const Args&... args) {
  F32x16 out;
  TESSERA_UNROLL
  for (size_t i = 0; i < kParts; ++i) out.part[i] = f(args.part[i]...);
  return out;
}

HWY_INLINE F32x16 load(const float* p) {
  F32x16 out;
  TESSERA_UNROLL
  for (size_t i = 0; i < kParts; ++i) out.part[i] = hn::LoadU(D(), p + i * kPartLanes);
  return out;
}

HWY_INLINE void store(const F32x16& x, float* p) {
  TESSERA_UNROLL
  for (size_t i = 0; i < kParts; ++i) hn::StoreU(x.part[i], D(), p + i * kPartLanes);
}

/// The first n <= 16 values, zeros after them; reads nothing beyond p[n].
HWY_INLINE F32x16 load_n(const float* p, int64_t n) {
  if (n >= 16) return load(p);
  alignas(64) float padded[16] = {};
  std::memcpy(padded, p, static_cast<size_t>(n) * sizeof(float));
  return load(padded);
}

HWY_INLINE void store_n(const F32x16& x, int64_t n, float* p) {
  if (n >= 16) return store(x, p);
  alignas(64) float padded[16];
  store(x, padded);
  std::memcpy(p, padded, static_cast<size_t>(n) * sizeof(float));
}

HWY_INLINE F32x16 set(float x) {
  F32x16 out;
  TESSERA_UNROLL
  for (size_t i = 0; i < kParts; ++i) out.part[i] = hn::Set(D(), x);
  return out;
}

HWY_INLINE F32x16 add(const F32x16& a, const F32x16& b) {
  return map([](V x, V y) HWY_ATTR { return hn::Add(x, y); }, a, b);
}
HWY_INLINE F32x16 sub(const F32x16& a, const F32x16& b) {
  return map([](V x, V y) HWY_ATTR { return hn::Sub(x, y); }, a, b);
}
HWY_INLINE F32x16 mul(const F32x16& a, const F32x16& b) {
  return map([](V x, V y) HWY_ATTR { return hn::Mul(x, y); }, a, b);
}
HWY_INLINE F32x16 div(const F32x16& a, const F32x16& b) {
  return map([](V x, V y) HWY_ATTR { return hn::Div(x, y); }, a, b);
}
HWY_INLINE F32x16 max(const F32x16& a, const F32x16& b) {
  return map([](V x, V y) HWY_ATTR { return hn::Max(x, y); }, a, b);
}
/// a * b + c, rounded once.
HWY_INLINE F32x16 fma(const F32x16& a, const F32x16& b, const F32x16& c) {
  return map([](V x, V y, V z) HWY_ATTR { return mul_add(x, y, z); }, a, b, c);
}

/// The lanes added as a fixed binary tree: i and i + 8, then + 4, + 2, + 1.
HWY_INLINE float sum(const F32x16& x) {
  alignas(64) float lane[16];
  store(x, lane);
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}

/// The largest lane.
HWY_INLINE float max_lane(const F32x16& x) {
  alignas(64) float lane[16];
  store(x, lane);
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] = lane[i] > lane[i + width] ? lane[i] : lane[i + width];
  }
  return lane[0];
}

/// The first n lanes of x, `other` in the rest.
HWY_INLINE F32x16 first_n_or(const F32x16& x, int64_t n, float other) {
  F32x16 out;
  for (size_t i = 0; i < kParts; ++i) {
    const int64_t left = n - static_cast<int64_t>(i * kPartLanes);
    const auto mask = hn::FirstN(D(), static_cast<size_t>(left < 0 ? 0 : left));
    out.part[i] = hn::IfThenElse(mask, x.part[i], hn::Set(D(), other));
  }
  return out;
}

/// Rounds to BF16, to nearest even; the bits of round_to_bf16 (base/dtype.h), NaN included.
HWY_INLINE F32x16 round_bf16(const F32x16& x) {
  return map(
      [](V v) HWY_ATTR {
        const DU du;
        const auto bits = hn::BitCast(du, v);
        const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1U));
        const auto rounded = hn::Add(bits, hn::Add(hn::Set(du, 0x7fffU), odd));
        const auto quiet = hn::Or(bits, hn::Set(du, 0x400000U));
        const auto chosen = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, rounded);
        return hn::BitCast(D(), hn::And(chosen, hn::Set(du, 0xffff0000U)));
      },
      x);
}

HWY_INLINE F32x16 round_if(bool to_bf16, const F32x16& x) { return to_bf16 ? round_bf16(x) : x; }

/// e^x, error below 1.1 ulp on [-50, 88], infinity above. Below -50 (2e-22) it is 0: no sum of the model can tell, and
/// products with what is left stay clear of subnormal numbers, which cost a hundred normal operations each. NaN stays
/// NaN.
/// x = n ln 2 + r, |r| <= ln 2 / 2; e^r = 1 + r + r^2 p(r), p a minimax fit of degree 4 (relative error 3e-9).
HWY_INLINE F32x16 exp(const F32x16& x) {
  return map(
      [](V v) HWY_ATTR {
        const D d;
        const DU du;
        // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
        const V shifter = hn::Set(d, 12582912.0F);
        const V shifted = mul_add(v, hn::Set(d, 1.44269504F), shifter);
        const V n = hn::Sub(shifted, shifter);
        V r = neg_mul_add(n, hn::Set(d, 0.693145752F), v);  // ln 2, high part: 16 bits, so n * it is exact
        r = neg_mul_add(n, hn::Set(d, 1.42860682e-6F), r);  // ln 2, low part
        V p = mul_add(hn::Set(d, 0.00138145596F), r, hn::Set(d, 0.008368745094F));
        p = mul_add(p, r, hn::Set(d, 0.04166839044F));
        p = mul_add(p, r, hn::Set(d, 0.166665204F));
        p = mul_add(p, r, hn::Set(d, 0.4999999343F));
        p = mul_add(p, hn::Mul(r, r), r);
        p = hn::Add(p, hn::Set(d, 1.0F));
        const auto scaled = hn::Add(hn::BitCast(du, p), hn::ShiftLeft<23>(hn::BitCast(du, shifted)));
        V y = hn::IfThenElseZero(hn::Ge(v, hn::Set(d, -50.0F)), hn::BitCast(d, scaled));
        y = hn::IfThenElse(hn::Gt(v, hn::Set(d, 88.0F)), hn::Set(d, std::numeric_limits<float>::infinity()), y);
        return hn::IfThenElse(hn::IsNaN(v), v, y);
      },
      x);
}

/// 1 / (1 + e^-x).
HWY_INLINE F32x16 sigmoid(const F32x16& x) {
  const F32x16 one = set(1.0F);
  return div(one, add(one, exp(sub(set(0.0F), x))));
}

/// x / (1 + e^-x).
HWY_INLINE F32x16 silu(const F32x16& x) { return div(x, add(set(1.0F), exp(sub(set(0.0F), x)))); }

/// log(1 + e^x), x itself above 20. u = 1 + e^x = 2^k m, m in [sqrt(1/2), sqrt(2)); log m = 2 atanh((m-1)/(m+1)) by
/// its series; what 1 + e^x lost to rounding is given back as (e - (u - 1)) / u.
HWY_INLINE F32x16 softplus(const F32x16& x) {
  const F32x16 power = exp(x);
  return map(
      [](V v, V e) HWY_ATTR {
        const D d;
        const DU du;
        const V one = hn::Set(d, 1.0F);
        const V u = hn::Add(one, e);
        const V lost = hn::Div(hn::Sub(e, hn::Sub(u, one)), u);
        const auto sqrt_half = hn::Set(du, 0x3f3504f3U);
        const auto above = hn::Sub(hn::BitCast(du, u), sqrt_half);  // u >= 1: never negative
        const auto k = hn::ShiftRight<23>(above);
        const V m = hn::BitCast(d, hn::Add(hn::And(above, hn::Set(du, 0x007fffffU)), sqrt_half));
        const V s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
        const V z = hn::Mul(s, s);
        V p = mul_add(z, hn::Set(d, 1.0F / 9), hn::Set(d, 1.0F / 7));
        p = mul_add(p, z, hn::Set(d, 1.0F / 5));
        p = mul_add(p, z, hn::Set(d, 1.0F / 3));
        p = hn::Mul(hn::Mul(p, z), s);
        const V log_m = hn::Mul(hn::Add(p, s), hn::Set(d, 2.0F));
        const V exponent = hn::ConvertTo(d, hn::BitCast(hn::Rebind<int32_t, D>(), k));
        const V y = hn::Add(mul_add(exponent, hn::Set(d, 0.693147182F), log_m), lost);
        return hn::IfThenElse(hn::Le(v, hn::Set(d, 20.0F)), y, v);  // NaN: v
      },
      x, power);
}

/// 1 / sqrt(sum(x^2) * scale + eps), the sum in 16 lanes (serial fma) and the tree.
HWY_INLINE float inverse_norm(const float* x, int64_t n, float divisor, float eps) {
  F32x16 squares = set(0.0F);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const F32x16 v = load(x + i);
    squares = fma(v, v, squares);
  }
  if (i < n) {
    const F32x16 v = load_n(x + i, n - i);
    squares = fma(v, v, squares);
  }
  return 1.0F / std::sqrt(sum(squares) / divisor + eps);
}

/// out = x * inverse_rms * (1 + weight).
HWY_INLINE void rms_norm_row(const float* x, const float* weight, int64_t n, float eps, bool to_bf16, float* out) {
  const F32x16 scale = set(inverse_norm(x, n, static_cast<float>(n), eps));
  const F32x16 one = set(1.0F);
  for (int64_t i = 0; i < n; i += 16) {
    const F32x16 y = mul(mul(load_n(x + i, n - i), scale), add(one, load_n(weight + i, n - i)));
    store_n(round_if(to_bf16, y), n - i, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, once per target
