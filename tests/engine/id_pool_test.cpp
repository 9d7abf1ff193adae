#include "engine/id_pool.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace tessera::engine {
namespace {

TEST(IdPool, StartsWithEverythingFree) {
  IdPool pool(3);
  EXPECT_EQ(pool.size(), 3);
  EXPECT_EQ(pool.available(), 3);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.used(), 1);
}

TEST(IdPool, EmptyPoolGivesNothing) { EXPECT_EQ(IdPool(0).take(), std::nullopt); }

TEST(IdPool, WhatIsSharedIsFreeWhenNobodyHoldsIt) {
  IdPool pool(1);
  const int32_t id = *pool.take();
  pool.share(id);
  pool.give_back(id);
  EXPECT_EQ(pool.take(), std::nullopt);
  pool.give_back(id);
  EXPECT_EQ(pool.used(), 0);
  EXPECT_EQ(pool.take(), id);
}

TEST(IdPoolDeathTest, GivingBackOrSharingWhatNobodyHoldsStops) {
  IdPool pool(2);
  const int32_t id = *pool.take();
  pool.give_back(id);
  EXPECT_DEATH(pool.give_back(id), "vs");
  EXPECT_DEATH(pool.share(id), "vs");
  EXPECT_DEATH(pool.share(1), "vs") << "it was never taken";
  EXPECT_DEATH(pool.give_back(2), "size");
}

RC_GTEST_PROP(IdPoolProperty, NeverGivesAnIdTwiceAndLosesNone, ()) {
  const auto size = *rc::gen::inRange<int32_t>(0, 40);
  IdPool pool(size);
  std::map<int32_t, int> held;  // holders of each
  for (const int action : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5))) {
    if (action > 2) {
      const auto id = pool.take();
      RC_ASSERT(id.has_value() == (static_cast<int32_t>(held.size()) < size));
      if (id) {
        RC_ASSERT(*id >= 0 && *id < size);
        RC_ASSERT(held.emplace(*id, 1).second);
      }
    } else if (!held.empty()) {
      const auto one = std::next(held.begin(), *rc::gen::inRange<int>(0, static_cast<int>(held.size())));
      if (action == 0) {
        pool.share(one->first);
        ++one->second;
      } else {
        pool.give_back(one->first);
        if (--one->second == 0) held.erase(one);
      }
    }
    RC_ASSERT(pool.used() == static_cast<int32_t>(held.size()));
  }
}

}  // namespace
}  // namespace tessera::engine
