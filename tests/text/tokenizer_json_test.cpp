#include "text/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tokenizer_files.h"

namespace tessera::text {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

const ordered_json kFixture = test::small_tokenizer({{"a", "b"}, {"ab", "c"}}, {"<s>", "</s>"});

Status parse_status(const ordered_json& document) { return Tokenizer::parse(document.dump(), "t.json").status(); }

TEST(TokenizerJson, ReadsTheSmallTokenizer) {
  const auto spec = parse_tokenizer_json(kFixture.dump(), "t.json");
  ASSERT_TRUE(spec.ok()) << spec.status().message();
  EXPECT_EQ(spec->vocab.size(), 258U);
  EXPECT_EQ(spec->merges.size(), 2U);
  EXPECT_EQ(spec->merges[1].left, 256);
  EXPECT_EQ(spec->merges[1].merged, 257);
  ASSERT_EQ(spec->added.size(), 2U);
  EXPECT_EQ(spec->added[1].id, 259);
  EXPECT_FALSE(spec->added[1].normalized) << "special tokens are not normalized unless they say so";
  EXPECT_FALSE(spec->nfc);
}

struct Change {
  const char* name;
  std::function<void(ordered_json&)> apply;
  StatusCode code;
  const char* message;
};

class TokenizerJsonRefuses : public ::testing::TestWithParam<Change> {};

TEST_P(TokenizerJsonRefuses, WithAClearMessage) {
  ordered_json document = kFixture;
  GetParam().apply(document);
  const Status status = parse_status(document);
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
  EXPECT_THAT(status.message(), HasSubstr("t.json"));
}

constexpr auto kCorrupt = StatusCode::corrupt_data;
constexpr auto kUnsupported = StatusCode::unsupported;
using J = ordered_json&;

INSTANTIATE_TEST_SUITE_P(
    All, TokenizerJsonRefuses,
    ::testing::Values(
        Change{"NoModel", [](J d) { d.erase("model"); }, kCorrupt, "no \"model\""},
        Change{"ModelIsAList", [](J d) { d["model"] = {1}; }, kCorrupt, "no \"model\""},
        Change{"OtherModel", [](J d) { d["model"]["type"] = "Unigram"; }, kUnsupported, "the model \"Unigram\""},
        Change{"ModelTypeIsANumber", [](J d) { d["model"]["type"] = 3; }, kCorrupt, "model.type"},
        Change{"OtherVersion", [](J d) { d["version"] = "2.0"; }, kUnsupported, "version"},
        Change{"ByteFallback", [](J d) { d["model"]["byte_fallback"] = true; }, kUnsupported, "byte_fallback = true"},
        Change{"Dropout", [](J d) { d["model"]["dropout"] = 0.1; }, kUnsupported, "dropout = 0.1"},
        Change{"DropoutIsAString", [](J d) { d["model"]["dropout"] = "x"; }, kCorrupt, "dropout"},
        Change{"Prefix", [](J d) { d["model"]["continuing_subword_prefix"] = "##"; }, kUnsupported, "subword_prefix"},
        Change{"Suffix", [](J d) { d["model"]["end_of_word_suffix"] = "</w>"; }, kUnsupported, "word_suffix"},
        Change{"FlagIsANumber", [](J d) { d["model"]["ignore_merges"] = 1; }, kCorrupt, "model.ignore_merges"},
        Change{"NoVocab", [](J d) { d["model"].erase("vocab"); }, kCorrupt, "model.vocab"},
        Change{"VocabIsAList", [](J d) { d["model"]["vocab"] = {"a"}; }, kCorrupt, "model.vocab"},
        Change{"EmptyVocab",
               [](J d) {
                 d["model"]["vocab"] = ordered_json::object();
                 d["model"]["merges"] = ordered_json::array();
               },
               kCorrupt, "model.vocab is empty"},
        Change{"EmptyToken", [](J d) { d["model"]["vocab"][""] = 999; }, kCorrupt, "empty token"},
        Change{"DuplicateId", [](J d) { d["model"]["vocab"]["zz"] = 97; }, kCorrupt, "same id 97"},
        Change{"NegativeId", [](J d) { d["model"]["vocab"]["zz"] = -1; }, kCorrupt, "has the id -1"},
        Change{"HugeId", [](J d) { d["model"]["vocab"]["zz"] = 1LL << 40; }, kCorrupt, "has the id 1099511627776"},
        Change{"IdAboveTheLimit", [](J d) { d["model"]["vocab"]["zz"] = kVocabSizeMax; }, kCorrupt, "expected 0 to"},
        Change{"IdIsAString", [](J d) { d["model"]["vocab"]["zz"] = "7"; }, kCorrupt, "not an integer"},
        Change{"IdIsAFraction", [](J d) { d["model"]["vocab"]["zz"] = 300.5; }, kCorrupt, "not an integer"},
        Change{"NoMerges", [](J d) { d["model"].erase("merges"); }, kCorrupt, "model.merges"},
        Change{"MergesIsAnObject", [](J d) { d["model"]["merges"] = ordered_json::object(); }, kCorrupt, "merges"},
        Change{"MergeIsANumber", [](J d) { d["model"]["merges"][1] = 5; }, kCorrupt, "model.merges[1]"},
        Change{"MergeOfOne", [](J d) { d["model"]["merges"][1] = {"a"}; }, kCorrupt, "model.merges[1]"},
        Change{"MergeOfThree", [](J d) { d["model"]["merges"][1] = "a b c"; }, kCorrupt, "model.merges[1] is neither"},
        Change{"MergeOfTwoSpaces", [](J d) { d["model"]["merges"][1] = "a  b"; }, kCorrupt, "[1] is neither"},
        Change{"MergeOfThreeInAList", [](J d) { d["model"]["merges"][1] = {"a", "b", "c"}; }, kCorrupt, "[1] is neither"},
        Change{"MergeWithoutSpace", [](J d) { d["model"]["merges"][1] = "ab"; }, kCorrupt, "model.merges[1]"},
        Change{"MergeOfUnknown", [](J d) { d["model"]["merges"][1] = {"a", "\u20ac"}; }, kCorrupt, "\\xE2\\x82\\xAC"},
        Change{"MergeIntoUnknown", [](J d) { d["model"]["merges"][1] = {"a", "z"}; }, kCorrupt, "names \"az\""},
        Change{"OtherNormalizer", [](J d) { d["normalizer"] = {{"type", "NFKC"}}; }, kUnsupported, "\"NFKC\""},
        Change{"NormalizerInASequence",
               [](J d) {
                 d["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}};
               },
               kUnsupported, "\"Lowercase\""},
        Change{"NormalizerWithoutType", [](J d) { d["normalizer"] = ordered_json::object(); }, kCorrupt, "normalizer"},
        Change{"SequenceWithoutList", [](J d) { d["normalizer"] = {{"type", "Sequence"}}; }, kCorrupt, "normalizer"},
        Change{"NoPreTokenizer", [](J d) { d["pre_tokenizer"] = nullptr; }, kUnsupported, "ByteLevel"},
        Change{"OtherPreTokenizer", [](J d) { d["pre_tokenizer"]["type"] = "Metaspace"; }, kUnsupported, "Metaspace"},
        Change{"PrefixSpace", [](J d) { d["pre_tokenizer"]["add_prefix_space"] = true; }, kUnsupported, "prefix_space"},
        Change{"SplitRemoves",
               [](J d) {
                 d["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "a"}}}, {"behavior", "Removed"}};
               },
               kUnsupported, "\"Removed\""},
        Change{"SplitInverts",
               [](J d) {
                 d["pre_tokenizer"] = {
                     {"type", "Split"}, {"pattern", {{"Regex", "a"}}}, {"behavior", "Isolated"}, {"invert", true}};
               },
               kUnsupported, "invert"},
        Change{"SplitByString",
               [](J d) {
                 d["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"String", "a"}}}, {"behavior", "Isolated"}};
               },
               kUnsupported, "Regex"},
        Change{"SplitByUnusualExpression",
               [](J d) {
                 d["pre_tokenizer"] = {
                     {"type", "Sequence"},
                     {"pretokenizers",
                      {{{"type", "Split"}, {"pattern", {{"Regex", R"(\w+)"}}}, {"behavior", "Isolated"}},
                       {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
               },
               kUnsupported, "\\w"},
        Change{"PostProcessorAddsTokens",
               [](J d) { d["post_processor"] = {{"type", "TemplateProcessing"}}; }, kUnsupported,
               "post_processor \"TemplateProcessing\""},
        Change{"OtherDecoder", [](J d) { d["decoder"] = {{"type", "WordPiece"}}; }, kUnsupported, "decoder"},
        Change{"UnknownTokenMatters",
               [](J d) {
                 d["model"]["unk_token"] = "!";
                 d["model"]["vocab"].erase("x");
               },
               kUnsupported, "unk_token"},
        Change{"UnknownTokenMattersBesideATokenThatIsOnlyDecoded",
               [](J d) {
                 d["model"]["unk_token"] = "!";
                 d["model"]["vocab"].erase("x");
                 d["model"]["vocab"][" "] = 300;
               },
               kUnsupported, "only 255 of 256"},
        Change{"StepBehindByteLevel",
               [](J d) {
                 d["pre_tokenizer"] = {{"type", "Sequence"},
                                       {"pretokenizers", {d["pre_tokenizer"], d["pre_tokenizer"]}}};
               },
               kUnsupported, "comes after ByteLevel"},
        Change{"AddedTokensIsAnObject", [](J d) { d["added_tokens"] = ordered_json::object(); }, kCorrupt, "not a list"},
        Change{"AddedTokenWithoutId", [](J d) { d["added_tokens"][0].erase("id"); }, kCorrupt, "integer \"id\""},
        Change{"AddedTokenEmpty", [](J d) { d["added_tokens"][0]["content"] = ""; }, kCorrupt, "0 bytes"},
        Change{"AddedTokenTooLong",
               [](J d) { d["added_tokens"][0]["content"] = std::string(1025, 'x'); }, kCorrupt, "1025 bytes"},
        Change{"AddedTokenTwice", [](J d) { d["added_tokens"][1]["content"] = "<s>"; }, kCorrupt, "\"<s>\" twice"},
        Change{"AddedTokenTakesAnId", [](J d) { d["added_tokens"][1]["id"] = 97; }, kCorrupt, "same id 97"},
        Change{"AddedTokenMovesAToken", [](J d) { d["added_tokens"][1]["content"] = "ab"; }, kCorrupt, "\"ab\""},
        Change{"AddedTokenHugeId", [](J d) { d["added_tokens"][1]["id"] = 1U << 31; }, kCorrupt, "2147483648"},
        Change{"SingleWord", [](J d) { d["added_tokens"][1]["single_word"] = true; }, kUnsupported, "single_word"}),
    [](const auto& change) { return change.param.name; });

/// What is not said is as the reference library takes it.
TEST(TokenizerJson, WhatIsNotSaid) {
  const auto spec_of = [](const ordered_json& document) {
    auto spec = parse_tokenizer_json(document.dump(), "t.json");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return *std::move(spec);
  };
  ordered_json document = kFixture;
  EXPECT_TRUE(spec_of(document).patterns.empty());
  document["pre_tokenizer"].erase("use_regex");
  EXPECT_EQ(spec_of(document).patterns.size(), 1U) << "GPT-2's";
  EXPECT_THAT(test::encode(test::parse(document), "ab ab"), testing::ElementsAre(256, ' ', 256));
  document["added_tokens"][0].erase("special");
  document["model"]["merges"].insert(document["model"]["merges"].begin(), "#version: 0.2");
  const TokenizerSpec spec = spec_of(document);
  EXPECT_FALSE(spec.added[0].special);
  EXPECT_TRUE(spec.added[0].normalized) << "what is not special is, where text is";
  EXPECT_FALSE(spec.added[0].lstrip || spec.added[0].rstrip || spec.ignore_merges);
  EXPECT_EQ(spec.merges.size(), 2U);
  document["model"]["unk_token"] = "!";  // which matters to nobody where each byte has a token
  document["added_tokens"][0]["content"] = std::string(1024, 'x');
  EXPECT_EQ(spec_of(document).added[0].content.size(), 1024U);
}

TEST(TokenizerJson, SequencesHaveBounds) {
  const auto with = [](const ordered_json& steps) {
    ordered_json document = kFixture;
    document["normalizer"] = steps;
    return parse_status(document);
  };
  const auto sequence = [](const ordered_json& steps) {
    return ordered_json{{"type", "Sequence"}, {"normalizers", steps}};
  };
  ordered_json many = ordered_json::array();
  for (int i = 0; i < 64; ++i) many.push_back({{"type", "NFC"}});
  EXPECT_TRUE(with(sequence(many)).ok());
  many.push_back(many[0]);
  EXPECT_THAT(with(sequence(many)).message(), HasSubstr("more than 64 steps"));
  ordered_json deep = {{"type", "NFC"}};
  for (int i = 0; i < 4; ++i) deep = sequence(ordered_json::array({deep}));
  EXPECT_TRUE(with(deep).ok());
  EXPECT_THAT(with(sequence(ordered_json::array({deep}))).message(), HasSubstr("nested too deeply"));
}

TEST(TokenizerJson, EveryTruncationIsAnError) {
  const std::string text = kFixture.dump();
  for (size_t length = 0; length < text.size(); length += 1 + length / 50) {
    const Status status = Tokenizer::parse(std::string_view(text).substr(0, length), "t.json").status();
    ASSERT_EQ(status.code(), StatusCode::corrupt_data) << length;
    ASSERT_FALSE(status.message().empty());
  }
}

TEST(TokenizerJson, RefusesWhatIsNoJsonObject) {
  for (const std::string text : {"", "[]", "3", "null", "{\"a\":", "\xFF\xFE"}) {
    EXPECT_EQ(Tokenizer::parse(text, "t.json").status().code(), StatusCode::corrupt_data) << text;
  }
  EXPECT_THAT(Tokenizer::parse("version https://git-lfs.github.com/spec/v1\n", "t.json").status().message(),
              HasSubstr("git lfs pull"));
  EXPECT_EQ(Tokenizer::parse(std::string("{\0}", 3), "t.json").status().code(), StatusCode::corrupt_data);
}

TEST(TokenizerJson, NulIsAByteLikeAnyOther) {
  ordered_json document = kFixture;
  document["added_tokens"][0]["content"] = std::string("<\0>", 3);
  const Tokenizer tokenizer = test::parse(document);
  EXPECT_EQ(test::encode(tokenizer, std::string_view("a<\0>\0", 5)), (std::vector<int32_t>{'a', 258, 0}));
}

TEST(TokenizerJson, AVocabularyEntryTwiceIsAnError) {
  std::string text = kFixture.dump();
  const std::string entry = "\"ab\":256,";
  text.insert(text.find(entry), "\"ab\":900,");
  EXPECT_THAT(Tokenizer::parse(text, "t.json").status().message(), HasSubstr("has the ids 900 and 256"));
  text = kFixture.dump();
  const std::string first = '"' + test::spelling(std::string(1, '\0')) + "\":";
  const size_t at = text.find(first);
  ASSERT_NE(at, std::string::npos);
  text.insert(at, first + "0,");
  EXPECT_THAT(Tokenizer::parse(text, "t.json").status().message(), HasSubstr("has the ids 0 and 0"));
}

TEST(TokenizerJson, DeepNestingIsAnError) {
  ordered_json steps = {{"type", "NFC"}};
  for (int i = 0; i < 10; ++i) steps = {{"type", "Sequence"}, {"normalizers", ordered_json::array({steps})}};
  ordered_json document = kFixture;
  document["normalizer"] = steps;
  EXPECT_THAT(parse_status(document).message(), HasSubstr("nested too deeply"));
  EXPECT_EQ(Tokenizer::parse("{\"model\":" + std::string(100'000, '['), "t").status().code(), StatusCode::corrupt_data);
}

TEST(TokenizerJson, MissingFileIsNotFound) {
  const test::TempDirectory folder;
  const Status status = Tokenizer::load(folder.path() / "tokenizer.json").status();
  EXPECT_EQ(status.code(), StatusCode::not_found);
  EXPECT_THAT(status.message(), HasSubstr("tokenizer.json"));
  EXPECT_FALSE(Tokenizer::load(folder.path()).ok()) << "a folder";
}

}  // namespace
}  // namespace tessera::text
