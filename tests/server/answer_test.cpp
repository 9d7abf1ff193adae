#include "server/answer.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

// The answers of chats and completions from events alone: whole, and as streams.
namespace tessera::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const TokenBytes kBytes = [](int32_t token) { return std::string(1, static_cast<char>(token)); };

/// `text` of a choice, a token for each byte.
Event event_of(int choice, const std::string& text, FinishReason finish = FinishReason::stop) {
  return {.choice = choice, .tokens = {text.begin(), text.end()}, .text = text, .finish_reason = finish};
}

/// That event, with the log-probability of each of its tokens.
Event with_logprobs(Event event) {
  for (const int32_t token : event.tokens) event.logprobs.push_back({{token, -0.5F, 1}});
  return event;
}

/// What an answer says to the events of prompt 0.
std::string fed(Answer& answer, const std::vector<Event>& events) {
  std::string out;
  for (const Event& event : events) answer.feed(0, event, out);
  return out;
}

std::vector<json> chunks_of(const std::string& stream) {
  std::vector<json> found;
  for (size_t at = 0; (at = stream.find("data: {", at)) != std::string::npos; ++at) {
    found.push_back(json::parse(stream.substr(at + 6, stream.find("\n\n", at) - at - 6)));
  }
  return found;
}

std::unique_ptr<Answer> chat_answer(const ChatRequest& request, bool opens_thinking = false) {
  return make_chat_answer({.id = "chatcmpl-1"}, request, {'H', 'i'}, opens_thinking, kBytes);
}

json whole_chat(const ChatRequest& request, const std::vector<Event>& events, bool opens_thinking = false) {
  const auto answer = chat_answer(request, opens_thinking);
  fed(*answer, events);
  return json::parse(answer->whole());
}

TEST(ChatAnswer, HasWhatWasAskedFor) {
  ChatRequest request;
  Event event = with_logprobs(event_of(0, "ab"));
  const json plain = whole_chat(request, {event});
  EXPECT_TRUE(plain["choices"][0].value("logprobs", json()).is_null());
  for (const char* field : {"prompt_logprobs", "prompt_token_ids"}) EXPECT_TRUE(plain.value(field, json()).is_null());
  request.sampling.logprobs = 0;
  request.return_token_ids = true;
  event.prompt_logprobs = {{}, {{'i', -0.5F, 1}}};
  const json full = whole_chat(request, {event});
  EXPECT_EQ(full["choices"][0]["logprobs"]["content"].size(), 2U) << full;
  EXPECT_EQ(full["choices"][0]["token_ids"], json({'a', 'b'}));
  EXPECT_EQ(full["prompt_token_ids"], json({'H', 'i'}));
  EXPECT_EQ(full["prompt_logprobs"].size(), 2U) << full;
}

TEST(ChatAnswer, AStreamHasThePromptsIdsOnlyWhereTheyWereAskedFor) {
  ChatRequest request;
  request.stream.stream = true;
  EXPECT_THAT(fed(*chat_answer(request), {event_of(0, "a")}), Not(HasSubstr("prompt_token_ids")));
  request.return_token_ids = true;
  EXPECT_THAT(fed(*chat_answer(request), {event_of(0, "a")}), HasSubstr("prompt_token_ids"));
}

/// An event that adds no text yet, as in the middle of a character, is no chunk.
TEST(ChatAnswer, StreamsAChunkForTheRoleAndForEachText) {
  ChatRequest request;
  request.stream.stream = true;
  const std::vector<Event> events = {
      {.tokens = {1}}, event_of(0, "a", FinishReason::none), {.tokens = {2}}, event_of(0, "b")};
  std::vector<std::string> texts;
  for (const json& chunk : chunks_of(fed(*chat_answer(request), events))) {
    texts.push_back(chunk["choices"][0]["delta"].value("content", "-"));
  }
  EXPECT_THAT(texts, ::testing::ElementsAre("", "a", "b"));
}

TEST(ChatAnswer, EveryChoiceBeginsWithTheEcho) {
  ChatRequest request;
  request.echo = "Once ";
  request.sampling.n = 2;
  const std::vector<Event> events = {event_of(0, "a", FinishReason::none), event_of(1, "c"), event_of(0, "b")};
  const json whole = whole_chat(request, events);
  request.stream.stream = true;
  std::string streamed[2];
  for (const json& chunk : chunks_of(fed(*chat_answer(request), events))) {
    const json& choice = chunk["choices"][0];
    streamed[choice["index"].get<size_t>()] += choice["delta"].value("content", "");
  }
  const std::string expected[] = {"Once ab", "Once c"};
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(whole["choices"][i]["message"]["content"], expected[i]);
    EXPECT_EQ(streamed[i], expected[i]);
  }
}

TEST(ChatAnswer, CallsOfEachChoiceHaveIdsOfTheirOwnAndCustomToolsTheirInput) {
  ChatRequest request;
  request.sampling.n = 2;
  request.tools.json = Json::array({{{"type", "function"}, {"function", {{"name", "code"}}}}});
  request.tools.origins = {{.custom = true}};
  request.tools.schemas = {{"code", {{"input"}}}};
  const std::string call =
      "<tool_call>\n<function=code>\n<parameter=input>\nls\n</parameter>\n</function>\n</tool_call>";
  const json choices = whole_chat(request, {event_of(0, call), event_of(1, call)})["choices"];
  const json first = choices[0]["message"]["tool_calls"][0], second = choices[1]["message"]["tool_calls"][0];
  EXPECT_EQ(first["custom"]["input"], "ls") << first;
  EXPECT_NE(first["id"], second["id"]);
}

TEST(ChatAnswer, CountsTheTokensOfThinkingOfAllChoices) {
  ChatRequest request;
  request.sampling.n = 2;
  const std::vector<Event> events = {event_of(0, "ab", FinishReason::none), event_of(0, "</think>"),
                                     event_of(1, "abc")};
  const json usage = whole_chat(request, events, /*opens_thinking=*/true)["usage"];
  EXPECT_EQ(usage["completion_tokens"], 13);
  EXPECT_EQ(usage["completion_tokens_details"]["reasoning_tokens"], 13);
}

std::unique_ptr<Answer> completion_answer(const openai::CompletionRequest& request) {
  return make_completion_answer({.id = "cmpl-1"}, request, {{'p'}, {'q', 'r'}}, {"p", "qr"}, kBytes);
}

TEST(CompletionAnswer, EveryChoiceIsOfItsPrompt) {
  openai::CompletionRequest request;
  request.sampling.n = 2;
  for (const bool asked : {false, true}) {
    request.echo = request.return_token_ids = request.prompt_logprobs = asked;
    const auto answer = completion_answer(request);
    std::string none;
    for (const size_t prompt : {1, 0}) {
      for (const int choice : {0, 1}) {
        Event first = event_of(choice, "a", FinishReason::none);
        if (choice == 0 && asked) first.prompt_logprobs.resize(prompt + 1);
        answer->feed(prompt, first, none);
        answer->feed(prompt, event_of(choice, "b"), none);
      }
    }
    const json choices = json::parse(answer->whole())["choices"];
    ASSERT_EQ(choices.size(), 4U);
    const json ids[] = {{'p'}, {'q', 'r'}};
    for (size_t i = 0; i < 4; ++i) {
      const std::string echo = i < 2 ? "p" : "qr";
      EXPECT_EQ(choices[i]["text"], asked ? echo + "ab" : "ab");
      EXPECT_EQ(choices[i].value("prompt_token_ids", json()), asked ? ids[i / 2] : json());
      EXPECT_EQ(choices[i].value("prompt_logprobs", json()).size(), asked ? echo.size() : 0U);
    }
  }
}

/// Choice 0 brings the prompt's log-probabilities, with which an echo begins; without one nothing waits for them.
TEST(CompletionAnswer, OnlyAnEchoWaitsForThePromptsLogprobs) {
  openai::CompletionRequest request;
  request.sampling.n = 2;
  request.sampling.prompt_logprobs = 1;
  request.stream.stream = true;
  EXPECT_THAT(fed(*completion_answer(request), {event_of(1, "a")}), HasSubstr(R"("text":"a")"));
  request.echo = true;
  EXPECT_EQ(fed(*completion_answer(request), {event_of(1, "a")}), "");
}

std::unique_ptr<Answer> responses_answer(const responses::ResponsesRequest& request, bool opens_thinking = false) {
  static responses::ResponseStore store({});
  return make_responses_answer({.id = "resp_1"}, request, 2, opens_thinking, kBytes, store, nullptr, nullptr);
}

/// Thinking has none.
TEST(ResponsesAnswer, HasTheLogprobsOfItsTextWhereTheyWereAskedFor) {
  responses::ResponsesRequest request;
  request.echo = {{"store", false}};
  const auto content = [&] {
    const auto answer = responses_answer(request, /*opens_thinking=*/true);
    fed(*answer, {with_logprobs(event_of(0, "Hm", FinishReason::none)),
                  with_logprobs(event_of(0, "</think>", FinishReason::none)), with_logprobs(event_of(0, "ab"))});
    return json::parse(answer->whole())["output"].at(1)["content"][0];
  };
  EXPECT_EQ(content()["logprobs"], json::array());
  request.chat.sampling.logprobs = 0;
  const json asked = content();
  EXPECT_EQ(asked["text"], "ab");
  ASSERT_EQ(asked["logprobs"].size(), 2U) << asked;
  EXPECT_EQ(asked["logprobs"][1],
            json({{"token", "b"}, {"bytes", {'b'}}, {"logprob", -0.5}, {"top_logprobs", json::array()}}));
}

/// However it ends: what does not end is never forgotten.
TEST(ResponsesAnswer, IsKeptFromItsBeginAsItStands) {
  const std::pair<const char*, void (*)(Answer&, std::string&)> ends[] = {
      {"completed", [](Answer& answer, std::string& out) { answer.finish(out); }},
      {"failed", [](Answer& answer, std::string& out) { answer.fail({.http_status = 500, .message = "gone"}, out); }},
      {"cancelled", [](Answer& answer, std::string& out) { answer.cancel(out); }}};
  for (const auto& [status, end] : ends) {
    for (const bool kept : {true, false}) {
      responses::ResponsesRequest request;
      request.store = kept;
      request.echo = {{"store", kept}};
      request.chat.stream.stream = true;
      responses::ResponseStore store({});
      const auto answer = make_responses_answer({.id = "resp_1"}, request, 2, false, kBytes, store, nullptr, nullptr);
      std::string out;
      answer->begin(out);
      const auto begun = store.find("resp_1");
      out += fed(*answer, {event_of(0, "a", FinishReason::none)});
      end(*answer, out);
      const auto ended = store.find("resp_1");
      ASSERT_EQ(begun != nullptr, kept) << status;
      ASSERT_EQ(ended != nullptr, kept) << status;
      const json last = chunks_of(out).back()["response"];
      EXPECT_EQ(last["status"], status);
      EXPECT_EQ(last["usage"]["output_tokens"], 1) << status;
      if (!kept) continue;
      EXPECT_FALSE(begun->ended);
      EXPECT_EQ(json::parse(begun->json())["status"], "in_progress");
      EXPECT_TRUE(ended->ended) << status;
      EXPECT_EQ(json::parse(ended->json()), last);
    }
  }
}

TEST(ResponsesAnswer, SaysThatItIsStillThere) {
  responses::ResponsesRequest request;
  request.echo = {{"store", false}};
  request.chat.stream.stream = true;
  std::string out;
  responses_answer(request)->ping(out);
  EXPECT_EQ(chunks_of(out).at(0)["type"], "keepalive");
}

}  // namespace
}  // namespace tessera::server
