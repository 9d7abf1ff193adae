#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/check.h"

namespace tessera::engine {

/// A fixed number of equal things (KV blocks, state slots), known by their numbers [0, size). All memory is taken
/// at construction; take and give_back are O(1). Giving back what was not taken is a broken invariant.
class IdPool {
 public:
  explicit IdPool(int32_t size) : taken_(static_cast<size_t>(size), 0) {
    free_.reserve(static_cast<size_t>(size));
    for (int32_t id = size - 1; id >= 0; --id) free_.push_back(id);  // the first taken is 0
  }

  [[nodiscard]] int32_t size() const { return static_cast<int32_t>(taken_.size()); }
  [[nodiscard]] int32_t available() const { return static_cast<int32_t>(free_.size()); }
  [[nodiscard]] int32_t used() const { return size() - available(); }

  /// nullopt when all are taken.
  std::optional<int32_t> take() {
    if (free_.empty()) return std::nullopt;
    const int32_t id = free_.back();
    free_.pop_back();
    taken_[static_cast<size_t>(id)] = 1;
    return id;
  }

  void give_back(int32_t id) {
    TESSERA_CHECK(id >= 0 && id < size());
    TESSERA_CHECK_EQ(taken_[static_cast<size_t>(id)], 1);
    taken_[static_cast<size_t>(id)] = 0;
    free_.push_back(id);
  }

 private:
  std::vector<int32_t> free_;  // a stack: the most recently used is the warmest in the caches
  std::vector<uint8_t> taken_;
};

}  // namespace tessera::engine
