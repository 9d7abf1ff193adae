#include "kernels/page_move.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/cache.h"

namespace tessera::kernels {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(size_t count, uint32_t seed) {
  std::minstd_rand random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 8);
  return bytes;
}

TEST(PageMove, PiecesOfAnyObjectCoverItOnceAndInOrder) {
  for (const size_t piece : {1, 5, 8, 13, 24, 100}) {
    Bytes memory = random_bytes(200, 1);
    const LayeredBytes object[] = {{memory.data() + 3, 20, 8, 4}, {memory.data() + 100, 7, 5, 3}};
    Bytes expected;
    for (const LayeredBytes& part : object) {
      for (size_t row = 0; row < part.rows; ++row) {
        expected.insert(expected.end(), part.first + row * part.pitch, part.first + row * part.pitch + part.width);
      }
    }
    Bytes seen;
    for (size_t begin = 0; begin < expected.size(); begin += piece) {
      for_each_run(object, begin, begin + piece, [&](const LayeredBytes& run, size_t offset) {
        EXPECT_EQ(begin + offset, seen.size());
        for (size_t row = 0; row < run.rows; ++row) {
          seen.insert(seen.end(), run.first + row * run.pitch, run.first + row * run.pitch + run.width);
        }
      });
      EXPECT_EQ(seen.size(), std::min(begin + piece, expected.size()));
    }
    EXPECT_EQ(seen, expected) << "pieces of " << piece;
  }
}

/// A state of this cache takes four pages, and ends within the last.
struct CpuCacheMove : testing::Test {
  CacheShape shape{.attention = {.heads = 2, .kv_heads = 1, .head_dim = 32, .rotary_dim = 8},
                   .attention_layers = 2,
                   .k_scales = {},
                   .v_scales = {},
                   .delta_net = {.key_heads = 2, .value_heads = 4, .key_dim = 32, .value_dim = 32},
                   .linear_layers = 3,
                   .record_rows = 2,
                   .blocks = 5,
                   .state_slots = 4};
  CacheBytes bytes = cpu::cache_bytes(shape);
  cpu::Cache cache{shape};
  cpu::PlainPages pages{ZeroedPages(9 * bytes.kv_block), bytes.kv_block, 9};
  size_t kv_width = bytes.kv_block / 4, state_width = bytes.state / 3;

  std::byte* kv(size_t part, size_t block) { return cache.kv_layer(0).keys + (part * 5 + block) * kv_width; }
  std::byte* state(int layer, size_t slot) {
    return reinterpret_cast<std::byte*>(cache.states(layer)) + slot * state_width;
  }
  void fill() {
    const Bytes kv_bytes = random_bytes(5 * bytes.kv_block, 2), states = random_bytes(4 * bytes.state, 3);
    std::memcpy(kv(0, 0), kv_bytes.data(), kv_bytes.size());
    std::memcpy(state(0, 0), states.data(), states.size());
  }
};

/// What memory is laid out by: the bytes of a slot are those of its state and of its records, as far apart as they lie.
TEST_F(CpuCacheMove, ASlotTakesItsStateAndItsRecords) {
  const auto apart = [](const float* layer, const float* next) { return static_cast<size_t>(next - layer) * 4; };
  const size_t states = apart(cache.states(0), cache.states(1)), records = apart(cache.records(0), cache.records(1));
  EXPECT_EQ(bytes.state * 4, 3 * states);
  EXPECT_EQ(bytes.state_slot * 4, 3 * (states + records));
}

/// Records stay where they are: pages are for the state alone.
TEST(PageMove, AStateTakesAsManyPagesAsHoldIt) {
  const auto pages = [](size_t state) {
    return pages_of_state({.kv_block = 100, .state_slot = state + 1000, .state = state});
  };
  EXPECT_EQ(pages(300), 3);
  EXPECT_EQ(pages(301), 4);
  EXPECT_EQ(pages(0), 0);
}

TEST_F(CpuCacheMove, ABlockComesBackAsItWasToWhereItIsWanted) {
  fill();
  Bytes before[4];
  for (size_t part = 0; part < 4; ++part) before[part] = Bytes(kv(part, 3), kv(part, 3) + kv_width);
  const Bytes neighbour(kv(2, 2), kv(2, 2) + kv_width);
  cache.move({.to_host = true, .index = 3, .page = 8}, pages);
  for (size_t part = 0; part < 4; ++part) std::memset(kv(part, 3), 0, kv_width);
  cache.move({.index = 1, .page = 8}, pages);
  for (size_t part = 0; part < 4; ++part) EXPECT_EQ(Bytes(kv(part, 1), kv(part, 1) + kv_width), before[part]);
  EXPECT_EQ(Bytes(kv(2, 2), kv(2, 2) + kv_width), neighbour);
}

TEST_F(CpuCacheMove, AStateComesBackFromItsPages) {
  fill();
  const int32_t count = pages_of_state(bytes);
  ASSERT_EQ(count, 4);
  Bytes before[3];
  for (int layer = 0; layer < 3; ++layer) before[layer] = Bytes(state(layer, 2), state(layer, 2) + state_width);
  const Bytes neighbour(state(1, 3), state(1, 3) + state_width);
  const auto move = [&](bool to_host, int32_t slot) {
    for (int32_t piece = 0; piece < count; ++piece) {
      cache.move({PageMove::What::state, to_host, slot, piece, 7 - 2 * piece}, pages);
    }
  };
  move(true, 2);
  for (int layer = 0; layer < 3; ++layer) std::memset(state(layer, 2), 0, state_width);
  move(false, 0);
  for (int layer = 0; layer < 3; ++layer)
    EXPECT_EQ(Bytes(state(layer, 0), state(layer, 0) + state_width), before[layer]);
  EXPECT_EQ(Bytes(state(1, 3), state(1, 3) + state_width), neighbour);
}

}  // namespace
}  // namespace tessera::kernels
