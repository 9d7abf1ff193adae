#include "engine/guide_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace tessera::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int32_t kEnd = 9;  // "</think>"
constexpr int64_t kVocabSize = 70;

/// The ids whose bits are set.
std::vector<int32_t> allowed(const GuideState& state) {
  const std::span<const uint32_t> mask = state.allowed();
  EXPECT_TRUE(mask.empty() || mask.size() == 3);
  std::vector<int32_t> ids;
  for (size_t bit = 0; bit < 32 * mask.size(); ++bit) {
    if ((mask[bit / 32] >> (bit % 32) & 1U) != 0) ids.push_back(static_cast<int32_t>(bit));
  }
  EXPECT_EQ(ids.empty(), mask.empty()) << "a mask allows something";
  return ids;
}

TEST(GuideState, AllowsEverythingWithoutAGuide) {
  const Guide guide;
  GuideState state(guide, kVocabSize);
  EXPECT_THAT(allowed(state), IsEmpty());
  state.advance(1);
  EXPECT_THAT(allowed(state), IsEmpty());
  EXPECT_FALSE(state.needs_token());
}

TEST(GuideState, ClosesThinkingAtTheBound) {
  const Guide guide{.thinking_end = kEnd, .thinking_tokens_max = 2, .thinking_closer = {5, kEnd}};
  GuideState state(guide, kVocabSize);
  for (const int32_t token : {1, 2}) {
    EXPECT_THAT(allowed(state), IsEmpty());
    state.advance(token);
  }
  EXPECT_THAT(allowed(state), ElementsAre(5));
  state.advance(5);
  EXPECT_THAT(allowed(state), ElementsAre(kEnd));
  state.advance(kEnd);
  EXPECT_THAT(allowed(state), IsEmpty());
}

TEST(GuideState, ThinkingThatEndsInTimeIsLeftAlone) {
  const Guide guide{.thinking_end = kEnd, .thinking_tokens_max = 3, .thinking_closer = {kEnd}};
  GuideState state(guide, kVocabSize);
  for (const int32_t token : {1, kEnd, 1, 2, 3, 4}) {
    EXPECT_THAT(allowed(state), IsEmpty());
    state.advance(token);
  }
  EXPECT_THAT(allowed(state), IsEmpty());
}

TEST(GuideState, ATokenMayBeNoPartOfThinking) {
  const Guide guide{
      .thinking_end = kEnd, .thinking_tokens_max = 2, .thinking_closer = {5, kEnd}, .thinking_excludes = 7};
  GuideState state(guide, kVocabSize);
  for (const int32_t token : {1, 2}) {
    EXPECT_TRUE(state.excludes());
    EXPECT_TRUE(state.needs_token());
    state.advance(token);
  }
  EXPECT_THAT(allowed(state), ElementsAre(5));
  state.rollback(1);
  EXPECT_TRUE(state.excludes());
  EXPECT_THAT(allowed(state), IsEmpty());
  state.advance(kEnd);
  EXPECT_FALSE(state.excludes());
  state.advance(7);
  EXPECT_THAT(allowed(state), IsEmpty());
  EXPECT_FALSE(state.needs_token());
}

TEST(GuideState, NoThinkingAtAll) {
  const Guide guide{.thinking_end = kEnd, .thinking_tokens_max = 0, .thinking_closer = {kEnd}};
  EXPECT_THAT(allowed(GuideState(guide, kVocabSize)), ElementsAre(kEnd));
}

TEST(GuideState, TheModelChoosesAmongBeginnings) {
  const Guide guide{.beginnings = {{1, 64, 6}, {1, 2, 3}, {1, 2, 69, 6}}};
  GuideState state(guide, kVocabSize);
  EXPECT_THAT(allowed(state), ElementsAre(1));
  state.advance(1);
  EXPECT_THAT(allowed(state), ElementsAre(2, 64));
  state.advance(2);
  EXPECT_THAT(allowed(state), ElementsAre(3, 69));
  state.advance(69);
  EXPECT_THAT(allowed(state), ElementsAre(6));
  state.advance(6);
  EXPECT_THAT(allowed(state), IsEmpty());
  state.advance(1);  // what comes later is free
  EXPECT_THAT(allowed(state), IsEmpty());
}

TEST(GuideState, BeginningsComeAfterThinking) {
  const Guide guide{.thinking_end = kEnd, .beginnings = {{3}}};
  GuideState state(guide, kVocabSize);
  for (const int32_t token : {3, 4, kEnd}) {
    EXPECT_THAT(allowed(state), IsEmpty());
    state.advance(token);
  }
  EXPECT_THAT(allowed(state), ElementsAre(3));
}

TEST(GuideState, NeedsATokenOnlyWhereItDecides) {
  const Guide bound{.thinking_end = kEnd, .thinking_tokens_max = 3, .thinking_closer = {5, kEnd}};
  GuideState state(bound, kVocabSize);
  std::vector<bool> needs;
  for (const int32_t token : {1, 2, 3, 5, kEnd, 1}) {
    needs.push_back(state.needs_token());
    state.advance(token);
  }
  needs.push_back(state.needs_token());
  EXPECT_THAT(needs, ElementsAre(false, false, true, true, true, false, false));

  const Guide beginnings{.thinking_end = kEnd, .beginnings = {{3, 4}}};
  GuideState then(beginnings, kVocabSize);
  for (const int32_t token : {1, kEnd, 3, 4}) {  // any of the thinking may be its end
    EXPECT_TRUE(then.needs_token());
    then.advance(token);
  }
  EXPECT_FALSE(then.needs_token());
}

TEST(GuideState, FreeThinkingIsLikeNone) {
  const Guide guide{.thinking_end = kEnd};
  const GuideState state(guide, kVocabSize);
  EXPECT_FALSE(state.needs_token());
  EXPECT_FALSE(state.excludes());
}

TEST(GuideState, TheFirstIdIsOneLikeAnyOther) {
  const Guide end{.thinking_end = 0};
  GuideState state(end, kVocabSize);
  EXPECT_FALSE(state.settled());
  state.advance(0);
  EXPECT_TRUE(state.settled());
  state.rollback(1);
  EXPECT_FALSE(state.settled());
  const Guide excludes{.thinking_end = kEnd, .thinking_excludes = 0};
  GuideState excluding(excludes, kVocabSize);
  EXPECT_TRUE(excluding.excludes());
  EXPECT_TRUE(excluding.needs_token());
  const Guide none{.thinking_end = kEnd, .thinking_tokens_max = 0, .thinking_closer = {5, kEnd}};
  EXPECT_TRUE(GuideState(none, kVocabSize).needs_token());
}

std::vector<Guide> guides() {
  const std::vector<std::vector<int32_t>> beginnings = {{1, 64, 6}, {1, 2, 3}, {1, 2, 69, 6}};
  return {{},
          {.thinking_end = kEnd},
          {.beginnings = beginnings},
          {.thinking_end = kEnd, .beginnings = beginnings},
          {.thinking_end = kEnd, .thinking_tokens_max = 4, .thinking_closer = {7, 8, kEnd}},
          {.thinking_end = kEnd, .thinking_tokens_max = 4, .thinking_closer = {7, kEnd}, .beginnings = beginnings}};
}

/// What stands behind `tokens`.
GuideState after(const Guide& guide, const std::vector<int32_t>& tokens) {
  GuideState state(guide, kVocabSize);
  for (const int32_t token : tokens) state.advance(token);
  return state;
}

TEST(GuideState, RollbackIsAsIfTheTokensHadNeverCome) {
  std::mt19937 random(1);
  for (const Guide& guide : guides()) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      GuideState state(guide, kVocabSize);
      std::vector<int32_t> tokens;
      for (int turn = 0; turn < 60; ++turn) {
        if (random() % 3 != 0) {
          const std::vector<int32_t> choices = allowed(state);
          const int32_t any = random() % 4 == 0 ? kEnd : static_cast<int32_t>(random() % kVocabSize);
          tokens.push_back(choices.empty() ? any : choices[random() % choices.size()]);
          state.advance(tokens.back());
        } else {
          const size_t count = random() % (std::min<size_t>(tokens.size(), 5) + 1);
          tokens.resize(tokens.size() - count);
          state.rollback(static_cast<int64_t>(count));
        }
        const GuideState expected = after(guide, tokens);
        ASSERT_EQ(allowed(state), allowed(expected));
        ASSERT_EQ(state.needs_token(), expected.needs_token());
        ASSERT_EQ(state.must_go_on(), expected.must_go_on());
        ASSERT_EQ(state.excludes(), expected.excludes());
        ASSERT_EQ(state.settles(), expected.settles());
        ASSERT_EQ(state.settled(), expected.settled());
      }
    }
  }
}

// What lets a row be planned behind a token under way.
TEST(GuideState, WhereNoTokenIsNeededAnyTokenLeadsToTheSame) {
  std::mt19937 random(2);
  for (const Guide& guide : guides()) {
    for (int repeat = 0; repeat < 100; ++repeat) {
      GuideState state(guide, kVocabSize);
      for (int turn = 0; turn < 12; ++turn) {
        const std::vector<int32_t> choices = allowed(state);
        const bool free = !state.needs_token();
        EXPECT_TRUE(!free || choices.empty());
        const int32_t any = random() % 4 == 0 ? kEnd : static_cast<int32_t>(random() % kVocabSize);
        state.advance(choices.empty() ? any : choices[random() % choices.size()]);
        EXPECT_TRUE(!free || state.allowed().empty());
      }
    }
  }
}

TEST(GuideStateDeathTest, TakesBackNoMoreThanThereWas) {
  const Guide guide;
  GuideState state(guide, kVocabSize);
  state.advance(1);
  EXPECT_DEATH(state.rollback(2), "tokens");
}

/// Ids from 10 on are the letters; 69 ends an answer.
CompiledGrammar letters(const std::string& regex) {
  static guide::Compiler compiler([] {
    guide::Vocabulary vocabulary{.tokens = std::vector<std::string>(kVocabSize), .stop_ids = {69}};
    for (char c = 'a'; c <= 'z'; ++c) vocabulary.tokens[static_cast<size_t>(10 + c - 'a')] = c;
    return vocabulary;
  });
  auto grammar = compiler.compile({.kind = GrammarSource::Kind::regex, .text = regex});
  EXPECT_TRUE(grammar.ok()) << grammar.status().message();
  return *grammar;
}

std::vector<int32_t> prepared(GuideState& state) {
  EXPECT_TRUE(state.prepare().ok());
  EXPECT_FALSE(state.needs_preparation());
  return allowed(state);
}

TEST(GuideState, AGrammarComesLast) {
  const Guide guide{.thinking_end = kEnd, .beginnings = {{3, 4}}, .grammar = letters("a(b|c)")};
  GuideState state(guide, kVocabSize);
  for (const int32_t token : {1, 10, kEnd}) {
    EXPECT_TRUE(state.needs_token());
    EXPECT_TRUE(state.must_go_on());
    EXPECT_THAT(prepared(state), IsEmpty());
    state.advance(token);
  }
  EXPECT_FALSE(state.must_go_on());
  EXPECT_THAT(prepared(state), ElementsAre(3));
  state.advance(3);
  state.advance(4);
  EXPECT_TRUE(state.needs_preparation());
  EXPECT_THAT(prepared(state), ElementsAre(10));
  state.advance(10);
  EXPECT_THAT(prepared(state), ElementsAre(11, 12));
  EXPECT_TRUE(state.needs_token());
  state.advance(12);
  EXPECT_THAT(prepared(state), ElementsAre(69));
  state.advance(69);
  EXPECT_THAT(prepared(state), ElementsAre(69));  // of a request that ignores it
}

TEST(GuideState, WhatAGrammarDoesNotAllowEndsTheChoice) {
  const Guide guide{.grammar = letters("ab")};
  GuideState state(guide, kVocabSize);
  EXPECT_THAT(prepared(state), ElementsAre(10));
  state.advance(30);
  EXPECT_FALSE(state.prepare().ok());
  state.advance(10);  // which it would allow
  EXPECT_FALSE(state.prepare().ok());
  state.rollback(1);
  EXPECT_FALSE(state.prepare().ok());
  GuideState later(guide, kVocabSize);
  for (const int32_t token : {10, 30}) later.advance(token);
  later.rollback(1);
  EXPECT_FALSE(later.prepare().ok()) << "of what it had before, too";
}

/// No stop token may end thinking before what must come, a grammar's answer or a beginning.
TEST(GuideState, WhatIsStillToComeMustGoOn) {
  const CompiledGrammar grammar = letters("ab");
  const Guide with_grammar{.thinking_end = kEnd, .grammar = grammar};
  const Guide with_beginning{.thinking_end = kEnd, .beginnings = {{3}}};
  const Guide free{.thinking_end = kEnd};
  GuideState state(with_grammar, kVocabSize);
  EXPECT_TRUE(state.must_go_on());
  EXPECT_TRUE(state.needs_token());
  EXPECT_FALSE(state.settled());
  EXPECT_TRUE(GuideState(with_beginning, kVocabSize).must_go_on());
  EXPECT_FALSE(GuideState(free, kVocabSize).must_go_on());
  state.advance(kEnd);
  EXPECT_FALSE(state.must_go_on());
  EXPECT_TRUE(state.needs_token());
  EXPECT_THAT(prepared(state), ElementsAre(10));
  EXPECT_FALSE(state.settles()) << "the model chooses";
  EXPECT_FALSE(state.settled());
  state.rollback(1);
  EXPECT_THAT(prepared(state), IsEmpty());
}

TEST(GuideState, RollbackGoesThroughAllParts) {
  const Guide guide{.thinking_end = kEnd, .beginnings = {{3}}, .grammar = letters("(ab|ac)*d")};
  const std::vector<int32_t> tokens = {5, kEnd, 3, 10, 11, 10, 12, 13, 69, 69};
  std::vector<std::vector<int32_t>> expected;
  GuideState state(guide, kVocabSize);
  for (const int32_t token : tokens) {
    expected.push_back(prepared(state));
    state.advance(token);
  }
  std::mt19937 random(1);
  size_t at = tokens.size();
  for (int round = 0; round < 300; ++round) {
    const size_t to = random() % tokens.size();
    if (to <= at) {
      state.rollback(static_cast<int64_t>(at - to));
    } else {
      for (; at < to; ++at) state.advance(tokens[at]);
    }
    at = to;
    ASSERT_EQ(prepared(state), expected[at]) << at;
  }
}

}  // namespace
}  // namespace tessera::engine
