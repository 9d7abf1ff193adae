#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "format/f16.h"
#include "kernels/sin_cos.h"
#include "matrix_fixture.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_math_test.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which must see highway.h first.
#include "compare.h"
#include "kernels/cpu/small_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

void exp16(const float* x, float* y) { store(exp(load(x)), y); }
void sigmoid16(const float* x, float* y) { store(sigmoid(load(x)), y); }
void silu16(const float* x, float* y) { store(silu(load(x)), y); }
void softplus16(const float* x, float* y) { store(softplus(load(x)), y); }
void round16(const float* x, float* y) { store(round_bf16(load(x)), y); }
void fma16(const float* a, const float* b, const float* c, float* y) { store(fma(load(a), load(b), load(c)), y); }
void half16(const uint16_t* x, float* y) {
  const hn::Rebind<hwy::float16_t, D> d16;
  for (size_t i = 0; i < 16; i += kPartLanes) {
    hn::StoreU(from_half(hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(x + i))), D(), y + i);
  }
}
float sum_first(const float* x, int64_t n) { return sum(load_n(x, n)); }

void multiply(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  small_gemm<float>({.a = a, .a_row = k, .a_col = 1, .b = b, .b_row = n, .c = c, .c_row = n, .m = m, .n = n, .k = k});
}
void solve(const float* a, float* c, int64_t rows, int64_t n) { solve_lower(a, rows, c, n, rows, n); }
void add_triangle(const float* a, const float* b, float* c, int64_t rows, int64_t n) {
  add_lower(a, rows, b, n, c, n, rows, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::kernels::cpu {
HWY_EXPORT(exp16);
HWY_EXPORT(sigmoid16);
HWY_EXPORT(silu16);
HWY_EXPORT(softplus16);
HWY_EXPORT(round16);
HWY_EXPORT(fma16);
HWY_EXPORT(half16);
HWY_EXPORT(sum_first);
HWY_EXPORT(multiply);
HWY_EXPORT(solve);
HWY_EXPORT(add_triangle);

namespace {

std::vector<float> map(void (*function)(const float*, float*), std::vector<float> x) {
  const size_t n = x.size();
  x.resize((n + 15) / 16 * 16);
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); i += 16) function(x.data() + i, y.data() + i);
  y.resize(n);
  return y;
}

std::vector<float> range(float first, float last, float step) {
  std::vector<float> x;
  for (float v = first; v <= last; v += step) x.push_back(v);
  return x;
}

std::vector<double> each(const std::vector<float>& x, double (*function)(double)) {
  std::vector<double> y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), function);
  return y;
}

/// With all 24 bits in use, so that every rounding shows.
std::vector<float> full_floats(int64_t count, uint32_t seed) {
  auto x = random_floats(static_cast<size_t>(count), seed);
  for (auto& v : x) v *= 1.0F / 3;
  return x;
}

constexpr double kUlp = 0x1p-23;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(SimdMath, FunctionsMatchTheLibraryInDouble) {
  for (const int64_t target : simd_targets()) {
    const ForcedTarget forced(target);
    const auto x = range(-50, 88, 0.00137F), gates = range(-40, 87, 0.00137F);
    expect_near(map(HWY_DYNAMIC_DISPATCH(exp16), x), each(x, [](double v) { return std::exp(v); }), 0, 1.1 * kUlp,
                "exp");
    const auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
    expect_near(map(HWY_DYNAMIC_DISPATCH(sigmoid16), gates), each(gates, logistic), 0, 2 * kUlp, "sigmoid");
    const auto silu = [](double v) { return v / (1 + std::exp(-v)); };
    expect_near(map(HWY_DYNAMIC_DISPATCH(silu16), gates), each(gates, silu), 0, 2 * kUlp, "silu");
    const auto softplus = [](double v) { return v > 20 ? v : std::log1p(std::exp(v)); };
    expect_near(map(HWY_DYNAMIC_DISPATCH(softplus16), gates), each(gates, softplus), 0, 3 * kUlp, "softplus");
  }
}

/// A value with few or many bits set, of a magnitude that makes sums cancel, underflow or be far apart.
float awkward_float(std::mt19937& random) {
  static constexpr uint32_t kFew[] = {0, 1, 2, 0x400000, 0x400001, 0x7fffff, 0x7ffffe, 0x3fffff, 0x000800, 0x000801};
  static constexpr uint32_t kExponents[] = {0, 1, 2, 64, 76, 88, 103, 104, 126, 127, 128, 150, 151, 152, 200, 253, 254};
  const uint32_t fraction =
      random() % 2 == 0 ? kFew[random() % std::size(kFew)] : static_cast<uint32_t>(random()) & 0x7fffffU;
  const uint32_t sign = static_cast<uint32_t>(random()) << 31;
  return std::bit_cast<float>(sign | kExponents[random() % std::size(kExponents)] << 23 | fraction);
}

TEST(SimdMath, FmaRoundsOnce) {
  std::mt19937 random(5);
  std::array<float, 16> a{}, b{}, c{}, got{};
  for (const int64_t target : simd_targets()) {
    const ForcedTarget forced(target);
    for (int round = 0; round < 40'000; ++round) {
      for (size_t i = 0; i < 16; ++i) {
        a[i] = awkward_float(random);
        b[i] = awkward_float(random);
        // Every other addend is near the product, or near half a unit in its last place.
        const float product = a[i] * b[i];
        c[i] = i % 2 == 0 ? awkward_float(random) : (i % 4 == 1 ? -product : product * 0x1p-24F);
      }
      HWY_DYNAMIC_DISPATCH(fma16)(a.data(), b.data(), c.data(), got.data());
      for (size_t i = 0; i < 16; ++i) {
        const float want = std::fma(a[i], b[i], c[i]);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(got[i])) << a[i] << " * " << b[i] << " + " << c[i];
        } else {
          ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want))
              << hwy::TargetName(target) << ": " << a[i] << " * " << b[i] << " + " << c[i] << " is " << got[i]
              << ", want " << want;
        }
      }
    }
  }
}

TEST(SimdMath, EveryHalf) {
  for (const int64_t target : simd_targets()) {
    const ForcedTarget forced(target);
    for (uint32_t first = 0; first < 0x10000; first += 16) {
      std::array<uint16_t, 16> halves{};
      std::array<float, 16> got{};
      for (size_t i = 0; i < 16; ++i) halves[i] = static_cast<uint16_t>(first + i);
      HWY_DYNAMIC_DISPATCH(half16)(halves.data(), got.data());
      for (size_t i = 0; i < 16; ++i) {
        const float want = format::f16_to_float(halves[i]);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(got[i])) << hwy::TargetName(target) << ": " << first + i;
        } else {
          ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want))
              << hwy::TargetName(target) << ": " << first + i << " is " << got[i] << ", want " << want;
        }
      }
    }
  }
}

TEST(SimdMath, EdgesOfExp) {
  const auto y = map(HWY_DYNAMIC_DISPATCH(exp16), {-kInfinity, -1e30F, -50.1F, 88.1F, 1e30F, kInfinity, 0.0F, -0.0F});
  EXPECT_EQ(y, (std::vector<float>{0, 0, 0, kInfinity, kInfinity, kInfinity, 1, 1}));
  for (const uint32_t bits : {0x7fc00000U, 0xffffffffU, 0x7f800001U, 0xff812345U}) {
    const float nan = std::bit_cast<float>(bits);
    for (const auto function : {HWY_DYNAMIC_DISPATCH(exp16), HWY_DYNAMIC_DISPATCH(sigmoid16),
                                HWY_DYNAMIC_DISPATCH(silu16), HWY_DYNAMIC_DISPATCH(softplus16)}) {
      EXPECT_TRUE(std::isnan(map(function, {nan})[0]));
    }
  }
  EXPECT_EQ(map(HWY_DYNAMIC_DISPATCH(sigmoid16), {-kInfinity, kInfinity}), (std::vector<float>{0, 1}));
  EXPECT_EQ(map(HWY_DYNAMIC_DISPATCH(softplus16), {-kInfinity, kInfinity}), (std::vector<float>{0, kInfinity}));
}

TEST(SimdMath, RoundsToBf16AsTheScalarDoes) {
  std::vector<float> x;
  for (uint32_t high = 0; high < 0x10000; high += 7) {
    for (const uint32_t low : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      x.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  const auto y = map(HWY_DYNAMIC_DISPATCH(round16), x);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(round_to_bf16(x[i])));
  }
}

TEST(SimdMath, SumIsAFixedTree) {
  const auto x = full_floats(16, 1);
  for (int64_t n = 0; n <= 16; ++n) {
    std::vector<float> lane(x);
    std::fill(lane.begin() + n, lane.end(), 0.0F);
    for (size_t width = 8; width > 0; width /= 2) {
      for (size_t i = 0; i < width; ++i) lane[i] += lane[i + width];
    }
    for (const int64_t target : simd_targets()) {
      const ForcedTarget forced(target);
      EXPECT_EQ(HWY_DYNAMIC_DISPATCH(sum_first)(x.data(), n), lane[0]);
    }
  }
}

TEST(SinCos, CorrectlyRoundedOrNearlySo) {
  double worst = 0;
  uint32_t state = 1;
  for (int i = 0; i < 1000000; ++i) {
    state = state * 1664525U + 1013904223U;
    const float scale = std::ldexp(1.0F, static_cast<int>(state >> 8 & 0x1fU) - 20);  // up to 2^11, then 2^20
    const float angle = static_cast<float>(state) * 0x1p-32F * scale * (i % 2 == 0 ? 1.0F : 512.0F);
    const SinCos got = sin_cos(angle);
    worst = std::max({worst, std::abs(got.sin - std::sin(double{angle})), std::abs(got.cos - std::cos(double{angle}))});
    ASSERT_LE(std::abs(got.sin - std::sin(double{angle})), 0.501 * kUlp * std::abs(std::sin(double{angle})) + 1e-11);
  }
  EXPECT_LE(worst, 0x1p-25 * 1.001);  // half a unit in the last place below 1
  EXPECT_EQ(sin_cos(0).cos, 1.0F);
  EXPECT_EQ(sin_cos(0).sin, 0.0F);
}

TEST(SmallGemm, SerialFmaOverK) {
  for (const int64_t m : {1, 2, 4, 7, 8, 9, 19}) {
    for (const int64_t n : {16, 32, 48, 80}) {
      for (const int64_t k : {0, 1, 5, 64}) {
        const auto a = full_floats(m * k, 2), b = full_floats(k * n, 3);
        std::vector<float> want(static_cast<size_t>(m * n), 0.0F);
        for (int64_t i = 0; i < m * n; ++i) {
          for (int64_t t = 0; t < k; ++t) {
            const auto at = static_cast<size_t>(i);
            want[at] = std::fma(a[static_cast<size_t>(i / n * k + t)], b[static_cast<size_t>(t * n + i % n)], want[at]);
          }
        }
        for (const int64_t target : simd_targets()) {
          const ForcedTarget forced(target);
          std::vector<float> got(want.size(), NAN);
          HWY_DYNAMIC_DISPATCH(multiply)(a.data(), b.data(), got.data(), m, n, k);
          expect_same_bits(got, want, hwy::TargetName(target));
        }
      }
    }
  }
}

TEST(SmallGemm, TrianglesStopAtTheDiagonal) {
  for (const int64_t rows : {1, 3, 8, 13, 64}) {
    for (const int64_t n : {16, 48}) {
      const auto size = static_cast<size_t>(rows);
      auto a = full_floats(rows * rows, 4);
      for (auto& v : a) v *= 0.1F;
      const auto b = full_floats(rows * n, 5), start = full_floats(rows * n, 6);
      for (const bool solving : {false, true}) {
        auto lower = a;
        for (size_t i = 0; i < size; ++i) {
          for (size_t j = i + (solving ? 0 : 1); j < size; ++j) lower[i * size + j] = NAN;
        }
        auto want = start;
        for (int64_t i = 0; i < rows * n; ++i) {
          for (int64_t j = 0; j < i / n + (solving ? 0 : 1); ++j) {
            const auto term = static_cast<size_t>(j * n + i % n);
            float& sum = want[static_cast<size_t>(i)];
            sum = std::fma(a[static_cast<size_t>(i / n * rows + j)], solving ? want[term] : b[term], sum);
          }
        }
        for (const int64_t target : simd_targets()) {
          const ForcedTarget forced(target);
          auto got = start;
          if (solving) {
            HWY_DYNAMIC_DISPATCH(solve)(lower.data(), got.data(), rows, n);
          } else {
            HWY_DYNAMIC_DISPATCH(add_triangle)(lower.data(), b.data(), got.data(), rows, n);
          }
          expect_same_bits(got, want, hwy::TargetName(target));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::kernels::cpu
#endif
