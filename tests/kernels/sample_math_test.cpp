#include "kernels/sample_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tessera::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(SampleMath, LogarithmIsAccurate) {
  float worst = 0, at = 0;
  for (uint32_t bits = 0x00800000; bits < 0x7f800000; bits += 4093) {
    const float x = spelt::float_of(bits);
    const double expected = std::log(static_cast<double>(x));
    const double error = std::abs(spelt::log(x) - expected);
    const auto relative = static_cast<float>(error / std::max(std::abs(expected), 0.5));
    if (relative > worst) worst = relative, at = x;
  }
  EXPECT_LT(worst, 2.0F * 0x1p-23F) << at;
  EXPECT_EQ(spelt::log(1.0F), 0.0F);
}

double reference_gumbel(uint32_t bits) {
  const double below_one = (4294967295.0 - bits + 0.5) * 0x1p-32;  // 1 - u
  return -std::log(below_one < 0.5 ? -std::log1p(-below_one) : -std::log((bits + 0.5) * 0x1p-32));
}

/// Bits around every power of two, counted from both ends, and around sqrt(1/2), where the formula changes; all of the
/// ends; a dense sample of the rest. Ascending.
std::vector<uint32_t> many_bits() {
  std::vector<uint32_t> all;
  for (uint64_t bits = 0; bits <= 0xffffffff; bits += 1021) all.push_back(static_cast<uint32_t>(bits));
  const auto around = [&](uint32_t middle) {
    for (uint32_t i = 0; i < 4096; ++i) all.push_back(middle - 2048 + i);
  };
  for (int i = 0; i < 32; ++i) {
    around(1U << i);
    around(~(1U << i));
  }
  around(0xb504f333U);
  around(0);
  std::sort(all.begin(), all.end());
  return all;
}

// All 2^32 were tried once: never falling, within 1.01e-6.
TEST(SampleMath, GumbelIsAccurateAndNeverFalls) {
  float last = -4;
  double worst = 0;
  uint32_t at = 0;
  for (const uint32_t bits : many_bits()) {
    const float value = spelt::gumbel(bits);
    ASSERT_GE(value, last) << bits;
    last = value;
    const double error = std::abs(value - reference_gumbel(bits));
    if (error > worst) worst = error, at = bits;
  }
  EXPECT_LT(worst, 1.1e-6) << at;
  EXPECT_NEAR(spelt::gumbel(0), -std::log(33 * std::log(2.0)), 3e-7);
  EXPECT_NEAR(spelt::gumbel(0xffffffff), 33 * std::log(2.0), 1e-6);
  EXPECT_LT(spelt::gumbel(0xffffffff), spelt::kNoiseMax);
}

TEST(SampleMath, TheTailOfTheNoiseHasAllItsSteps) {
  for (uint32_t bits = 0xffffff00; bits != 0xffffffff; ++bits) EXPECT_LT(spelt::gumbel(bits), spelt::gumbel(bits + 1));
}

TEST(SampleMath, BitsThatAreLeftOutLose) {
  for (float need = -5; need < 30; need += 0.001F) {
    const uint32_t least = spelt::least_winning_bits(need);
    // Room for the rounding of the score beside that of the noise.
    if (least > 0) {
      ASSERT_LT(spelt::gumbel(least - 1), need - 3e-6F * std::max(1.0F, need)) << need;
    }
  }
  EXPECT_EQ(spelt::least_winning_bits(-kInf), 0U);
  EXPECT_GT(spelt::least_winning_bits(10), 0xfff00000U) << "hardly anything would be left out";
}

TEST(SampleMath, MassIsAccurateAndFallsWithDepth) {
  EXPECT_EQ(spelt::mass(0), uint64_t{1} << spelt::kMassBits);
  uint64_t last = spelt::mass(0);
  for (uint32_t bits = 0; bits < 0x42400000; bits += 997) {
    const float x = spelt::float_of(bits);
    const uint64_t mass = spelt::mass(x);
    const double expected = std::exp(-static_cast<double>(x)) * 0x1p44;
    ASSERT_NEAR(static_cast<double>(mass), expected, 1 + 1.5e-7 * expected) << x;
    ASSERT_LE(mass, last) << x;
    last = mass;
  }
  for (const float deep : {30.5F, spelt::kDepthEnd, 1e30F, kInf}) EXPECT_EQ(spelt::mass(deep), 0U);
}

TEST(SampleMath, AnIdBeyondTheEndCannotWin) {
  EXPECT_LT(spelt::kNoiseMax - spelt::kDepthEnd, spelt::gumbel(0));
  EXPECT_EQ(spelt::bucket(std::nextafter(spelt::kDepthEnd, 0.0F)), spelt::kBuckets - 1);
}

TEST(SampleMath, SharesRoundUp) {
  EXPECT_EQ(spelt::top_p_fraction(0.5F), 0x80000000U);
  EXPECT_EQ(spelt::top_p_fraction(0.99999994F), 0xffffff00U);
  EXPECT_EQ(spelt::top_p_fraction(1e-30F), 1U);
  EXPECT_EQ(spelt::share(4, 0x80000000U), 2U);
  EXPECT_EQ(spelt::share(5, 0x80000000U), 3U);
  EXPECT_EQ(spelt::share(1, 1), 1U);
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const uint64_t total = random() >> (1 + random() % 60);
    const auto fraction = static_cast<uint32_t>(random() >> (32 + random() % 32));
    __extension__ using Wide = unsigned __int128;
    const auto exact = static_cast<uint64_t>((static_cast<Wide>(total) * fraction + 0xffffffffU) >> 32);
    ASSERT_EQ(spelt::share(total, fraction), exact) << total << " " << fraction;
  }
}

TEST(SampleMath, ExtremeTemperaturesHaveFiniteInverses) {
  EXPECT_EQ(spelt::inverse_temperature(1e-45F), std::numeric_limits<float>::max());
  EXPECT_EQ(spelt::inverse_temperature(0.5F), 2.0F);
  EXPECT_GT(spelt::inverse_temperature(std::numeric_limits<float>::max()), 0.0F);
}

TEST(SampleMath, MinPIsADepth) {
  EXPECT_EQ(spelt::min_p_depth(1), 0.0F);
  EXPECT_EQ(spelt::min_p_depth(0), kInf);
  EXPECT_FLOAT_EQ(spelt::min_p_depth(0.05F), -std::log(0.05F));
}

TEST(SampleMath, KeysOrderAsValuesDo) {
  const std::array<float, 9> values{-kInf, -3e38F, -1.0F, -1e-45F, 0.0F, 1e-45F, 1.0F, 3e38F, kInf};
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(spelt::of_order_key(spelt::order_key(values[i])), values[i]);
    if (i > 0) {
      EXPECT_LT(spelt::order_key(values[i - 1]), spelt::order_key(values[i]));
    }
  }
  EXPECT_EQ(spelt::order_key(-0.0F), spelt::order_key(0.0F));
}

}  // namespace
}  // namespace tessera::kernels
