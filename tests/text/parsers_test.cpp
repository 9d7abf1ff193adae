// The reasoning and tool-call parsers on a corpus of transcripts, whole and cut into every two and three pieces.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/dialect/answer_scope.h"
#include "text/dialect/python_literal.h"
#include "text/dialect/reasoning_parser.h"
#include "text/dialect/tag_scan.h"
#include "text/dialect/tool_call_parser.h"

namespace tessera::text {
namespace {

/// What both parsers, one behind the other, make of an answer.
struct Parsed {
  std::string reasoning;
  std::string content;
  std::vector<std::pair<std::string, std::string>> calls;  // name, arguments
  bool operator==(const Parsed&) const = default;
};

void PrintTo(const Parsed& p, std::ostream* out) {
  *out << "reasoning=" << testing::PrintToString(p.reasoning) << " content=" << testing::PrintToString(p.content);
  for (const auto& [name, arguments] : p.calls) *out << " " << name << "(" << arguments << ")";
}

const std::vector<ToolSchema>& tools() {
  static const std::vector<ToolSchema> kTools = {
      {"get_weather", {{"city"}, {"days", ParameterType::integer}, {"metric", ParameterType::boolean}}},
      {"run",
       {{"code"},
        {"limit", ParameterType::number},
        {"options", ParameterType::json},
        {"note", ParameterType::string, true}}},
      {"ping", {}},
  };
  return kTools;
}

class Parser {
 public:
  explicit Parser(bool inside) : reasoning_(inside), calls_(tools()) {}

  void feed(std::string_view text) { take(reasoning_.feed(text)); }
  Parsed finish() {
    take(reasoning_.finish());
    take(calls_.finish());
    return parsed_;
  }

 private:
  void take(const ReasoningParser::Piece& piece) {
    parsed_.reasoning += piece.reasoning;
    take(calls_.feed(piece.content));
  }
  void take(const ToolCallParser::Piece& piece) {
    parsed_.content += piece.content;
    for (const auto& delta : piece.calls) {
      const auto index = static_cast<size_t>(delta.index);
      if (parsed_.calls.size() == index) {
        parsed_.calls.emplace_back(delta.name, "");
        EXPECT_FALSE(delta.name.empty());
      } else {
        EXPECT_EQ(parsed_.calls.size(), index + 1) << "deltas out of order";
        EXPECT_TRUE(delta.name.empty());
      }
      parsed_.calls[index].second += delta.arguments;
    }
  }

  ReasoningParser reasoning_;
  ToolCallParser calls_;
  Parsed parsed_;
};

Parsed parse(bool inside, std::initializer_list<std::string_view> pieces) {
  Parser parser(inside);
  for (const auto piece : pieces) parser.feed(piece);
  return parser.finish();
}

struct Transcript {
  const char* name;
  bool inside;
  std::string text;
  Parsed expected;
};

std::string call(const std::string& body) { return "<tool_call>\n<function=" + body + "</function>\n</tool_call>"; }

const std::vector<Transcript>& corpus() {
  static const std::string kParis = call("get_weather>\n<parameter=city>\nParis\n</parameter>\n");
  static const std::vector<Transcript> kCorpus = {
      {"plain", false, "Hello <b>you</b> & a<b.", {"", "Hello <b>you</b> & a<b.", {}}},
      {"empty", true, "", {}},
      {"thinking", true, "\nLet me see.\n\nYes.\n</think>\n\nAnswer.\n", {"Let me see.\n\nYes.", "Answer.\n", {}}},
      {"truncated thinking", true, "never ends </thi", {"never ends </thi", "", {}}},
      {"thinking off", false, "Answer </think> quoted", {"", "Answer </think> quoted", {}}},
      {"stray close", false, "\n</think>\n\nAnswer", {"", "Answer", {}}},
      {"opens by itself", false, "<think>\nhm\n</think>\n\nSo.", {"hm", "So.", {}}},
      {"repeated tags", true, "<think>\na<think>b</think>\n</think>\n\n<think>Out", {"ab", "Out", {}}},
      {"indented content", true, "x</think>\n\n    code\n", {"x", "    code\n", {}}},
      {"less-than in thinking", true, "1 < 2 <tool_call> no", {"1 < 2 <tool_call> no", "", {}}},
      {"call", false, kParis, {"", "", {{"get_weather", R"({"city": "Paris"})"}}}},
      {"content before and after",
       false,
       "Sure.\n\n" + kParis + "\nDone.",
       {"", "Sure.\nDone.", {{"get_weather", R"({"city": "Paris"})"}}}},
      {"call inside thinking", true, "need it\n" + kParis, {"need it", "", {{"get_weather", R"({"city": "Paris"})"}}}},
      {"call right after thinking",
       true,
       "a\n</think>\n\n" + kParis,
       {"a", "", {{"get_weather", R"({"city": "Paris"})"}}}},
      {"parallel",
       false,
       kParis + "\n" + call("ping>\n"),
       {"", "", {{"get_weather", R"({"city": "Paris"})"}, {"ping", "{}"}}}},
      {"two in one wrapper",
       false,
       "<tool_call><function=ping></function><function=run>\n</function></tool_call>",
       {"", "", {{"ping", "{}"}, {"run", "{}"}}}},
      {"types",
       false,
       call("get_weather>\n<parameter=city>\n7\n</parameter>\n<parameter=days>\n 007 "
            "\n</parameter>\n<parameter=metric>\nTrue\n"
            "</parameter>\n"),
       {"", "", {{"get_weather", R"({"city": "7", "days": 7, "metric": true})"}}}},
      {"values that do not convert stay strings",
       false,
       call("get_weather>\n<parameter=days>\nsoon\n</parameter>\n<parameter=metric>\nperhaps\n</parameter>\n"),
       {"", "", {{"get_weather", R"({"days": "soon", "metric": "perhaps"})"}}}},
      {"numbers, json, null",
       false,
       call("run>\n<parameter=limit>\n2.0\n</parameter>\n<parameter=options>\n{\"a\": [1, 2.5, null]}\n</parameter>\n"
            "<parameter=note>\nnull\n</parameter>\n<parameter=code>\nnull\n</parameter>\n"),
       {"", "", {{"run", R"({"limit": 2, "options": {"a":[1,2.5,null]}, "note": null, "code": "null"})"}}}},
      {"long numbers are not rewritten",
       false,
       call("run>\n<parameter=options>\n {\"a\": [33757768962231200000000]}\n</parameter>\n"),
       {"", "", {{"run", R"({"options": {"a": [33757768962231200000000]}})"}}}},
      {"python literal",
       false,
       call("run>\n<parameter=options>\n{'a': True, 'b': (1, None)}\n</parameter>\n"),
       {"", "", {{"run", R"({"options": {"a":true,"b":[1,null]}})"}}}},
      {"line breaks inside a value",
       false,
       call("run>\n<parameter=code>\n\n a\n\n</parameter>\n"),
       {"", "", {{"run", R"({"code": "\n a\n"})"}}}},
      {"carriage returns",
       false,
       "<tool_call>\r\n<function=run>\r\n<parameter=code>\r\na\r\rb\r\n</parameter>\r\n</function>\r\n</tool_call>",
       {"", "", {{"run", R"({"code": "a\r\rb"})"}}}},
      {"on one line",
       false,
       "<tool_call><function=run><parameter=code>x = "
       "1</parameter><parameter=limit>3</parameter></function></tool_call>",
       {"", "", {{"run", R"({"code": "x = 1", "limit": 3})"}}}},
      {"empty value",
       false,
       call("run>\n<parameter=code>\n</parameter>\n<parameter=note></parameter>\n"),
       {"", "", {{"run", R"({"code": "", "note": ""})"}}}},
      {"literal tags in a value",
       false,
       call("run>\n<parameter=code>\nprint(\"</parameter>\")\n# <parameter=limit>\n<parameter=x> </function> "
            "</tool_call>\n"
            "</parameter>\n"),
       {"",
        "",
        {{"run",
          R"({"code": "print(\"</parameter>\")\n# <parameter=limit>\n<parameter=x> </function> </tool_call>"})"}}}},
      {"escapes",
       false,
       call("run>\n<parameter=code>\n\"\\\t\x01 \xc3\xa9\xf0\x9f\x98\x80\n</parameter>\n"),
       {"", "", {{"run", "{\"code\": \"\\\"\\\\\\t\\u0001 \xc3\xa9\xf0\x9f\x98\x80\"}"}}}},
      {"missing parameter closer",
       false,
       call("run>\n<parameter=code>\na\n<parameter=limit>\n4\n"),
       {"", "", {{"run", R"({"code": "a", "limit": 4})"}}}},
      {"missing function closer",
       false,
       "<tool_call>\n<function=run>\n<parameter=code>\na\n</parameter>\n</tool_call>\nbye",
       {"", "\nbye", {{"run", R"({"code": "a"})"}}}},
      {"missing all closers",
       false,
       "<tool_call>\n<function=run>\n<parameter=code>\na\n</tool_call>\n" + kParis,
       {"", "", {{"run", R"({"code": "a"})"}, {"get_weather", R"({"city": "Paris"})"}}}},
      {"truncated value",
       false,
       "<tool_call>\n<function=run>\n<parameter=code>\nabc\n</para",
       {"", "", {{"run", R"({"code": "abc\n</para"})"}}}},
      {"truncated between parameters",
       false,
       "<tool_call>\n<function=run>\n<parameter=code>\nabc\n</parameter>\n<param",
       {"", "", {{"run", R"({"code": "abc"})"}}}},
      {"a tag of what was given is text, again and again",
       false,
       call("run>\n<parameter=limit>\n1\n</parameter>\n<parameter=code>\nx\n<parameter=limit>\n<parameter=code>\n"
            "<parameter=limit>\n<parameter=code>\n</parameter>\n"),
       {"",
        "",
        {{"run",
          R"({"limit": 1, "code": "x\n<parameter=limit>\n<parameter=code>\n<parameter=limit>\n<parameter=code>"})"}}}},
      {"parameter given twice",
       false,
       call("run>\n<parameter=code>\na\n</parameter>\n<parameter=code>\nb\n</parameter>\n"),
       {"", "", {{"run", R"({"code": "a"})"}}}},
      {"unknown parameter",
       false,
       call("'ping'>\n<parameter=to>\n{\"x\": 1}\n</parameter>\n"),
       {"", "", {{"ping", R"({"to": "{\"x\": 1}"})"}}}},
      {"unknown tool",
       false,
       "So: " + call("fly>\n<parameter=to>\nme\n</parameter>\n"),
       {"", "So: " + call("fly>\n<parameter=to>\nme\n</parameter>\n"), {}}},
      {"a call inside an unknown one",
       false,
       call("fly>\n<parameter=to>\n" + kParis + "\n</parameter>\n") + "\nDone.",
       {"", call("fly>\n<parameter=to>\n" + kParis + "\n</parameter>\n") + "\nDone.", {}}},
      {"a call behind an unknown one",
       false,
       call("fly>\n<parameter=to>\nme\n</parameter>\n") + "\n" + kParis,
       {"", call("fly>\n<parameter=to>\nme\n</parameter>\n"), {{"get_weather", R"({"city": "Paris"})"}}}},
      {"an unknown call that breaks off",
       false,
       "<tool_call>\n<function=fly>\n<parameter=to>\nme\n</para",
       {"", "<tool_call>\n<function=fly>\n<parameter=to>\nme\n</para", {}}},
      {"a parameter that ends with nothing in it",
       false,
       "<tool_call>\n<function=run>\n<parameter=code></function>\n</tool_call>",
       {"", "", {{"run", R"({"code": ""})"}}}},
      {"bare function of a known tool", false, "Now:\n<function=ping>\n</function>", {"", "Now:", {{"ping", "{}"}}}},
      {"bare function of no tool",
       false,
       "Write <function=ping> or\n<function=foo>.",
       {"", "Write <function=ping> or\n<function=foo>.", {}}},
      {"literal tool_call",
       false,
       "The tag <tool_call> opens a call.\n<tool_call>\n<fun",
       {"", "The tag <tool_call> opens a call.\n<tool_call>\n<fun", {}}},
      {"name that never ends", false, "<tool_call>\n<function=a\nb>", {"", "<tool_call>\n<function=a\nb>", {}}},
      {"stray text in a call",
       false,
       "<tool_call>\n<function=run>\nhm <x>\n<parameter=limit>\n1e400\n</parameter>\n</function>\n</tool_call>",
       {"", "", {{"run", R"({"limit": "1e400"})"}}}},
  };
  return kCorpus;
}

TEST(Parsers, CorpusWhole) {
  for (const auto& t : corpus()) EXPECT_EQ(parse(t.inside, {t.text}), t.expected) << t.name;
}

TEST(Parsers, EveryCutIntoTwoAndThreePieces) {
  for (const auto& t : corpus()) {
    const std::string_view text = t.text;
    for (size_t i = 0; i <= text.size(); ++i) {
      for (size_t j = i; j <= text.size(); ++j) {
        const Parsed found = parse(t.inside, {text.substr(0, i), text.substr(i, j - i), text.substr(j)});
        ASSERT_EQ(found, t.expected) << t.name << ", cut at " << i << " and " << j;
      }
    }
  }
}

TEST(Parsers, ByteByByte) {
  for (const auto& t : corpus()) {
    Parser parser(t.inside);
    for (const char c : t.text) parser.feed({&c, 1});
    EXPECT_EQ(parser.finish(), t.expected) << t.name;
  }
}

TEST(Parsers, ArgumentsAreJson) {
  for (const auto& t : corpus()) {
    for (const auto& [name, arguments] : parse(t.inside, {t.text}).calls) {
      EXPECT_TRUE(nlohmann::json::accept(arguments)) << t.name << ": " << arguments;
    }
  }
}

/// What a model writes as a value becomes one of the parameter's type; what is none is a string, as it stands.
TEST(Parsers, ValuesAreOfTheTypesOfTheirParameters) {
  const auto value = [](const std::string& function, const std::string& parameter, const std::string& text) {
    const Parsed parsed =
        parse(false, {call(function + ">\n<parameter=" + parameter + ">\n" + text + "\n</parameter>\n")});
    const std::string begin = "{\"" + parameter + "\": ";
    const std::string arguments = parsed.calls.empty() ? "" : parsed.calls[0].second;
    EXPECT_EQ(arguments.substr(0, begin.size()), begin);
    return arguments.substr(begin.size(), arguments.size() - begin.size() - 1);
  };
  const auto integer = [&](const std::string& text) { return value("get_weather", "days", text); };
  EXPECT_EQ(integer("-5"), "-5");
  EXPECT_EQ(integer("+5"), "5");
  EXPECT_EQ(integer("-007"), "-7");
  EXPECT_EQ(integer("000"), "0");
  EXPECT_EQ(integer("-0"), "0");
  EXPECT_EQ(integer("3.0"), "3");
  EXPECT_EQ(integer("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(integer("None"), "null");
  for (const char* text : {"", "-", "+", "3.5", "--3", "3x", "1e400"}) {
    EXPECT_EQ(integer(text), '"' + std::string(text) + '"');
  }
  const auto number = [&](const std::string& text) { return value("run", "limit", text); };
  EXPECT_EQ(number("+2.5"), "2.5");
  EXPECT_EQ(number("-2.5"), "-2.5");
  EXPECT_EQ(number("1e3"), "1000");
  EXPECT_EQ(number("9007199254740992.0"), "9.007199254740992e+15") << "2^53: not all integers are doubles any more";
  EXPECT_EQ(number("9007199254740991.0"), "9007199254740991");
  EXPECT_EQ(number("1.5x"), R"("1.5x")");
  EXPECT_EQ(number("inf"), R"("inf")");
  const auto boolean = [&](const std::string& text) { return value("get_weather", "metric", text); };
  EXPECT_EQ(boolean("TRUE"), "true");
  EXPECT_EQ(boolean("False"), "false");
  EXPECT_EQ(boolean("fAlSe"), "false");
  EXPECT_EQ(boolean("falsely"), R"("falsely")");
  EXPECT_EQ(boolean("null"), "null");
  EXPECT_EQ(value("get_weather", "city", "None"), R"("None")") << "a string that may not be null";
  EXPECT_EQ(value("run", "note", "None"), "null");
  EXPECT_EQ(value("run", "note", "nothing"), R"("nothing")");
  const auto json = [&](const std::string& text) { return value("run", "options", text); };
  EXPECT_EQ(json("[1, 2]"), "[1,2]");
  EXPECT_EQ(json("{'a': True}"), R"({"a":true})");
  // What a double does not keep stays as it was written: 16 digits and more.
  EXPECT_EQ(json("[123456789012345]"), "[123456789012345]");
  EXPECT_EQ(json("[0.1234567890123456789, 1]"), "[0.1234567890123456789, 1]");
  const auto nested = [](int depth, char open, char close) {
    return std::string(static_cast<size_t>(depth), open) + std::string(static_cast<size_t>(depth), close);
  };
  EXPECT_EQ(json(nested(64, '[', ']')), nested(64, '[', ']'));
  EXPECT_EQ(json(nested(65, '[', ']')), '"' + nested(65, '[', ']') + '"');
  EXPECT_EQ(json("[" + std::string(100, ' ') + "[],[],(1,)]"), "[[],[],[1]]") << "brackets that close do not nest";
}

TEST(Parsers, StringsStreamBeforeTheCallEnds) {
  ToolCallParser parser(tools());
  auto piece = parser.feed("<tool_call>\n<function=run>\n<parameter=code>\nfirst line\nsec");
  ASSERT_EQ(piece.calls.size(), 1U);
  EXPECT_EQ(piece.calls[0].name, "run");
  EXPECT_EQ(piece.calls[0].arguments, R"({"code": "first line\nsec)");
}

/// What a call that is cut off leaves.
Parsed cut(std::string_view text) {
  ToolCallParser parser(tools());
  Parsed parsed;
  const auto take = [&](const ToolCallParser::Piece& piece) {
    parsed.content += piece.content;
    for (const auto& delta : piece.calls) {
      if (parsed.calls.size() == static_cast<size_t>(delta.index)) parsed.calls.emplace_back(delta.name, "");
      parsed.calls.back().second += delta.arguments;
    }
  };
  take(parser.feed(text));
  take(parser.finish(/*cut=*/true));
  return parsed;
}

TEST(Parsers, ACallThatIsCutStaysOpenWhereverItIsCut) {
  const std::string whole =
      call("run>\n<parameter=code>\nrm -rf /tmp/x\n</parameter>\n<parameter=options>\n{\"a\": 1}\n</parameter>\n");
  const size_t end = whole.find("</function>") + std::string_view("</function>").size();
  const size_t begun = whole.find("run>") + 4;
  for (size_t length = 0; length <= whole.size(); ++length) {
    const Parsed parsed = cut(whole.substr(0, length));
    const std::string at = whole.substr(0, length);
    EXPECT_EQ(parsed.calls.size(), length >= begun ? 1U : 0U) << at;
    EXPECT_TRUE(length < 6 || parsed.content.empty()) << at << ": " << parsed.content;
    if (parsed.calls.empty()) continue;
    EXPECT_EQ(nlohmann::json::accept(parsed.calls[0].second), length >= end) << at << ": " << parsed.calls[0].second;
    EXPECT_FALSE(parsed.calls[0].second.empty()) << at;
  }
  EXPECT_EQ(cut("if a <").content, "if a <");
  EXPECT_EQ(cut("see <tools").content, "see <tools");
}

/// The text around calls and thinking.
std::string answer_of(bool inside, const std::vector<std::string_view>& pieces) {
  AnswerScope scope(inside, {"get_weather", "run", "ping"});
  std::string answer;
  std::string all;
  const auto take = [&](const std::vector<AnswerScope::Piece>& found) {
    for (const AnswerScope::Piece& piece : found) {
      all += piece.text;
      if (piece.answer) answer += piece.text;
    }
  };
  for (const std::string_view piece : pieces) take(scope.feed(piece));
  take(scope.finish());
  std::string joined;
  for (const std::string_view piece : pieces) joined += piece;
  EXPECT_EQ(all, joined);
  return answer;
}

std::string without_white_space(std::string text) {
  std::erase_if(text, [](char c) { return kWhiteSpace.find(c) != std::string_view::npos; });
  return text;
}

TEST(AnswerScope, IsTheContentThatTheParsersFind) {
  for (const auto& t : corpus()) {
    const std::string_view text = t.text;
    const std::string whole = answer_of(t.inside, {text});
    // Calls whose closers are missing may hold the rest: a stop string is missed there, never found in a call.
    const std::string content = without_white_space(t.expected.content);
    const std::string found = without_white_space(whole);
    EXPECT_TRUE(found == content || (found.size() < content.size() && content.starts_with(found)))
        << t.name << ": " << found << " in place of " << content;
    for (size_t i = 0; i <= text.size(); ++i) {
      ASSERT_EQ(answer_of(t.inside, {text.substr(0, i), text.substr(i)}), whole) << t.name << ", cut at " << i;
    }
  }
}

TEST(AnswerScope, ThinkingCallsAndGapsAreNotTheAnswer) {
  EXPECT_EQ(answer_of(true, {"I think.\n</think>\n\nYes.\n\nNo."}), "Yes.\n\nNo.");
  EXPECT_EQ(answer_of(false, {"<think>\nhm\n</think>\n\nYes."}), "Yes.");
  EXPECT_EQ(answer_of(false, {"A. " + call("run>\n<parameter=code>\nx </tool_call> y\n</parameter>\n") + "\nB."}),
            "A. B.");
  EXPECT_EQ(answer_of(false, {call("fly>\n") + "!"}), call("fly>\n") + "!");
}

/// Each of these made a careless parser look at everything again for every piece, which would take hours here.
TEST(Parsers, LongStuttersTakeLinearTime) {
  constexpr size_t kPieces = 200'000;
  for (const std::string& unit : {std::string(" "), std::string("\n"), std::string("<"), std::string("</parameter> "),
                                  std::string("<tool_call> "), std::string("</think> ")}) {
    for (const std::string& start : {std::string(), std::string("<tool_call><function=run><parameter=code>"),
                                     std::string("<tool_call><function=run>")}) {
      for (const bool inside : {false, true}) {
        Parser parser(inside);
        parser.feed(start);
        for (size_t i = 0; i < kPieces; ++i) parser.feed(unit);
        const Parsed parsed = parser.finish();
        EXPECT_EQ(parsed.calls.size(), start.empty() ? 0U : 1U) << start << unit;
        if (unit != "<" || start.ends_with("run>")) continue;
        std::string all = parsed.reasoning + parsed.content;
        if (!parsed.calls.empty()) all = parsed.calls[0].second;
        EXPECT_EQ(std::ranges::count(all, '<'), kPieces) << start << unit;
      }
    }
  }
}

TEST(Parsers, PromptDecidesWhetherThinkingIsOpen) {
  EXPECT_TRUE(prompt_opens_thinking("<|im_start|>assistant\n<think>\n"));
  EXPECT_FALSE(prompt_opens_thinking("<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  EXPECT_FALSE(prompt_opens_thinking("<|im_start|>assistant\n"));
  EXPECT_TRUE(prompt_opens_thinking("a <think> b </think> c\n<think>\n"));
}

TEST(PythonLiteral, ReadsWhatModelsWrite) {
  const auto dump = [](std::string_view text) {
    const auto value = parse_python_literal(text);
    return value ? value->dump() : std::string("nothing");
  };
  EXPECT_EQ(dump(R"({'a': 'it\'s', "b": [1, -2.5, 1_000], 'c': (True,), 'd': (3)})"),
            R"({"a":"it's","b":[1,-2.5,1000],"c":[true],"d":3})");
  EXPECT_EQ(dump(R"('\u00e9\x41\n\q')"),
            "\"\xc3\xa9"
            R"(A\n\\q")");
  EXPECT_EQ(dump("[1, 2,]"), "[1,2]");
  EXPECT_EQ(dump(" ( 1 , ) "), "[1]");
  EXPECT_EQ(dump("()"), "[]");
  EXPECT_EQ(dump("{ 'a' : 1 , 'b' : { } , }"), R"({"a":1,"b":{}})");
  EXPECT_EQ(dump("[False, None, false, null, true]"), "[false,null,false,null,true]");
  EXPECT_EQ(dump("+5"), "5");
  EXPECT_EQ(dump("[-1e2,12345678901234567890]"), "[-100.0,1.2345678901234567e+19]");
  EXPECT_EQ(dump(R"('\U0001F600\U0010ffff\x7e')"), "\"\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf~\"");
  const auto nested = [](size_t depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); };
  EXPECT_EQ(dump(nested(64)), nested(64));
  EXPECT_EQ(dump(nested(65)), "nothing");
  const std::string dicts = "{'a': {'a': 1}}";
  EXPECT_EQ(dump(std::string(63, '[') + dicts + std::string(63, ']')), "nothing") << "dicts nest, too";
  for (const char* bad :
       {"'\\x4'", "'\\xg1'", "'\\x4g'", "'\\U00110000'", "'a\nb'", "'\\", "'\\u00", "1e400", "-", "1-2", "{'a' 1}",
        "{'a': 1 'b': 2}", "{'a': }", "{'a", "[1,", "[1", "(1", "{'a': 1", "Truex"}) {
    EXPECT_EQ(dump(bad), "nothing") << bad;
  }
  for (const char* bad : {"", "{", "{'a'}", "{1: 2}", "[1 2]", "'open", "__import__('os')", "1 + 1", "'\\ud800'", "nan",
                          "[1],", "{'a': 1,, 'b': 2}"}) {
    EXPECT_EQ(dump(bad), "nothing") << bad;
  }
  EXPECT_EQ(dump(std::string(100000, '[')), "nothing");
}

}  // namespace
}  // namespace tessera::text
