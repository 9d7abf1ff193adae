#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "base/wait_until.h"
#include "counting_runner.h"
#include "engine/engine_maker.h"

// Streams of an engine, what becomes of their requests when they go, and its counts.
namespace tessera::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kLong = 400'000;  // tokens: a second or more

Engine counting_engine(int fail_collect_at = -1) {
  auto runner = std::make_unique<CountingRunner>(Ahead::yes);
  runner->fail_collect_at = fail_collect_at;
  StepLoopParts made = parts(*runner, static_cast<int>(kLong / 64) * 3);
  return EngineMaker::make(std::move(runner), std::move(made));
}

RequestStream stream_of(Engine& engine, int64_t tokens = kLong) {
  Request request = count_from(10, tokens);
  request.sampling.stop_token_ids = {kBadToken};  // which is so never drawn
  request.sampling.min_tokens = tokens;
  auto stream = engine.submit(request);
  EXPECT_TRUE(stream.ok()) << stream.status().message();
  return *std::move(stream);
}

bool eventually_idle(const Engine& engine, int running = 0) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (engine.stats().running + engine.stats().waiting != running && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  return engine.stats().running + engine.stats().waiting == running;
}

TEST(RequestStream, WhoeverLetsItGoEndsItsRequest) {
  Engine engine = counting_engine();
  { const RequestStream gone = stream_of(engine); }
  EXPECT_TRUE(eventually_idle(engine));
  RequestStream cancelled = stream_of(engine);
  cancelled.cancel();
  EXPECT_TRUE(eventually_idle(engine));
  // An assignment lets the old one go, and the new one stay.
  RequestStream first = stream_of(engine);
  RequestStream second = stream_of(engine, 5);
  first = std::move(second);
  std::vector<int32_t> tokens;
  FinishReason last = FinishReason::none;
  while (const auto event = first.next()) {
    tokens.insert(tokens.end(), event->tokens.begin(), event->tokens.end());
    last = event->finish_reason;
  }
  EXPECT_EQ(tokens, from_to(11, 15));
  EXPECT_EQ(last, FinishReason::length);
  EXPECT_TRUE(eventually_idle(engine));
  EXPECT_LT(engine.stats().generated_tokens, static_cast<uint64_t>(kLong)) << "none ran to its end";
}

TEST(RequestStream, AnAssignmentToItselfChangesNothing) {
  Engine engine = counting_engine();
  RequestStream stream = stream_of(engine, 5);
  RequestStream& same = stream;
  stream = std::move(same);
  int events = 0;
  while (stream.next()) ++events;
  EXPECT_EQ(events, 5);
  RequestStream moved = stream_of(engine, 50);
  RequestStream target = stream_of(engine, 5);
  target = std::move(moved);
  { const RequestStream nothing = std::move(moved); }
  events = 0;
  while (target.next()) ++events;
  EXPECT_EQ(events, 50) << "what it was moved from has no part in it";
}

TEST(RequestStream, NobodyIsCalledForAStreamThatIsGone) {
  Engine engine = counting_engine();
  std::atomic<bool> gone = false, late = false, called = false;
  for (int i = 0; i < 50; ++i) {
    gone = false;
    {
      RequestStream stream = stream_of(engine, 2000);
      stream.on_ready([&] {
        called = true;
        late = late || gone;
      });
      (void)stream.next();
      ASSERT_TRUE(test::wait_until([&] { return called.load(); }));
    }
    gone = true;
    EXPECT_TRUE(eventually_idle(engine));
  }
  EXPECT_FALSE(late);
}

TEST(Engine, ReadsWhatIsLeftOfATruncatedPrompt) {
  Engine engine = counting_engine();
  auto stream = engine.submit(
      {.prompt = {5, 6, 7}, .sampling = {.temperature = 0, .max_tokens = 1, .truncate_prompt_tokens = 2}});
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  while (stream->next()) {
  }
  EXPECT_EQ(engine.stats().prompt_tokens, 2U);
}

TEST(EngineFailure, IsSaidByStatusAndByClose) {
  Engine engine = counting_engine(/*fail_collect_at=*/3);
  RequestStream stream = stream_of(engine);
  FinishReason last = FinishReason::none;
  while (const auto event = stream.next()) last = event->finish_reason;
  EXPECT_EQ(last, FinishReason::error);
  EXPECT_EQ(engine.status().code(), StatusCode::unavailable);
  EXPECT_THAT(engine.close().message(), HasSubstr("does not answer"));
  EXPECT_EQ(engine.status().code(), StatusCode::unavailable);
  Engine closed = counting_engine();
  EXPECT_TRUE(closed.close().ok());
  EXPECT_EQ(closed.status().code(), StatusCode::cancelled);
}

TEST(DraftStats, CountsStepsDraftsAndWhereTheyHeld) {
  DraftStats stats;
  stats.count(0, 0);
  stats.count(3, 2);
  stats.count(2, 0);
  stats.count(3, 3);
  EXPECT_EQ(stats.steps, 3U);
  EXPECT_EQ(stats.proposed, 8U);
  EXPECT_EQ(stats.accepted, 5U);
  EXPECT_EQ(stats.accepted_at[0], 2U);
  EXPECT_EQ(stats.accepted_at[1], 2U);
  EXPECT_EQ(stats.accepted_at[2], 1U);
  EXPECT_EQ(stats.accepted_at[3], 0U);
  DraftStats sum = stats;
  sum += stats;
  EXPECT_EQ(sum.steps, 6U);
  EXPECT_EQ(sum.proposed, 16U);
  EXPECT_EQ(sum.accepted, 10U);
  for (size_t i = 0; i < sum.accepted_at.size(); ++i) EXPECT_EQ(sum.accepted_at[i], 2 * stats.accepted_at[i]);
}

TEST(StepTokens, AStepIsInTheFirstBucketThatHoldsIt) {
  StepTokens tokens;
  for (const size_t step : {1, 8, 9, 16'384, 16'385}) tokens.count(step);
  EXPECT_THAT(tokens.steps, ElementsAre(1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1));
  EXPECT_EQ(tokens.tokens, 1U + 8 + 9 + 16'384 + 16'385);
}

}  // namespace
}  // namespace tessera::engine
