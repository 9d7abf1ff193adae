#pragma once

#include <cstdint>

#include "device/cuda.h"
#include "kernels/cuda/expert_sum.h"
#include "tessera/status.h"

// Zero-centred RMSNorm (kernels/linear.h) of BF16 rows, with the residual add before it. Its sum of squares has a tree
// of its own (norm.cuh), not the CPU's; a product that begins with a norm (dense.h) gives the same bits.
namespace tessera::kernels::cuda {

/// What is normed: bf16(residual + delta). The delta is rows, or the sum that a layer's experts left, or there is none.
struct NormInput {
  const uint16_t* residual = nullptr;  // [rows, hidden] BF16
  const uint16_t* delta = nullptr;     // [rows, hidden] BF16; null: none of this kind
  ExpertSum experts = {};              // without rows: none of this kind
  const float* weight = nullptr;       // [hidden], zero-centred: the factor is 1 + weight
  float eps = 0;
  uint16_t* residual_out = nullptr;  // [rows, hidden]: the sum; another buffer than `residual`; null: not kept
  uint16_t* normed_out = nullptr;    // [rows, hidden]; null: not kept
};

/// All pointers are device memory, 16-byte aligned.
struct AddNormArgs {
  NormInput norm;                      // with normed_out
  int32_t hidden = 0;                  // a multiple of 8, at most kNormHiddenMax
  const int32_t* live_rows = nullptr;  // how many rows count; null: rows_max
  int32_t rows_max = 0;
  int64_t normed_stride = 0;  // elements from row to row of normed_out, a multiple of 8; 0: hidden
};

inline constexpr int kNormLanes = 256;
inline constexpr int kNormParts = kNormLanes / 32;  // each of a warp
inline constexpr int kNormChunk = 8;                // elements: 16 bytes
inline constexpr int32_t kNormHiddenMax = 24'000;   // a row lies in shared memory: 48,000 bytes

/// normed_out = norm(residual + delta), residual_out = residual + delta. With neither delta nor residual_out it is
/// plain RMSNorm. A sum of experts is rounded to BF16 before it is added, as sum_experts() does; of what the kernel
/// before writes, the experts' rows alone are then read. Rows beyond live_rows are neither read nor written.
/// invalid_argument for what the comments above exclude.
Status add_norm(const AddNormArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
