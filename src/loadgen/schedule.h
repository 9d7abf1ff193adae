#pragma once

#include <cstdint>
#include <vector>

namespace tessera::loadgen {

/// When `count` requests are due, in seconds from the first, which is due at once: they come independently of each
/// other, `rate` a second (a Poisson process), the same ones for the same seed.
std::vector<double> arrivals(double rate, int64_t count, uint64_t seed);

/// When the users of a closed loop come, in seconds from the first, who comes at once: evenly, all of them and the gap
/// behind the last within `spread`. Users who came together would have their prompts read in one step, and with answers
/// of one length ask together again and again.
std::vector<double> user_starts(int64_t users, double spread);

}  // namespace tessera::loadgen
