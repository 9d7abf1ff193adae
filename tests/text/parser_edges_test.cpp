// What the parsers of reasoning and calls make of names and gaps just as long as they may be, of forms that break off,
// and of what begins in the middle of a line.

#include <gmock/gmock.h>
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

using ::testing::ElementsAre;

/// What a parser makes of an answer: "content|name(arguments)...". The same however it is cut into pieces.
std::string called_of(std::vector<std::string> pieces, const std::vector<ToolSchema>& tools, bool cut = false) {
  ToolCallParser parser(tools);
  std::string content;
  std::vector<std::string> calls;
  const auto take = [&](const ToolCallParser::Piece& piece) {
    content += piece.content;
    for (const auto& delta : piece.calls) {
      const auto index = static_cast<size_t>(delta.index);
      if (calls.size() <= index) calls.resize(index + 1);
      if (!delta.name.empty()) calls[index] += delta.name + "(";
      calls[index] += delta.arguments;
    }
  };
  for (const std::string& piece : pieces) take(parser.feed(piece));
  take(parser.finish(cut));
  for (const std::string& call : calls) content += "|" + call + ")";
  return content;
}

std::string called(const std::string& text, const std::vector<ToolSchema>& tools, bool cut = false) {
  std::string whole = called_of({text}, tools, cut);
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  EXPECT_EQ(called_of(bytes, tools, cut), whole) << text;
  return whole;
}

const std::vector<ToolSchema> kRun = {{"run", {{"code"}, {"limit", ParameterType::number}}}};

std::string call(const std::string& body) { return "<tool_call>\n<function=" + body + "</function>\n</tool_call>"; }

TEST(ToolCallEdges, NamesAreOfAnyLengthUpToTheLongest) {
  const std::string longest(256, 'n');
  const std::vector<ToolSchema> tools = {{longest, {}}, {longest + "n", {}}, {"'", {}}, {"\"x'", {}}};
  EXPECT_EQ(called(call(longest + ">\n"), tools), "|" + longest + "({})");
  EXPECT_EQ(called(call(longest + "n>\n"), tools), call(longest + "n>\n")) << "longer, it is text";
  EXPECT_EQ(called(call(std::string(2000, 'n')), tools), call(std::string(2000, 'n')));
  EXPECT_EQ(called(call(">\n"), {{"", {}}}), call(">\n")) << "a call has a name";
  EXPECT_EQ(called(call("'>\n"), tools), "|'({})") << "one quote is none";
  EXPECT_EQ(called(call("\"x'>\n"), tools), "|\"x'({})") << "nor are two of two kinds";
  // One that is too long is decided on as soon as it is, not when the answer ends.
  ToolCallParser parser(tools);
  EXPECT_EQ(parser.feed("<tool_call><function=" + std::string(257, 'n')).content,
            "<tool_call><function=" + std::string(257, 'n'));
  ToolCallParser waiting(tools);
  EXPECT_EQ(waiting.feed("<tool_call><function=" + longest).content, "") << "it may be one yet";
}

TEST(ToolCallEdges, GapsAreOfAnyLengthUpToTheWidest) {
  for (const size_t gap : {0U, 1U, 256U, 257U, 1000U}) {
    const std::string space(gap, ' ');
    const bool belongs = gap <= 256;
    const std::string open = "<tool_call>" + space + "<function=run></function></tool_call>";
    EXPECT_EQ(called(open, kRun), belongs ? "|run({})" : open) << gap;
    const std::string value =
        "<tool_call><function=run><parameter=code>a</parameter>" + space + "</function></tool_call>";
    const std::string text = called(value, kRun);
    EXPECT_EQ(text, belongs ? R"(|run({"code": "a"}))"
                            : R"(|run({"code": "a</parameter>)" + space + R"(</function></tool_call>"}))")
        << gap;
  }
}

/// Nor does a value end before more white space than belongs to the form, though nothing else comes.
TEST(ToolCallEdges, AnAnswerMayEndInAGap) {
  const std::string value = "<tool_call><function=run><parameter=code>a</parameter>";
  EXPECT_EQ(called(value + std::string(256, ' '), kRun), R"(|run({"code": "a"}))");
  const std::string wide(300, ' ');
  EXPECT_EQ(called(value + wide, kRun), R"(|run({"code": "a</parameter>)" + wide + R"("}))");
}

TEST(ToolCallEdges, ControlCharactersAreEscaped) {
  for (int c = 1; c < 0x80; ++c) {
    const std::string value = std::string("x") + static_cast<char>(c) + "y";
    const std::string arguments = called(call("run>\n<parameter=code>\n" + value + "\n</parameter>\n"), kRun);
    const auto json = nlohmann::json::parse(arguments.substr(5, arguments.size() - 6), nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << c << ": " << arguments;
    EXPECT_EQ(json["code"], value);
  }
}

TEST(ToolCallEdges, NumbersKeepTheirDigits) {
  const auto number = [](const std::string& text) {
    const std::string made = called(call("run>\n<parameter=limit>\n" + text + "\n</parameter>\n"), kRun);
    return made.substr(15, made.size() - 17);
  };
  EXPECT_EQ(number("-9007199254740991.0"), "-9007199254740991");
  EXPECT_EQ(number("-9007199254740992.0"), "-9.007199254740992e+15") << "not all integers are doubles any more";
  EXPECT_EQ(number("-1e300"), "-1e+300");
  const std::vector<ToolSchema> tools = {{"run", {{"limit", ParameterType::json}}}};
  const auto json = [&](const std::string& text) {
    const std::string made = called(call("run>\n<parameter=limit>\n" + text + "\n</parameter>\n"), tools);
    return made.substr(15, made.size() - 17);
  };
  EXPECT_EQ(json("[1,  123456789012345]"), "[1,123456789012345]") << "15 digits are kept by a double";
  EXPECT_EQ(json("[1,  1234567890123456]"), "[1,  1234567890123456]");
}

TEST(ToolCallEdges, AnEmptyFirstLineIsNoEndOfAValue) {
  EXPECT_EQ(
      called("<tool_call><function=run><parameter=code>\n\n</function> x\n</parameter></function></tool_call>", kRun),
      R"(|run({"code": "\n</function> x"}))");
  // Text before the tag: it does not stand at the start of a line, however the text is cut.
  EXPECT_EQ(called("<tool_call><function=run><parameter=code>ab</function></tool_call>\n</parameter></function>", kRun),
            R"(|run({"code": "ab</function></tool_call>"}))");
}

TEST(ToolCallEdges, AFunctionEndsBeforeAnotherOne) {
  for (const std::string next :
       {"</tool_call>", "<tool_call>\n<function=run>\n</function>", "<function=run>\n</function>"}) {
    const std::string text = "<tool_call>\n<function=run>\n<parameter=code>\na\n</function>\n" + next;
    const std::string again = next.starts_with("</") ? "" : "|run({})";
    EXPECT_EQ(called(text, kRun), R"(|run({"code": "a"}))" + again) << text;
  }
}

/// Text that breaks off inside a tag of the form broke off inside the form.
TEST(ToolCallEdges, WhatBreaksOffInsideTheForm) {
  const std::string value = "<tool_call>\n<function=run>\n<parameter=code>\na\n</parameter>\n";
  for (const std::string end : {"", "<", "</func", "<param", "</tool_c"}) {
    EXPECT_EQ(called(value + end, kRun), R"(|run({"code": "a"}))") << end;
  }
  EXPECT_EQ(called("<tool_call>\n<function=run>\n<parameter=code>\na", kRun, /*cut=*/true), R"(|run({"code": "a))");
  EXPECT_EQ(called("<tool_call>\n<function=run>\n", kRun, /*cut=*/true), "|run({)");
  EXPECT_EQ(called(value, kRun, /*cut=*/true), R"(|run({"code": "a))") << "the value may go on";
  EXPECT_EQ(called("So:\n<function=ru", kRun, /*cut=*/true), "So:\n") << "the beginning of a call is no content";
  EXPECT_EQ(called("So: <function=ru", kRun, /*cut=*/true), "So: <function=ru") << "in a line it begins none";
  const std::string unknown = call("fly>\n");
  EXPECT_EQ(called(unknown + "<x", kRun, /*cut=*/true), unknown + "<x") << "behind a call that is text";
  EXPECT_EQ(called("<tool_call><function=fly></function>\n<", kRun, /*cut=*/true),
            "<tool_call><function=fly></function>\n<");
  EXPECT_EQ(called("<tool_call><function=run></function>\n<", kRun, /*cut=*/true), "|run({})")
      << "it may be its closer";
  EXPECT_EQ(called(call("run>\n") + "\n<x", kRun, /*cut=*/true), "\n<x|run({})");
}

TEST(ToolCallEdges, WhiteSpaceAroundCalls) {
  EXPECT_EQ(called(" \n", kRun), " \n") << "an answer of nothing else";
  EXPECT_EQ(called("a \n", kRun), "a \n");
  EXPECT_EQ(called(call("run>\n") + " \n", kRun), "|run({})");
  EXPECT_EQ(called(call("run>\n") + "\nSo.\n", kRun), "\nSo.|run({})") << "what follows ends with its last word";
}

/// Of two calls in one piece, each has deltas of its own.
TEST(ToolCallEdges, CallsOfOnePieceAreToldApart) {
  ToolCallParser parser(kRun);
  const auto piece = parser.feed(
      "<tool_call><function=run><parameter=code>a</parameter></function><function=run>"
      "<parameter=code>b</parameter></function></tool_call>");
  std::vector<std::string> arguments(2);
  for (const auto& delta : piece.calls) arguments[static_cast<size_t>(delta.index)] += delta.arguments;
  EXPECT_THAT(arguments, ElementsAre(R"({"code": "a"})", R"({"code": "b"})"));
}

TEST(ToolCallEdges, AfterACallALineBegins) {
  const std::string two = call("run>\n") + "<function=run></function>";
  EXPECT_EQ(called(two, kRun), "|run({})|run({})");
  EXPECT_EQ(called("a " + two, kRun), "a|run({})|run({})");
  EXPECT_EQ(called("a <tool_call> <function=run></function></tool_call>", kRun), "a|run({})")
      << "inside of its wrapper, anywhere in a line";
}

TEST(ToolCallEdges, NamesMayComeInQuotesAndWhiteSpaceAndEndWithABracket) {
  for (const std::string name : {"\"run\"", "'run'", " run ", " \"run\"\t"}) {
    EXPECT_EQ(called(call(name + ">\n"), kRun), "|run({})") << name;
  }
  for (const std::string end : {"\n", "<"}) {
    EXPECT_EQ(called(call("run" + end), kRun), call("run" + end));
    EXPECT_EQ(called(call("run>\n<parameter=limit" + end + ">\n<parameter=code>\na\n</parameter>\n"), kRun),
              R"(|run({"code": "a"}))")
        << "no name, no parameter";
  }
}

/// What a call that is text holds comes through to its last byte, wherever it breaks off.
TEST(ToolCallEdges, ACallThatIsTextBreaksOffAnywhere) {
  const std::string text =
      call("fly>\n<parameter=\n<parameter=to>\nme\r\nor\ryou\n</parameter>\n<parameter=by>\n<b>\n</p");
  for (size_t length = 0; length <= text.size(); ++length) {
    EXPECT_EQ(called(text.substr(0, length), kRun), text.substr(0, length));
  }
}

TEST(ToolCallEdges, NothingIsLostWhereAnAnswerEnds) {
  EXPECT_EQ(called("<tool_call><function=run><parameter=code>a\r", kRun), R"(|run({"code": "a\r"}))");
  EXPECT_EQ(called(call("run>\n") + "\nif a <", kRun, /*cut=*/true), "\nif a <|run({})") << "the call is whole before";
}

TEST(ToolCallEdges, TheBeginningOfATagBehindACloserDoesNotEndAValue) {
  for (const std::string value : {"a</parameter>\n<param b", "a</parameter>\n</funny", "a\n</function> <tool b",
                                  "a\n</tool_call> <tool b", "a\n</tool_call> b"}) {
    auto json = nlohmann::json(value).dump();
    EXPECT_EQ(called(call("run>\n<parameter=code>\n" + value + "\n</parameter>\n"), kRun),
              R"(|run({"code": )" + json + "})");
  }
}

TEST(ToolCallEdges, ALessThanSignDoesNotHoldBackWhatFollows) {
  ToolCallParser parser(kRun);
  const auto piece = parser.feed("<tool_call><function=run><parameter=code>if a < b </b> then");
  ASSERT_EQ(piece.calls.size(), 1U);
  EXPECT_EQ(piece.calls[0].arguments, R"({"code": "if a < b </b> then)");
}

TEST(ToolCallEdges, BracketsThatCloseDoNotNest) {
  const std::vector<ToolSchema> tools = {{"run", {{"x", ParameterType::json}}}};
  const auto json = [&](const std::string& text) {
    const std::string made = called(call("run>\n<parameter=x>\n" + text + "\n</parameter>\n"), tools);
    return made.substr(11, made.size() - 13);
  };
  for (const auto& [item, written] : {std::pair("[]", "[]"), std::pair("{}", "{}"), std::pair("(1,)", "[1]")}) {
    std::string text = "[", expected = "[";
    for (int i = 0; i < 70; ++i) {
      text += std::string(item) + ",";
      expected += std::string(written) + ",";
    }
    EXPECT_EQ(json(text + "7]"), expected + "7]");
  }
  for (const int depth : {64, 65}) {
    std::string deep;
    for (int i = 0; i < depth; ++i) deep += "[1,";
    deep += "1" + std::string(static_cast<size_t>(depth), ']');
    EXPECT_EQ(json(deep), depth == 64 ? deep : '"' + deep + '"') << "elements in between nest no less";
  }
}

/// "reasoning|content", however it is cut.
std::string reasoned(bool inside, const std::string& text) {
  const auto run = [&](size_t each) {
    ReasoningParser parser(inside);
    std::string reasoning, content;
    const auto take = [&](const ReasoningParser::Piece& piece) {
      reasoning += piece.reasoning;
      content += piece.content;
    };
    for (size_t at = 0; at < text.size(); at += each) take(parser.feed(text.substr(at, each)));
    take(parser.finish());
    return reasoning + "|" + content;
  };
  const std::string whole = run(std::max<size_t>(1, text.size()));
  EXPECT_EQ(run(1), whole) << text;
  EXPECT_EQ(run(3), whole) << text;
  return whole;
}

TEST(ReasoningEdges, WhiteSpace) {
  EXPECT_EQ(reasoned(true, " a \n</think> \n b"), "a| b");
  EXPECT_EQ(reasoned(true, "a \n</think>\n\n  "), "a|") << "nothing but white space is no content";
  EXPECT_EQ(reasoned(false, "  "), "|");
  EXPECT_EQ(reasoned(true, "a \n"), "a|");
  EXPECT_EQ(reasoned(true, "a  b < c  "), "a  b < c|");
  EXPECT_EQ(reasoned(true, "a  <tool_call><function=f>"), "a|<tool_call><function=f>");
  // What is held back of the white space comes with what follows alone.
  EXPECT_EQ(reasoned(true, "a \n</think><think>b"), "a|b");
}

TEST(ReasoningEdges, TagsBehindWideGaps) {
  for (const size_t gap : {255U, 256U, 257U}) {
    const std::string space(gap, ' ');
    EXPECT_EQ(reasoned(false, space + "</think>x"), gap <= 256 ? "|x" : "|" + space + "</think>x");
    EXPECT_EQ(reasoned(false, space + "\n </think>x"), gap <= 256 ? "|x" : "|" + space + "\n </think>x");
    EXPECT_EQ(reasoned(false, " \n" + space + "\r\n\n  x"), gap < 256 ? "|  x" : "|" + space + "\r\n\n  x");
    EXPECT_EQ(reasoned(false, space + "<b>"), "|" + space + "<b>");
    EXPECT_EQ(reasoned(true, "a<tool_call>" + space + "<function=f>"),
              gap <= 256 ? "a|<tool_call>" + space + "<function=f>" : "a<tool_call>" + space + "<function=f>|");
    // With so much white space behind it, a beginning is text at once.
    ReasoningParser parser(false);
    EXPECT_EQ(parser.feed(space + "</thi").content, gap <= 256 ? "" : space + "</thi");
  }
}

/// The answer of a text, however it is cut.
std::string answer_of(bool thinking, const std::vector<std::string>& tools, const std::string& text) {
  const auto run = [&](size_t each) {
    AnswerScope scope(thinking, tools);
    std::string answer, all;
    const auto take = [&](const std::vector<AnswerScope::Piece>& pieces) {
      for (const AnswerScope::Piece& piece : pieces) {
        all += piece.text;
        if (piece.answer) answer += piece.text;
      }
    };
    for (size_t at = 0; at < text.size(); at += each) take(scope.feed(text.substr(at, each)));
    take(scope.finish());
    EXPECT_EQ(all, text);
    return answer;
  };
  const std::string whole = run(std::max<size_t>(1, text.size()));
  EXPECT_EQ(run(1), whole) << text;
  return whole;
}

TEST(AnswerScopeEdges, ThinkingOpensOnce) {
  EXPECT_EQ(answer_of(false, {}, "<think>a</think>\n<think>b"), "b");
  EXPECT_EQ(answer_of(true, {}, "a</think>\n<think>b"), "b");
  EXPECT_EQ(answer_of(false, {}, "\n</think><think>a</think>b"), "b");
}

TEST(AnswerScopeEdges, WhatFollowsAWideGapIsAnswerAsItIsContent) {
  for (const size_t gap : {255U, 256U, 257U}) {
    const std::string space(gap, ' ');
    for (const std::string before : {"", "\n", "</think> "}) {
      const size_t width = gap + (before.ends_with(' ') ? 1 : 0);
      EXPECT_EQ(answer_of(false, {}, before + space + "</think>x"),
                width <= 256 ? "x" : std::string(width - 257, ' ') + "</think>x");
    }
    EXPECT_EQ(answer_of(false, {}, space + "\n  <think>x"), gap <= 256 ? "" : "\n  <think>x");
  }
}

TEST(AnswerScopeEdges, GapsBeforeAndBehindATagAreTwo) {
  const std::string space(200, ' ');
  EXPECT_EQ(answer_of(false, {}, space + "</think>" + space + "</think>x"), "x");
}

TEST(AnswerScopeEdges, NamesAndGapsJustAsLongAsTheyMayBe) {
  const std::string longest(256, 'n');
  const std::vector<std::string> tools = {"run", longest, longest + "n"};
  const std::string plain = "<tool_call><function=run></function></tool_call>";
  EXPECT_EQ(answer_of(false, tools, plain + "x"), "x");
  EXPECT_EQ(answer_of(false, {}, plain + "x"), plain + "x") << "without tools there are no calls";
  const auto no_call = AnswerScope(false, {}).feed("<tool_c");
  ASSERT_EQ(no_call.size(), 1U) << "nor does anything wait for one";
  EXPECT_EQ(no_call[0].text, "<tool_c");
  const std::string with_longest = "<tool_call><function=" + longest + "></function></tool_call>";
  EXPECT_EQ(answer_of(false, tools, with_longest + "x"), "x");
  const std::string endless = "<tool_call><function=" + std::string(1000, 'n');
  AnswerScope scope(false, tools);
  std::string at_once;
  for (const auto& piece : scope.feed(endless)) at_once += piece.answer ? piece.text : "";
  EXPECT_EQ(at_once, endless) << "no name is so long";
  AnswerScope waiting(false, tools);
  EXPECT_TRUE(waiting.feed("<tool_call><function=" + longest).empty()) << "it may be one yet";
  for (const size_t gap : {256U, 257U}) {
    const std::string text = "a <tool_call>" + std::string(gap, ' ') + "<function=run></function></tool_call>";
    EXPECT_EQ(answer_of(false, tools, text), gap == 256 ? "a " : text) << gap;
  }
  EXPECT_EQ(answer_of(false, tools, "<tool_call><function=run\n> x"), "<tool_call><function=run\n> x");
  EXPECT_EQ(answer_of(false, tools, "<tool_call><function=run<x>"), "<tool_call><function=run<x>");
}

/// A call that ends for want of its closer leaves what follows to be read.
TEST(AnswerScopeEdges, CallsWithoutTheirClosers) {
  const std::vector<std::string> tools = {"run"};
  const std::string open = "<tool_call><function=run>";
  EXPECT_EQ(answer_of(false, tools, open + "<tool_call><function=run></function></tool_call>x"), "x");
  EXPECT_EQ(answer_of(false, tools, open + "<function=run></function></tool_call>x"), "x");
  EXPECT_EQ(answer_of(false, tools, open + "<tool_call>x"), "<tool_call>x") << "which begins no call";
  EXPECT_EQ(answer_of(false, tools, open + "<parameter=code>\na\n</function></tool_call>x"), "x");
  EXPECT_EQ(answer_of(false, tools, open + "<parameter=code>\na</function></tool_call>\nx</parameter></function>y"),
            "y")
      << "in the middle of a line it is of the value";
  EXPECT_EQ(answer_of(false, tools, open + "<parameter=code>\na\n</parameter>\n</tool_call>x"), "x");
  EXPECT_EQ(answer_of(false, tools, open + "<parameter=code>a</parameter>b</tool_call>c</parameter></function>x"), "x")
      << "nor does a value end where the form does not go on";
}

/// As ToolCallParser has it, or a stop string would be found inside of a call.
TEST(AnswerScopeEdges, NamesMayComeInQuotesAndWhiteSpace) {
  for (const std::string name : {"\"run\"", "'run'", " run", "run\t", " 'run' "}) {
    EXPECT_EQ(answer_of(false, {"run"}, "<tool_call><function=" + name + "></function></tool_call>x"), "x") << name;
  }
  for (const std::string text : {"<tool_call><Function=run>x", "<tool_call><function=\"run'>x"}) {
    EXPECT_EQ(answer_of(false, {"run"}, text), text);
  }
}

/// answer_of also sees to it that every byte comes through.
TEST(AnswerScopeEdges, AnAnswerMayBreakOffAnywhere) {
  for (const std::string name : {"run", "fly"}) {
    const std::string text = "<think>a</think>\n<tool_call>\n<function=" + name +
                             ">\n<parameter=code>\n< </parameter>\n</function>\n</tool_call>x";
    for (size_t length = 0; length <= text.size(); ++length) answer_of(false, {"run"}, text.substr(0, length));
    EXPECT_EQ(answer_of(false, {"run"}, text), name == "run" ? "x" : text.substr(text.find("<tool_call>")));
  }
}

TEST(AnswerScopeEdges, WhatFollowsACallComesBeforeTheAnswerEnds) {
  AnswerScope scope(false, {"run"});
  std::string answer;
  for (const auto& piece :
       scope.feed("<tool_call><function=run><b><parameter=code>a < b</parameter></function>x</tool_call>y")) {
    answer += piece.answer ? piece.text : "";
  }
  EXPECT_EQ(answer, "x</tool_call>y");
}

TEST(PythonLiteralEdges, EscapesAndNumbers) {
  const auto dump = [](std::string_view text) {
    const auto value = parse_python_literal(text);
    return value ? value->dump() : std::string("nothing");
  };
  for (const char* bad : {"'\\udfff'", "'\\ud800'", "'\\u123", "'\\u1234", "'\\x1", "'\\x12", "1e999", "-1e999", "inf",
                          "{1a1: 2}", "{xax: 1}"}) {
    EXPECT_EQ(dump(bad), "nothing") << bad;
  }
  for (const std::string_view whole : {"'a'", "[1]", "{'a': 1}", "'\\x41'", "10"}) {
    for (size_t length = 0; length < whole.size(); ++length) {
      EXPECT_EQ(dump(whole.substr(0, length)), whole == "10" && length == 1 ? "1" : "nothing") << whole;
    }
  }
  EXPECT_EQ(dump("'\\ud7ff'"), "\"\xED\x9F\xBF\"");
  EXPECT_EQ(dump("'\\ue000'"), "\"\xEE\x80\x80\"");
  EXPECT_EQ(dump("'\\x41'"), "\"A\"");
}

TEST(TagScan, PartsOfATagAtTheEnd) {
  EXPECT_EQ(partial_tag_length("a</think", "</think>"), 7U);
  EXPECT_EQ(partial_tag_length("a</think>", "</think>"), 0U);
  EXPECT_EQ(partial_tag_length("a<", "</think>"), 1U);
  EXPECT_EQ(partial_tag_length("", "</think>"), 0U);
}

}  // namespace
}  // namespace tessera::text
