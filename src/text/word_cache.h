#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "text/hash.h"

namespace tessera::text {

/// The ids of recent short words: language repeats itself, and a hit costs a tenth of the merging. One place per
/// hash, the newer word wins. 16384 entries hold nine in ten words of running English text.
class WordCache {
 public:
  struct alignas(64) Entry {
    static constexpr size_t kWordBytesMax = 30;
    static constexpr size_t kIdsMax = 8;

    [[nodiscard]] bool holds(std::string_view word) const {
      return length == word.size() && std::memcmp(bytes.data(), word.data(), length) == 0;
    }
    /// Does nothing if there are too many ids.
    void store(std::string_view word, std::span<const int32_t> word_ids) {
      if (word_ids.size() > kIdsMax) return;
      length = static_cast<uint8_t>(word.size());
      count = static_cast<uint8_t>(word_ids.size());
      std::memcpy(bytes.data(), word.data(), word.size());
      std::ranges::copy(word_ids, ids.begin());
    }

    uint8_t length = 0;
    uint8_t count = 0;
    std::array<char, kWordBytesMax> bytes;
    std::array<int32_t, kIdsMax> ids;
  };
  static_assert(sizeof(Entry) == 64, "one cache line");

  WordCache() : entries_(kEntries) {}

  /// The only entry that may hold `word`, perhaps holding another; null for words that are too long (or empty).
  Entry* find(std::string_view word) {
    if (word.empty() || word.size() > Entry::kWordBytesMax) return nullptr;
    return &entries_[hash_bytes(word) & (kEntries - 1)];
  }

 private:
  static constexpr size_t kEntries = 16384;
  std::vector<Entry> entries_;
};

}  // namespace tessera::text
