#include "text/pretokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "generators.h"
#include "text/regex_subset.h"

namespace tessera::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

const std::string kQwen =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

Words split(const std::vector<std::string>& patterns, std::string_view text,
            Pretokenizer::Jit jit = Pretokenizer::Jit::when_available) {
  const auto pretokenizer = Pretokenizer::create(patterns, jit);
  EXPECT_TRUE(pretokenizer.ok()) << pretokenizer.status().message();
  Pretokenizer::Scratch scratch;
  std::vector<uint32_t> ends;
  const Status status = pretokenizer->split(text, scratch, ends);
  EXPECT_TRUE(status.ok()) << status.message();
  Words words;
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  EXPECT_EQ(begin, text.size());
  return words;
}

TEST(Pretokenizer, QwenExpression) {
  EXPECT_THAT(split({kQwen}, "Hello world, it's 2026!\n\n  x"),
              ElementsAre("Hello", " world", ",", " it", "'s", " ", "2", "0", "2", "6", "!\n\n", " ", " x"));
  EXPECT_THAT(split({kQwen}, "a\u0301b \u0939\u093f\u0928\u094d\u0926\u0940"),
              ElementsAre("a\u0301b", " \u0939\u093f\u0928\u094d\u0926\u0940"))
      << "marks belong to words";
  EXPECT_THAT(split({kQwen}, "IT'S \t\r\n  end  "), ElementsAre("IT", "'S", " \t\r\n", " ", " end", "  "));
  EXPECT_THAT(split({kQwen}, ""), ElementsAre());
}

TEST(Pretokenizer, NoPatternIsOneWord) { EXPECT_THAT(split({}, "one word here"), ElementsAre("one word here")); }

TEST(Pretokenizer, PatternsApplyInTurn) {
  EXPECT_THAT(split({R"(\p{N}{1,3})", R"([a-z]+)"}, "ab12345cd-e"), ElementsAre("ab", "123", "45", "cd", "-", "e"));
}

/// The last word counts too where no match is.
TEST(Pretokenizer, MoreWordsThanAreWantedAreSeen) {
  const auto pretokenizer = Pretokenizer::create({"a"});
  ASSERT_TRUE(pretokenizer.ok());
  Pretokenizer::Scratch scratch;
  for (const size_t words_max : {1U, 2U, 3U}) {
    std::vector<uint32_t> ends;
    ASSERT_TRUE(pretokenizer->split("aab", scratch, ends, words_max).ok());
    EXPECT_EQ(ends.size() > words_max, words_max < 3) << words_max;
  }
}

TEST(Pretokenizer, NorAreThoseOfLaterPatternsMissed) {
  for (const auto& [patterns, text] : {std::pair<std::vector<std::string>, std::string>{{"-", "a"}, "a-a-aba-b"},
                                       {{"a", "b+", "."}, "xxabbxaab"},
                                       {{"[ab]+"}, "xabxxb"}}) {
    const auto pretokenizer = Pretokenizer::create(patterns);
    ASSERT_TRUE(pretokenizer.ok());
    const size_t all = split(patterns, text).size();
    Pretokenizer::Scratch scratch;
    for (size_t words_max = 0; words_max <= all + 1; ++words_max) {
      std::vector<uint32_t> ends;
      ASSERT_TRUE(pretokenizer->split(text, scratch, ends, words_max).ok());
      EXPECT_EQ(ends.size() > words_max, words_max < all) << text << ", " << words_max;
      EXPECT_TRUE(words_max < all || ends.size() == all);
    }
  }
}

TEST(Pretokenizer, TheDotIsAllButALineFeed) {
  EXPECT_THAT(split({".+"}, "a\rb\u0085\u2028c\nd"), ElementsAre("a\rb\u0085\u2028c", "\n", "d"));
}

/// Beside those that are replaced are others that are not.
TEST(Pretokenizer, NeighboursOfNewerCodePointsAreThemselves) {
  EXPECT_THAT(split({R"(\p{P}+)"}, "a\u0c84a"), ElementsAre("a", "\u0c84", "a"));
  EXPECT_THAT(split({R"(\p{N}+)"}, "a\u0e50a"), ElementsAre("a", "\u0e50", "a"));
  EXPECT_THAT(split({R"(\p{Lu}+)"}, "a\u1c90a"), ElementsAre("a", "\u1c90", "a"));
}

TEST(Pretokenizer, CodePointsNewerThanPcre2AreWhatTheyAreInUnicode16) {
  const std::string old_letter = "\U00020000", new_letter = "\U00031350";  // CJK extensions B and H
  EXPECT_THAT(split({R"(\p{L}+)"}, "1" + new_letter + old_letter + "1"),
              ElementsAre("1", new_letter + old_letter, "1"));
  EXPECT_THAT(split({R"(\p{M}+)"},
                    "x\u0897\U0001E4EC"
                    "x"),
              ElementsAre("x", "\u0897\U0001E4EC", "x"));
  EXPECT_THAT(split({R"(\p{N})"}, "x\U00010D40y"), ElementsAre("x", "\U00010D40", "y"));
  EXPECT_THAT(split({R"(\p{Lu})"}, "\u1C89\u1C8A"), ElementsAre("\u1C89", "\u1C8A"));
}

TEST(Pretokenizer, MongolianVowelSeparatorIsNoSpace) {
  EXPECT_THAT(split({R"(\s+)"}, " \u180e\u00a0"), ElementsAre(" ", "\u180e", "\u00a0"));
}

RC_GTEST_PROP(Pretokenizer, CompiledAndInterpretedAgree, ()) {
  const std::string text = *test::any_text();
  RC_ASSERT(split({kQwen}, text) == split({kQwen}, text, Pretokenizer::Jit::never));
}

TEST(Pretokenizer, LongRunsAreNoProblem) {
  for (const char* unit : {" ", "a", "\u3000", "\u0939", "\u0301", "!", "\n", "1", " \n", "'"}) {
    std::string text;
    while (text.size() < 1'000'000) text += unit;
    for (const auto jit : {Pretokenizer::Jit::when_available, Pretokenizer::Jit::never}) {
      EXPECT_FALSE(split({kQwen}, text, jit).empty());
      EXPECT_FALSE(split({kQwen}, text + "x", jit).empty());
    }
  }
}

/// What a run of blanks takes back is no endless backtracking, however long the text is.
TEST(Pretokenizer, LongRunsMayTakeStepsInProportion) {
  for (const size_t length : {600'000U, 12'000'000U}) {
    const std::string text = std::string(length, ' ') + "x";
    const Words words = split({kQwen}, text, Pretokenizer::Jit::never);
    ASSERT_EQ(words.size(), 2U);
    EXPECT_EQ(words[1], " x");
  }
}

TEST(Pretokenizer, GroupsMayRepeatOften) {
  const std::string text = std::string(50'000, 'a') + "b";
  for (const auto jit : {Pretokenizer::Jit::when_available, Pretokenizer::Jit::never}) {
    EXPECT_THAT(split({"(a|aa)+b"}, text, jit), ElementsAre(text));
  }
}

TEST(Pretokenizer, EndlessBacktrackingIsAnError) {
  const auto pretokenizer = Pretokenizer::create({"(a|aa)+b"});
  ASSERT_TRUE(pretokenizer.ok());
  Pretokenizer::Scratch scratch;
  std::vector<uint32_t> ends;
  const Status status = pretokenizer->split(std::string(60, 'a') + "cb", scratch, ends);
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(status.message(), HasSubstr("gave up at byte 0"));
  const Status later = pretokenizer->split("ab" + std::string(60, 'a') + "cb", scratch, ends);
  EXPECT_THAT(later.message(), HasSubstr("gave up at byte 2"));
  const auto behind_another = Pretokenizer::create({"x", "(a|aa)+b"});
  EXPECT_THAT(behind_another->split("yx" + std::string(60, 'a') + "cb", scratch, ends).message(),
              HasSubstr("gave up at byte 2"));
}

TEST(Pretokenizer, RefusesPatternsThatDoNotCompileOrCanBeEmpty) {
  EXPECT_THAT(Pretokenizer::create({"(a"}).status().message(), HasSubstr("does not compile"));
  EXPECT_THAT(Pretokenizer::create({"a*"}).status().message(), HasSubstr("match nothing"));
  EXPECT_EQ(Pretokenizer::create({"\xFF"}).status().code(), StatusCode::corrupt_data);
  EXPECT_EQ(Pretokenizer::create(std::vector<std::string>(17, "a")).status().code(), StatusCode::unsupported);
  EXPECT_TRUE(Pretokenizer::create(std::vector<std::string>(16, "a")).ok());
  EXPECT_TRUE(Pretokenizer::create({std::string(Pretokenizer::kPatternBytesMax, 'a')}).ok());
  EXPECT_FALSE(Pretokenizer::create({std::string(Pretokenizer::kPatternBytesMax + 1, 'a')}).ok());
}

TEST(RegexSubset, KnownModelsAreInside) {
  for (const std::string& pattern :
       {kQwen, std::string(R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{M}]+(?i:'s|'t)?|\p{N}{1,3})"),
        std::string(R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"), std::string("[一-龥぀-ゟ゠-ヿ]+"),
        std::string(R"(\s\S\d\D\r\n\t\f\P{L}\x{10FFFF}\x{a}[^a\]]{2}b{3,4}(?:c)(?!d))"),
        std::string(R"(\x{1F600}|a{2,}|(?<=x)y(?<!z)|(?>q+)r|.)")}) {
    EXPECT_TRUE(check_regex_subset(pattern).ok()) << check_regex_subset(pattern).message();
  }
}

TEST(RegexSubset, WhatTheLibrariesReadDifferentlyIsRefused) {
  for (const char* pattern :
       {R"(\w+)",    R"(\bx)",  R"(\h)",       R"(\p{Han})", R"(\p{^L})", R"(\pL)", R"(\x41)",
        R"(\u0041)", "^a",      "a$",          "(?m)a",      "(?i)a",     "(?m:a)", "(?<name>a)",
        "(*UTF)a",   "[a[b]]",  "[[:alpha:]]", "[a&&b]",     "[]a]",      "[^]a]",  R"(\x{0010FFFF})",
        R"(\W)",     "a{2,3}+", "a{2,3}?",     "a{,3}",      "a{2}+",     "a{2}?",  "x{",
        R"(\)",      R"(\K)",   R"((a)\1)"}) {
    EXPECT_EQ(check_regex_subset(pattern).code(), StatusCode::unsupported) << pattern;
  }
}

}  // namespace
}  // namespace tessera::text
