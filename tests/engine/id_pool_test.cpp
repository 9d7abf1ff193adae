#include "engine/id_pool.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

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

TEST(IdPoolDeathTest, GivingBackTwiceStops) {
  IdPool pool(2);
  const int32_t id = *pool.take();
  pool.give_back(id);
  EXPECT_DEATH(pool.give_back(id), "vs");
  EXPECT_DEATH(pool.give_back(2), "size");
}

RC_GTEST_PROP(IdPoolProperty, NeverGivesAnIdTwiceAndLosesNone, ()) {
  const auto size = *rc::gen::inRange<int32_t>(0, 40);
  IdPool pool(size);
  std::set<int32_t> held;
  for (const int take : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3))) {
    if (take > 0) {
      const auto id = pool.take();
      RC_ASSERT(id.has_value() == (static_cast<int32_t>(held.size()) < size));
      if (id) {
        RC_ASSERT(*id >= 0 && *id < size);
        RC_ASSERT(held.insert(*id).second);
      }
    } else if (!held.empty()) {
      const auto victim = std::next(held.begin(), *rc::gen::inRange<int>(0, static_cast<int>(held.size())));
      pool.give_back(*victim);
      held.erase(victim);
    }
    RC_ASSERT(pool.used() == static_cast<int32_t>(held.size()));
  }
}

}  // namespace
}  // namespace tessera::engine
