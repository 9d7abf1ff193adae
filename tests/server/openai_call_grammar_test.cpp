#include "server/request/call_grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "guide/grammar.h"
#include "server/openai/tool_fields.h"
#include "server/request/tag_free_pattern.h"

namespace tessera::server::openai {
namespace {

using testing::HasSubstr;

guide::Vocabulary vocabulary() {
  guide::Vocabulary made;
  for (int byte = 0; byte < 256; ++byte) made.tokens.emplace_back(1, static_cast<char>(byte));
  made.stop_ids = {256};
  made.tokens.emplace_back();
  return made;
}

ToolFields tools(const std::string& parameters, bool strict, ToolMode mode, const std::string& name = {}) {
  const Json list =
      Json::parse(R"([{"type":"function","function":{"name":"f","strict":)" + std::string(strict ? "true" : "false") +
                  R"(,"parameters":)" + parameters + R"(}},{"type":"function","function":{"name":"g"}}])");
  ToolFields fields;
  EXPECT_FALSE(parse_tools({{"tools", list}}, {}, fields));
  fields.choice = {.mode = mode, .name = name};
  return fields;
}

/// Whether the grammar lets all of `text` be an answer.
bool allows(const CompiledGrammar& grammar, const std::string& text) {
  guide::Matcher matcher(grammar);
  std::vector<uint32_t> mask(9);
  for (const unsigned char byte : text) {
    EXPECT_TRUE(matcher.fill(mask).ok());
    if ((mask[byte / 32] >> (byte % 32) & 1U) == 0) return false;
    EXPECT_TRUE(matcher.accept(byte).ok());
  }
  EXPECT_TRUE(matcher.fill(mask).ok());
  return (mask[8] & 1U) != 0;
}

class CallGrammar : public testing::Test {
 protected:
  CompiledGrammar compile(const ToolFields& fields, bool parallel = true,
                          const std::optional<AnswerFormat>& format = {}) {
    const auto answer = answer_grammar(fields, parallel, format);
    EXPECT_TRUE(answer.ok() && *answer) << answer.status().message();
    auto grammar = compiler_.compile((*answer)->source);
    EXPECT_TRUE(grammar.ok()) << grammar.status().message() << " of " << (*answer)->source.text;
    return *grammar;
  }
  guide::Compiler compiler_{vocabulary};
};

constexpr const char* kParameters =
    R"({"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer","minimum":0,"maximum":9},
        "e":{"enum":["x","y"]},"o":{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]},
        "l":{"type":"array","items":{"$ref":"#/$defs/b"}}},"required":["s","n"],"$defs":{"b":{"type":"boolean"}}})";

std::string call(const std::string& arguments, const std::string& name = "f") {
  return "<tool_call>\n<function=" + name + ">\n" + arguments + "</function>\n</tool_call>";
}

std::string argument(const std::string& name, const std::string& value) {
  return "<parameter=" + name + ">\n" + value + "\n</parameter>\n";
}

TEST_F(CallGrammar, RequiredCallsFollowTheirParameters) {
  const auto grammar = compile(tools(kParameters, false, ToolMode::required));
  const std::string s = argument("s", "any <b>text</b>\n\nof {lines}"), n = argument("n", "7");
  EXPECT_TRUE(allows(grammar, call(s + n)));
  EXPECT_TRUE(allows(grammar, call(argument("s", "") + n)));
  EXPECT_TRUE(allows(grammar, call(s + n) + "\n" + call("", "g")));
  EXPECT_TRUE(
      allows(grammar, call(s + n + argument("e", "y") + argument("o", "abc") + argument("l", "[true, false]"))));
  EXPECT_TRUE(allows(grammar, call(s + n + argument("o", "null"))));
  EXPECT_FALSE(allows(grammar, call(s)));
  EXPECT_FALSE(allows(grammar, call(n + s)));
  EXPECT_FALSE(allows(grammar, call(s + argument("n", "12"))));
  EXPECT_FALSE(allows(grammar, call(s + n + argument("e", "z"))));
  EXPECT_FALSE(allows(grammar, call(s + n + argument("o", "abcd"))));
  EXPECT_FALSE(allows(grammar, call(s + n + argument("l", "[1]"))));
  EXPECT_FALSE(allows(grammar, call(s + n + argument("other", "1"))));
  EXPECT_FALSE(allows(grammar, call(argument("s", "a</parameter>\n<parameter=n>\nb") + n)));
  EXPECT_FALSE(allows(grammar, "Well. " + call(s + n)));
  EXPECT_FALSE(allows(grammar, call("", "h")));
  EXPECT_FALSE(allows(grammar, ""));
}

TEST_F(CallGrammar, NamedAndSingleCalls) {
  const auto named = compile(tools(kParameters, false, ToolMode::named, "g"));
  EXPECT_TRUE(allows(named, call("", "g")));
  EXPECT_FALSE(allows(named, call("", "g") + "\n" + call("", "g")));
  EXPECT_FALSE(allows(named, call(argument("s", "a") + argument("n", "1"))));
  const auto single = compile(tools(kParameters, false, ToolMode::required), /*parallel=*/false);
  EXPECT_TRUE(allows(single, call("", "g")));
  EXPECT_FALSE(allows(single, call("", "g") + "\n" + call("", "g")));
}

TEST_F(CallGrammar, StrictCallsAmongText) {
  const auto grammar = compile(tools(kParameters, true, ToolMode::automatic));
  const std::string right = call(argument("s", "a") + argument("n", "7"));
  for (const std::string text : {"Hello, <b>.\n\n", "", "It is 5 < 6. "}) {
    EXPECT_TRUE(allows(grammar, text)) << text;
    EXPECT_TRUE(allows(grammar, text + right)) << text;
    EXPECT_TRUE(allows(grammar, text + right + "\n" + right)) << text;
    EXPECT_FALSE(allows(grammar, text + call(argument("s", "a")))) << text;
  }
  // Arguments of a tool that is not strict are its own business.
  EXPECT_TRUE(allows(grammar, call(argument("x", "1"), "g")));
  EXPECT_FALSE(allows(grammar, "<function=f>\n</function>"));
}

TEST_F(CallGrammar, ATextEndsAtItsClosingTag) {
  const auto grammar = compile(tools(kParameters, false, ToolMode::required));
  const std::string n = argument("n", "7");
  EXPECT_TRUE(allows(grammar, call(argument("s", "a </parameter> b\n\n") + n)));
  // The end of the call that the model would rather write, and then may not.
  EXPECT_FALSE(allows(grammar, call(argument("s", "a\n</parameter>") + n)));
  EXPECT_FALSE(allows(grammar, call(argument("s", "a\n</parameter>\nb") + n)));
}

TEST_F(CallGrammar, PatternsHoldNoTags) {
  const auto allowed = [&](const std::string& pattern, const std::string& value) {
    const Json schema = {
        {"type", "object"}, {"properties", {{"s", {{"type", "string"}, {"pattern", pattern}}}}}, {"required", {"s"}}};
    return allows(compile(tools(schema.dump(), true, ToolMode::named, "f")), call(argument("s", value)));
  };
  for (const char* pattern :
       {"^.*$", "[^x]*", "[\\s\\S]*", "[ -~\\n]*", "(?<all>\\S|\\s)*", "(\\D|[^\\u003a])*", "[!-\\x7e\\u{a} ]*"}) {
    EXPECT_TRUE(allowed(pattern, "a > b\nc")) << pattern;
    EXPECT_FALSE(allowed(pattern, "a</parameter>\n</function>\n</tool_call>")) << pattern;
    EXPECT_FALSE(allowed(pattern, "a<b")) << pattern;
    EXPECT_FALSE(allowed(pattern, "a\r")) << pattern;
  }
  // Ranges of a class may overlap, contain one another and touch, in any order.
  for (const char* pattern : {"[\\x00-\\x7f\\n]*", "[ -~a-c\\n]*", "[!-a\\n -{|-~]*", "[^\\x80-\\xff\\x90]*"}) {
    EXPECT_TRUE(allowed(pattern, "a > b\n~")) << pattern;
    EXPECT_FALSE(allowed(pattern, "a<b")) << pattern;
    EXPECT_FALSE(allowed(pattern, "ä")) << pattern;
  }
  // A "-" at either end of a class, or behind what is no single character, is itself.
  for (const char* pattern : {"[A-Za-z0-9_.-]+", "[-A-Za-z_.]+", "[\\w.-]+", "[.\\w-]+", "[^/\\s-]+-[^/\\s-]+"}) {
    EXPECT_TRUE(allowed(pattern, "a.b-c_")) << pattern;
    EXPECT_FALSE(allowed(pattern, "a/b-c")) << pattern;
    EXPECT_FALSE(allowed(pattern, "a<b-c")) << pattern;
  }
  EXPECT_TRUE(allowed("[^/-]+", "a > b"));
  EXPECT_FALSE(allowed("[^/-]+", "a-b"));
  EXPECT_FALSE(allowed("[^-/]+", "a-b"));
  EXPECT_TRUE(allowed("^[a-z]{2,3}\\.\\d+$", "ab.12"));
  EXPECT_FALSE(allowed("^[a-z]{2,3}\\.\\d+$", "abx12"));
  EXPECT_TRUE(allowed("[^ä]+", "öü"));
  EXPECT_FALSE(allowed("[^ä]+", "ä"));
}

/// In a class that has to be written anew.
TEST_F(CallGrammar, EscapesInPatternsAreWhatTheyMean) {
  struct Escape {
    const char *escape, *means, *others;
  };
  constexpr Escape kEscapes[] = {{"\\f", "\f", "f"},
                                 {"\\v", "\v", "v"},
                                 {"\\t", "\t", "t"},
                                 {"\\n", "\n", "n"},
                                 {"\\w", "aZ0_", "`@/[{ "},
                                 {"\\d", "09", "/:d"},
                                 {"\\s", "\t\v\f \u00a0", "s\u00a1"},
                                 {"\\W", "`@/ ", "aZ0_"},
                                 {"\\D", "/:d", "09"},
                                 {"\\S", "s\u00a1", "\t\u00a0"},
                                 {"\\-", "-", "\\"}};
  for (const Escape& one : kEscapes) {
    const Json schema = {
        {"type", "object"},
        {"properties", {{"s", {{"type", "string"}, {"pattern", std::string("[<") + one.escape + "]*"}}}}},
        {"required", {"s"}}};
    const auto grammar = compile(tools(schema.dump(), true, ToolMode::named, "f"));
    EXPECT_TRUE(allows(grammar, call(argument("s", one.means)))) << one.escape;
    for (const char* other = one.others; *other != 0;) {
      const size_t bytes = static_cast<unsigned char>(*other) < 0x80 ? 1 : 2;
      EXPECT_FALSE(allows(grammar, call(argument("s", std::string(other, bytes))))) << one.escape << " " << other;
      other += bytes;
    }
  }
}

TEST_F(CallGrammar, PatternsThatAskForTagsAreRefused) {
  for (const char* pattern :
       {"<[a-z/]+>", "\\x3c", "\\u003C", "\\u{3c}b", "[<]", "[<^]", "a\\r", "\\cM", "\\0", "\\a", "\\e", "\\U0041"}) {
    EXPECT_EQ(tag_free_pattern(pattern).status().code(), StatusCode::unsupported) << pattern;
  }
  for (const char* pattern :
       {"[a", "a\\", "\\x3", "\\u{3c", "\\u{}", "\\u{0000041}", "\\u{110000}", "\\uzzzz", "[b-a]", "(?<name", "[\\"}) {
    EXPECT_EQ(tag_free_pattern(pattern).status().code(), StatusCode::invalid_argument) << pattern;
  }
  const auto answer = answer_grammar(
      tools(R"({"type":"object","properties":{"s":{"type":"string","pattern":"<b>"}}})", true, ToolMode::automatic),
      true, {});
  EXPECT_THAT(answer.status().message(), HasSubstr("the pattern asks for \"<\""));
}

TEST_F(CallGrammar, ValuesMayBeEmpty) {
  const auto grammar = compile(tools(R"({"type":"object","properties":{"a":{"enum":["","x"]},"b":{"const":""}},
                                         "required":["a","b"]})",
                                     true, ToolMode::required));
  for (const char* a : {"", "x"}) EXPECT_TRUE(allows(grammar, call(argument("a", a) + argument("b", "")))) << a;
  EXPECT_FALSE(allows(grammar, call(argument("a", "y") + argument("b", ""))));
}

TEST_F(CallGrammar, LengthsOfTexts) {
  const auto grammar = compile(tools(R"({"type":"object","properties":{"a":{"type":["string","null"],"maxLength":3},
                                         "b":{"type":"string","minLength":2}},"required":["a","b"]})",
                                     true, ToolMode::required));
  const std::string a = argument("a", "abc"), b = argument("b", "long enough");
  EXPECT_TRUE(allows(grammar, call(a + b)));
  EXPECT_TRUE(allows(grammar, call(argument("a", "null") + b)));
  EXPECT_FALSE(allows(grammar, call(argument("a", "abcd") + b)));
  EXPECT_FALSE(allows(grammar, call(a + argument("b", "x"))));
}

TEST_F(CallGrammar, DefinitionsHaveTwoNames) {
  for (const std::string key : {"$defs", "definitions"}) {
    const std::string to = R"({"$ref":"#/)" + key + "/";
    const auto grammar =
        compile(tools(R"({"type":"object","properties":{"l":{"type":"array","items":)" + to + R"(b"}},"n":)" + to +
                          R"(n"},"e":)" + to + R"(e"}},"required":["l","n","e"],")" + key +
                          R"(":{"b":{"type":"boolean"},"n":{"type":"integer"},"e":{"enum":["x"]}}})",
                      true, ToolMode::required));
    const std::string l = argument("l", "[true]"), n = argument("n", "7"), e = argument("e", "x");
    EXPECT_TRUE(allows(grammar, call(l + n + e))) << key;
    EXPECT_FALSE(allows(grammar, call(argument("l", "[1]") + n + e))) << key;
    EXPECT_FALSE(allows(grammar, call(l + argument("n", "true") + e))) << key;
    EXPECT_FALSE(allows(grammar, call(l + n + argument("e", "y")))) << key;
  }
}

/// Of a parameter that is "x", by more ways than its type is sought through, or what the reference says.
std::string texts_and(const std::string& reference, const std::string& definitions) {
  std::string branches;
  for (int i = 0; i < 20; ++i) branches += R"({"const":"x"},)";
  return R"({"type":"object","properties":{"a":{"anyOf":[)" + branches + reference +
         R"(]}},"required":["a"],"$defs":)" + definitions + "}";
}

TEST_F(CallGrammar, DefinitionsMayLeadBackToThemselvesAndToOthersOften) {
  const auto grammar = compile(tools(texts_and(R"({"$ref":"#/$defs/L"})", R"({"L":{"anyOf":[{"$ref":"#/$defs/L"},)"
                                                                          R"({"const":"y"}]}})"),
                                     true, ToolMode::required));
  for (const char* a : {"x", "y"}) EXPECT_TRUE(allows(grammar, call(argument("a", a)))) << a;
  EXPECT_FALSE(allows(grammar, call(argument("a", ""))));
  EXPECT_FALSE(allows(grammar, call(argument("a", "z"))));
  std::string chain = R"({"L12":{"const":"y"})";  // 9 to the power of 12 ways
  for (int i = 0; i < 12; ++i) {
    chain += ",\"L" + std::to_string(i) + R"(":{"anyOf":[)";
    for (int k = 0; k < 9; ++k) chain += R"({"$ref":"#/$defs/L)" + std::to_string(i + 1) + (k < 8 ? "\"}," : "\"}]}");
  }
  EXPECT_TRUE(allows(compile(tools(texts_and(R"({"$ref":"#/$defs/L0"})", chain + "}"), true, ToolMode::required)),
                     call(argument("a", "y"))));
}

TEST_F(CallGrammar, ArgumentsThatTheSchemaDoesNotName) {
  const auto any =
      compile(tools(R"({"type":"object","additionalProperties":{"type":"string"}})", true, ToolMode::required));
  EXPECT_TRUE(allows(any, call(argument("x", "1"))));
  const auto beside =
      compile(tools(R"({"type":["object","null"],"properties":{"a":{"type":"integer"}},"additionalProperties":true})",
                    true, ToolMode::required));
  EXPECT_TRUE(allows(beside, call(argument("a", "1"))));
  EXPECT_FALSE(allows(beside, call(argument("a", "x")))) << "those that it names are followed";
}

TEST_F(CallGrammar, OnlyToolsThatMayBeCalled) {
  const auto of = [](const std::string& mode, const std::string& name) {
    const Json request = Json::parse(
        R"({"tools":[{"type":"function","function":{"name":"g","strict":true}},
            {"type":"function","function":{"name":"f","strict":true,"parameters":)" +
        std::string(kParameters) + R"(}}],"tool_choice":{"type":"allowed_tools","mode":")" + mode +
        R"(","tools":[{"type":"function","name":")" + name + R"("}]}})");
    ToolFields fields;
    EXPECT_FALSE(parse_tools(request, {}, fields));
    return fields;
  };
  const std::string right = call(argument("s", "a") + argument("n", "7"));
  for (const char* mode : {"auto", "required"}) {
    const auto grammar = compile(of(mode, "f"));
    EXPECT_TRUE(allows(grammar, right)) << mode;
    EXPECT_FALSE(allows(grammar, call(""))) << mode;
    EXPECT_FALSE(allows(grammar, call("", "g"))) << mode;
    EXPECT_TRUE(allows(compile(of(mode, "g")), call("", "g"))) << mode;
  }
}

TEST_F(CallGrammar, FunctionsOfTheOlderForm) {
  ToolFields fields;
  EXPECT_FALSE(parse_tools(
      {{"functions", {{{"name", "f"}, {"parameters", Json::parse(kParameters)}}}}, {"function_call", {{"name", "f"}}}},
      {}, fields));
  EXPECT_TRUE(allows(compile(fields), call(argument("s", "a") + argument("n", "7"))));
  EXPECT_EQ(fields.param(), "functions");
}

TEST_F(CallGrammar, AFormatBesideTools) {
  const AnswerFormat format{.source = {.kind = GrammarSource::Kind::json_schema, .text = R"({"enum":[1,2]})"},
                            .param = "response_format"};
  for (const bool strict : {true, false}) {
    const auto grammar = compile(tools(kParameters, strict, ToolMode::automatic), true, format);
    EXPECT_TRUE(allows(grammar, "1")) << strict;
    EXPECT_TRUE(allows(grammar, call(argument("s", "a") + argument("n", "7")))) << strict;
    EXPECT_FALSE(allows(grammar, "3")) << strict;
    EXPECT_FALSE(allows(grammar, "one")) << strict;
  }
}

TEST(AnswerGrammar, WhereNothingIsFollowed) {
  const auto free = answer_grammar(tools(kParameters, false, ToolMode::automatic), true, {});
  ASSERT_TRUE(free.ok());
  EXPECT_FALSE(*free);
  const AnswerFormat format{.source = {.kind = GrammarSource::Kind::regex, .text = "a"}, .param = "guided_regex"};
  const auto alone = answer_grammar({}, true, format);
  ASSERT_TRUE(alone.ok() && *alone);
  EXPECT_EQ((*alone)->source.text, "a");
}

TEST(AnswerGrammar, NamesThePlaceOfWhatCannotBeFollowed) {
  std::string circle = R"({"$ref":"#/$defs/L"})";
  for (int i = 0; i < 20; ++i) circle = R"({"anyOf":[)" + circle + "]}";
  circle = R"({"type":"object","properties":{"a":)" + circle + R"(},"$defs":{"L":{"anyOf":[{"$ref":"#/$defs/L"}]}}})";
  const char* const cases[][2] = {
      {R"({"type":"object","properties":{"a":{"not":{}}}})",
       R"(tools[0].function.parameters: "not" at #/properties/a)"},
      {R"({"type":"object","anyOf":[{"required":["a"]}]})", "anyOf"},
      {R"({"type":"object","properties":{"a>b":{}}})", "name"},
      {R"({"type":"object","properties":{"a":{"enum":["</x>"]}}})", "cannot be written"},
      {R"({"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#"}}}})", "$ref"},
      {circle.c_str(), "no text satisfies the parameter \"a\""},
  };
  for (const auto& [parameters, expected] : cases) {
    const auto refused = answer_grammar(tools(parameters, true, ToolMode::required), true, {});
    ASSERT_FALSE(refused.ok()) << parameters;
    EXPECT_THAT(refused.status().message(), HasSubstr(expected));
    EXPECT_TRUE(answer_grammar(tools(parameters, false, ToolMode::required), true, {}).ok()) << parameters;
  }
}

}  // namespace
}  // namespace tessera::server::openai
