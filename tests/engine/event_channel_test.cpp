#include "engine/event_channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace tessera::engine {
namespace {

Event last(int choice) { return {.choice = choice, .finish_reason = FinishReason::stop}; }

TEST(EventChannel, DeliversInOrderAndEnds) {
  EventChannel channel(2);
  EXPECT_FALSE(channel.try_next());
  channel.push({.choice = 1, .tokens = {5}});
  channel.push(last(0));
  channel.push(last(1));
  EXPECT_EQ(channel.next()->tokens, std::vector<int32_t>{5});
  EXPECT_EQ(channel.try_next()->choice, 0);
  EXPECT_FALSE(channel.finished());
  EXPECT_EQ(channel.next()->choice, 1);
  EXPECT_TRUE(channel.finished());
  EXPECT_FALSE(channel.next());
}

TEST(EventChannel, NextWaitsForAnotherThread) {
  EventChannel channel(1);
  std::thread engine([&] {
    for (int i = 0; i < 1000; ++i) channel.push({.tokens = {i}});
    channel.push(last(0));
  });
  int events = 0;
  while (const auto event = channel.next()) {
    if (event->finish_reason != FinishReason::none) break;
    EXPECT_EQ(event->tokens[0], events++);
  }
  EXPECT_EQ(events, 1000);
  engine.join();
}

TEST(EventChannel, WhatIsThereIsNotWaitedFor) {
  EventChannel channel(2);
  channel.push({.tokens = {5}});
  EXPECT_EQ(channel.next()->tokens, std::vector<int32_t>{5});
  int calls = 0;
  channel.on_ready([&] { ++calls; });
  EXPECT_EQ(calls, 0) << "nothing is waiting";
  channel.on_ready({});
}

TEST(EventChannel, CallbackComesForEachEventAndForThoseWaiting) {
  EventChannel channel(1);
  channel.push({});
  int calls = 0;
  channel.on_ready([&] { ++calls; });
  EXPECT_EQ(calls, 1);
  channel.push({});
  EXPECT_EQ(calls, 2);
  channel.on_ready({});
  channel.push({});
  EXPECT_EQ(calls, 2);
}

TEST(EventChannel, NoCallbackAfterItIsTakenAway) {
  EventChannel channel(1);
  std::atomic<bool> gone{false};
  std::atomic<bool> late{false};
  channel.on_ready([&] { late = late || gone; });
  std::thread engine([&] {
    for (int i = 0; i < 20000; ++i) channel.push({});
  });
  channel.on_ready({});
  gone = true;
  engine.join();
  EXPECT_FALSE(late);
}

TEST(EventChannelDeathTest, NothingComesAfterTheEnd) {
  EventChannel channel(1);
  channel.push(last(0));
  EXPECT_DEATH(channel.push({}), "open_choices_ > 0");
}

}  // namespace
}  // namespace tessera::engine
