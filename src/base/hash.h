#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

// Hashes and numbers that are the same everywhere and for ever: files and names are made of them. Not for tables that
// an attacker could fill.
namespace tessera {

/// FNV-1a over `bytes`, going on from `state`.
constexpr uint64_t fnv1a(std::string_view bytes, uint64_t state = 0xcbf29ce484222325) {
  for (const char c : bytes) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return state;
}

/// The next number of splitmix64.
constexpr uint64_t splitmix64(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Eight bytes at a time, for checksums of much. Whatever changes within one aligned word of eight is always noticed,
/// anything else but once in 2^64. Little endian.
inline uint64_t checksum(std::span<const std::byte> bytes, uint64_t seed = 0) {
  constexpr uint64_t kPrime = 0x9fb21c651e98df25;
  uint64_t lanes[4] = {};
  for (uint64_t& lane : lanes) lane = splitmix64(seed);
  size_t lane = 0;
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t), lane = (lane + 1) % 4) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at < sizeof(word) ? bytes.size() - at : sizeof(word));
    lanes[lane] = std::rotl((lanes[lane] ^ word) * kPrime, 29);
  }
  uint64_t sum = bytes.size();
  for (const uint64_t each : lanes) {
    sum ^= each;
    sum = splitmix64(sum);
  }
  return sum;
}

}  // namespace tessera
