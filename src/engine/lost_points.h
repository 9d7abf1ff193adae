#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tessera::engine {

/// Resume points that were given up for good, and when they were last used: by their keys (kv_file.h), the newest
/// kMost. A key that two of them share makes one late or early, and nothing else.
class LostPoints {
 public:
  static constexpr size_t kMost = size_t{1} << 14;

  void add(uint64_t key, int64_t last_use) {
    if (order_.size() < kMost) {
      order_.push_back(key);
    } else {
      last_uses_.erase(order_[next_]);
      order_[next_] = key;
      next_ = (next_ + 1) % kMost;
    }
    last_uses_[key] = last_use;
  }
  [[nodiscard]] std::optional<int64_t> last_use(uint64_t key) const {
    const auto found = last_uses_.find(key);
    if (found == last_uses_.end()) return std::nullopt;
    return found->second;
  }
  [[nodiscard]] bool empty() const { return last_uses_.empty(); }

 private:
  std::unordered_map<uint64_t, int64_t> last_uses_;
  std::vector<uint64_t> order_;  // a ring: next_ is the oldest
  size_t next_ = 0;
};

}  // namespace tessera::engine
