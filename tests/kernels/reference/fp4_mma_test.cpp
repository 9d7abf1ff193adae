#include "kernels/reference/fp4_mma.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "format/e2m1.h"
#include "format/e4m3.h"
#include "format/ue8m0.h"
#include "kernels/reference/fp4_fragments.h"

namespace tessera::kernels::cpu {
namespace {

using format::WeightFormat;

constexpr WeightFormat kFormats[] = {WeightFormat::nvfp4, WeightFormat::mxfp4};
constexpr uint8_t one(WeightFormat f) { return f == WeightFormat::mxfp4 ? 127 : 0x38; }
constexpr uint8_t nan_scale(WeightFormat f) { return f == WeightFormat::mxfp4 ? 0xff : 0x7f; }
size_t group(WeightFormat f) { return static_cast<size_t>(format::group_size(f)); }
double scale_value(WeightFormat f, uint8_t code) {
  return f == WeightFormat::mxfp4 ? format::decode_ue8m0(code) : format::decode_e4m3(code);
}
uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

/// One element from codes and scales; the rest zero codes and scales of one.
struct Element {
  WeightFormat format;
  std::array<uint8_t, plan::kMmaDepth> a{}, b{};
  std::array<uint8_t, 4> scales_a, scales_b;
  float c = 0;

  explicit Element(WeightFormat f) : format(f) {
    scales_a.fill(one(f));
    scales_b.fill(one(f));
  }
  [[nodiscard]] float result() const {
    std::array<std::byte, 32> pa, pb;
    for (size_t i = 0; i < 32; ++i) {
      pa[i] = format::pack_e2m1(a[2 * i], a[2 * i + 1]);
      pb[i] = format::pack_e2m1(b[2 * i], b[2 * i + 1]);
    }
    return fp4_multiply_add(format, pa.data(), reinterpret_cast<const std::byte*>(scales_a.data()), pb.data(),
                            reinterpret_cast<const std::byte*>(scales_b.data()), c);
  }
};

constexpr uint8_t kOne = 2, kSix = 7, kMinusOne = 10;  // codes

TEST(Fp4Mma, EveryProductOfTwoCodesAtEveryPlace) {
  for (const WeightFormat f : kFormats) {
    for (size_t k = 0; k < plan::kMmaDepth; ++k) {
      for (uint8_t x = 0; x < 16; ++x) {
        for (uint8_t y = 0; y < 16; ++y) {
          Element e(f);
          e.a[k] = x;
          e.b[k] = y;
          ASSERT_EQ(e.result(), format::decode_e2m1(x) * format::decode_e2m1(y)) << int{x} << " * " << int{y};
        }
      }
    }
  }
}

TEST(Fp4Mma, EveryScaleMultipliesItsOwnGroup) {
  for (const WeightFormat f : kFormats) {
    for (size_t k = 0; k < plan::kMmaDepth; k += 8) {
      for (int code = 0; code < nan_scale(f); ++code) {
        Element e(f);
        e.scales_a.fill(nan_scale(f) - 1);
        e.a[k] = e.b[k] = kOne;
        e.scales_a[k / group(f)] = static_cast<uint8_t>(code);
        ASSERT_EQ(e.result(), scale_value(f, static_cast<uint8_t>(code))) << "scale " << code << " at " << k;
      }
    }
  }
}

TEST(Fp4Mma, SignOfAnE4m3ScaleIsNotLookedAt) {
  Element e(WeightFormat::nvfp4);
  e.a[0] = e.b[0] = kSix;
  e.scales_a[0] = 0x80 | 0x40;
  EXPECT_EQ(e.result(), 72.0F);
  e.scales_a[0] = 0xff;
  EXPECT_EQ(bits(e.result()), 0x7fffffffU);
}

TEST(Fp4Mma, NanScalesAndAccumulators) {
  for (const WeightFormat f : kFormats) {
    for (size_t s = 0; s < plan::kMmaDepth / group(f); ++s) {
      Element a(f), b(f);
      a.scales_a[s] = b.scales_b[s] = nan_scale(f);
      EXPECT_EQ(bits(a.result()), 0x7fffffffU) << "also where every product is zero";
      b.c = std::numeric_limits<float>::infinity();
      EXPECT_EQ(bits(b.result()), 0x7fffffffU);
    }
    Element e(f);
    e.c = -std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(bits(e.result()), 0x7fffffffU);
    e.c = -std::numeric_limits<float>::infinity();
    e.a[0] = e.b[0] = kSix;
    EXPECT_EQ(e.result(), e.c);
  }
}

TEST(Fp4Mma, TermsKeep35FractionalBitsAndAreTruncated) {
  // Group 0 has exponent 14 (scales 128 * 128), so that the grid is 2^-21. Group 1 is 2^-9 * 2^-9 (subnormal scales)
  // times a quarter: 2^-20.
  Element e(WeightFormat::nvfp4);
  e.scales_a = e.scales_b = {0x70, 0x01, 0x38, 0x38};
  e.a[0] = e.b[0] = kOne;
  e.a[16] = e.b[16] = 1;  // a half each: 1/4
  e.c = -0x1p14F;
  EXPECT_EQ(e.result(), 0x1p-20F);
  e.a[0] = 6;      // 4: the exponent is that of the scales alone, so nothing changes
  e.c = -0x1p16F;  // has exponent 16: the grid is 2^-19
  EXPECT_EQ(e.result(), 0.0F);
  e.b[16] = 3;  // 3/4 * 2^-18 = 1.5 * 2^-19, truncated
  EXPECT_EQ(e.result(), 0x1p-19F);
  e.a[16] = 9;  // and towards zero for negative terms
  EXPECT_EQ(e.result(), -0x1p-19F);
}

TEST(Fp4Mma, TruncatesEachTermBeforeTheSum) {
  // Two groups of 1.5 units of the last place kept give 2 units, not 3.
  Element e(WeightFormat::nvfp4);
  e.scales_a = e.scales_b = {0x38, 0x01, 0x01, 0x38};
  e.a[16] = e.a[32] = 1;
  e.b[16] = e.b[32] = 3;
  e.c = 0x1p16F;
  e.a[0] = 0;
  EXPECT_EQ(e.result(), 0x1p16F);
  e.scales_a[0] = e.scales_b[0] = 0x38;
  for (size_t k = 0; k < 2; ++k) e.a[k] = e.b[k] = kOne;  // cancels nothing: 2^16 + 2 is exact
  EXPECT_EQ(e.result(), 0x1p16F + 2);
  // With group 3 taking c away, what is left is the sum of the truncated terms.
  e.a[0] = e.a[1] = 0;
  e.scales_a[3] = e.scales_b[3] = 0x70;  // 2^14 each product
  e.a[48] = 14;                          // -4
  e.b[48] = kOne;
  EXPECT_EQ(e.result(), 0x1p-18F);
}

TEST(Fp4Mma, OutputIsTruncatedNotRounded) {
  for (const WeightFormat f : kFormats) {
    Element e(f);
    e.c = 0x1p24F;
    e.a[0] = 3;  // 1.5: the next fp32 is 2 away
    e.b[0] = kOne;
    EXPECT_EQ(e.result(), 0x1p24F);
    e.a[0] = 11;  // -1.5: exactly 2^24 - 1.5, whose neighbours are 1 apart
    EXPECT_EQ(e.result(), 0x1p24F - 2);
    e.c = -0x1p24F;
    EXPECT_EQ(e.result(), -0x1p24F);
  }
}

TEST(Fp4Mma, GroupSumsAreExactAndExponentsComeFromScalesAlone) {
  // 16 * 36 = 576 per group, times 448 * 448: 18 significant bits, all kept.
  Element e(WeightFormat::nvfp4);
  e.a.fill(kSix);
  e.b.fill(kSix);
  e.scales_a.fill(0x7e);
  e.scales_b.fill(0x7e);
  EXPECT_EQ(e.result(), 4.0F * 576 * 448 * 448);
  // A group that cancels keeps its exponent 14: the least group, truncated to 2^-21, is gone.
  Element f(WeightFormat::nvfp4);
  f.scales_a = f.scales_b = {0x70, 0x01, 0x38, 0x38};
  f.a[0] = kOne;
  f.a[1] = kMinusOne;
  f.b[0] = f.b[1] = kOne;
  f.a[16] = f.b[16] = 1;
  f.c = 0x1p-40F;
  EXPECT_EQ(f.result(), 0x1p-20F) << "c is below the grid";
  // A group of zero products does not hold the others back.
  f.a[0] = f.a[1] = 0;
  EXPECT_EQ(f.result(), 0x1p-20F + 0x1p-40F);
}

TEST(Fp4Mma, SubnormalAndInfiniteResults) {
  Element e(WeightFormat::mxfp4);
  e.a[0] = e.b[0] = kOne;
  e.scales_a.fill(0);    // 2^-127
  e.scales_b.fill(105);  // 2^-22
  EXPECT_EQ(bits(e.result()), 1U);
  e.scales_b.fill(104);
  EXPECT_EQ(bits(e.result()), 0U) << "below the least subnormal";
  e.c = std::bit_cast<float>(5U);
  EXPECT_EQ(bits(e.result()), 5U);
  e.scales_a.fill(254);
  e.scales_b.fill(128);
  EXPECT_EQ(e.result(), std::numeric_limits<float>::infinity());
  e.a[0] = kMinusOne;
  EXPECT_EQ(e.result(), -std::numeric_limits<float>::infinity());
  e.scales_b.fill(126);
  EXPECT_EQ(e.result(), -0x1p126F);
}

TEST(Fp4Mma, ZeroIsPositive) {
  for (const WeightFormat f : kFormats) {
    Element e(f);
    e.c = -0.0F;
    EXPECT_EQ(bits(e.result()), 0U);
    e.c = -1;
    e.a[5] = e.b[5] = kOne;
    EXPECT_EQ(bits(e.result()), 0U);
  }
}

/// D in exact arithmetic, for operands whose every sum a double holds.
double exact(WeightFormat f, const Fp4Operands& m, size_t row, size_t col) {
  double sum = m.c[row][col];
  for (size_t k = 0; k < plan::kMmaDepth; ++k) {
    sum += format::decode_e2m1(m.a[row][k]) * scale_value(f, m.scales_a[row][k / group(f)]) *
           format::decode_e2m1(m.b[col][k]) * scale_value(f, m.scales_b[col][k / group(f)]);
  }
  return sum;
}

void expect_exact(WeightFormat f, const Fp4Operands& m, const Fp4Selectors& s) {
  const auto lanes = fragments(f, m, s);
  const auto d = mma_fp4(f, lanes, s);
  for (size_t lane = 0; lane < 32; ++lane) {
    for (size_t i = 0; i < 4; ++i) {
      const size_t row = lane / 4 + 8 * (i / 2), col = 2 * (lane % 4) + i % 2;
      ASSERT_EQ(d[lane][i], exact(f, m, row, col)) << "row " << row << ", column " << col;
    }
  }
}

TEST(Fp4Mma, OrderFreeDataIsExactUnderEverySelector) {
  std::mt19937 random(1);
  for (const WeightFormat f : kFormats) {
    for (const Fp4Selectors& s : all_selectors(f)) {
      for (int repeat = 0; repeat < 4; ++repeat) {
        // Powers of two from 1/4 to 4 in NVFP4 (codes 8 apart), 1/16 to 16 in MXFP4; sums stay below 2^24 quarters.
        Fp4Operands m = random_operands(random, 0xf, 0, 4, 0);
        for (auto& row : m.scales_a)
          for (auto& x : row) x = static_cast<uint8_t>(f == WeightFormat::mxfp4 ? 123 + 2 * x : 0x28 + 8 * x);
        for (auto& row : m.scales_b)
          for (auto& x : row) x = static_cast<uint8_t>(f == WeightFormat::mxfp4 ? 125 + x : 0x28 + 8 * x);
        for (auto& row : m.c)
          for (auto& c : row) c = std::round(c * 100);
        expect_exact(f, m, s);
      }
    }
  }
}

TEST(Fp4Mma, OneHotCodesFindTheirOwnScales) {
  // Every (row, group) and (column, group) has a scale of its own; one code at a time is set in each row and column.
  for (const WeightFormat f : kFormats) {
    Fp4Operands m;
    for (size_t i = 0; i < plan::kMmaRows; ++i) {
      for (size_t s = 0; s < 4; ++s)
        m.scales_a[i][s] = static_cast<uint8_t>(f == WeightFormat::mxfp4 ? 100 + i + 16 * s : 0x10 + i + 16 * s);
    }
    for (size_t j = 0; j < plan::kMmaCols; ++j) {
      for (size_t s = 0; s < 4; ++s)
        m.scales_b[j][s] = static_cast<uint8_t>(f == WeightFormat::mxfp4 ? 90 + j + 8 * s : 0x20 + j + 8 * s);
    }
    for (size_t k = 0; k < plan::kMmaDepth; ++k) {
      for (auto& row : m.a) row.fill(0);
      for (auto& row : m.b) row.fill(0);
      for (size_t i = 0; i < plan::kMmaRows; ++i) m.a[i][k] = static_cast<uint8_t>(1 + i % 7);
      for (size_t j = 0; j < plan::kMmaCols; ++j) m.b[j][k] = static_cast<uint8_t>(1 + j % 7);
      expect_exact(f, m, {});
    }
  }
}

TEST(Fp4Mma, OneElementIsOneLanesOneRegister) {
  // The fragment form is the element form, for data that does truncate.
  std::mt19937 random(2);
  for (const WeightFormat f : kFormats) {
    const bool mx = f == WeightFormat::mxfp4;
    const Fp4Operands m = random_operands(random, 0xf, mx ? 100 : 0, mx ? 150 : 0x7e, 8);
    const auto d = mma_fp4(f, fragments(f, m), {});
    for (size_t row = 0; row < plan::kMmaRows; ++row) {
      for (size_t col = 0; col < plan::kMmaCols; ++col) {
        Element e(f);
        e.a = m.a[row];
        e.b = m.b[col];
        e.scales_a = m.scales_a[row];
        e.scales_b = m.scales_b[col];
        e.c = m.c[row][col];
        ASSERT_EQ(bits(d[row % 8 * 4 + col / 2][row / 8 * 2 + col % 2]), bits(e.result()));
      }
    }
  }
}

}  // namespace
}  // namespace tessera::kernels::cpu
