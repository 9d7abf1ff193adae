// Every field with every wrong type and range: a 400 that names the field's path.

#include <gmock/gmock.h>

#include <array>

#include "openai_json.h"
#include "server/openai/completion_request.h"
#include "server/openai/tokenize_request.h"

namespace tessera::server::openai {
namespace {

struct BadField {
  std::string key;
  std::vector<std::string> values;
};

// Of each kind; null is as good as nothing given.
const std::vector<std::string> kNotNumber = {"\"1\"", "true", "[]", "{}", "[1]"};
const std::vector<std::string> kNotWhole = {"\"1\"",
                                            "true",
                                            "[]",
                                            "{}",
                                            "1.5",
                                            "-7.0",
                                            "1e300",
                                            "-1e300",
                                            "-9223372036854775808",
                                            "18446744073709551615",
                                            "18446744073709551616"};
const std::vector<std::string> kNotFlag = {"\"true\"", "1", "0", "[]", "{}", "1.5"};
const std::vector<std::string> kNotText = {"1", "true", "[]", "{}", "1.5"};
const std::vector<std::string> kNotObject = {"1", "true", "[]", "\"x\"", "1.5"};

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string many(size_t count, const std::string& element) {
  std::string list = "[";
  for (size_t i = 0; i < count; ++i) list += (i > 0 ? "," : "") + element;
  return list + "]";
}

/// Fields of both endpoints.
std::vector<BadField> sampling_fields_gone_wrong() {
  return {
      {"model", kNotText},
      {"temperature", kNotNumber + std::vector<std::string>{"-0.1", "1e39", "-1e300"}},
      {"top_p", kNotNumber + std::vector<std::string>{"0", "-0.5", "1.01", "1e-60", "1e300"}},
      {"min_p", kNotNumber + std::vector<std::string>{"-0.5", "1.01"}},
      {"repetition_penalty", kNotNumber + std::vector<std::string>{"0", "-1", "1e39"}},
      {"presence_penalty", kNotNumber + std::vector<std::string>{"-2.1", "2.1"}},
      {"frequency_penalty", kNotNumber + std::vector<std::string>{"-2.1", "2.1"}},
      {"top_k", kNotWhole + std::vector<std::string>{"-2", "4294967296"}},
      {"seed", {"\"1\"", "true", "[]", "{}", "1.5", "1e300", "18446744073709551616"}},
      {"max_tokens", kNotWhole + std::vector<std::string>{"-2", "9223372036854775808"}},
      {"min_tokens", kNotWhole + std::vector<std::string>{"-1"}},
      {"n", kNotWhole + std::vector<std::string>{"0", "-1", "17", "17.0", "4294967297"}},
      {"stop",
       {"1", "true", "{}", "\"\"", "[\"a\", 1]", "[\"\"]", "[[]]", many(17, "\"a\""),
        std::string("\"") + std::string(5000, 'x') + "\"", many(9, "\"" + std::string(500, 'x') + "\"")}},
      {"stop_token_ids",
       {"1", "\"1\"", "{}", "[-1]", "[1.5]", "[-1.0]", "[\"1\"]", "[2147483648]", "[2147483648.0]", "[null]",
        many(4097, "1")}},
      {"ignore_eos", kNotFlag},
      {"skip_special_tokens", kNotFlag},
      {"include_stop_str_in_output", kNotFlag},
      {"prompt_logprobs", kNotWhole + std::vector<std::string>{"-1", "21"}},
      {"logit_bias",
       {"1", "\"1\"", "[]", "[1]", "{\"a\": 1}", "{\"-1\": 1}", "{\"1.5\": 1}", "{\"01\": 1}", "{\"2147483648\": 1}",
        "{\" 1\": 1}", "{\"\": 1}", "{\"1\": 101}", "{\"1\": -101}", "{\"1\": \"5\"}", "{\"1\": null}",
        "{\"1\": 1e300}"}},
      {"stream", kNotFlag},
      {"stream_options",
       kNotObject + std::vector<std::string>{"{\"include_usage\": 1}", "{\"continuous_usage_stats\": \"yes\"}"}},
      {"return_token_ids", kNotFlag},
      {"response_format", kNotObject + std::vector<std::string>{"{}", "{\"type\": 5}", "{\"type\": \"xml\"}",
                                                                "{\"type\": \"json_schema\", \"json_schema\": {}}"}},
      {"chat_template", {"\"{{ 1 }}\"", "5"}},
      {"guided_json", {"5", "[1]"}},
      {"guided_regex", {"5", "{\"a\": 1}"}},
      {"guided_grammar", {"5", "true"}},
      {"guided_choice", {"5", "\"a\"", "[1]", "[\"\"]"}},
      {"structured_outputs",
       {"5", "{\"regex\": 5}", "{\"choice\": [1]}", "{\"regex\": \"a\", \"json\": {}}", "{\"unknown\": 1}",
        "{\"regex\": \"a\", \"whitespace_pattern\": \" *\"}"}},
      {"use_beam_search", {"true"}},
      {"continue_final_message", {"true", "1"}},
      {"bad_words",
       {"5", "{}", "[1]", "[\"\"]", "[\"a\", null]", many(1025, "\"a\""),
        many(9, "\"" + std::string(2000, 'x') + "\"")}},
      {"allowed_token_ids", {"5", "[]", "[-1]", "[\"1\"]", "[1.5]"}},
      {"truncate_prompt_tokens", kNotWhole + std::vector<std::string>{"-2"}},
  };
}

void expect_named(const std::optional<ApiError>& error, const std::string& key, const std::string& value) {
  ASSERT_TRUE(error) << key << ": " << value << " was taken";
  EXPECT_EQ(error->http_status, 400);
  const std::string& param = error->param;
  const bool names_it = param == key || param.starts_with(key + ".") || param.starts_with(key + "[");
  EXPECT_TRUE(names_it) << key << ": " << value << " is blamed on " << param;
  EXPECT_NE(error->message.find(param), std::string::npos) << error->message;
  EXPECT_LT(error->message.size(), 500U);
}

TEST(OpenAiBadRequest, ChatFields) {
  auto fields = sampling_fields_gone_wrong();
  const std::vector<std::string> not_effort = kNotText + std::vector<std::string>{"\"maximum\"", "\"\""};
  fields.insert(
      fields.end(),
      {
          {"max_completion_tokens", kNotWhole + std::vector<std::string>{"-2"}},
          {"logprobs", kNotFlag},
          {"top_logprobs", kNotWhole + std::vector<std::string>{"-1", "21", "1", "5"}},
          {"parallel_tool_calls", kNotFlag},
          {"include_reasoning", kNotFlag},
          {"add_generation_prompt", kNotFlag},
          {"enable_thinking", kNotFlag},
          {"thinking_token_budget", kNotWhole + std::vector<std::string>{"-2"}},
          {"thinking_budget", kNotWhole + std::vector<std::string>{"-2"}},
          {"max_thinking_tokens", kNotWhole + std::vector<std::string>{"-2"}},
          {"reasoning_effort", not_effort},
          {"reasoning", kNotObject + std::vector<std::string>{"{\"effort\": \"huge\"}", "{\"max_tokens\": -2}",
                                                              "{\"exclude\": 1}", "{\"enabled\": \"no\"}"}},
          {"thinking", kNotObject + std::vector<std::string>{"{\"type\": \"on\"}", "{\"type\": true}",
                                                             "{\"budget_tokens\": \"9\"}"}},
          {"chat_template_kwargs",
           kNotObject + std::vector<std::string>{"{\"other\": 1}", "{\"messages\": []}", "{\"enable_thinking\": 1}",
                                                 "{\"enable_thinking\": \"false\"}", "{\"reasoning_effort\": \"x\"}",
                                                 "{\"chat_template\": \"x\"}",
                                                 "{\"other\": \"" + std::string(20000, 'x') + "\"}"}},
          {"tools",
           {"1", "\"x\"", "{}", "[1]", "[{}]", "[{\"type\": \"web_search\"}]", "[{\"type\": \"function\"}]",
            "[{\"type\": \"function\", \"function\": []}]", "[{\"type\": \"function\", \"name\": \"f\"}]"}},
          {"tool_choice",
           {"1", "\"any\"", "\"some\"", "\"required\"", "[]", "{}", "{\"type\": \"function\"}",
            "{\"type\": \"function\", \"function\": {\"name\": \"f\"}}"}},
          {"functions", {"5", "{}", "[{}]", "[5]"}},
          {"echo", kNotFlag},
          {"best_of", {"2"}},
          {"modalities", {"[\"text\", \"audio\"]"}},
          {"audio", {"{}"}},
          {"web_search_options", {"{}"}},
          {"documents", {"[{}]"}},
      });
  for (const auto& [key, values] : fields) {
    for (const std::string& value : values) {
      ChatRequest request;
      // Integers beyond 64 bits and doubles are what the reader makes of them.
      expect_named(parse_chat_request(chat_body("\"" + key + "\": " + value), {}, request), key, value);
    }
    EXPECT_FALSE(parse_chat_request(chat_body("\"" + key + "\": null"), {}, *std::make_unique<ChatRequest>())) << key;
  }
}

TEST(OpenAiBadRequest, SaysWhatIsTaken) {
  const std::vector<std::array<const char*, 3>> cases = {{"temperature", "-1", "a number of at least 0"},
                                                         {"top_p", "0", "a number above 0, at most 1"},
                                                         {"min_p", "2", "a number from 0 to 1"},
                                                         {"repetition_penalty", "0", "a number above 0"},
                                                         {"top_k", "-2", "a whole number of at least -1"},
                                                         {"min_tokens", "-1", "a whole number of at least 0"},
                                                         {"top_logprobs", "21", "a whole number from 0 to 20"}};
  for (const auto& [key, value, expected] : cases) {
    ChatRequest request;
    const auto error =
        parse_chat_request(body_of(R"({"messages": [{"role": "user", "content": "x"}], "logprobs": true, ")" +
                                   std::string(key) + "\": " + value + "}"),
                           {}, request);
    ASSERT_TRUE(error) << key;
    EXPECT_THAT(error->message, ::testing::EndsWith(std::string("expected ") + expected));
  }
}

TEST(OpenAiBadRequest, CompletionFields) {
  auto fields = sampling_fields_gone_wrong();
  fields.insert(fields.end(), {{"logprobs", kNotWhole + std::vector<std::string>{"-1", "21"}},
                               {"echo", kNotFlag},
                               {"best_of", kNotWhole + std::vector<std::string>{"0", "2"}},
                               {"suffix", {"\"x\"", "1"}}});
  for (const auto& [key, values] : fields) {
    for (const std::string& value : values) {
      CompletionRequest request;
      const Json body = body_of("{\"prompt\": \"Hi\", \"" + key + "\": " + value + "}");
      expect_named(parse_completion_request(body, {}, request), key, value);
    }
  }
}

TEST(OpenAiBadRequest, Prompts) {
  for (const char* prompt :
       {"null",   "1",     "true",         "{}",         "[]",           "[[]]",        "[true]",
        "[null]", "[{}]",  "[1, \"a\"]",   "[\"a\", 1]", "[\"a\", [1]]", "[[1], 2]",    "[[1], \"a\"]",
        "[-1]",   "[1.5]", "[2147483648]", "[[1], []]",  "[[-1]]",       "[[1, null]]", "{\"a\": \"b\"}"}) {
    CompletionRequest request;
    expect_named(parse_completion_request(body_of(std::string("{\"prompt\": ") + prompt + "}"), {}, request), "prompt",
                 prompt);
  }
  RequestOptions options;
  options.limits.prompts_max = 2;
  options.limits.prompt_tokens_max = 4;
  options.limits.choices_max = 6;
  for (const char* prompt : {"[\"a\",\"b\",\"c\"]", "[1,2,3,4,5]", "[[1,2],[3,4,5]]"}) {
    CompletionRequest request;
    expect_named(parse_completion_request(body_of(std::string("{\"prompt\": ") + prompt + "}"), options, request),
                 "prompt", prompt);
  }
  CompletionRequest request;
  for (const char* most : {R"({"prompt": ["a", "b"], "n": 3})", R"({"prompt": [1, 2, 3, 4], "n": 6})",
                           R"({"prompt": [[1, 2], [3, 4]]})"}) {
    EXPECT_FALSE(parse_completion_request(body_of(most), options, request)) << most;
  }
  expect_named(parse_completion_request(body_of(R"({"prompt": ["a", "b"], "n": 4})"), options, request), "n", "4");
}

struct BadMessage {
  std::string messages;
  std::string param;
};

TEST(OpenAiBadRequest, Messages) {
  const std::string user = R"({"role": "user", "content": "Hi"})";
  const auto calls = [&](const std::string& list) {
    return "[" + user + R"(, {"role": "assistant", "tool_calls": )" + list + "}]";
  };
  const std::vector<BadMessage> cases = {
      {"null", "messages"},
      {"5", "messages"},
      {"{}", "messages"},
      {"[]", "messages"},
      {"\"Hi\"", "messages"},
      {"[5]", "messages[0]"},
      {"[" + user + ", []]", "messages[1]"},
      {R"([{"content": "x"}])", "messages[0].role"},
      {R"([{"role": 5, "content": "x"}])", "messages[0].role"},
      {R"([{"role": "critic", "content": "x"}])", "messages[0].role"},
      {R"([{"role": "user"}])", "messages[0].content"},
      {R"([{"role": "user", "content": 5}])", "messages[0].content"},
      {R"([{"role": "user", "content": {"type": "text", "text": "x"}}])", "messages[0].content"},
      {R"([{"role": "user", "content": [5]}])", "messages[0].content[0]"},
      {R"([{"role": "user", "content": [{"text": "x"}]}])", "messages[0].content[0].type"},
      {R"([{"role": "user", "content": [{"type": 7}]}])", "messages[0].content[0].type"},
      {R"([{"role": "user", "content": [{"type": "text"}]}])", "messages[0].content[0].text"},
      {R"([{"role": "user", "content": [{"type": "text", "text": 5}]}])", "messages[0].content[0].text"},
      {"[" + user + R"(, {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url"}]}])",
       "messages[1].content[1].type"},
      {R"([{"role": "user", "content": [{"type": "input_audio"}]}])", "messages[0].content[0].type"},
      {R"([{"role": "user", "content": "x", "name": 5}])", "messages[0].name"},
      {R"([{"role": "tool", "content": "x", "tool_call_id": 5}])", "messages[0].tool_call_id"},
      {R"([{"role": "assistant", "content": "x", "reasoning_content": 5}])", "messages[0].reasoning_content"},
      {R"([{"role": "assistant", "content": "x", "reasoning": []}])", "messages[0].reasoning"},
      {R"([{"role": "assistant", "function_call": {}}])", "messages[0].function_call.name"},
      {calls("{}"), "messages[1].tool_calls"},
      {calls("[5]"), "messages[1].tool_calls[0]"},
      {calls(R"([{"id": 5}])"), "messages[1].tool_calls[0].id"},
      {calls(R"([{"id": "1", "type": "custom"}])"), "messages[1].tool_calls[0].custom"},
      {calls(R"([{"id": "1", "type": "other"}])"), "messages[1].tool_calls[0].type"},
      {calls(R"([{"id": "1"}])"), "messages[1].tool_calls[0].function"},
      {calls(R"([{"function": "f"}])"), "messages[1].tool_calls[0].function"},
      {calls(R"([{"function": {}}])"), "messages[1].tool_calls[0].function.name"},
      {calls(R"([{"function": {"name": 5}}])"), "messages[1].tool_calls[0].function.name"},
      {calls(R"([{"function": {"name": "f", "arguments": 5}}])"), "messages[1].tool_calls[0].function.arguments"},
  };
  for (const BadMessage& c : cases) {
    ChatRequest request;
    const auto error = parse_chat_request(body_of("{\"messages\": " + c.messages + "}"), {}, request);
    ASSERT_TRUE(error) << c.messages;
    EXPECT_EQ(error->param, c.param) << error->message;
    EXPECT_EQ(error->http_status, 400);
    EXPECT_NE(error->message.find(c.param), std::string::npos) << error->message;
    TokenizeRequest tokenize;
    if (c.messages == "null") continue;  // there, a prompt is expected instead
    const auto same = parse_tokenize_request(body_of("{\"messages\": " + c.messages + "}"), {}, tokenize);
    ASSERT_TRUE(same) << c.messages;
    EXPECT_EQ(same->message, error->message);
  }
}

TEST(OpenAiBadRequest, Tools) {
  const auto tool = [](const std::string& function) {
    return "[{\"type\": \"function\", \"function\": {" + function + "}}]";
  };
  const auto schema = [&](const std::string& text) { return tool("\"name\": \"f\", \"parameters\": " + text); };
  const std::string in = "tools[0].function";
  const std::vector<BadMessage> cases = {
      {tool(""), in + ".name"},
      {tool(R"("name": 5)"), in + ".name"},
      {tool(R"("name": "")"), in + ".name"},
      {tool(R"("name": "a b")"), in + ".name"},
      {tool(R"("name": "a>b")"), in + ".name"},
      {tool(R"("name": "a\nb")"), in + ".name"},
      {tool("\"name\": \"" + std::string(129, 'x') + "\""), in + ".name"},
      {tool(R"("name": "f", "description": 5)"), in + ".description"},
      {schema("5"), in + ".parameters"},
      {schema("\"object\""), in + ".parameters"},
      {schema("[]"), in + ".parameters"},
      {schema(R"({"type": "array"})"), in + ".parameters.type"},
      {schema(R"({"type": ["array", "null"], "required": [5]})"), in + ".parameters.type"},
      {schema(R"({"type": []})"), in + ".parameters.type"},
      {schema(R"({"type": 5})"), in + ".parameters.type"},
      {schema(R"({"type": "object", "properties": []})"), in + ".parameters.properties"},
      {schema(R"({"properties": {"a": 5}})"), in + ".parameters.properties.a"},
      {schema(R"({"properties": {"a": "string"}})"), in + ".parameters.properties.a"},
      {schema(R"({"properties": {"a": {"type": 5}}})"), in + ".parameters.properties.a.type"},
      {schema(R"({"properties": {"a": {"type": ["string", 5]}}})"), in + ".parameters.properties.a.type"},
      {schema("{\"properties\": {\"a\": {\"enum\": " + std::string(70, '[') + std::string(70, ']') + "}}}"),
       in + ".parameters"},
      {R"([{"function": {"name": "f"}}, {"function": {"name": "f"}}])", "tools[1].function.name"},
  };
  for (const BadMessage& c : cases) {
    ChatRequest request;
    const auto error = parse_chat_request(chat_body("\"tools\": " + c.messages), {}, request);
    ASSERT_TRUE(error) << c.messages;
    EXPECT_EQ(error->param, c.param) << error->message;
  }
  RequestOptions options;
  const std::string two = R"("tools": [{"function":{"name":"f"}},{"function":{"name":"g"}}])";
  const auto param = [&](const std::string& more = "") {
    ChatRequest request;
    const auto error = parse_chat_request(chat_body(two + more), options, request);
    return error ? error->param : "";
  };
  options.limits.tools_max = 1;
  EXPECT_EQ(param(), "tools");
  options.limits.tools_max = 2;
  options.limits.tool_bytes_max = two.size() - std::string(R"("tools": )").size();
  EXPECT_EQ(param(), "");
  --options.limits.tool_bytes_max;
  EXPECT_EQ(param(), "tools");
  options = {};
  EXPECT_EQ(param(R"(, "tool_choice": {"type": "function", "function": {"name": "h"}})"), "tool_choice.function.name");
}

TEST(OpenAiBadRequest, ToolChoices) {
  const std::string tools = R"("tools": [{"function": {"name": "f"}}], "tool_choice": )";
  const std::string functions = R"("functions": [{"name": "f"}], "function_call": )";
  const std::vector<BadMessage> cases = {
      {tools + R"({"type": "web_search"})", "tool_choice.type"},
      {tools + R"({"type": "function", "name": "h"})", "tool_choice.name"},
      {tools + R"({"type": "function", "name": 5})", "tool_choice.name"},
      {tools + R"({"type": "function", "function": "f"})", "tool_choice.function"},
      {tools + R"({"type": "function", "function": {"name": "h"}})", "tool_choice.function.name"},
      {tools + R"({"type": "function", "function": {"name": 5}})", "tool_choice.function.name"},
      {tools + R"({"type": "allowed_tools", "tools": [{"type": "function", "name": "h"}]})", "tool_choice.tools"},
      {tools + R"({"type": "allowed_tools", "allowed_tools": {"tools": [{"type": "function", "name": "h"}]}})",
       "tool_choice.allowed_tools.tools"},
      {tools + R"({"type": "allowed_tools", "allowed_tools": {"tools": []}})", "tool_choice.allowed_tools.tools"},
      {functions + "5", "function_call"},
      {functions + "\"required\"", "function_call"},
      {functions + R"({"name": 5})", "function_call.name"},
      {functions + R"({"name": "h"})", "function_call.name"},
      {R"("tools": [], "functions": [{"name": "f"}])", "functions"},
  };
  for (const auto& [fields, param] : cases) {
    ChatRequest request;
    const auto error = parse_chat_request(chat_body(fields), {}, request);
    ASSERT_TRUE(error) << fields;
    EXPECT_EQ(error->param, param) << error->message;
  }
}

TEST(OpenAiBadRequest, WhatCannotBeContinued) {
  const std::string called = R"({"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}])";
  const std::string said = R"({"role": "assistant", "content": "One, "}], "add_generation_prompt": true)";
  for (const std::string& end : {called, said, std::string("{\"role\": \"user\", \"content\": \"x\"}]")}) {
    ChatRequest request;
    const auto error = parse_chat_request(
        body_of(R"({"messages": [{"role": "user", "content": "x"}, )" + end + R"(, "continue_final_message": true})"),
        {}, request);
    ASSERT_TRUE(error) << end;
    EXPECT_EQ(error->param, "continue_final_message");
  }
}

TEST(OpenAiBadRequest, CountsOfAConversation) {
  RequestOptions options;
  options.limits.messages_max = 2;
  options.limits.parts_max = 2;
  options.limits.tool_calls_max = 1;
  const std::string user = R"({"role": "user", "content": "Hi"})";
  const auto param = [&](const std::string& messages) {
    ChatRequest request;
    const auto error = parse_chat_request(body_of("{\"messages\": " + messages + "}"), options, request);
    return error ? error->param : "";
  };
  EXPECT_EQ(param("[" + user + "," + user + "]"), "");
  EXPECT_EQ(param("[" + user + "," + user + "," + user + "]"), "messages");
  const std::string part = R"({"type": "text", "text": "x"})";
  EXPECT_EQ(param(R"([{"role": "user", "content": [)" + part + "," + part + "]}]"), "");
  EXPECT_EQ(param(R"([{"role": "user", "content": [)" + part + "," + part + "," + part + "]}]"), "messages[0].content");
  const std::string call = R"({"function": {"name": "f"}})";
  EXPECT_EQ(param("[" + user + R"(, {"role": "assistant", "tool_calls": [)" + call + "," + call + "]}]"),
            "messages[1].tool_calls");
}

TEST(OpenAiBadRequest, Tokenize) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{}", "prompt"},
      {R"({"prompt": "a", "messages": []})", "prompt"},
      {R"({"prompt": 5})", "prompt"},
      {R"({"prompt": ["a"]})", "prompt"},
      {R"({"prompt": "a", "model": 5})", "model"},
      {R"({"prompt": "a", "add_special_tokens": 1})", "add_special_tokens"},
      {R"({"prompt": "a", "return_token_strs": "x"})", "return_token_strs"},
      {R"({"messages": [{"role": "user", "content": "x"}], "continue_final_message": true})", "continue_final_message"},
      {R"({"messages": [{"role": "user", "content": "x"}], "chat_template": "x"})", "chat_template"},
      {R"({"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": {"x": 1}})",
       "chat_template_kwargs.x"},
  };
  for (const auto& [body, param] : cases) {
    TokenizeRequest request;
    const auto error = parse_tokenize_request(body_of(body), {}, request);
    ASSERT_TRUE(error) << body;
    EXPECT_EQ(error->param, param) << error->message;
  }
  for (const char* tokens : {"null", "5", "\"x\"", "{}", "[-1]", "[\"1\"]", "[1.5]", "[2147483648]"}) {
    DetokenizeRequest request;
    expect_named(parse_detokenize_request(body_of(std::string("{\"tokens\": ") + tokens + "}"), {}, request), "tokens",
                 tokens);
  }
  RequestOptions options;
  options.limits.prompts_max = 1;
  options.limits.prompt_tokens_max = 2;
  DetokenizeRequest request;
  EXPECT_FALSE(parse_detokenize_request(body_of(R"({"tokens": [1, 2]})"), options, request)) << "as long as a prompt";
  expect_named(parse_detokenize_request(body_of(R"({"tokens": [1, 2, 3]})"), options, request), "tokens", "[1, 2, 3]");
}

}  // namespace
}  // namespace tessera::server::openai
