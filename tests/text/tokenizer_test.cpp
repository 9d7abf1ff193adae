#include "text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "generators.h"
#include "text/hash.h"
#include "text/nfc.h"
#include "tokenizer_files.h"

namespace tessera::text {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ids = std::vector<int32_t>;

// Written by tools/make_tokenizer_golden.py with the reference library.
ordered_json golden() {
  std::ifstream file(TESSERA_SOURCE_DIR "/tests/golden/tokenizer/ids.json");
  return ordered_json::parse(file);
}

TEST(Tokenizer, GivesTheIdsOfTheReference) {
  const ordered_json cases = golden();
  ASSERT_GT(cases.size(), 100U);
  for (const auto& entry : cases) {
    const std::string text = entry["text"];
    EXPECT_EQ(test::encode(test::bundled_tokenizer(), text), entry["ids"].get<Ids>()) << text;
    EXPECT_EQ(test::encode(test::bundled_tokenizer(), text, false), entry["ids_special_as_text"].get<Ids>()) << text;
    EXPECT_EQ(test::bundled_tokenizer().decode(entry["ids"].get<Ids>(), false), entry["decoded"]) << text;
    EXPECT_EQ(test::bundled_tokenizer().decode(entry["ids"].get<Ids>(), true), entry["decoded_skip_special"]) << text;
  }
}

TEST(Tokenizer, BundledTokenizerHasTheFormOfQwen) {
  const Tokenizer& tokenizer = test::bundled_tokenizer();
  EXPECT_EQ(tokenizer.vocab_size(), 3072);
  for (const char* special : {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|image_pad|>"}) {
    ASSERT_TRUE(tokenizer.id_of(special)) << special;
    EXPECT_TRUE(tokenizer.is_special(*tokenizer.id_of(special))) << special;
  }
  for (const char* kept : {"<tool_call>", "</tool_call>", "<tool_response>", "<think>", "</think>"}) {
    ASSERT_TRUE(tokenizer.id_of(kept)) << kept;
    EXPECT_FALSE(tokenizer.is_special(*tokenizer.id_of(kept))) << kept;
  }
  EXPECT_EQ(*tokenizer.id_of("</think>") - *tokenizer.id_of("<|endoftext|>"), 248069 - 248044);
}

TEST(Tokenizer, KnowsItsTokens) {
  const Tokenizer tokenizer = test::parse(test::small_tokenizer({{"a", "b"}}, {"<s>"}));
  EXPECT_EQ(tokenizer.vocab_size(), 258);
  EXPECT_EQ(tokenizer.token_bytes(256), "ab");
  EXPECT_EQ(tokenizer.token_bytes(257), "<s>");
  EXPECT_EQ(tokenizer.token_bytes(0), std::string_view("\0", 1));
  EXPECT_EQ(tokenizer.token_bytes(200), "\xC8");
  EXPECT_EQ(tokenizer.token_bytes(258), "");
  EXPECT_EQ(tokenizer.token_bytes(-1), "");
  EXPECT_EQ(tokenizer.id_of("ab"), 256);
  EXPECT_EQ(tokenizer.id_of("ba"), std::nullopt);
  EXPECT_TRUE(tokenizer.is_special(257));
  EXPECT_FALSE(tokenizer.is_special(256));
  EXPECT_FALSE(tokenizer.is_special(-5));
  EXPECT_FALSE(tokenizer.is_special(1 << 30));
}

TEST(Tokenizer, AddedTokensAreTheLongestOfTheLeftmost) {
  const Tokenizer tokenizer = test::parse(test::small_tokenizer({}, {"<a>", "<a>b", "b<"}));
  EXPECT_THAT(test::encode(tokenizer, "<a>bc"), ElementsAre(257, 'c'));
  EXPECT_THAT(test::encode(tokenizer, "xb<a>"), ElementsAre('x', 258, 'a', '>'));
  EXPECT_THAT(test::encode(tokenizer, "<a><a>b<"), ElementsAre(256, 257, '<'));
  EXPECT_THAT(test::encode(tokenizer, "<a>", false), ElementsAre('<', 'a', '>'));
}

TEST(Tokenizer, AddedTokensThatAreNotSpecialAreAlwaysFound) {
  ordered_json document = test::small_tokenizer({}, {"<a>", "<b>"});
  document["added_tokens"][1]["special"] = false;
  const Tokenizer tokenizer = test::parse(document);
  EXPECT_THAT(test::encode(tokenizer, "<a><b>", false), ElementsAre('<', 'a', '>', 257));
  EXPECT_EQ(tokenizer.decode(Ids{256, 257, 'x'}, true), "<b>x");
  EXPECT_EQ(tokenizer.decode(Ids{256, 257, 'x'}, false), "<a><b>x");
}

TEST(Tokenizer, AddedTokensMayTakeWhiteSpace) {
  ordered_json document = test::small_tokenizer({}, {"<a>", " <b>"});
  document["added_tokens"][0]["lstrip"] = document["added_tokens"][0]["rstrip"] = true;
  const Tokenizer tokenizer = test::parse(document);
  EXPECT_THAT(test::encode(tokenizer, "x <a>\u00a0\n y"), ElementsAre('x', 256, 'y'));
  EXPECT_THAT(test::encode(tokenizer, "<a> <b>y"), ElementsAre(256, 257, 'y')) << "as in the reference";
  EXPECT_THAT(test::encode(tokenizer, "<a>\u180e"), ElementsAre(256, 0xE1, 0xA0, 0x8E)) << "no white space";
  const auto part = tokenizer.encode(std::string_view("   <a> y").substr(1, 6));
  ASSERT_TRUE(part.ok());
  EXPECT_THAT(*part, ElementsAre(256)) << "what lies around a part of a text is none of it";
}

/// The Unicode property White_Space, all of it and nothing else, on the side that a token asks for.
TEST(Tokenizer, AddedTokensTakeWhiteSpaceOfUnicode) {
  std::vector<uint32_t> spaces = {0x20, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  for (uint32_t c = 0x09; c <= 0x0D; ++c) spaces.push_back(c);
  for (uint32_t c = 0x2000; c <= 0x200A; ++c) spaces.push_back(c);
  const std::vector<uint32_t> others = {0x08, 0x0E,   0x1C,   0x1F,   0x21,   0x84,
                                        0x86, 0x200B, 0x2027, 0x202A, 0x2060, 0xFEFF};
  const auto spelt = [](uint32_t c) {
    std::string text;
    append_code_point(c, text);
    return text;
  };
  const auto bytes = [](const std::string& text) {
    Ids ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  };
  for (const bool left : {true, false}) {
    ordered_json document = test::small_tokenizer({}, {"<a>"});
    document["added_tokens"][0][left ? "lstrip" : "rstrip"] = true;
    const Tokenizer tokenizer = test::parse(document);
    const auto check = [&](uint32_t c, bool is_space) {
      const std::string space = spelt(c) + spelt(c);
      Ids expected = left && is_space ? Ids() : bytes(space);
      expected.push_back(256);
      const Ids behind = !left && is_space ? Ids() : bytes(space);
      expected.insert(expected.end(), behind.begin(), behind.end());
      EXPECT_EQ(test::encode(tokenizer, space + "<a>" + space), expected) << std::hex << c;
    };
    for (const uint32_t c : spaces) check(c, true);
    for (const uint32_t c : others) check(c, false);
  }
}

TEST(Tokenizer, AddedTokensAreNormalizedWhereTheTextIs) {
  ordered_json document = test::small_tokenizer({}, {"e\u0301", "<s>"});
  document["added_tokens"][0]["normalized"] = true;
  EXPECT_THAT(test::encode(test::parse(document), "e\u0301"), ElementsAre(256)) << "nothing is normalized";
  document["normalizer"] = {{"type", "NFC"}};
  document["added_tokens"][1]["normalized"] = true;
  const Tokenizer both = test::parse(document);
  EXPECT_THAT(test::encode(both, "e\u0301<s>"), ElementsAre(256, 257));
  EXPECT_THAT(test::encode(both, "<s>", false), ElementsAre('<', 's', '>')) << "as text, in both of the matchers";
  document["added_tokens"][0]["normalized"] = false;
  const Tokenizer raw = test::parse(document);
  EXPECT_THAT(test::encode(raw, "e\u0301"), ElementsAre(256));
  EXPECT_THAT(test::encode(raw, "\u00e9"), ElementsAre(0xC3, 0xA9)) << "not as it is spelt";
}

TEST(Tokenizer, SeamsAreTakenOutBeforeTextIsNormalized) {
  ordered_json document = test::small_tokenizer({}, {"<a>", "<b>", "<c>"});
  document["normalizer"] = {{"type", "NFC"}};
  document["added_tokens"][1]["normalized"] = true;
  document["added_tokens"][2]["special"] = false;
  const Tokenizer tokenizer = test::parse(document);
  EXPECT_EQ(*tokenizer.encode_sewn("e|\u0301|x", "|"), (Ids{0xC3, 0xA9, 'x'})) << "what stood at its sides composes";
  EXPECT_EQ(*tokenizer.encode_sewn("e12\u0301", "12"), (Ids{0xC3, 0xA9}));
  std::string text = "<b><a>.<b>";
  EXPECT_TRUE(tokenizer.put_seams(text, "|", {}));
  EXPECT_EQ(text, "<|b><|a>.<|b>");
  text = "<c>";
  EXPECT_FALSE(tokenizer.put_seams(text, "|", {}));
  EXPECT_EQ(text, "<c>") << "which everybody may spell";
  const std::vector<std::string_view> others = {"<c>"};
  EXPECT_TRUE(tokenizer.put_seams(text, "|", others));
  EXPECT_EQ(text, "<|c>");
}

/// The last of several parts does not hide what went wrong before.
TEST(Tokenizer, APartThatCannotBeSplitIsAnError) {
  ordered_json document = test::small_tokenizer({}, {"<s>"});
  document["pre_tokenizer"] = {{"type", "Sequence"},
                               {"pretokenizers",
                                {{{"type", "Split"}, {"pattern", {{"Regex", "(a|aa)+b"}}}, {"behavior", "Isolated"}},
                                 document["pre_tokenizer"]}}};
  const Tokenizer tokenizer = test::parse(document);
  EXPECT_EQ(tokenizer.encode(std::string(60, 'a') + "cb<s>fine").status().code(), StatusCode::resource_exhausted);
}

TEST(Tokenizer, TheFirstIdIsOneLikeAnyOther) {
  ordered_json document = test::small_tokenizer({{"a", "b"}});
  document["model"]["vocab"]["ab"] = 0;
  document["model"]["vocab"][test::spelling(std::string(1, '\0'))] = 256;
  document["model"]["merges"] = ordered_json::array();
  document["model"]["ignore_merges"] = true;
  const Tokenizer tokenizer = test::parse(document);
  EXPECT_THAT(test::encode(tokenizer, "ab"), ElementsAre(0));
  EXPECT_EQ(tokenizer.id_of("ab"), 0);
  EXPECT_EQ(tokenizer.decode(Ids{0}, false), "ab");
}

/// A vocabulary spells bytes in an alphabet of its own; an added token is what it says.
TEST(Tokenizer, AnAddedTokenStandsForItsContent) {
  ordered_json document = test::small_tokenizer();
  document["added_tokens"] = {{{"id", 0xE9}, {"content", "\u00e9"}, {"special", true}}};
  EXPECT_EQ(test::parse(document).token_bytes(0xE9), "\u00e9");
  document = test::small_tokenizer();
  document["model"]["vocab"][" "] = 256;  // no letter of that alphabet: a space is spelt otherwise
  EXPECT_THAT(test::encode(test::parse(document), " "), ElementsAre(' '));
}

TEST(Tokenizer, NormalizedAddedTokensAreFoundInNormalizedText) {
  ordered_json document = test::small_tokenizer({}, {"e\u0301", "<s>x"});
  document["normalizer"] = {{"type", "NFC"}};
  document["added_tokens"][0]["normalized"] = true;
  const Tokenizer tokenizer = test::parse(document);
  EXPECT_THAT(test::encode(tokenizer, "e\u0301"), ElementsAre(256));
  EXPECT_THAT(test::encode(tokenizer, "\u00e9<s>x"), ElementsAre(256, 257));
}

TEST(Tokenizer, IgnoreMergesTakesWholeWords) {
  ordered_json document = test::small_tokenizer({{"a", "b"}, {"b", "c"}, {"ab", "c"}});
  document["model"]["merges"].erase(2);  // "abc" is a token that no merge makes
  EXPECT_THAT(test::encode(test::parse(document), "abc"), ElementsAre(256, 'c'));
  document["model"]["ignore_merges"] = true;
  EXPECT_THAT(test::encode(test::parse(document), "abc"), ElementsAre(258));
}

TEST(Tokenizer, EntriesOutsideOfTheByteAlphabetAreOnlyDecoded) {
  ordered_json document = test::small_tokenizer();
  document["model"]["vocab"]["\u4f60 \u597d"] = 256;
  document["model"]["ignore_merges"] = true;
  const Tokenizer tokenizer = test::parse(document);
  EXPECT_EQ(tokenizer.decode(Ids{256}, false), "\u4f60 \u597d");
  EXPECT_EQ(test::encode(tokenizer, "\u4f60 \u597d").size(), 7U);
}

TEST(Tokenizer, IllFormedTextIsRefused) {
  const auto ids = test::bundled_tokenizer().encode("abc\xE2\x82");
  EXPECT_EQ(ids.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(ids.status().message(), HasSubstr("0xE2 at offset 3"));
}

TEST(Tokenizer, DecodingReplacesBrokenBytesAndSkipsUnknownIds) {
  const Tokenizer tokenizer = test::parse(test::small_tokenizer());
  EXPECT_EQ(tokenizer.decode(Ids{'a', 0xE2, 0x82, 'b', 0xAC}, false), "a\uFFFDb\uFFFD");
  EXPECT_EQ(tokenizer.decode(Ids{'a', -1, 100'000, 'b'}, false), "ab");
  EXPECT_EQ(tokenizer.decode(Ids{}, false), "");
}

RC_GTEST_PROP(Tokenizer, DecodingTakesBackEncoding, ()) {
  const std::string text = *test::any_text();
  std::string buffer;
  const std::string expected(to_nfc(text, buffer));
  RC_ASSERT(test::bundled_tokenizer().decode(test::encode(test::bundled_tokenizer(), text), false) == expected);
}

RC_GTEST_PROP(Tokenizer, LongTextsAreCutOffOrWhole, ()) {
  const std::string text = *test::any_text();
  const auto all = test::encode(test::bundled_tokenizer(), text);
  RC_ASSERT(test::bundled_tokenizer().tokens_min(text.size()) <= all.size());
  const size_t most = *rc::gen::inRange<size_t>(0, all.size() + 2);
  const auto some = test::bundled_tokenizer().encode(text, true, most);
  RC_ASSERT(some.ok());
  RC_ASSERT((all.size() <= most ? *some == all : some->size() > most));
}

TEST(Tokenizer, LongTextsAreNotWorkedThrough) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "word<tool_call> ";
  const auto some = test::bundled_tokenizer().encode(text, true, 1000);
  ASSERT_TRUE(some.ok());
  EXPECT_GT(some->size(), 1000U);
  EXPECT_LT(some->size(), 1100U);
}

TEST(Tokenizer, ATextHasAtLeastSoManyTokens) {
  ordered_json document = test::small_tokenizer({{"a", "b"}}, {"<tool>"});
  EXPECT_EQ(test::parse(document).tokens_min(600), 100U);
  EXPECT_EQ(test::parse(document).tokens_min(601), 101U);
  document["normalizer"] = {{"type", "NFC"}};
  const Tokenizer normalizing = test::parse(document);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\u1FBE\u0308\u0301";  // 7 bytes become 2
  EXPECT_LE(normalizing.tokens_min(text.size()), test::encode(normalizing, text).size());
  EXPECT_GT(normalizing.tokens_min(text.size()), 0U);
  // The longest counts, wherever it stands, and one token of what a text becomes may be most of it.
  EXPECT_EQ(test::parse(test::small_tokenizer({{"a", "b"}, {"ab", "c"}, {"d", "e"}})).tokens_min(600), 200U);
  ordered_json short_ones = test::small_tokenizer({{"\xCE", "\x90"}});
  short_ones["normalizer"] = {{"type", "NFC"}};
  EXPECT_LE(test::parse(short_ones).tokens_min(text.size()), test::encode(test::parse(short_ones), text).size());
  for (const char* strip : {"lstrip", "rstrip"}) {  // a token may stand for any amount of white space
    ordered_json stripping = document;
    stripping["added_tokens"][0][strip] = true;
    EXPECT_EQ(test::parse(stripping).tokens_min(600), 0U);
  }
  document["model"]["vocab"].erase("x");  // of which any number is no token
  EXPECT_EQ(test::parse(document).tokens_min(600), 0U);
}

/// Words without tokens are none of those that are wanted.
TEST(Tokenizer, BytesWithoutATokenDoNotCutATextOff) {
  ordered_json document = test::small_tokenizer();
  document["model"]["vocab"].erase("x");
  document["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"}, {"pattern", {{"Regex", "x"}}}, {"behavior", "Isolated"}}, document["pre_tokenizer"]}}};
  EXPECT_EQ(*test::parse(document).encode("xxxxxxxxab", true, 2), (Ids{'a', 'b'}));
}

// Words that were seen before come from a cache; it must not change anything.
RC_GTEST_PROP(Tokenizer, HistoryDoesNotMatter, ()) {
  const std::string text = *test::any_text();
  const auto first = test::encode(test::bundled_tokenizer(), text);
  for (int i = 0; i < 20; ++i) (void)test::encode(test::bundled_tokenizer(), *test::any_text());
  RC_ASSERT(test::encode(test::bundled_tokenizer(), text) == first);
}

/// Words that fall into one place of the cache, as some of so many do, are told apart by all of their bytes.
TEST(Tokenizer, WordsOfOneBeginningAreToldApart) {
  const Tokenizer tokenizer = test::parse(test::small_tokenizer({{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}}));
  std::map<uint64_t, std::vector<std::string>> places;
  for (char first = '!'; first <= '~'; ++first) {
    for (char second = '!'; second <= '~'; ++second) {
      if (first == 'a') continue;
      const std::string word = std::string(8, 'a') + first + second;
      places[hash_bytes(word) % 16384].push_back(word);
    }
  }
  int together = 0;
  for (const auto& [place, words] : places) {
    for (const std::string& word : words) {
      ASSERT_THAT(test::encode(tokenizer, word), ElementsAre(258, word[8], word[9]));
      together += words.size() > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(together, 100);
}

TEST(Tokenizer, ThreadsMayShareIt) {
  const ordered_json cases = golden();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < cases.size(); ++i) {
        const auto& entry = cases[(i * 7 + static_cast<size_t>(t) * 13) % cases.size()];
        const auto ids = test::bundled_tokenizer().encode(entry["text"].get<std::string>());
        if (!ids.ok() || *ids != entry["ids"].get<Ids>()) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Tokenizer, OneWordOfFourMebibytes) {
  for (const char* unit : {"a", " ", "\u4f60", "\u0301", "!"}) {
    std::string text;
    while (text.size() < size_t{4} << 20) text += unit;
    const auto ids = test::encode(test::bundled_tokenizer(), text);
    EXPECT_TRUE(test::bundled_tokenizer().decode(ids, false) == text) << unit;
  }
}

}  // namespace
}  // namespace tessera::text
