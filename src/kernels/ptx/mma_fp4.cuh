#pragma once

#include <cstdint>

// mma.sync.aligned.kind::mxf4nvf4.block_scale.m16n8k64: FP4 codes times FP4 codes, scaled by blocks. Native where the
// program is compiled for compute capability 12.x; elsewhere a warp emulates it with the same fragments, selectors and,
// by the model of kernels/reference/fp4_mma.h, the same bits, so that the kernels of 12.x run as they are on other GPUs.
// Fragments and selectors are documented there.
namespace tessera::kernels::ptx {

// compute_120f sets the first, compute_120a and compute_121a the second. Plain compute_120 has no such instruction.
#if (defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ == 1200) || \
    (defined(__CUDA_ARCH_SPECIFIC__) && (__CUDA_ARCH_SPECIFIC__ == 1200 || __CUDA_ARCH_SPECIFIC__ == 1210))
#define TESSERA_NATIVE_FP4_MMA 1
#else
#define TESSERA_NATIVE_FP4_MMA 0
#endif

/// Which scales the instruction takes: four UE4M3 of 16 codes (NVFP4), or two UE8M0 of 32 (MXFP4).
enum class ScaleVec { x4_ue4m3, x2_ue8m0 };

namespace emulation {

inline constexpr unsigned kWarp = 0xffffffffU;
inline constexpr int kZeroExponent = -139;

/// Four codes (16 bits) to four signed bytes of twice their values.
__device__ inline int twice(uint32_t codes) {
  const uint32_t index = codes & 0x7777U;
  const uint32_t positive = __byte_perm(0x03020100U, 0x0c080604U, index);
  const uint32_t negative = __byte_perm(0xfdfeff00U, 0xf4f8fafcU, index);
  const uint32_t signs = (codes & 0x8U) >> 3 | (codes & 0x80U) << 1 | (codes & 0x800U) << 5 | (codes & 0x8000U) << 9;
  const uint32_t mask = signs * 0xffU;
  return static_cast<int>((positive & ~mask) | (negative & mask));
}

/// The sum of products of eight codes, in quarters, added to `sum`.
__device__ inline int dot8(uint32_t a, uint32_t b, int sum) {
  sum = __dp4a(twice(a & 0xffffU), twice(b & 0xffffU), sum);
  return __dp4a(twice(a >> 16), twice(b >> 16), sum);
}

/// One bit for each code that is not zero.
__device__ inline uint32_t nonzero(uint32_t codes) { return (codes | codes >> 1 | codes >> 2) & 0x11111111U; }

/// A scale's significand in eighths (low 4 bits) and exponent (above); NaN is seen by is_nan.
__device__ inline int significand(uint32_t scale, bool ue8m0) {
  if (ue8m0) return 8;
  return static_cast<int>((scale & 0x78U) == 0 ? scale & 7U : 8 + (scale & 7U));
}
__device__ inline int exponent(uint32_t scale, bool ue8m0) {
  if (ue8m0) return static_cast<int>(scale) - 127;
  return max(static_cast<int>(scale >> 3 & 0xfU), 1) - 7;
}
__device__ inline bool is_nan(uint32_t scale, bool ue8m0) { return ue8m0 ? scale == 0xffU : (scale & 0x7fU) == 0x7fU; }

/// value * 2^shift, truncated towards zero.
__device__ inline long long aligned(long long value, int shift) {
  const unsigned long long magnitude = value < 0 ? -value : value;
  const unsigned long long kept = shift >= 0 ? magnitude << shift : shift > -64 ? magnitude >> -shift : 0;
  return value < 0 ? -static_cast<long long>(kept) : static_cast<long long>(kept);
}

/// sum * 2^exponent, truncated towards zero to fp32.
__device__ inline float truncated(long long sum, int exponent) {
  if (sum == 0) return 0.0F;
  const unsigned long long magnitude = sum < 0 ? -sum : sum;
  const uint32_t sign = sum < 0 ? 0x80000000U : 0U;
  const int leading = 63 - __clzll(static_cast<long long>(magnitude)) + exponent;
  if (leading > 127) return __uint_as_float(sign | 0x7f800000U);
  const int normal = max(leading, -126);
  const int drop = normal - 23 - exponent;
  const auto kept = static_cast<uint32_t>(drop >= 64 ? 0 : drop >= 0 ? magnitude >> drop : magnitude << -drop);
  return __uint_as_float(sign | ((static_cast<uint32_t>(normal + 126) << 23) + kept));
}

/// One element: sums[4] in quarters of 16 codes each, the scales of its row and column, its accumulator.
__device__ inline float element(const int (&sums)[4], uint32_t any, uint32_t scales_a, uint32_t scales_b, float c,
                                bool ue8m0) {
  const uint32_t c_bits = __float_as_uint(c);
  const uint32_t c_magnitude = c_bits & 0x7fffffffU;
  bool nan = c_magnitude > 0x7f800000U;
  int values[4];
  int exponents[4];
  int largest = kZeroExponent;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int byte = ue8m0 ? i / 2 : i;
    const uint32_t a = scales_a >> (8 * byte) & 0xffU;
    const uint32_t b = scales_b >> (8 * byte) & 0xffU;
    nan = nan || is_nan(a, ue8m0) || is_nan(b, ue8m0);
    const int scale = significand(a, ue8m0) * significand(b, ue8m0);
    values[i] = sums[i] * scale;
    exponents[i] = (any >> i & 1U) != 0 && scale != 0 ? exponent(a, ue8m0) + exponent(b, ue8m0) : kZeroExponent;
    largest = max(largest, exponents[i]);
  }
  if (nan) return __uint_as_float(0x7fffffffU);
  if (c_magnitude == 0x7f800000U) return c;
  const int c_exponent = c_magnitude == 0 ? kZeroExponent : max(static_cast<int>(c_magnitude >> 23), 1) - 127;
  largest = max(largest, c_exponent);
  const long long c_significand = (c_magnitude & 0x7fffffU) | (c_magnitude >> 23 != 0 ? 0x800000U : 0U);
  // 35 fractional bits: 23 of an fp32, 2 + 6 of a group.
  long long sum = aligned((c_bits >> 31) != 0 ? -c_significand : c_significand, 12 + c_exponent - largest);
#pragma unroll
  for (int i = 0; i < 4; ++i) sum += aligned(values[i], 27 + exponents[i] - largest);
  return truncated(sum, largest - 35);
}

/// The instruction for a whole warp. Not inlined, and its four elements one after another by the same code: each kernel
/// gets a copy of its own.
static __device__ __noinline__ float4 mma_fp4(uint4 a, uint2 b, float4 c, uint32_t scale_a, uint32_t scale_b,
                                              int selectors, bool ue8m0) {
  const int lane = static_cast<int>(threadIdx.x) & 31;  // blocks are one-dimensional
  const int byte_a = selectors & 0xff, thread_a = selectors >> 8 & 0xff;
  const int byte_b = selectors >> 16 & 0xff, thread_b = selectors >> 24 & 0xff;
  float4 d = c;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    const bool low_row = i < 2;                                          // row g, else g + 8
    const int row = lane & ~3, column = 4 * (2 * (lane & 3) + (i & 1));  // the first lanes that hold them
    const uint32_t row_scale = __shfl_sync(kWarp, scale_a, row + 2 * thread_a + (low_row ? 0 : 1)) >> (8 * byte_a);
    const uint32_t column_scale = __shfl_sync(kWarp, scale_b, column + thread_b) >> (8 * byte_b);
    int sums[4] = {};
    uint32_t any = 0;
#pragma unroll
    for (int eight = 0; eight < 8; ++eight) {  // codes along K
      const int group = eight / 2, q = eight % 4;
      const uint32_t low = group < 2 ? a.x : a.z, high = group < 2 ? a.y : a.w;
      const uint32_t left = __shfl_sync(kWarp, low_row ? low : high, row + q);
      const uint32_t right = __shfl_sync(kWarp, group < 2 ? b.x : b.y, column + q);
      sums[group] = dot8(left, right, sums[group]);
      any |= ((nonzero(left) & nonzero(right)) != 0 ? 1U : 0U) << group;
    }
    const float before = i == 0 ? c.x : i == 1 ? c.y : i == 2 ? c.z : c.w;
    const float sum = element(sums, any, row_scale, column_scale, before, ue8m0);
    d.x = i == 0 ? sum : d.x;
    d.y = i == 1 ? sum : d.y;
    d.z = i == 2 ? sum : d.z;
    d.w = i == 3 ? sum : d.w;
  }
  return d;
}

}  // namespace emulation

/// d += (a scale_a)(b scale_b), by emulation on every GPU. All 32 lanes call it.
template <ScaleVec vec, int byte_a = 0, int thread_a = 0, int byte_b = 0, int thread_b = 0>
__device__ inline void mma_fp4_emulated(float4& d, uint4 a, uint2 b, uint32_t scale_a, uint32_t scale_b) {
  d = emulation::mma_fp4(a, b, d, scale_a, scale_b, byte_a | thread_a << 8 | byte_b << 16 | thread_b << 24,
                         vec == ScaleVec::x2_ue8m0);
}

/// d += (a scale_a)(b scale_b). a: rows g and g + 8 interleaved (x: row g, y: g + 8, z and w: k + 32); b: column g.
template <ScaleVec vec, int byte_a = 0, int thread_a = 0, int byte_b = 0, int thread_b = 0>
__device__ inline void mma_fp4(float4& d, uint4 a, uint2 b, uint32_t scale_a, uint32_t scale_b) {
  static_assert(byte_a == 0 || (vec == ScaleVec::x2_ue8m0 && byte_a == 2));
  static_assert(byte_b == 0 || (vec == ScaleVec::x2_ue8m0 && byte_b == 2));
  static_assert(thread_a >= 0 && thread_a < 2 && thread_b >= 0 && thread_b < 4);
#if TESSERA_NATIVE_FP4_MMA
  if constexpr (vec == ScaleVec::x4_ue4m3) {
    asm volatile(
        "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {%12,%13}, {%11}, {%14,%15};"
        : "+f"(d.x), "+f"(d.y), "+f"(d.z), "+f"(d.w)
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(scale_a), "r"(scale_b), "n"(byte_a),
          "n"(thread_a), "n"(byte_b), "n"(thread_b));
  } else {
    asm volatile(
        "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {%12,%13}, {%11}, {%14,%15};"
        : "+f"(d.x), "+f"(d.y), "+f"(d.z), "+f"(d.w)
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(scale_a), "r"(scale_b), "n"(byte_a),
          "n"(thread_a), "n"(byte_b), "n"(thread_b));
  }
#else
  mma_fp4_emulated<vec, byte_a, thread_a, byte_b, thread_b>(d, a, b, scale_a, scale_b);
#endif
}

}  // namespace tessera::kernels::ptx
