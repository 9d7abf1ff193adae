#include "loadgen/statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tessera::loadgen {
namespace {

// The values are those of numpy.percentile.
TEST(Statistics, PercentilesAreNumpys) {
  const std::vector<double> values = {7, 1, 4, 2, 9, 3.5};
  EXPECT_DOUBLE_EQ(percentile(values, 50), 3.75);
  EXPECT_DOUBLE_EQ(percentile(values, 90), 8);
  EXPECT_DOUBLE_EQ(percentile(values, 95), 8.5);
  EXPECT_DOUBLE_EQ(percentile(values, 99), 8.9);
  EXPECT_DOUBLE_EQ(percentile(values, 0), 1);
  EXPECT_DOUBLE_EQ(percentile(values, 100), 9);
  EXPECT_DOUBLE_EQ(percentile({5}, 99), 5);
  EXPECT_DOUBLE_EQ(percentile({}, 50), 0);
  const Percentiles all = percentiles_of(values);
  EXPECT_EQ(all.count, 6);
  EXPECT_DOUBLE_EQ(all.mean, 26.5 / 6);
  EXPECT_DOUBLE_EQ(all.p50, 3.75);
  EXPECT_DOUBLE_EQ(all.p90, 8);
  EXPECT_DOUBLE_EQ(all.p95, 8.5);
  EXPECT_DOUBLE_EQ(all.p99, 8.9);
  EXPECT_EQ(all.min, 1);
  EXPECT_EQ(all.max, 9);
  EXPECT_EQ(percentiles_of({}).count, 0);
}

RC_GTEST_PROP(Statistics, PercentilesRiseAndStayInside, (const std::vector<uint16_t>& given)) {
  RC_PRE(!given.empty());
  const Percentiles p = percentiles_of({given.begin(), given.end()});
  RC_ASSERT(p.min <= p.p50 && p.p50 <= p.p90 && p.p90 <= p.p95 && p.p95 <= p.p99 && p.p99 <= p.max);
}

/// The interval of a mean of coin flips is known: 95 % of the draws are within 1.96 standard deviations.
TEST(Statistics, BootstrapHasTheWidthItShouldHave) {
  Random random(3);
  const Interval interval = bootstrap(20000, [&] {
    double heads = 0;
    for (int i = 0; i < 100; ++i) heads += random.unit() < 0.5 ? 1 : 0;
    return heads / 100;
  });
  EXPECT_NEAR(interval.low, 0.5 - 0.098, 0.0101);
  EXPECT_NEAR(interval.high, 0.5 + 0.098, 0.0101);
}

}  // namespace
}  // namespace tessera::loadgen
