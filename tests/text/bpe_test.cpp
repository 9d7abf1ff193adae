#include "text/bpe.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

namespace tessera::text {
namespace {

std::array<int32_t, 256> bytes_as_ids() {
  std::array<int32_t, 256> ids;
  for (int i = 0; i < 256; ++i) ids[i] = i;
  return ids;
}

/// The definition, spelled out: apply the merge of lowest rank, leftmost first, until none applies.
std::vector<int32_t> naive(const std::vector<Merge>& merges, const std::string& word) {
  std::vector<int32_t> ids;
  for (const char byte : word) ids.push_back(static_cast<unsigned char>(byte));
  for (;;) {
    size_t best = merges.size(), at = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      size_t rank = merges.size();
      for (size_t m = 0; m < merges.size(); ++m) {
        if (merges[m].left == ids[i] && merges[m].right == ids[i + 1]) rank = m;  // the later of equals
      }
      if (rank < best) best = rank, at = i;
    }
    if (best == merges.size()) return ids;
    ids[at] = merges[best].merged;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

std::vector<int32_t> encode(const Bpe& bpe, const std::string& word) {
  Bpe::Scratch scratch;
  std::vector<int32_t> ids;
  bpe.encode(word, scratch, ids);
  return ids;
}

TEST(Bpe, LowestRankFirstThenLeftmost) {
  const std::vector<Merge> merges{{'b', 'c', 300}, {'a', 'b', 301}, {'a', 'a', 302}, {301, 'd', 303}};
  const Bpe bpe(bytes_as_ids(), merges);
  EXPECT_EQ(encode(bpe, "abc"), (std::vector<int32_t>{'a', 300}));
  EXPECT_EQ(encode(bpe, "abd"), (std::vector<int32_t>{303}));
  EXPECT_EQ(encode(bpe, "aaa"), (std::vector<int32_t>{302, 'a'}));
  EXPECT_EQ(encode(bpe, ""), std::vector<int32_t>());
  EXPECT_EQ(encode(Bpe(bytes_as_ids(), {}), "ab"), (std::vector<int32_t>{'a', 'b'}));
}

TEST(Bpe, BytesWithoutATokenVanish) {
  auto ids = bytes_as_ids();
  ids['x'] = -1;
  const std::vector<Merge> merges{{'a', 'b', 300}};
  const Bpe bpe(ids, merges);
  EXPECT_EQ(encode(bpe, "axb"), std::vector<int32_t>{300});
  EXPECT_EQ(encode(bpe, "xxx"), std::vector<int32_t>());
  EXPECT_EQ(encode(bpe, std::string(1000, 'x')), std::vector<int32_t>());
}

// Merges of any order, also such that make an earlier merge possible again; words on both sides of the limit
// between the two algorithms.
RC_GTEST_PROP(Bpe, FollowsTheDefinition, ()) {
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  const auto length = *rc::gen::inRange<size_t>(0, 200);
  std::mt19937 random(seed);
  std::vector<Merge> merges;
  std::vector<int32_t> known{'a', 'b', 'c'};
  for (int i = 0; i < 20; ++i) {
    merges.push_back({known[random() % known.size()], known[random() % known.size()],
                      random() % 5 == 0 ? known[random() % known.size()] : 300 + i});
    known.push_back(merges.back().merged);
  }
  std::shuffle(merges.begin(), merges.end(), random);
  std::string word;
  for (size_t i = 0; i < length; ++i) word += static_cast<char>('a' + random() % 3);
  RC_ASSERT(encode(Bpe(bytes_as_ids(), merges), word) == naive(merges, word));
}

/// Zero is a token like any other, and what a word leaves in the scratch is nothing to the next one.
TEST(Bpe, WordsComeOneAfterTheOther) {
  auto byte_ids = bytes_as_ids();
  byte_ids['a'] = 0;
  byte_ids[0] = 'a';
  const std::vector<Merge> merges{{0, 'b', 300}, {'b', 'c', 301}, {300, 300, 302}};
  const Bpe bpe(byte_ids, merges);
  Bpe::Scratch scratch;
  for (const size_t repeats : {3U, 61U, 201U, 100U, 51U}) {
    std::string word;
    std::vector<int32_t> expected, ids = {7};
    for (size_t i = 0; i < repeats; ++i) word += i % 2 == 0 ? "a" : "bc";
    for (size_t i = 0; i < repeats; ++i) expected.push_back(i % 2 == 0 ? 300 : 'c');
    if (repeats % 2 == 1) expected.back() = 0;
    expected.insert(expected.begin(), 7);
    bpe.encode(word, scratch, ids);
    EXPECT_EQ(ids, expected) << repeats;
    EXPECT_EQ(encode(bpe, word), std::vector<int32_t>(expected.begin() + 1, expected.end()));
  }
}

TEST(Bpe, AWordOfFourMebibytesIsNotQuadratic) {
  std::vector<Merge> merges;
  for (int i = 0, token = 'a'; i < 20; ++i) merges.push_back({token, token, 300 + i}), token = 300 + i;
  const Bpe bpe(bytes_as_ids(), merges);
  const auto ids = encode(bpe, std::string(size_t{4} << 20, 'a'));
  EXPECT_EQ(ids, (std::vector<int32_t>{319, 319, 319, 319}));
}

}  // namespace
}  // namespace tessera::text
