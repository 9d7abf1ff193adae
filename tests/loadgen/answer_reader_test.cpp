#include "loadgen/answer_reader.h"

#include <gmock/gmock.h>

namespace tessera::loadgen {
namespace {

using ::testing::HasSubstr;

std::string event(const std::string& json) { return "data: " + json + "\n\n"; }
std::string text_event(const std::string& text, const std::string& more = "") {
  return event(R"({"choices":[{"index":0,"delta":{"content":")" + text + R"("}}])" + more + "}");
}
const std::string kEnd = event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})");
const std::string kDone = event("[DONE]");

/// Feeds each piece a tenth of a second after the one before.
Record read(const std::vector<std::string>& pieces) {
  Record record;
  AnswerReader reader;
  reader.begin(record);
  double now = 0;
  for (const std::string& piece : pieces) {
    if (!reader.feed(piece, now += 0.1)) break;
  }
  reader.finish();
  record.end = now;
  return record;
}

TEST(AnswerReader, TokensAreThoseOfUsage) {
  const Record record = read({event(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})"),
                              text_event("One two"), text_event(" three"), kEnd,
                              event(R"({"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":9,)"
                                    R"("prompt_tokens_details":{"cached_tokens":4},)"
                                    R"("completion_tokens_details":{"reasoning_tokens":2}}})"),
                              kDone});
  EXPECT_TRUE(record.ok()) << record.message;
  ASSERT_EQ(record.deliveries.size(), 2U);
  EXPECT_EQ(record.deliveries[0].tokens, -1);
  EXPECT_DOUBLE_EQ(*record.ttft(), 0.2);
  EXPECT_EQ(record.usage.prompt, 11);
  EXPECT_EQ(record.usage.completion, 9);
  EXPECT_EQ(record.usage.cached, 4);
  EXPECT_EQ(record.usage.reasoning, 2);
  EXPECT_EQ(record.finish_reason, "stop");
  EXPECT_NEAR(*record.tpot(), 0.4 / 8, 1e-12);
}

TEST(AnswerReader, ContinuousUsageTellsTokensOfEachPiece) {
  const Record record = read({text_event("a", R"(,"usage":{"prompt_tokens":3,"completion_tokens":2})"),
                              text_event("b", R"(,"usage":{"prompt_tokens":3,"completion_tokens":3})") +
                                  text_event("c", R"(,"usage":{"prompt_tokens":3,"completion_tokens":6})"),
                              kEnd + kDone});
  ASSERT_EQ(record.deliveries.size(), 2U);  // what came together is one delivery
  EXPECT_EQ(record.deliveries[0].tokens, 2);
  EXPECT_EQ(record.deliveries[1].tokens, 6);
  EXPECT_NEAR(*record.tpot(), 0.2 / 4, 1e-12);  // four tokens behind the first piece
}

TEST(AnswerReader, ThinkingComesBeforeTheAnswer) {
  const Record record = read({event(R"({"choices":[{"delta":{"reasoning_content":"hmm","reasoning":"hmm"}}]})"),
                              event(R"({"choices":[{"delta":{"reasoning":"m"}}]})"), text_event("ok!!"), kEnd});
  EXPECT_EQ(record.deliveries.size(), 3U);
  EXPECT_DOUBLE_EQ(*record.ttft(), 0.1);
  EXPECT_NEAR(record.first_answer, 0.3, 1e-12);
  EXPECT_DOUBLE_EQ(record.thinking_share, 0.5);  // a text under two names counts once
}

TEST(AnswerReader, CallsAreAnswersToo) {
  const Record record =
      read({event(R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}}]})"),
            event(R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]})"),
            event(R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})")});
  EXPECT_TRUE(record.ok());
  EXPECT_EQ(record.deliveries.size(), 2U);
  EXPECT_DOUBLE_EQ(record.first_answer, 0.1);
}

TEST(AnswerReader, DraftsOfLlamaCpp) {
  const Record record = read(
      {text_event("a"),
       event(
           R"({"choices":[{"delta":{},"finish_reason":"stop"}],"timings":{"draft_n":40,"draft_n_accepted":30,"cache_n":5}})")});
  EXPECT_EQ(record.usage.drafted, 40);
  EXPECT_EQ(record.usage.accepted, 30);
  EXPECT_EQ(record.usage.cached, 5);
  const Record both = read(
      {text_event("a"),
       event(
           R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":3}},"timings":{"cache_n":5}})")});
  EXPECT_EQ(both.usage.cached, 3);  // usage's own count goes first
}

TEST(AnswerReader, TextsAreToldApartByAllOfThem) {
  const std::string words = "one two three four five six seven eight nine ten ";
  const Record first = read({text_event(words + "a"), kEnd}), second = read({text_event(words + "b"), kEnd});
  EXPECT_NE(first.answer_hash, second.answer_hash);
  EXPECT_EQ(first.answer_hash, read({text_event(words), text_event("a"), kEnd}).answer_hash);
  EXPECT_EQ(read({kEnd}).answer_hash, 0U) << "answers without text are not equal ones";
  EXPECT_EQ(first.repetition, 0);
  EXPECT_GT(read({text_event(words + words + words), kEnd}).repetition, 0.5);
  const Record refusal = read({event(R"({"choices":[{"delta":{"refusal":"No."}}],"error":null})"), kEnd});
  EXPECT_TRUE(refusal.ok()) << refusal.message;
  EXPECT_EQ(refusal.deliveries.size(), 1U);
  EXPECT_DOUBLE_EQ(refusal.first_answer, 0.1);
}

/// One reader reads answer after answer.
TEST(AnswerReader, NothingIsLeftOfTheAnswerBefore) {
  AnswerReader reader;
  const auto next = [&](const std::vector<std::string>& pieces) {
    Record record;
    reader.begin(record);
    for (const std::string& piece : pieces) reader.feed(piece, 1);
    reader.finish();
    return record;
  };
  const Record thought = next({event(R"({"choices":[{"delta":{"reasoning":"hm"}}]})"), kDone, "data: {\"choi"});
  EXPECT_DOUBLE_EQ(thought.thinking_share, 1);
  const Record cut = next({text_event("ok")});
  EXPECT_EQ(name_of(cut.error), "stream_cut");
  EXPECT_THAT(cut.message, ::testing::Not(HasSubstr("inside a chunk")));
  EXPECT_EQ(cut.thinking_share, 0);
  EXPECT_EQ(cut.answer_hash, read({text_event("ok"), kEnd}).answer_hash);
}

TEST(AnswerReader, WhatIsNoAnswer) {
  const auto expect = [](const Record& record, ErrorKind kind, const char* says) {
    EXPECT_EQ(name_of(record.error), name_of(kind));
    EXPECT_THAT(record.message, HasSubstr(says));
  };
  expect(read({text_event("a"), text_event("b")}), ErrorKind::stream_cut, "after 2 pieces");
  expect(read({text_event("a"), "data: {\"choi"}), ErrorKind::stream_cut, "inside a chunk");
  expect(read({text_event("a"), event("{\"choices\": [")}), ErrorKind::bad_stream, "no JSON object");
  expect(read({event("[1]")}), ErrorKind::bad_stream, "[1]");
  expect(read({text_event("a"), event(R"({"error":{"message":"out of memory","code":500}})")}), ErrorKind::stream_error,
         "out of memory");
  expect(read({text_event("a"), event(R"({"error":"gone"})")}), ErrorKind::stream_error, "gone");
  expect(read({}), ErrorKind::stream_cut, "after 0 pieces");
  expect(read({text_event("a"), "data: " + std::string(SseReader::kEventBytesMax + 1, 'x')}), ErrorKind::bad_stream,
         "an event of more than");
  EXPECT_TRUE(read({text_event("a"), kDone}).ok());  // some servers say no finish_reason
  EXPECT_TRUE(read({text_event("a"), kEnd}).ok());   // some say no [DONE]
  EXPECT_TRUE(
      read({event(R"({"choices":[{"delta":{"content":7}},3],"usage":null})"), event(R"({"choices":{}})"), kDone}).ok());
}

TEST(AnswerReader, ErrorsInTheForms) {
  EXPECT_EQ(error_text(R"({"error":{"message":"no such model"}})"), "no such model");
  EXPECT_EQ(error_text(R"({"detail":"Not Found"})"), "Not Found");
  EXPECT_EQ(error_text(R"({"object":"error","message":"too long","code":400})"), "too long");
  EXPECT_EQ(error_text(R"({"error":"gone"})"), "gone");
  EXPECT_EQ(error_text(R"({ "reason": 7 })"), R"({"reason":7})");
  EXPECT_EQ(error_text("<html>\nbad gateway"), "<html> bad gateway");
  EXPECT_LT(error_text(std::string(10000, 'x')).size(), 200U);
}

}  // namespace
}  // namespace tessera::loadgen
