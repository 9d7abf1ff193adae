#include "guide/grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "vocabularies.h"

namespace tessera::guide {
namespace {

using Kind = GrammarSource::Kind;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kWords = {"ab",   "aab",  "ba",    "12",   "0.",   "-1",        "e+",  "true",
                                         "tru",  "{\"",  "\": ",  "\",",  "\"}",  "}",         "[[",  "]]",
                                         "],",   "  ",   "\n\n",  "\xc3", "\xa9", "\xc3\xa9x", "\\u", "\\\"",
                                         "null", ", \"", "abc\"", "<a>",  "</a>", "10",        "99",  "@b.com"};

Compiler compiler(Limits limits = {}) {
  return Compiler([] { return bytes_and(kWords); }, limits);
}

std::vector<uint32_t> mask_of(Matcher& matcher, size_t ids) {
  std::vector<uint32_t> mask((ids + 31) / 32, ~0U);
  const Status status = matcher.fill(mask);
  EXPECT_TRUE(status.ok()) << status.message();
  return mask;
}

bool allows(const std::vector<uint32_t>& mask, int32_t id) {
  return (mask[static_cast<size_t>(id) / 32] >> (id % 32) & 1U) != 0;
}

std::vector<int32_t> ids_of(const std::vector<uint32_t>& mask) {
  std::vector<int32_t> ids;
  for (int32_t id = 0; id < static_cast<int32_t>(32 * mask.size()); ++id) {
    if (allows(mask, id)) ids.push_back(id);
  }
  return ids;
}

/// A walk at random, to the stop token or to `tokens_max`.
struct Walk {
  std::string text;
  std::vector<int32_t> tokens;
  bool finished = false;
};
Walk walk(const CompiledGrammar& grammar, uint32_t seed, size_t tokens_max) {
  const Vocabulary vocabulary = bytes_and(kWords);
  Matcher matcher(grammar);
  std::mt19937 random(seed);
  Walk result;
  while (!result.finished && result.tokens.size() < tokens_max) {
    const auto ids = ids_of(mask_of(matcher, vocabulary.tokens.size()));
    const bool may_end = ids.back() == vocabulary.stop_ids[0];
    const int32_t token = may_end && random() % 4 == 0 ? ids.back() : ids[random() % ids.size()];
    EXPECT_TRUE(matcher.accept(token).ok());
    result.tokens.push_back(token);
    result.text += vocabulary.tokens[static_cast<size_t>(token)];
    result.finished = token == vocabulary.stop_ids[0];
    EXPECT_EQ(matcher.finished(), result.finished);
  }
  return result;
}

/// A regex as another library reads it: whether a text matches all of it, or could with more behind it.
class Oracle {
 public:
  explicit Oracle(const std::string& regex) {
    const std::string whole = "\\A(?:" + regex + ")\\z";
    int error = 0;
    size_t offset = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(whole.data()), whole.size(), 0, &error, &offset, nullptr);
    EXPECT_NE(code_, nullptr) << regex;
    match_ = pcre2_match_data_create_from_pattern(code_, nullptr);
  }
  ~Oracle() {
    pcre2_match_data_free(match_);
    pcre2_code_free(code_);
  }
  bool matches(const std::string& text) const { return run(text, 0) >= 0; }
  bool may_match(const std::string& text) const {
    const int result = run(text, PCRE2_PARTIAL_HARD);
    return result >= 0 || result == PCRE2_ERROR_PARTIAL;
  }

 private:
  int run(const std::string& text, uint32_t options) const {
    return pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, options, match_, nullptr);
  }
  pcre2_code* code_ = nullptr;
  pcre2_match_data* match_ = nullptr;
};

TEST(Grammar, MasksOfRegexesAreThoseOfBruteForce) {
  auto grammars = compiler();
  const Vocabulary vocabulary = bytes_and(kWords);
  for (const char* regex : {"a*b", "(ab|a)*c?", "[a-c]{2,5}", "-?(0|[1-9][0-9]*)(\\.[0-9]+)?", "(true|null|tru)+x",
                            "(a|b)*a(a|b){6}", "\\d{1,3}(,\\d{3})*", "[^a]+z", "(?:[ab]{3}|[bc]{4})+",
                            "[a-z]+@[a-z]+\\.(com|org)", "(a?){8}a{8}", "x{0,3}y{2}|1+2"}) {
    const Oracle oracle(regex);
    const auto grammar = grammars.compile({.kind = Kind::regex, .text = regex});
    ASSERT_TRUE(grammar.ok()) << regex << ": " << grammar.status().message();
    for (uint32_t seed = 0; seed < 6; ++seed) {
      Matcher matcher(*grammar);
      std::mt19937 random(seed);
      std::string text;
      for (int step = 0; step < 20; ++step) {
        const auto mask = mask_of(matcher, vocabulary.tokens.size());
        for (int32_t id = 0; id < vocabulary.stop_ids[0]; ++id) {
          const std::string& bytes = vocabulary.tokens[static_cast<size_t>(id)];
          // Outside of ASCII it reads code points, the oracle bytes.
          if (std::ranges::any_of(bytes, [](unsigned char c) { return c >= 0x80; })) continue;
          ASSERT_EQ(allows(mask, id), oracle.may_match(text + bytes)) << regex << " after " << text << ", " << bytes;
        }
        ASSERT_EQ(allows(mask, vocabulary.stop_ids[0]), oracle.matches(text)) << regex << " after " << text;
        std::vector<int32_t> ids = ids_of(mask);
        std::erase_if(ids, [&](int32_t id) {
          return id == vocabulary.stop_ids[0] || (id >= 0x80 && id < 256) ||
                 vocabulary.tokens[static_cast<size_t>(id)][0] < 0;
        });
        if (ids.empty()) break;
        const int32_t token = ids[random() % ids.size()];
        ASSERT_TRUE(matcher.accept(token).ok());
        text += vocabulary.tokens[static_cast<size_t>(token)];
      }
    }
  }
}

/// A token is allowed where its bytes are, one after the other.
TEST(Grammar, MasksOfTokensAreThoseOfTheirBytes) {
  auto grammars = compiler();
  const Vocabulary vocabulary = bytes_and(kWords);
  const GrammarSource sources[] = {
      {.kind = Kind::json_object},
      {.kind = Kind::json_schema,
       .text = R"({"type":"object","properties":{"ab":{"type":"integer"},"c":{"type":["string","null"],"maxLength":4}},
                   "required":["ab"]})"},
      {.kind = Kind::json_schema, .text = R"({"type":"array","items":{"$ref":"#"}})"},
      {.kind = Kind::choice, .choices = {"abc", "ab", "a\"b\\", "\xc3\xa9x", "null"}},
      {.kind = Kind::grammar, .text = "root ::= \"<a>\" body* \"</a>\"\nbody ::= [0-9]+ \",\" | root\n"},
      {.kind = Kind::grammar, .text = "start: \"ab\" (NUMBER \",\")* \"}\"\nNUMBER: /[0-9]{1,2}/\n"},
      {.kind = Kind::structural_tag,
       .text = R"({"structures":[{"begin":"<a>","schema":{"type":"integer"},"end":"</a>"}],"triggers":["<a>"]})"},
  };
  for (const GrammarSource& source : sources) {
    const auto grammar = grammars.compile(source);
    ASSERT_TRUE(grammar.ok()) << source.text << ": " << grammar.status().message();
    for (uint32_t seed = 0; seed < 5; ++seed) {
      const Walk path = walk(*grammar, seed, 30);
      Matcher matcher(*grammar);
      for (const int32_t next : path.tokens) {
        const auto mask = mask_of(matcher, vocabulary.tokens.size());
        for (int32_t id = 256; id < vocabulary.stop_ids[0]; ++id) {
          int64_t accepted = 0;
          bool fits = true;
          for (const unsigned char byte : vocabulary.tokens[static_cast<size_t>(id)]) {
            fits = allows(mask_of(matcher, vocabulary.tokens.size()), byte) && matcher.accept(byte).ok();
            if (!fits) break;
            ++accepted;
          }
          ASSERT_TRUE(matcher.rollback(accepted).ok());
          ASSERT_EQ(allows(mask, id), fits) << source.text << ": " << vocabulary.tokens[static_cast<size_t>(id)];
        }
        ASSERT_TRUE(matcher.accept(next).ok());
      }
    }
  }
}

TEST(Grammar, RollbackGivesTheMasksBack) {
  auto grammars = compiler();
  const size_t ids = bytes_and(kWords).tokens.size();
  const auto grammar = grammars.compile(
      {.kind = Kind::json_schema,
       .text =
           R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"number"}},"b":{"type":"string"}}})"});
  ASSERT_TRUE(grammar.ok()) << grammar.status().message();
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Walk path = walk(*grammar, seed, 40);
    Matcher matcher(*grammar);
    std::vector<std::vector<uint32_t>> masks = {mask_of(matcher, ids)};
    for (const int32_t token : path.tokens) {
      ASSERT_TRUE(matcher.accept(token).ok());
      masks.push_back(mask_of(matcher, ids));
    }
    if (path.finished) {  // a request that ignores the end goes on by stop tokens
      ASSERT_TRUE(matcher.accept(path.tokens.back()).ok());
      ASSERT_EQ(mask_of(matcher, ids), masks.back());
      ASSERT_TRUE(matcher.rollback(1).ok());
    }
    std::mt19937 random(seed);
    for (size_t at = path.tokens.size(); at > 0;) {
      const size_t back = 1 + random() % at;
      ASSERT_TRUE(matcher.rollback(static_cast<int64_t>(back)).ok());
      at -= back;
      ASSERT_EQ(mask_of(matcher, ids), masks[at]);
    }
  }
}

TEST(Grammar, TextsOfJsonAreJson) {
  auto grammars = compiler();
  int finished = 0;
  for (const char* schema :
       {R"({"type":"object","properties":{"s":{"type":"string","minLength":2,"maxLength":9}},"required":["s"]})",
        R"({"type":"object","properties":{"s":{"type":"string","pattern":"[^x]{1,5}"}},"required":["s"]})",
        R"({"type":"array","items":{"type":"string"},"maxItems":3})", R"({"type":"number"})", R"({})",
        R"({"type":"string","pattern":"."})"}) {
    for (const bool any_whitespace : {true, false}) {
      const auto grammar =
          grammars.compile({.kind = Kind::json_schema, .text = schema, .any_whitespace = any_whitespace});
      ASSERT_TRUE(grammar.ok()) << schema << ": " << grammar.status().message();
      for (uint32_t seed = 0; seed < 60; ++seed) {
        const Walk path = walk(*grammar, seed, 150);
        if (!path.finished) continue;
        ++finished;
        EXPECT_TRUE(nlohmann::json::accept(path.text)) << schema << " gave " << path.text;
        if (!any_whitespace) {
          EXPECT_EQ(path.text.find('\n'), std::string::npos) << path.text;
        }
      }
    }
  }
  EXPECT_GT(finished, 300);
}

TEST(Grammar, SaysWhatCannotBeCompiled) {
  auto grammars = compiler();
  const std::pair<GrammarSource, const char*> cases[] = {
      {{.kind = Kind::json_schema, .text = R"({"type":"strin"})"}, "strin"},
      {{.kind = Kind::json_schema, .text = R"({"type":"number","multipleOf":0.5})"}, "multipleOf"},
      {{.kind = Kind::json_schema, .text = R"({"type":"string","minLength":4,"maxLength":2})"}, "minLength"},
      {{.kind = Kind::json_schema, .text = R"({"type":"string","pattern":"^(?=a)b"})"}, "regex: ^(?=a)b"},
      {{.kind = Kind::json_schema, .text = R"({"oneOf":[{"type":"integer"},{"type":"number"}]})"}, "oneOf"},
      {{.kind = Kind::json_schema, .text = R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}})"},
       "nothing satisfies it"},
      {{.kind = Kind::grammar, .text = "root ::= root\n"}, "nothing satisfies it"},
      {{.kind = Kind::regex, .text = "(a"}, ""},
      {{.kind = Kind::regex, .text = "(?=a)b"}, ""},
      {{.kind = Kind::regex, .text = "(a)\\1"}, ""},
      {{.kind = Kind::grammar, .text = "root ::= nothing\n"}, "nothing"},
      {{.kind = Kind::grammar, .text = "start: (\n"}, ""},
      {{.kind = Kind::structural_tag, .text = R"({"type":"structural_tag","format":{"type":"tags"}})"}, ""},
  };
  for (const auto& [source, expected] : cases) {
    const auto grammar = grammars.compile(source);
    ASSERT_FALSE(grammar.ok()) << source.text;
    const std::string message = grammar.status().message();
    EXPECT_THAT(message, HasSubstr(expected)) << source.text;
    EXPECT_THAT(message, Not(HasSubstr(".cc"))) << source.text;
    EXPECT_THAT(message, Not(HasSubstr("heck failed"))) << source.text;
  }
}

TEST(Grammar, KeepsWhatWasUsedLast) {
  auto grammars = compiler({.cache_bytes_max = 200'000});
  const GrammarSource first{.kind = Kind::regex, .text = "[a-z]{1,20}"};
  EXPECT_EQ(grammars.find(first), nullptr);
  const auto grammar = grammars.compile(first);
  ASSERT_TRUE(grammar.ok());
  EXPECT_EQ(grammars.find(first), *grammar);
  EXPECT_EQ(*grammars.compile(first), *grammar);
  EXPECT_EQ(grammars.find({.kind = Kind::grammar, .text = first.text}), nullptr);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(grammars.compile({.kind = Kind::regex, .text = "[a-z]{1,20}" + std::to_string(i)}).ok());
    ASSERT_LE(grammars.cache_bytes(), 200'000U);
  }
  EXPECT_EQ(grammars.find(first), nullptr);
}

TEST(Grammar, KeepsOneThatIsFoundAgain) {
  auto grammars = compiler({.cache_bytes_max = 200'000});
  const GrammarSource first{.kind = Kind::regex, .text = "[a-z]{1,20}"};
  const auto grammar = grammars.compile(first);
  ASSERT_TRUE(grammar.ok());
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(grammars.compile({.kind = Kind::regex, .text = "[a-z]{1,20}" + std::to_string(i)}).ok());
    ASSERT_EQ(grammars.find(first), *grammar) << i;
  }
}

TEST(Grammar, KeepsTheNewestThoughItAloneIsTooLarge) {
  auto grammars = compiler({.cache_bytes_max = 1});
  const GrammarSource source{.kind = Kind::regex, .text = "[a-z]{1,20}"};
  const auto grammar = grammars.compile(source);
  ASSERT_TRUE(grammar.ok());
  EXPECT_EQ(grammars.find(source), *grammar);
  ASSERT_TRUE(grammars.compile({.kind = Kind::regex, .text = "ab"}).ok());
  EXPECT_EQ(grammars.find(source), nullptr);
}

TEST(Grammar, TellsChoicesApartByWhereEachEnds) {
  auto grammars = compiler();
  ASSERT_TRUE(grammars.compile({.kind = Kind::choice, .choices = {"ab", "c"}}).ok());
  EXPECT_EQ(grammars.find({.kind = Kind::choice, .choices = {"a", "bc"}}), nullptr);
  EXPECT_EQ(grammars.find({.kind = Kind::choice, .choices = {"abc"}}), nullptr);
}

TEST(Grammar, ChoicesThatAreNotUtf8AreAnsweredOrRefused) {
  auto grammars = compiler();
  (void)grammars.compile({.kind = Kind::choice, .choices = {"\xff", "a"}});
  EXPECT_TRUE(grammars.compile({.kind = Kind::choice, .choices = {"b", "a"}}).ok());
}

TEST(Grammar, WhatTwoThreadsWantAtOnceIsCompiledOnce) {
  std::atomic<int> wanting = 0;
  Compiler grammars([&] {  // the first of them is here when the other one comes
    while (wanting < 2) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return bytes_and(kWords);
  });
  std::vector<CompiledGrammar> found(2);
  std::vector<std::thread> threads;
  for (CompiledGrammar& grammar : found) {
    threads.emplace_back([&] {
      ++wanting;
      grammar = *grammars.compile({.kind = Kind::regex, .text = "[a-z]{1,20}"});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found[0], found[1]);
  auto one = compiler();
  ASSERT_TRUE(one.compile({.kind = Kind::regex, .text = "[a-z]{1,20}"}).ok());
  EXPECT_EQ(grammars.cache_bytes(), one.cache_bytes());
}

/// Whether an answer may be all of `text`, byte by byte.
bool follows(const CompiledGrammar& grammar, std::string_view text) {
  const Vocabulary vocabulary = bytes_and(kWords);
  Matcher matcher(grammar);
  for (const unsigned char byte : text) {
    if (!allows(mask_of(matcher, vocabulary.tokens.size()), byte) || !matcher.accept(byte).ok()) return false;
  }
  return allows(mask_of(matcher, vocabulary.tokens.size()), vocabulary.stop_ids[0]);
}

TEST(Grammar, LarkIsTranslatedInTagsAndNotInTheirSchemas) {
  auto grammars = compiler();
  const auto grammar = grammars.compile(
      {.kind = Kind::structural_tag, .text = R"({"type":"structural_tag","format":{"type":"sequence","elements":[
                   {"type":"grammar","grammar":"start: \"x\" \"y\""},
                   {"type":"json_schema","json_schema":{"const":{"grammar":"start: \"a\""}}}]}})"});
  ASSERT_TRUE(grammar.ok()) << grammar.status().message();
  EXPECT_TRUE(follows(*grammar, R"(xy{"grammar": "start: \"a\""})") ||
              follows(*grammar, R"(xy{"grammar":"start: \"a\""})"));
}

TEST(Grammar, AnObjectIsAnyObjectAndNothingElse) {
  auto grammars = compiler();
  const auto grammar = grammars.compile({.kind = Kind::json_object});
  ASSERT_TRUE(grammar.ok()) << grammar.status().message();
  EXPECT_TRUE(follows(*grammar, "{}"));
  EXPECT_TRUE(follows(*grammar, R"({"a": [1, null]})"));
  for (const char* other : {"[]", "1", "null", "\"a\""}) EXPECT_FALSE(follows(*grammar, other)) << other;
}

TEST(Grammar, WhiteSpaceHasABound) {
  auto grammars = compiler();
  const auto grammar = grammars.compile({.kind = Kind::json_schema, .text = R"({"type":"array"})"});
  ASSERT_TRUE(grammar.ok()) << grammar.status().message();
  const auto spaced = [](int spaces) { return '[' + std::string(static_cast<size_t>(spaces), ' ') + "1]"; };
  EXPECT_TRUE(follows(*grammar, spaced(0)));
  EXPECT_TRUE(follows(*grammar, spaced(kWhiteSpaceMax)));
  EXPECT_FALSE(follows(*grammar, spaced(kWhiteSpaceMax + 1)));
}

TEST(Grammar, CountsTheSourcesOfThoseThatItKeeps) {
  auto grammars = compiler();
  const std::string text = "[a-z]" + std::string(20'000, 'a');
  const auto grammar = grammars.compile({.kind = Kind::regex, .text = text});
  ASSERT_TRUE(grammar.ok()) << grammar.status().message();
  EXPECT_GE(grammars.cache_bytes(), (*grammar)->bytes() + 2 * text.size()) << "a key is there twice";
}

TEST(Grammar, ErrorsSayWhoseFaultItIs) {
  auto grammars = compiler();
  const auto code_of = [&](const GrammarSource& source) { return grammars.compile(source).status().code(); };
  EXPECT_EQ(code_of({.kind = Kind::regex}), StatusCode::invalid_argument);
  EXPECT_EQ(code_of({.kind = Kind::choice}), StatusCode::invalid_argument);
  EXPECT_EQ(code_of({.kind = Kind::regex, .text = "(a"}), StatusCode::invalid_argument);
  EXPECT_EQ(code_of({.kind = Kind::grammar, .text = "root ::= root\n"}), StatusCode::invalid_argument);
  EXPECT_EQ(code_of({.kind = Kind::json_schema, .text = R"({"type":"number","multipleOf":0.5})"}),
            StatusCode::unsupported);
  EXPECT_EQ(code_of({.kind = Kind::json_schema, .text = R"({"not":{}})"}), StatusCode::unsupported);
  EXPECT_EQ(code_of({.kind = Kind::regex, .text = std::string(65, '(') + std::string(65, ')')}),
            StatusCode::resource_exhausted);
}

TEST(Grammar, ErrorsQuoteAPartOfWhatIsLong) {
  auto grammars = compiler();
  const auto grammar = grammars.compile({.kind = Kind::grammar, .text = "root ::= " + std::string(5000, 'a') + "\n"});
  ASSERT_FALSE(grammar.ok());
  EXPECT_LT(grammar.status().message().size(), 700U) << grammar.status().message();
}

TEST(Grammar, RollbackCountsStopTokensBehindTheEnd) {
  auto grammars = compiler();
  const Vocabulary vocabulary = bytes_and(kWords);
  const auto grammar = grammars.compile({.kind = Kind::regex, .text = "ab"});
  ASSERT_TRUE(grammar.ok());
  Matcher matcher(*grammar);
  std::vector<std::vector<uint32_t>> masks = {mask_of(matcher, vocabulary.tokens.size())};
  const int32_t stop = vocabulary.stop_ids[0];
  for (const int32_t token : {int32_t{'a'}, int32_t{'b'}, stop, stop, stop, stop}) {
    ASSERT_TRUE(matcher.accept(token).ok());
    masks.push_back(mask_of(matcher, vocabulary.tokens.size()));
    if (matcher.finished()) {
      EXPECT_THAT(ids_of(masks.back()), testing::ElementsAre(stop));
    }
  }
  size_t at = 6;
  for (const int64_t back : {1, 1, 2, 1}) {
    ASSERT_TRUE(matcher.rollback(back).ok());
    at -= static_cast<size_t>(back);
    EXPECT_EQ(mask_of(matcher, vocabulary.tokens.size()), masks[at]) << at;
    EXPECT_EQ(matcher.finished(), at >= 3) << at;
  }
}

TEST(Grammar, ThreadsShareOne) {
  auto grammars = compiler();
  std::vector<std::thread> threads;
  std::vector<std::string> texts(4);
  for (size_t i = 0; i < texts.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto grammar = grammars.compile({.kind = Kind::json_schema, .text = R"({"type":"array","items":{}})"});
      for (uint32_t seed = 0; seed < 20; ++seed) texts[i] += walk(*grammar, seed, 60).text;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(texts, testing::Each(texts[0]));
}

}  // namespace
}  // namespace tessera::guide
