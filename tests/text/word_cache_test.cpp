#include "text/word_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::text {
namespace {

using testing::ElementsAre;

std::span<const int32_t> ids_of(const WordCache::Entry& entry) { return std::span(entry.ids).first(entry.count); }

TEST(WordCache, AnEntryHoldsTheNewestWord) {
  WordCache cache;
  WordCache::Entry& entry = *cache.find("lighthouse");
  EXPECT_FALSE(entry.holds("lighthouse"));
  entry.store("lighthouse", std::vector<int32_t>{3, 4});
  EXPECT_EQ(cache.find("lighthouse"), &entry);
  EXPECT_TRUE(entry.holds("lighthouse"));
  EXPECT_FALSE(entry.holds("light"));
  EXPECT_THAT(ids_of(entry), ElementsAre(3, 4));
  entry.store("keeper", std::vector<int32_t>{5});  // of the same hash
  EXPECT_FALSE(entry.holds("lighthouse"));
  EXPECT_TRUE(entry.holds("keeper"));
  EXPECT_THAT(ids_of(entry), ElementsAre(5));
}

TEST(WordCache, AWordOfTooManyIdsLeavesTheOneThatIsThere) {
  WordCache cache;
  WordCache::Entry& entry = *cache.find("lighthouse");
  entry.store("lighthouse", std::vector<int32_t>{3, 4});
  entry.store("light", std::vector<int32_t>(WordCache::Entry::kIdsMax + 1, 7));
  EXPECT_TRUE(entry.holds("lighthouse"));
  EXPECT_FALSE(entry.holds("light"));
  EXPECT_THAT(ids_of(entry), ElementsAre(3, 4));
  entry.store("light", std::vector<int32_t>(WordCache::Entry::kIdsMax, 7));
  EXPECT_TRUE(entry.holds("light"));
}

TEST(WordCache, HasNoEntryForLongWords) {
  WordCache cache;
  EXPECT_EQ(cache.find(""), nullptr);
  EXPECT_NE(cache.find(std::string(WordCache::Entry::kWordBytesMax, 'a')), nullptr);
  EXPECT_EQ(cache.find(std::string(WordCache::Entry::kWordBytesMax + 1, 'a')), nullptr);
}

}  // namespace
}  // namespace tessera::text
