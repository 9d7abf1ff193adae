#include "cli/table.h"

#include <gtest/gtest.h>

namespace tessera::cli {
namespace {

TEST(Table, CountsHaveThreeDigits) {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},           {999, "999"},       {999.4, "999"},      {999.6, "1.00 k"},
      {1000, "1.00 k"},   {9994, "9.99 k"},   {9996, "10.0 k"},    {99'940, "99.9 k"},
      {99'960, "100 k"},  {999'400, "999 k"}, {999'600, "1.00 M"}, {34.66e9, "34.7 B"},
      {1.5e12, "1.50 T"}, {2.5e15, "2500 T"},
  };
  for (const auto& [count, text] : cases) EXPECT_EQ(format_count(count), text) << count;
}

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(format_table("<>", {{"a", "10"}, {"bcd", "9"}}), "a    10\nbcd   9\n");
  EXPECT_EQ(format_table("<<", {{"a", "b"}, {"cd", ""}}), "a   b\ncd\n") << "no spaces at the end of a line";
  EXPECT_EQ(format_table("<", {}), "");
}

}  // namespace
}  // namespace tessera::cli
