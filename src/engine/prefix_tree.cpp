#include "engine/prefix_tree.h"

#include "base/check.h"
#include "engine/kv_file.h"

namespace tessera::engine {

PrefixNode* PrefixTree::find_root(std::string_view salt) {
  const auto found = roots_.find(salt);
  return found == roots_.end() ? nullptr : &found->second;
}

PrefixNode& PrefixTree::root(std::string_view salt) {
  if (PrefixNode* found = find_root(salt)) return *found;
  const auto added = roots_.try_emplace(std::string(salt)).first;
  added->second.salt = added->first;
  added->second.key = kv_root_key(salt);
  return added->second;
}

PrefixNode* PrefixTree::find_child(PrefixNode& parent, std::span<const int32_t> tokens) {
  const auto found = parent.children.find(tokens);
  return found == parent.children.end() ? nullptr : found->second.get();
}

PrefixNode& PrefixTree::add_node(PrefixNode& parent, std::span<const int32_t> tokens) {
  const auto [added, is_new] =
      parent.children.try_emplace(std::vector(tokens.begin(), tokens.end()), std::make_unique<PrefixNode>());
  TESSERA_CHECK(is_new);
  PrefixNode& node = *added->second;
  node.parent = &parent;
  node.tokens = added->first;
  node.depth = parent.depth + 1;
  node.key = kv_next_key(parent.key, tokens);
  return node;
}

PrefixNode& PrefixTree::add_child(PrefixNode& parent, std::span<const int32_t> tokens, int32_t block) {
  PrefixNode& node = add_node(parent, tokens);
  enter_device(node, block);
  return node;
}

PrefixNode& PrefixTree::add_tier_child(PrefixNode& parent, std::span<const int32_t> tokens, int32_t page) {
  PrefixNode& node = add_node(parent, tokens);
  node.page = page;
  return node;
}

void PrefixTree::enter_device(PrefixNode& node, int32_t block) {
  TESSERA_CHECK(node.block < 0 && block >= 0);
  node.block = block;
  ++node.parent->device_children;
  if (node.pins == 0) ++idle_nodes_;
}

void PrefixTree::leave_device(PrefixNode& node) {
  TESSERA_CHECK(node.block >= 0 && node.device_children == 0);
  node.block = -1;
  --node.parent->device_children;
  if (node.pins == 0) --idle_nodes_;
}

void PrefixTree::pin(PrefixNode& node) {
  for (PrefixNode* at = &node; at != nullptr; at = at->parent) {
    if (++at->pins == 1 && at->block >= 0) --idle_nodes_;
  }
}

void PrefixTree::pin_child(PrefixNode& node) {
  TESSERA_CHECK_GE(node.parent->pins, 1);
  if (++node.pins == 1 && node.block >= 0) --idle_nodes_;
}

void PrefixTree::unpin(PrefixNode& node) {
  for (PrefixNode* at = &node; at != nullptr; at = at->parent) {
    TESSERA_CHECK_GE(at->pins, 1);
    if (--at->pins == 0 && at->block >= 0) ++idle_nodes_;
  }
}

PrefixNode* PrefixTree::remove(PrefixNode& node) {
  TESSERA_CHECK(node.children.empty() && node.pins == 0);
  PrefixNode* const parent = node.parent;
  if (parent == nullptr) {
    roots_.erase(roots_.find(node.salt));
    return nullptr;
  }
  if (node.block >= 0) leave_device(node);
  parent->children.erase(parent->children.find(node.tokens));
  return parent;
}

}  // namespace tessera::engine
