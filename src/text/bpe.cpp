#include "text/bpe.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace tessera::text {

namespace {

// Up to here, finding the lowest rank by looking at all of them beats a heap.
constexpr size_t kShortWordBytesMax = 64;

constexpr uint64_t kNoPair = UINT64_MAX;  // ids are below 2^31, so that no pair looks like this
constexpr uint32_t kNone = UINT32_MAX;

uint64_t pack(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

// Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio. The halves are mixed first because ids are
// small numbers.
size_t hash_pair(uint64_t pair, int shift) {
  return static_cast<size_t>(((pair ^ pair >> 29) * 0x9E3779B97F4A7C15ULL) >> shift);
}

}  // namespace

Bpe::Bpe(const std::array<int32_t, 256>& byte_ids, std::span<const Merge> merges) : byte_ids_(byte_ids) {
  const size_t size = std::bit_ceil(2 * merges.size() + 2);
  shift_ = 64 - std::countr_zero(size);
  slots_.assign(size, {kNoPair, kNoMerge});
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const uint64_t pair = pack(merges[rank].left, merges[rank].right);
    size_t slot = hash_pair(pair, shift_);
    while (slots_[slot].pair != kNoPair && slots_[slot].pair != pair) slot = (slot + 1) & (size - 1);
    slots_[slot] = {pair, static_cast<uint64_t>(rank) << 32 | static_cast<uint32_t>(merges[rank].merged)};
  }
}

uint64_t Bpe::find(int32_t left, int32_t right) const {
  const uint64_t pair = pack(left, right);
  for (size_t slot = hash_pair(pair, shift_);; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].pair == pair) return slots_[slot].value;
    if (slots_[slot].pair == kNoPair) return kNoMerge;
  }
}

void Bpe::encode(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const {
  if (word.size() <= kShortWordBytesMax) {
    encode_short(word, ids);
  } else {
    encode_long(word, scratch, ids);
  }
}

void Bpe::encode_short(std::string_view word, std::vector<int32_t>& ids) const {
  std::array<int32_t, kShortWordBytesMax> tokens;
  std::array<uint64_t, kShortWordBytesMax> values;  // values[i]: of the pair (i, i + 1)
  size_t count = 0;
  for (const char byte : word) {
    const int32_t id = byte_ids_[static_cast<unsigned char>(byte)];
    if (id >= 0) tokens[count++] = id;
  }
  for (size_t i = 0; i + 1 < count; ++i) values[i] = find(tokens[i], tokens[i + 1]);
  while (count > 1) {
    const size_t pairs = count - 1;
    const size_t at = static_cast<size_t>(std::min_element(values.begin(), values.begin() + pairs) - values.begin());
    if (values[at] == kNoMerge) break;
    tokens[at] = static_cast<int32_t>(static_cast<uint32_t>(values[at]));
    std::copy(tokens.begin() + at + 2, tokens.begin() + count, tokens.begin() + at + 1);
    std::copy(values.begin() + at + 1, values.begin() + pairs, values.begin() + at);
    --count;
    if (at > 0) values[at - 1] = find(tokens[at - 1], tokens[at]);
    if (at + 1 < count) values[at] = find(tokens[at], tokens[at + 1]);
  }
  ids.insert(ids.end(), tokens.begin(), tokens.begin() + count);
}

// Pairs wait, lowest rank first and leftmost first within a rank, in a sorted list and in a heap of those that came
// since the list was sorted. Merging left to right makes new pairs mostly in their later order, which costs the heap
// little, and when the list is used up the heap becomes the list: on words of megabytes, where each step of a heap
// misses the cache, this takes a third of the time of a heap alone.
void Bpe::encode_long(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const {
  auto& tokens = scratch.ids;
  auto& values = scratch.values;
  auto& next = scratch.next;
  auto& previous = scratch.previous;
  auto& list = scratch.list;
  auto& heap = scratch.heap;
  tokens.clear();
  for (const char byte : word) {
    const int32_t id = byte_ids_[static_cast<unsigned char>(byte)];
    if (id >= 0) tokens.push_back(id);
  }
  const auto count = static_cast<uint32_t>(tokens.size());
  values.assign(count, kNoMerge);
  next.resize(count);
  previous.resize(count);
  list.clear();
  heap.clear();
  size_t list_at = 0;
  const auto key_of = [&](uint32_t at) { return (values[at] >> 32) << 32 | at; };
  const auto refresh = [&](uint32_t at) {
    values[at] = next[at] == kNone ? kNoMerge : find(tokens[at], tokens[next[at]]);
    if (values[at] == kNoMerge) return;
    heap.push_back(key_of(at));
    std::ranges::push_heap(heap, std::greater{});
  };
  const auto pop = [&] {
    if (list_at == list.size()) {
      std::swap(list, heap);
      heap.clear();
      list_at = 0;
      std::ranges::sort(list);
    }
    if (heap.empty() || list[list_at] < heap.front()) return list[list_at++];
    std::ranges::pop_heap(heap, std::greater{});
    const uint64_t key = heap.back();
    heap.pop_back();
    return key;
  };

  for (uint32_t i = 0; i < count; ++i) {
    next[i] = i + 1 < count ? i + 1 : kNone;
    previous[i] = i - 1;  // of the first: kNone
    if (i + 1 < count) values[i] = find(tokens[i], tokens[i + 1]);
    if (values[i] != kNoMerge) heap.push_back(key_of(i));  // in no order yet: the first pop sorts
  }
  while (list_at < list.size() || !heap.empty()) {
    const uint64_t key = pop();
    const auto at = static_cast<uint32_t>(key);
    if (key_of(at) != key) continue;  // the pair that waited is gone
    const uint32_t gone = next[at];
    tokens[at] = static_cast<int32_t>(static_cast<uint32_t>(values[at]));
    tokens[gone] = -1;
    values[gone] = kNoMerge;
    next[at] = next[gone];
    if (next[at] != kNone) previous[next[at]] = at;
    refresh(at);
    if (previous[at] != kNone) refresh(previous[at]);
  }
  std::ranges::copy_if(tokens, std::back_inserter(ids), [](int32_t id) { return id >= 0; });
}

}  // namespace tessera::text
