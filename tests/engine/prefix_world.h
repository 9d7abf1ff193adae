#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "engine/prefix_cache.h"

namespace tessera::engine {

/// A prompt of tokens first, first + 1...; `from` on they are others.
inline std::unique_ptr<Sequence> sequence_of(int64_t tokens, int64_t from = 1 << 20, int32_t other = 5000) {
  std::vector<int32_t> prompt(static_cast<size_t>(tokens));
  for (int64_t i = 0; i < tokens; ++i) {
    prompt[static_cast<size_t>(i)] = static_cast<int32_t>(i) + (i < from ? 0 : other);
  }
  auto sequence = std::make_unique<Sequence>();
  sequence->prompt = std::make_shared<const std::vector<int32_t>>(std::move(prompt));
  return sequence;
}

/// The first `tokens` tokens of such a prompt; those that it had are still in memory behind them.
inline std::unique_ptr<Sequence> cut_sequence(int64_t tokens, int64_t of) {
  auto sequence = sequence_of(of);
  std::vector<int32_t> prompt = *sequence->prompt;
  prompt.resize(static_cast<size_t>(tokens));
  sequence->prompt = std::make_shared<const std::vector<int32_t>>(std::move(prompt));
  return sequence;
}

/// Pools, a cache, and sequences that compute as a scheduler would have them do.
struct World {
  World(int32_t blocks, int32_t slots, bool has_states = true, HostTier tier = {0, 0})
      : block_pool(blocks),
        slot_pool(slots),
        cache(block_pool, slot_pool, /*enabled=*/true, has_states, std::move(tier)) {}

  /// Begins `sequence`, computes its prompt, and leaves states at `points`.
  PrefixCache::Match compute(Sequence& sequence, const std::vector<int64_t>& points) {
    const auto match = cache.find(sequence);
    cache.begin(sequence, match);
    const auto missing = kernels_blocks(sequence) - static_cast<int64_t>(sequence.blocks.size());
    EXPECT_TRUE(cache.make_blocks_available(missing));
    for (int64_t i = 0; i < missing; ++i) sequence.blocks.push_back(*block_pool.take());
    sequence.slot = kOwnSlot;
    cache.bring_in(sequence);
    cache.forget_restore(sequence);
    sequence.submitted = sequence.prompt_size();
    cache.extend(sequence);
    for (const int64_t point : points) {
      const auto slot = cache.slot_for_state(sequence, point);
      if (slot) cache.keep_state(sequence, point, *slot);
    }
    return match;
  }
  void leave(Sequence& sequence) {
    for (const int32_t block : sequence.blocks) block_pool.give_back(block);
    sequence.blocks.clear();
    cache.end(sequence);
  }
  PrefixCache::Match compute_and_leave(Sequence& sequence, const std::vector<int64_t>& points) {
    const auto match = compute(sequence, points);
    leave(sequence);
    return match;
  }
  static constexpr int32_t kOwnSlot = 1000;  // of no pool
  static int64_t kernels_blocks(const Sequence& sequence) { return (sequence.prompt_size() + 63) / 64; }

  IdPool block_pool, slot_pool;
  PrefixCache cache;
};

}  // namespace tessera::engine
