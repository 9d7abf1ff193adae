#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tessera::engine {

/// Resume points that were given up for good, and when they were used: by their keys (kv_file.h), the newest kMost. A
/// key that two of them share makes one late or early, and nothing else.
class LostPoints {
 public:
  static constexpr size_t kMost = size_t{1} << 14;

  struct Use {
    int64_t last = 0;  // as PrefixNode has them
    int64_t reuse_after = 0;
    bool shared = false;  // several sequences went on from it
  };

  void add(uint64_t key, Use use) {
    const size_t at = added_++ % kMost;
    if (order_.size() < kMost) {
      order_.push_back(key);
    } else {
      const auto oldest = uses_.find(order_[at]);
      if (oldest != uses_.end() && oldest->second.at == at) uses_.erase(oldest);  // or it was lost again since
      order_[at] = key;
    }
    uses_[key] = {.use = use, .at = at};
  }
  [[nodiscard]] std::optional<Use> find(uint64_t key) const {
    const auto found = uses_.find(key);
    if (found == uses_.end()) return std::nullopt;
    return found->second.use;
  }
  [[nodiscard]] bool empty() const { return uses_.empty(); }

 private:
  struct Lost {
    Use use;
    size_t at = 0;  // in order_
  };
  std::unordered_map<uint64_t, Lost> uses_;
  std::vector<uint64_t> order_;  // a ring
  size_t added_ = 0;
};

}  // namespace tessera::engine
