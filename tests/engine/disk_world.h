#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/temp_directory.h"
#include "engine/disk_tier.h"
#include "engine/prefix_cache.h"
#include "sequences.h"

namespace tessera::engine {

inline constexpr size_t kPageBytes = 256;
inline constexpr int32_t kStatePages = 2;
inline constexpr int32_t kBlocks = 20, kSlots = 4;

/// A device whose blocks and states are a number each, repeated in all their bytes; pools, and a cache on a directory.
struct DiskWorld {
  /// No pages to a state: those of a model without states.
  DiskWorld(const std::filesystem::path& path, int32_t pages, uint64_t bytes_max = uint64_t{1} << 30,
            int32_t state_pages = kStatePages)
      : memory(static_cast<size_t>(pages) * kPageBytes),
        host_pages(memory.data(), kPageBytes, pages),
        disk(*KvDirectory::open(path, {.identity = {1, 2}, .page_bytes = kPageBytes, .state_pages = state_pages},
                                bytes_max),
             host_pages),
        block_pool(kBlocks),
        slot_pool(kSlots),
        cache(block_pool, slot_pool, /*enabled=*/true, state_pages > 0, HostTier(pages, state_pages)) {
    cache.use_disk(&disk);
  }

  /// Computes the prompt and leaves a state behind `point`; block i of it is 10 + i, the state 100.
  void compute_and_leave(Sequence& sequence, int64_t point) {
    cache.begin(sequence, cache.find(sequence));
    const auto blocks = static_cast<size_t>(sequence.prompt_size() / 64);
    while (sequence.blocks.size() < blocks) {
      const int32_t block = *block_pool.take();
      device_blocks[static_cast<size_t>(block)] = static_cast<std::byte>(10 + sequence.blocks.size());
      sequence.blocks.push_back(block);
    }
    sequence.submitted = sequence.prompt_size();
    cache.extend(sequence);
    const auto slot = cache.slot_for_state(sequence, point);
    ASSERT_TRUE(slot);
    if (*slot >= 0) device_states[static_cast<size_t>(*slot)] = std::byte{100};
    cache.keep_state(sequence, point, *slot);
    for (const int32_t block : sequence.blocks) block_pool.give_back(block);
    sequence.blocks.clear();
    cache.end(sequence);
  }
  /// A step that makes the moves that are planned.
  void step() {
    cache.step_submitted();
    for (const kernels::PageMove& move : cache.take_moves()) {
      ASSERT_TRUE(move.to_host);
      const bool is_block = move.what == kernels::PageMove::What::block;
      const auto index = static_cast<size_t>(move.index);
      std::memset(host_pages.page(move.page),
                  std::to_integer<int>(is_block ? device_blocks[index] : device_states[index]), kPageBytes);
    }
    cache.step_collected();
  }
  void follow(bool is_idle = true, PrefixCache::Time now = {}) { cache.follow_disk(is_idle, now); }
  /// Whether something is written, and then to its end, well or not.
  bool write_one(PrefixCache::Time now = {}) {
    follow(/*is_idle=*/true, now);
    if (!cache.writes_disk()) return false;
    if (cache.disk_wants_moves()) step();
    follow(/*is_idle=*/true, now);
    disk.wait_for_all();
    follow(/*is_idle=*/false, now);
    return true;
  }
  /// Whether `asker` has to wait, and then until it need not.
  bool read_for(Sequence& asker) {
    if (!cache.waits_for_disk(asker, cache.find(asker))) return false;
    follow(/*is_idle=*/false);
    disk.wait_for_all();
    follow(/*is_idle=*/false);
    return true;
  }
  void write_all() {
    for (follow(); cache.writes_disk(); follow()) {
      if (cache.disk_wants_moves()) step();
      disk.wait_for_all();
    }
  }
  [[nodiscard]] bool has_on_disk(int64_t tokens, int32_t first = 1) const {
    return disk.directory().find(kv_key({.salt = "", .tokens = *make_sequence(tokens, first)->prompt})).has_value();
  }
  [[nodiscard]] int32_t pages_used() const { return cache.tier().pages().used(); }

  std::vector<std::byte> memory;
  kernels::HostPages host_pages;
  DiskTier disk;
  std::vector<std::byte> device_blocks = std::vector<std::byte>(kBlocks);
  std::vector<std::byte> device_states = std::vector<std::byte>(kSlots);
  IdPool block_pool, slot_pool;
  PrefixCache cache;
};

class PrefixDisk : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path() const { return directory_ / "kv"; }
  /// Writes the first four blocks of the prompts that make_sequence makes, and the state behind them.
  void write_four_blocks() const {
    DiskWorld world(path(), 12);
    world.compute_and_leave(*make_sequence(300), 256);
    world.write_all();
    ASSERT_EQ(world.disk.directory().entries(), 1U);
  }

  /// Of the first `tokens` tokens of such prompts.
  [[nodiscard]] std::filesystem::path file_of(int64_t tokens) const {
    return path() / fmt::format("{:016x}.kv", kv_key({.salt = "", .tokens = *make_sequence(tokens)->prompt}));
  }

  test::TempDirectory directory_;
};

}  // namespace tessera::engine
