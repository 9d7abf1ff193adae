#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tessera::text {

struct Merge {
  int32_t left, right;  // the two tokens
  int32_t merged;       // what they become
};

/// Byte-pair merging of one word: of all neighbours that may merge, the pair of lowest rank does, the leftmost of
/// equals, until none is left. Const and thread-safe; each thread brings its own Scratch.
class Bpe {
 public:
  struct Scratch;

  /// byte_ids[b]: the token of byte b, or -1: such bytes vanish, as they do in the reference. A merge's rank is its
  /// index; of two merges of one pair the later counts. Ids must not be negative.
  Bpe(const std::array<int32_t, 256>& byte_ids, std::span<const Merge> merges);

  /// Appends the tokens of `word` to `ids`. n log n in the length of the word.
  void encode(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const;

 private:
  // A pair's rank and result packed, so that smaller means earlier: rank << 32 | merged.
  static constexpr uint64_t kNoMerge = UINT64_MAX;
  struct Slot {
    uint64_t pair;  // left << 32 | right
    uint64_t value;
  };
  [[nodiscard]] uint64_t find(int32_t left, int32_t right) const;
  void encode_short(std::string_view word, std::vector<int32_t>& ids) const;
  void encode_long(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const;

  std::array<int32_t, 256> byte_ids_;
  std::vector<Slot> slots_;  // open addressing, at most half full
  int shift_;
};

struct Bpe::Scratch {
  std::vector<int32_t> ids;      // by position; -1: merged into an earlier one
  std::vector<uint64_t> values;  // of the pair that starts at the position
  std::vector<uint32_t> next, previous;
  std::vector<uint64_t> list, heap;  // rank << 32 | position
};

}  // namespace tessera::text
