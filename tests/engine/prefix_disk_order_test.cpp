#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "disk_world.h"

// In which order points are written to the disk and leave the tier, and what is read where several entries are wanted.
namespace tessera::engine {
namespace {

class PrefixDiskOrder : public PrefixDisk {};

/// The state of the point that saves least goes to the tier, once for each call.
void state_to_tier(DiskWorld& world) {
  std::vector<int32_t> free;
  while (const auto slot = world.slot_pool.take()) free.push_back(*slot);
  ASSERT_TRUE(world.cache.make_slot_available());
  for (const int32_t slot : free) world.slot_pool.give_back(slot);
}

TEST_F(PrefixDiskOrder, EntriesBehindOneAnotherAreReadTogether) {
  uint64_t bytes = 0;
  {
    DiskWorld world(path(), 20);
    for (const int64_t tokens : {200, 300, 480}) world.compute_and_leave(*make_sequence(tokens), tokens / 64 * 64);
    world.write_all();
    ASSERT_EQ(world.disk.directory().entries(), 3U);
    bytes = world.disk.directory().bytes_used();
    for (const auto& [tokens, first] : {std::pair{192, 0}, {256, 3}, {448, 4}}) {
      const KvFormat format{.identity = {1, 2}, .page_bytes = kPageBytes, .state_pages = kStatePages};
      bytes -= kv_file_bytes(format, {.salt = "", .tokens = *make_sequence(tokens)->prompt, .first_block = first});
    }
    EXPECT_EQ(bytes, 0U) << "each has its own blocks";
  }
  for (const int64_t in_memory : {0, 64, 192}) {
    DiskWorld world(path(), 20);
    if (in_memory > 0) world.compute_and_leave(*make_sequence(in_memory + 1), in_memory);
    const auto asker = make_sequence(500);
    ASSERT_TRUE(world.read_for(*asker));
    const auto match = world.cache.find(*asker);
    EXPECT_EQ(match.tokens, 448);
    EXPECT_EQ(world.cache.disk_counts().hits, 448U - in_memory);
    EXPECT_FALSE(world.cache.waits_for_disk(*asker, {})) << "it is asked once";
    (void)world.cache.take_moves();
    world.cache.begin(*asker, match);
    while (asker->blocks.size() < 8) asker->blocks.push_back(*world.block_pool.take());
    asker->slot = *world.slot_pool.take();
    world.cache.bring_in(*asker);
    int blocks = 0, states = 0;
    for (const kernels::PageMove& move : world.cache.take_moves()) {
      const int content = std::to_integer<int>(*world.host_pages.page(move.page));
      if (move.what == kernels::PageMove::What::state) {
        EXPECT_EQ(content, 100);
        ++states;
      } else {
        EXPECT_EQ(asker->blocks.at(static_cast<size_t>(content - 10)), move.index);
        ++blocks;
      }
    }
    EXPECT_EQ(blocks, 7 - in_memory / 64);
    EXPECT_EQ(states, kStatePages);
  }
}

TEST_F(PrefixDiskOrder, WhereOnlyTheStateIsMissingOnlyItIsRead) {
  write_four_blocks();
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(400), 384);
  auto asker = make_sequence(300);
  ASSERT_EQ(world.cache.find(*asker).tokens, 0);
  ASSERT_EQ(world.cache.find(*asker).block_tokens, 256);
  ASSERT_TRUE(world.cache.waits_for_disk(*asker, world.cache.find(*asker)));
  EXPECT_EQ(world.pages_used(), kStatePages);
  ASSERT_TRUE(world.read_for(*asker));
  EXPECT_EQ(world.cache.find(*asker).tokens, 256);
  EXPECT_EQ(world.cache.disk_counts().hits, 256U) << "without the state all would be computed again";
}

/// As one that was preempted: its prompt is not computed again.
TEST_F(PrefixDiskOrder, AllOfAPromptIsReadForOneThatHasAnAnswer) {
  write_four_blocks();
  DiskWorld world(path(), 12);
  const auto asker = make_sequence(256);
  asker->output = {1};
  ASSERT_TRUE(world.read_for(*asker));
  EXPECT_EQ(world.cache.find(*asker).tokens, 256);
}

/// Nothing of them is used then; who comes next gets what stands before it.
TEST_F(PrefixDiskOrder, OfEntriesBehindOneAnotherAnyMayBeDamagedOrGone) {
  const std::vector<int64_t> ends = {192, 256, 448};
  for (const bool gone : {false, true}) {
    for (size_t bad = 0; bad < ends.size(); ++bad) {
      std::filesystem::remove_all(path());
      {
        DiskWorld world(path(), 20);
        for (const int64_t end : ends) world.compute_and_leave(*make_sequence(end + 1), end);
        world.write_all();
        ASSERT_EQ(world.disk.directory().entries(), 3U);
      }
      DiskWorld world(path(), 20);
      const auto asker = make_sequence(500), next = make_sequence(500);
      if (gone) {
        std::filesystem::remove(file_of(ends[bad]));
      } else {
        std::filesystem::resize_file(file_of(ends[bad]), 100);
      }
      ASSERT_TRUE(world.read_for(*asker));
      EXPECT_EQ(world.cache.find(*asker).tokens, 0) << bad;
      EXPECT_EQ(world.cache.disk_counts().failures, gone ? 0U : 1U) << bad;
      EXPECT_EQ(world.cache.disk_counts().hits, 0U) << bad;
      EXPECT_EQ(world.pages_used(), 0) << bad;
      EXPECT_EQ(world.read_for(*next), bad > 0);
      EXPECT_EQ(world.cache.find(*next).tokens, bad > 0 ? ends[bad - 1] : 0);
    }
  }
}

TEST_F(PrefixDiskOrder, WhatIsNotReadForLackOfRoomPinsNothing) {
  write_four_blocks();
  DiskWorld world(path(), 1 + kStatePages);
  world.compute_and_leave(*make_sequence(130), 128);
  const auto asker = make_sequence(300);
  EXPECT_FALSE(world.cache.waits_for_disk(*asker, world.cache.find(*asker)));
  EXPECT_EQ(world.pages_used(), 0);
  world.cache.clear();
  EXPECT_EQ(world.block_pool.used(), 0);
}

/// Pages that a step still writes or reads are not read into before it was collected.
TEST_F(PrefixDiskOrder, AReadWaitsForMovesThatWereBeforeIt) {
  write_four_blocks();
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(130, 5000), 128);
  state_to_tier(world);
  const auto asker = make_sequence(300);
  ASSERT_TRUE(world.cache.waits_for_disk(*asker, world.cache.find(*asker)));
  EXPECT_TRUE(world.cache.disk_wants_moves());
  world.follow(/*is_idle=*/false);
  world.disk.wait_for_all();
  EXPECT_FALSE(world.disk.has_done());
  world.step();
  EXPECT_FALSE(world.cache.disk_wants_moves());
  ASSERT_TRUE(world.read_for(*asker));
  EXPECT_EQ(world.cache.find(*asker).tokens, 256);
}

TEST_F(PrefixDiskOrder, AStateThatCameToTheTierWhileItWasReadIsNotKeptTwice) {
  write_four_blocks();
  DiskWorld world(path(), 12);
  const auto asker = make_sequence(300);
  ASSERT_TRUE(world.cache.waits_for_disk(*asker, world.cache.find(*asker)));
  world.compute_and_leave(*make_sequence(300), 256);
  state_to_tier(world);
  world.step();
  EXPECT_TRUE(world.read_for(*asker));
  EXPECT_EQ(world.pages_used(), kStatePages);
  EXPECT_EQ(world.cache.find(*asker).tokens, 256);
}

/// The order in which those of 128, 192 and 320 tokens come to the disk.
std::vector<int64_t> order_of_writes(DiskWorld& world, bool is_idle) {
  std::vector<int64_t> order;
  for (int i = 0; i < 3; ++i) {
    world.follow(is_idle);
    if (world.cache.disk_wants_moves()) world.step();
    world.follow(/*is_idle=*/false);
    world.disk.wait_for_all();
    for (const int64_t tokens : {128, 192, 320}) {
      const bool is_new = std::ranges::find(order, tokens) == order.end();
      if (is_new && world.has_on_disk(tokens, static_cast<int32_t>(1000 * tokens))) order.push_back(tokens);
    }
  }
  return order;
}

TEST_F(PrefixDiskOrder, WhatWouldGoFirstIsWrittenFirst) {
  // As they come, and in the order of what each saves for each sequence that has begun since.
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> cases = {
      {{192, 320, 128}, {192, 128, 320}}, {{128, 320, 192}, {128, 320, 192}}, {{320, 128, 192}, {128, 320, 192}}};
  int number = 0;
  for (const auto& [come, aged] : cases) {
    for (const int in_tier : {0, 1, 3}) {
      DiskWorld world(directory_.path() / std::to_string(number++), 40);
      for (const int64_t tokens : come) {
        const auto sequence = make_sequence(tokens + 1, static_cast<int32_t>(1000 * tokens));
        world.compute_and_leave(*sequence, tokens);
        if (in_tier == 1 && tokens == 192) state_to_tier(world);
        if (in_tier == 3) state_to_tier(world);
      }
      world.step();
      const int32_t used = world.pages_used();
      EXPECT_EQ(used, in_tier * kStatePages);
      if (in_tier == 1) {
        const int64_t there = come[0] == 128 || come[1] == 128 ? 128 : 192;
        EXPECT_THAT(order_of_writes(world, /*is_idle=*/true)[0], there) << "it is in the tier";
      } else {
        const std::vector<int64_t> expected = in_tier == 0 ? std::vector<int64_t>{128, 192, 320} : aged;
        EXPECT_EQ(order_of_writes(world, /*is_idle=*/in_tier == 0), expected);
      }
      world.follow(/*is_idle=*/false);
      EXPECT_EQ(world.pages_used(), used) << "what is in the tier stays there";
      EXPECT_EQ(world.cache.disk_counts().writes, 3U);
    }
  }
}

TEST_F(PrefixDiskOrder, WhatIsInTheTierIsWrittenBeforeWhatSavesLess) {
  for (const bool is_last : {false, true}) {
    DiskWorld world(directory_.path() / (is_last ? "last" : "first"), 40);
    const auto small = make_sequence(129, 1000), large = make_sequence(321, 5000), holder = make_sequence(129, 1000);
    if (!is_last) world.compute_and_leave(*large, 320);
    world.compute_and_leave(*small, 128);
    if (is_last) world.compute_and_leave(*large, 320);
    world.cache.begin(*holder, world.cache.find(*holder));  // so that the small one's state stays
    state_to_tier(world);
    for (const int32_t block : holder->blocks) world.block_pool.give_back(block);
    world.cache.end(*holder);
    world.step();
    ASSERT_TRUE(world.write_one());
    EXPECT_TRUE(world.has_on_disk(320, 5000));
    EXPECT_FALSE(world.has_on_disk(128, 1000));
  }
}

TEST_F(PrefixDiskOrder, WhatTheDiskHasIsNotWrittenAgain) {
  write_four_blocks();
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(300), 256);
  world.write_all();
  EXPECT_EQ(world.cache.disk_counts().writes, 0U);
  EXPECT_EQ(world.pages_used(), 0);
}

/// Pages for a copy of what only the device has are those of what the disk has already.
TEST_F(PrefixDiskOrder, AFullTierMakesRoomForWhatIsWritten) {
  DiskWorld world(path(), 8 + 5);  // one less than it takes
  world.compute_and_leave(*make_sequence(385), 384);
  world.write_all();
  ASSERT_TRUE(world.cache.make_blocks_available(kBlocks));
  world.step();
  EXPECT_EQ(world.pages_used(), 8);
  world.compute_and_leave(*make_sequence(257, 5000), 256);
  EXPECT_TRUE(world.write_one());
  EXPECT_EQ(world.cache.disk_counts().writes, 2U);
  EXPECT_TRUE(world.has_on_disk(256, 5000));
  EXPECT_EQ(world.pages_used(), 0) << "the first one has made room";
}

/// So what it has already makes room there for what saves less.
TEST_F(PrefixDiskOrder, AllThatPassesTheTierIsToBeOnTheDisk) {
  DiskWorld world(path(), 6);
  world.compute_and_leave(*make_sequence(300), 256);
  ASSERT_TRUE(world.cache.make_blocks_available(kBlocks));
  world.step();
  world.write_all();
  ASSERT_TRUE(world.has_on_disk(256));
  world.compute_and_leave(*make_sequence(65, 5000), 64);
  ASSERT_TRUE(world.cache.make_blocks_available(kBlocks));
  EXPECT_EQ(world.cache.find(*make_sequence(65, 5000)).tokens, 64);
  EXPECT_EQ(world.cache.find(*make_sequence(300)).tokens, 0);
}

/// It has been read for somebody; when many others have come instead, it has not.
TEST_F(PrefixDiskOrder, WhatWasReadStaysForAWhile) {
  for (const int before : {0, 20}) {
    for (const int others : {4, 5, 6, 7}) {
      write_four_blocks();
      DiskWorld world(path(), 12);
      const auto pass = [&](int count) {
        for (int32_t i = 0; i < count; ++i) {
          const auto other = make_sequence(20, 1000 * (i + 2));
          world.cache.begin(*other, world.cache.find(*other));
          world.cache.end(*other);
        }
      };
      pass(before);
      ASSERT_TRUE(world.read_for(*make_sequence(300)));
      ASSERT_EQ(world.pages_used(), 4 + kStatePages);
      pass(others);
      world.compute_and_leave(*make_sequence(130, 50'000), 128);  // two pages and a state
      ASSERT_TRUE(world.cache.make_blocks_available(kBlocks));
      world.step();
      ASSERT_EQ(world.pages_used(), 10);
      world.compute_and_leave(*make_sequence(66, 60'000), 64);
      ASSERT_TRUE(world.cache.make_blocks_available(kBlocks));
      const bool stays = world.cache.find(*make_sequence(300)).tokens == 256;
      EXPECT_EQ(stays, others < 6) << others;  // these two begin, too
      EXPECT_EQ(world.cache.find(*make_sequence(130, 50'000)).tokens, stays ? 0 : 128);
      EXPECT_EQ(world.cache.find(*make_sequence(66, 60'000)).tokens, 64);
    }
  }
}

/// Whatever saves more: all that passes the tier is to be on the disk. Of one that comes nothing goes for the rest of
/// it.
TEST_F(PrefixDiskOrder, WhatComesToTheTierTakesNoPagesOfItsOwn) {
  DiskWorld world(path(), 12);
  world.compute_and_leave(*make_sequence(193, 1000), 192);
  for (int i = 0; i < 100; ++i) {
    const auto other = make_sequence(20, 2000);
    world.cache.begin(*other, world.cache.find(*other));
    world.cache.end(*other);
  }
  for (const int32_t other : {5000, 6000, 7000, 8000}) world.compute_and_leave(*make_sequence(65, other), 64);
  ASSERT_TRUE(world.cache.make_blocks_available(kBlocks));
  EXPECT_EQ(world.cache.find(*make_sequence(193, 1000)).tokens, 192);
  EXPECT_EQ(world.cache.find(*make_sequence(65, 5000)).tokens, 0);
  EXPECT_EQ(world.cache.find(*make_sequence(65, 6000)).tokens, 0);
}

TEST_F(PrefixDiskOrder, WhereTheTierHasNoPagesASlotIsMadeAvailableAllTheSame) {
  DiskWorld world(path(), 1 + kStatePages);
  world.compute_and_leave(*make_sequence(65), 64);
  ASSERT_TRUE(world.cache.make_blocks_available(kBlocks));
  const auto stands = make_sequence(65);
  world.cache.begin(*stands, world.cache.find(*stands));
  world.compute_and_leave(*make_sequence(65, 5000), 64);
  while (world.slot_pool.take()) {
  }
  EXPECT_TRUE(world.cache.make_slot_available());
  EXPECT_EQ(world.slot_pool.available(), 1);
  EXPECT_EQ(world.cache.find(*make_sequence(65, 5000)).tokens, 0);
  EXPECT_EQ(world.cache.find(*make_sequence(65)).tokens, 64);
  world.cache.end(*stands);
}

/// Then it is there for nobody.
TEST_F(PrefixDiskOrder, WhatWasReadAndUsedGoesAsWhatTheDiskHasDoes) {
  for (const bool used : {false, true}) {
    write_four_blocks();
    DiskWorld world(path(), 12);
    const auto asker = make_sequence(300);
    ASSERT_TRUE(world.read_for(*asker));
    if (used) {
      world.cache.begin(*asker, world.cache.find(*asker));
      world.cache.end(*asker);
    }
    for (const int32_t other : {50'000, 60'000}) {
      world.compute_and_leave(*make_sequence(130, other), 128);
      ASSERT_TRUE(world.cache.make_blocks_available(kBlocks));
      world.step();
    }
    EXPECT_EQ(world.cache.find(*make_sequence(300)).tokens == 256, !used);
    EXPECT_EQ(world.cache.find(*make_sequence(130, 50'000)).tokens == 128, used);
    EXPECT_EQ(world.cache.find(*make_sequence(130, 60'000)).tokens, 128);
  }
}

}  // namespace
}  // namespace tessera::engine
