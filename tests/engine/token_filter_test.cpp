#include "engine/token_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "text/tokenizer_files.h"

namespace tessera::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Tokens = std::vector<int32_t>;

Tokens banned(const TokenFilter& filter, const Tokens& answer) {
  Tokens ids;
  filter.append_banned(answer, ids);
  std::ranges::sort(ids);
  return ids;
}

TEST(TokenFilter, LeavesEverythingWhereNothingIsAsked) {
  const TokenFilter filter;
  EXPECT_TRUE(filter.empty());
  EXPECT_THAT(banned(filter, {1, 2}), IsEmpty());
  EXPECT_FALSE(filter.needs_token(Tokens{1}));
}

TEST(TokenFilter, AllowedIdsAreBits) {
  const TokenFilter filter(Tokens{0, 33, 69}, {}, 70);
  EXPECT_FALSE(filter.empty());
  EXPECT_THAT(filter.allowed(), ElementsAre(1U, 2U, 32U));
  EXPECT_THAT(banned(filter, {}), IsEmpty());
}

TEST(TokenFilter, WhatIsBannedAnywhereIsNotWaitedFor) {
  const TokenFilter filter({}, {{9}, {4, 9}, {3}, {4, 3}, {6, 3}}, 70);
  EXPECT_THAT(banned(filter, {4}), ElementsAre(3, 9));
  EXPECT_FALSE(filter.needs_token(Tokens{}));
  EXPECT_EQ(filter.reach(), 0U);
}

TEST(TokenFilter, BansTheLastTokenOfASequenceBehindTheOthers) {
  const TokenFilter filter({}, {{5}, {1, 2, 3}, {2, 9}, {2, 9}}, 70);
  EXPECT_EQ(filter.reach(), 2U);
  EXPECT_THAT(banned(filter, {}), ElementsAre(5));
  EXPECT_THAT(banned(filter, {1}), ElementsAre(5));
  EXPECT_THAT(banned(filter, {2}), ElementsAre(5, 9));
  EXPECT_THAT(banned(filter, {7, 1, 2}), ElementsAre(3, 5, 9));
  EXPECT_THAT(banned(filter, {1, 2, 7}), ElementsAre(5));
  Tokens alone;
  filter.append_banned_alone(alone);
  EXPECT_THAT(alone, ElementsAre(5));
}

TEST(TokenFilter, WaitsOnlyForTokensThatMayBeginTheEndOfASequence) {
  const TokenFilter two({}, {{2, 9}}, 70);
  EXPECT_TRUE(two.needs_token({}));
  const TokenFilter three({}, {{5}, {1, 2, 3}}, 70);
  EXPECT_FALSE(three.needs_token({}));
  EXPECT_FALSE(three.needs_token(Tokens{1, 4}));
  EXPECT_TRUE(three.needs_token(Tokens{4, 1}));
  const TokenFilter one({}, {{7, 5}, {5}}, 70);  // whose end is banned wherever it stands
  EXPECT_FALSE(one.needs_token(Tokens{5}));
}

TEST(TokenFilter, WordsStandAtABeginningAndBehindASpace) {
  auto tokenizer = text::Tokenizer::parse(text::test::small_tokenizer({{"a", "b"}, {" ", "c"}}).dump(), "test");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  const auto sequences = bad_word_tokens({"ab", "  c", " "}, *tokenizer);
  ASSERT_TRUE(sequences.ok());
  EXPECT_THAT(*sequences, ElementsAre(Tokens{256}, Tokens{' ', 256}, Tokens{'c'}, Tokens{257}, Tokens{' '}));
}

}  // namespace
}  // namespace tessera::engine
