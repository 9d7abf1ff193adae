#include "text/nfc.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <utf8proc.h>

#include <string>

#include "generators.h"

namespace tessera::text {
namespace {

std::string nfc(std::string_view text) {
  std::string buffer;
  return std::string(to_nfc(text, buffer));
}

TEST(Nfc, TextInFormCIsNotCopied) {
  for (const std::string_view text :
       {"", "plain text", "caf\u00e9 \u4f60\u597d \ud55c\uad6d\uc5b4", "\u0e17\u0e35\u0e48",
        "x\u0316\u030dx" /* marks in order */, "x\u0316\u0316\u030d\u030d", "x\u030dy\u0316",
        "\u4f60\u030d\u4f60\u0316", "\u0301" /* a mark alone is Maybe */}) {
    std::string buffer;
    EXPECT_EQ(to_nfc(text, buffer), text);
    if (text != "\u0301") {
      EXPECT_EQ(to_nfc(text, buffer).data(), text.data()) << text;
    }
  }
}

/// A mark behind a part of a text is none of it.
TEST(Nfc, PartsOfATextEndWhereTheyEnd) {
  const std::string_view text = "e\u0301\u0301";
  EXPECT_EQ(nfc(text.substr(0, 1)), "e");
  EXPECT_EQ(nfc(text.substr(0, 3)), "\u00e9");
  EXPECT_EQ(nfc(std::string_view("\u4f60\u0301").substr(0, 3)), "\u4f60");
}

TEST(Nfc, ComposesAndOrders) {
  EXPECT_EQ(nfc("e\u0301"), "\u00e9");
  EXPECT_EQ(nfc("xe\u0301y e\u0301"), "x\u00e9y \u00e9");
  EXPECT_EQ(nfc("a\u0302\u0323"), "\u1ead") << "marks are ordered before they compose";
  EXPECT_EQ(nfc("q\u0301\u0323"), "q\u0323\u0301");
  EXPECT_EQ(nfc("\u1112\u1161\u11ab"), "\ud55c");
  EXPECT_EQ(nfc("\uac00\u11a8"), "\uac01");
  EXPECT_EQ(nfc("\u212b\u2126"), "\u00c5\u03a9") << "singletons";
  EXPECT_EQ(nfc("\u0958"), "\u0915\u093c") << "a composition exclusion";
  EXPECT_EQ(nfc("\u00e9\u0327"), "\u0229\u0301");
}

TEST(Nfc, MarksNewerThanUnicode10StayWhereTheyAre) {
  EXPECT_EQ(nfc("x\u1df6\u0316"), "x\u1df6\u0316") << "U+1DF6 is of Unicode 10";
  EXPECT_EQ(nfc("x\u08d3\u0334"), "x\u08d3\u0334") << "U+08D3 is of Unicode 11";
  EXPECT_EQ(nfc("\u08d3\u0301\u0316"), "\u08d3\u0316\u0301") << "but what follows is ordered";
  EXPECT_EQ(nfc("\u08d3\u0301\u0334"), "\u08d3\u0334\u0301") << "and stays behind it";
  EXPECT_EQ(nfc("\U00011935\U00011930"), "\U00011935\U00011930") << "a composition of Unicode 13";
  EXPECT_EQ(nfc("\U00011935\U00011930\u0301"), "\U00011935\U00011930\u0301") << "nor with a mark behind it";
}

/// No code point that utf8proc and Unicode 10 disagree about.
bool is_old(uint32_t c) {
  if (utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class == 0) return c < 0x11930 || c > 0x11938;
  std::string text = "x\u0345", buffer;  // the highest class: every other mark goes before it
  append_code_point(c, text);
  return c == 0x345 || to_nfc(text, buffer) != text;
}

RC_GTEST_PROP(Nfc, AgreesWithUtf8procOnWhatUnicode10Knows, ()) {
  const std::string text = *test::any_text();
  for (size_t at = 0; at < text.size();) {
    if (!is_old(next_code_point(text, at))) return;
  }
  utf8proc_uint8_t* expected = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &expected, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  RC_ASSERT(length >= 0);
  const std::string wanted(reinterpret_cast<const char*>(expected), static_cast<size_t>(length));
  std::free(expected);
  RC_ASSERT(nfc(text) == wanted);
}

RC_GTEST_PROP(Nfc, IsIdempotent, ()) {
  const std::string once = nfc(*test::any_text());
  RC_ASSERT(nfc(once) == once);
}

// An insertion sort, as utf8proc's is, would take an hour.
TEST(Nfc, AMillionMarksOnOneLetterAreOrdered) {
  constexpr int kMarks = 1'000'000;
  std::string text = "a", sorted = "a";
  for (int i = 0; i < kMarks; ++i) text += i < kMarks / 2 ? "\u0345" : "\u0334";
  for (int i = 0; i < kMarks; ++i) sorted += i < kMarks / 2 ? "\u0334" : "\u0345";
  EXPECT_EQ(nfc(text), sorted);
}

}  // namespace
}  // namespace tessera::text
