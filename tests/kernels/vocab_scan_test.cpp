#include "kernels/cpu/vocab_scan.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tessera::kernels {
namespace {

/// Runs `body` once for each instruction set of this machine.
template <typename Body>
void for_each_target(const Body& body) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

std::vector<float> random_logits(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 4);
  std::vector<float> logits(size);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

TEST(VocabScan, BlockMaximaAtEverySize) {
  for_each_target([] {
    for (const size_t size : {1, 2, 15, 16, 17, 255, 256, 257, 511, 1000}) {
      const auto logits = random_logits(size, static_cast<uint32_t>(size));
      std::vector<float> maxima(static_cast<size_t>(scan_blocks(static_cast<int64_t>(size))));
      ASSERT_TRUE(block_maxima(logits, maxima.data()));
      for (size_t block = 0; block < maxima.size(); ++block) {
        const auto first = logits.begin() + static_cast<std::ptrdiff_t>(block * 256);
        EXPECT_EQ(
            maxima[block],
            *std::max_element(first, first + static_cast<std::ptrdiff_t>(std::min<size_t>(256, size - block * 256))));
      }
    }
  });
}

TEST(VocabScan, FindsNanAndInfinityAnywhere) {
  for_each_target([] {
    std::array<float, 2> maxima{};
    for (size_t at = 0; at < 300; ++at) {
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        auto logits = random_logits(300, 1);
        logits[at] = bad;
        EXPECT_FALSE(block_maxima(logits, maxima.data())) << at;
      }
      auto logits = random_logits(300, 1);
      logits[at] = -std::numeric_limits<float>::infinity();
      EXPECT_TRUE(block_maxima(logits, maxima.data())) << at;
    }
  });
}

TEST(VocabScan, ExpWeights) {
  auto logits = random_logits(253, 3);
  logits[5] = -std::numeric_limits<float>::infinity();
  logits[6] = -1e30F;
  for_each_target([&] {
    std::array<double, 256> weights{};
    exp_weights(logits.data(), 253, 11.5, 2.5, weights.data());
    for (size_t i = 0; i < logits.size(); ++i) {
      const double expected = std::exp((logits[i] - 11.5) * 2.5);
      EXPECT_NEAR(weights[i], expected, 1e-14 * expected) << i;
      double alone = 0;
      exp_weights(&logits[i], 1, 11.5, 2.5, &alone);
      EXPECT_EQ(alone, weights[i]);
    }
    EXPECT_EQ(weights[5], 0);
    EXPECT_EQ(weights[6], 0);
  });
}

TEST(VocabScan, Avx2AndAvx512GiveTheSameWeights) {
  const auto logits = random_logits(256, 4);
  std::vector<std::array<double, 256>> results;
  for_each_target([&] {
    if (hwy::SupportedTargets() & (HWY_AVX2 | HWY_AVX3)) {
      exp_weights(logits.data(), 256, 14, 1.25, results.emplace_back().data());
    }
  });
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

TEST(VocabScan, NoiseBlockIsTheScalarNoise) {
  const NoiseStream stream{.key = 0x123456789abcdef0ULL, .choice = 15, .position = 0x1ffffffffULL};
  for_each_target([&] {
    for (const int32_t first : {0, 256, 248064, 0x7fffff00}) {
      std::array<uint32_t, 256> bits{};
      const uint32_t largest = noise_block(stream, first, bits.data());
      for (int32_t i = 0; i < 256; ++i) ASSERT_EQ(bits[static_cast<size_t>(i)], noise_bits(stream, first + i)) << i;
      EXPECT_EQ(largest, *std::max_element(bits.begin(), bits.end()));
    }
  });
}

}  // namespace
}  // namespace tessera::kernels
