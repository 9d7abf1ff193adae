#include "simulation.h"

#include <gtest/gtest.h>

#include <cstdlib>

// simulation.h says what is compared. A failure names its seed; to replay it, set TESSERA_SIMULATION_SEED. More seeds
// are in simulation_slow_test.cpp, what must never go wrong again in simulation_cases_test.cpp.
namespace tessera::engine {
namespace {

TEST(Simulation, EveryRequestGetsWhatItGetsAlone) {
  const SimulationCounts counts = simulate(1, 32);
  if (std::getenv("TESSERA_SIMULATION_SEED") != nullptr) return;
  // Otherwise there is nothing to test.
  EXPECT_GT(counts.stats.preemptions, 15U);
  EXPECT_GT(counts.stats.prefix_hits, 2000U);
  EXPECT_GT(counts.stats.idle_prefill_tokens, 1000U);
  EXPECT_GT(counts.stats.tier.hits, 500U);
  EXPECT_GT(counts.stats.disk.hits, 500U);
  EXPECT_GT(counts.damaged, 3);
  EXPECT_GT(counts.stats.drafts.accepted, 200U);
  EXPECT_GT(counts.stats.drafts.proposed, counts.stats.drafts.accepted + 200);
  EXPECT_GT(counts.guided, 30);
  EXPECT_GT(counts.cancelled, 20);
  EXPECT_GT(counts.stopped, 30);
  // Whether a damaged file is read at all depends on how fast the disk is: more seeds, until one has been.
  uint64_t disk_failures = counts.stats.disk.failures;
  for (uint64_t seed = 33; disk_failures == 0 && seed < 97; seed += 8) {
    disk_failures += simulate(seed, seed + 7).stats.disk.failures;
  }
  EXPECT_GT(disk_failures, 0U);
}

TEST(Simulation, NothingIsLeftOfCancelledRequests) { cancel_many(200, 2); }

}  // namespace
}  // namespace tessera::engine
