#include "text/utf8.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "text/byte_alphabet.h"
#include "text/json_depth.h"
#include "text/quote.h"

namespace tessera::text {
namespace {

TEST(Utf8, EveryCodePointSurvivesEncodingAndDecoding) {
  for (uint32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_code_point(c, text);
    ASSERT_EQ(find_invalid_utf8(text), std::string::npos) << std::hex << c;
    size_t at = 0;
    ASSERT_EQ(next_code_point(text, at), c);
    ASSERT_EQ(at, text.size());
    const Utf8Step step = utf8_step(text, 0);
    ASSERT_EQ(step.length, text.size());
    ASSERT_EQ(step.kind, Utf8Kind::complete);
  }
}

TEST(ByteAlphabet, ItsCharactersAloneSpellBytes) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string character;
    append_code_point(byte_character(static_cast<uint8_t>(byte)), character);
    EXPECT_EQ(spelled_bytes(character), std::string(1, static_cast<char>(byte))) << byte;
  }
  for (const std::string_view other : {" ", "\u00ad", "\u0144", "\u4f60", "\U0010ffff", "\xc4"}) {
    EXPECT_EQ(spelled_bytes(other), std::nullopt) << other;
  }
}

TEST(Utf8, FindsTheFirstIllFormedByte) {
  EXPECT_EQ(find_invalid_utf8(""), std::string::npos);
  EXPECT_EQ(find_invalid_utf8("ab\xFF"), 2U);
  EXPECT_EQ(find_invalid_utf8("\xC3\xA9\xC3"), 2U);
  EXPECT_EQ(find_invalid_utf8("x\xED\xA0\x80"), 1U) << "a surrogate";
  EXPECT_EQ(find_invalid_utf8("\xC0\x80"), 0U) << "an overlong NUL";
  EXPECT_EQ(find_invalid_utf8("x\xF0\x8F\xBF\xBF"), 1U) << "an overlong U+FFFF";
  EXPECT_EQ(utf8_step("\xF0\x8F\xBF\xBF", 0).length, 1U);
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0U) << "above U+10FFFF";
  EXPECT_EQ(find_invalid_utf8("x\xF5\x80\x80\x80"), 1U) << "far above";
  EXPECT_EQ(utf8_step("\xF5\x80\x80\x80", 0).kind, Utf8Kind::ill_formed);
}

TEST(Utf8, EachIllFormedSequenceBecomesOneReplacementCharacter) {
  const auto lossy = [](std::string_view bytes) {
    std::string text;
    append_lossy_utf8(bytes, text);
    return text;
  };
  EXPECT_EQ(lossy("plain \xE2\x82\xAC"), "plain \xE2\x82\xAC");
  EXPECT_EQ(lossy(std::string_view("a\xFF\xFF").substr(0, 2)), "a\uFFFD") << "what lies behind a part is none of it";
  // The examples of the Unicode standard for substitution of maximal subparts (section 3.9, tables 3-8 and 3-9).
  const std::string r = "\uFFFD";
  EXPECT_EQ(lossy("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(lossy("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(lossy("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r + r + r + r + "A");
  EXPECT_EQ(lossy("a\xF0\x9F\x98"), "a" + r);
}

TEST(Utf8, TellsUnfinishedFromIllFormed) {
  EXPECT_EQ(utf8_step("\xF0\x9F\x98", 0).kind, Utf8Kind::unfinished);
  EXPECT_EQ(utf8_step("\xF0\x9F\x98", 0).length, 3U);
  EXPECT_EQ(utf8_step("\xF0\x9F\x98x", 0).kind, Utf8Kind::ill_formed);
  EXPECT_EQ(utf8_step("\xED\xA0", 0).kind, Utf8Kind::ill_formed) << "no continuation makes this a code point";
  EXPECT_EQ(utf8_step("\x80", 0).kind, Utf8Kind::ill_formed);
}

TEST(Quote, ShowsWhatIsNoPlainCharacter) {
  EXPECT_EQ(quote(" a~\x7F\x1F\xC3\n"), R"(" a~\x7F\x1F\xC3\x0A")");
  const std::string longest(80, 'x');
  EXPECT_EQ(quote(longest), '"' + longest + '"');
  EXPECT_EQ(quote(longest + "y"), '"' + longest + "\"...");
}

TEST(JsonDepth, CountsListsAndObjects) {
  const auto exceeds = [](const char* text, int depth) {
    return json_depth_exceeds(nlohmann::ordered_json::parse(text), depth);
  };
  EXPECT_FALSE(exceeds("5", 0));
  EXPECT_TRUE(exceeds("[]", 0));
  EXPECT_FALSE(exceeds("[1, 2]", 1));
  EXPECT_TRUE(exceeds(R"([1, {"a": 2}])", 1));
  EXPECT_FALSE(exceeds(R"([1, {"a": 2}])", 2));
}

}  // namespace
}  // namespace tessera::text
