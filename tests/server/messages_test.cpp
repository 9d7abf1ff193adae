#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "server/answer.h"
#include "server/request_json.h"
#include "server/served_model.h"

// /v1/messages over HTTP, as Anthropic's clients speak it, and what holds in every API.
namespace tessera::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kHello = R"({"model":"tiny","max_tokens":6,"seed":1,"messages":[{"role":"user","content":"Hi"}]})";

std::vector<json> events_of(const std::string& body) {
  std::vector<json> events;
  for (size_t at = body.find("data: "); at != std::string::npos; at = body.find("data: ", at + 1)) {
    const std::string data = body.substr(at + 6, body.find('\n', at) - at - 6);
    if (data != "[DONE]") events.push_back(json::parse(data));
  }
  return events;
}

/// `body` with `"stream": true`.
std::string as_stream(std::string body) { return body.insert(1, "\"stream\":true,"); }

TEST(Messages, AnswersWholeAndStreamed) {
  const ServedModel served;
  const RawAnswer answer =
      ask(served.port(), post("/v1/messages?beta=true", kHello, "anthropic-version: 2023-06-01\r\n"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.header("request-id"), answer.header("x-request-id"));
  const json message = json::parse(answer.body);
  EXPECT_EQ(message["type"], "message");
  EXPECT_EQ(message["role"], "assistant");
  EXPECT_EQ(message["usage"]["output_tokens"], 6);
  EXPECT_EQ(message["stop_reason"], "max_tokens");
  EXPECT_EQ(message["content"].at(0)["type"], "text");  // no thinking unasked

  const RawAnswer stream = ask(served.port(), post("/v1/messages", as_stream(kHello)));
  EXPECT_THAT(std::string(stream.header("content-type")), HasSubstr("text/event-stream"));
  const std::vector<json> events = events_of(stream.body);
  ASSERT_GE(events.size(), 6U);
  EXPECT_EQ(events[0]["type"], "message_start");
  EXPECT_EQ(events[0]["message"]["usage"]["input_tokens"], message["usage"]["input_tokens"]);
  EXPECT_EQ(events[1]["type"], "ping");
  EXPECT_EQ(events.back()["type"], "message_stop");
  EXPECT_EQ(events[events.size() - 2]["usage"], message["usage"]);
  std::string text;
  for (const json& event : events) {
    if (event["type"] == "content_block_delta") text += event["delta"].value("text", "");
  }
  EXPECT_EQ(text, message["content"][0]["text"]);
  EXPECT_EQ(served.left_over(), "");
}

TEST(Messages, ThinkingIsSignedAndEchoed) {
  const ServedModel served;
  std::string body = kHello;
  body.insert(1, R"("thinking":{"type":"enabled","budget_tokens":3},)");
  const json message = json::parse(ask(served.port(), post("/v1/messages", body)).body);
  const json& thinking = message["content"].at(0);
  ASSERT_EQ(thinking["type"], "thinking");
  EXPECT_FALSE(thinking["signature"].get<std::string>().empty());
  json again = json::parse(kHello);
  again["messages"].push_back({{"role", "assistant"}, {"content", message["content"]}});
  again["messages"].push_back({{"role", "user"}, {"content", "And?"}});
  EXPECT_EQ(ask(served.port(), post("/v1/messages", again.dump())).status, 200);
}

/// What a stop cuts follows no format, and does not look as if it did.
TEST(Messages, AFormatThatAStopCutIsNoEndOfTheTurn) {
  for (const bool stream : {false, true}) {
    const auto ended = [&](bool follows, StopCause cause) {
      ChatRequest request;
      request.stream.stream = stream;
      if (follows) request.format.emplace();
      const auto answer = make_messages_answer({.id = "msg_1", .model = "m"}, request, 1, /*opens_thinking=*/false);
      std::string out;
      answer->begin(out);
      answer->feed(0, {.text = "{", .finish_reason = FinishReason::stop, .stop_reason = "x", .stop_cause = cause}, out);
      answer->finish(out);
      const json end = stream ? *(events_of(out).end() - 2) : json::parse(answer->whole());
      const json& said = stream ? end["delta"] : end;
      return said["stop_reason"].get<std::string>() + " " + said["stop_sequence"].dump();
    };
    EXPECT_EQ(ended(true, StopCause::model), "end_turn null") << stream;
    EXPECT_EQ(ended(true, StopCause::token), "max_tokens null") << stream;
    EXPECT_EQ(ended(true, StopCause::string), R"(stop_sequence "x")") << stream;
    EXPECT_EQ(ended(false, StopCause::token), "end_turn null") << stream;
    EXPECT_EQ(ended(false, StopCause::string), R"(stop_sequence "x")") << stream;
  }
}

TEST(Messages, CountsTokens) {
  const ServedModel served;
  const RawAnswer answer = ask(served.port(), post("/v1/messages/count_tokens?beta=true", kHello));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json message = json::parse(ask(served.port(), post("/v1/messages", kHello)).body);
  EXPECT_EQ(json::parse(answer.body)["input_tokens"], message["usage"]["input_tokens"]);
  EXPECT_EQ(ask(served.port(), post("/v1/messages/count_tokens", "{}")).status, 400);
}

TEST(Messages, AClaudeCodeTurn) {
  const ServedModel served;
  const std::string body = request_text("claude_code");
  const RawAnswer answer = ask(served.port(), post("/v1/messages?beta=true", body));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(std::string(answer.header("x-tessera-warning")), HasSubstr("web_search_20250305"));
  EXPECT_EQ(events_of(answer.body).back()["type"], "message_stop");
  EXPECT_EQ(ask(served.port(), post("/v1/messages/count_tokens?beta=true", body)).status, 200);
}

TEST(Messages, ErrorsHaveAnthropicsShape) {
  ServerOptions options = test_options();
  options.api_keys = {"k"};
  options.limits.body_bytes_max = 2000;
  const ServedModel served(options);
  const auto error = [&](const std::string& request, int status) {
    const RawAnswer answer = ask(served.port(), request);
    EXPECT_EQ(answer.status, status) << answer.body;
    const json body = json::parse(answer.body, nullptr, false);
    EXPECT_EQ(body.value("type", ""), "error") << answer.body;
    return body.contains("error") ? body["error"].value("type", "") : "";
  };
  const std::string key = "x-api-key: k\r\n";
  EXPECT_EQ(error(post("/v1/messages", kHello), 401), "authentication_error");
  EXPECT_EQ(error(post("/v1/messages", "{}", key), 400), "invalid_request_error");
  EXPECT_EQ(error(post("/v1/messages", "{", key), 400), "invalid_request_error");
  EXPECT_EQ(error(get("/v1/messages", key), 405), "invalid_request_error");
  EXPECT_EQ(error(post("/v1/messages/batches", "{}", key), 404), "not_found_error");
  EXPECT_EQ(error(post("/v1/messages", std::string(3000, ' '), key), 413), "request_too_large");
  std::string other = kHello;
  other.replace(other.find("tiny"), 4, "claude");
  EXPECT_EQ(error(post("/v1/messages", other, key), 404), "not_found_error");
  for (const char* headers :
       {"x-api-key: k\r\n", "Authorization: Bearer k\r\n", "x-api-key: k\r\nAuthorization: Bearer placeholder\r\n"}) {
    EXPECT_EQ(ask(served.port(), post("/v1/messages", kHello, headers)).status, 200) << headers;
  }
}

TEST(Messages, ATooLongPromptIsCalledThat) {
  const ServedModel served;
  json body = json::parse(kHello);
  std::string words;
  for (int i = 0; i < 5000; ++i) words += "word and ";
  body["messages"][0]["content"] = words;
  const RawAnswer answer = ask(served.port(), post("/v1/messages", body.dump()));
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("prompt is too long: "));
}

TEST(Messages, FollowAFormat) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  json body = json::parse(kHello);
  body["max_tokens"] = 60;
  body["output_config"] = {{"format", {{"type", "json_schema"}, {"schema", {{"enum", {"yes", "no"}}}}}}};
  const json message = json::parse(ask(served.port(), post("/v1/messages", body.dump())).body);
  EXPECT_EQ(message["stop_reason"], "end_turn") << message;
  EXPECT_THAT(message["content"].at(0)["text"], testing::AnyOf("\"yes\"", "\"no\""));

  body["output_config"]["format"]["schema"] = {{"not", json::object()}};
  const RawAnswer refused = ask(served.port(), post("/v1/messages", body.dump()));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("output_config.format.schema cannot be followed"));
}

/// What comes by construction is whole, where the limit lets it: noise would never end a call.
TEST(Messages, CallStrictTools) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  json body = json::parse(kHello);
  body["max_tokens"] = 120;
  body["tools"] = {
      {{"name", "run"},
       {"strict", true},
       {"input_schema",
        {{"type", "object"}, {"properties", {{"how", {{"enum", {"now", "later"}}}}}}, {"required", {"how"}}}}}};
  body["tool_choice"] = {{"type", "tool"}, {"name", "run"}};
  const json message = json::parse(ask(served.port(), post("/v1/messages", body.dump())).body);
  EXPECT_EQ(message["stop_reason"], "tool_use") << message;
  EXPECT_EQ(message["content"].at(0)["name"], "run");
  EXPECT_THAT(message["content"][0]["input"]["how"], testing::AnyOf("now", "later"));

  body["tools"][0]["input_schema"]["properties"]["how"] = {{"not", json::object()}};
  const RawAnswer refused = ask(served.port(), post("/v1/messages", body.dump()));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("tools[0].input_schema: \\\"not\\\""));
}

/// Of an answer that follows a format, the gap behind the thinking is as templates write it, also where calls may come.
TEST(AnswerFormat, BeginsBehindTheGapAlsoBesideTools) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  json body = {{"max_tokens", 60},
               {"messages", {{{"role", "user"}, {"content", "Hi"}}}},
               {"thinking_token_budget", 2},
               {"return_token_ids", true},
               {"response_format", {{"type", "json_schema"}, {"json_schema", {{"schema", {{"const", 7}}}}}}}};
  for (const char* tools : {"none", "beside it", "alone"}) {
    if (tools != std::string("none")) body["tools"] = {{{"type", "function"}, {"function", {{"name", "go"}}}}};
    if (tools == std::string("alone")) {
      body.erase("response_format");
      body["tool_choice"] = "required";
    }
    const json answer = json::parse(ask(served.port(), post("/v1/chat/completions", body.dump())).body);
    const json tokens = {{"tokens", answer["choices"].at(0)["token_ids"]}};
    EXPECT_THAT(ask(served.port(), post("/detokenize", tokens.dump())).body, HasSubstr(R"(</think>\n\n)")) << tools;
  }
}

/// Whether its grammar is compiled for the request or is known from one before.
TEST(AnswerFormat, IsOfEveryPrompt) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  const json body = {{"prompt", {"Hi", "Ho", "Ha"}}, {"max_tokens", 60}, {"n", 2}, {"guided_choice", {"yes", "no"}}};
  for (const char* grammar : {"new", "known"}) {
    const json choices = json::parse(ask(served.port(), post("/v1/completions", body.dump())).body)["choices"];
    EXPECT_EQ(choices.size(), 6U) << grammar;
    for (const json& choice : choices) {
      EXPECT_THAT(choice["text"], testing::AnyOf("yes", "no")) << grammar << ": " << choice;
    }
  }
}

TEST(AnswerFormat, IsNotOfAContinuedMessage) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  json body = json::parse(kHello);
  body["messages"].push_back({{"role", "assistant"}, {"content", "Well"}});
  json chat = body;
  body["output_format"] = {{"type", "json_schema"}, {"schema", {{"type", "object"}}}};
  chat["response_format"] = {{"type", "json_object"}};
  chat["continue_final_message"] = true;
  chat["add_generation_prompt"] = false;
  for (const auto& [path, request] : {std::pair("/v1/messages", body), std::pair("/v1/chat/completions", chat)}) {
    const RawAnswer refused = ask(served.port(), post(path, request.dump()));
    EXPECT_EQ(refused.status, 400) << path;
    EXPECT_THAT(refused.body, HasSubstr("continues the assistant's last message")) << path;
  }
  // Of a thought that is gone on from, all of the answer is yet to come.
  chat["messages"][1] = {{"role", "assistant"}, {"reasoning_content", "Well"}};
  const RawAnswer taken = ask(served.port(), post("/v1/chat/completions", chat.dump()));
  EXPECT_EQ(taken.status, 200) << taken.body;
}

/// In its thinking, if that is where it breaks off.
TEST(ContinuedMessage, GoesOnWhereItBreaksOff) {
  const ServedModel served;
  for (const bool thinks : {true, false}) {
    json body = json::parse(kHello);
    body["max_tokens"] = 6;
    body["ignore_eos"] = body["continue_final_message"] = true;
    body["messages"].push_back({{"role", "assistant"}, {thinks ? "reasoning_content" : "content", "Well, "}});
    const RawAnswer answer = ask(served.port(), post("/v1/chat/completions", body.dump()));
    ASSERT_EQ(answer.status, 200) << answer.body;
    const json message = json::parse(answer.body)["choices"][0]["message"];
    EXPECT_EQ(message["reasoning_content"].is_string(), thinks) << message;
    EXPECT_EQ(message["content"] == "", thinks) << message;
  }
}

/// The model's generation_config.json counts unless it is ignored, what the operator says before it, a request's own
/// fields before both.
TEST(SamplingDefaults, TheNearestCounts) {
  const engine::TinyModel model(engine::TinyKind::moe, 1, R"({"max_new_tokens": 3})");
  const auto tokens = [&](bool ignores, const json& given, const json& own = json::object()) {
    ServerOptions options = test_options();
    options.ignores_generation_config = ignores;
    options.sampling = given;
    const ServedModel served(options, 8, model);
    json body = {{"prompt", "Go"}, {"ignore_eos", true}};
    body.update(own);
    const json answer = json::parse(ask(served.port(), post("/v1/completions", body.dump())).body);
    return answer["usage"]["completion_tokens"].get<int>();
  };
  EXPECT_EQ(tokens(false, json::object()), 3);
  EXPECT_EQ(tokens(true, json::object()), 16) << "what OpenAI's API has";
  EXPECT_EQ(tokens(false, {{"max_tokens", 5}}), 5);
  EXPECT_EQ(tokens(false, {{"max_tokens", 5}}, {{"max_tokens", 2}}), 2);
}

/// What an operator decides about requests holds for them.
TEST(OptionsOfRequests, AreThoseOfTheServer) {
  const std::string user = R"({"role":"user","content":"Hi"})";
  const std::string picture = R"({"role":"user","content":[{"type":"image_url"}]})";
  const auto tokens = [](const ServedModel& served, const std::string& messages, const std::string& kwargs = "{}") {
    const std::string body = "{\"messages\":[" + messages + "],\"chat_template_kwargs\":" + kwargs + "}";
    const RawAnswer answer = ask(served.port(), post("/tokenize", body));
    return answer.status == 200 ? json::parse(answer.body)["count"].get<int>() : -answer.status;
  };
  const ServedModel plain;
  ServerOptions options = test_options();
  options.drops_media = true;
  options.template_kwargs = {{"enable_thinking", false}};
  options.template_kwargs_allowed = {"style"};
  options.limits.request.messages_max = 1;
  const ServedModel other(options);
  EXPECT_EQ(tokens(plain, picture), -400);
  EXPECT_GT(tokens(other, picture), 0);
  EXPECT_EQ(tokens(plain, user, R"({"style":1})"), -400);
  EXPECT_GT(tokens(other, user, R"({"style":1})"), 0);
  EXPECT_GT(tokens(plain, user + "," + user), 0);
  EXPECT_EQ(tokens(other, user + "," + user), -400);
  const int quiet = tokens(plain, user, R"({"enable_thinking":false})");
  EXPECT_NE(tokens(plain, user), quiet);
  EXPECT_EQ(tokens(other, user), quiet);
}

const std::string kForced =
    R"({"max_tokens":40,"seed":3,"messages":[{"role":"user","content":"Hi"}],"ignore_eos":true,)";

/// Its text has no end of its own.
const std::string kText =
    R"({"type":"object","properties":{"text":{"type":"string","minLength":500}},"required":["text"]})";

/// A call that a limit cuts off: forced, so that even noise begins one.
TEST(CutCall, StaysOpenInEveryApi) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  const std::string chat = kForced +
                           R"("chat_template_kwargs":{"enable_thinking":false},"tool_choice":"required","tools":[)"
                           R"({"type":"function","function":{"name":"run","parameters":)" +
                           kText + "}}]}";
  const json choice = json::parse(ask(served.port(), post("/v1/chat/completions", chat)).body)["choices"].at(0);
  EXPECT_EQ(choice["finish_reason"], "length") << choice;
  const json& call = choice["message"]["tool_calls"].at(0)["function"];
  EXPECT_EQ(call["name"], "run");
  EXPECT_FALSE(json::accept(call["arguments"].get<std::string>())) << call;
  EXPECT_TRUE(choice["message"]["content"].is_null()) << choice;

  const std::string messages =
      kForced + R"("tool_choice":{"type":"any"},"tools":[{"name":"run","input_schema":)" + kText + "}]}";
  const json whole = json::parse(ask(served.port(), post("/v1/messages", messages)).body);
  EXPECT_EQ(whole["stop_reason"], "max_tokens") << whole;
  EXPECT_TRUE(whole["content"].empty()) << whole;
  std::string input;
  json start;
  for (const json& event : events_of(ask(served.port(), post("/v1/messages", as_stream(messages))).body)) {
    if (event["type"] == "content_block_start") start = event["content_block"];
    if (event["type"] == "content_block_delta") input += event["delta"].value("partial_json", "");
  }
  EXPECT_EQ(start["type"], "tool_use");
  EXPECT_THAT(start["id"].get<std::string>(), HasSubstr("toolu_"));
  EXPECT_FALSE(json::accept(input)) << input;
  EXPECT_FALSE(input.empty());
}

TEST(StopStrings, MatchInTheAnswerAlone) {
  const auto ask_with = [](bool everywhere) {
    ServerOptions options = test_options();
    options.stops_everywhere = everywhere;
    const ServedModel served(options);
    // Every letter stops; thinking has letters, and ends after eight tokens.
    json body = {
        {"max_tokens", 40},           {"seed", 5},          {"messages", {{{"role", "user"}, {"content", "Hi"}}}},
        {"thinking_token_budget", 8}, {"ignore_eos", true}, {"stop", json::array()}};
    for (const char* stop : {"a", "e", "i", "o", "n", "t", "r", "s", "l", "c", "d", "u", " ", "m"}) {
      body["stop"].push_back(stop);
    }
    const json answer = json::parse(ask(served.port(), post("/v1/chat/completions", body.dump())).body);
    return answer["usage"]["completion_tokens"].get<int>();
  };
  EXPECT_GT(ask_with(false), 8);
  EXPECT_LT(ask_with(true), 8);
}

TEST(StopStrings, DoNotMatchInTheArgumentsOfACall) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  const json schema = {{"type", "object"}, {"properties", {{"city", {{"enum", {"Paris"}}}}}}, {"required", {"city"}}};
  const json body = {{"max_tokens", 200},
                     {"messages", {{{"role", "user"}, {"content", "Hi"}}}},
                     {"chat_template_kwargs", {{"enable_thinking", false}}},
                     {"stop", "Par"},
                     {"tools", {{{"type", "function"}, {"function", {{"name", "go"}, {"parameters", schema}}}}}},
                     {"tool_choice", {{"type", "function"}, {"function", {{"name", "go"}}}}}};
  const json choice = json::parse(ask(served.port(), post("/v1/chat/completions", body.dump())).body)["choices"].at(0);
  EXPECT_EQ(choice["finish_reason"], "tool_calls") << choice;
  EXPECT_EQ(choice["message"]["tool_calls"].at(0)["function"]["arguments"], R"({"city": "Paris"})");
}

}  // namespace
}  // namespace tessera::server
