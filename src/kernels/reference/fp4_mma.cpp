#include "kernels/reference/fp4_mma.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "format/e2m1.h"

namespace tessera::kernels::cpu {
namespace {

using format::WeightFormat;

constexpr int kFractionBits = 35;  // kept of each term, relative to the largest exponent
constexpr int kZeroExponent = -139;
constexpr int kGroup = 16;
constexpr int kGroups = plan::kMmaDepth / kGroup;
constexpr uint32_t kNan = 0x7fffffffU;

/// Twice the value of each code: an integer.
constexpr std::array<int32_t, 16> kTwice = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// A scale's significand, in eighths, and exponent.
struct Scale {
  int32_t eighths = 0;
  int exponent = 0;
  bool nan = false;
};

Scale decode_scale(WeightFormat format, std::byte code) {
  const auto bits = static_cast<uint32_t>(code);
  if (format == WeightFormat::mxfp4) return {8, static_cast<int>(bits) - 127, bits == 255};
  const uint32_t magnitude = bits & 0x7fU;
  const uint32_t field = magnitude >> 3;
  const uint32_t fraction = magnitude & 7U;
  return {static_cast<int32_t>(field == 0 ? fraction : 8 + fraction), static_cast<int>(std::max(field, 1U)) - 7,
          magnitude == 0x7fU};
}

/// significand * 2^-fraction_bits * 2^exponent.
struct Term {
  int64_t significand = 0;
  int exponent = kZeroExponent;
  int fraction_bits = 0;
};

Term accumulator_term(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude == 0) return {};
  const uint32_t field = magnitude >> 23;
  const int64_t significand = (magnitude & 0x7fffffU) | (field == 0 ? 0U : 0x800000U);
  return {(bits >> 31) != 0 ? -significand : significand, static_cast<int>(std::max(field, 1U)) - 127, 23};
}

/// Truncated towards zero to a multiple of 2^(largest - kFractionBits), counted in these.
int64_t aligned(const Term& term, int largest) {
  const int shift = kFractionBits - term.fraction_bits + term.exponent - largest;
  const int64_t magnitude = std::abs(term.significand);
  const int64_t kept = shift >= 0 ? magnitude << shift : shift > -63 ? magnitude >> -shift : 0;
  return term.significand < 0 ? -kept : kept;
}

/// sum * 2^exponent, truncated towards zero to fp32.
float truncate_to_float(int64_t sum, int exponent) {
  const uint64_t magnitude = sum < 0 ? -static_cast<uint64_t>(sum) : static_cast<uint64_t>(sum);
  if (magnitude == 0) return 0.0F;
  const uint32_t sign = sum < 0 ? 0x80000000U : 0U;
  const int leading = std::bit_width(magnitude) - 1 + exponent;  // exponent of the leading bit
  if (leading > 127) return std::bit_cast<float>(sign | 0x7f800000U);
  const int last = std::max(leading, -126) - 23;  // exponent of fp32's last place
  const int drop = last - exponent;
  const auto kept = static_cast<uint32_t>(drop >= 64 ? 0 : drop >= 0 ? magnitude >> drop : magnitude << -drop);
  // A normal significand's leading bit adds 1 to the exponent field, a subnormal's is absent.
  return std::bit_cast<float>(sign | ((static_cast<uint32_t>(std::max(leading, -126) + 126) << 23) + kept));
}

}  // namespace

float fp4_multiply_add(WeightFormat format, const std::byte* a, const std::byte* scales_a, const std::byte* b,
                       const std::byte* scales_b, float c) {
  const auto c_bits = std::bit_cast<uint32_t>(c);
  const int groups_per_scale = format == WeightFormat::mxfp4 ? 2 : 1;
  std::array<Term, kGroups + 1> terms;
  bool nan = (c_bits & 0x7fffffffU) > 0x7f800000U;
  for (int g = 0; g < kGroups; ++g) {
    const Scale sa = decode_scale(format, scales_a[g / groups_per_scale]);
    const Scale sb = decode_scale(format, scales_b[g / groups_per_scale]);
    nan = nan || sa.nan || sb.nan;
    int32_t sum = 0;
    bool any = false;
    for (int k = g * kGroup; k < (g + 1) * kGroup; ++k) {
      const int32_t product = kTwice[format::e2m1_at(a, k)] * kTwice[format::e2m1_at(b, k)];
      sum += product;
      any = any || product != 0;
    }
    const int32_t scale = sa.eighths * sb.eighths;
    // Quarters from the products, sixty-fourths from the scales.
    if (any && scale != 0) terms[static_cast<size_t>(g)] = {int64_t{sum} * scale, sa.exponent + sb.exponent, 8};
  }
  if (nan) return std::bit_cast<float>(kNan);
  if ((c_bits & 0x7fffffffU) == 0x7f800000U) return c;
  terms[kGroups] = accumulator_term(c_bits);

  int largest = kZeroExponent;
  for (const Term& term : terms) largest = std::max(largest, term.exponent);
  int64_t sum = 0;
  for (const Term& term : terms) sum += aligned(term, largest);
  return truncate_to_float(sum, largest - kFractionBits);
}

std::array<std::array<float, 4>, 32> mma_fp4(WeightFormat format, std::span<const Fp4Lane, 32> lanes,
                                             const Fp4Selectors& selectors) {
  const bool mxfp4 = format == WeightFormat::mxfp4;
  TESSERA_CHECK(mxfp4 || format == WeightFormat::nvfp4);
  TESSERA_CHECK(selectors.byte_a == 0 || (mxfp4 && selectors.byte_a == 2));
  TESSERA_CHECK(selectors.byte_b == 0 || (mxfp4 && selectors.byte_b == 2));
  TESSERA_CHECK_LE(selectors.thread_a, 1);
  TESSERA_CHECK_LE(selectors.thread_b, 3);

  using Row = std::array<std::byte, plan::kMmaDepth / 2>;
  using Scales = std::array<std::byte, 4>;
  std::array<Row, plan::kMmaRows> a;
  std::array<Row, plan::kMmaCols> b;
  std::array<Scales, plan::kMmaRows> scales_a{};
  std::array<Scales, plan::kMmaCols> scales_b{};
  const auto put = [](Row& row, size_t first_k, uint32_t codes) { std::memcpy(row.data() + first_k / 2, &codes, 4); };
  const auto select = [](uint32_t word, uint16_t byte) {
    word >>= 8U * byte;
    Scales scales;
    std::memcpy(scales.data(), &word, 4);
    return scales;
  };
  for (size_t lane = 0; lane < 32; ++lane) {
    const size_t g = lane / 4, q = lane % 4;
    const Fp4Lane& from = lanes[lane];
    for (size_t half = 0; half < 2; ++half) {
      put(a[g], half * 32 + 8 * q, from.a[2 * half]);
      put(a[g + 8], half * 32 + 8 * q, from.a[2 * half + 1]);
      put(b[g], half * 32 + 8 * q, from.b[half]);
    }
    if (q / 2 == selectors.thread_a) scales_a[g + 8 * (q % 2)] = select(from.scale_a, selectors.byte_a);
    if (q == selectors.thread_b) scales_b[g] = select(from.scale_b, selectors.byte_b);
  }

  std::array<std::array<float, 4>, 32> d;
  for (size_t lane = 0; lane < 32; ++lane) {
    for (size_t i = 0; i < 4; ++i) {
      const size_t row = lane / 4 + 8 * (i / 2), col = lane % 4 * 2 + i % 2;
      d[lane][i] = fp4_multiply_add(format, a[row].data(), scales_a[row].data(), b[col].data(), scales_b[col].data(),
                                    lanes[lane].c[i]);
    }
  }
  return d;
}

}  // namespace tessera::kernels::cpu
