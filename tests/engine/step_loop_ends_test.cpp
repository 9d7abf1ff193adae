#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "counting_runner.h"

// The loop when something fails, when it shuts down, and while nobody wants anything.
namespace tessera::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class StepLoopEnds : public StepLoopTest {};
INSTANTIATE_TEST_SUITE_P(StepsAhead, StepLoopEnds, testing::Values(Ahead::no, Ahead::yes, Ahead::draws_later));

TEST_P(StepLoopEnds, AnErrorOfADrawEndsEverything) {
  if (!draws_later()) return;
  StepLoop loop(parts(runner_));
  runner_.fail_draw_at = 3;
  Request request = count_from(10, 20);
  request.guide = {.thinking_end = 199, .thinking_excludes = 198};
  auto guided = submit(loop, request);
  auto free = submit(loop, count_from(100, 20));
  while (loop.step()) {
  }
  for (const auto& channel : {guided, free}) {
    const Answer answer = drain(*channel);
    EXPECT_EQ(answer.finish_reason, FinishReason::error);
    EXPECT_THAT(answer.error.message(), HasSubstr("fell off the bus"));
  }
  EXPECT_FALSE(loop.failure().ok());
}

/// Whatever is open, and what comes later, hears of it; nothing hangs.
void expect_end(StepLoop& loop, const std::vector<std::shared_ptr<EventChannel>>& channels, const char* why) {
  for (const auto& channel : channels) {
    const Answer answer = drain(*channel);
    EXPECT_TRUE(channel->finished());
    EXPECT_EQ(answer.finish_reason, FinishReason::error);
    EXPECT_THAT(answer.error.message(), AllOf(HasSubstr("the engine has stopped"), HasSubstr(why)));
  }
  const auto refused = loop.submit(count_from(1, 1));
  EXPECT_EQ(refused.status().code(), StatusCode::unavailable);
  EXPECT_EQ(loop.status().message(), refused.status().message());
  EXPECT_THAT(refused.status().message(), HasSubstr(why));
  EXPECT_EQ(loop.stats().running + loop.stats().waiting, 0);
  EXPECT_FALSE(loop.step());
  loop.close();
  EXPECT_EQ(loop.status().code(), StatusCode::unavailable) << "why it stopped first";
}

TEST_P(StepLoopEnds, AnErrorOfSubmitEndsEverything) {
  runner_.fail_submit_at = 3;
  StepLoop loop(parts(runner_, 8, 1));
  std::vector channels = {submit(loop, count_from(10, 50)), submit(loop, count_from(20, 50))};
  runner_.before_failing = [&] { channels.push_back(submit(loop, count_from(30, 50))); };  // still in the inbox
  loop.run();
  EXPECT_EQ(loop.stats().steps, 3U);
  expect_end(loop, channels, "fell off the bus");
}

TEST_P(StepLoopEnds, AnErrorOfCollectEndsEverything) {
  runner_.fail_collect_at = 3;
  StepLoop loop(parts(runner_, 8, 1));
  const std::vector channels = {submit(loop, count_from(10, 50)), submit(loop, count_from(20, 50))};
  loop.run();
  expect_end(loop, channels, "does not answer");
}

TEST_P(StepLoopEnds, AnErrorUnderClientsThatKeepComing) {
  runner_.fail_submit_at = 200;
  StepLoop loop(parts(runner_));
  std::thread engine([&] { loop.run(); });
  std::vector<std::thread> clients;
  for (int32_t i = 0; i < 3; ++i) {
    clients.emplace_back([&loop, i] {
      for (;;) {
        auto channel = loop.submit(count_from(10 * i, 20));
        if (!channel.ok()) {
          EXPECT_EQ(channel.status().code(), StatusCode::unavailable);
          return;
        }
        FinishReason last = FinishReason::none;
        while (const auto event = (*channel)->next()) last = event->finish_reason;
        EXPECT_TRUE(last == FinishReason::length || last == FinishReason::error);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  engine.join();
}

TEST_P(StepLoopEnds, ShuttingDownCollectsWhatIsUnderWay) {
  StepLoop loop(parts(runner_));
  const std::vector channels = {submit(loop, count_from(10, 100)), submit(loop, count_from(20, 100))};
  for (int i = 0; i < 3; ++i) loop.step();
  EXPECT_EQ(runner_.submitted - runner_.collected, ahead() ? 1 : 0);
  loop.close();
  loop.run();
  EXPECT_EQ(runner_.collected.load(), runner_.submitted.load());
  for (const auto& channel : channels) EXPECT_EQ(drain(*channel).finish_reason, FinishReason::cancelled);
  EXPECT_EQ(loop.submit(count_from(1, 1)).status().code(), StatusCode::cancelled);
}

TEST_P(StepLoopEnds, AFailureIsToldOnceEveryRequestHasIt) {
  runner_.fail_collect_at = 3;
  StepLoop loop(parts(runner_));
  const auto channel = submit(loop, count_from(10, 50));
  int calls = 0;
  loop.on_failure([&] {
    ++calls;
    EXPECT_EQ(drain(*channel).finish_reason, FinishReason::error);
  });
  loop.run();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(loop.failure().message(), HasSubstr("does not answer"));
  loop.on_failure([&] { ++calls; });
  EXPECT_EQ(calls, 2) << "a failure that was there already";
  loop.on_failure({});
}

TEST_P(StepLoopEnds, ShuttingDownIsNoFailure) {
  StepLoop loop(parts(runner_));
  loop.on_failure([] { FAIL(); });
  submit(loop, count_from(10, 50));
  for (int i = 0; i < 3; ++i) loop.step();
  loop.close();
  loop.run();
  EXPECT_TRUE(loop.failure().ok());
}

TEST_P(StepLoopEnds, WhatFailsWhileShuttingDownIsAFailure) {
  StepLoop loop(parts(runner_));
  submit(loop, count_from(10, 50));
  for (int i = 0; i < 3; ++i) loop.step();
  runner_.fail_collect_at = runner_.collected;
  loop.close();
  loop.run();
  EXPECT_EQ(loop.failure().ok(), !ahead());  // with a step under way
}

TEST_P(StepLoopEnds, TheRunnerPreparesAheadWhileNothingIsOpen) {
  runner_.to_prepare = 3;
  StepLoop loop(parts(runner_));
  EXPECT_TRUE(loop.step());
  EXPECT_EQ(runner_.to_prepare, 2);
  auto channel = submit(loop, count_from(10, 5));
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(loop.step());
    EXPECT_EQ(runner_.to_prepare, 2);
  }
  run_to_the_end(loop);
  EXPECT_EQ(drain(*channel).tokens, from_to(11, 15));
  EXPECT_EQ(runner_.to_prepare, 0);
  const int asked = runner_.asked_to_prepare;
  submit(loop, count_from(10, 5));
  run_to_the_end(loop);
  EXPECT_EQ(runner_.asked_to_prepare, asked) << "there was nothing left";
}

/// By the engine's own thread, which nobody wakes for it.
TEST_P(StepLoopEnds, TheRunnerPreparesAheadBeforeAnybodyComes) {
  runner_.to_prepare = 3;
  StepLoop loop(parts(runner_));
  runner_.all_prepared = [&] { loop.close(); };
  loop.run();
  EXPECT_EQ(runner_.to_prepare, 0);
}

TEST_P(StepLoopEnds, AnErrorOfPreparingEndsEverything) {
  runner_.to_prepare = 3;
  runner_.fail_prepare_at = 2;
  StepLoop loop(parts(runner_));
  loop.run();
  expect_end(loop, {}, "fell off the bus");
  EXPECT_EQ(runner_.asked_to_prepare, 2) << "it is not used again";
}

TEST_P(StepLoopEnds, NothingStaysUnderWayWhenTheLastChoiceHasLeft) {
  StepLoop loop(parts(runner_));
  std::thread engine([&] { loop.run(); });
  Request request = count_from(10, 50);
  request.sampling.stop_token_ids = {13};
  auto channel = submit(loop, request);
  while (channel->next()) {
  }
  for (int i = 0; i < 10'000 && runner_.collected != runner_.submitted; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(runner_.collected.load(), runner_.submitted.load());
  loop.close();
  engine.join();
}

}  // namespace
}  // namespace tessera::engine
