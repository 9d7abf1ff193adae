#pragma once

#include <optional>
#include <vector>

#include "kernels/moe.h"
#include "kernels/weight.h"
#include "model/config.h"

namespace tessera::model {

/// Weights of one decoder layer, shapes as in config.h. The pieces of a projection stay separate matrices that read
/// the same input (linear.h), so each keeps its own format.
struct AttentionWeights {
  kernels::Weight q_gate;             // [heads * 2 * head_dim, hidden], per head query then gate
  kernels::Weight k, v;               // [kv_heads * head_dim, hidden]
  kernels::Weight o;                  // [hidden, heads * head_dim]
  std::vector<float> q_norm, k_norm;  // [head_dim]
};

struct DeltaNetWeights {
  kernels::Weight qkv;                // [channels, hidden]
  kernels::Weight z;                  // [value_heads * value_dim, hidden]
  kernels::Weight b, a;               // [value_heads, hidden]
  kernels::Weight out;                // [hidden, value_heads * value_dim]
  std::vector<float> conv;            // [channels, conv_width]
  std::vector<float> a_log, dt_bias;  // [value_heads]
  std::vector<float> norm;            // [value_dim]
};

struct MoeWeights {
  kernels::Weight router;                       // [experts, hidden]
  std::vector<kernels::SwigluWeights> experts;  // [experts]
  std::optional<kernels::SwigluWeights> shared;
  kernels::Weight shared_gate;  // [1, hidden]
};

struct LayerWeights {
  std::vector<float> input_norm, post_attention_norm;  // [hidden]
  std::optional<AttentionWeights> attention;           // exactly one of attention and delta_net
  std::optional<DeltaNetWeights> delta_net;
  std::optional<MoeWeights> moe;  // exactly one of moe and mlp
  std::optional<kernels::SwigluWeights> mlp;
};

struct MtpWeights {
  std::vector<float> embedding_norm, hidden_norm, norm;  // [hidden]
  kernels::Weight fc;                                    // [hidden, 2 * hidden]: embedding half, then hidden half
  std::vector<LayerWeights> layers;
};

struct ModelWeights {
  kernels::Weight embed;    // [vocab, hidden]
  kernels::Weight lm_head;  // [vocab, hidden]; empty when tied to embed
  std::vector<LayerWeights> layers;
  std::vector<float> norm;  // [hidden]
  std::optional<MtpWeights> mtp;

  [[nodiscard]] const kernels::Weight& head() const { return lm_head.empty() ? embed : lm_head; }
};

/// Calls visit(weight, experts) for every matrix of a layer; `experts` is the number of routed experts that share
/// the work (so that a token reads experts_per_token / experts of it), 1 for all other matrices.
template <typename Visit>
void for_each_weight(const LayerWeights& layer, const Visit& visit) {
  const auto swiglu = [&](const kernels::SwigluWeights& w, int experts) {
    visit(w.gate_up, experts);
    visit(w.down, experts);
  };
  if (layer.attention) {
    for (const auto* w : {&layer.attention->q_gate, &layer.attention->k, &layer.attention->v, &layer.attention->o})
      visit(*w, 1);
  }
  if (layer.delta_net) {
    const auto& net = *layer.delta_net;
    for (const auto* w : {&net.qkv, &net.z, &net.b, &net.a, &net.out}) visit(*w, 1);
  }
  if (layer.moe) {
    visit(layer.moe->router, 1);
    for (const auto& expert : layer.moe->experts) swiglu(expert, static_cast<int>(layer.moe->experts.size()));
    if (layer.moe->shared) {
      swiglu(*layer.moe->shared, 1);
      visit(layer.moe->shared_gate, 1);
    }
  }
  if (layer.mlp) swiglu(*layer.mlp, 1);
}

}  // namespace tessera::model
