#include "model/tensor_kind.h"

namespace tessera::model {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

std::string_view name(TensorKind kind) {
  switch (kind) {
    case TensorKind::embed: return "embed";
    case TensorKind::lm_head: return "lm-head";
    case TensorKind::attention: return "attention";
    case TensorKind::delta_net: return "delta-net";
    case TensorKind::delta_net_ab: return "delta-net-ab";
    case TensorKind::router: return "router";
    case TensorKind::routed_expert: return "routed-expert";
    case TensorKind::shared_expert: return "shared-expert";
    case TensorKind::mlp: return "mlp";
    case TensorKind::mtp: return "mtp";
    case TensorKind::small: return "small";
  }
  return "?";
}

std::optional<TensorKind> tensor_kind_from_name(std::string_view wanted) {
  for (const TensorKind kind : kTensorKinds) {
    if (name(kind) == wanted) return kind;
  }
  return std::nullopt;
}

TensorKind classify(std::string_view tensor) {
  if (contains(tensor, "norm") || contains(tensor, "conv1d") || contains(tensor, "A_log") ||
      contains(tensor, "dt_bias")) {
    return TensorKind::small;
  }
  if (tensor.starts_with("mtp.")) return TensorKind::mtp;
  if (tensor.starts_with("lm_head")) return TensorKind::lm_head;
  if (contains(tensor, "embed_tokens")) return TensorKind::embed;
  if (contains(tensor, ".self_attn.")) return TensorKind::attention;
  if (contains(tensor, ".in_proj_a") || contains(tensor, ".in_proj_b")) return TensorKind::delta_net_ab;
  if (contains(tensor, ".linear_attn.")) return TensorKind::delta_net;
  if (contains(tensor, ".mlp.gate.") || tensor.ends_with(".mlp.gate") || contains(tensor, "shared_expert_gate")) {
    return TensorKind::router;
  }
  if (contains(tensor, ".mlp.experts.")) return TensorKind::routed_expert;
  if (contains(tensor, ".mlp.shared_expert.")) return TensorKind::shared_expert;
  if (contains(tensor, ".mlp.")) return TensorKind::mlp;
  return TensorKind::small;
}

std::optional<std::string_view> linear_module(std::string_view tensor) {
  if (classify(tensor) == TensorKind::small) return std::nullopt;
  for (const std::string_view suffix : {".weight_packed", ".weight"}) {
    if (tensor.ends_with(suffix)) return tensor.substr(0, tensor.size() - suffix.size());
  }
  if (tensor.ends_with(".experts.gate_up_proj") || tensor.ends_with(".experts.down_proj")) return tensor;
  return std::nullopt;
}

}  // namespace tessera::model
