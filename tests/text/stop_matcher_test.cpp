#include "text/stop_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "generators.h"

namespace tessera::text {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  std::string text;
  std::optional<size_t> stop;
  bool operator==(const Outcome&) const = default;
};

Outcome run(const std::vector<std::string>& stops, bool include, const std::vector<std::string>& pieces) {
  auto matcher = std::move(*StopMatcher::create(stops, include));
  Outcome outcome;
  for (const std::string& piece : pieces) {
    auto result = matcher.feed(piece);
    outcome.text += result.text;
    if (result.stop) outcome.stop = result.stop;
  }
  outcome.text += matcher.flush();
  return outcome;
}

/// The definition: the first end at which some stop string ends, the longest of those.
Outcome naive(const std::vector<std::string>& stops, bool include, const std::string& text) {
  for (size_t end = 1; end <= text.size(); ++end) {
    std::optional<size_t> best;
    for (size_t i = 0; i < stops.size(); ++i) {
      if (text.substr(0, end).ends_with(stops[i]) && (!best || stops[i].size() > stops[*best].size())) best = i;
    }
    if (best) return {text.substr(0, include ? end : end - stops[*best].size()), best};
  }
  return {text, std::nullopt};
}

TEST(StopMatcher, HoldsBackOnlyWhatMayBecomeAStop) {
  auto matcher = std::move(*StopMatcher::create({"\n\nUser:", "END"}, false));
  EXPECT_EQ(matcher.feed("hello\n").text, "hello");
  EXPECT_EQ(matcher.feed("world\n\n").text, "\nworld");
  EXPECT_EQ(matcher.feed("Use").text, "");
  EXPECT_EQ(matcher.feed("d").text, "\n\nUsed");
  EXPECT_EQ(matcher.feed("E").text, "");
  const auto last = matcher.feed("ND and more");
  EXPECT_EQ(last.text, "");
  EXPECT_EQ(last.stop, 1U);
  EXPECT_EQ(matcher.feed("never").text, "");
}

TEST(StopMatcher, MayIncludeTheStop) {
  EXPECT_EQ(run({"END"}, true, {"the E", "N", "D."}), (Outcome{"the END", 0}));
  EXPECT_EQ(run({"END"}, false, {"the E", "N", "D."}), (Outcome{"the ", 0}));
  EXPECT_EQ(run({"END"}, false, {"the E", "N"}), (Outcome{"the EN", std::nullopt}));
  EXPECT_EQ(run({}, false, {"a", "b"}), (Outcome{"ab", std::nullopt}));
}

TEST(StopMatcher, FirstToEndThenLongest) {
  EXPECT_EQ(run({"b", "ab"}, false, {"xab"}), (Outcome{"x", 1}));
  EXPECT_EQ(run({"abcd", "bc"}, false, {"xabcd"}), (Outcome{"xa", 1}));
  EXPECT_EQ(run({"aab"}, false, {"aaab"}), (Outcome{"a", 0}));
  EXPECT_EQ(run({"aabaaac"}, false, {"aabaaabaaac"}), (Outcome{"aaba", 0})) << "a match within a match";
}

TEST(StopMatcher, NoStopReachesOverAFlush) {
  auto matcher = std::move(*StopMatcher::create({"END"}, false));
  EXPECT_EQ(matcher.feed("the EN").text, "the ");
  EXPECT_EQ(matcher.flush(), "EN");
  const auto more = matcher.feed("D, and END");
  EXPECT_EQ(more.text, "D, and ");
  EXPECT_EQ(more.stop, 0U);
  EXPECT_EQ(matcher.flush(), "");
  EXPECT_EQ(matcher.feed("END").stop, 0U) << "it begins anew";
  auto several = std::move(*StopMatcher::create({"END", "STOP"}, false));
  EXPECT_EQ(several.feed("a ST").text, "a ");
  EXPECT_EQ(several.flush(), "ST");
  EXPECT_EQ(several.feed("OP").text, "OP") << "nor over one of several";
}

TEST(StopMatcher, RefusesSenselessStops) {
  EXPECT_EQ(StopMatcher::create({""}, false).status().code(), StatusCode::invalid_argument);
  EXPECT_TRUE(StopMatcher::create(std::vector<std::string>(64, std::string(4096, 'x')), false).ok());
  EXPECT_THAT(StopMatcher::create({std::string(4097, 'x')}, false).status().message(), HasSubstr("4097 bytes"));
  EXPECT_THAT(StopMatcher::create(std::vector<std::string>(65, "x"), false).status().message(), HasSubstr("65"));
}

RC_GTEST_PROP(StopMatcher, CutsDoNotMatter, ()) {
  const auto letters = rc::gen::container<std::string>(rc::gen::elementOf(std::string("aab")));
  const std::string text = *letters;
  const auto stops = *rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty(letters));
  if (stops.size() > StopMatcher::kStopsMax) return;
  const bool include = *rc::gen::arbitrary<bool>();
  const auto lengths = *rc::gen::arbitrary<std::vector<size_t>>();
  RC_ASSERT(run(stops, include, test::cut(text, lengths)) == naive(stops, include, text));
}

RC_GTEST_PROP(StopMatcher, NeverCutsACodePoint, ()) {
  const std::string text = *test::any_text();
  const std::string stop =
      "\u00e9\u4f60"
      "a";
  auto matcher = std::move(*StopMatcher::create({stop}, false));
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    next_code_point(text, at);
    RC_ASSERT(find_invalid_utf8(matcher.feed(text.substr(begin, at - begin)).text) == std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::text
