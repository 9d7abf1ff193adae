#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "disk_world.h"

// What the prefix cache writes to the disk and reads from it, step by step. What it means for answers is in
// simulation_cases_test.cpp.
namespace tessera::engine {
namespace {

TEST_F(PrefixDisk, WhatOnlyTheDeviceHasIsWrittenThroughPagesThatNobodyElseGets) {
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(300), 256);
  world.follow(/*is_idle=*/false);
  EXPECT_FALSE(world.cache.writes_disk());  // while others compute, only what is in the tier
  world.follow();
  ASSERT_TRUE(world.cache.writes_disk());
  EXPECT_TRUE(world.cache.disk_wants_moves());
  EXPECT_EQ(world.pages_used(), 4 + kStatePages);
  world.follow();
  world.disk.wait_for_all();
  EXPECT_FALSE(world.disk.has_done());  // nothing is in the pages yet
  world.step();
  EXPECT_FALSE(world.cache.disk_wants_moves());
  world.follow();
  EXPECT_EQ(world.pages_used(), 4 + kStatePages);
  world.disk.wait_for_all();
  EXPECT_EQ(world.pages_used(), 4 + kStatePages);
  world.follow();
  EXPECT_EQ(world.pages_used(), 0);
  EXPECT_FALSE(world.cache.writes_disk());
  EXPECT_EQ(world.cache.disk_counts().writes, 1U);
}

TEST_F(PrefixDisk, WhatAPointStandsBehindIsWrittenFirst) {
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(200), 192);
  const auto guess = make_sequence(300);
  guess->ahead = true;  // so it takes nothing from the first one
  world.compute_and_leave(*guess, 256);
  while (world.slot_pool.take()) {
  }
  ASSERT_TRUE(world.cache.make_slot_available());  // the second state goes to the tier: it saves less
  EXPECT_EQ(world.pages_used(), kStatePages);
  world.step();
  const auto written = [&](int64_t tokens) {
    return world.disk.directory().find(kv_key({.salt = "", .tokens = *make_sequence(tokens)->prompt})).has_value();
  };
  const auto write_one = [&] {
    world.follow();
    world.step();
    world.follow();
    world.disk.wait_for_all();
  };
  write_one();
  EXPECT_TRUE(written(192));
  EXPECT_FALSE(written(256));
  write_one();
  EXPECT_TRUE(written(256));
}

TEST_F(PrefixDisk, WhatIsReadStandsBehindWhatIsInMemory) {
  write_four_blocks();
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(130), 128);
  const auto asker = make_sequence(300);
  ASSERT_TRUE(world.cache.waits_for_disk(*asker, world.cache.find(*asker)));
  EXPECT_EQ(world.pages_used(), 2 + kStatePages);
  world.cache.clear();  // all but what the read goes on from
  EXPECT_EQ(world.cache.find(*asker).block_tokens, 128);
  EXPECT_EQ(world.pages_used(), 2 + kStatePages);
  world.follow(/*is_idle=*/false);
  world.disk.wait_for_all();
  world.follow(/*is_idle=*/false);
  const auto match = world.cache.find(*asker);
  EXPECT_EQ(match.tokens, 256);
  EXPECT_FALSE(world.cache.waits_for_disk(*asker, match));
  EXPECT_EQ(world.cache.disk_counts().hits, 256U - 128);
  std::vector<int> begins;
  for (int32_t page = 0; page < world.host_pages.count(); ++page) {
    begins.push_back(std::to_integer<int>(*world.host_pages.page(page)));
  }
  std::erase(begins, 0);
  EXPECT_THAT(begins, testing::UnorderedElementsAre(12, 13, 100, 100));
}

TEST_F(PrefixDisk, WhatIsOfNoUseIsNotRead) {
  write_four_blocks();
  DiskWorld world(path(), 12);
  const auto reads = [&](std::unique_ptr<Sequence> sequence) {
    return world.cache.waits_for_disk(*sequence, world.cache.find(*sequence));
  };
  EXPECT_FALSE(reads(make_sequence(256)));  // a token must be left to compute
  EXPECT_FALSE(reads(make_sequence(300, 2)));
  auto salted = make_sequence(300), scored = make_sequence(300);
  salted->cache_salt = "another";
  scored->wants_prompt_logits = true;
  EXPECT_FALSE(reads(std::move(salted)));
  EXPECT_FALSE(reads(std::move(scored)));
  EXPECT_FALSE(world.cache.reads_disk());
  EXPECT_EQ(world.pages_used(), 0);
  EXPECT_TRUE(reads(make_sequence(257)));
}

TEST_F(PrefixDisk, WhatHasASaltIsReadForThatSaltAlone) {
  const auto salted = [] {
    auto sequence = make_sequence(300);
    sequence->cache_salt = "mine";
    return sequence;
  };
  {
    DiskWorld world(path(), 12);
    world.compute_and_leave(*salted(), 256);
    world.write_all();
  }
  DiskWorld world(path(), 12);
  const auto asker = salted(), other = make_sequence(300);
  EXPECT_FALSE(world.read_for(*other));
  EXPECT_TRUE(world.read_for(*asker));
  EXPECT_EQ(world.cache.disk_counts().failures, 0U);
  EXPECT_EQ(world.cache.find(*asker).tokens, 256);
  EXPECT_EQ(world.cache.find(*other).tokens, 0);
}

TEST_F(PrefixDisk, WhatIsComputedWhileItIsReadIsNotKeptTwice) {
  write_four_blocks();
  DiskWorld world(path(), 12);
  const auto asker = make_sequence(300);
  ASSERT_TRUE(world.cache.waits_for_disk(*asker, world.cache.find(*asker)));
  world.compute_and_leave(*make_sequence(130), 128);
  world.follow(/*is_idle=*/false);
  world.disk.wait_for_all();
  world.follow(/*is_idle=*/false);
  EXPECT_EQ(world.cache.find(*asker).tokens, 256);
  EXPECT_EQ(world.pages_used(), 2 + kStatePages);
}

/// Not since it was read.
TEST_F(PrefixDisk, WhatIsReadWasUsedWhenItWasBefore) {
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(300), 256);
  world.write_all();
  world.cache.clear();
  for (const int32_t other : {1000, 2000}) world.compute_and_leave(*make_sequence(100, other), 64);
  const auto asker = make_sequence(300), guess = make_sequence(400);
  ASSERT_TRUE(world.cache.waits_for_disk(*asker, world.cache.find(*asker)));
  world.follow(/*is_idle=*/false);
  world.disk.wait_for_all();
  world.follow(/*is_idle=*/false);
  world.cache.begin(*asker, world.cache.find(*asker));
  EXPECT_EQ(asker->reuse_after, 3);
  guess->ahead = true;
  world.cache.begin(*guess, world.cache.find(*guess));  // it has what its point has
  EXPECT_EQ(guess->reuse_after, 3);
  world.cache.end(*guess);
  world.cache.end(*asker);
}

TEST_F(PrefixDisk, TheLongestSaltIsWrittenAndReadAndNoLongerOne) {
  for (const size_t more : {0U, 1U}) {
    DiskWorld world(directory_ / std::to_string(more), 12);
    const auto salted = make_sequence(300);
    salted->cache_salt = std::string(kSaltMax + more, 's');
    world.compute_and_leave(*salted, 256);
    world.write_all();
    EXPECT_EQ(world.disk.directory().entries(), 1 - more);
    world.cache.clear();
    const auto asker = make_sequence(300);
    asker->cache_salt = salted->cache_salt;
    EXPECT_EQ(world.read_for(*asker), more == 0);
    EXPECT_EQ(world.cache.find(*asker).tokens, more == 0 ? 256 : 0);
  }
}

TEST_F(PrefixDisk, ModelsWithoutStatesHaveBlocksThere) {
  {
    DiskWorld world(path(), 12, 1U << 20, /*state_pages=*/0);
    world.compute_and_leave(*make_sequence(300), 256);
    world.write_all();
  }
  DiskWorld world(path(), 12, 1U << 20, /*state_pages=*/0);
  const auto asker = make_sequence(300);
  EXPECT_TRUE(world.read_for(*asker));
  EXPECT_EQ(world.cache.find(*asker).tokens, 256);
  EXPECT_EQ(world.pages_used(), 4);
}

/// Also for the one that the thread has taken out of the queue.
TEST_F(PrefixDisk, WaitingForAllIsForTheLastWriteToo) {
  constexpr int kJobs = 50;
  DiskWorld world(path(), 3);
  for (int32_t i = 0; i < kJobs; ++i) {
    auto job = std::make_unique<DiskJob>();
    job->writes = true;
    job->entry.tokens = std::vector<int32_t>(64, i);
    job->pages = {0, 1, 2};
    world.disk.submit(std::move(job));
  }
  world.disk.wait_for_all();
  int done = 0;
  for (auto job = world.disk.take_done(); job != nullptr; job = world.disk.take_done()) {
    EXPECT_TRUE(job->status.ok()) << job->status.message();
    EXPECT_EQ(job->entry.tokens[0], done++) << "the oldest is taken first";
  }
  EXPECT_EQ(done, kJobs);
}

TEST_F(PrefixDisk, WhereTheTierHasNoRoomForAnEntryItIsComputedAgain) {
  write_four_blocks();
  DiskWorld world(path(), 3 + kStatePages);
  world.compute_and_leave(*make_sequence(65, 5000), 64);
  ASSERT_TRUE(world.cache.make_blocks_available(kBlocks));
  const auto asker = make_sequence(300);
  EXPECT_FALSE(world.cache.waits_for_disk(*asker, world.cache.find(*asker)));
  EXPECT_EQ(world.cache.find(*make_sequence(65, 5000)).tokens, 64) << "nor does it take what there is";
  EXPECT_EQ(world.pages_used(), 1 + kStatePages);
}

TEST_F(PrefixDisk, NothingIsWrittenBeforeTheStepThatMovesItWasCollected) {
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(300), 256);
  world.follow();
  world.cache.step_submitted();
  EXPECT_FALSE(world.cache.disk_wants_moves()) << "they are under way";
  EXPECT_FALSE(world.cache.take_moves().empty());
  world.follow();
  world.disk.wait_for_all();
  EXPECT_FALSE(world.disk.has_done());
  world.cache.step_collected();
  world.follow();
  world.disk.wait_for_all();
  EXPECT_TRUE(world.disk.has_done());
}

TEST_F(PrefixDisk, AWriteThatFailedIsTriedAgainAMinuteLater) {
  const PrefixCache::Time begun{};
  DiskWorld world(path(), 12);
  std::filesystem::create_directories(file_of(256) / "below");  // which nothing can be put in place of
  world.compute_and_leave(*make_sequence(300), 256);
  ASSERT_TRUE(world.write_one(begun));
  EXPECT_EQ(world.cache.disk_counts().failures, 1U);
  EXPECT_EQ(world.cache.disk_counts().writes, 0U);
  EXPECT_EQ(world.pages_used(), 0);
  std::filesystem::remove_all(file_of(256));
  EXPECT_FALSE(world.write_one(begun + std::chrono::seconds(59)));
  EXPECT_TRUE(world.write_one(begun + std::chrono::seconds(60)));
  EXPECT_EQ(world.cache.disk_counts().failures, 1U);
  EXPECT_EQ(world.cache.disk_counts().writes, 1U);
}

/// What fails again and again is told once, and so is that it has an end; what fails after that is told anew.
TEST_F(PrefixDisk, EachTimeThatWritesBeginToFailIsTold) {
  using testing::HasSubstr;
  PrefixCache::Time now{};
  DiskWorld world(path(), 12);
  const auto told = [&] {
    now += std::chrono::seconds(60);
    testing::internal::CaptureStdout();
    EXPECT_TRUE(world.write_one(now));
    return testing::internal::GetCapturedStdout();
  };
  std::filesystem::create_directories(file_of(256) / "below");  // which nothing can be put in place of
  world.compute_and_leave(*make_sequence(300), 256);
  EXPECT_THAT(told(), AllOf(HasSubstr("cannot be written to"), HasSubstr(file_of(256).string())));
  EXPECT_EQ(told(), "");
  std::filesystem::remove_all(file_of(256));
  EXPECT_THAT(told(), HasSubstr("is written to again"));
  world.compute_and_leave(*make_sequence(100, 5000), 64);
  EXPECT_EQ(told(), "");
  std::filesystem::create_directories(file_of(192) / "below");
  world.compute_and_leave(*make_sequence(200), 192);
  EXPECT_THAT(told(), HasSubstr("cannot be written to"));
}

TEST_F(PrefixDisk, WhatIsLargerThanTheDirectoryIsNoFailureAndTriedOnce) {
  DiskWorld world(path(), 12, /*bytes_max=*/100);
  world.compute_and_leave(*make_sequence(300), 256);
  ASSERT_TRUE(world.write_one());
  EXPECT_EQ(world.cache.disk_counts().failures, 0U);
  EXPECT_EQ(world.cache.disk_counts().writes, 0U);
  EXPECT_FALSE(world.write_one());
}

/// Nor is what stands behind it; others are.
TEST_F(PrefixDisk, WhatStandsBehindWhatIsTooLargeIsNotTried) {
  DiskWorld world(path(), 12, /*bytes_max=*/2200);
  world.compute_and_leave(*make_sequence(300), 256);
  const auto longer = make_sequence(400);
  longer->ahead = true;  // so it takes nothing from the first one, and saves least
  world.compute_and_leave(*longer, 320);
  world.compute_and_leave(*make_sequence(200, 5000), 128);
  int tried = 0;
  for (int i = 0; i < 6; ++i) tried += world.write_one() ? 1 : 0;
  EXPECT_EQ(tried, 2) << "the first and the last";
  EXPECT_TRUE(world.has_on_disk(128, 5000));
  EXPECT_EQ(world.cache.disk_counts().writes, 1U);
}

TEST_F(PrefixDisk, WhatThereAreTooFewPagesForHoldsUpNoOther) {
  DiskWorld world(path(), /*pages=*/4);
  world.compute_and_leave(*make_sequence(300), 256);
  const auto longer = make_sequence(400);
  longer->ahead = true;  // so it takes nothing from the first one, and saves least
  world.compute_and_leave(*longer, 320);
  world.compute_and_leave(*make_sequence(200, 5000), 128);
  for (int i = 0; i < 6; ++i) world.write_one();
  EXPECT_TRUE(world.has_on_disk(128, 5000));
  EXPECT_EQ(world.cache.disk_counts().writes, 1U);
}

/// A conversation goes on whose first part had to make room for others.
TEST_F(PrefixDisk, WhatStandsBehindWhatTheDiskGaveUpIsWrittenWithIt) {
  DiskWorld world(path(), 12, /*bytes_max=*/5500);
  world.compute_and_leave(*make_sequence(300), 256);
  world.write_all();
  EXPECT_TRUE(world.has_on_disk(256));
  for (const int first : {5000, 9000}) {
    world.compute_and_leave(*make_sequence(200, first), 192);
    world.write_all();
  }
  EXPECT_FALSE(world.has_on_disk(256));
  world.compute_and_leave(*make_sequence(400), 320);
  world.write_all();
  EXPECT_TRUE(world.has_on_disk(256));
  EXPECT_TRUE(world.has_on_disk(320));
}

/// What it was to go on from is then as idle as it was before.
TEST_F(PrefixDisk, AReadThatFailsLeavesNothingBehind) {
  for (const bool gone : {true, false}) {
    write_four_blocks();
    DiskWorld world(path(), 12);
    world.compute_and_leave(*make_sequence(130), 128);
    if (gone) {  // before it is asked for: it is read from then on, beside this thread
      std::filesystem::remove(file_of(256));
    } else {
      std::filesystem::resize_file(file_of(256), 100);
    }
    const auto asker = make_sequence(300);
    ASSERT_TRUE(world.cache.waits_for_disk(*asker, world.cache.find(*asker)));
    world.cache.clear();
    world.follow(/*is_idle=*/false);
    world.disk.wait_for_all();
    world.follow(/*is_idle=*/false);
    EXPECT_EQ(world.cache.disk_counts().failures, gone ? 0U : 1U);
    EXPECT_EQ(world.cache.disk_counts().hits, 0U);
    EXPECT_EQ(world.pages_used(), 0);
    EXPECT_EQ(world.block_pool.used(), 0);
    EXPECT_FALSE(world.read_for(*asker));
  }
}

/// It is of no use behind what is gone.
TEST_F(PrefixDisk, WhatStoodBehindADamagedEntryIsWrittenAgain) {
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(200), 192);
  world.compute_and_leave(*make_sequence(300), 256);
  world.write_all();
  ASSERT_EQ(world.disk.directory().entries(), 2U);
  std::filesystem::resize_file(file_of(192), 100);
  const auto stays = make_sequence(300), asker = make_sequence(200);
  world.cache.begin(*stays, world.cache.find(*stays));
  world.cache.clear();  // all but what it goes on from
  ASSERT_TRUE(world.read_for(*asker));
  EXPECT_EQ(world.cache.disk_counts().failures, 1U);
  EXPECT_FALSE(world.has_on_disk(256));
  for (const int32_t block : std::exchange(stays->blocks, {})) world.block_pool.give_back(block);
  world.cache.end(*stays);
  world.write_all();
  EXPECT_TRUE(world.has_on_disk(256));
}

TEST_F(PrefixDisk, AStateThatIsComputedWhileItIsReadIsNotKeptTwice) {
  write_four_blocks();
  DiskWorld world(path(), 12);
  const auto asker = make_sequence(300);
  ASSERT_TRUE(world.cache.waits_for_disk(*asker, world.cache.find(*asker)));
  world.compute_and_leave(*make_sequence(300), 256);
  EXPECT_TRUE(world.read_for(*asker));
  EXPECT_EQ(world.cache.find(*asker).device_tokens, 256);
  EXPECT_EQ(world.pages_used(), 0);
}

TEST_F(PrefixDisk, TheOldestWaitsForTheReadOfOneThatIsGoneUntilItHasAsked) {
  write_four_blocks();
  DiskWorld world(path(), 12);
  const auto waits = [&](Sequence& sequence) {
    return world.cache.waits_for_disk(sequence, world.cache.find(sequence));
  };
  const auto asked = make_sequence(300, 1000), asker = make_sequence(300), next = make_sequence(300, 2000);
  EXPECT_FALSE(waits(*asked));
  EXPECT_TRUE(waits(*asker));
  EXPECT_FALSE(waits(*asked));
  EXPECT_TRUE(waits(*next));
  EXPECT_TRUE(world.read_for(*asker));
  EXPECT_FALSE(waits(*next));
}

/// So the file of what it stands behind may be gone.
TEST_F(PrefixDisk, NothingIsReadOfWhatIsInMemory) {
  {
    DiskWorld world(path(), 12);
    world.compute_and_leave(*make_sequence(200), 192);
    world.compute_and_leave(*make_sequence(300), 256);
    world.write_all();
    ASSERT_EQ(world.disk.directory().entries(), 2U);
  }
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(200), 192);
  std::filesystem::remove(file_of(192));
  const auto asker = make_sequence(300);
  EXPECT_TRUE(world.read_for(*asker));
  EXPECT_EQ(world.cache.find(*asker).tokens, 256);
}

/// What is not there goes only when nothing else does.
TEST_F(PrefixDisk, TheTierGivesUpWhatTheDiskHas) {
  DiskWorld world(path(), 12);
  const auto fill_tier = [&] { ASSERT_TRUE(world.cache.make_blocks_available(kBlocks)); };
  world.compute_and_leave(*make_sequence(400), 384);  // six pages and a state
  world.write_all();
  world.compute_and_leave(*make_sequence(130, 5000), 128);  // two and a state
  fill_tier();
  EXPECT_EQ(world.pages_used(), 12);
  world.compute_and_leave(*make_sequence(130, 9000), 128);
  fill_tier();
  EXPECT_EQ(world.cache.find(*make_sequence(130, 5000)).tokens, 128);
  EXPECT_EQ(world.cache.find(*make_sequence(130, 9000)).tokens, 128);
  EXPECT_EQ(world.cache.find(*make_sequence(400)).tokens, 0) << "it saves most";
}

TEST_F(PrefixDisk, WhoIsToldOfJobsIsToldOfEach) {
  DiskWorld world(path(), 3);
  int done = 0;
  world.disk.wait_for_one();  // of none that is under way
  const auto write = [&](int32_t first) {
    auto job = std::make_unique<DiskJob>();
    job->writes = true;
    job->entry.tokens = std::vector<int32_t>(64, first);
    job->pages = {0, 1, 2};
    world.disk.submit(std::move(job));
    world.disk.wait_for_all();
  };
  world.disk.on_done([&] { ++done; });
  for (const int32_t i : {0, 1}) write(i);
  EXPECT_EQ(done, 2);
  for (int32_t i = 10; i < 40; ++i) {
    auto job = std::make_unique<DiskJob>();
    job->writes = true;
    job->entry.tokens = std::vector<int32_t>(64, i);
    job->pages = {0, 1, 2};
    while (world.disk.take_done() != nullptr) {
    }
    world.disk.submit(std::move(job));
    world.disk.wait_for_one();
    EXPECT_TRUE(world.disk.has_done()) << "it was waited for";
  }
  done = 2;
  world.disk.on_done({});
  write(2);
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace tessera::engine
