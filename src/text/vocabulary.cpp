#include "text/vocabulary.h"

#include <utility>

#include "base/check.h"
#include "text/hash.h"

namespace tessera::text {

void Vocabulary::add(int32_t id, std::string_view bytes, bool findable) {
  TESSERA_CHECK(id >= 0 && !bytes.empty() && !contains(id));
  if (id >= size()) spans_.resize(static_cast<size_t>(id) + 1);
  spans_[id] = {arena_.size(), static_cast<uint32_t>(bytes.size())};
  arena_.append(bytes);
  if (!findable) return;
  if (2 * ++indexed_ <= index_.size()) return insert(id);
  const std::vector<Slot> old = std::exchange(index_, std::vector<Slot>(index_.empty() ? 1024 : 2 * index_.size()));
  for (const Slot& slot : old) {
    if (slot.id >= 0) insert(slot.id);
  }
  insert(id);
}

void Vocabulary::insert(int32_t id) {
  const uint64_t hash = hash_bytes(bytes(id));
  const size_t mask = index_.size() - 1;
  size_t at = hash & mask;
  while (index_[at].id >= 0) at = (at + 1) & mask;
  index_[at] = {static_cast<uint32_t>(hash >> 32), id};
}

std::string_view Vocabulary::bytes(int32_t id) const {
  if (!contains(id)) return {};
  return std::string_view(arena_).substr(spans_[id].offset, spans_[id].length);
}

int32_t Vocabulary::find(std::string_view bytes) const {
  if (index_.empty()) return -1;
  const uint64_t hash = hash_bytes(bytes);
  const size_t mask = index_.size() - 1;
  for (size_t at = hash & mask; index_[at].id >= 0; at = (at + 1) & mask) {
    if (index_[at].tag == static_cast<uint32_t>(hash >> 32) && this->bytes(index_[at].id) == bytes)
      return index_[at].id;
  }
  return -1;
}

}  // namespace tessera::text
