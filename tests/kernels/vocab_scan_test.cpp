#include "kernels/cpu/vocab_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <vector>

#include "kernels/compare.h"
#include "kernels/sample_math.h"

namespace tessera::kernels {
namespace {

/// Runs `body` once for each instruction set of this machine.
template <typename Body>
void for_each_target(const Body& body) {
  for (const int64_t target : simd_targets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const ForcedTarget forced(target);
    body();
  }
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

TEST(VocabScan, MassesAndBucketsAreTheScalarOnes) {
  auto logits = random_logits(256, 3);
  logits[5] = -std::numeric_limits<float>::infinity();
  logits[6] = -1e30F;
  logits[7] = 11.5F;
  for_each_target([&] {
    for (const size_t count : {size_t{1}, size_t{3}, size_t{8}, size_t{253}, size_t{256}}) {
      for (const float inverse : {2.5F, 0.01F, std::numeric_limits<float>::max()}) {
        std::array<uint64_t, 256> masses{};
        std::array<int32_t, 256> buckets{};
        weigh(logits.data(), static_cast<int64_t>(count), 11.5F, inverse, masses.data(), buckets.data());
        for (size_t i = 0; i < count; ++i) {
          const float depth = spelt::depth(11.5F, logits[i], inverse);
          ASSERT_EQ(masses[i], spelt::mass(depth)) << i;
          ASSERT_EQ(buckets[i], depth < spelt::kDepthEnd ? spelt::bucket(depth) : spelt::kBuckets - 1) << i;
        }
        for (size_t i = count; i < masses.size(); ++i) ASSERT_EQ(masses[i], 0U) << "written beyond the count";
      }
    }
  });
}

TEST(VocabScan, TotalMassIsTheSumOfTheScalarOnes) {
  for (const size_t size : {1, 15, 17, 256, 1000}) {
    auto logits = random_logits(size, static_cast<uint32_t>(size));
    if (size > 1) logits[size / 2] = -std::numeric_limits<float>::infinity();
    const float max = *std::max_element(logits.begin(), logits.end());
    uint64_t expected = 0;
    for (const float logit : logits) expected += spelt::mass(spelt::depth(max, logit, 1.0F));
    for_each_target([&] { EXPECT_EQ(total_mass(logits, max), expected) << size; });
  }
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
