#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "base/temp_directory.h"
#include "counting_runner.h"

// The loop while nobody computes: what it prefills, and what it writes to a disk and reads from there.
namespace tessera::engine {
namespace {

Request read(int tokens, int32_t first_token, int64_t max_tokens = 2) {
  Request request{.sampling = {.temperature = 0, .max_tokens = max_tokens}};
  for (int i = 0; i < tokens; ++i) request.prompt.push_back((first_token + i) % 140);
  return request;
}

IdlePrefill prefill(int tokens, int32_t first_token) { return {.tokens = read(tokens, first_token).prompt}; }

StepLoopParts caching_parts(CountingRunner& runner, int blocks = 40, int slots = 2) {
  StepLoopParts made = parts(runner, blocks, slots);
  made.kept_states = 12;
  made.prefix_caching = true;
  made.max_num_batched_tokens = 500;
  made.clock = [&runner] { return runner.now; };
  return made;
}

/// Whether it comes to be, which is a matter of milliseconds where somebody works on it.
bool eventually(const std::function<bool()>& is) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return is();
}

/// What the cache has of a prompt that begins so.
int64_t cached(StepLoop& loop, const Request& request) {
  const auto channel = submit(loop, request);
  run_to_the_end(loop);
  return channel->try_next()->cached_tokens;
}

TEST(StepLoopIdle, OnePrefillRunsAtATimeTheNewestFirst) {
  CountingRunner runner(Ahead::yes);
  StepLoop loop(caching_parts(runner));
  loop.prefill_when_idle(prefill(1000, 1));
  ASSERT_TRUE(loop.step());
  EXPECT_EQ(loop.stats().state_slots_used, 1);
  const uint64_t first = loop.stats().idle_prefill_tokens;
  EXPECT_EQ(first, 64U);
  loop.prefill_when_idle(prefill(129, 50));
  ASSERT_TRUE(loop.step());
  EXPECT_EQ(loop.stats().state_slots_used, 1) << "the other one has given its slot to the prefix cache";
  EXPECT_EQ(loop.stats().kept_states, 1);
  EXPECT_GT(loop.stats().idle_prefill_tokens, first);
  const auto channel = submit(loop, read(10, 100, 20));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(loop.step());
  EXPECT_EQ(loop.stats().running, 1);
  EXPECT_EQ(loop.stats().state_slots_used, 1) << "so has this one";
  run_to_the_end(loop);
  EXPECT_EQ(loop.stats().idle_prefill_tokens, 960U + 128) << "and both went on";
  EXPECT_EQ(cached(loop, read(1000, 1)), 960);
  EXPECT_EQ(cached(loop, read(129, 50)), 128);
}

TEST(StepLoopIdle, TheOldestPrefillsAreForgotten) {
  for (const bool begins : {false, true}) {
    CountingRunner runner(Ahead::no);
    StepLoop loop(caching_parts(runner, 80));
    const auto count = static_cast<int32_t>(kIdlePrefillsMax) + 2;
    for (int32_t i = 0; i < count; ++i) {
      loop.prefill_when_idle({.tokens = std::vector<int32_t>(300, i)});
      if (begins && i == 4) loop.step();
    }
    run_to_the_end(loop);
    EXPECT_EQ(loop.stats().idle_prefill_tokens, 256 * kIdlePrefillsMax);
    for (const int32_t i : {0, 1, 2, count - 1}) {
      const Request request{.prompt = std::vector<int32_t>(300, i), .sampling = {.temperature = 0, .max_tokens = 1}};
      EXPECT_EQ(cached(loop, request), i < 2 ? 0 : 256) << i;
    }
  }
}

/// As many rows in a step as take about 10 ms.
TEST(StepLoopIdle, StepsGrowAsFarAsTheyAreQuick) {
  for (const int row_us : {1, 1000}) {
    CountingRunner runner(Ahead::no);
    runner.cost = [&](const model::Step& step) { return std::chrono::microseconds(row_us * ssize(step.tokens)); };
    StepLoop loop(caching_parts(runner));
    loop.prefill_when_idle(prefill(2000, 1));
    run_to_the_end(loop);
    EXPECT_EQ(loop.stats().idle_prefill_tokens, 1984U);
    const int most = std::ranges::max(runner.step_rows);
    EXPECT_EQ(most > 64, row_us == 1) << most;
  }
}

/// The engine's thread, until the end of a test.
class Running {
 public:
  explicit Running(StepLoop& loop) : loop_(loop), thread_([&loop] { loop.run(); }) {}
  ~Running() {
    loop_.close();
    thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  StepLoop& loop_;
  std::thread thread_;
};

/// Whoever it is that sleeps, what comes wakes it; and what has begun goes on without anybody else.
TEST(StepLoopIdle, APrefillWakesTheThread) {
  CountingRunner runner(Ahead::yes);
  StepLoopParts roomy = caching_parts(runner, 200);
  roomy.kept_states = 30;
  StepLoop loop(roomy);
  const Running engine(loop);
  uint64_t tokens = 0;
  for (int32_t i = 0; i < 20; ++i) {
    loop.prefill_when_idle({.tokens = std::vector<int32_t>(257, i)});
    tokens += 256;
    ASSERT_TRUE(eventually([&] { return loop.stats().idle_prefill_tokens == tokens; })) << i;
    // The slot is given back by a step that finds nothing more to do.
    ASSERT_TRUE(eventually([&] { return loop.stats().state_slots_used == 0; })) << i;
  }
}

TEST(StepLoopIdle, WhatIsUnderWayIsCollectedWhenTheLastChoiceHasLeft) {
  CountingRunner runner(Ahead::yes);
  StepLoop loop(parts(runner));
  const Running engine(loop);
  for (int i = 0; i < 3; ++i) {  // the first time the runner prepares itself behind it
    Request request = count_from(10, 50);
    request.sampling.stop_token_ids = {13};
    const auto channel = submit(loop, request);
    while (channel->next()) {
    }
    ASSERT_TRUE(eventually([&] { return runner.collected == runner.submitted; })) << i;
  }
}

TEST(StepLoopIdle, APrefillGoesOnFromTheHostsMemory) {
  CountingRunner runner(Ahead::no);
  StepLoopParts tiered = caching_parts(runner, 20, 1);
  tiered.kept_states = 1;
  tiered.host_pages = 60;
  tiered.state_pages = 3;
  tiered.page_bytes = 1000;
  StepLoop loop(tiered);
  cached(loop, read(300, 1));
  for (const int32_t other : {30, 60, 90}) cached(loop, read(300, other));
  EXPECT_EQ(loop.stats().tier.bytes_loaded, 0U);
  EXPECT_EQ(loop.stats().tier.bytes_saved % 1000, 0U);
  loop.prefill_when_idle(prefill(500, 1));
  run_to_the_end(loop);
  EXPECT_EQ(loop.stats().idle_prefill_tokens, 448U - 256);
  EXPECT_GE(loop.stats().tier.bytes_loaded, 3000U);
  EXPECT_EQ(1000 * runner.moves, loop.stats().tier.bytes_saved + loop.stats().tier.bytes_loaded);
}

/// Pages of the host, a directory behind them, and loops over them.
class StepLoopDisk : public testing::Test {
 protected:
  static constexpr size_t kPageBytes = 64;
  static constexpr int32_t kPages = 60, kStatePages = 2;

  std::unique_ptr<DiskTier> open_disk() {
    auto directory = KvDirectory::open(
        directory_.path() / "kv", {.identity = {1, 2}, .page_bytes = kPageBytes, .state_pages = kStatePages}, kRoom);
    EXPECT_TRUE(directory.ok()) << directory.status().message();
    return std::make_unique<DiskTier>(*std::move(directory), pages_);
  }
  static StepLoopParts disk_parts(CountingRunner& runner, DiskTier& disk) {
    StepLoopParts made = caching_parts(runner);
    made.host_pages = kPages;
    made.state_pages = kStatePages;
    made.page_bytes = kPageBytes;
    made.disk = &disk;
    return made;
  }

  /// Of what begins with these tokens.
  [[nodiscard]] std::filesystem::path file_of(std::vector<int32_t> tokens) const {
    return directory_.path() / "kv" / fmt::format("{:016x}.kv", kv_key({.salt = "", .tokens = std::move(tokens)}));
  }

  static constexpr uint64_t kRoom = uint64_t{1} << 30;

 private:
  test::TempDirectory directory_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(kPages * kPageBytes);
  kernels::HostPages pages_{memory_.data(), kPageBytes, kPages};
};

TEST_F(StepLoopDisk, TheThreadWritesWhileNobodyComputesAndTheNextOneReads) {
  for (const bool first : {true, false}) {
    CountingRunner runner(Ahead::yes);
    const auto disk = open_disk();
    StepLoop loop(disk_parts(runner, *disk));
    const Running engine(loop);
    for (const int32_t token : {1, 70}) {
      const auto channel = submit(loop, read(300, token));
      const auto event = channel->next();
      ASSERT_TRUE(event);
      EXPECT_EQ(event->cached_tokens, first ? 0 : 256);
      EXPECT_EQ(event->tier_tokens, first ? 0 : 256);
      while (channel->next()) {
      }
      if (!first) continue;
      const uint64_t writes = token == 1 ? 1 : 2;
      ASSERT_TRUE(eventually([&] { return loop.stats().disk.writes == writes; })) << "without anybody who comes";
      EXPECT_EQ(loop.stats().disk.entries, writes);
      EXPECT_EQ(runner.moves, writes * (4 + kStatePages));
    }
    const DiskStats stats = loop.stats().disk;
    EXPECT_EQ(stats.hits, first ? 0U : 512U);
    EXPECT_EQ(stats.writes, first ? 2U : 0U);
    EXPECT_EQ(stats.failures, 0U);
    EXPECT_EQ(stats.entries, 2U);
    EXPECT_EQ(stats.bytes_used, disk->directory().bytes_used());
    EXPECT_EQ(stats.bytes_total, kRoom);
  }
}

/// A copy for the disk is a step that has moves and no rows.
TEST_F(StepLoopDisk, MovesForTheDiskAreAStepOfTheirOwn) {
  CountingRunner runner(Ahead::yes);
  const auto disk = open_disk();
  StepLoop loop(disk_parts(runner, *disk));
  const auto channel = submit(loop, read(300, 1));
  while (!channel->finished()) {
    loop.step();
    while (channel->try_next()) {
    }
  }
  run_to_the_end(loop);
  EXPECT_EQ(runner.moves, 4U + kStatePages);
  EXPECT_EQ(runner.step_rows.back(), 0);
  const int submitted = runner.submitted;
  EXPECT_EQ(runner.collected, submitted);
  disk->wait_for_all();
  run_to_the_end(loop);
  EXPECT_EQ(loop.stats().disk.writes, 1U);
  EXPECT_EQ(loop.stats().disk.hits, 0U);
  EXPECT_EQ(loop.stats().disk.entries, 1U);
  EXPECT_EQ(runner.submitted, submitted) << "there is nothing more to move";
}

TEST_F(StepLoopDisk, TheThreadSleepsWhileThereIsNothingToWriteOrRead) {
  CountingRunner runner(Ahead::yes);
  const auto disk = open_disk();
  std::atomic<int> rounds = 0;
  StepLoopParts counted = disk_parts(runner, *disk);
  counted.clock = [&] {
    ++rounds;
    return runner.now;
  };
  StepLoop loop(counted);
  const Running engine(loop);
  const auto channel = submit(loop, read(300, 1));
  while (channel->next()) {
  }
  ASSERT_TRUE(eventually([&] { return loop.stats().disk.writes == 1; }));
  const int before = rounds;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LT(rounds, before + 100);
}

/// It is a step as others are, which what the disk's thread is to do waits for.
TEST_F(StepLoopDisk, WhatIsPrefilledIsWritten) {
  CountingRunner runner(Ahead::yes);
  const auto disk = open_disk();
  StepLoop loop(disk_parts(runner, *disk));
  loop.prefill_when_idle(prefill(300, 1));
  for (int i = 0; i < 2; ++i) {
    run_to_the_end(loop);
    disk->wait_for_all();
  }
  run_to_the_end(loop);
  EXPECT_EQ(loop.stats().idle_prefill_tokens, 256U);
  EXPECT_EQ(loop.stats().disk.writes, 1U);
}

TEST_F(StepLoopDisk, AnIdlePrefillIsWrittenAtTheEnd) {
  CountingRunner runner(Ahead::yes);
  const auto disk = open_disk();
  StepLoop loop(disk_parts(runner, *disk));
  loop.prefill_when_idle(prefill(1000, 1));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loop.step());
  EXPECT_LT(loop.stats().idle_prefill_tokens, 960U);
  loop.close();
  loop.run();
  EXPECT_EQ(disk->directory().entries(), 1U);
}

/// Neither when it fails before the end, with much to be written, nor while that is moved.
TEST_F(StepLoopDisk, ARunnerThatFailsIsNotUsedAgain) {
  for (const bool before : {true, false}) {
    CountingRunner runner(Ahead::yes);
    const auto disk = open_disk();
    StepLoop loop(disk_parts(runner, *disk));
    int failures = 0;
    runner.before_failing = [&] { ++failures; };
    const auto channel = submit(loop, read(300, before ? 1 : 70, 50));
    for (int i = 0; i < 6; ++i) loop.step();
    runner.fail_submit_at = runner.submitted;
    if (before) {
      loop.step();
    } else {
      loop.close();
    }
    loop.run();
    EXPECT_EQ(failures, 1) << before;
    EXPECT_FALSE(loop.failure().ok());
    EXPECT_EQ(disk->directory().entries(), 0U);
  }
}

TEST_F(StepLoopDisk, WhatIsLeftIsWrittenAtTheEnd) {
  CountingRunner runner(Ahead::yes);
  const auto disk = open_disk();
  StepLoop loop(disk_parts(runner, *disk));
  std::vector<std::shared_ptr<EventChannel>> channels;
  for (const int32_t token : {1, 40, 80}) channels.push_back(submit(loop, read(300, token, 50)));
  for (int i = 0; i < 6; ++i) loop.step();
  loop.close();
  loop.run();
  EXPECT_EQ(runner.collected, runner.submitted);
  EXPECT_GE(disk->directory().entries(), 2U) << "the points of those that ran";
}

/// So that its pages are free for others, and who waits for a read computes.
TEST_F(StepLoopDisk, TheThreadIsToldOfWhatFails) {
  const auto file = file_of(read(256, 1).prompt);
  std::filesystem::create_directories(file / "below");  // which nothing can be put in place of
  for (const bool writes : {true, false}) {
    CountingRunner runner(Ahead::yes);
    const auto disk = open_disk();
    StepLoop loop(disk_parts(runner, *disk));
    const Running engine(loop);
    if (!writes) std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    const auto channel = submit(loop, read(300, 1));
    ASSERT_TRUE(eventually([&] { return loop.stats().disk.failures > 0; })) << "without anybody who comes";
    EXPECT_EQ(channel->next()->cached_tokens, 0);
    while (channel->next()) {
    }
    if (writes) std::filesystem::remove_all(file);  // and it is written at the end
  }
}

/// There is no later.
TEST_F(StepLoopDisk, WhatCouldNotBeWrittenIsTriedAgainAtTheEnd) {
  CountingRunner runner(Ahead::yes);
  const auto disk = open_disk();
  const auto file = file_of(read(256, 1).prompt);
  std::filesystem::create_directories(file / "below");  // which nothing can be put in place of
  StepLoop loop(disk_parts(runner, *disk));
  EXPECT_EQ(cached(loop, read(300, 1)), 0);
  disk->wait_for_all();
  run_to_the_end(loop);
  EXPECT_EQ(disk->directory().entries(), 0U);
  std::filesystem::remove_all(file);
  loop.close();
  loop.run();
  EXPECT_EQ(disk->directory().entries(), 1U);
}

}  // namespace
}  // namespace tessera::engine
