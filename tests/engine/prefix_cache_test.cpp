#include "engine/prefix_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "prefix_world.h"

namespace tessera::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PrefixCache, ASequenceGoesOnBehindTheNewestStateOfItsPrompt) {
  World world(20, 4);
  const auto first = sequence_of(300), same = sequence_of(300), other = sequence_of(300, /*from=*/200);
  EXPECT_EQ(world.compute_and_leave(*first, {64, 256}).tokens, 0);
  EXPECT_EQ(world.cache.idle_blocks(), 4);  // the rest of the prompt is no whole block
  EXPECT_EQ(world.cache.kept_slots(), 2);

  const auto match = world.cache.find(*same);
  EXPECT_EQ(match.tokens, 256);
  EXPECT_EQ(match.block_tokens, 256);
  // 192 tokens are the same, and there is a state behind 64 of them.
  const auto elsewhere = world.cache.find(*other);
  EXPECT_EQ(elsewhere.tokens, 64);
  EXPECT_EQ(elsewhere.device_tokens, 64);
  EXPECT_EQ(elsewhere.block_tokens, 192);
}

TEST(PrefixCache, AtLeastOneTokenIsLeftToCompute) {
  World world(20, 4);
  const auto first = sequence_of(128), same = sequence_of(128), longer = sequence_of(129),
             shorter = cut_sequence(127, 128);
  world.compute_and_leave(*first, {64, 128});
  EXPECT_EQ(world.cache.find(*same).tokens, 64);
  EXPECT_EQ(world.cache.find(*longer).tokens, 128);
  EXPECT_EQ(world.cache.find(*shorter).tokens, 64);
  EXPECT_EQ(world.cache.find(*shorter).block_tokens, 64);
  same->output = {1};  // preempted with a token: its prompt is not computed again
  EXPECT_EQ(world.cache.find(*same).tokens, 128);
}

TEST(PrefixCache, SaltsAndLogitsOfAllTokensKeepPromptsApart) {
  World world(20, 4);
  const auto first = sequence_of(200), salted = sequence_of(200), scored = sequence_of(200);
  world.compute_and_leave(*first, {192});
  salted->cache_salt = "another";
  scored->wants_prompt_logits = true;
  EXPECT_EQ(world.cache.find(*salted).tokens, 0);
  EXPECT_EQ(world.cache.find(*scored).tokens, 0);
  EXPECT_EQ(world.cache.common_tokens(*salted, *first), 0);
  EXPECT_EQ(world.cache.common_tokens(*scored, *first), 0);
  EXPECT_EQ(world.cache.common_tokens(*first, *scored), 200);
}

TEST(PrefixCache, WhatTwoHaveComputedIsKeptOnce) {
  World world(20, 4);
  const auto first = sequence_of(200), second = sequence_of(200);
  world.compute(*first, {});
  world.compute(*second, {192});  // nothing to go on from: it computed all of it
  EXPECT_EQ(second->resumed, 0);
  EXPECT_EQ(std::vector(first->blocks.begin(), first->blocks.begin() + 3),
            std::vector(second->blocks.begin(), second->blocks.begin() + 3));
  EXPECT_NE(first->blocks[3], second->blocks[3]);
  EXPECT_EQ(world.block_pool.used(), 5);
  world.leave(*first);
  world.leave(*second);
  EXPECT_EQ(world.block_pool.used(), 3);
}

TEST(PrefixCache, BlocksThatLeadToNoStateAreNotKept) {
  World world(20, 4);
  const auto first = sequence_of(500);
  world.compute_and_leave(*first, {128});
  EXPECT_EQ(world.block_pool.used(), 2);
  const auto second = sequence_of(500);
  world.compute_and_leave(*second, {});
  EXPECT_EQ(world.block_pool.used(), 2);
  world.cache.clear();
  EXPECT_EQ(world.block_pool.used(), 0);
  EXPECT_EQ(world.slot_pool.used(), 0);
}

/// Its rows were decoded: the bits of a prompt that was read are others.
TEST(PrefixCache, AnAnswerLeavesNoBlockToAPromptThatRepeatsIt) {
  World world(20, 4);
  const auto first = sequence_of(100), repeats = sequence_of(300);
  world.compute(*first, {64});
  for (int32_t token = 100; token < 200; ++token) first->output.push_back(token);
  for (int block = 0; block < 2; ++block) first->blocks.push_back(*world.block_pool.take());
  first->submitted = 199;
  world.cache.extend(*first);
  EXPECT_EQ(world.cache.find(*repeats).block_tokens, 64);
  world.leave(*first);
}

TEST(PrefixCache, WhatSavesLeastGoesFirst) {
  World world(100, 2);
  const auto brief = sequence_of(70, 0, 10'000), lengthy = sequence_of(1300, 0, 20'000),
             middle = sequence_of(700, 0, 30'000);
  world.compute_and_leave(*brief, {64});
  world.compute_and_leave(*lengthy, {1280});
  world.compute_and_leave(*middle, {640});  // in place of the brief one
  EXPECT_EQ(world.cache.find(*brief).tokens, 0);
  EXPECT_EQ(world.cache.find(*lengthy).tokens, 1280);
  EXPECT_EQ(world.cache.find(*middle).tokens, 640);
  EXPECT_EQ(world.cache.points_given_up(), 1U);
  // What is not used ages, however much it would save.
  for (int i = 0; i < 4; ++i) {
    const auto again = sequence_of(700, 0, 40'000 + 1000 * i);
    world.compute_and_leave(*again, {640});
  }
  EXPECT_EQ(world.cache.find(*lengthy).tokens, 0);
}

TEST(PrefixCache, WhatASequenceStandsOnStays) {
  World world(6, 3);
  const auto first = sequence_of(200), on_it = sequence_of(200), large = sequence_of(384, 0);
  world.compute_and_leave(*first, {192});
  world.cache.begin(*on_it, world.cache.find(*on_it));
  EXPECT_EQ(on_it->resumed, 192);
  EXPECT_EQ(world.cache.idle_blocks(), 0);
  EXPECT_FALSE(world.cache.make_blocks_available(4));
  EXPECT_TRUE(world.cache.make_blocks_available(3));
  // Nor does the state that its first rows need.
  std::vector<int32_t> slots;
  while (world.cache.make_slot_available()) slots.push_back(*world.slot_pool.take());
  EXPECT_EQ(slots.size(), 2U);
  world.cache.forget_restore(*on_it);
  EXPECT_TRUE(world.cache.make_slot_available());
  world.leave(*on_it);
  EXPECT_EQ(world.block_pool.used(), 0);  // the state is gone, and with it what led there
}

TEST(PrefixCache, ModelsWithoutStatesNeedNoSlots) {
  World world(20, 1, /*has_states=*/false);
  const auto first = sequence_of(300), same = sequence_of(300);
  world.compute_and_leave(*first, {256});
  EXPECT_EQ(world.slot_pool.used(), 0);
  world.cache.begin(*same, world.cache.find(*same));
  EXPECT_EQ(same->resumed, 256);
  EXPECT_EQ(same->restore_slot, -1);
  world.leave(*same);
  EXPECT_TRUE(world.cache.make_blocks_available(20));
  EXPECT_EQ(world.cache.find(*first).tokens, 0);
}

using kernels::PageMove;
constexpr auto kBlock = PageMove::What::block, kState = PageMove::What::state;

TEST(PrefixCacheTier, WhatIsGivenUpGoesToTheTierAndComesBack) {
  World world(6, 2, /*has_states=*/true, {20, /*state_pages=*/2});
  const auto first = sequence_of(200), again = sequence_of(200), large = sequence_of(384, 0);
  world.compute_and_leave(*first, {128});
  const std::vector<int32_t> kept = {0, 1};  // the pool's first
  EXPECT_THAT(world.cache.take_moves(), IsEmpty());
  world.compute_and_leave(*large, {});
  EXPECT_THAT(world.cache.take_moves(),
              ElementsAre(PageMove{kState, true, 0, 0, 0}, PageMove{kState, true, 0, 1, 1},
                          PageMove{kBlock, true, kept[1], 0, 2}, PageMove{kBlock, true, kept[0], 0, 3}));
  EXPECT_EQ(world.cache.tier().pages().used(), 4);
  EXPECT_EQ(world.slot_pool.used(), 0);
  EXPECT_EQ(world.block_pool.used(), 0);

  const auto match = world.compute(*again, {});
  EXPECT_EQ(match.tokens, 128);
  EXPECT_EQ(match.device_tokens, 0);
  EXPECT_EQ(again->from_tier, 128);
  EXPECT_EQ(again->restore_slot, -1);
  EXPECT_THAT(
      world.cache.take_moves(),
      ElementsAre(PageMove{kBlock, false, again->blocks[1], 0, 2}, PageMove{kBlock, false, again->blocks[0], 0, 3},
                  PageMove{kState, false, World::kOwnSlot, 0, 0}, PageMove{kState, false, World::kOwnSlot, 1, 1}));
  EXPECT_EQ(world.cache.tier().pages().used(), 2);  // the state, for others that begin alike
  world.leave(*again);
  EXPECT_EQ(world.cache.idle_blocks(), 2);
  EXPECT_EQ(world.cache.find(*first).tokens, 128);
  EXPECT_EQ(world.cache.find(*first).device_tokens, 0);
  world.cache.clear();
  EXPECT_EQ(world.cache.tier().pages().used(), 0);
  EXPECT_EQ(world.block_pool.used(), 0);
}

TEST(PrefixCacheTier, SaltsKeepPromptsApartThereToo) {
  World world(6, 2, /*has_states=*/true, {20, 1});
  const auto first = sequence_of(200), salted = sequence_of(200), large = sequence_of(384, 0);
  world.compute_and_leave(*first, {192});
  world.compute_and_leave(*large, {});
  salted->cache_salt = "another";
  EXPECT_EQ(world.cache.find(*salted).tokens, 0);
  EXPECT_EQ(world.cache.find(*first).tokens, 192);
}

TEST(PrefixCacheTier, ItGivesUpWhatSavesLeast) {
  World world(20, 1, /*has_states=*/true, {26, 1});
  const auto brief = sequence_of(300, 0, 10'000), lengthy = sequence_of(1200, 0, 20'000),
             last = sequence_of(400, 0, 30'000), flood = sequence_of(1280, 0, 40'000);
  world.compute_and_leave(*lengthy, {1152});  // 18 blocks and a state
  world.compute_and_leave(*brief, {256});     // 4 and a state
  world.compute_and_leave(*last, {384});      // 6 and a state
  world.compute_and_leave(*flood, {});
  EXPECT_EQ(world.cache.find(*lengthy).tokens, 1152);
  EXPECT_EQ(world.cache.find(*brief).tokens, 0) << "it saves least";
  EXPECT_EQ(world.cache.find(*last).tokens, 384);
  World smaller(20, 1, /*has_states=*/true, {24, 1});
  for (const auto& [tokens, first] : {std::pair(1200, 20'000), std::pair(300, 10'000), std::pair(400, 30'000)}) {
    smaller.compute_and_leave(*sequence_of(tokens, 0, first), {(tokens - 1) / 64 * 64});
  }
  smaller.compute_and_leave(*sequence_of(1280, 0, 40'000), {});
  EXPECT_EQ(smaller.cache.find(*lengthy).tokens, 1152);
  EXPECT_EQ(smaller.cache.find(*brief).tokens, 256);
  EXPECT_EQ(smaller.cache.find(*last).tokens, 0) << "the other two would have to go for it";
}

TEST(PrefixCacheTier, WhatIsComputedAgainIsKeptOnTheDeviceAlone) {
  World world(6, 2, /*has_states=*/true, {20, 2});
  const auto first = sequence_of(200), scored = sequence_of(200), same = sequence_of(200), large = sequence_of(384, 0);
  world.compute_and_leave(*first, {192});
  world.compute_and_leave(*large, {});
  EXPECT_EQ(world.cache.tier().pages().used(), 5);
  scored->wants_prompt_logits = true;  // of all its tokens, so it goes on from nothing
  world.compute_and_leave(*scored, {192});
  EXPECT_EQ(world.cache.tier().pages().used(), 0);
  EXPECT_EQ(world.cache.find(*same).device_tokens, 192);
}

TEST(PrefixCacheTier, ModelsWithoutStatesHaveBlocksThere) {
  World world(6, 1, /*has_states=*/false, {20, 0});
  const auto first = sequence_of(300), same = sequence_of(300), large = sequence_of(384, 0);
  world.compute_and_leave(*first, {256});
  world.compute_and_leave(*large, {});
  EXPECT_EQ(world.cache.tier().pages().used(), 4);
  world.compute(*same, {});
  EXPECT_EQ(same->from_tier, 256);
  EXPECT_EQ(world.cache.tier().pages().used(), 0);
  world.leave(*same);
}

TEST(PrefixCacheTier, AStateThatDoesNotFitThereIsGone) {
  World world(6, 2, /*has_states=*/true, {4, /*state_pages=*/5});
  const auto first = sequence_of(200), large = sequence_of(384, 0);
  world.compute_and_leave(*first, {192});
  world.compute_and_leave(*large, {});
  EXPECT_EQ(world.cache.find(*first).tokens, 0);
  EXPECT_EQ(world.cache.tier().pages().used(), 0);
  EXPECT_EQ(world.block_pool.used(), 0);
}

/// Conversations that take turns over a device with room for one of them, and a tier. They do not grow.
class TakingTurns {
 public:
  /// The tier has room for so many of two blocks and a state.
  explicit TakingTurns(int32_t fitting) : world_(8, 2, true, HostTier(fitting * 4, 2)) {}

  /// A turn of each; returns how many found what they had before.
  int turn(int32_t first, int32_t end) {
    int found = 0;
    for (int32_t i = first; i < end; ++i) {
      const auto sequence = sequence_of(129, 0, 1000 * (i + 1));
      found += world_.compute_and_leave(*sequence, {128}).tokens == 128 ? 1 : 0;
    }
    return found;
  }
  World& world() { return world_; }

 private:
  World world_;
};

TEST(PrefixCacheTier, OfConversationsThatDoNotAllFitSomeStay) {
  TakingTurns turns(14);
  EXPECT_EQ(turns.turn(0, 20), 0);
  for (int round = 0; round < 2; ++round) turns.turn(0, 20);
  for (int round = 0; round < 5; ++round) EXPECT_GE(turns.turn(0, 20), 12) << "the newest first would be none";
}

TEST(PrefixCacheTier, ThoseThatFitAllStay) {
  TakingTurns turns(14);
  turns.turn(0, 13);
  for (int round = 0; round < 5; ++round) EXPECT_EQ(turns.turn(0, 13), 13);
}

/// What such a conversation would cost is all of it, not its last turn.
TEST(PrefixCacheTier, AConversationThatGrowsOutlastsWhatComesOnce) {
  World world(40, 2, true, HostTier(60, 2));
  int found = 0;
  for (int32_t turn = 0; turn < 12; ++turn) {
    const int64_t tokens = 1000 + 64 * turn;
    const auto match = world.compute_and_leave(*sequence_of(tokens), {(tokens - 1) / 64 * 64});
    found += turn > 0 && match.tokens == (tokens - 65) / 64 * 64 ? 1 : 0;
    for (int32_t once = 0; once < 4; ++once) {
      world.compute_and_leave(*sequence_of(400, 0, 10'000 * (4 * turn + once + 1)), {384});
    }
  }
  EXPECT_EQ(found, 11);
}

/// A guess takes nothing from what it goes on from: another answer, or another question, does so too.
TEST(PrefixCache, AnIdlePrefillSupersedesNothing) {
  World world(100, 3);
  world.compute_and_leave(*sequence_of(300), {256});
  world.compute_and_leave(*sequence_of(600), {576});
  const auto guess = sequence_of(900);
  guess->ahead = true;
  world.compute_and_leave(*guess, {832});
  // The first one takes the state behind 256 tokens, and the second one none that saves as much.
  for (const int32_t other : {50'000, 60'000}) world.compute_and_leave(*sequence_of(200, 0, other), {192});
  EXPECT_EQ(world.cache.find(*sequence_of(200, 0, 50'000)).tokens, 192);
  EXPECT_EQ(world.cache.find(*sequence_of(800)).tokens, 576);
}

/// Each of the two has its own blocks alone, and not those that lead to the other, too.
TEST(PrefixCacheTier, BlocksThatLeadToTwoPointsStayForTheOther) {
  World world(13, 1, /*has_states=*/false, {2, 0});
  world.compute_and_leave(*sequence_of(400), {384});
  world.compute_and_leave(*sequence_of(400, /*from=*/256), {384});
  world.compute_and_leave(*sequence_of(448, 0, 50'000), {});  // two blocks have to go
  EXPECT_EQ(world.cache.tier().pages().used(), 2);
  EXPECT_EQ(world.cache.find(*sequence_of(400)).device_tokens, 0);
  EXPECT_EQ(world.cache.find(*sequence_of(400)).tokens, 384);
  EXPECT_EQ(world.cache.find(*sequence_of(400, 256)).device_tokens, 384);
}

/// When the point before it has been lost meanwhile, it saves what that one did, too.
TEST(PrefixCacheTier, WhatAPointSavesIsWhatItWouldSaveNow) {
  World world(200, 3, /*has_states=*/true, {1, /*state_pages=*/1});
  const auto other = [&](int32_t i, int64_t point) {
    world.compute_and_leave(*sequence_of(1100, 0, 10'000 * i), {point});
  };
  other(1, 1024);
  world.compute_and_leave(*sequence_of(1100), {512, 1088});
  other(2, 1024);  // the state behind 512 tokens goes to the tier
  ASSERT_EQ(world.compute_and_leave(*sequence_of(1100), {}).tokens, 1088);
  other(3, 1024);  // and that of the first one, for which it is lost
  ASSERT_EQ(world.cache.find(*sequence_of(600)).tokens, 0);
  ASSERT_EQ(world.cache.find(*sequence_of(1100, 0, 10'000)).tokens, 1024);
  for (int32_t i = 4; i < 24; ++i) world.compute_and_leave(*sequence_of(70, 0, 10'000 * i), {});
  other(24, 1024);  // it is 1088 tokens or those 1024
  EXPECT_EQ(world.cache.find(*sequence_of(1100)).tokens, 1088);
  EXPECT_EQ(world.cache.find(*sequence_of(1100, 0, 10'000)).tokens, 0);
}

/// How often others went on from it before says nothing of it any more.
TEST(PrefixCacheTier, APointThatWasLostBeginsAnew) {
  World world(100, 2, /*has_states=*/true, {1, /*state_pages=*/2});  // no state fits in the tier
  world.compute_and_leave(*sequence_of(300), {128, 256});
  for (const int32_t other : {10'000, 20'000}) world.compute_and_leave(*sequence_of(200, 128, other), {});
  world.compute_and_leave(*sequence_of(100, 0, 50'000), {64});
  ASSERT_EQ(world.cache.find(*sequence_of(200)).tokens, 0);
  ASSERT_EQ(world.cache.find(*sequence_of(200)).block_tokens, 192);
  world.compute_and_leave(*sequence_of(200, 128, 30'000), {128});
  const auto next = sequence_of(200, 128, 40'000);
  EXPECT_EQ(world.compute_and_leave(*next, {}).tokens, 128);
  EXPECT_EQ(next->reuse_after, 1);
}

TEST(LostPoints, TheNewestAreKept) {
  LostPoints lost;
  for (uint64_t key = 0; key < LostPoints::kMost; ++key) lost.add(key, {});
  EXPECT_TRUE(lost.find(0));
  for (uint64_t key = 0; key < 3; ++key) {
    lost.add(LostPoints::kMost + key, {});
    EXPECT_FALSE(lost.find(key));
    EXPECT_TRUE(lost.find(key + 1));
  }
}

/// So salts that nobody uses any more take no memory.
TEST(PrefixTree, ARootThatIsRemovedIsGone) {
  PrefixTree tree;
  EXPECT_EQ(tree.remove(tree.root("a salt")), nullptr);
  EXPECT_EQ(tree.find_root("a salt"), nullptr);
}

TEST(LostPoints, WhatIsLostAgainIsNewAgain) {
  LostPoints lost;
  lost.add(7, {.last = 1});
  for (uint64_t other = 0; other + 2 < LostPoints::kMost; ++other) lost.add(1000 + other, {});
  lost.add(7, {.last = 2, .reuse_after = 5});
  lost.add(8, {});  // in the place that the first one had
  ASSERT_TRUE(lost.find(7));
  EXPECT_EQ(lost.find(7)->last, 2);
  EXPECT_EQ(lost.find(7)->reuse_after, 5);
  for (uint64_t other = 0; other < LostPoints::kMost; ++other) lost.add(1'000'000 + other, {});
  EXPECT_FALSE(lost.find(7));
  EXPECT_FALSE(lost.find(8));
}

TEST(PrefixCacheTier, WhatIsNotAskedForAnyMoreMakesRoom) {
  TakingTurns turns(14);
  for (int round = 0; round < 5; ++round) turns.turn(0, 20);
  for (int round = 0; round < 4; ++round) turns.turn(20, 30);
  for (int round = 0; round < 5; ++round) EXPECT_EQ(turns.turn(20, 30), 10);
}

TEST(PrefixCacheTier, WhatCameOnceDoesNotPushOutWhatComesAgain) {
  TakingTurns turns(14);
  for (int round = 0; round < 3; ++round) turns.turn(0, 8);
  turns.turn(100, 104);
  turns.turn(0, 8);
  turns.turn(104, 108);
  turns.turn(0, 8);
  turns.turn(108, 112);
  EXPECT_EQ(turns.turn(0, 8), 8);
}

TEST(PrefixCache, OfAConversationTheNewestPointStays) {
  World world(100, 3);
  world.compute_and_leave(*sequence_of(300), {256});
  world.compute_and_leave(*sequence_of(600), {576});
  world.compute_and_leave(*sequence_of(900), {832});
  EXPECT_EQ(world.cache.kept_slots(), 3);
  for (int32_t other = 1; other <= 2; ++other) world.compute_and_leave(*sequence_of(200, 0, 50'000 * other), {192});
  EXPECT_EQ(world.cache.find(*sequence_of(900)).tokens, 832);
  EXPECT_EQ(world.cache.find(*sequence_of(800)).tokens, 0) << "behind 256 and 576 tokens it had gone on";
}

TEST(PrefixCache, APointThatSeveralWentOnFromIsNoOnesAlone) {
  World world(100, 4);
  world.compute_and_leave(*sequence_of(300), {256});
  world.compute_and_leave(*sequence_of(600), {576});
  world.compute_and_leave(*sequence_of(900), {832});
  world.compute_and_leave(*sequence_of(900, 600), {832});
  EXPECT_EQ(world.cache.kept_slots(), 4);
  for (const int32_t other : {50'000, 60'000}) world.compute_and_leave(*sequence_of(200, 0, other), {192});
  EXPECT_EQ(world.cache.find(*sequence_of(900, 700)).tokens, 576);
}

TEST(PrefixCache, AStateIsWorthWhatItSavesBehindTheOneBefore) {
  World world(100, 2);
  world.compute_and_leave(*sequence_of(200, 0, 50'000), {192});
  world.compute_and_leave(*sequence_of(700), {512, 640});
  EXPECT_EQ(world.cache.find(*sequence_of(200, 0, 50'000)).tokens, 192);
  EXPECT_EQ(world.cache.find(*sequence_of(700)).tokens, 512);
}

TEST(PrefixCache, NothingOfTheSameWorthIsGivenUp) {
  World world(100, 1);
  world.compute_and_leave(*sequence_of(200), {192});
  EXPECT_FALSE(world.cache.make_slot_available(world.cache.worth_of(192)));
  EXPECT_EQ(world.cache.find(*sequence_of(200)).tokens, 192);
  EXPECT_TRUE(world.cache.make_slot_available(world.cache.worth_of(193)));
}

TEST(PrefixCache, BlocksBehindAPointGoWithoutIt) {
  World world(20, 3);
  world.compute_and_leave(*sequence_of(300), {256});
  world.compute_and_leave(*sequence_of(600), {576});
  ASSERT_TRUE(world.cache.make_blocks_available(world.block_pool.available() + 1));
  EXPECT_EQ(world.cache.find(*sequence_of(600)).block_tokens, 256);
  EXPECT_EQ(world.cache.find(*sequence_of(600)).tokens, 256);
}

/// As one that was preempted does.
TEST(PrefixCacheTier, WhoBeginsAgainIsCountedOnce) {
  World world(20, 2, /*has_states=*/true, {20, 1});
  world.compute_and_leave(*sequence_of(300), {256});
  const auto again = sequence_of(300);
  for (int begin = 0; begin < 2; ++begin) {
    world.compute_and_leave(*again, {});
    EXPECT_EQ(again->reuse_after, 1);
  }
}

/// It is a guess, and no use.
TEST(PrefixCacheTier, AnIdlePrefillIsNotCounted) {
  World world(20, 3, /*has_states=*/true, {20, 1});
  world.compute_and_leave(*sequence_of(300), {256});
  const auto guess = sequence_of(400), again = sequence_of(300);
  guess->ahead = true;
  EXPECT_EQ(world.compute_and_leave(*guess, {}).tokens, 256);
  world.compute_and_leave(*again, {});
  EXPECT_EQ(again->reuse_after, 1);
}

TEST(PrefixCache, WhereStatesAreLeft) {
  World world(400, 4);
  const auto prompt = sequence_of(3000);
  EXPECT_THAT(world.cache.points_of(*prompt, {}), ElementsAre(2944));
  prompt->likely_ends = {2990, 1000, 100, 1100};  // too near to the beginning, to one before, to the end
  EXPECT_THAT(world.cache.points_of(*prompt, {}), ElementsAre(960, 2944));
  EXPECT_THAT(world.cache.points_of(*prompt, {.tokens = 960, .block_tokens = 2048}), ElementsAre(2048, 2944));
  EXPECT_THAT(world.cache.points_of(*prompt, {.tokens = 2944, .block_tokens = 2944}), IsEmpty());
  prompt->likely_ends = {2900, 2600};  // what comes next has other tokens behind the 2900th
  EXPECT_THAT(world.cache.points_of(*prompt, {}), ElementsAre(2560, 2880));
  EXPECT_THAT(world.cache.points_of(*prompt, {.tokens = 2816, .block_tokens = 2816}), ElementsAre(2880));
  prompt->likely_ends = {2900, 2800};  // one of two that are this near, so that no step is cut for it
  EXPECT_THAT(world.cache.points_of(*prompt, {}), ElementsAre(2752));
  prompt->likely_ends = {-5, 0, 3000, 1 << 30};
  EXPECT_THAT(world.cache.points_of(*prompt, {}), ElementsAre(2944));
  prompt->likely_ends = {2688};  // far enough from the end
  EXPECT_THAT(world.cache.points_of(*prompt, {}), ElementsAre(2688, 2944));
  const auto whole_blocks = sequence_of(3008);
  whole_blocks->likely_ends = {3008};  // its own end: nobody can go on behind all of it
  EXPECT_THAT(world.cache.points_of(*whole_blocks, {}), ElementsAre(2944));
  EXPECT_THAT(world.cache.points_of(*sequence_of(4096), {}), ElementsAre(4032));
  EXPECT_THAT(world.cache.points_of(*sequence_of(4097), {}), ElementsAre(3840));  // as much as a text
  const auto text = sequence_of(6000);                                            // before a question behind it
  EXPECT_THAT(world.cache.points_of(*text, {}), ElementsAre(5696));
  EXPECT_THAT(world.cache.points_of(*text, {.tokens = 1024, .block_tokens = 1024}), ElementsAre(5696));
  EXPECT_THAT(world.cache.points_of(*text, {.tokens = 2048, .block_tokens = 2048}), ElementsAre(5952));
  text->likely_ends = {500};
  EXPECT_THAT(world.cache.points_of(*text, {}), ElementsAre(448, 5696));
  text->likely_ends = {500, 5980};  // of a chat: behind the first turn, and where the next one goes on
  EXPECT_THAT(world.cache.points_of(*text, {}), ElementsAre(448, 5696));
  EXPECT_THAT(world.cache.points_of(*text, {.tokens = 448, .block_tokens = 448}), ElementsAre(5696));
  EXPECT_THAT(world.cache.points_of(*text, {.tokens = 1024, .block_tokens = 1024}), ElementsAre(5952));  // a later turn
  text->likely_ends = {0};                                                                               // of nothing
  EXPECT_THAT(world.cache.points_of(*text, {.tokens = 1024, .block_tokens = 1024}), ElementsAre(5696));
  text->likely_ends = {5980, 5980};
  EXPECT_THAT(world.cache.points_of(*text, {}), ElementsAre(5696));
  EXPECT_THAT(world.cache.points_of(*sequence_of(64), {}), IsEmpty());
  EXPECT_THAT(world.cache.points_of(*sequence_of(65), {}), ElementsAre(64));
}

}  // namespace
}  // namespace tessera::engine
