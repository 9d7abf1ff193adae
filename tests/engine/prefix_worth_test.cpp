#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "prefix_world.h"

// What the prefix cache gives up first: by what a point saves, and by when it is likely to be used again.
namespace tessera::engine {
namespace {

/// A conversation that grows by a block each time, against one that came once and saves 256 tokens. The device has room
/// for one of them, the tier for both, until a third one comes.
class Contest {
 public:
  /// One that takes all blocks and leaves nothing.
  void pass(int count = 1) {
    for (; count > 0; --count) world_.compute_and_leave(*sequence_of(512, 0, 1'000'000 + 1000 * passed_++), {});
  }
  /// A conversation whose turns come so many sequences after one another. Returns its tokens.
  int64_t talk(const std::vector<int>& gaps, int32_t other = 0) {
    int64_t tokens = 64;
    world_.compute_and_leave(*sequence_of(tokens + 1, 0, other), {tokens});
    for (const int gap : gaps) {
      pass(gap - 1);
      tokens += 64;
      world_.compute_and_leave(*sequence_of(tokens + 1, 0, other), {tokens});
    }
    return tokens;
  }
  /// Whether the conversation's point stays whose last turn was so many sequences ago, where the other one came 8 ago.
  bool stays(int64_t tokens, int unused) {
    pass(unused - 9);
    world_.compute_and_leave(*sequence_of(257, 0, 500'000), {256});
    pass(6);
    world_.compute_and_leave(*sequence_of(129, 0, 600'000), {128});
    pass();
    const bool is_there = world_.cache.find(*sequence_of(tokens + 1)).tokens == tokens;
    const bool other_is = world_.cache.find(*sequence_of(257, 0, 500'000)).tokens == 256;
    EXPECT_NE(is_there, other_is) << "one of the two goes";
    return is_there;
  }
  World& world() { return world_; }

 private:
  World world_{8, 2, true, HostTier(13, 2)};
  int32_t passed_ = 0;
};

TEST(PrefixWorth, WhatIsUsedRegularlyIsKeptForWhenItIsDue) {
  for (const auto& [unused, stays] : {std::pair{14, true}, {20, true}, {24, true}, {25, false}, {26, false}}) {
    Contest contest;
    EXPECT_EQ(contest.stays(contest.talk({20, 20, 20}), unused), stays) << unused;
  }
}

TEST(PrefixWorth, WhereNothingIsUsedRegularlyWhatIsNewestIsKept) {
  const std::vector<std::pair<std::vector<int>, std::vector<int>>> cases = {{{20, 2}, {2, 20}}, {{1, 20}, {1, 20}}};
  for (const auto& [odd, even] : cases) {
    Contest contest;
    for (int32_t i = 1; i <= 16; ++i) contest.talk(i % 2 == 0 ? even : odd, 1000 * i);
    EXPECT_FALSE(contest.stays(contest.talk({20, 20, 20}), 14)) << odd[0];
  }
}

TEST(PrefixWorth, WhatVariesByLessThanAThirdIsRegular) {
  Contest contest;
  for (int32_t i = 1; i <= 60; ++i) {
    contest.talk(i % 2 == 0 ? std::vector<int>{29, 40} : std::vector<int>{40, 29}, 1000 * i);
  }
  EXPECT_TRUE(contest.stays(contest.talk({29, 40}), 37));
}

/// The first time that something is used again says nothing of a pattern.
TEST(PrefixWorth, WhatIsUsedTwiceSurprisesNobody) {
  Contest contest;
  for (int32_t i = 1; i <= 30; ++i) contest.talk({2}, 1000 * i);
  EXPECT_TRUE(contest.stays(contest.talk({20, 20, 20}), 14));
}

/// A system prompt has a pattern, too, though each conversation is another.
TEST(PrefixWorth, WhatOthersGoOnFromRegularlyIsKeptAsWell) {
  Contest contest;
  contest.world().compute_and_leave(*sequence_of(300, 256), {256});
  for (int32_t other = 1; other <= 3; ++other) {
    contest.pass(19);
    EXPECT_EQ(contest.world().compute_and_leave(*sequence_of(300, 256, 20'000 * other), {}).tokens, 256);
  }
  EXPECT_TRUE(contest.stays(256, 14));
}

TEST(PrefixWorth, WhoBeginsAgainWithoutAnythingToGoOnFromIsCountedOnce) {
  World world(20, 2, true, {20, 1});
  world.compute_and_leave(*sequence_of(300), {256});
  const auto other = sequence_of(300, 0, 50'000);
  for (int begin = 0; begin < 3; ++begin) world.compute_and_leave(*other, {});
  const auto again = sequence_of(300);
  world.compute_and_leave(*again, {});
  EXPECT_EQ(again->reuse_after, 2);
}

TEST(PrefixWorth, OfTwoPointsOfOneSequenceEachSavesItsOwnPart) {
  World world(100, 2);
  world.compute_and_leave(*sequence_of(700), {512, 640});
  world.compute_and_leave(*sequence_of(200, 0, 50'000), {192});
  EXPECT_EQ(world.cache.find(*sequence_of(700)).tokens, 512) << "the other one saved 128";
  EXPECT_EQ(world.cache.find(*sequence_of(200, 0, 50'000)).tokens, 192);
}

TEST(PrefixWorth, AStateBehindWhatWasGoneOnFromIsWorthWhatIsBetween) {
  World world(100, 2);
  world.compute_and_leave(*sequence_of(200, 0, 50'000), {192});
  world.compute_and_leave(*sequence_of(600), {512});
  EXPECT_EQ(world.compute_and_leave(*sequence_of(700), {640}).tokens, 512);
  EXPECT_EQ(world.cache.find(*sequence_of(200, 0, 50'000)).tokens, 192);
  EXPECT_EQ(world.cache.find(*sequence_of(700)).tokens, 512);
}

/// What a sequence has left on its way is not what it went on from.
TEST(PrefixWorth, OnlyWhatASequenceWentOnFromIsSuperseded) {
  World world(200, 4);
  world.compute_and_leave(*sequence_of(100), {64});
  world.compute_and_leave(*sequence_of(900), {512, 832});
  for (const int32_t other : {50'000, 60'000, 70'000}) world.compute_and_leave(*sequence_of(260, 0, other), {256});
  EXPECT_EQ(world.cache.find(*sequence_of(600)).tokens, 512);
  EXPECT_EQ(world.cache.find(*sequence_of(900)).tokens, 832);
}

/// Each of the two saves less, and both together more.
TEST(PrefixWorth, NothingMovesToTheTierForWhichMoreWouldHaveToGo) {
  for (const bool has_states : {true, false}) {
    World world(20, 4, has_states, has_states ? HostTier(7, 1) : HostTier(5, 0));
    world.compute_and_leave(*sequence_of(321, 0, 10'000), {320});
    world.compute_and_leave(*sequence_of(193, 0, 20'000), {192});
    world.compute_and_leave(*sequence_of(129, 0, 30'000), {128});
    world.compute_and_leave(*sequence_of(1280, 0, 40'000), {});
    EXPECT_EQ(world.cache.find(*sequence_of(321, 0, 10'000)).tokens, 0);
    EXPECT_EQ(world.cache.find(*sequence_of(193, 0, 20'000)).tokens, 192);
    EXPECT_EQ(world.cache.find(*sequence_of(129, 0, 30'000)).tokens, 128);
  }
}

/// Of those that save less, the ones that save least: so two of three go, and not the first.
TEST(PrefixWorth, WhatMovesToTheTierTakesThePagesOfWhatSavesLeast) {
  World world(20, 4, true, HostTier(15 + 13 + 13, 10));
  const auto read_all = [&](int32_t other) { world.compute_and_leave(*sequence_of(1280, 0, other), {}); };
  for (const auto& [tokens, other] : {std::pair{320, 10'000}, {192, 20'000}, {192, 30'000}}) {
    world.compute_and_leave(*sequence_of(tokens + 1, 0, other), {tokens});
  }
  read_all(40'000);
  ASSERT_EQ(world.cache.tier().pages().available(), 0);
  world.compute_and_leave(*sequence_of(449, 0, 50'000), {448});
  for (int32_t other = 0; other < 200; ++other) {
    world.compute_and_leave(*sequence_of(1, 0, 100'000 + other), {});
  }
  read_all(60'000);
  EXPECT_EQ(world.cache.find(*sequence_of(449, 0, 50'000)).tokens, 448);
  EXPECT_EQ(world.cache.find(*sequence_of(321, 0, 10'000)).tokens, 320);
  for (const int32_t other : {20'000, 30'000}) {
    EXPECT_EQ(world.cache.find(*sequence_of(193, 0, other)).tokens, 0);
  }
}

/// So nothing else goes for what could not be taken in without them.
TEST(PrefixWorth, PagesOfWhatASequenceStandsOnAreNotCounted) {
  World world(20, 1, true, HostTier(12, 1));
  world.compute_and_leave(*sequence_of(641, 0, 10'000), {640});
  world.compute_and_leave(*sequence_of(1280, 0, 20'000), {});
  world.compute_and_leave(*sequence_of(65, 0, 30'000), {64});
  world.compute_and_leave(*sequence_of(705, 0, 40'000), {704});  // wants a page more than the first one has
  ASSERT_EQ(world.cache.tier().pages().available(), 0);
  const auto stands = sequence_of(65, 0, 30'000);
  world.cache.begin(*stands, world.cache.find(*stands));
  EXPECT_EQ(stands->resumed, 64);
  ASSERT_TRUE(world.cache.make_blocks_available(world.block_pool.available() + 1));
  EXPECT_EQ(world.cache.find(*sequence_of(705, 0, 40'000)).tokens, 0);
  EXPECT_EQ(world.cache.find(*sequence_of(641, 0, 10'000)).tokens, 640);
  world.leave(*stands);
}

TEST(PrefixWorth, WhatTheDeviceHasMakesNoRoomInTheTier) {
  World world(100, 2, true, {1, 1});
  world.compute_and_leave(*sequence_of(1601, 0, 10'000), {1600});
  for (int32_t other = 0; other < 100; ++other) {
    world.compute_and_leave(*sequence_of(1, 0, 100'000 + other), {});
  }
  world.compute_and_leave(*sequence_of(321, 0, 20'000), {320});
  world.compute_and_leave(*sequence_of(513, 0, 30'000), {512});
  world.compute_and_leave(*sequence_of(65, 0, 40'000), {64});
  EXPECT_EQ(world.cache.find(*sequence_of(1601, 0, 10'000)).tokens, 1600) << "it has waited longest";
  EXPECT_EQ(world.cache.find(*sequence_of(321, 0, 20'000)).tokens, 0);
  EXPECT_EQ(world.cache.find(*sequence_of(513, 0, 30'000)).tokens, 512);
}

/// The first page is one as well.
TEST(PrefixWorth, WithoutStatesBlocksTakeThePagesOfOlderOnes) {
  World world(7, 1, /*has_states=*/false, {2, 0});
  ASSERT_EQ(world.block_pool.take(), 0);
  for (const int32_t other : {10'000, 20'000}) {
    world.compute_and_leave(*sequence_of(129, 0, other), {128});
    ASSERT_TRUE(world.cache.make_blocks_available(6));
    EXPECT_EQ(world.cache.find(*sequence_of(129, 0, other)).tokens, 128);
  }
  EXPECT_EQ(world.cache.find(*sequence_of(129, 0, 10'000)).tokens, 0);
}

TEST(PrefixWorth, AStateTakesNoPagesFromOneThatSavesMore) {
  World world(100, 1, true, {1, 1});
  world.compute_and_leave(*sequence_of(1025, 0, 10'000), {1024});
  for (const int32_t other : {20'000, 30'000}) world.compute_and_leave(*sequence_of(65, 0, other), {64});
  EXPECT_EQ(world.cache.find(*sequence_of(1025, 0, 10'000)).tokens, 1024);
  EXPECT_EQ(world.cache.find(*sequence_of(65, 0, 20'000)).tokens, 0);
  EXPECT_EQ(world.cache.find(*sequence_of(65, 0, 30'000)).tokens, 64);
}

/// Nor does its block, for which the page of its own state would not be free.
TEST(PrefixWorth, ABlockTakesNoPageFromAStateThatSavesMore) {
  World world(100, 1, true, {2, 1});
  for (const auto& [tokens, other] : {std::pair{64, 10'000}, {1024, 20'000}, {64, 30'000}}) {
    world.compute_and_leave(*sequence_of(tokens + 1, 0, other), {tokens});
  }
  ASSERT_EQ(world.cache.tier().pages().available(), 0);
  ASSERT_TRUE(world.cache.make_blocks_available(world.block_pool.available() + 1));
  EXPECT_EQ(world.cache.find(*sequence_of(65, 0, 10'000)).tokens, 0);
  EXPECT_EQ(world.cache.find(*sequence_of(1025, 0, 20'000)).tokens, 1024);
}

/// Without the first of two points its block stays for the other one, so what wants that page, too, is not taken in.
TEST(PrefixWorth, ABlockThatLeadsToAnotherPointIsNoPageToBeHad) {
  World world(20, 3, true, {2 + 17, 1});
  world.compute_and_leave(*sequence_of(1089, 0, 10'000), {64, 1088});
  world.compute_and_leave(*sequence_of(1280, 0, 20'000), {});
  ASSERT_EQ(world.cache.tier().pages().available(), 0);
  world.compute_and_leave(*sequence_of(65, 0, 30'000), {64});
  world.compute_and_leave(*sequence_of(1280, 0, 40'000), {});
  EXPECT_EQ(world.cache.find(*sequence_of(65, 0, 30'000)).tokens, 0);
  EXPECT_EQ(world.cache.find(*sequence_of(65, 0, 10'000)).tokens, 64);
  EXPECT_EQ(world.cache.find(*sequence_of(1089, 0, 10'000)).tokens, 1088);
}

/// A conversation is known again when its point is lost: one that it alone has gone on from.
TEST(PrefixWorth, WhenALostPointWasUsedIsRemembered) {
  for (const int users : {1, 2}) {
    World world(100, 1, true, {1, 2});  // no state fits in the tier
    for (int i = 0; i <= users; ++i) {
      world.compute_and_leave(*sequence_of(140, 129, 10'000 * i),
                              i == 0 ? std::vector<int64_t>{128} : std::vector<int64_t>());
    }
    world.compute_and_leave(*sequence_of(65, 0, 500'000), {64});
    ASSERT_EQ(world.cache.find(*sequence_of(140)).tokens, 0);
    const auto again = sequence_of(140);
    world.compute_and_leave(*again, {});
    EXPECT_EQ(again->reuse_after, users == 1 ? 2 : 0) << "what several went on from is no conversation's";
    const auto shorter = cut_sequence(127, 140);
    world.compute_and_leave(*shorter, {});
    EXPECT_EQ(shorter->reuse_after, 0) << "it has not even the tokens of the point";
  }
}

/// Of what is worth something: it counts from what was given up last.
TEST(PrefixWorth, WorthIsCountedFromWhatWasGivenUpLast) {
  World world(100, 1);
  world.compute_and_leave(*sequence_of(200), {192});
  world.compute_and_leave(*sequence_of(700, 0, 50'000), {640});
  ASSERT_EQ(world.cache.points_given_up(), 1U);
  EXPECT_FALSE(world.cache.make_slot_available(world.cache.worth_of(640)));
  EXPECT_TRUE(world.cache.make_slot_available(world.cache.worth_of(641)));
}

/// What leads to another point, which stays on the device, takes no page.
TEST(PrefixWorth, APointMovesToATierThatHasRoomForItsOwnBlocks) {
  World world(10, 3, true, {2 + 1, 1});
  world.compute_and_leave(*sequence_of(300), {128, 256});
  ASSERT_TRUE(world.cache.make_blocks_available(world.block_pool.available() + 1));
  EXPECT_EQ(world.cache.find(*sequence_of(300)).tokens, 256);
  EXPECT_EQ(world.cache.find(*sequence_of(300)).device_tokens, 128);
  EXPECT_EQ(world.cache.tier().pages().used(), 3);
}

/// With a tier a block becomes free as well as a slot.
TEST(PrefixWorth, ABlockIsMadeAvailableWhereItsStateGoesToTheTier) {
  World world(5, 3, true, {20, 1});
  world.compute_and_leave(*sequence_of(257), {256});
  ASSERT_TRUE(world.block_pool.take());  // the last that is free
  ASSERT_EQ(world.block_pool.available(), 0);
  EXPECT_FALSE(world.cache.make_block_available(world.cache.worth_of(256)));
  EXPECT_TRUE(world.cache.make_block_available(world.cache.worth_of(257)));
  EXPECT_GT(world.block_pool.available(), 0);
  EXPECT_EQ(world.cache.find(*sequence_of(257)).tokens, 256);
}

}  // namespace
}  // namespace tessera::engine
