#pragma once

#include <cstdint>
#include <vector>

namespace tessera::loadgen {

/// When `count` requests are due, in seconds from the first, which is due at once: they come independently of each
/// other, `rate` a second (a Poisson process), the same ones for the same seed.
std::vector<double> arrivals(double rate, int64_t count, uint64_t seed);

}  // namespace tessera::loadgen
