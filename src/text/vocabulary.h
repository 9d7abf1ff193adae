#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::text {

/// Token id <-> bytes, in two flat tables.
class Vocabulary {
 public:
  /// `bytes` must not be empty, and `id` not yet taken. Unless `findable`, find() will not return it.
  void add(int32_t id, std::string_view bytes, bool findable);

  /// The highest id + 1.
  [[nodiscard]] int32_t size() const { return static_cast<int32_t>(spans_.size()); }
  [[nodiscard]] bool contains(int32_t id) const { return id >= 0 && id < size() && spans_[id].length > 0; }
  /// Empty if no token has this id.
  [[nodiscard]] std::string_view bytes(int32_t id) const;
  /// The token with these bytes, or -1.
  [[nodiscard]] int32_t find(std::string_view bytes) const;

 private:
  struct Span {
    uint64_t offset = 0;
    uint32_t length = 0;
  };
  struct Slot {
    uint32_t tag = 0;  // the hash's high half, so that a search reads other tokens' bytes next to never
    int32_t id = -1;   // free
  };
  void insert(int32_t id);

  std::string arena_;
  std::vector<Span> spans_;  // by id
  std::vector<Slot> index_;  // by hash of the token's bytes, open addressing, at most half full
  size_t indexed_ = 0;
};

}  // namespace tessera::text
