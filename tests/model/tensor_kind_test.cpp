#include "model/tensor_kind.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera::model {
namespace {

TEST(TensorKind, NamesAreReversible) {
  for (const TensorKind kind : kTensorKinds) EXPECT_EQ(tensor_kind_from_name(name(kind)), kind) << name(kind);
  EXPECT_EQ(tensor_kind_from_name("routed_expert"), std::nullopt);
  EXPECT_EQ(tensor_kind_from_name(""), std::nullopt);
}

TEST(TensorKind, ClassifiesEveryTensorOfAModel) {
  const std::string layer = "model.layers.17.";
  const std::pair<std::string, TensorKind> cases[] = {
      {"model.embed_tokens.weight", TensorKind::embed},
      {"lm_head.weight", TensorKind::lm_head},
      {"lm_head.weight_scale_2", TensorKind::lm_head},
      {"model.norm.weight", TensorKind::small},
      {layer + "input_layernorm.weight", TensorKind::small},
      {layer + "self_attn.q_proj.weight", TensorKind::attention},
      {layer + "self_attn.o_proj.weight_packed", TensorKind::attention},
      {layer + "self_attn.q_norm.weight", TensorKind::small},
      {layer + "linear_attn.in_proj_qkv.weight", TensorKind::delta_net},
      {layer + "linear_attn.in_proj_z.weight", TensorKind::delta_net},
      {layer + "linear_attn.out_proj.weight_scale", TensorKind::delta_net},
      {layer + "linear_attn.in_proj_a.weight", TensorKind::delta_net_ab},
      {layer + "linear_attn.in_proj_b.weight", TensorKind::delta_net_ab},
      {layer + "linear_attn.conv1d.weight", TensorKind::small},
      {layer + "linear_attn.A_log", TensorKind::small},
      {layer + "linear_attn.dt_bias", TensorKind::small},
      {layer + "linear_attn.norm.weight", TensorKind::small},
      {layer + "mlp.gate.weight", TensorKind::router},
      {layer + "mlp.gate", TensorKind::router},
      {layer + "mlp.shared_expert_gate.weight", TensorKind::router},
      {layer + "mlp.shared_expert.gate_proj.weight", TensorKind::shared_expert},
      {layer + "mlp.experts.gate_up_proj", TensorKind::routed_expert},
      {layer + "mlp.experts.511.gate_proj.weight", TensorKind::routed_expert},
      {layer + "mlp.gate_proj.weight", TensorKind::mlp},
      {"mtp.fc.weight", TensorKind::mtp},
      {"mtp.layers.0.mlp.gate.weight", TensorKind::mtp},
      {"mtp.layers.0.mlp.experts.3.up_proj.weight", TensorKind::mtp},
      {"mtp.layers.0.self_attn.k_proj.weight", TensorKind::mtp},
      {"mtp.norm.weight", TensorKind::small},
      {"mtp.pre_fc_norm_embedding.weight", TensorKind::small},
      {"mtp.pre_fc_norm_hidden.weight", TensorKind::small},
      {"mtp.layers.0.post_attention_layernorm.weight", TensorKind::small},
  };
  for (const auto& [tensor, kind] : cases) EXPECT_EQ(name(classify(tensor)), name(kind)) << tensor;
}

TEST(TensorKind, FindsTheModuleOfAWeight) {
  EXPECT_EQ(linear_module("model.layers.0.mlp.gate.weight"), "model.layers.0.mlp.gate");
  EXPECT_EQ(linear_module("mtp.fc.weight_packed"), "mtp.fc");
  EXPECT_EQ(linear_module("model.layers.0.mlp.experts.gate_up_proj"), "model.layers.0.mlp.experts.gate_up_proj");
  EXPECT_EQ(linear_module("model.layers.0.mlp.experts.down_proj"), "model.layers.0.mlp.experts.down_proj");
  EXPECT_EQ(linear_module("model.layers.0.mlp.experts.7.down_proj"), std::nullopt);
  EXPECT_EQ(linear_module("lm_head.weight_scale"), std::nullopt);
  EXPECT_EQ(linear_module("model.layers.0.linear_attn.conv1d.weight"), std::nullopt);
  EXPECT_EQ(linear_module("mtp.pre_fc_norm_hidden.weight"), std::nullopt);
}

}  // namespace
}  // namespace tessera::model
