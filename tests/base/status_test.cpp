#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace tessera {
namespace {

Expected<std::unique_ptr<int>> positive(int value) {
  if (value <= 0) return error(StatusCode::invalid_argument, "{} is not positive", value);
  return std::make_unique<int>(value);
}

Expected<int> doubled(int value) {
  TESSERA_ASSIGN_OR_RETURN(const auto number, positive(value));
  return *number * 2;
}

TEST(Status, ExpectedCarriesValueOrError) {
  EXPECT_EQ(*doubled(4), 8);
  const auto failed = doubled(-1);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(failed.status().message(), "-1 is not positive");
  EXPECT_EQ(failed.status().with_context("flag").message(), "flag: -1 is not positive");
  EXPECT_TRUE(doubled(1).status().ok());
}

TEST(StatusDeathTest, TakingTheValueOfAnErrorStops) {
  EXPECT_DEATH((void)*doubled(0), "value taken from a failed Expected: 0 is not positive");
}

}  // namespace
}  // namespace tessera
