#pragma once

#include <array>
#include <cstdint>

// Counter-based noise: the noise of a token is a function of (key, choice, position, token), so a sampled token
// depends on nothing else that happens in the engine.
//
// Generator: Philox4x32 with 10 rounds; constants from Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
// as 1, 2, 3" (SC 2011). One call serves four neighbouring token ids.
namespace tessera::kernels {

inline constexpr uint32_t kPhiloxM0 = 0xD2511F53, kPhiloxM1 = 0xCD9E8D57;  // multipliers
inline constexpr uint32_t kPhiloxW0 = 0x9E3779B9, kPhiloxW1 = 0xBB67AE85;  // key increments: golden ratio, sqrt(3) - 1
inline constexpr int kPhiloxRounds = 10;

constexpr std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key) {
  auto k0 = static_cast<uint32_t>(key);
  auto k1 = static_cast<uint32_t>(key >> 32);
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // a draw is too rare for its instructions to stay in a cache
#endif
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t product0 = static_cast<uint64_t>(kPhiloxM0) * counter[0];
    const uint64_t product1 = static_cast<uint64_t>(kPhiloxM1) * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ k0, static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ k1, static_cast<uint32_t>(product0)};
    k0 += kPhiloxW0;
    k1 += kPhiloxW1;
  }
  return counter;
}

/// Names one draw: one value per token id of the vocabulary.
struct NoiseStream {
  uint64_t key = 0;       // see noise_key
  uint32_t choice = 0;    // of the request
  uint64_t position = 0;  // of the token being drawn, counted from the start of the prompt
};

/// The 32 random bits of one token id.
constexpr uint32_t noise_bits(const NoiseStream& stream, int32_t token) {
  const auto id = static_cast<uint32_t>(token);
  return philox(
      {id / 4, static_cast<uint32_t>(stream.position), static_cast<uint32_t>(stream.position >> 32), stream.choice},
      stream.key)[id % 4];
}

/// Spreads every input bit over all output bits (finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
constexpr uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// The key of a request: its seed, and its prompt so that one seed does not correlate different prompts.
template <typename Tokens>
constexpr uint64_t noise_key(uint64_t seed, const Tokens& prompt) {
  uint64_t key = mix_bits(seed + 0x9E3779B97F4A7C15ULL);
  for (const int32_t token : prompt) key = mix_bits(key + 0x9E3779B97F4A7C15ULL + static_cast<uint32_t>(token));
  return key;
}

}  // namespace tessera::kernels
