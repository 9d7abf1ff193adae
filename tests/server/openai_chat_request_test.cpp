#include "server/openai/answer_format.h"
#include "server/openai/chat_request.h"

#include "openai_json.h"
#include "server/openai/completion_request.h"
#include "server/openai/tokenize_request.h"

namespace tessera::server::openai {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(OpenAiChatRequest, WhatIsNotGivenIsTheOperators) {
  RequestOptions options;
  options.sampling.temperature = 0.6F;
  options.sampling.top_k = 20;
  options.template_kwargs = Json::parse(R"({"enable_thinking": false, "add_vision_id": true})");
  const ChatRequest request = chat_request("", options);
  EXPECT_EQ(request.model, "");
  EXPECT_FLOAT_EQ(request.sampling.temperature, 0.6F);
  EXPECT_EQ(request.sampling.top_k, 20);
  EXPECT_EQ(request.sampling.max_tokens, -1);
  EXPECT_FALSE(request.stream.stream);
  EXPECT_TRUE(request.parallel_tool_calls);
  EXPECT_TRUE(request.include_reasoning);
  EXPECT_FALSE(request.thinking_budget);
  EXPECT_EQ(request.tools.choice.mode, ToolMode::none);
  EXPECT_EQ(template_request(request).dump(),
            R"({"messages":[{"role":"user","content":"Hi"}],"add_generation_prompt":true,"enable_thinking":false,)"
            R"("add_vision_id":true})");
}

TEST(OpenAiChatRequest, TakesWhatClientsSend) {
  const ChatRequest request = chat_request(
      R"("model": "m", "stream": true, "stream_options": {"include_usage": true, "continuous_usage_stats": true},
         "temperature": 0, "top_p": 1, "n": 2, "max_tokens": 5, "max_completion_tokens": 7, "logprobs": true,
         "top_logprobs": 3, "seed": 9, "stop": "END", "logit_bias": {"5": -100, "0": 1.5}, "user": "u",
         "metadata": {}, "store": false, "service_tier": "auto", "presence_penalty": 0, "min_tokens": 1,
         "return_token_ids": true, "parallel_tool_calls": false, "include_reasoning": false, "made_up": 1,
         "response_format": {"type": "text"}, "echo": false, "modalities": ["text"], "functions": [])");
  EXPECT_EQ(request.model, "m");
  EXPECT_TRUE(request.stream.stream && request.stream.include_usage && request.stream.continuous_usage);
  EXPECT_EQ(request.sampling.max_tokens, 7);
  EXPECT_EQ(request.sampling.logprobs, 3);
  EXPECT_EQ(request.sampling.seed, 9U);
  EXPECT_THAT(request.sampling.stop, ElementsAre("END"));
  EXPECT_THAT(request.sampling.logit_bias, ElementsAre(Pair(5, -100.0F), Pair(0, 1.5F)));
  EXPECT_TRUE(request.return_token_ids);
  EXPECT_FALSE(request.parallel_tool_calls);
  EXPECT_FALSE(request.include_reasoning);
  EXPECT_THAT(request.notes, ElementsAre("not known here and left out: made_up"));
}

TEST(OpenAiChatRequest, NothingIsIgnoredInSilence) {
  // What would change the answer is refused, unless it asks for nothing.
  for (const char* field :
       {R"("typical_p": 0.9)", R"("mirostat": 2)", R"("mirostat_mode": 1)", R"("dry_multiplier": 0.8)",
        R"("xtc_probability": 0.5)", R"("repeat_penalty": 1.1)", R"("stop_regex": "a+")", R"("prefix": "So")",
        R"("n_predict": 5)", R"("do_sample": false)", R"("top_a": 0.1)"}) {
    const std::string text = field;
    ChatRequest request;
    // Front ends send all fields that they know: one that asks for nothing hides no other.
    const auto error = parse_chat_request(chat_body(R"("typical": 1, )" + text), {}, request);
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->http_status, 400) << text;
    EXPECT_EQ(error->param, text.substr(1, text.find('"', 1) - 1));
  }
  {
    ChatRequest request;
    const auto error = parse_chat_request(
        body_of(
            R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "A", "prefix": true}]})"),
        {}, request);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->param, "messages[1].prefix");
  }
  const ChatRequest neutral = chat_request(
      R"("typical_p": 1, "mirostat": 0, "mirostat_tau": 5, "dry_multiplier": 0.0, "dry_base": 1.75, "xtc_probability": 0,
         "repeat_penalty": 1.0, "return_hidden_states": false, "chat_template": "", "stop_regex": null, "prefix": "", "do_sample": true, "top_n_sigma": -1)");
  EXPECT_THAT(neutral.notes, IsEmpty());
  // Notes of clients and wishes about speed need no warning.
  const ChatRequest wishes = chat_request(
      R"("user": "u", "metadata": {}, "store": true, "service_tier": "flex", "safety_identifier": "s", "priority": 1,
         "prompt_cache_key": "k", "prompt_cache_retention": "24h", "prediction": {}, "verbosity": "low",
         "max_tool_calls": 2, "client_metadata": {}, "request_id": "r", "separate_reasoning": true,
         "stream_reasoning": true, "guided_decoding_backend": "xgrammar", "spaces_between_special_tokens": false)");
  EXPECT_THAT(wishes.notes, IsEmpty());
  const ChatRequest unknown = chat_request(R"("typical": 1, "tempereture": 0.2, "seeds": 1, "nothing": null)");
  EXPECT_THAT(unknown.notes, ElementsAre("not known here and left out: tempereture, seeds"));
  // Nor what only another endpoint would read or refuse.
  EXPECT_THAT(chat_request(R"("suffix": "x", "input": "x", "best_of": 1)").notes,
              ElementsAre("not known here and left out: suffix, input"));
  CompletionRequest completion;
  ASSERT_FALSE(parse_completion_request(
      body_of(R"({"prompt": "a", "suffix": "", "documents": [{}], "tools": [], "top_logprobs": 2, "best_of": 1})"), {},
      completion));
  EXPECT_THAT(completion.notes, ElementsAre("not known here and left out: documents, tools, top_logprobs"));
}

TEST(OpenAiChatRequest, NothingOfAnEarlierRequestStays) {
  ChatRequest chat;
  ASSERT_FALSE(parse_chat_request(chat_body(R"("model": "m", "seed": 1)"), {}, chat));
  ASSERT_FALSE(parse_chat_request(chat_body(""), {}, chat));
  EXPECT_EQ(chat.model, "");
  EXPECT_EQ(chat.messages.size(), 1U);
  CompletionRequest completion;
  for (int i = 0; i < 2; ++i) ASSERT_FALSE(parse_completion_request(body_of(R"({"prompt": "a"})"), {}, completion));
  EXPECT_EQ(completion.prompts.size(), 1U);
  DetokenizeRequest tokens;
  for (int i = 0; i < 2; ++i) ASSERT_FALSE(parse_detokenize_request(body_of(R"({"tokens": [3]})"), {}, tokens));
  EXPECT_THAT(tokens.tokens, ElementsAre(3));
  std::optional<AnswerFormat> format;
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(parse_answer_format(body_of(R"({"regex": "a"})"), format));
}

TEST(OpenAiChatRequest, LogprobsAreASwitch) {
  EXPECT_FALSE(chat_request(R"("logprobs": false, "top_logprobs": 0)").sampling.logprobs);
  EXPECT_EQ(chat_request(R"("logprobs": true)").sampling.logprobs, 0);
  RequestOptions options;
  options.sampling.logprobs = 2;
  EXPECT_FALSE(chat_request("", options).sampling.logprobs);
  EXPECT_EQ(chat_request(R"("prompt_logprobs": 1)").sampling.prompt_logprobs, 1);
}

TEST(OpenAiChatRequest, SeedsAreAny64Bits) {
  EXPECT_EQ(chat_request(R"("seed": 18446744073709551615)").sampling.seed, UINT64_MAX);
  EXPECT_EQ(chat_request(R"("seed": -2)").sampling.seed, UINT64_MAX - 1);
  EXPECT_EQ(chat_request(R"("seed": -9223372036854775808)").sampling.seed, uint64_t{1} << 63);
  EXPECT_EQ(chat_request(R"("seed": -1)").sampling.seed, std::nullopt);
  EXPECT_EQ(chat_request(R"("seed": 7.0)").sampling.seed, 7U);
}

std::string messages_of(const std::string& messages) {
  ChatRequest request;
  const auto error = parse_chat_request(body_of("{\"messages\": " + messages + "}"), {}, request);
  EXPECT_FALSE(error) << error->message;
  return template_request(request)["messages"].dump();
}

TEST(OpenAiChatRequest, MessagesBecomeWhatTemplatesExpect) {
  EXPECT_EQ(messages_of(R"([{"role": "developer", "content": "Be brief."},
                            {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
                            {"role": "user", "name": "Ann", "content": ["a", {"type": "text", "text": "b"}]},
                            {"role": "system", "content": "later"}])"),
            R"([{"role":"system","content":"Be brief.\n\nBe kind."},)"
            R"({"role":"user","content":"ab\n\n<system>\nlater\n</system>","name":"Ann"}])");
  // They join a tool's answer, whose turn goes on, and are a turn of their own behind the model's.
  EXPECT_EQ(messages_of(R"([{"role": "user", "content": "x"},
                            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f"}}]},
                            {"role": "tool", "tool_call_id": "1", "content": "7"},
                            {"role": "system", "content": "a"}, {"role": "system", "content": "b"},
                            {"role": "assistant", "content": "y"},
                            {"role": "system", "content": "c"}, {"role": "developer", "content": "d"}])"),
            R"([{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[)"
            R"({"id":"1","type":"function","function":{"name":"f","arguments":{}}}]},)"
            R"({"role":"tool","content":"7\n\n<system>\na\n</system>\n\n<system>\nb\n</system>","tool_call_id":"1"},)"
            R"({"role":"assistant","content":"y"},)"
            R"({"role":"user","content":"<system>\nc\n</system>\n\n<system>\nd\n</system>"}])");
  EXPECT_EQ(messages_of(R"([{"role": "assistant", "content": null, "reasoning": "hm", "refusal": null, "audio": null,
                             "tool_calls": [{"id": "1", "type": "function", "index": 0, "function":
                               {"name": "f", "arguments": "{\"b\": 1, \"a\": [true]}"}},
                               {"function": {"name": "g", "arguments": {"x": 1}}},
                               {"function": {"name": "h", "arguments": ""}}]},
                            {"role": "tool", "tool_call_id": "1", "content": "7"},
                            {"role": "function", "name": "g", "content": null},
                            {"role": "tool", "tool_call_id": "2"},
                            {"role": "assistant", "prefix": false, "content": [{"type": "text", "text": "I "},
                              {"type": "refusal", "refusal": "will not."}]}])"),
            R"([{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[)"
            R"({"id":"1","type":"function","function":{"name":"f","arguments":{"b":1,"a":[true]}}},)"
            R"({"id":"","type":"function","function":{"name":"g","arguments":{"x":1}}},)"
            R"({"id":"","type":"function","function":{"name":"h","arguments":{}}}]},)"
            R"({"role":"tool","content":"7","tool_call_id":"1"},{"role":"tool","content":"","name":"g"},)"
            R"({"role":"tool","content":"","tool_call_id":"2"},{"role":"assistant","content":"I will not."}])");
}

std::string thinking_of(const std::string& fields, const RequestOptions& options = {}) {
  const ChatRequest request = chat_request(fields, options);
  const Json* on = nullptr;
  if (request.template_variables.contains("enable_thinking")) on = &request.template_variables["enable_thinking"];
  return (on == nullptr ? "-" : on->dump()) + " " +
         (request.thinking_budget ? std::to_string(*request.thinking_budget) : "-");
}

TEST(OpenAiChatRequest, ThinkingHasManyNames) {
  EXPECT_EQ(thinking_of(""), "- -");
  EXPECT_EQ(thinking_of(R"("chat_template_kwargs": {"enable_thinking": false})"), "false -");
  EXPECT_EQ(thinking_of(R"("enable_thinking": false)"), "false -");
  EXPECT_EQ(thinking_of(R"("enable_thinking": false, "chat_template_kwargs": {"enable_thinking": true})"), "true -");
  EXPECT_EQ(thinking_of(R"("reasoning_effort": "none")"), "false -");
  EXPECT_EQ(thinking_of(R"("reasoning_effort": "minimal")"), "false -");
  EXPECT_EQ(thinking_of(R"("reasoning_effort": "low")"), "true 2048");
  EXPECT_EQ(thinking_of(R"("reasoning_effort": "medium")"), "true -");
  EXPECT_EQ(thinking_of(R"("reasoning_effort": "none", "enable_thinking": true)"), "true -");
  EXPECT_EQ(thinking_of(R"("reasoning_effort": "low", "thinking_budget": 7)"), "true 7");
  EXPECT_EQ(thinking_of(R"("chat_template_kwargs": {"reasoning_effort": "none"})"), "false -");
  EXPECT_EQ(thinking_of(R"("thinking": {"type": "disabled"})"), "false -");
  EXPECT_EQ(thinking_of(R"("thinking": {"type": "enabled", "budget_tokens": 9})"), "true 9");
  EXPECT_EQ(thinking_of(R"("thinking": {"type": "adaptive"})"), "- -");
  EXPECT_EQ(thinking_of(R"("thinking": {"type": "auto"}, "reasoning_effort": "none")"), "false -");
  EXPECT_EQ(thinking_of(R"("enable_thinking": false, "thinking": {"type": "enabled"})"), "false -");
  EXPECT_EQ(thinking_of(R"("reasoning_effort": "none", "chat_template_kwargs": {"reasoning_effort": "low"})"),
            "false -");
  EXPECT_EQ(thinking_of(R"("reasoning": {"max_tokens": 11})"), "- 11");
  EXPECT_EQ(thinking_of(R"("reasoning": {"effort": "none"})"), "false -");
  EXPECT_EQ(thinking_of(R"("reasoning": {"enabled": false, "effort": "high"})"), "false -");
  EXPECT_EQ(thinking_of(R"("enable_thinking": false, "reasoning": {"enabled": true})"), "false -");
  EXPECT_EQ(thinking_of(R"("thinking": {"type": "enabled"}, "reasoning": {"enabled": false})"), "true -");
  EXPECT_EQ(thinking_of(R"("thinking_token_budget": 0)"), "- 0");
  EXPECT_EQ(thinking_of(R"("max_thinking_tokens": 5, "reasoning": {"max_tokens": 6})"), "- 5");
  EXPECT_EQ(thinking_of(R"("thinking_budget": -1, "reasoning_effort": "low")"), "true -");
  EXPECT_EQ(thinking_of(R"("thinking_budget": 7, "thinking": {"type": "enabled", "budget_tokens": 9})"), "true 7");
  EXPECT_EQ(thinking_of(R"("reasoning_effort": "none", "reasoning": {"effort": "low"})"), "false -");
  EXPECT_FALSE(chat_request(R"("reasoning": {"exclude": true})").include_reasoning);
  for (const char* exclude : {"", R"(, "exclude": false)"}) {
    const std::string reasoning = R"("reasoning": {"effort": "low")" + std::string(exclude) + "}";
    EXPECT_TRUE(chat_request(reasoning).include_reasoning) << exclude;
    EXPECT_FALSE(chat_request(reasoning + R"(, "include_reasoning": false)").include_reasoning) << exclude;
  }
  EXPECT_EQ(template_request(chat_request(R"("reasoning_effort": "high")"))["reasoning_effort"], "high");
}

TEST(OpenAiChatRequest, RequestsOverrideTheOperatorsTemplateArguments) {
  RequestOptions options;
  options.template_kwargs = Json::parse(R"({"enable_thinking": false})");
  options.template_kwargs_allowed = {"style", "messages"};
  EXPECT_EQ(thinking_of(R"("reasoning_effort": "high")", options), "true -");
  EXPECT_EQ(thinking_of(R"("chat_template_kwargs": {"enable_thinking": null})", options), "false -");
  EXPECT_EQ(template_request(chat_request(R"("chat_template_kwargs": {"style": [1]})", options))["style"].dump(),
            "[1]");
  const Json switches = template_request(chat_request(
      R"("chat_template_kwargs": {"thinking": true, "preserve_thinking": false, "add_vision_id": true})", options));
  EXPECT_TRUE(switches["thinking"] == true && switches["preserve_thinking"] == false);
  EXPECT_EQ(switches["add_vision_id"], true);
  ChatRequest request;
  EXPECT_TRUE(parse_chat_request(chat_body(R"("chat_template_kwargs": {"messages": []})"), options, request));
  const std::string kwargs = R"({"style":"terse"})";
  options.limits.template_kwargs_bytes_max = kwargs.size();
  EXPECT_FALSE(parse_chat_request(chat_body("\"chat_template_kwargs\": " + kwargs), options, request));
  --options.limits.template_kwargs_bytes_max;
  EXPECT_EQ(parse_chat_request(chat_body("\"chat_template_kwargs\": " + kwargs), options, request)->param,
            "chat_template_kwargs");
}

const std::string kTwoTools = R"("tools": [{"type": "function", "function": {"name": "f", "parameters": {"type":
  "object", "properties": {"b": {"type": "integer"}, "a": {}}}}}, {"type": "function", "function": {"name": "g"}}])";

TEST(OpenAiChatRequest, ToolsAreKeptInOrder) {
  const ChatRequest request = chat_request(kTwoTools);
  EXPECT_EQ(request.tools.choice.mode, ToolMode::automatic);
  ASSERT_EQ(request.tools.schemas.size(), 2U);
  EXPECT_EQ(request.tools.schemas[0].name, "f");
  ASSERT_EQ(request.tools.schemas[0].parameters.size(), 2U);
  EXPECT_EQ(request.tools.schemas[0].parameters[0].name, "b");
  EXPECT_EQ(request.tools.schemas[0].parameters[0].type, text::ParameterType::integer);
  EXPECT_EQ(request.tools.schemas[0].parameters[1].type, text::ParameterType::string);
  EXPECT_EQ(template_request(request)["tools"], request.tools.json);
  EXPECT_EQ(request.tools.json[0]["function"]["parameters"]["properties"].dump(), R"({"b":{"type":"integer"},"a":{}})");
  const std::string text = R"({"function":{"strict":false,"name":"f"},"type":"function","note":1})";
  EXPECT_EQ(chat_request("\"tools\": [" + text + "]").tools.json[0].dump(), text);  // as it was written
}

TEST(OpenAiChatRequest, ToolChoices) {
  const auto with = [](const std::string& choice) { return chat_request(kTwoTools + ", \"tool_choice\": " + choice); };
  EXPECT_EQ(with("\"auto\"").tools.choice.mode, ToolMode::automatic);
  EXPECT_EQ(with("\"required\"").tools.choice.mode, ToolMode::required);
  const ChatRequest named = with(R"({"type": "function", "function": {"name": "g"}})");
  EXPECT_EQ(named.tools.choice.mode, ToolMode::named);
  EXPECT_EQ(named.tools.choice.name, "g");
  const ChatRequest none = with("\"none\"");
  EXPECT_TRUE(none.tools.schemas.empty());
  EXPECT_FALSE(template_request(none).contains("tools"));
  EXPECT_EQ(chat_request(R"("tools": [], "tool_choice": "auto")").tools.choice.mode, ToolMode::none);
}

TEST(OpenAiChatRequest, OtherFormsOfToolChoice) {
  const auto with = [](const std::string& choice) { return chat_request(kTwoTools + ", \"tool_choice\": " + choice); };
  EXPECT_EQ(with("\"any\"").tools.choice.mode, ToolMode::required);
  EXPECT_EQ(with(R"({"type": "auto"})").tools.choice.mode, ToolMode::automatic);
  EXPECT_EQ(with(R"({"type": "function", "name": "g"})").tools.choice.name, "g");
  const ChatRequest allowed = with(R"({"type": "allowed_tools", "allowed_tools": {"mode": "required",
    "tools": [{"type": "function", "function": {"name": "g"}}]}})");
  EXPECT_EQ(allowed.tools.choice.mode, ToolMode::required);
  ASSERT_EQ(allowed.tools.schemas.size(), 1U);
  EXPECT_EQ(allowed.tools.schemas[0].name, "g");
  EXPECT_EQ(allowed.tools.json.size(), 2U);  // the prompt, and what a cache has of it, stays
  EXPECT_EQ(with(R"({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]})")
                .tools.schemas.size(),
            1U);
  const ChatRequest alike = chat_request(R"("tools": [{"type": "function", "function": {"name": "read_file"}},
    {"type": "function", "function": {"name": "read"}}, {"type": "function", "function": {"name": "re"}}],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "read"}]})");
  ASSERT_EQ(alike.tools.schemas.size(), 1U);
  EXPECT_EQ(alike.tools.schemas[0].name, "read");
  const ChatRequest legacy = chat_request(R"("functions": [{"name": "f", "parameters": {"type": "object"}}],
    "function_call": {"name": "f"})");
  EXPECT_TRUE(legacy.legacy_functions);
  EXPECT_FALSE(legacy.parallel_tool_calls);
  EXPECT_EQ(legacy.tools.choice.name, "f");
  EXPECT_EQ(legacy.tools.json[0]["function"]["name"], "f");
  const std::string functions = R"("functions": [{"name": "f"}], "function_call": )";
  EXPECT_EQ(chat_request(functions + "\"auto\"").tools.choice.mode, ToolMode::automatic);
  EXPECT_TRUE(chat_request(functions + "\"none\"").tools.schemas.empty());
  const ChatRequest both = with(R"({"type": "function", "name": "g"}, "functions": [])");
  EXPECT_FALSE(both.legacy_functions);
  EXPECT_TRUE(both.parallel_tool_calls);
  EXPECT_EQ(both.tools.choice.name, "g");
}

TEST(OpenAiChatRequest, PastArgumentsNeverEndAConversation) {
  const auto arguments = [](const std::string& text) {
    ChatRequest request;
    Json body = body_of(R"({"messages": [{"role": "user", "content": "x"},
                                         {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}]})");
    body["messages"][1]["tool_calls"][0]["function"]["arguments"] = text;
    EXPECT_FALSE(parse_chat_request(body, {}, request)) << text;
    return request.messages[1].calls[0].arguments.dump() + (request.notes.empty() ? "" : " noted");
  };
  EXPECT_EQ(arguments(R"({"a": 1})"), R"({"a":1})");
  EXPECT_EQ(arguments(""), "{}");
  EXPECT_EQ(arguments(" \n"), "{}");
  EXPECT_EQ(arguments("null"), "{}");
  EXPECT_EQ(arguments("{'a': True}"), R"({"a":true} noted)");
  EXPECT_EQ(arguments(R"({"command": "rm -rf /tm)"), R"({"command":"rm -rf /tm"} noted)");
  EXPECT_EQ(arguments(R"({"a": [1, {"b": "c)"), R"({"a":[1,{"b":"c"}]} noted)");
  EXPECT_EQ(arguments(R"({"a": 1, "b)"), R"({"a":1} noted)");
  EXPECT_EQ(arguments(R"({"a": 1, "b": tr)"), R"({"a":1} noted)");
  EXPECT_EQ(arguments(R"({"a": "x\u00)"), R"({"a":"x"} noted)");
  EXPECT_EQ(arguments(R"({"a": {"b": [1]}, "c": "d)"), R"({"a":{"b":[1]},"c":"d"} noted)");
  EXPECT_EQ(arguments(R"({"a": {"b": [1]}, "c": tr)"), R"({"a":{"b":[1]}} noted)");
  // More is open where it ends than behind its last complete member.
  EXPECT_EQ(arguments(R"({"a": 1, "b": {"c": [tr)"), R"({"a":1} noted)");
  EXPECT_EQ(arguments(R"({"a": "1, {[\", ", "b": "2, ", "c)"), R"({"a":"1, {[\", ","b":"2, "} noted)");
  EXPECT_EQ(arguments("[1]"), R"({"arguments":"[1]"} noted)");
  EXPECT_EQ(arguments("do it"), R"({"arguments":"do it"} noted)");
  EXPECT_EQ(arguments(R"({"a")"), R"({"arguments":"{\"a\""} noted)");
  EXPECT_THAT(arguments(std::string(100, '[')), ::testing::HasSubstr("noted"));
}

TEST(OpenAiChatRequest, MediaCanBeLeftOut) {
  RequestOptions options;
  options.drops_media = true;
  ChatRequest request;
  ASSERT_FALSE(parse_chat_request(body_of(R"({"messages": [{"role": "user", "content": [
      {"type": "text", "text": "See "}, {"type": "image_url", "image_url": {"url": "data:"}}]}]})"),
                                  options, request));
  EXPECT_EQ(request.messages[0].text, "See [image_url: left out, since this model reads text only]");
  EXPECT_EQ(request.notes.size(), 1U);
}

TEST(OpenAiChatRequest, MediaThatAToolAnsweredAreNamedInPlace) {
  ChatRequest request;
  const auto error = parse_chat_request(body_of(R"({"messages": [{"role": "user", "content": "Look"},
      {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "shot", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "Here: "},
      {"type": "image_url", "image_url": {"url": "data:"}}]}]})"),
                                        {}, request);
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(request.messages[2].text, "Here: [image_url: left out, since this model reads text only]");
  EXPECT_EQ(request.notes.size(), 1U);
  EXPECT_EQ(messages_of(R"([{"role": "user", "content": null}])"), R"([{"role":"user","content":""}])");
}

TEST(OpenAiChatRequest, ToolsHaveNamesInAnyScript) {
  EXPECT_EQ(chat_request(R"("tools": [{"type": "function", "function": {"name": "größe"}}])").tools.schemas[0].name,
            "größe");
}

TEST(OpenAiChatRequest, ContinuesTheLastMessage) {
  for (const std::string more : {"", R"(, "add_generation_prompt": false)"}) {
    const Json body =
        body_of(R"({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "One, "}],
    "continue_final_message": true)" +
                more + "}");
    ChatRequest request;
    ASSERT_FALSE(parse_chat_request(body, {}, request)) << more;
    std::string prompt = template_request(request)["messages"][1]["content"].get<std::string>() + "<|im_end|>\n";
    cut_at_continuation(request, prompt);
    EXPECT_EQ(prompt, "One, ");
  }
}

TEST(OpenAiChatRequest, AMessageGoesOnWhereItEnds) {
  ChatRequest request;
  ASSERT_FALSE(parse_chat_request(
      body_of(R"({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "One, "}],
    "continue_final_message": true})"),
      {}, request));
  // In its thinking, where there is no more; else in the answer behind it.
  const auto continued = [&](const std::string& text, const char* key) {
    request.messages[1].reasoning = "Hm, ";
    request.messages[1].text = text;
    std::string prompt = template_request(request)["messages"][1][key].get<std::string>() + "<|im_end|>\n";
    cut_at_continuation(request, prompt);
    return prompt;
  };
  EXPECT_EQ(continued("", "reasoning_content"), "Hm, ");
  EXPECT_EQ(continued("One, ", "content"), "One, ");
}

/// A user may have written what stands there.
TEST(OpenAiChatRequest, OnlyTheLastMessageBreaksOff) {
  ChatRequest request;
  request.messages = {{.role = Role::assistant}};
  request.continues_message = true;
  const std::string mark = template_request(request)["messages"][0]["content"];
  std::string prompt = "Is it " + mark + "?\nYes" + mark + "\n";
  cut_at_continuation(request, prompt);
  EXPECT_EQ(prompt, "Is it " + mark + "?\nYes");
}

TEST(OpenAiChatRequest, AnEchoIsWhatTheAssistantSaidLast) {
  const auto echo = [](const std::string& role, const std::string& flag) {
    ChatRequest request;
    const auto error = parse_chat_request(
        body_of(R"({"messages": [{"role": ")" + role + R"(", "content": "One, "}], "echo": )" + flag + "}"), {},
        request);
    EXPECT_FALSE(error) << error->message;
    return request.echo;
  };
  EXPECT_EQ(echo("assistant", "true"), "One, ");
  EXPECT_EQ(echo("assistant", "false"), "");
  EXPECT_EQ(echo("user", "true"), "");
}

TEST(OpenAiCompletionRequest, WhatIsNotGivenIsTheOperators) {
  const auto parse = [](const SamplingParams& sampling) {
    RequestOptions options;
    options.sampling = sampling;
    CompletionRequest request;
    EXPECT_FALSE(parse_completion_request(body_of(R"({"prompt": "a"})"), options, request));
    return request.sampling;
  };
  SamplingParams sampling;
  sampling.top_k = 20;
  sampling.max_tokens = 0;
  sampling.logprobs = 2;
  EXPECT_EQ(parse(sampling).top_k, 20);
  EXPECT_EQ(parse(sampling).max_tokens, 0);
  EXPECT_FALSE(parse(sampling).logprobs);
}

TEST(OpenAiCompletionRequest, Prompts) {
  const auto parse = [](const std::string& fields) {
    CompletionRequest request;
    const auto error = parse_completion_request(body_of("{" + fields + "}"), {}, request);
    EXPECT_FALSE(error) << error->message;
    return request;
  };
  using Ids = std::vector<int32_t>;
  EXPECT_THAT(parse(R"("prompt": "a")").prompts, ElementsAre(CompletionPrompt("a")));
  EXPECT_THAT(parse(R"("prompt": ["a", ""])").prompts, ElementsAre(CompletionPrompt("a"), CompletionPrompt("")));
  EXPECT_THAT(parse(R"("prompt": [1, 2])").prompts, ElementsAre(CompletionPrompt(Ids{1, 2})));
  EXPECT_THAT(parse(R"("prompt": [[1], [2, 3]])").prompts,
              ElementsAre(CompletionPrompt(Ids{1}), CompletionPrompt(Ids{2, 3})));
  EXPECT_EQ(parse(R"("prompt": "a")").sampling.max_tokens, 16);
  EXPECT_EQ(parse(R"("prompt": "a", "max_tokens": -1)").sampling.max_tokens, -1);
  EXPECT_EQ(parse(R"("prompt": "a", "best_of": 2, "n": 2)").sampling.n, 2);
  EXPECT_EQ(parse(R"("prompt": "a", "best_of": 1)").sampling.n, 1);
  const CompletionRequest echo = parse(R"("prompt": "a", "echo": true, "logprobs": 2, "max_tokens": 0)");
  EXPECT_TRUE(echo.echo);
  EXPECT_EQ(echo.sampling.logprobs, 2);
  EXPECT_EQ(echo.sampling.prompt_logprobs, 2);
  EXPECT_FALSE(echo.prompt_logprobs);
  const std::string more = R"("prompt": "a", "echo": true, "prompt_logprobs": 4)";
  EXPECT_EQ(parse(more + R"(, "logprobs": 2)").sampling.prompt_logprobs, 4);
  EXPECT_EQ(parse(more + R"(, "logprobs": 5)").sampling.prompt_logprobs, 5);
  EXPECT_EQ(parse(R"("prompt": "a", "echo": true, "logprobs": 0)").sampling.prompt_logprobs, 0);
  EXPECT_EQ(parse(R"("prompt": "a", "echo": true)").sampling.prompt_logprobs, std::nullopt);
  EXPECT_EQ(parse(R"("prompt": "a", "logprobs": 2)").sampling.prompt_logprobs, std::nullopt);
  EXPECT_TRUE(parse(R"("prompt": "a", "prompt_logprobs": 1)").prompt_logprobs);
}

TEST(OpenAiChatRequest, AnyNumberOfLikelyTokensHasTwoNames) {
  EXPECT_EQ(chat_request(R"("top_k": -1)").sampling.top_k, 0);
  EXPECT_EQ(chat_request(R"("top_k": 0)").sampling.top_k, 0);
}

TEST(OpenAiChatRequest, OneAllowedTokenIsEnough) {
  EXPECT_THAT(chat_request(R"("allowed_token_ids": [5])").sampling.allowed_token_ids, ElementsAre(5));
}

TEST(OpenAiChatRequest, NotesAreNotMoreThan16) {
  std::vector<std::string> notes;
  for (int i = 0; i < 20; ++i) add_note(std::to_string(i), notes);
  ASSERT_EQ(notes.size(), 16U);
  EXPECT_EQ(notes.back(), "15");
  // Of fields that are not known, no more than 32 are named, each by 64 bytes.
  Json body = Json::object();
  for (int i = 0; i < 40; ++i) body[std::to_string(100 + i) + std::string(100, 'x')] = 1;
  std::string named;
  for (int i = 0; i < 32; ++i)
    named += (i > 0 ? ", 1" : "1") + std::to_string(100 + i).substr(1) + std::string(61, 'x') + "...";
  notes.clear();
  note_unknown(
      body, [](std::string_view) { return false; }, notes);
  EXPECT_THAT(notes, ElementsAre("not known here and left out: " + named));
}

TEST(OpenAiTokenize, RequestsAndAnswers) {
  TokenizeRequest request;
  ASSERT_FALSE(parse_tokenize_request(
      body_of(R"({"model": "m", "prompt": "a", "add_special_tokens": false, "return_token_strs": true})"), {},
      request));
  EXPECT_EQ(request.prompt, "a");
  EXPECT_TRUE(request.return_token_strs);
  ASSERT_FALSE(parse_tokenize_request(chat_body(R"("add_generation_prompt": false)"), {}, request));
  EXPECT_FALSE(request.prompt);
  EXPECT_EQ(template_request(request.chat).dump(),
            R"({"messages":[{"role":"user","content":"Hi"}],"add_generation_prompt":false})");
  DetokenizeRequest back;
  ASSERT_FALSE(parse_detokenize_request(body_of(R"({"tokens": [3, 1]})"), {}, back));
  EXPECT_THAT(back.tokens, ElementsAre(3, 1));

  const TokenBytes bytes = [](int32_t token) { return token == 7 ? std::string("\xe2\x82") : std::string("a\""); };
  EXPECT_EQ(tokenize_json({1, 7}, 100, nullptr), R"({"count":2,"max_model_len":100,"tokens":[1,7],"token_strs":null})");
  EXPECT_EQ(tokenize_json({1, 7}, 100, &bytes),
            "{\"count\":2,\"max_model_len\":100,\"tokens\":[1,7],\"token_strs\":[\"a\\\"\",\"\xef\xbf\xbd\"]}");
  EXPECT_EQ(tokenize_json({}, 100, &bytes), R"({"count":0,"max_model_len":100,"tokens":[],"token_strs":[]})");
  EXPECT_EQ(detokenize_json("a\nb"), R"({"prompt":"a\nb"})");
}

/// "kind param text" of what an answer is to follow, or "wrong param" where it cannot be read.
std::string format_of(const std::string& fields) {
  std::optional<AnswerFormat> format;
  if (const auto error = parse_answer_format(body_of("{" + fields + "}"), format)) return "wrong " + error->param;
  if (!format) return "none";
  const GrammarSource& source = format->source;
  using Kind = GrammarSource::Kind;
  std::string text = source.kind == Kind::json_object      ? "object"
                     : source.kind == Kind::json_schema    ? "schema"
                     : source.kind == Kind::regex          ? "regex"
                     : source.kind == Kind::choice         ? "choice"
                     : source.kind == Kind::grammar        ? "grammar"
                     : source.kind == Kind::structural_tag ? "tag"
                                                           : "?";
  text += " " + format->param + (source.any_whitespace ? " " : " compact ") + source.text;
  for (const std::string& choice : source.choices) text += choice + ";";
  return text;
}

TEST(OpenAiAnswerFormat, WhereItIsGivenAndHow) {
  const auto in = [](const std::string& key) {
    return [=](const std::string& v) { return format_of("\"" + key + "\":" + v); };
  };
  const auto response = in("response_format"), outputs = in("structured_outputs");
  EXPECT_EQ(format_of(""), "none");
  EXPECT_EQ(response(R"({"type":"text"})"), "none");
  EXPECT_EQ(response(R"({"type":"json_object"})"), "object response_format ");
  EXPECT_EQ(response(R"({"type":"json_object","schema":{"a":1}})"), R"(schema response_format.schema {"a":1})");
  EXPECT_EQ(response(R"({"type":"json_schema","json_schema":{"schema":true}})"),
            "schema response_format.json_schema.schema true");
  EXPECT_EQ(response(R"({"type":"structural_tag","a":1})"), R"(tag response_format {"type":"structural_tag","a":1})");
  EXPECT_EQ(response("7"), "wrong response_format");
  EXPECT_EQ(response("{}"), "wrong response_format");
  EXPECT_EQ(response(R"({"type":"x"})"), "wrong response_format.type");
  EXPECT_EQ(response(R"({"type":"json_schema"})"), "wrong response_format.json_schema");
  EXPECT_EQ(response(R"({"type":"json_schema","json_schema":7})"), "wrong response_format.json_schema");
  EXPECT_EQ(response(R"({"type":"json_schema","json_schema":{}})"), "wrong response_format.json_schema.schema");
  EXPECT_EQ(response(R"({"type":"json_schema","json_schema":{"schema":7}})"),
            "wrong response_format.json_schema.schema");
  EXPECT_EQ(outputs("{}"), "none");
  EXPECT_EQ(outputs("7"), "wrong structured_outputs");
  EXPECT_EQ(outputs(R"({"json":"{\"a\":1}"})"), R"(schema structured_outputs.json {"a":1})");
  EXPECT_EQ(outputs(R"({"json":{"a":1},"disable_any_whitespace":true})"),
            R"(schema structured_outputs.json compact {"a":1})");
  EXPECT_EQ(outputs(R"({"json_object":true})"), "object structured_outputs.json_object ");
  EXPECT_EQ(outputs(R"({"json_object":true,"disable_any_whitespace":true})"),
            "object structured_outputs.json_object compact ");
  EXPECT_EQ(outputs(R"({"disable_any_whitespace":true})"), "wrong structured_outputs");
  EXPECT_EQ(outputs(R"({"json_object":false})"), "wrong structured_outputs");
  EXPECT_EQ(outputs(R"({"regex":"a+"})"), "regex structured_outputs.regex a+");
  EXPECT_EQ(outputs(R"({"regex":7})"), "wrong structured_outputs.regex");
  EXPECT_EQ(outputs(R"({"choice":["a","b"]})"), "choice structured_outputs.choice a;b;");
  EXPECT_EQ(outputs(R"({"choice":"a"})"), "wrong structured_outputs.choice");
  EXPECT_EQ(outputs(R"({"choice":["a",""]})"), "wrong structured_outputs.choice[1]");
  EXPECT_EQ(outputs(R"({"choice":[7]})"), "wrong structured_outputs.choice[0]");
  EXPECT_EQ(outputs(R"({"grammar":"root ::= \"a\""})"), R"(grammar structured_outputs.grammar root ::= "a")");
  EXPECT_EQ(outputs(R"({"structural_tag":{"a":1}})"), R"(tag structured_outputs.structural_tag {"a":1})");
  EXPECT_EQ(outputs(R"({"regex":"a","whitespace_pattern":" "})"), "wrong structured_outputs.whitespace_pattern");
  EXPECT_EQ(outputs(R"({"regex":"a","json":{}})"), "wrong structured_outputs.regex");
  EXPECT_EQ(format_of(R"("guided_json":{"a":1})"), R"(schema guided_json {"a":1})");
  EXPECT_EQ(format_of(R"("guided_json":{},"guided_regex":"","guided_choice":[],"json_schema":false)"), "none");
  EXPECT_EQ(format_of(R"("guided_regex":"a")"), "regex guided_regex a");
  EXPECT_EQ(format_of(R"("guided_choice":["a"])"), "choice guided_choice a;");
  EXPECT_EQ(format_of(R"("ebnf":"a")"), "grammar ebnf a");
  EXPECT_EQ(format_of(R"("regex":"a","response_format":{"type":"json_object"})"), "wrong regex");
}

}  // namespace
}  // namespace tessera::server::openai
