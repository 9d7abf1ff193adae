#include <gtest/gtest.h>

#include <cstdlib>

#include "simulation.h"

namespace tessera::engine {
namespace {

/// As many seeds as TESSERA_SIMULATION_SEEDS says, from a first one that the fast test does not have.
TEST(SlowSimulation, EveryRequestGetsWhatItGetsAlone) {
  const char* seeds = std::getenv("TESSERA_SIMULATION_SEEDS");
  constexpr uint64_t kFirst = 1001;
  simulate(kFirst, kFirst - 1 + (seeds == nullptr ? 500 : std::strtoull(seeds, nullptr, 10)));
}

TEST(SlowSimulation, NothingIsLeftOfTenThousandCancelledRequests) { cancel_many(10'000, 1); }

}  // namespace
}  // namespace tessera::engine
