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
  if (2 * (indexed_ + 1) > index_.size()) grow_index();
  insert(id);
  ++indexed_;
}

std::string_view Vocabulary::bytes(int32_t id) const {
  if (!contains(id)) return {};
  return std::string_view(arena_).substr(spans_[id].offset, spans_[id].length);
}

int32_t Vocabulary::find(std::string_view bytes) const {
  if (index_.empty()) return -1;
  const size_t mask = index_.size() - 1;
  for (size_t slot = hash_bytes(bytes) & mask; index_[slot] >= 0; slot = (slot + 1) & mask) {
    if (this->bytes(index_[slot]) == bytes) return index_[slot];
  }
  return -1;
}

void Vocabulary::grow_index() {
  const std::vector<int32_t> old =
      std::exchange(index_, std::vector<int32_t>(index_.empty() ? 1024 : 2 * index_.size(), -1));
  for (const int32_t id : old) {
    if (id >= 0) insert(id);
  }
}

void Vocabulary::insert(int32_t id) {
  const size_t mask = index_.size() - 1;
  size_t slot = hash_bytes(bytes(id)) & mask;
  while (index_[slot] >= 0) slot = (slot + 1) & mask;
  index_[slot] = id;
}

}  // namespace tessera::text
