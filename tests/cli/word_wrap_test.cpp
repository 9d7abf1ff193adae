#include "cli/word_wrap.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::cli {
namespace {

/// All of what is shown of `text`, whole and cut into any two pieces.
std::string wrapped(const std::string& text, int columns) {
  WordWrap whole;
  std::string shown = whole.feed(text, columns);
  shown += whole.finish(columns);
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    if (cut < text.size() && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) continue;
    WordWrap pieces;
    std::string joined = pieces.feed(text.substr(0, cut), columns);
    joined += pieces.feed(text.substr(cut), columns);
    joined += pieces.finish(columns);
    EXPECT_EQ(joined, shown) << "cut at " << cut;
  }
  return shown;
}

TEST(WordWrap, TabsReachTheNextStopFromWhereTheyStand) {
  EXPECT_EQ(wrapped("a  \tb", 9), "a  \tb");
  EXPECT_EQ(wrapped("a  \tb", 8), "a\nb");
  EXPECT_EQ(wrapped("a\t\tb", 17), "a\t\tb");
  EXPECT_EQ(wrapped("a\t\tb", 16), "a\nb");
}

TEST(WordWrap, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("one two three four", 9), "one two\nthree\nfour");
  EXPECT_EQ(wrapped("one two three", 13), "one two three");
  EXPECT_EQ(wrapped("one two three", 12), "one two\nthree");
  EXPECT_EQ(wrapped("a\n\n  b   c\n", 6), "a\n\n  b\nc\n");
  EXPECT_EQ(wrapped("one  two  ", 20), "one  two  ");
  EXPECT_EQ(wrapped("", 20), "");
}

TEST(WordWrap, LongWordsAreTheTerminals) {
  EXPECT_EQ(wrapped("a abcdefghijkl b", 5), "a\nabcdefghijkl b");
  EXPECT_EQ(wrapped("https://example.org/x y", 10), "https://example.org/x y");  // its second row has room
}

TEST(WordWrap, ALongWordEndsWithItsLine) {
  EXPECT_EQ(wrapped("abcdefgh\n日本語日本語", 5), "abcdefgh\n日本\n語日\n本語");
}

TEST(WordWrap, CountsColumnsNotBytes) {
  EXPECT_EQ(wrapped("äöü äöü äöü", 7), "äöü äöü\näöü");
  EXPECT_EQ(wrapped("日本語日本語", 5), "日本\n語日\n本語");
  EXPECT_EQ(wrapped("ab\tcd ef", 10), "ab\tcd\nef");
}

TEST(WordWrap, CodeIsLeftAlone) {
  EXPECT_EQ(wrapped("see this\n```c\nint a = 1 + 2 + 3;\n```\nand so on", 8),
            "see this\n```c\nint a = 1 + 2 + 3;\n```\nand so\non");
}

/// Also behind what ended within code, a fence, spaces or a word.
TEST(WordWrap, WhatFollowsTheEndBeginsAfresh) {
  for (const std::string before : {"```\nint", "```", "a", "a  ", "a\t", "abcdefghijkl"}) {
    for (const std::string after : {"\nand so on and on", "and so on and on", "日本語日本語"}) {
      WordWrap wrap;
      wrap.feed(before, 8);
      wrap.finish(8);
      std::string shown = wrap.feed(after, 8);
      shown += wrap.finish(8);
      EXPECT_EQ(shown, wrapped(after, 8)) << before;
    }
  }
}

TEST(WordWrap, ShowsWordsOnceTheyHaveEnded) {
  WordWrap wrap;
  EXPECT_EQ(wrap.feed("Hel", 10), "");
  EXPECT_EQ(wrap.feed("lo wor", 10), "Hello");
  EXPECT_EQ(wrap.feed("ld!", 10), "");
  EXPECT_EQ(wrap.finish(10), "\nworld!");
}

}  // namespace
}  // namespace tessera::cli
