#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::engine {

/// The tokens of one KV block, behind those of its parents.
struct PrefixNode {
  struct Order {
    using is_transparent = void;
    bool operator()(std::span<const int32_t> a, std::span<const int32_t> b) const {
      return std::ranges::lexicographical_compare(a, b);
    }
  };

  PrefixNode* parent = nullptr;  // null: a root, which has no tokens
  std::map<std::vector<int32_t>, std::unique_ptr<PrefixNode>, Order> children = {};
  std::string_view salt = {};             // of a root
  std::span<const int32_t> tokens = {};   // of any other
  int64_t depth = 0;                      // blocks up to here, this one included
  uint64_t key = 0;                       // of an entry on disk that ends here (kv_file.h)
  int32_t block = -1;                     // on the device; -1: it is in the host's tier
  int32_t page = -1;                      // there
  int32_t device_children = 0;            // that have blocks on the device
  int32_t pins = 0;                       // sequences that stand here or below
  bool resumes = false;                   // a sequence can go on behind this block, with the state behind it:
  int32_t slot = -1;                      // on the device, or
  std::vector<int32_t> state_pages = {};  // in the tier, or there is none to be had
  bool written = false;                   // of a resume point: to the disk, or it was to be
  bool too_large = false;                 // for the disk, with what it stands behind
  int64_t saving = 0;                     // of a resume point: tokens, or 0 where a newer one does its work
  int64_t worth = 0;                      // the same, aged, when it was last used:
  int64_t last_use = 0;                   // how many sequences had begun by then,
  int64_t reuse_after = 0;                // and how many since the use before; 0: there was none
  int32_t continuations = 0;              // sequences that went on from it
  bool just_read = false;                 // from the disk, for a sequence that has not begun yet
};

/// What is kept, as a tree of blocks for each salt. What is on the device is so from a root on: behind what is in the
/// host's tier nothing is. Knows tokens and pins, and nothing of who owns blocks and slots.
class PrefixTree {
 public:
  /// Null: nothing is kept under this salt.
  [[nodiscard]] PrefixNode* find_root(std::string_view salt);
  PrefixNode& root(std::string_view salt);
  [[nodiscard]] static PrefixNode* find_child(PrefixNode& parent, std::span<const int32_t> tokens);
  /// That is not there yet, and whose block is on the device.
  PrefixNode& add_child(PrefixNode& parent, std::span<const int32_t> tokens, int32_t block);

  /// The same, in the host's tier.
  PrefixNode& add_tier_child(PrefixNode& parent, std::span<const int32_t> tokens, int32_t page);

  /// A sequence stands on `node`.
  void pin(PrefixNode& node);
  /// The sequence that stood on its parent stands on `node` from now on.
  void pin_child(PrefixNode& node);
  void unpin(PrefixNode& node);

  /// Its block is on the device from now on; or no longer.
  void enter_device(PrefixNode& node, int32_t block);
  void leave_device(PrefixNode& node);

  /// Removes a node without children and pins; returns its parent, null for a root.
  PrefixNode* remove(PrefixNode& node);

  /// Nodes with blocks on the device that no sequence stands on.
  [[nodiscard]] int32_t idle_nodes() const { return idle_nodes_; }

 private:
  static PrefixNode& add_node(PrefixNode& parent, std::span<const int32_t> tokens);

  std::map<std::string, PrefixNode, std::less<>> roots_;
  int32_t idle_nodes_ = 0;
};

}  // namespace tessera::engine
