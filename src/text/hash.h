#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tessera::text {

/// A fast hash for words of a few bytes. Not for tables that an attacker could fill without bound.
inline uint64_t hash_bytes(std::string_view bytes) {
  const auto load = [&](size_t at, size_t length) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, length);
    return word;
  };
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  uint64_t state = bytes.size();
  const auto absorb = [&](uint64_t word) {
    state = (state ^ word) * kOdd;
    state ^= state >> 32;  // the product's good bits are the high ones
  };
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) absorb(load(at, 8));
  if (at < bytes.size()) absorb(load(at, bytes.size() - at));
  return state;
}

}  // namespace tessera::text
