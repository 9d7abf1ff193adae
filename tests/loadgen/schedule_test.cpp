#include "loadgen/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "loadgen/statistics.h"

namespace tessera::loadgen {
namespace {

TEST(Schedule, ArrivalsAreSeeded) {
  EXPECT_EQ(arrivals(5, 100, 7), arrivals(5, 100, 7));
  EXPECT_NE(arrivals(5, 100, 7), arrivals(5, 100, 8));
  EXPECT_TRUE(arrivals(5, 0, 7).empty());
}

/// Waits of a Poisson process: mean 1/rate, as large a deviation, and a share of exp(-1) above the mean.
TEST(Schedule, ArrivalsArePoisson) {
  const std::vector<double> due = arrivals(4, 40001, 1);
  EXPECT_EQ(due.front(), 0);
  EXPECT_TRUE(std::is_sorted(due.begin(), due.end()));
  EXPECT_NEAR(due.back() / 40000, 0.25, 0.005);
  double squares = 0, above = 0;
  for (size_t i = 1; i < due.size(); ++i) {
    const double wait = due[i] - due[i - 1];
    squares += (wait - 0.25) * (wait - 0.25);
    above += wait > 0.25 ? 1 : 0;
  }
  EXPECT_NEAR(squares / 40000, 0.0625, 0.003);
  EXPECT_NEAR(above / 40000, 0.3679, 0.01);
}

/// The last is as far from the first's next request as from who comes before.
TEST(Schedule, UsersComeSpread) {
  EXPECT_EQ(user_starts(4, 2), (std::vector<double>{0, 0.5, 1, 1.5}));
  EXPECT_EQ(user_starts(1, 2), std::vector<double>{0});
  EXPECT_EQ(user_starts(3, 0), (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace tessera::loadgen
