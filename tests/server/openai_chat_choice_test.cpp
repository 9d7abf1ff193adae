// Events of a choice as deltas, whole and cut into pieces, and the JSON of both kinds of answer: what a client joins
// from chunks is the message it would have got in one piece.

#include "server/request/chat_choice.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "server/openai/logprobs.h"
#include "server/openai/responses.h"

namespace tessera::server::openai {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

const std::vector<text::ToolSchema>& tools() {
  static const std::vector<text::ToolSchema> kTools = {
      {"get", {{"city"}, {"days", text::ParameterType::integer}, {"more", text::ParameterType::json}}}, {"ping", {}}};
  return kTools;
}

struct Transcript {
  const char* name;
  bool opens_thinking;
  bool with_tools;
  std::string text;
  FinishReason finish;
};

const std::vector<Transcript>& corpus() {
  static const std::string kCall =
      "<tool_call>\n<function=get>\n<parameter=city>\nZürich \"7\"\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
      "</function>\n</tool_call>";
  static const std::vector<Transcript> kCorpus = {
      {"empty", false, false, "", FinishReason::stop},
      {"plain", false, false, "Grüße, <b>you</b> & \"I\".\n", FinishReason::length},
      {"thinking", true, false, "\nLet me <see>.\n\nYes.\n</think>\n\nAnswer 1 < 2.\n", FinishReason::stop},
      {"never done thinking", true, true, "hm, \xe2\x82\xac </thin", FinishReason::length},
      {"a call", false, true, "Sure.\n\n" + kCall, FinishReason::stop},
      {"thinking and calls", true, true,
       "I need it\n</think>\n\n" + kCall + "\n<tool_call>\n<function=ping>\n</function>\n</tool_call>",
       FinishReason::stop},
      {"a call inside thinking", true, true, "so\n" + kCall, FinishReason::stop},
      {"an unfinished call", false, true, "<tool_call>\n<function=get>\n<parameter=city>\nPar", FinishReason::length},
      {"a tag that is text", false, true, "Write <tool_call> to call.", FinishReason::stop},
      {"tags without tools", false, false, "see " + kCall, FinishReason::stop},
      {"json value", false, true,
       "<tool_call>\n<function=get>\n<parameter=more>\n{\"a\": [1, \"</parameter>\"]}\n</parameter>\n</function>\n",
       FinishReason::stop},
  };
  return kCorpus;
}

ChatChoice::Options options_of(const Transcript& transcript) {
  ChatChoice::Options options{.request_id = "chatcmpl-1", .opens_thinking = transcript.opens_thinking};
  if (transcript.with_tools) options.tools = tools();
  return options;
}

const ResponseHead kHead{.id = "chatcmpl-1", .created = 1700000000, .model = "m\"1", .fingerprint = "fp"};

/// The message that a client makes of chunks, as the openai package does.
json join(const std::vector<std::string>& chunks) {
  json message = {{"content", ""}, {"reasoning_content", ""}, {"reasoning", ""}, {"tool_calls", json::array()}};
  for (const std::string& text : chunks) {
    const json chunk = json::parse(text);
    EXPECT_EQ(chunk["object"], "chat.completion.chunk");
    EXPECT_EQ(chunk["model"], "m\"1");
    const json& choice = chunk["choices"].at(0);
    const json& delta = choice["delta"];
    for (const char* key : {"content", "reasoning_content", "reasoning"}) {
      if (delta.contains(key)) message[key] = message[key].get<std::string>() + delta[key].get<std::string>();
    }
    for (const json& call : delta.value("tool_calls", json::array())) {
      const size_t index = call.at("index");
      if (index == message["tool_calls"].size()) {
        message["tool_calls"].push_back(
            {{"id", call.at("id")}, {"type", call.at("type")}, {"function", call.at("function")}});
      } else {
        json& function = message["tool_calls"].at(index)["function"];
        EXPECT_FALSE(call.contains("id"));
        function["arguments"] =
            function["arguments"].get<std::string>() + call.at("function").at("arguments").get<std::string>();
      }
    }
    if (!choice["finish_reason"].is_null()) message["finish_reason"] = choice["finish_reason"];
  }
  return message;
}

/// The same of an answer in one piece.
json message_of(const std::string& answer) {
  const json choice = json::parse(answer).at("choices").at(0);
  json message = {{"content", ""}, {"reasoning_content", ""}, {"reasoning", ""}, {"tool_calls", json::array()}};
  for (const auto& [key, value] : choice.at("message").items()) {
    if (message.contains(key) && !value.is_null()) message[key] = value;
  }
  message["finish_reason"] = choice.at("finish_reason");
  return message;
}

struct Both {
  json streamed, whole;
};

/// Feeds the pieces as events; the finish comes alone, or with the last piece.
Both run(const Transcript& transcript, const std::vector<std::string_view>& pieces, bool finish_alone) {
  ChatChoice choice(options_of(transcript));
  const ChunkWriter writer(ChunkWriter::Kind::chat, kHead, false);
  std::vector<std::string> chunks(1);
  writer.role(0, chunks[0]);
  ChatMessageText message;
  const auto feed = [&](const Event& event) {
    const ChatDelta delta = choice.feed(event);
    message.add(delta);
    if (!delta.empty()) writer.delta(0, delta, chunks.emplace_back());
  };
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool last = i + 1 == pieces.size() && !finish_alone;
    feed({.tokens = {static_cast<int32_t>(i)},
          .text = std::string(pieces[i]),
          .finish_reason = last ? transcript.finish : FinishReason::none});
  }
  if (finish_alone) feed({.finish_reason = transcript.finish});
  return {join(chunks), message_of(chat_completion_json(kHead, {.choices = {message}}))};
}

TEST(OpenAiChatChoice, ChunksJoinToTheWholeMessageForEveryCut) {
  for (const Transcript& t : corpus()) {
    const std::string_view text = t.text;
    const json expected = run(t, {text}, true).whole;
    std::vector<std::string_view> single;
    for (size_t i = 0; i < text.size(); ++i) single.push_back(text.substr(i, 1));
    // Single bytes are not what the engine sends (chunks would hold halves of code points), so only ASCII texts here.
    const bool ascii = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (ascii) {
      EXPECT_EQ(run(t, single, true).streamed, expected) << t.name;
    }
    for (size_t cut = 0; cut <= text.size(); ++cut) {
      if (cut < text.size() && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) continue;
      const bool alone = cut % 2 == 0;
      const Both both = run(t, {text.substr(0, cut), text.substr(cut)}, alone);
      ASSERT_EQ(both.streamed, expected) << t.name << " cut at " << cut;
      ASSERT_EQ(both.whole, expected) << t.name << " cut at " << cut;
    }
  }
}

json whole(size_t index) { return run(corpus()[index], {corpus()[index].text}, true).whole; }

TEST(OpenAiChatChoice, WhatTheCorpusMeans) {
  EXPECT_EQ(whole(0)["finish_reason"], "stop");
  EXPECT_EQ(whole(1)["finish_reason"], "length");
  EXPECT_EQ(whole(2)["reasoning"], "Let me <see>.\n\nYes.");
  EXPECT_EQ(whole(2)["reasoning_content"], whole(2)["reasoning"]);
  EXPECT_EQ(whole(2)["content"], "Answer 1 < 2.\n");
  EXPECT_EQ(whole(3)["reasoning"], "hm, \xe2\x82\xac </thin");
  const json call = whole(4)["tool_calls"].at(0);
  EXPECT_EQ(whole(4)["content"], "Sure.");
  EXPECT_EQ(whole(4)["finish_reason"], "tool_calls");
  EXPECT_EQ(call["type"], "function");
  EXPECT_EQ(call["id"], tool_call_id("call_", "chatcmpl-1", 0, 0));
  EXPECT_EQ(call["function"]["name"], "get");
  EXPECT_EQ(json::parse(call["function"]["arguments"].get<std::string>()),
            json::parse(R"({"city": "Zürich \"7\"", "days": 3})"));
  EXPECT_EQ(whole(5)["tool_calls"].size(), 2U);
  EXPECT_EQ(whole(5)["reasoning"], "I need it");
  EXPECT_EQ(whole(6)["finish_reason"], "tool_calls");
  EXPECT_EQ(whole(7)["finish_reason"], "length");
  EXPECT_EQ(whole(7)["tool_calls"].at(0)["function"]["arguments"], R"({"city": "Par)");
  EXPECT_EQ(whole(8)["content"], "Write <tool_call> to call.");
  EXPECT_EQ(whole(9)["tool_calls"].size(), 0U);
  EXPECT_EQ(whole(10)["tool_calls"].size(), 1U);
}

TEST(OpenAiChatChoice, WithoutParallelCallsOnlyTheFirstIsDelivered) {
  const Transcript& t = corpus()[5];
  auto options = options_of(t);
  options.parallel_tool_calls = false;
  ChatChoice choice(options);
  ChatMessageText message;
  message.add(choice.feed({.text = t.text, .finish_reason = FinishReason::stop}));
  ASSERT_EQ(message.tool_calls.size(), 1U);
  EXPECT_EQ(message.tool_calls[0].name, "get");
  EXPECT_EQ(message.finish, ChatFinish::tool_calls);
}

TEST(OpenAiChatChoice, OnlyTheModelEndsACall) {
  const std::string begun = "<tool_call>\n<function=get>\n<parameter=city>\nPar";
  const auto end = [&](FinishReason reason, StopCause cause) {
    ChatChoice choice(options_of(corpus()[7]));
    ChatMessageText message;
    message.add(choice.feed({.text = begun, .finish_reason = reason, .stop_reason = "x", .stop_cause = cause}));
    return message;
  };
  const ChatMessageText whole = end(FinishReason::stop, StopCause::model);
  EXPECT_EQ(whole.tool_calls.at(0).arguments, R"({"city": "Par"})");
  EXPECT_EQ(whole.finish, ChatFinish::tool_calls);
  EXPECT_FALSE(whole.call_is_cut);
  for (const auto& message : {end(FinishReason::length, StopCause::none), end(FinishReason::stop, StopCause::string),
                              end(FinishReason::stop, StopCause::token)}) {
    EXPECT_EQ(message.tool_calls.at(0).arguments, R"({"city": "Par)");
    EXPECT_EQ(message.finish, ChatFinish::length);
    EXPECT_TRUE(message.call_is_cut);
    EXPECT_EQ(message.content, "");
  }
}

/// Calls behind the first, where only one may be, are left out: what cuts them off does not cut the first.
TEST(OpenAiChatChoice, ACallThatIsLeftOutCutsNone) {
  ChatChoice::Options options = options_of(corpus()[7]);
  options.parallel_tool_calls = false;
  ChatChoice choice(options);
  ChatMessageText message;
  message.add(choice.feed({.text = "<tool_call>\n<function=ping>\n</function>\n</tool_call>\n"
                                   "<tool_call>\n<function=get>\n<parameter=city>\nPar",
                           .finish_reason = FinishReason::length}));
  ASSERT_EQ(message.tool_calls.size(), 1U);
  EXPECT_EQ(message.tool_calls[0].arguments, "{}");
  EXPECT_EQ(message.finish, ChatFinish::length);
  EXPECT_FALSE(message.call_is_cut);
}

TEST(OpenAiChatChoice, AnAnswerThatFollowsAFormatIsCutByAStop) {
  const auto finish = [](bool must_be_whole, StopCause cause) {
    ChatChoice choice({.must_be_whole = must_be_whole});
    return choice.feed({.text = "{\"a\"", .finish_reason = FinishReason::stop, .stop_cause = cause}).finish;
  };
  EXPECT_EQ(finish(true, StopCause::model), ChatFinish::stop);
  EXPECT_EQ(finish(true, StopCause::string), ChatFinish::length);
  EXPECT_EQ(finish(true, StopCause::token), ChatFinish::length);
  EXPECT_EQ(finish(false, StopCause::string), ChatFinish::stop_string);
}

TEST(OpenAiChatChoice, SaysWhichStopStringEndedIt) {
  const auto said = [](StopCause cause) {
    ChatChoice choice({});
    ChatMessageText message;
    message.add(
        choice.feed({.text = "a", .finish_reason = FinishReason::stop, .stop_reason = "END", .stop_cause = cause}));
    return message.stop_string;
  };
  EXPECT_EQ(said(StopCause::string), "END");
  EXPECT_EQ(said(StopCause::model), "");
}

TEST(OpenAiChatChoice, CallsOfOtherToolsAreText) {
  const std::string text = "<tool_call>\n<function=delete>\n</function>\n</tool_call>";
  ChatChoice choice(options_of(corpus()[7]));
  ChatMessageText message;
  message.add(choice.feed({.text = text, .finish_reason = FinishReason::stop, .stop_cause = StopCause::model}));
  EXPECT_EQ(message.content, text);
  EXPECT_TRUE(message.tool_calls.empty());
  EXPECT_EQ(message.finish, ChatFinish::stop);
}

TEST(OpenAiChatChoice, FunctionsAreAnsweredInTheirForm) {
  const ChatDelta delta{.tool_calls = {{.index = 0, .id = "call_1", .name = "f", .arguments = "{}"}},
                        .finish = ChatFinish::tool_calls};
  std::string chunk;
  ChunkWriter(ChunkWriter::Kind::chat, kHead, false, /*legacy_calls=*/true).delta(0, delta, chunk);
  const json streamed = json::parse(chunk)["choices"][0];
  EXPECT_EQ(streamed["delta"]["function_call"].dump(), R"({"arguments":"{}","name":"f"})");
  EXPECT_EQ(streamed["finish_reason"], "function_call");
  std::string next;
  ChunkWriter(ChunkWriter::Kind::chat, kHead, false, /*legacy_calls=*/true)
      .delta(0, {.tool_calls = {{.index = 0, .arguments = "}"}}}, next);
  EXPECT_EQ(json::parse(next)["choices"][0]["delta"]["function_call"].dump(), R"({"arguments":"}"})");
  ChatMessageText message;
  message.add(delta);
  const json whole = json::parse(chat_completion_json(kHead, {.choices = {message}, .legacy_calls = true}));
  EXPECT_EQ(whole["choices"][0]["message"]["function_call"], streamed["delta"]["function_call"]);
  EXPECT_FALSE(whole["choices"][0]["message"].contains("tool_calls"));
}

TEST(OpenAiChatChoice, ReasoningCanBeLeftOut) {
  const Transcript& t = corpus()[2];
  auto options = options_of(t);
  options.include_reasoning = false;
  ChatChoice choice(options);
  const ChatDelta delta = choice.feed({.tokens = {1}, .text = t.text, .finish_reason = FinishReason::stop});
  EXPECT_EQ(delta.reasoning, "");
  EXPECT_EQ(delta.content, "Answer 1 < 2.\n");
}

TEST(OpenAiChatChoice, CountsTokens) {
  ChatChoice choice({.opens_thinking = true});
  choice.feed({.tokens = {1}, .text = "a"});
  choice.feed({.tokens = {2, 3}, .text = "b</think>"});
  choice.feed({.tokens = {4}, .text = "\n\nc"});
  choice.feed({.tokens = {5}, .finish_reason = FinishReason::stop});
  EXPECT_EQ(choice.tokens(), 5);
  EXPECT_EQ(choice.reasoning_tokens(), 3);
}

TEST(OpenAiChatChoice, LogprobsAndTokensWaitForADelta) {
  const TokenBytes bytes = [](int32_t token) { return std::string(1, static_cast<char>(token)); };
  const AppendLogprob append = [&](const std::vector<TokenLogprob>& entry, std::string& out) {
    append_chat_logprob(entry, bytes, out);
  };
  ChatChoice choice({.opens_thinking = true, .return_token_ids = true, .append_logprob = append});
  const auto event = [](int32_t token, const std::string& text) {
    return Event{.tokens = {token}, .text = text, .logprobs = {{{token, -0.5F, 1}, {'z', -1.0F, 2}}}};
  };
  const ChatDelta held = choice.feed(event('<', "<"));  // may be a tag
  EXPECT_TRUE(held.empty());
  EXPECT_EQ(held.logprobs, "");
  const ChatDelta delta = choice.feed(event('a', "a"));
  EXPECT_EQ(delta.reasoning, "<a");
  EXPECT_THAT(delta.tokens, ElementsAre('<', 'a'));
  EXPECT_EQ(delta.logprobs,
            R"({"token":"<","logprob":-0.5,"bytes":[60],"top_logprobs":[{"token":"z","logprob":-1,"bytes":[122]}]},)"
            R"({"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[{"token":"z","logprob":-1,"bytes":[122]}]})");
  EXPECT_TRUE(choice.feed(event('<', "<")).empty());
  Event last = event('e', "");
  last.finish_reason = FinishReason::stop;
  const ChatDelta end = choice.feed(last);
  EXPECT_THAT(end.tokens, ElementsAre('<', 'e'));
  EXPECT_EQ(json::parse("[" + end.logprobs + "]").size(), 2U);
}

/// As /v1/responses wants it.
TEST(OpenAiChatChoice, LogprobsOfTheAnswerAlone) {
  const AppendLogprob append = [](const std::vector<TokenLogprob>& entry, std::string& out) {
    out += std::to_string(entry[0].token);
  };
  ChatChoice choice({.opens_thinking = true, .append_logprob = append, .thinking_logprobs = false});
  std::string all;
  ChatMessageText message;
  for (const Event& event : {Event{.tokens = {1}, .text = "Hm.", .logprobs = {{{.token = 1}}}},
                             Event{.tokens = {2}, .text = "</think>", .logprobs = {{{.token = 2}}}},
                             Event{.tokens = {3}, .text = "\n\nNo", .logprobs = {{{.token = 3}}}},
                             Event{.tokens = {4}, .text = ".", .logprobs = {{{.token = 4}}}}}) {
    const ChatDelta delta = choice.feed(event);
    all += delta.logprobs + ";";
    message.add(delta);
  }
  EXPECT_EQ(all, ";;3;4;");
  EXPECT_EQ(message.logprobs, "3,4");
}

/// Tokens of one text are one key of the legacy format, with what the likelier of them has, which comes first.
TEST(OpenAiLogprobs, EqualTextsAreOneKey) {
  const TokenBytes bytes = [](int32_t token) { return std::string(token % 2 == 0 ? "\xff" : "\xc3\xa9"); };
  LegacyLogprobs legacy;
  int64_t offset = 3;
  legacy.add(1, {}, bytes, offset);
  EXPECT_EQ(offset, 4);  // in code points
  legacy.add(2, {{2, -1.5F, 3}, {1, -0.25F, 1}, {3, -0.5F, 2}, {4, -2.0F, 4}}, bytes, offset);
  legacy.add(5, {{5, -1e9F, 1}}, bytes, offset);
  EXPECT_EQ(legacy.tokens, R"("é","�","é")");
  EXPECT_EQ(legacy.text_offset, "3,4,5");
  EXPECT_EQ(legacy.token_logprobs, "null,-1.5,-9999");
  EXPECT_EQ(legacy.top_logprobs, R"(null,{"�":-1.5,"é":-0.25},{"é":-9999})");
}

TEST(OpenAiLogprobs, PromptsAsVllmWritesThem) {
  const TokenBytes bytes = [](int32_t token) { return std::string(1, static_cast<char>(token)); };
  EXPECT_EQ(prompt_logprobs_json({}, bytes), "[]");
  EXPECT_EQ(prompt_logprobs_json({{}, {{'a', -1.0F, 2}, {'b', -0.5F, 1}, {'a', -1.0F, 2}}, {{'c', 0.5F, 1}}}, bytes),
            R"([null,{"97":{"logprob":-1,"rank":2,"decoded_token":"a"},"98":{"logprob":-0.5,"rank":1,)"
            R"("decoded_token":"b"}},{"99":{"logprob":-9999,"rank":1,"decoded_token":"c"}}])");
}

TEST(OpenAiChatChoice, EndsThatAreNoReasonStillFlush) {
  ChatChoice choice({});
  const ChatDelta delta = choice.feed({.text = "a", .finish_reason = FinishReason::cancelled});
  EXPECT_EQ(delta.content, "a");
  EXPECT_EQ(delta.finish, ChatFinish::none);
}

TEST(OpenAiChatChoice, CallIdsDiffer) {
  std::set<std::string> ids;
  for (int request = 0; request < 50; ++request) {
    for (int choice = 0; choice < 8; ++choice) {
      for (int call = 0; call < 8; ++call) {
        const std::string id = tool_call_id("call_", "chatcmpl-" + std::to_string(request), choice, call);
        EXPECT_EQ(id.size(), 29U);
        EXPECT_TRUE(id.starts_with("call_"));
        ids.insert(id);
      }
    }
  }
  EXPECT_EQ(ids.size(), 50U * 8 * 8);
  EXPECT_EQ(tool_call_id("call_", "x", 0, 1), tool_call_id("call_", "x", 0, 1));
}

}  // namespace
}  // namespace tessera::server::openai
