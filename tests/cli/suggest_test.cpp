#include "cli/suggest.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tessera::cli {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("--temprature", "--temperature"), 1U);
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
  EXPECT_EQ(edit_distance("abcdef", "badcfe"), 3U);
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndBounded, (const std::string& a, const std::string& b)) {
  const size_t distance = edit_distance(a, b);
  RC_ASSERT(distance == edit_distance(b, a));
  RC_ASSERT(distance <= std::max(a.size(), b.size()));
  RC_ASSERT(distance >= std::max(a.size(), b.size()) - std::min(a.size(), b.size()));
  RC_ASSERT((distance == 0) == (a == b));
}

TEST(NearestName, FindsMisspellingsAndAbbreviations) {
  const std::vector<std::string> known = {"--temperature", "--top-k", "--top-p", "--max-tokens", "--min-tokens"};
  EXPECT_EQ(nearest_name("--temprature", known), "--temperature");
  EXPECT_EQ(nearest_name("--max-token", known), "--max-tokens");
  EXPECT_EQ(nearest_name("--max_tokens", known), "--max-tokens");
  EXPECT_EQ(nearest_name("--temp", known), "--temperature");
  EXPECT_EQ(nearest_name("--t", known), "--temperature");
  EXPECT_EQ(nearest_name("--", known), "");
  EXPECT_EQ(nearest_name("--colour", known), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name("tpa", {"tap"}), "tap");  // one slip in three letters, and no more
  EXPECT_EQ(nearest_name("tpx", {"tap"}), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'x'), known), "");
}

}  // namespace
}  // namespace tessera::cli
