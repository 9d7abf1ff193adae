#include "engine/guide_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int32_t kEnd = 9;  // "</think>"

TEST(GuideState, AllowsEverythingWithoutAGuide) {
  const Guide guide;
  GuideState state(guide);
  EXPECT_THAT(state.allowed(), IsEmpty());
  state.advance(1);
  EXPECT_THAT(state.allowed(), IsEmpty());
}

TEST(GuideState, ClosesThinkingAtTheBound) {
  const Guide guide{.thinking_end = kEnd, .thinking_tokens_max = 2, .thinking_closer = {5, kEnd}};
  GuideState state(guide);
  for (const int32_t token : {1, 2}) {
    EXPECT_THAT(state.allowed(), IsEmpty());
    state.advance(token);
  }
  EXPECT_THAT(state.allowed(), ElementsAre(5));
  state.advance(5);
  EXPECT_THAT(state.allowed(), ElementsAre(kEnd));
  state.advance(kEnd);
  EXPECT_THAT(state.allowed(), IsEmpty());
}

TEST(GuideState, ThinkingThatEndsInTimeIsLeftAlone) {
  const Guide guide{.thinking_end = kEnd, .thinking_tokens_max = 3, .thinking_closer = {kEnd}};
  GuideState state(guide);
  for (const int32_t token : {1, kEnd, 1, 2, 3, 4}) {
    EXPECT_THAT(state.allowed(), IsEmpty());
    state.advance(token);
  }
  EXPECT_THAT(state.allowed(), IsEmpty());
}

TEST(GuideState, NoThinkingAtAll) {
  const Guide guide{.thinking_end = kEnd, .thinking_tokens_max = 0, .thinking_closer = {kEnd}};
  EXPECT_THAT(GuideState(guide).allowed(), ElementsAre(kEnd));
}

TEST(GuideState, TheModelChoosesAmongBeginnings) {
  const Guide guide{.beginnings = {{1, 4, 6}, {1, 2, 3}, {1, 2, 5, 6}}};
  GuideState state(guide);
  EXPECT_THAT(state.allowed(), ElementsAre(1));
  state.advance(1);
  EXPECT_THAT(state.allowed(), ElementsAre(2, 4));
  state.advance(2);
  EXPECT_THAT(state.allowed(), ElementsAre(3, 5));
  state.advance(5);
  EXPECT_THAT(state.allowed(), ElementsAre(6));
  state.advance(6);
  EXPECT_THAT(state.allowed(), IsEmpty());
  state.advance(1);  // what comes later is free
  EXPECT_THAT(state.allowed(), IsEmpty());
}

TEST(GuideState, BeginningsComeAfterThinking) {
  const Guide guide{.thinking_end = kEnd, .beginnings = {{3}}};
  GuideState state(guide);
  for (const int32_t token : {3, 4, kEnd}) {
    EXPECT_THAT(state.allowed(), IsEmpty());
    state.advance(token);
  }
  EXPECT_THAT(state.allowed(), ElementsAre(3));
}

}  // namespace
}  // namespace tessera::engine
