#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/next_turn.h"
#include "server/served_model.h"

// The next turn of a conversation is read while nobody asks for anything: with the bundled model, through every API.
namespace tessera::server {
namespace {

using nlohmann::json;

EngineOptions demo_options(bool idle_prefill = true) {
  EngineOptions options = engine_options(/*max_num_seqs=*/2);
  options.model = TESSERA_SOURCE_DIR "/models/demo";
  options.max_model_len = 8192;
  options.threads = 0;
  options.idle_prefill = idle_prefill;
  return options;
}

json answer_to(const ServedModel& served, const std::string& path, const json& body) {
  const RawAnswer answer = ask(served.port(), post(path, body.dump()));
  EXPECT_EQ(answer.status, 200) << answer.body;
  return json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
}

/// Tokens that were prefilled, once there were no more for a while.
double prefilled(const ServedModel& served) {
  double tokens = served.metric("tessera:idle_prefill_tokens_total");
  for (int same = 0; same < 100; ++same) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const double now = served.metric("tessera:idle_prefill_tokens_total");
    if (std::exchange(tokens, now) != now) same = 0;
  }
  return tokens;
}

/// Waits until an idle moment has been used and has passed: what is under way has its blocks.
void wait_for_idle_prefill(const ServedModel& served, double more_than = 0) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (prefilled(served) <= more_than) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nothing is prefilled";
  }
  EXPECT_EQ(served.left_over(), "");
}

json system_message() {
  std::string text = "You are an assistant of a shop.";
  for (int i = 0; i < 20; ++i) text += " The shop sells apples and pears.";
  return {{"role", "system"}, {"content", text}};
}

json chat(const json& messages, int64_t min_tokens = 0) {
  return {{"messages", messages}, {"temperature", 0}, {"max_tokens", 1500}, {"min_tokens", min_tokens}};
}

json chat_answer(const ServedModel& served, const json& body) {
  return answer_to(served, "/v1/chat/completions", body);
}

int64_t cached(const json& answer) { return answer["usage"]["prompt_tokens_details"]["cached_tokens"]; }
int64_t prompt_tokens(const json& answer) { return answer["usage"]["prompt_tokens"]; }

/// All of the prompt was there but for the last message, its marks and what is no whole block.
void expect_covered(const json& answer) {
  EXPECT_GT(cached(answer), prompt_tokens(answer) - 64 - 40) << answer["usage"];
}

/// The second turn of a conversation behind an answer; both, with an idle moment between or without.
std::pair<json, json> two_turns(bool idle_prefill, bool thinking) {
  const ServedModel served(test_options(), open_engine(demo_options(idle_prefill)));
  json messages = {system_message(), {{"role", "user"}, {"content", "Tell me a story about a shop."}}};
  json body = chat(messages, 300);
  body["chat_template_kwargs"] = {{"enable_thinking", thinking}};
  const json first = chat_answer(served, body);
  EXPECT_EQ(first["choices"][0]["finish_reason"], "stop");
  if (idle_prefill) wait_for_idle_prefill(served);
  messages.push_back({{"role", "assistant"}, {"content", first["choices"][0]["message"]["content"]}});
  messages.push_back({{"role", "user"}, {"content", "And then?"}});
  body["messages"] = messages;
  body["min_tokens"] = 0;
  const json second = chat_answer(served, body);
  EXPECT_EQ(served.metric("vllm:request_prompt_tokens_count"), 2);
  EXPECT_EQ(served.metric("vllm:prompt_tokens_total"), prompt_tokens(first) + prompt_tokens(second));
  return {first, second};
}

TEST(IdlePrefill, TheNextTurnGoesOnBehindTheAnswer) {
  for (const bool thinking : {false, true}) {
    SCOPED_TRACE(thinking);
    const auto [first, second] = two_turns(/*idle_prefill=*/true, thinking);
    const auto [first_without, second_without] = two_turns(/*idle_prefill=*/false, thinking);
    EXPECT_EQ(first["choices"], first_without["choices"]);
    EXPECT_EQ(second["choices"], second_without["choices"]);
    expect_covered(second);
    EXPECT_LT(cached(second_without), prompt_tokens(first));
  }
}

TEST(IdlePrefill, EveryConversationHasItsTurn) {
  const ServedModel served(test_options(), open_engine(demo_options()));
  const std::string questions[] = {"Tell me a story about a shop.", "What do apples cost?"};
  json bodies[2], answers[2];
  {
    std::vector<std::jthread> clients;
    for (size_t i = 0; i < 2; ++i) {
      bodies[i] = chat({system_message(), {{"role", "user"}, {"content", questions[i]}}}, 200);
      clients.emplace_back([&, i] { answers[i] = chat_answer(served, bodies[i]); });
    }
  }
  wait_for_idle_prefill(served);
  for (size_t i = 0; i < 2; ++i) {
    json& messages = bodies[i]["messages"];
    messages.push_back({{"role", "assistant"}, {"content", answers[i]["choices"][0]["message"]["content"]}});
    messages.push_back({{"role", "user"}, {"content", "And then?"}});
    bodies[i]["max_tokens"] = 1;
    bodies[i]["min_tokens"] = 0;
    expect_covered(chat_answer(served, bodies[i]));
  }
}

const json kTools = {
    {{"type", "function"},
     {"function",
      {{"name", "get_weather"},
       {"description", "The weather of a city."},
       {"parameters",
        {{"type", "object"}, {"properties", {{"city", {{"type", "string"}}}}}, {"required", {"city"}}}}}}}};

/// A conversation whose answer is a call, with thinking before it.
void expect_covered_behind_a_call(bool returns_reasoning, bool streams) {
  const ServedModel served(test_options(), open_engine(demo_options()));
  json messages = {system_message(), {{"role", "user"}, {"content", "What is the weather in Paris?"}}};
  if (returns_reasoning) {  // as this client does
    messages = {system_message(),
                {{"role", "user"}, {"content", "Hello"}},
                {{"role", "assistant"}, {"reasoning_content", "A greeting."}, {"content", "Hello! How can I help?"}},
                {{"role", "user"}, {"content", "What is the weather in Paris?"}}};
  }
  json body = chat(messages);
  body["tools"] = kTools;
  body["tool_choice"] = "required";
  const json first = chat_answer(served, body);
  json said = first["choices"][0]["message"];
  ASSERT_EQ(first["choices"][0]["finish_reason"], "tool_calls") << first;
  ASSERT_NE(said["reasoning_content"], nullptr) << first;
  wait_for_idle_prefill(served);
  if (streams) {
    const double before = prefilled(served);
    body["cache_salt"] = "another";
    body["stream"] = true;
    EXPECT_EQ(ask(served.port(), post("/v1/chat/completions", body.dump())).status, 200);
    wait_for_idle_prefill(served, before);
    body.erase("stream");
  }
  body.erase("tool_choice");
  if (!returns_reasoning) {
    said.erase("reasoning_content");
    said.erase("reasoning");
  }
  messages.push_back(said);
  const json& id = said["tool_calls"][0]["id"];
  messages.push_back({{"role", "tool"}, {"tool_call_id", id}, {"content", R"({"sky": "clear"})"}});
  body["messages"] = messages;
  expect_covered(chat_answer(served, body));
}

TEST(IdlePrefill, ToolCallsAreReadAsTheTemplateWritesThem) {
  expect_covered_behind_a_call(/*returns_reasoning=*/false, /*streams=*/false);
  expect_covered_behind_a_call(/*returns_reasoning=*/true, /*streams=*/false);
  expect_covered_behind_a_call(/*returns_reasoning=*/false, /*streams=*/true);
}

TEST(IdlePrefill, MessagesAndResponsesShareIt) {
  const ServedModel served(test_options(), open_engine(demo_options()));
  const json question = "What is the weather in Paris?";
  json body = {{"model", "tiny"},
               {"max_tokens", 1500},
               {"temperature", 0},
               {"system", system_message()["content"]},
               {"thinking", {{"type", "enabled"}, {"budget_tokens", 1024}}},
               {"messages", {{{"role", "user"}, {"content", question}}}},
               {"tools", {{{"name", "get_weather"}, {"input_schema", kTools[0]["function"]["parameters"]}}}}};
  const json message = answer_to(served, "/v1/messages", body);
  ASSERT_EQ(message["stop_reason"], "tool_use") << message;
  wait_for_idle_prefill(served);
  body["messages"].push_back({{"role", "assistant"}, {"content", message["content"]}});
  const json result = {{"type", "tool_result"}, {"tool_use_id", message["content"].back()["id"]}, {"content", "clear"}};
  body["messages"].push_back({{"role", "user"}, {"content", json::array({result})}});
  const json usage = answer_to(served, "/v1/messages", body)["usage"];
  EXPECT_LT(usage["input_tokens"], 64 + 40) << usage;
  EXPECT_EQ(served.left_over(), "");

  const double before = prefilled(served);
  body = {{"model", "tiny"},
          {"input", "Tell me a story about a shop."},
          {"instructions", system_message()["content"]},
          {"temperature", 0},
          {"min_tokens", 300},  // so that the answer has blocks of its own
          {"max_output_tokens", 1500}};
  const json response = answer_to(served, "/v1/responses", body);
  ASSERT_EQ(response["status"], "completed") << response;
  wait_for_idle_prefill(served, before);
  body["previous_response_id"] = response["id"];
  body["input"] = "And then?";
  const json next = answer_to(served, "/v1/responses", body)["usage"];
  EXPECT_GT(next["input_tokens_details"]["cached_tokens"].get<int64_t>(), next["input_tokens"].get<int64_t>() - 64 - 40)
      << next;
}

TEST(IdlePrefill, AServerThatIsTurnedOffDoesNotWaitForIt) {
  for (int time = 0; time < 3; ++time) {
    ServedModel served(test_options(), open_engine(demo_options()));
    const json messages = {system_message(), {{"role", "user"}, {"content", "Hello"}}};
    chat_answer(served, chat(messages, 100));
    served.server().shut_down();
    EXPECT_TRUE(served.server().wait().ok());
  }
}

/// It is rendered as its conversation was, and found by those alone who share its salt.
TEST(IdlePrefill, ANextTurnHasAllThatItsPromptIsMadeOf) {
  const ModelService service{.engine = std::make_unique<Engine>(open_engine(demo_options()))};
  ChatRequest chat;
  chat.template_variables = {{"enable_thinking", false}, {"tone", "kind"}};
  chat.tools.json = Json::parse(kTools.dump());
  chat.cache_salt = "a tenant";
  chat.returns_reasoning = true;
  const auto turn = next_turn_of(service, chat, {{.role = Role::user, .text = "Hello"}});
  ASSERT_NE(turn, nullptr);
  EXPECT_EQ(turn->chat.messages.at(0).text, "Hello");
  EXPECT_EQ(turn->chat.template_variables, chat.template_variables);
  EXPECT_EQ(turn->chat.tools.json, chat.tools.json);
  EXPECT_EQ(turn->chat.cache_salt, "a tenant");
  EXPECT_TRUE(turn->chat.returns_reasoning);
  // There is one behind one answer alone, which is a message of its own, to the whole of its prompt.
  const auto has_one = [&](const std::function<void(ChatRequest&)>& change) {
    ChatRequest other = chat;
    change(other);
    return next_turn_of(service, other, {{.role = Role::user, .text = "Hello"}}) != nullptr;
  };
  EXPECT_TRUE(has_one([](ChatRequest&) {}));
  EXPECT_FALSE(has_one([](ChatRequest& other) { other.sampling.n = 2; }));
  EXPECT_FALSE(has_one([](ChatRequest& other) { other.continues_message = true; }));
  EXPECT_FALSE(has_one([](ChatRequest& other) { other.add_generation_prompt = false; }));
  EXPECT_FALSE(has_one([](ChatRequest& other) { other.sampling.truncate_prompt_tokens = 100; }));
}

TEST(IdlePrefill, OfAThoughtOrACallThatIsNotWholeThereIsNoNextTurn) {
  NextTurn turn;
  const RequestLimits limits;
  EXPECT_FALSE(add_answer({.content = "It was"}, limits, turn));
  EXPECT_FALSE(add_answer({.reasoning = "Hm", .finish = ChatFinish::length}, limits, turn));
  EXPECT_FALSE(
      add_answer({.content = "Wait.", .tool_calls = {{.id = "a"}}, .finish = ChatFinish::length}, limits, turn));
  EXPECT_TRUE(add_answer({.content = "It was", .finish = ChatFinish::length}, limits, turn));
  EXPECT_EQ(turn.answer.text, "It was");
  ASSERT_TRUE(add_answer({.reasoning = "Hm.",
                          .content = "Wait.",
                          .tool_calls = {{.id = "a", .name = "f", .arguments = R"({"x": 1})"},
                                         {.id = "b", .name = "g", .arguments = "echo", .custom = true}},
                          .finish = ChatFinish::tool_calls},
                         limits, turn));
  EXPECT_EQ(turn.answer.text, "Wait.");
  EXPECT_EQ(turn.answer.reasoning, "");
  ASSERT_EQ(turn.answer.calls.size(), 2U);
  EXPECT_EQ(turn.answer.calls[0].arguments, Json({{"x", 1}}));
  EXPECT_EQ(turn.answer.calls[1].arguments, Json({{"input", "echo"}}));
  // It is sent back by all clients of an API, or by those that have done so before.
  NextTurn returned;
  returned.chat.messages = {{.role = Role::assistant, .text = "Hi", .reasoning = "A greeting."}, {.role = Role::user}};
  turn.chat.returns_reasoning = true;
  for (NextTurn* next : {&turn, &returned}) {
    ASSERT_TRUE(add_answer({.reasoning = "Hm.", .content = "No.", .finish = ChatFinish::stop}, limits, *next));
    EXPECT_EQ(next->answer.reasoning, "Hm.");
  }
}

}  // namespace
}  // namespace tessera::server
