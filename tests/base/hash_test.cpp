#include "base/hash.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

/// Published values: files and names are made of these.
TEST(Hash, KnownValues) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8);
  EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar"));
  uint64_t state = 0;
  EXPECT_EQ(splitmix64(state), 0xe220a8397b1dcdaf);
  EXPECT_EQ(splitmix64(state), 0x6e789e6aa1b965f4);
}

}  // namespace
}  // namespace tessera
