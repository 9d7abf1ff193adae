#pragma once

#include <string>
#include <vector>

#include "checkpoint_files.h"

// Checkpoints with one number in them that cannot be, and what a loader must say of it.
namespace tessera::model::test {

struct Damage {
  const char* what;
  format::WeightFormat format;  // of routed experts, attention and Gated DeltaNet
  const char* tensor;           // end of the stored name of the tensor that is damaged
  size_t at;                    // byte in it
  std::string bytes;
  const char* named;  // what a message must have
};

inline std::vector<Damage> damages() {
  using format::WeightFormat;
  return {
      {"NaN in BF16", WeightFormat::bf16, "layers.1.linear_attn.in_proj_z.weight", 2 * (64 * 3 + 5), "\xc0\x7f",
       "model.layers.1.linear_attn.in_proj_z"},
      {"infinity in BF16", WeightFormat::bf16, "layers.0.mlp.experts.3.up_proj.weight", 2 * 63, std::string("\x80\x7f"),
       "model.layers.0.mlp.experts.3.{gate,up}_proj"},
      {"NaN in the embedding", WeightFormat::nvfp4, "embed_tokens.weight", 2 * 64 * 200, "\xff\x7f",
       "model.embed_tokens"},
      {"NaN in FP8", WeightFormat::fp8_e4m3, "layers.3.self_attn.o_proj.weight", 17, "\xff",
       "model.layers.3.self_attn.o_proj"},
      {"NaN in FP8 of an expert", WeightFormat::fp8_e4m3, "layers.2.mlp.experts.4.down_proj.weight", 64, "\x7f",
       "model.layers.2.mlp.experts.4.down_proj"},
      {"block scale of NVFP4", WeightFormat::nvfp4, "layers.2.mlp.experts.0.gate_proj.weight_scale", 9, "\x7f",
       "model.layers.2.mlp.experts.0.{gate,up}_proj"},
      {"block scale of NVFP4 attention", WeightFormat::nvfp4, "layers.3.self_attn.k_proj.weight_scale", 0, "\xff",
       "model.layers.3.self_attn.k_proj"},
      {"block scale of MXFP4", WeightFormat::mxfp4, "layers.1.mlp.experts.1.down_proj.weight_scale", 5, "\xff",
       "model.layers.1.mlp.experts.1.down_proj"},
      {"global scale of NVFP4", WeightFormat::nvfp4, "layers.1.mlp.experts.2.up_proj.weight_scale_2", 2, "\xc0\x7f",
       "model.layers.1.mlp.experts.2.up_proj.weight_scale_2"},
      {"scale of FP8", WeightFormat::fp8_e4m3, "layers.0.linear_attn.out_proj.weight_scale", 3, "\xff",
       "model.layers.0.linear_attn.out_proj.weight_scale"},
      {"norm", WeightFormat::bf16, "layers.3.self_attn.q_norm.weight", 6, "\x80\x7f",
       "model.layers.3.self_attn.q_norm.weight: element 3"},
      {"the first of a vector", WeightFormat::bf16, "layers.0.linear_attn.dt_bias", 0, "\xc0\x7f",
       "model.layers.0.linear_attn.dt_bias: element 0"},
  };
}

inline SynthShape damaged_shape() {
  SynthShape shape = small_shape();
  shape.head_dim = 64;
  shape.mtp_num_hidden_layers = 0;
  return shape;
}

/// Writes the checkpoint of `damage`, or the sound one.
inline void write_damaged(const std::filesystem::path& directory, const Damage& damage, bool sound) {
  const KindFormats formats = {{TensorKind::routed_expert, damage.format},
                               {TensorKind::attention, damage.format},
                               {TensorKind::delta_net, damage.format}};
  synthesize(directory, {.shape = damaged_shape(), .formats = formats});
  if (sound) return;
  size_t found = 0;
  rewrite(directory, [&](auto& tensors) {
    for (auto& [name, tensor] : tensors) {
      if (!name.ends_with(damage.tensor)) continue;
      ASSERT_LE(damage.at + damage.bytes.size(), tensor.data.size()) << name;
      tensor.data.replace(damage.at, damage.bytes.size(), damage.bytes);
      ++found;
    }
  });
  ASSERT_EQ(found, 1U) << damage.tensor;
}

}  // namespace tessera::model::test
