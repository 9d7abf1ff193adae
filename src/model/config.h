#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kernels/gated_attention.h"
#include "kernels/gated_delta_net.h"

namespace tessera::model {

enum class LayerType : uint8_t { full_attention, linear_attention };

/// What config.json says of a Qwen3.5 text model (also 3.6 and 3.8), MoE or dense. Missing keys hold the defaults
/// of transformers' configuration classes.
struct ModelConfig {
  bool is_moe = true;
  int64_t hidden_size = 2048;
  int64_t vocab_size = 248320;
  std::vector<LayerType> layer_types;  // one per layer
  kernels::AttentionShape attention;
  kernels::DeltaNetShape delta_net;
  float rms_norm_eps = 1e-6F;

  // MoE
  int num_experts = 256;
  int experts_per_token = 8;
  int64_t moe_intermediate_size = 512;
  int64_t shared_expert_intermediate_size = 512;
  // dense
  int64_t intermediate_size = 0;

  std::vector<float> inv_freq;  // [rotary_dim / 2]
  float rope_scale = 1.0F;      // YaRN's attention factor; 1 otherwise
  int64_t max_position_embeddings = 262144;
  bool tie_word_embeddings = false;
  int mtp_layers = 0;
  std::vector<int32_t> eos_token_ids;  // of config.json; generation_config.json has the serving stop set

  [[nodiscard]] int num_layers() const { return static_cast<int>(layer_types.size()); }
  [[nodiscard]] int count(LayerType type) const;
};

/// Reads config.json (`json` is its text, `path` names it in errors). Every number is range-checked; an unknown
/// model_type, activation, rope type or layer type is `unsupported` and says what is known.
Expected<ModelConfig> parse_config(std::string_view json, const std::string& path);

}  // namespace tessera::model
