#pragma once

#include <cstdint>
#include <span>

#include "kernels/context.h"
#include "kernels/weight.h"

namespace tessera::kernels {

/// y = x W^T for one of the matrices that read the same input.
struct LinearOutput {
  const Weight* weight = nullptr;  // [n, k]
  float* out = nullptr;            // [rows, n], rows `stride` apart
  int64_t stride = 0;
};

struct LinearArgs {
  const float* x = nullptr;  // [rows, k], rows x_stride apart
  int64_t x_stride = 0;
  int64_t rows = 0;
  std::span<const int32_t> row_index = {};  // if not empty: read x[row_index[i]] as row i (rows that need logits)
  std::span<const LinearOutput> outputs;
  bool round_output = true;  // false: logits stay fp32
};

/// One or more matrix products of the same rows.
///
/// The summation order of one output element is part of the numerics contract and depends on nothing but the
/// weight's format and K:
///   total = 0; for each group of 16 along K, ascending: acc = w[0] * x[0], then acc = fma(w[i], x[i], acc) for
///   i = 1..15 ascending; total = fma(acc, block scale, total) with block scale 1 where the format has none (the
///   last group may be shorter); y = alpha * total; rounded to BF16.
/// w is the exact fp32 value of the code. Hence no difference between matrix-vector and matrix-matrix kernels,
/// AVX2 and AVX-512, any batch, any number of threads.
void linear(const Context& context, const LinearArgs& args);

struct RmsNormArgs {
  const float* x = nullptr;  // [rows, n], rows x_stride apart
  int64_t x_stride = 0;
  int64_t rows = 0;
  int64_t n = 0;
  const float* weight = nullptr;  // [n], zero-centred: the factor is 1 + weight
  float eps = 0;
  float* out = nullptr;  // [rows, n] dense; rounded to BF16 once, at the end
};

/// y = x * rsqrt(mean(x^2) + eps) * (1 + w). Sum of squares in 16 lanes (lane = index mod 16, ascending), lanes
/// added as a fixed binary tree; rsqrt is 1 / sqrt, both IEEE.
void rms_norm(const Context& context, const RmsNormArgs& args);

struct AddNormArgs {
  float* residual = nullptr;     // [rows, n] dense; in, and with a delta out
  const float* delta = nullptr;  // [rows, n] dense; null: none
  int64_t rows = 0;
  int64_t n = 0;
  const float* weight = nullptr;  // [n], zero-centred
  float eps = 0;
  float* out = nullptr;  // [rows, n] dense
};

/// residual = residual + delta, rounded to BF16; out = rms_norm(residual).
void add_norm(const Context& context, const AddNormArgs& args);

}  // namespace tessera::kernels
