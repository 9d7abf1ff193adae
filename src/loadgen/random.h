#pragma once

#include <cmath>
#include <cstdint>

#include "base/hash.h"

namespace tessera::loadgen {

/// Draws that are the same on every machine; the distributions of the standard library are not.
class Random {
 public:
  /// Streams of one seed have nothing to do with each other.
  explicit Random(uint64_t seed, uint64_t stream = 0) : state_(splitmix64(seed) ^ splitmix64(stream)) {}

  uint64_t bits() { return splitmix64(state_); }
  /// In [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// In [0, bound), bound > 0.
  size_t below(size_t bound) { return static_cast<size_t>(unit() * static_cast<double>(bound)); }
  /// The time to the next of events that come independently, `rate` a second.
  double wait(double rate) { return -std::log1p(-unit()) / rate; }

 private:
  uint64_t state_;
};

}  // namespace tessera::loadgen
