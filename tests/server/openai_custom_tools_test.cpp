// Tools of type custom in chat completions: a function for the model, a text for the client.

#include <nlohmann/json.hpp>

#include "openai_json.h"
#include "server/openai/responses.h"
#include "server/request/call_grammar.h"
#include "server/request/chat_choice.h"
#include "server/request/custom_tool.h"

namespace tessera::server::openai {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTools =
    R"("tools":[{"type":"function","function":{"name":"f"}},
                {"type":"custom","custom":{"name":"code","description":"Runs code.","format":{"type":"text"}}}])";

std::string with_format(const std::string& format) {
  return R"("tools":[{"type":"custom","custom":{"name":"c","format":)" + format + "}}]";
}

ApiError refusal(const std::string& fields) {
  ChatRequest request;
  const auto error = parse_chat_request(chat_body(fields), {}, request);
  EXPECT_TRUE(error) << fields << " was taken";
  return error.value_or(ApiError());
}

TEST(OpenAiCustomTools, TheModelSeesAFunctionOfOneText) {
  const ChatRequest request = chat_request(kTools);
  const Json& function = request.tools.json[1]["function"];
  EXPECT_EQ(request.tools.json[1]["type"], "function");
  EXPECT_EQ(function["name"], "code");
  EXPECT_EQ(function["description"], "Runs code.");
  EXPECT_EQ(function["parameters"]["properties"]["input"]["type"], "string");
  EXPECT_EQ(function["parameters"]["required"], Json({"input"}));
  EXPECT_THAT(request.tools.custom_names(), ElementsAre("code"));
  EXPECT_EQ(request.tools.schemas[1].parameters.at(0).name, "input");
  EXPECT_FALSE(*answer_grammar(request.tools, true, {}));  // free text
}

TEST(OpenAiCustomTools, TheInputFollowsItsGrammar) {
  const auto source = [](const std::string& format) {
    const auto grammar = answer_grammar(chat_request(with_format(format)).tools, true, {});
    EXPECT_TRUE(grammar.ok() && *grammar) << format;
    return (*grammar)->source.text;
  };
  EXPECT_THAT(source(R"({"type":"grammar","grammar":{"syntax":"regex","definition":"[0-9]+"}})"),
              HasSubstr(R"({"type":"regex","pattern":"[0-9]+"})"));
  EXPECT_THAT(source(R"({"type":"grammar","grammar":{"syntax":"lark","definition":"start: \"a\""}})"),
              HasSubstr(R"({"type":"grammar","grammar":"start: \"a\""})"));
  EXPECT_THAT(source(R"({"type":"grammar","syntax":"regex","definition":"b"})"), HasSubstr(R"("pattern":"b")"));
  const Json shown =
      chat_request(with_format(R"({"type":"grammar","grammar":{"syntax":"regex","definition":"[0-9]+"}})")).tools.json;
  EXPECT_THAT(shown.dump(), HasSubstr("matches this regular expression:\\n[0-9]+"));
}

TEST(OpenAiCustomTools, TheModelIsToldWhatTheyAreFor) {
  for (const std::string format :
       {R"({"type":"text"})", R"({"type":"grammar","grammar":{"syntax":"regex","definition":"[0-9]+"}})",
        R"({"type":"grammar","grammar":{"syntax":"lark","definition":"start: \"a\""}})"}) {
    const std::string tool = R"("tools":[{"type":"custom","custom":{"name":"c","format":)" + format;
    const ChatRequest told = chat_request(tool + R"(,"description":"Counts."}}])");
    EXPECT_EQ(told.tools.json.at(0)["function"]["description"], "Counts.") << format;
    EXPECT_FALSE(chat_request(tool + "}}]").tools.json.at(0)["function"].contains("description")) << format;
  }
}

TEST(OpenAiCustomTools, ChoicesNameThem) {
  const auto chosen = [](const std::string& choice) {
    const ToolFields tools = chat_request(std::string(kTools) + R"(,"tool_choice":)" + choice).tools;
    std::string names = tools.choice.name + ":";
    for (const auto& tool : tools.schemas) names += tool.name + ",";
    return names;
  };
  EXPECT_EQ(chosen(R"({"type":"custom","custom":{"name":"code"}})"), "code:f,code,");
  EXPECT_EQ(chosen(R"({"type":"custom","name":"code"})"), "code:f,code,");
  EXPECT_EQ(chosen(R"({"type":"allowed_tools","allowed_tools":{"mode":"auto",
                      "tools":[{"type":"custom","custom":{"name":"code"}}]}})"),
            ":code,");
}

TEST(OpenAiCustomTools, PastCallsAndWhatTheyAnswered) {
  ChatRequest request;
  const Json body = body_of(
      R"({"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1",)"
      R"("type":"custom","custom":{"name":"code","input":"print(\"1\")\n"}}]},)"
      R"({"role":"tool","tool_call_id":"call_1","content":"1"}],)" +
      std::string(kTools) + "}");
  const auto error = parse_chat_request(body, {}, request);
  ASSERT_FALSE(error) << error->message;
  const Json messages = template_request(request)["messages"];
  EXPECT_EQ(messages[1]["tool_calls"][0]["function"].dump(),
            R"({"name":"code","arguments":{"input":"print(\"1\")\n"}})");
  EXPECT_EQ(messages[2].dump(), R"({"role":"tool","content":"1","tool_call_id":"call_1"})");
}

TEST(OpenAiCustomTools, NamesWhatIsWrong) {
  const char* const cases[][2] = {
      {R"("tools":[{"type":"custom"}])", "tools[0].custom"},
      {R"("tools":[{"type":"custom","name":"c"}])", "tools[0].custom"},
      {R"("tools":[{"type":"custom","custom":5}])", "tools[0].custom"},
      {R"("tools":[{"type":"custom","custom":{"name":"a b"}}])", "tools[0].custom.name"},
      {R"("tools":[{"type":"custom","custom":{"name":"c","description":5}}])", "tools[0].custom.description"},
      {R"("tools":[{"type":"custom","custom":{"name":"c"}},{"type":"custom","custom":{"name":"c"}}])",
       "tools[1].custom.name"},
      {R"("tools":[{"type":"function","function":{"name":"c"}},{"type":"custom","custom":{"name":"c"}}])",
       "tools[1].custom.name"},
      {R"("tools":[{"type":"web_search"}])", "tools[0].type"},
      {R"("tool_choice":{"type":"custom","custom":{"name":"c"}})", "tool_choice.custom.name"},
      {R"("tool_choice":{"type":"custom"})", "tool_choice.custom"},
  };
  for (const auto& [fields, param] : cases) EXPECT_EQ(refusal(fields).param, param) << fields;
  const char* const formats[][2] = {
      {"5", ""},
      {"{}", ""},
      {R"({"type":"xml"})", ".type"},
      {R"({"type":"grammar"})", ".syntax"},
      {R"({"type":"grammar","grammar":{"syntax":"gbnf","definition":"x"}})", ".grammar.syntax"},
      {R"({"type":"grammar","grammar":{"syntax":"regex"}})", ".grammar.definition"},
      {R"({"type":"grammar","grammar":{"syntax":"regex","definition":5}})", ".grammar.definition"},
  };
  for (const auto& [format, param] : formats) {
    EXPECT_EQ(refusal(with_format(format)).param, std::string("tools[0].custom.format") + param) << format;
  }
  const std::string deep = std::string(100, '(') + std::string(100, ')');
  EXPECT_THAT(
      refusal(with_format(R"({"type":"grammar","grammar":{"syntax":"regex","definition":")" + deep + R"("}})")).message,
      HasSubstr("deeper than"));
  for (const char* call : {R"({"id":"1","type":"custom"})", R"({"id":"1","type":"custom","custom":{"input":"x"}})",
                           R"({"id":"1","type":"custom","custom":{"name":"c","input":5}})"}) {
    ChatRequest request;
    const Json body = body_of(R"({"messages":[{"role":"assistant","tool_calls":[)" + std::string(call) + "]}]}");
    const auto error = parse_chat_request(body, {}, request);
    ASSERT_TRUE(error) << call;
    EXPECT_THAT(error->param, HasSubstr("messages[0].tool_calls[0].custom")) << call;
  }
}

const ResponseHead kHead{.id = "chatcmpl-1", .created = 1700000000, .model = "m"};

/// The calls of an answer of `text`, cut into pieces of `piece` bytes: streamed and joined, and whole. The two agree.
json calls_of(const std::string& text, size_t piece, StopCause cause = StopCause::model) {
  ChatChoice choice(
      {.request_id = "chatcmpl-1", .tools = {{"f", {{"a"}}}, {"code", {{"input"}}}}, .custom_tools = {"code"}});
  const ChunkWriter writer(ChunkWriter::Kind::chat, kHead, false);
  ChatMessageText message;
  json joined = json::array();
  for (size_t at = 0; at < text.size(); at += piece) {
    const bool last = at + piece >= text.size();
    const ChatDelta delta = choice.feed({.text = text.substr(at, piece),
                                         .finish_reason = !last                       ? FinishReason::none
                                                          : cause == StopCause::model ? FinishReason::stop
                                                                                      : FinishReason::length,
                                         .stop_cause = last ? cause : StopCause::none});
    message.add(delta);
    if (delta.empty()) continue;
    std::string chunk;
    writer.delta(0, delta, chunk);
    for (const json& call : json::parse(chunk)["choices"][0]["delta"].value("tool_calls", json::array())) {
      const size_t index = call.at("index");
      if (index == joined.size()) {
        joined.push_back(call);
        joined.back().erase("index");
        continue;
      }
      const std::string type = joined[index]["type"];
      const char* key = type == "custom" ? "input" : "arguments";
      joined[index][type][key] = joined[index][type][key].get<std::string>() + call.at(type).at(key).get<std::string>();
    }
  }
  const json whole = json::parse(chat_completion_json(kHead, {.choices = {message}}))["choices"][0]["message"];
  EXPECT_EQ(joined, whole.value("tool_calls", json::array())) << piece;
  return joined;
}

std::string call(const std::string& name, const std::string& arguments) {
  return "<tool_call>\n<function=" + name + ">\n" + arguments + "</function>\n</tool_call>";
}

TEST(OpenAiCustomTools, TheClientGetsTheText) {
  const std::string code = "print(\"<b>\", 'e')\n\n\tx = {}\n";
  const std::string text = call("code", "<parameter=input>\n" + code + "\n</parameter>\n") + "\n" +
                           call("f", "<parameter=a>\nb\n</parameter>\n") + "\n" +
                           call("code", "<parameter=input>\n\n</parameter>\n");
  for (const size_t piece : {text.size(), size_t{1}, size_t{7}}) {
    const json calls = calls_of(text, piece);
    ASSERT_EQ(calls.size(), 3U);
    EXPECT_EQ(calls[0]["type"], "custom");
    EXPECT_EQ(calls[0]["custom"], json({{"name", "code"}, {"input", code}})) << piece;
    EXPECT_FALSE(calls[0].contains("function"));
    EXPECT_EQ(calls[1]["type"], "function");
    EXPECT_EQ(calls[1]["function"]["arguments"], R"({"a": "b"})");
    EXPECT_EQ(calls[2]["custom"]["input"], "");
    EXPECT_NE(calls[0]["id"], calls[2]["id"]);
  }
  const std::string escapes = call("code", "<parameter=input>\na\\\"b\\u0041</par>\n</parameter>\n");
  for (size_t piece = 1; piece <= escapes.size(); ++piece) {
    EXPECT_EQ(calls_of(escapes, piece).at(0)["custom"]["input"], "a\\\"b\\u0041</par>") << piece;
  }
}

TEST(OpenAiCustomTools, WhatIsNotTheInputAloneIsShown) {
  // A model may forget the parameter's name, or write several.
  EXPECT_EQ(calls_of(call("code", "<parameter=source>\n1\n</parameter>\n"), 5).at(0)["custom"]["input"], "1");
  EXPECT_EQ(calls_of(call("code", ""), 5).at(0)["custom"]["input"], "");
  const json both = calls_of(call("code", "<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n</parameter>\n"), 5);
  EXPECT_EQ(json::parse(both.at(0)["custom"]["input"].get<std::string>()), json({{"a", "1"}, {"b", "2"}}));
  const json late = calls_of(call("code", "<parameter=a>\n1\n</parameter>\n<parameter=input>\n2\n</parameter>\n"), 5);
  EXPECT_EQ(late.at(0)["custom"]["input"], "2") << "beside something else";
}

/// However JSON spells it, and wherever its pieces end.
TEST(OpenAiCustomTools, EscapesAreWhatTheyMean) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"(\ud83d\ude00)", "😀"}, {R"(\uD83D\uDE00)", "😀"}, {R"(\u0905)", "अ"}, {R"(\ud55c)", "한"}};
  for (const auto& [escaped, means] : cases) {
    const std::string arguments = R"({"input": "a)" + escaped + R"(b"})";
    for (size_t cut = 0; cut <= arguments.size(); ++cut) {
      CallInput input;
      std::string text = input.feed(arguments.substr(0, cut));
      text += input.feed(arguments.substr(cut));
      EXPECT_EQ(text, "a" + means + "b") << arguments << " cut at " << cut;
      EXPECT_EQ(input.whole(), text);
    }
  }
}

TEST(OpenAiCustomTools, ACutInputStaysAsItIs) {
  const json calls = calls_of("<tool_call>\n<function=code>\n<parameter=input>\nrm -rf /tm", 4, StopCause::none);
  EXPECT_EQ(calls.at(0)["custom"]["input"], "rm -rf /tm");
  const json other = calls_of("<tool_call>\n<function=code>\n<parameter=source>\nrm -rf /tm", 4, StopCause::none);
  EXPECT_EQ(other.at(0)["custom"]["input"], "") << "nor is it the beginning of JSON";
}

}  // namespace
}  // namespace tessera::server::openai
