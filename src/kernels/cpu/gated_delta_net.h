#pragma once

#include <cstdint>

#include "kernels/gated_delta_net.h"

namespace tessera::kernels::cpu {

/// Everything a thread needs to advance one value head of one sequence over its rows of this step. Convolved heads
/// are stored [head][rows of the batch][dim padded to 16]; pointers are at the sequence's first row.
struct DeltaNetHead {
  const DeltaNetShape* shape = nullptr;
  int64_t rows = 0;
  bool prefill = false;
  bool from_zero = false;  // start from an empty state
  bool to_bf16 = false;
  const float* query = nullptr;     // [rows, padded key_dim]; normalised and scaled
  const float* key = nullptr;       // [rows, padded key_dim]; normalised
  const float* value = nullptr;     // [rows, padded value_dim]
  const float* products = nullptr;  // prefill: of chunk c at c * products_stride, K K^T then Q K^T, [64, 64] each
  int64_t products_stride = 0;
  const float* b = nullptr;  // [rows], value_heads apart
  const float* a = nullptr;  // [rows], value_heads apart
  float a_log = 0;
  float dt_bias = 0;
  const float* z = nullptr;  // [rows, value_dim], z_stride apart
  const float* norm_weight = nullptr;
  int64_t z_stride = 0;    // also of out
  float* state = nullptr;  // [key_dim, value_dim]
  float* out = nullptr;
};

/// One thread's memory for a DeltaNetHead.
struct DeltaNetScratch {
  float* state = nullptr;    // [key_dim, padded value_dim]; used where value_dim is not a multiple of 16
  float* u = nullptr;        // [64, padded value_dim]
  float* out = nullptr;      // [64, padded value_dim]
  float* key = nullptr;      // [64, padded key_dim]
  float* mix_u = nullptr;    // [64, 64]
  float* mix_out = nullptr;  // [64, 64]
};

/// One head of the convolution: `channels` of the qkv row from `channel` on.
struct ConvolutionHead {
  const GatedDeltaNetArgs* args = nullptr;
  const SequenceRows* sequence = nullptr;
  int64_t channel = 0;
  int64_t dim = 0;
  bool to_bf16 = false;
  bool normalise = false;   // q and k: to unit L2 norm,
  float scale = 1.0F;       // then times this (q: key_dim^-0.5)
  float* inputs = nullptr;  // [conv_width - 1, channels], this layer's and slot's last inputs
  float* taps = nullptr;    // scratch [conv_width + 1, padded dim]
  float* out = nullptr;     // [rows, padded dim]
};

}  // namespace tessera::kernels::cpu
