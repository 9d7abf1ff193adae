#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>

namespace tessera {
namespace {

/// Keeps the calling thread on the core that it is on.
class OnOneCore {
 public:
  OnOneCore() {
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~OnOneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

 private:
  cpu_set_t before_;
};

TEST(ThreadPool, EveryChunkRunsOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (const int64_t chunks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(chunks));
      std::atomic<bool> bad_thread{false};
      pool.run_chunks(chunks, [&](int64_t chunk, int thread) {
        ++runs[static_cast<size_t>(chunk)];
        if (thread < 0 || thread >= pool.size()) bad_thread = true;
      });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
      EXPECT_FALSE(bad_thread);
    }
  }
}

TEST(ThreadPool, WritesAreVisibleAfterTheLoop) {
  ThreadPool pool(4);
  std::vector<int64_t> values(64);
  for (int64_t round = 0; round < 2000; ++round) {
    pool.run_chunks(64, [&](int64_t chunk, int) { values[static_cast<size_t>(chunk)] = round * chunk; });
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], round * static_cast<int64_t>(i));
  }
}

TEST(ThreadPool, SleepingWorkersWakeUp) {
  ThreadPool pool(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // longer than workers spin
    std::atomic<int> sum{0};
    pool.run_chunks(10, [&](int64_t chunk, int) { sum += static_cast<int>(chunk); });
    EXPECT_EQ(sum, 45);
  }
}

/// Workers that find themselves on the owner's core, chunks of threads that are not running, rests and their end.
TEST(ThreadPool, ThreadsThatShareOneCoreFinish) {
  const OnOneCore here;
  ThreadPool pool(4);                                                                  // its threads inherit the core
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);  // first rests end after 20
  while (std::chrono::steady_clock::now() < end) {
    std::atomic<int64_t> sum{0};
    pool.run_chunks(10, [&](int64_t chunk, int) {
      std::this_thread::yield();  // to another of them
      sum += chunk;
    });
    ASSERT_EQ(sum, 45);
  }
}

TEST(ThreadPool, ThereAreNoMoreThreadsThanCoresThatMayBeUsed) {
  EXPECT_GE(default_thread_count(), 1);
  const OnOneCore here;
  EXPECT_EQ(default_thread_count(), 1);
}

}  // namespace
}  // namespace tessera
