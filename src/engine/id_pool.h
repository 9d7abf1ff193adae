#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/check.h"

namespace tessera::engine {

/// A fixed number of equal things (KV blocks, state slots), known by their numbers [0, size). Each has a count of those
/// who hold it: take makes it one, share adds one, give_back takes one away, and at none it is free again. All memory
/// is taken at construction; every call is O(1). Sharing or giving back what nobody holds is a broken invariant.
class IdPool {
 public:
  explicit IdPool(int32_t size) : holders_(static_cast<size_t>(size), 0) {
    free_.reserve(static_cast<size_t>(size));
    for (int32_t id = size - 1; id >= 0; --id) free_.push_back(id);  // the first taken is 0
  }

  [[nodiscard]] int32_t size() const { return static_cast<int32_t>(holders_.size()); }
  [[nodiscard]] int32_t available() const { return static_cast<int32_t>(free_.size()); }
  [[nodiscard]] int32_t used() const { return size() - available(); }

  /// nullopt when all are taken.
  std::optional<int32_t> take() {
    if (free_.empty()) return std::nullopt;
    const int32_t id = free_.back();
    free_.pop_back();
    holders_[static_cast<size_t>(id)] = 1;
    return id;
  }

  /// One more holds `id`.
  void share(int32_t id) { ++holders_of(id); }
  [[nodiscard]] int32_t holders(int32_t id) { return holders_of(id); }

  void give_back(int32_t id) {
    if (--holders_of(id) == 0) free_.push_back(id);
  }

 private:
  int32_t& holders_of(int32_t id) {
    TESSERA_CHECK(id >= 0 && id < size());
    int32_t& holders = holders_[static_cast<size_t>(id)];
    TESSERA_CHECK_GE(holders, 1);
    return holders;
  }

  std::vector<int32_t> free_;  // a stack: the most recently used is the warmest in the caches
  std::vector<int32_t> holders_;
};

}  // namespace tessera::engine
