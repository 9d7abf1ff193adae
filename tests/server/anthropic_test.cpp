// Requests of /v1/messages as conversations, and deltas as its blocks and events.

#include <gmock/gmock.h>

#include "server/anthropic/error_json.h"
#include "server/anthropic/message_json.h"
#include "server/anthropic/messages_request.h"
#include "server/request_json.h"

namespace tessera::server::anthropic {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// `fields` in a request that is otherwise right.
Json body_with(const std::string& fields) {
  return body_of(R"({"max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}])" +
                 (fields.empty() ? "" : ", " + fields) + "}");
}

ChatRequest request_of(const Json& body, const RequestOptions& options = {}) {
  ChatRequest request;
  const auto error = parse_messages_request(body, options, request);
  EXPECT_FALSE(error) << body.dump() << ": " << error->message;
  return request;
}

std::string messages_of(const std::string& messages) {
  return template_request(request_of(body_of("{\"messages\": " + messages + "}")))["messages"].dump();
}

TEST(AnthropicRequest, AClaudeCodeTurn) {
  const ChatRequest request = request_of(body_of(request_text("claude_code")));
  EXPECT_TRUE(request.stream.stream);
  EXPECT_EQ(request.sampling.max_tokens, 32);
  EXPECT_EQ(request.thinking_budget, 2048);
  ASSERT_EQ(request.tools.schemas.size(), 2U);
  EXPECT_EQ(request.tools.schemas[0].name, "Bash");
  EXPECT_EQ(request.tools.schemas[0].parameters[1].type, text::ParameterType::number);
  EXPECT_THAT(request.notes,
              ElementsAre(HasSubstr("web_search_20250305"), HasSubstr("messages[2].content[1].content[1]")));
  const Json prompt = template_request(request);
  EXPECT_FALSE(prompt.contains("enable_thinking"));
  EXPECT_EQ(prompt["tools"][0]["function"]["parameters"]["required"].dump(), R"(["command"])");
  EXPECT_EQ(
      prompt["messages"].dump(),
      R"([{"role":"system","content":"You are a coding agent.\n\nWorking directory: /src"},)"
      R"({"role":"user","content":"<system-reminder>\nThe list of tasks is empty.\n</system-reminder>\n\n)"
      R"(What is in this folder?"},)"
      R"({"role":"assistant","content":"I will look.","reasoning_content":"I list it.","tool_calls":[)"
      R"({"id":"toolu_01","type":"function","function":{"name":"Bash","arguments":{"command":"ls",)"
      R"("timeout":1000}}},)"
      R"({"id":"toolu_02","type":"function","function":{"name":"Bash","arguments":{"command":"file a.png"}}}]},)"
      R"({"role":"tool","content":"a.png\nb.txt","tool_call_id":"toolu_01"},)"
      R"({"role":"tool","content":"Error: no such program\n\n[image: left out, since this model reads text only]",)"
      R"("tool_call_id":"toolu_02"},)"
      R"({"role":"user","content":"Read b.txt instead.\n\n<system>\nThe date has changed. It is Monday.)"
      R"(\n</system>"}])");
}

TEST(AnthropicRequest, TheBillingLineIsNoPartOfThePrompt) {
  const auto system = [](const std::string& value) {
    return template_request(request_of(body_with("\"system\": " + value)))["messages"][0]["content"].get<std::string>();
  };
  EXPECT_EQ(system(R"("x-anthropic-billing-header: cch=1;\nBe brief.")"), "Be brief.");
  EXPECT_EQ(system(R"("x-anthropic-billing-header: cch=1;")"), "Hi");
  EXPECT_EQ(system(R"("See x-anthropic-billing-header: there")"), "See x-anthropic-billing-header: there");
  EXPECT_EQ(system(R"([{"type": "text", "text": "a"}, {"type": "text", "text": "x-anthropic-billing-header: b"}])"),
            "a");
}

std::string thinking_of(const std::string& fields, const RequestOptions& options = {}) {
  const ChatRequest request = request_of(body_with(fields), options);
  const Json& variables = request.template_variables;
  return (variables.contains("enable_thinking") ? variables["enable_thinking"].dump() : "-") + " " +
         (request.thinking_budget ? std::to_string(*request.thinking_budget) : "-");
}

TEST(AnthropicRequest, Thinking) {
  EXPECT_EQ(thinking_of(""), "false -");
  EXPECT_EQ(thinking_of(R"("thinking": {"type": "enabled", "budget_tokens": 1024})"), "true 1024");
  EXPECT_EQ(thinking_of(R"("thinking": {"type": "disabled"})"), "false -");
  EXPECT_EQ(thinking_of(R"("thinking": {"type": "adaptive"})"), "- -");
  EXPECT_EQ(thinking_of(R"("thinking": {"type": "adaptive"}, "output_config": {"effort": "low"})"), "- 2048");
  for (const std::string type : {"enabled", "adaptive"}) {
    const auto shown = [&](const std::string& display) {
      return request_of(body_with(R"("thinking": {"type": ")" + type + "\"" + display + "}")).include_reasoning;
    };
    EXPECT_TRUE(shown(""));
    EXPECT_TRUE(shown(R"(, "display": "summarized")"));
    EXPECT_FALSE(shown(R"(, "display": "omitted")"));
  }
  RequestOptions options;
  options.template_kwargs = {{"enable_thinking", true}};
  EXPECT_EQ(thinking_of("", options), "true -");
  EXPECT_EQ(thinking_of(R"("thinking": {"type": "disabled"})", options), "false -") << "the request has the last word";
}

TEST(AnthropicRequest, SamplingAndStops) {
  RequestOptions options;
  options.sampling.logprobs = 3;
  const ChatRequest request = request_of(
      body_with(R"("stop_sequences": ["a", "b"], "top_k": 5, "top_p": 0.5, "temperature": 0.25, "seed": 3, "n": 4,
                   "stop": ["c"], "stop_token_ids": [7], "logprobs": 2, "prompt_logprobs": 2, "service_tier": "auto", "made_up": {"x": 1})"),
      options);
  EXPECT_THAT(request.sampling.stop, ElementsAre("a", "b"));
  EXPECT_THAT(request.sampling.stop_token_ids, ElementsAre(7));
  EXPECT_EQ(request.sampling.top_k, 5);
  EXPECT_EQ(request.sampling.top_p, 0.5F);
  EXPECT_EQ(request.sampling.temperature, 0.25F);
  EXPECT_EQ(request.sampling.n, 1);
  EXPECT_EQ(request.sampling.seed, 3U);
  EXPECT_FALSE(request.sampling.logprobs || request.sampling.prompt_logprobs);
  EXPECT_THAT(request.notes, ElementsAre("not known here and left out: made_up"));
  EXPECT_FALSE(request.format);
}

/// Whatever the server's defaults are: one answer, without log-probabilities, which its format has no place for.
TEST(AnthropicRequest, DefaultsOfTheServerThatItsFormatHas) {
  RequestOptions options;
  options.sampling.n = 3;
  options.sampling.prompt_logprobs = 1;
  options.sampling.min_p = 0.25F;
  const ChatRequest request = request_of(body_with(""), options);
  EXPECT_EQ(request.sampling.n, 1);
  EXPECT_EQ(request.sampling.prompt_logprobs, std::nullopt);
  EXPECT_EQ(request.sampling.min_p, 0.25F);
  EXPECT_TRUE(request.returns_reasoning);
}

TEST(AnthropicRequest, WhatIsNotHereIsNotedWhereItIsGiven) {
  const auto notes = [](const std::string& fields) { return request_of(body_with(fields)).notes; };
  EXPECT_THAT(notes(R"("mcp_servers": [], "container": {})"), ElementsAre());
  EXPECT_THAT(notes(R"("mcp_servers": null, "container": null)"), ElementsAre());
  EXPECT_THAT(notes(R"("mcp_servers": [{"name": "x"}])"), ElementsAre(HasSubstr("mcp_servers")));
  EXPECT_THAT(notes(R"("container": "abc")"), ElementsAre(HasSubstr("container")));
}

/// A budget that is given counts, however little effort is asked for.
TEST(AnthropicRequest, LittleEffortIsABudgetWhereNoneIsGiven) {
  const auto budget = [](const std::string& effort, const std::string& thinking) {
    return request_of(body_with(R"("output_config": {"effort": ")" + effort + R"("}, "thinking": )" + thinking))
        .thinking_budget;
  };
  EXPECT_EQ(budget("low", R"({"type": "adaptive"})"), 2048);
  EXPECT_EQ(budget("low", R"({"type": "auto"})"), 2048);
  EXPECT_EQ(budget("low", R"({"type": "enabled", "budget_tokens": 5000})"), 5000);
  EXPECT_EQ(budget("low", R"({"type": "enabled", "budget_tokens": 0})"), 0);
  EXPECT_EQ(budget("high", R"({"type": "adaptive"})"), std::nullopt);
  ChatRequest request;
  EXPECT_EQ(parse_messages_request(body_with(R"("output_config": 7)"), {}, request)->param, "output_config");
  EXPECT_EQ(parse_messages_request(body_with(R"("thinking": {"type": "x"})"), {}, request)->param, "thinking.type");
  EXPECT_EQ(parse_messages_request(body_with(R"("output_format": 7)"), {}, request)->param, "output_format");
  EXPECT_EQ(parse_messages_request(body_with(R"("output_format": {"type": "x"})"), {}, request)->param,
            "output_format.type");
  EXPECT_FALSE(request_of(body_with(R"("output_format": {})")).format);
}

TEST(AnthropicRequest, NothingIsIgnoredInSilence) {
  ChatRequest request;
  EXPECT_FALSE(parse_messages_request(body_with(R"("min_p": 0.1, "metadata": {}, "tempereture": 1)"), {}, request));
  EXPECT_THAT(request.notes, testing::ElementsAre("not known here and left out: tempereture"));
  const auto error = parse_messages_request(body_with(R"("typical_p": 0.5)"), {}, request);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->param, "typical_p");
}

TEST(AnthropicRequest, FormatsOfTheAnswer) {
  for (const std::string place : {"output_config.format", "output_format"}) {
    const auto given = [&](const std::string& format) {
      return body_with(place == "output_format" ? "\"output_format\": " + format
                                                : R"("output_config": {"format": )" + format + "}");
    };
    const ChatRequest request = request_of(given(R"({"type": "json_schema", "schema": {"type": "integer"}})"));
    ASSERT_TRUE(request.format) << place;
    EXPECT_EQ(request.format->source.kind, GrammarSource::Kind::json_schema);
    EXPECT_EQ(request.format->source.text, R"({"type":"integer"})");
    EXPECT_EQ(request.format->param, place + ".schema");
    EXPECT_TRUE(request.notes.empty());
    EXPECT_FALSE(request_of(given("null")).format);
    for (const char* wrong :
         {"5", "[]", R"({"type": "xml"})", R"({"type": "json_schema"})", R"({"type": "json_schema", "schema": 5})"}) {
      ChatRequest ignored;
      const auto error = parse_messages_request(given(wrong), {}, ignored);
      ASSERT_TRUE(error) << wrong;
      EXPECT_EQ(error->param.rfind(place, 0), 0U) << error->param;
    }
  }
  ChatRequest ignored;
  const std::string format = R"({"type": "json_schema", "schema": {}})";
  const auto error = parse_messages_request(
      body_with("\"output_format\": " + format + R"(, "output_config": {"format": )" + format + "}"), {}, ignored);
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message, HasSubstr("both given"));
}

TEST(AnthropicRequest, StrictTools) {
  const ChatRequest request = request_of(body_with(
      R"("tools": [{"name": "w", "type": "web_search_20250305"}, {"name": "f", "strict": true}, {"name": "g"}])"));
  ASSERT_EQ(request.tools.origins.size(), 2U);
  EXPECT_TRUE(request.tools.origins[0].strict);
  EXPECT_EQ(request.tools.origins[0].parameters, "tools[1].input_schema");
  EXPECT_FALSE(request.tools.origins[1].strict);
}

const std::string kTools =
    R"("tools": [{"name": "f", "input_schema": {"type": "object"}}, {"name": "g", "type": "custom"}])";

TEST(AnthropicRequest, ToolsAreWrittenAsTemplatesWantThem) {
  const ChatRequest request = request_of(body_with(
      R"("tools": [{"name": "f", "description": "Does f.", "input_schema": {"type": "object"}, "cache_control": {}},
                   {"name": "g", "type": "function", "description": ""}])"));
  EXPECT_EQ(template_request(request)["tools"].dump(),
            R"([{"type":"function","function":{"name":"f","description":"Does f.","parameters":{"type":"object"}}},)"
            R"({"type":"function","function":{"name":"g"}}])");
}

TEST(AnthropicRequest, LimitsAreOfItsFieldsToo) {
  const auto param = [](RequestLimits limits, const std::string& messages, const std::string& tools = "[]") {
    ChatRequest request;
    const auto error = parse_messages_request(body_of("{\"messages\": [" + messages + "], \"tools\": " + tools + "}"),
                                              {.limits = limits}, request);
    return error ? error->param : "";
  };
  const auto said = [](const std::string& role, const std::string& blocks) {
    return R"({"role": ")" + role + R"(", "content": [)" + blocks + "]}";
  };
  const std::string text = R"({"type": "text", "text": "a"})", two = text + "," + text;
  const std::string call = R"({"type": "tool_use", "name": "f", "input": {}})";
  const std::string tools = R"([{"name": "f"},{"name": "g"}])";
  const auto result = [&](const std::string& blocks) {
    return said("user", R"({"type": "tool_result", "tool_use_id": "1", "content": [)" + blocks + "]}");
  };
  const auto messages = [&](size_t most, const std::string& given) { return param({.messages_max = most}, given); };
  EXPECT_EQ(messages(2, said("user", text) + "," + said("user", text)), "");
  EXPECT_EQ(messages(1, said("user", text) + "," + said("user", text)), "messages");
  for (const char* role : {"user", "assistant", "system"}) {
    EXPECT_EQ(param({.parts_max = 2}, said(role, two)), "") << role;
    EXPECT_EQ(param({.parts_max = 1}, said(role, two)), "messages[0].content") << role;
  }
  EXPECT_EQ(param({.parts_max = 1}, result(text)), "");
  EXPECT_EQ(param({.parts_max = 1}, result(two)), "messages[0].content[0].content");
  EXPECT_EQ(param({.tool_calls_max = 2}, said("assistant", call + "," + call)), "");
  EXPECT_EQ(param({.tool_calls_max = 1}, said("assistant", call + "," + call)), "messages[0].content");
  EXPECT_EQ(param({.tools_max = 2}, said("user", text), tools), "");
  EXPECT_EQ(param({.tools_max = 1}, said("user", text), tools), "tools");
  EXPECT_EQ(param({.tool_bytes_max = tools.size()}, said("user", text), tools), "");
  EXPECT_EQ(param({.tool_bytes_max = 20}, said("user", text), tools), "tools");
}

TEST(AnthropicRequest, AFailureOfAToolIsSaidOnce) {
  const auto text = [](const std::string& result) {
    return request_of(
               body_of(R"({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1")" +
                       result + "}]}]}"))
        .messages[0]
        .text;
  };
  EXPECT_EQ(text(R"(, "content": "gone", "is_error": true)"), "Error: gone");
  EXPECT_EQ(text(R"(, "content": "gone", "is_error": false)"), "gone");
  EXPECT_EQ(text(R"(, "content": "Error: gone", "is_error": true)"), "Error: gone");
  EXPECT_EQ(text(R"(, "content": "<tool_use_error>gone</tool_use_error>", "is_error": true)"),
            "<tool_use_error>gone</tool_use_error>");
  EXPECT_EQ(text(R"(, "is_error": true)"), "Error: ");
}

TEST(AnthropicRequest, ToolChoices) {
  const auto with = [](const std::string& choice) {
    return request_of(body_with(kTools + ", \"tool_choice\": " + choice));
  };
  EXPECT_EQ(request_of(body_with(kTools)).tools.choice.mode, ToolMode::automatic);
  for (const std::string type : {R"({"type": "auto")", R"({"type": "any")", R"({"type": "tool", "name": "g")"}) {
    EXPECT_TRUE(with(type + "}").parallel_tool_calls) << type;
    EXPECT_FALSE(with(type + R"(, "disable_parallel_tool_use": true})").parallel_tool_calls) << type;
  }
  EXPECT_EQ(with(R"({"type": "any"})").tools.choice.mode, ToolMode::required);
  EXPECT_EQ(with(R"({"type": "tool", "name": "g"})").tools.choice.name, "g");
  EXPECT_TRUE(with(R"({"type": "none"})").tools.json.empty());
}

TEST(AnthropicRequest, ALastMessageOfTheAssistantIsContinued) {
  const auto request = [](const std::string& last) {
    return request_of(body_of(R"({"messages": [{"role": "user", "content": "Hi"}, )" + last + "]}"));
  };
  const ChatRequest prefill = request(R"({"role": "assistant", "content": "{\"a\": "})");
  ASSERT_TRUE(prefill.continues_message);
  const Json prompt = template_request(prefill);
  EXPECT_EQ(prompt["add_generation_prompt"], false);
  std::string rendered = "<user>Hi<assistant>" + prompt["messages"][1]["content"].get<std::string>() + "<end>";
  cut_at_continuation(prefill, rendered);
  EXPECT_EQ(rendered, "<user>Hi<assistant>{\"a\": ");
  const ChatRequest thinking =
      request(R"({"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm, ", "signature": "s"}]})");
  EXPECT_TRUE(thinking.continues_message);
  ASSERT_EQ(thinking.messages.size(), 2U);
  EXPECT_EQ(thinking.messages[1].reasoning, "Hm, ");
  EXPECT_FALSE(request(R"({"role": "assistant", "content": ""})").continues_message);
  EXPECT_EQ(request(R"({"role": "assistant", "content": []})").messages.size(), 1U);
  EXPECT_FALSE(
      request(R"({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]})")
          .continues_message);
}

TEST(AnthropicRequest, OddBlocks) {
  EXPECT_EQ(messages_of(R"([{"role": "user", "content": [{"type": "text", "text": "a"},
      {"type": "tool_result", "tool_use_id": "1"}, {"type": "text", "text": "b"}]}])"),
            R"([{"role":"user","content":"a"},{"role":"tool","content":"","tool_call_id":"1"},)"
            R"({"role":"user","content":"b"}])");
  EXPECT_EQ(messages_of(R"([{"role": "user", "content": "x"}, {"role": "assistant", "content": [
      {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
      {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
      {"type": "mcp_tool_use", "id": "m", "name": "f", "server_name": "x", "input": {}},
      {"type": "redacted_thinking", "data": "x"},
      {"type": "tool_use", "id": "1", "name": "f", "input": "broken"}]}])"),
            R"([{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[{"id":"1",)"
            R"("type":"function","function":{"name":"f","arguments":{"arguments":"broken"}}}]}])");
  EXPECT_EQ(messages_of(R"([{"role": "user", "content": [{"type": "document", "title": "T", "source":
      {"type": "text", "media_type": "text/plain", "data": "words"}}]}])"),
            R"([{"role":"user","content":"T\n\nwords"}])");
  EXPECT_EQ(messages_of(R"([{"role": "user", "content": []}])"), R"([{"role":"user","content":""}])");
  EXPECT_EQ(messages_of(R"([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [
      {"type": "tool_reference", "tool_name": "WebFetch"}]}]}])"),
            R"([{"role":"tool","content":"The tool WebFetch can be called now.","tool_call_id":"1"}])");
  EXPECT_EQ(messages_of(R"([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [
      {"type": "document", "title": "T", "source": {"type": "text", "data": "words"}},
      {"type": "document", "source": {"type": "base64", "data": "x"}}]}]}])"),
            R"([{"role":"tool","content":"T\n\nwords\n\n[document: left out, since this model reads text only]",)"
            R"("tool_call_id":"1"}])");
  EXPECT_EQ(messages_of(R"([{"role": "user", "content": "x"}, {"role": "system", "content": [
      {"type": "tools_changed"}, {"type": "text", "text": "Be brief."}]}])"),
            R"([{"role":"user","content":"x\n\n<system>\nBe brief.\n</system>"}])");
}

TEST(AnthropicRequest, MediaCanBeLeftOut) {
  RequestOptions options;
  options.drops_media = true;
  const ChatRequest request =
      request_of(body_of(R"({"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64"}},
                 {"type": "document", "source": {"type": "url"}}, {"type": "text", "text": "What is it?"}]}]})"),
                 options);
  EXPECT_EQ(request.messages[0].text,
            "[image: left out, since this model reads text only]\n\n"
            "[document: left out, since this model reads text only]\n\nWhat is it?");
  EXPECT_EQ(request.notes.size(), 2U);
}

TEST(AnthropicRequest, WhatIsWrongIsNamed) {
  const std::string user = R"("messages": [{"role": "user", "content": )";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"max_tokens": 5})", "messages"},
      {R"({"messages": []})", "messages"},
      {R"({"messages": [5]})", "messages[0]"},
      {R"({"messages": [{"role": "tool", "content": "x"}]})", "messages[0].role"},
      {R"({"messages": [{"role": "user"}]})", "messages[0].content"},
      {"{" + user + "5}]}", "messages[0].content"},
      {"{" + user + "[5]}]}", "messages[0].content[0]"},
      {"{" + user + R"([{"text": "x"}]}]})", "messages[0].content[0].type"},
      {"{" + user + R"([{"type": "text"}]}]})", "messages[0].content[0].text"},
      {"{" + user + R"([{"type": "image", "source": {}}]}]})", "messages[0].content[0].type"},
      {"{" + user + R"([{"type": "document", "source": {"type": "base64"}}]}]})", "messages[0].content[0].source.type"},
      {"{" + user + R"([{"type": "tool_result", "content": "x"}]}]})", "messages[0].content[0].tool_use_id"},
      {"{" + user + R"([{"type": "tool_result", "tool_use_id": "1", "content": 5}]}]})",
       "messages[0].content[0].content"},
      {R"({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "1"}]}]})",
       "messages[0].content[0].name"},
      {R"({"messages": [{"role": "assistant", "content": [{"type": "image"}]}]})", "messages[0].content[0].type"},
      {R"({"messages": [{"role": "assistant", "content": ""}]})", "messages"},
      {"{" + user + R"("x"}], "system": 5})", "system"},
      {"{" + user + R"("x"}], "model": 5})", "model"},
      {"{" + user + R"("x"}], "stream": "yes"})", "stream"},
      {"{" + user + R"("x"}], "max_tokens": "many"})", "max_tokens"},
      {"{" + user + R"("x"}], "stop_sequences": [""]})", "stop_sequences[0]"},
      {"{" + user + R"("x"}], "thinking": true})", "thinking"},
      {"{" + user + R"("x"}], "thinking": {}})", "thinking.type"},
      {"{" + user + R"("x"}], "thinking": {"type": "enabled", "budget_tokens": -1}})", "thinking.budget_tokens"},
      {"{" + user + R"("x"}], "thinking": {"type": "enabled", "display": 1}})", "thinking.display"},
      {"{" + user + R"("x"}], "tools": {}})", "tools"},
      {"{" + user + R"("x"}], "tools": [{"name": "a b"}]})", "tools[0].name"},
      {"{" + user + R"("x"}], "tools": [{"name": "f"}, {"name": "f"}]})", "tools[1].name"},
      {"{" + user + R"("x"}], "tools": [{"name": "f", "input_schema": 5}]})", "tools[0].input_schema"},
      {"{" + user + R"("x"}], "tool_choice": "auto"})", "tool_choice"},
      {"{" + user + R"("x"}], "tool_choice": {"type": "any"}})", "tool_choice"},
      {"{" + user + R"("x"}], "tools": [{"name": "f"}], "tool_choice": {"type": "tool", "name": "g"}})",
       "tool_choice.name"},
  };
  for (const auto& [body, param] : cases) {
    ChatRequest request;
    const auto error = parse_messages_request(body_of(body), {}, request);
    ASSERT_TRUE(error) << body;
    EXPECT_EQ(error->http_status, 400);
    EXPECT_EQ(error->param, param) << error->message;
    EXPECT_THAT(error->message, HasSubstr(param));
  }
}

const ResponseHead kHead{.id = "msg_1", .model = "m"};
const Usage kUsage{.prompt_tokens = 10, .completion_tokens = 5, .cached_tokens = 4};

/// The types of all events, and the message that a client makes of them.
std::pair<std::vector<std::string>, json> gather(const std::string& text) {
  std::vector<std::string> types;
  json message;
  std::string input;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find("\n\n", at);
    const std::string event = text.substr(at, end - at);
    at = end + 2;
    const size_t data = event.find("\ndata: ");
    const json parsed = json::parse(event.substr(data + 7));
    EXPECT_EQ(event.substr(0, data), "event: " + parsed["type"].get<std::string>());
    types.push_back(parsed["type"]);
    if (types.back() == "message_start") message = parsed["message"];
    if (types.back() == "content_block_start") {
      EXPECT_EQ(parsed["index"], message["content"].size());
      message["content"].push_back(parsed["content_block"]);
      input.clear();
    }
    if (types.back() == "content_block_delta") {
      json& block = message["content"].at(parsed["index"].get<size_t>());
      const json& delta = parsed["delta"];
      for (const char* key : {"thinking", "text", "signature"}) {
        if (delta.contains(key)) block[key] = block[key].get<std::string>() + delta[key].get<std::string>();
      }
      if (delta.contains("partial_json")) {
        input += delta["partial_json"].get<std::string>();
        block["input"] = json::accept(input) ? json::parse(input) : json(input);
      }
    }
    if (types.back() == "message_delta") {
      message.update(parsed["delta"]);
      message["usage"] = parsed["usage"];
    }
  }
  return {types, message};
}

json streamed(const std::vector<ChatDelta>& deltas) {
  MessageEvents events(kHead);
  std::string out;
  events.begin({.prompt_tokens = 10}, out);
  for (const ChatDelta& delta : deltas) events.feed(delta, out);
  events.end(kUsage, out);
  return gather(out).second;
}

json whole(const std::vector<ChatDelta>& deltas) {
  ChatMessageText message;
  for (const ChatDelta& delta : deltas) message.add(delta);
  return json::parse(message_json(kHead, message, kUsage));
}

TEST(AnthropicMessage, EventsAddUpToTheMessage) {
  const std::vector<std::vector<ChatDelta>> answers = {
      {{.finish = ChatFinish::stop}},
      {{.content = "Y\"es"}, {.content = ".", .finish = ChatFinish::stop}},
      {{.reasoning = "h"}, {.reasoning = "m", .content = "Yes."}, {.finish = ChatFinish::length}},
      {{.content = "No"}, {.finish = ChatFinish::stop_string, .stop_string = "END"}},
      {{.content = "I call."},
       {.tool_calls = {{.index = 0, .id = "toolu_1", .name = "f"}}},
       {.tool_calls = {{.index = 0, .arguments = "{\"a\": "}}},
       {.tool_calls = {{.index = 0, .arguments = "1}"}, {.index = 1, .id = "toolu_2", .name = "g", .arguments = "{}"}},
        .finish = ChatFinish::tool_calls}},
  };
  for (const auto& deltas : answers) EXPECT_EQ(streamed(deltas), whole(deltas));
  EXPECT_EQ(whole(answers[0])["stop_reason"], "end_turn");
  EXPECT_EQ(whole(answers[2])["stop_reason"], "max_tokens");
  EXPECT_EQ(whole(answers[2])["content"][0]["type"], "thinking");
  EXPECT_THAT(whole(answers[2])["content"][0]["signature"].get<std::string>(), HasSubstr("tessera-"));
  EXPECT_EQ(whole(answers[3])["stop_reason"], "stop_sequence");
  EXPECT_EQ(whole(answers[3])["stop_sequence"], "END");
  EXPECT_EQ(whole(answers[4])["stop_reason"], "tool_use");
  EXPECT_EQ(whole(answers[4])["content"][1]["input"]["a"], 1);
  EXPECT_EQ(whole(answers[4])["usage"]["input_tokens"], 6);
  EXPECT_EQ(whole(answers[4])["usage"]["cache_read_input_tokens"], 4);
}

TEST(AnthropicMessage, ACutCallBreaksOffInAStreamAndIsNotInAWholeAnswer) {
  const std::vector<ChatDelta> deltas = {
      {.content = "So:"},
      {.tool_calls = {{.index = 0, .id = "toolu_1", .name = "run", .arguments = "{\"command\": \"rm -rf /"}},
       .finish = ChatFinish::length,
       .call_is_cut = true}};
  EXPECT_EQ(streamed(deltas)["content"][1]["input"], "{\"command\": \"rm -rf /");
  EXPECT_EQ(streamed(deltas)["stop_reason"], "max_tokens");
  EXPECT_EQ(whole(deltas)["content"].size(), 1U);
  EXPECT_EQ(whole(deltas)["stop_reason"], "max_tokens");
}

TEST(AnthropicMessage, OrderOfEvents) {
  MessageEvents events(kHead);
  std::string out;
  events.begin({}, out);
  events.feed({.reasoning = "a"}, out);
  events.feed({.content = "b", .finish = ChatFinish::stop}, out);
  events.end(kUsage, out);
  EXPECT_THAT(gather(out).first,
              ElementsAre("message_start", "ping", "content_block_start", "content_block_delta", "content_block_delta",
                          "content_block_stop", "content_block_start", "content_block_delta", "content_block_stop",
                          "message_delta", "message_stop"));
}

TEST(AnthropicError, AThreadIsRefusedSoThatClientsDoWithout) {
  for (const char* thread : {R"({"type": "create"})", R"({"type": "continue", "previous_message_id": "msg_1"})"}) {
    ChatRequest request;
    const auto error = parse_messages_request(body_with(R"("thread": )" + std::string(thread)), {}, request);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->http_status, 400);
    const json told = json::parse(error_json(*error));
    EXPECT_EQ(told["error"]["type"], "invalid_request_error");
    EXPECT_EQ(told["error"]["details"]["error_code"], "thread_unsupported_request");
    EXPECT_THAT(told["error"]["message"].get<std::string>(), HasSubstr("send all messages each time"));
  }
  request_of(body_with(R"("thread": null)"));
}

TEST(AnthropicError, TypesFollowTheStatus) {
  const auto type = [](int status) {
    return json::parse(error_json({.http_status = status, .message = "why \"so\""}))["error"]["type"]
        .get<std::string>();
  };
  EXPECT_EQ(type(400), "invalid_request_error");
  EXPECT_EQ(type(401), "authentication_error");
  EXPECT_EQ(type(403), "permission_error");
  EXPECT_EQ(type(404), "not_found_error");
  EXPECT_EQ(type(405), "invalid_request_error");
  EXPECT_EQ(type(413), "request_too_large");
  EXPECT_EQ(type(429), "rate_limit_error");
  EXPECT_EQ(type(500), "api_error");
  EXPECT_EQ(type(503), "overloaded_error");
  EXPECT_EQ(error_json(bad_request("x", "no")),
            R"({"type":"error","error":{"type":"invalid_request_error","message":"no"}})");
}

}  // namespace
}  // namespace tessera::server::anthropic
