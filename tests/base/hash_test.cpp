#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

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

/// Zeros at the end count, and so does the place of every byte.
TEST(Hash, ChecksumsTellLengthsAndPlaces) {
  std::set<uint64_t> sums;
  std::vector<std::byte> bytes;
  for (size_t size = 0; size <= 100; ++size) {
    bytes.assign(size, std::byte{0});
    sums.insert(checksum(bytes));
    if (size == 0) continue;
    bytes.back() = std::byte{1};
    sums.insert(checksum(bytes));
  }
  EXPECT_EQ(sums.size(), 201U);
  bytes.assign(100, std::byte{0});
  for (std::byte& byte : bytes) {
    byte = std::byte{2};
    sums.insert(checksum(bytes));
    byte = std::byte{0};
  }
  EXPECT_EQ(sums.size(), 301U);
  EXPECT_NE(checksum(bytes, 1), checksum(bytes, 2));
}

}  // namespace
}  // namespace tessera
