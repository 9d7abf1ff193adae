// Sources that would take hours or gigabytes, or end the process, are refused or followed within limits.

#include <gtest/gtest.h>
#include <malloc.h>

#include <ctime>
#include <random>

#include "guide/grammar.h"
#include "vocabularies.h"

namespace tessera::guide {
namespace {

using Kind = GrammarSource::Kind;

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::vector<std::string> words() {
  std::vector<std::string> result;
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string word(1 + random() % 8, ' ');
    for (char& c : word) c = "abcdefghijklmnopqrstuvwxyz {}[]\":,0123456789"[random() % 45];
    result.push_back(word);
  }
  return result;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<std::pair<std::string, GrammarSource>> hostile() {
  const auto schema = [](std::string text) {
    return GrammarSource{.kind = Kind::json_schema, .text = std::move(text)};
  };
  const auto regex = [](std::string text) { return GrammarSource{.kind = Kind::regex, .text = std::move(text)}; };
  const auto ebnf = [](std::string text) { return GrammarSource{.kind = Kind::grammar, .text = std::move(text)}; };
  std::string many_values = R"({"enum":[)", many_optional = R"({"type":"object","properties":{)",
              chained = R"({"$ref":"#/$defs/a0","$defs":{)", chain = "root ::= a0\n", doubling = "root ::= a0\n";
  for (int i = 0; i < 30'000; ++i) many_values += (i > 0 ? "," : "") + ("\"value " + std::to_string(i * 7919)) + '"';
  for (int i = 0; i < 1000; ++i)
    many_optional += (i > 0 ? "," : "") + ("\"p" + std::to_string(i)) + R"(":{"type":"string"})";
  for (int i = 0; i < 3000; ++i) {
    chained +=
        "\"a" + std::to_string(i) + R"(":{"type":"array","items":{"$ref":"#/$defs/a)" + std::to_string(i + 1) + "\"}},";
  }
  for (int i = 0; i < 30'000; ++i)
    chain += "a" + std::to_string(i) + " ::= \"x\" a" + std::to_string(i + 1) + " | \"y\"\n";
  for (int i = 0; i < 60; ++i) {
    const std::string next = "a" + std::to_string(i + 1);
    doubling += "a" + std::to_string(i) + " ::= " + next + " " + next + "\n";
  }
  return {
      {"deep schema", schema(repeated(R"({"type":"array","items":)", 60) + "{}" + repeated("}", 60))},
      {"too deep schema", schema(repeated(R"({"items":)", 100'000))},
      {"many values", schema(many_values + "]}")},
      {"many optional properties", schema(many_optional + "}}")},
      {"chain of references", schema(chained + R"("a3000":{}}})")},
      {"recursion", schema(R"({"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}}})")},
      {"endless recursion", schema(R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})")},
      {"long strings", schema(R"({"type":"string","minLength":10,"maxLength":1000000})")},
      {"long arrays",
       schema(R"({"type":"array","minItems":100000,"items":{"type":"array","minItems":100000,"items":{}}})")},
      {"catastrophic pattern", schema(R"({"type":"string","pattern":"^(([a-z])+.)+[A-Z]([a-z])+$"})")},
      {"states of an automaton", regex("(a|b)*a(a|b){60}")},
      {"nested stars", regex("((a*)*)*b")},
      {"nested repetitions", regex("((((a{1,100}){1,100}){1,100}){1,100}){1,100}")},
      {"large repetition", regex("[a-z]{1000000}")},
      {"larger repetition", regex("(abc|[x-z]+){999999999}")},
      {"repeated wildcards", regex("(.*.*.*.*.*.*.*.*)*x")},
      {"wide gaps", regex("[\\s\\S]{0,5000}(foo|bar)[\\s\\S]{0,5000}")},
      {"optional then required", regex("(a?){1000}a{1000}")},
      {"alternatives of one another", regex("(a|aa|aaa|b|ba)+c")},
      {"long alternation", regex(repeated("abc|", 10'000) + "d")},
      {"many brackets", regex(repeated("(", 30'000))},
      {"empty loops", regex("(()*)*")},
      {"ambiguous", ebnf("root ::= root root | \"a\" | \"b\" | \"\"\n")},
      {"ambiguous words", ebnf("root ::= a+\na ::= b b | b b b\nb ::= [a-z ]+\n")},
      {"left recursion", ebnf("root ::= root \"a\" | \"b\"\n")},
      {"only itself", ebnf("root ::= root\n")},
      {"chain of rules", ebnf(chain + "a30000 ::= \"z\"\n")},
      {"doubling rules", ebnf(doubling + "a60 ::= \"z\"\n")},
      {"repeated rules", ebnf("root ::= a{1,10000}\na ::= b{1,10000}\nb ::= [a-z]{1,10000}\n")},
      {"lark of itself", ebnf("start: start start | \"a\"\n")},
      {"nothing but bytes", ebnf(std::string(1000, '\x01'))},
      {"many choices", {.kind = Kind::choice, .choices = std::vector<std::string>(4000, std::string(200, 'a'))}},
  };
}

class Hostile : public testing::TestWithParam<std::pair<std::string, GrammarSource>> {};

TEST_P(Hostile, EndsWithinLimits) {
  const Vocabulary vocabulary = bytes_and(words());
  const Limits limits{.compile_seconds_max = 1,
                      .compile_bytes_max = size_t{512} << 20,
                      .match_seconds_start = 0.3,
                      .match_seconds_per_token = 0.001};
  Compiler compiler([&] { return vocabulary; }, limits);
  const double start = processor_seconds();
  const auto grammar = compiler.compile(GetParam().second);
  // The budget is looked at between steps of the library, so that it ends late, but not by orders.
  const double compiled = processor_seconds() - start;
  std::cout << "compiled in " << compiled << " s: " << (grammar ? "ok" : grammar.status().message().substr(0, 200))
            << "\n";
  EXPECT_LT(compiled, 60);
  if (!grammar) return;
  Matcher matcher(*grammar, limits);
  std::mt19937 random(1);
  std::vector<uint32_t> mask((vocabulary.tokens.size() + 31) / 32);
  int tokens = 0;
  Status status;
  for (; tokens < 200 && !matcher.finished(); ++tokens) {
    status = matcher.fill(mask);
    if (!status.ok()) break;
    std::vector<int32_t> ids;
    for (int32_t id = 0; id < static_cast<int32_t>(vocabulary.tokens.size()); ++id) {
      if ((mask[static_cast<size_t>(id) / 32] >> (id % 32) & 1U) != 0) ids.push_back(id);
    }
    status = matcher.accept(ids[random() % ids.size()]);
    if (!status.ok()) break;
  }
  std::cout << tokens << " tokens in " << processor_seconds() - start - compiled << " s " << status.message() << "\n";
  EXPECT_NE(status.code(), StatusCode::internal) << status.message();
  EXPECT_LT(processor_seconds() - start - compiled, 30);
  EXPECT_LT(grammar.status().ok() ? (*grammar)->bytes() : 0, size_t{256} << 20);
}

INSTANTIATE_TEST_SUITE_P(Sources, Hostile, testing::ValuesIn(hostile()), [](const auto& one) {
  std::string name;
  for (const char c : one.param.first) name += c == ' ' ? '_' : c;
  return name;
});

// Each mask takes a millisecond or more, and more the longer the answer is.
const GrammarSource kAmbiguous{.kind = Kind::grammar, .text = "root ::= a+\na ::= b b | b b b\nb ::= [a-z ]+\n"};

/// Masks of one place until one is refused, at most `most`.
Status fill_until_refused(Matcher& matcher, size_t ids, int most) {
  std::vector<uint32_t> mask((ids + 31) / 32);
  for (int i = 0; i < most; ++i) {
    TESSERA_RETURN_IF_ERROR(matcher.fill(mask));
    TESSERA_RETURN_IF_ERROR(matcher.accept('a'));
    TESSERA_RETURN_IF_ERROR(matcher.rollback(1));
  }
  return {};
}

TEST(MatchingTime, IsThatOfTheWholeAnswer) {
  const Vocabulary vocabulary = bytes_and(words());
  Compiler compiler([&] { return vocabulary; });
  const auto grammar = compiler.compile(kAmbiguous);
  ASSERT_TRUE(grammar.ok()) << grammar.status().message();
  Matcher matcher(*grammar, {.match_seconds_start = 0.05, .match_seconds_per_token = 0});
  ASSERT_TRUE(matcher.accept('a').ok());
  const double start = processor_seconds();
  const Status status = fill_until_refused(matcher, vocabulary.tokens.size(), 5000);
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  // Tokens that were taken back are not counted.
  EXPECT_NE(status.message().find("following 1 tokens"), std::string::npos) << status.message();
  EXPECT_GE(processor_seconds() - start, 0.04);
  // The matcher may have stopped anywhere.
  std::vector<uint32_t> mask((vocabulary.tokens.size() + 31) / 32);
  EXPECT_EQ(matcher.fill(mask).code(), StatusCode::internal);
  EXPECT_EQ(matcher.accept('a').code(), StatusCode::internal);
  EXPECT_EQ(matcher.rollback(1).code(), StatusCode::internal);
}

TEST(MatchingTime, GrowsWithTokens) {
  const Vocabulary vocabulary = bytes_and(words());
  Compiler compiler([&] { return vocabulary; });
  const auto grammar = compiler.compile(kAmbiguous);
  ASSERT_TRUE(grammar.ok()) << grammar.status().message();
  const Limits limits{.match_seconds_start = 0, .match_seconds_per_token = 10};
  std::vector<uint32_t> mask((vocabulary.tokens.size() + 31) / 32);
  EXPECT_EQ(Matcher(*grammar, limits).fill(mask).code(), StatusCode::resource_exhausted);
  Matcher matcher(*grammar, limits);
  ASSERT_TRUE(matcher.accept('a').ok());
  EXPECT_TRUE(fill_until_refused(matcher, vocabulary.tokens.size(), 10).ok());
}

TEST(MatchingTime, BoundsTheFirstMaskToo) {
  const Vocabulary vocabulary = bytes_and(words());
  Compiler compiler([&] { return vocabulary; }, {.match_seconds_start = 0});
  const auto grammar = compiler.compile(kAmbiguous);
  ASSERT_FALSE(grammar.ok());
  EXPECT_EQ(grammar.status().code(), StatusCode::resource_exhausted);
  EXPECT_NE(grammar.status().message().find("too ambiguous"), std::string::npos) << grammar.status().message();
}

TEST(CompilingTime, IsGivenAgainToWhatHadTooLittle) {
  const Vocabulary vocabulary = bytes_and(words());
  const GrammarSource source{.kind = Kind::choice, .choices = std::vector<std::string>(4000, std::string(200, 'a'))};
  Compiler compiler([&] { return vocabulary; }, {.compile_seconds_max = 0.2});
  for (int i = 0; i < 2; ++i) {
    const double start = processor_seconds();
    const auto grammar = compiler.compile(source);
    ASSERT_FALSE(grammar.ok());
    EXPECT_EQ(grammar.status().code(), StatusCode::resource_exhausted) << grammar.status().message();
    EXPECT_GE(processor_seconds() - start, 0.15) << i;
  }
}

TEST(CompilingMemory, HasABound) {
  std::string values = R"({"enum":[0)";
  for (int i = 0; i < 30'000; ++i) values += fmt::format(R"(,"value {}")", i * 7919);
  Compiler compiler([] { return bytes_and(words()); }, {.compile_bytes_max = size_t{1} << 20});
  ::malloc_trim(0);  // what tests before this one left would be taken first
  const auto grammar = compiler.compile({.kind = Kind::json_schema, .text = values + "]}"});
  ASSERT_FALSE(grammar.ok());
  EXPECT_EQ(grammar.status().message(), "it is too complex: it takes more than 1 MiB");
}

TEST(CompiledSize, HasABound) {
  const GrammarSource source{.kind = Kind::json_object};
  const auto vocabulary = [] { return bytes_and(words()); };
  Compiler compiler(vocabulary);
  const auto grammar = compiler.compile(source);
  ASSERT_TRUE(grammar.ok()) << grammar.status().message();
  const size_t bytes = (*grammar)->bytes();
  EXPECT_TRUE(Compiler(vocabulary, {.grammar_bytes_max = bytes}).compile(source).ok());
  const auto refused = Compiler(vocabulary, {.grammar_bytes_max = bytes - 1}).compile(source);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(refused.status().message(),
            fmt::format("compiled, it takes {} MiB, expected at most {}", bytes >> 20, (bytes - 1) >> 20));
}

}  // namespace
}  // namespace tessera::guide
