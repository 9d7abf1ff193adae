#include "text/dialect/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::text {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int32_t kTurn = 90, kUser = 91, kLine = 92, kToolAnswer = 93, kAssistant = 94;
const TurnMarks kMarks{.turn = kTurn, .user = {kTurn, kUser, kLine}, .tool_answer = kToolAnswer};

TEST(Turns, TheFirstTheUsersLastAndAllBeforeTheAnswer) {
  const std::vector<int32_t> prompt = {kTurn, 1,          2,     3,                  // system
                                       kTurn, kUser,      kLine, 4,                  // asks
                                       kTurn, kAssistant, 5,                         // calls
                                       kTurn, kUser,      kLine, kToolAnswer, 6, 7,  // a tool's answer
                                       kTurn, kAssistant, 8,                         // calls again
                                       kTurn, kUser,      kLine, kToolAnswer, 9,     //
                                       kTurn, kAssistant, kLine};
  EXPECT_THAT(likely_ends(prompt, kMarks), ElementsAre(4, 8, 25));
  std::vector<int32_t> asked_again = prompt;
  asked_again.insert(asked_again.end(), {kTurn, kUser, kLine, 5, kTurn, kAssistant});
  EXPECT_THAT(likely_ends(asked_again, kMarks), ElementsAre(4, 32)) << "of the user's turns the last alone";
  const std::span<const int32_t> first_question(prompt.data(), 11);
  EXPECT_THAT(likely_ends(first_question, kMarks), ElementsAre(4, 8));
  const std::vector<int32_t> asks = {kTurn, 1, kTurn, kUser, kLine, 4, kTurn, kUser, kLine, 5};
  EXPECT_THAT(likely_ends(asks, kMarks), ElementsAre(2, 6)) << "the last turn has no end yet";
}

TEST(Turns, WhatHasNoTurnsHasNoEnds) {
  EXPECT_THAT(likely_ends({}, kMarks), IsEmpty());
  const std::vector<int32_t> one = {kTurn, kUser, kLine, 4, 5}, none = {1, 2, 3};
  EXPECT_THAT(likely_ends(one, kMarks), IsEmpty());
  EXPECT_THAT(likely_ends(none, kMarks), IsEmpty());
  EXPECT_THAT(likely_ends(one, {}), IsEmpty());  // a tokenizer without such tokens
  const std::vector<int32_t> cut = {kTurn, 1, kTurn, kUser};
  EXPECT_THAT(likely_ends(cut, kMarks), ElementsAre(2));
}

}  // namespace
}  // namespace tessera::text
