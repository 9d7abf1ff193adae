#include "cli/token_ids.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace tessera::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TokenIds, ReadsArraysAndLists) {
  EXPECT_THAT(*parse_token_ids("[1, 2,3]"), ElementsAre(1, 2, 3));
  EXPECT_THAT(*parse_token_ids(" 1\n22\t333 \r\n"), ElementsAre(1, 22, 333));
  EXPECT_THAT(*parse_token_ids("2147483647"), ElementsAre(2147483647));
  EXPECT_THAT(*parse_token_ids("[]"), IsEmpty());
  EXPECT_THAT(*parse_token_ids(""), IsEmpty());
}

TEST(TokenIds, RefusesWhatIsNoId) {
  for (const char* text : {"-1", "1 2 x", "1.5", "[1, [2]]", "2147483648", "99999999999999999999", "[1", "1]", "+1"}) {
    const auto ids = parse_token_ids(text);
    ASSERT_FALSE(ids.ok()) << text;
    EXPECT_EQ(ids.status().code(), StatusCode::invalid_argument);
  }
  EXPECT_THAT(parse_token_ids("7 8 nine").status().message(), HasSubstr("token id 2 is \"nine\""));
}

RC_GTEST_PROP(TokenIds, RoundTrip, ()) {
  const auto ids = *rc::gen::container<std::vector<int32_t>>(rc::gen::inRange(0, INT32_MAX));
  RC_ASSERT(*parse_token_ids(fmt::format("[{}]", fmt::join(ids, ", "))) == ids);
  RC_ASSERT(*parse_token_ids(fmt::format("{}", fmt::join(ids, "\n"))) == ids);
}

}  // namespace
}  // namespace tessera::cli
