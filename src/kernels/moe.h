#pragma once

#include <cstdint>
#include <span>

#include "kernels/context.h"
#include "kernels/weight.h"

namespace tessera::kernels {

/// Weights of a SwiGLU network: down(silu(gate x) * (up x)).
struct SwigluWeights {
  Weight gate_up;  // [2 * inner, hidden]: all gate rows, then all up rows
  Weight down;     // [hidden, inner]
};

struct MlpArgs {
  const float* x = nullptr;  // [rows, hidden], normed
  int64_t rows = 0;
  int64_t hidden = 0;
  const SwigluWeights* weights = nullptr;
  float* out = nullptr;  // [rows, hidden]
};

/// Dense SwiGLU network. Rounding to BF16: gate and up; silu(gate); silu(gate) * up; down.
void mlp(const Context& context, const MlpArgs& args);

struct MoeArgs {
  const float* x = nullptr;  // [rows, hidden], normed
  int64_t rows = 0;
  int64_t hidden = 0;
  int experts_per_token = 0;
  const Weight* router = nullptr;          // [experts, hidden]
  std::span<const SwigluWeights> experts;  // [experts]
  const SwigluWeights* shared = nullptr;   // null: no shared expert
  const Weight* shared_gate = nullptr;     // [1, hidden]; with `shared` only
  float* out = nullptr;                    // [rows, hidden]
  int32_t* chosen = nullptr;               // optional out: [rows, experts_per_token], descending probability
};

/// Mixture of experts. Router: logits (rounded to BF16), softmax over all experts in fp32 (sum in 16 lanes and the tree
/// of rms_norm), the experts_per_token largest logits (ties to the lower id; NaN last, and then the row's output is
/// NaN), weights divided by their sum, which is taken by falling probability. An expert is an mlp; its output, rounded
/// to BF16 per (token, expert), is multiplied by its weight and summed in fp32 (serial fma) by ascending expert id, the
/// shared expert with weight sigmoid(shared_gate x) last; the sum is rounded once. transformers rounds the weights and
/// every partial sum to BF16 as well; here they stay fp32.
void moe(const Context& context, const MoeArgs& args);

}  // namespace tessera::kernels
