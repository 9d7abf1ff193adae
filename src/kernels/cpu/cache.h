#pragma once

#include <utility>

#include "base/zeroed_pages.h"
#include "kernels/backend.h"
#include "kernels/page_move.h"

namespace tessera::kernels::cpu {

/// KV as gated_attention.h lays it out, and states as gated_delta_net.h does, layer after layer.
class Cache final : public kernels::Cache {
 public:
  explicit Cache(const CacheShape& shape);

  [[nodiscard]] const CacheShape& shape() const override { return shape_; }
  /// KV of the i-th attention layer; the MTP layers follow the main ones.
  [[nodiscard]] KvLayer kv_layer(int attention_layer);
  /// [state_slots, state_floats] of the i-th linear-attention layer.
  [[nodiscard]] float* states(int linear_layer);
  /// [state_slots, record_rows, record_floats] of the i-th linear-attention layer; null without records.
  [[nodiscard]] float* records(int linear_layer);
  /// Of all layers.
  void copy_state(const StateCopy& copy);
  void move(const PageMove& move, const HostPages& pages);

 private:
  CacheShape shape_;
  size_t layer_kv_bytes_;  // keys, or values, of all blocks of one layer
  size_t layer_state_floats_;
  ZeroedPages kv_;
  ZeroedPages states_;
  ZeroedPages records_;
};

CacheBytes cache_bytes(const CacheShape& shape);

/// Plain memory.
class PlainPages final : public HostPages {
 public:
  PlainPages(ZeroedPages memory, size_t page_bytes, int32_t count)
      : HostPages(memory.data(), page_bytes, count), memory_(std::move(memory)) {}

 private:
  ZeroedPages memory_;
};

}  // namespace tessera::kernels::cpu
