#include "model/cache.h"

#include "base/check.h"
#include "kernels/batch.h"

namespace tessera::model {

size_t kv_block_bytes(const ModelConfig& config, DType kv_dtype, bool with_mtp) {
  const int layers = config.count(LayerType::full_attention) + (with_mtp ? config.mtp_layers : 0);
  return 2 * static_cast<size_t>(layers) *
         kernels::kv_block_bytes(kv_dtype, config.attention.kv_heads, config.attention.head_dim);
}

size_t state_slot_bytes(const ModelConfig& config) {
  return static_cast<size_t>(config.count(LayerType::linear_attention)) *
         static_cast<size_t>(config.delta_net.state_floats()) * sizeof(float);
}

Cache::Cache(const ModelConfig& config, DType kv_dtype, int blocks, int state_slots, bool with_mtp,
             std::vector<float> k_scales, std::vector<float> v_scales)
    : blocks_(blocks),
      state_slots_(state_slots),
      kv_dtype_(kv_dtype),
      layer_kv_bytes_(static_cast<size_t>(blocks) *
                      kernels::kv_block_bytes(kv_dtype, config.attention.kv_heads, config.attention.head_dim)),
      layer_state_floats_(static_cast<size_t>(state_slots) * static_cast<size_t>(config.delta_net.state_floats())),
      k_scales_(std::move(k_scales)),
      v_scales_(std::move(v_scales)),
      kv_(static_cast<size_t>(blocks) * model::kv_block_bytes(config, kv_dtype, with_mtp)),
      states_(static_cast<size_t>(config.count(LayerType::linear_attention)) * layer_state_floats_ * sizeof(float)) {}

kernels::KvLayer Cache::kv_layer(int attention_layer) {
  const auto i = static_cast<size_t>(attention_layer);
  TESSERA_CHECK_LE((2 * i + 2) * layer_kv_bytes_, kv_.size());
  std::byte* keys = kv_.data() + 2 * i * layer_kv_bytes_;
  return {.dtype = kv_dtype_,
          .keys = keys,
          .values = keys + layer_kv_bytes_,
          .k_scale = i < k_scales_.size() ? k_scales_[i] : 1.0F,
          .v_scale = i < v_scales_.size() ? v_scales_[i] : 1.0F};
}

float* Cache::states(int linear_layer) {
  const auto i = static_cast<size_t>(linear_layer);
  TESSERA_CHECK_LE((i + 1) * layer_state_floats_ * sizeof(float), states_.size());
  return reinterpret_cast<float*>(states_.data()) + i * layer_state_floats_;
}

}  // namespace tessera::model
