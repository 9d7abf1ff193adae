#pragma once

#include <cstdint>
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

}  // namespace tessera
