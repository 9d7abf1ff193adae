#include "kernels/cpu/cache.h"

#include <cstring>

#include "base/check.h"

namespace tessera::kernels::cpu {

namespace {

/// Of one slot and layer.
size_t slot_record_floats(const CacheShape& shape) {
  return static_cast<size_t>(shape.record_rows) * static_cast<size_t>(shape.delta_net.record_floats());
}

/// Of all slots and layers.
size_t all_states(const CacheShape& shape, size_t slot_floats) {
  return static_cast<size_t>(shape.state_slots) * static_cast<size_t>(shape.linear_layers) * slot_floats *
         sizeof(float);
}

}  // namespace

CacheBytes cache_bytes(const CacheShape& shape) {
  return {.kv_block = 2 * static_cast<size_t>(shape.attention_layers) *
                      kv_block_bytes(shape.kv_dtype, shape.attention.kv_heads, shape.attention.head_dim),
          .state_slot = static_cast<size_t>(shape.linear_layers) * sizeof(float) *
                        (static_cast<size_t>(shape.delta_net.state_floats()) + slot_record_floats(shape)),
          .state = static_cast<size_t>(shape.linear_layers) * sizeof(float) *
                   static_cast<size_t>(shape.delta_net.state_floats())};
}

Cache::Cache(const CacheShape& shape)
    : shape_(shape),
      layer_kv_bytes_(static_cast<size_t>(shape.blocks) *
                      kv_block_bytes(shape.kv_dtype, shape.attention.kv_heads, shape.attention.head_dim)),
      layer_state_floats_(static_cast<size_t>(shape.state_slots) * static_cast<size_t>(shape.delta_net.state_floats())),
      kv_(static_cast<size_t>(shape.blocks) * cache_bytes(shape).kv_block),
      states_(all_states(shape, static_cast<size_t>(shape.delta_net.state_floats()))),
      records_(all_states(shape, slot_record_floats(shape))) {}

KvLayer Cache::kv_layer(int attention_layer) {
  const auto i = static_cast<size_t>(attention_layer);
  TESSERA_CHECK_LE((2 * i + 2) * layer_kv_bytes_, kv_.size());
  std::byte* keys = kv_.data() + 2 * i * layer_kv_bytes_;
  return {.dtype = shape_.kv_dtype,
          .keys = keys,
          .values = keys + layer_kv_bytes_,
          .k_scale = i < shape_.k_scales.size() ? shape_.k_scales[i] : 1.0F,
          .v_scale = i < shape_.v_scales.size() ? shape_.v_scales[i] : 1.0F};
}

float* Cache::states(int linear_layer) {
  const auto i = static_cast<size_t>(linear_layer);
  TESSERA_CHECK_LE((i + 1) * layer_state_floats_ * sizeof(float), states_.size());
  return reinterpret_cast<float*>(states_.data()) + i * layer_state_floats_;
}

float* Cache::records(int linear_layer) {
  if (shape_.record_rows == 0) return nullptr;
  const size_t layer = static_cast<size_t>(shape_.state_slots) * slot_record_floats(shape_);
  return reinterpret_cast<float*>(records_.data()) + static_cast<size_t>(linear_layer) * layer;
}

void Cache::copy_state(const StateCopy& copy) {
  for (const int32_t slot : {copy.from, copy.to}) TESSERA_CHECK(slot >= 0 && slot < shape_.state_slots);
  for (int layer = 0; layer < shape_.linear_layers; ++layer) {
    kernels::copy_state(shape_.delta_net, copy, states(layer));
  }
}

void Cache::move(const PageMove& move, const HostPages& pages) {
  const auto index = static_cast<size_t>(move.index);
  LayeredBytes object;
  if (move.what == PageMove::What::block) {
    TESSERA_CHECK(move.index >= 0 && move.index < shape_.blocks);
    const size_t width = layer_kv_bytes_ / static_cast<size_t>(shape_.blocks);
    object = {kv_.data() + index * width, layer_kv_bytes_, width, 2 * static_cast<size_t>(shape_.attention_layers)};
  } else {
    TESSERA_CHECK(move.index >= 0 && move.index < shape_.state_slots);
    const size_t pitch = layer_state_floats_ * sizeof(float);
    const size_t width = pitch / static_cast<size_t>(shape_.state_slots);
    object = {states_.data() + index * width, pitch, width, static_cast<size_t>(shape_.linear_layers)};
  }
  for_each_run(move, std::span(&object, 1), pages, [&](const LayeredBytes& run, std::byte* page) {
    for (size_t row = 0; row < run.rows; ++row) {
      std::byte* const here = run.first + row * run.pitch;
      std::byte* const there = page + row * run.width;
      std::memcpy(move.to_host ? there : here, move.to_host ? here : there, run.width);
    }
  });
}

}  // namespace tessera::kernels::cpu
