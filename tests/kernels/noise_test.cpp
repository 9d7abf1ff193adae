#include "kernels/noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tessera::kernels {
namespace {

// Known answers of philox4x32-10 as published with the paper's reference implementation (Random123, kat_vectors).
TEST(Noise, PhiloxGivesThePublishedNumbers) {
  EXPECT_THAT(philox({0, 0, 0, 0}, 0), testing::ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_THAT(philox({kOnes, kOnes, kOnes, kOnes}, ~uint64_t{0}),
              testing::ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822ULL),
              testing::ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(Noise, EveryPartOfTheNameMatters) {
  const NoiseStream stream{.key = 1, .choice = 2, .position = 3};
  const uint32_t bits = noise_bits(stream, 4);
  EXPECT_NE(bits, noise_bits({.key = 2, .choice = 2, .position = 3}, 4));
  EXPECT_NE(bits, noise_bits({.key = 1, .choice = 3, .position = 3}, 4));
  EXPECT_NE(bits, noise_bits({.key = 1, .choice = 2, .position = 4}, 4));
  EXPECT_NE(bits, noise_bits({.key = 1, .choice = 2, .position = 3 + (uint64_t{1} << 32)}, 4));
  EXPECT_NE(bits, noise_bits(stream, 5));
  EXPECT_NE(bits, noise_bits(stream, 8));
}

TEST(Noise, KeyDependsOnSeedAndPrompt) {
  const std::vector<int32_t> prompt{1, 2, 3};
  EXPECT_EQ(noise_key(7, prompt), noise_key(7, prompt));
  EXPECT_NE(noise_key(7, prompt), noise_key(8, prompt));
  EXPECT_NE(noise_key(7, prompt), noise_key(7, std::vector<int32_t>{1, 3, 2}));
  EXPECT_NE(noise_key(7, prompt), noise_key(7, std::vector<int32_t>{1, 2, 3, 0}));
}

}  // namespace
}  // namespace tessera::kernels
