#include "base/call_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "base/wait_until.h"

namespace tessera {
namespace {

using namespace std::chrono_literals;

constexpr auto kLimit = 200ms;
constexpr auto kLongLimit = 1000ms;  // no thread of a busy machine is kept from running for so long

std::atomic<const char*> hung{nullptr};
std::atomic<int> times{0};

/// Watches while a test runs.
class CallWatchTest : public ::testing::Test {
 protected:
  CallWatchTest() {
    hung = nullptr;
    times = 0;
    watch();
  }
  ~CallWatchTest() override { watch_calls(kLimit, nullptr); }

  static void watch(std::chrono::milliseconds limit = kLimit) {
    watch_calls(limit, [](const char* call, std::chrono::milliseconds) {
      hung = call;
      ++times;
    });
  }
  static std::string heard() {
    return test::wait_until([] { return hung != nullptr; }) ? hung.load() : "nothing";
  }
};

TEST_F(CallWatchTest, NoticesACallThatDoesNotReturnAfterTheLimit) {
  const auto begin = std::chrono::steady_clock::now();
  const WatchedCall call("one that waits for ever");
  EXPECT_EQ(heard(), "one that waits for ever");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kLimit) << "it may still return";
}

TEST_F(CallWatchTest, NoticesItOnAnyThread) {
  std::thread waiting([] {
    const WatchedCall call("on another thread");
    EXPECT_EQ(heard(), "on another thread");
  });
  waiting.join();
}

TEST_F(CallWatchTest, OfNestedCallsTheOutermostCounts) {
  const WatchedCall outer("outer");
  while (hung == nullptr) {
    const WatchedCall inner("inner");
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(heard(), "outer");
}

/// A call that takes its time, though much less than any limit: whoever looks finds hardly a moment without one.
void call_a_little() {
  const WatchedCall call("short");
  std::this_thread::sleep_for(50ms);
}

/// Calls that return do not add up, and a thread without one may take its time.
TEST_F(CallWatchTest, CallsThatReturnAreNoHang) {
  watch(kLongLimit);
  const auto end = std::chrono::steady_clock::now() + 2 * kLongLimit;
  while (std::chrono::steady_clock::now() < end) call_a_little();
  std::this_thread::sleep_for(2 * kLongLimit);
  EXPECT_EQ(hung, nullptr);
}

/// Nor do those of threads that come one after another, each perhaps where the one before it was in memory.
TEST_F(CallWatchTest, CallsOfThreadsInTurnsAreNoHang) {
  watch(kLongLimit);
  const auto end = std::chrono::steady_clock::now() + 2 * kLongLimit;
  while (std::chrono::steady_clock::now() < end) std::thread(call_a_little).join();
  EXPECT_EQ(hung, nullptr);
}

TEST_F(CallWatchTest, IsToldOnceAndCanBeSetAgain) {
  {
    const WatchedCall call("first");
    EXPECT_EQ(heard(), "first");
    std::this_thread::sleep_for(2 * kLimit);
    EXPECT_EQ(times, 1);
  }
  hung = nullptr;
  watch();
  const WatchedCall call("second");
  EXPECT_EQ(heard(), "second");
}

/// What was seen under a shorter limit does not count for a longer one.
TEST_F(CallWatchTest, ALimitBeginsWhenItIsSet) {
  const WatchedCall call("one that waits for ever");
  EXPECT_EQ(heard(), "one that waits for ever");
  hung = nullptr;
  watch(10 * kLongLimit);
  std::this_thread::sleep_for(3 * kLongLimit / 2);  // a look or two
  EXPECT_EQ(hung, nullptr);
}

}  // namespace
}  // namespace tessera
