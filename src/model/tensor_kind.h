#pragma once

#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "format/matrix.h"

namespace tessera::model {

/// The parts of a checkpoint that people quantise, or leave alone, as a whole.
enum class TensorKind {
  embed,  // model.embed_tokens
  lm_head,
  attention,      // self_attn.{q,k,v,o}_proj
  delta_net,      // linear_attn.{in_proj_qkv,in_proj_z,out_proj}
  delta_net_ab,   // linear_attn.{in_proj_b,in_proj_a}: tiny, and the decay is sensitive
  router,         // mlp.gate and mlp.shared_expert_gate
  routed_expert,  // mlp.experts.*
  shared_expert,  // mlp.shared_expert.*
  mlp,            // mlp.{gate,up,down}_proj of dense models
  mtp,            // every matrix of the MTP head
  small,          // norms, convolutions, decay vectors, scales
};

inline constexpr std::array kTensorKinds = {
    TensorKind::embed,        TensorKind::lm_head, TensorKind::attention,     TensorKind::delta_net,
    TensorKind::delta_net_ab, TensorKind::router,  TensorKind::routed_expert, TensorKind::shared_expert,
    TensorKind::mlp,          TensorKind::mtp,     TensorKind::small,
};

/// How each kind of matrix is stored; what kinds not listed are is said where it is used.
using KindFormats = std::map<TensorKind, format::WeightFormat>;

/// As the command line spells it: "routed-expert".
std::string_view name(TensorKind kind);
std::optional<TensorKind> tensor_kind_from_name(std::string_view name);

/// The kind of a tensor or module by its canonical name (format/checkpoint.h).
TensorKind classify(std::string_view canonical_name);

/// If `tensor` is the main tensor of a linear module ("….weight", "….weight_packed", or a fused expert tensor),
/// the module's name; nullopt for companions (scales) and for small tensors.
std::optional<std::string_view> linear_module(std::string_view tensor);

}  // namespace tessera::model
