#pragma once

#include <cstdint>
#include <span>

#include "kernels/context.h"
#include "kernels/weight.h"

namespace tessera::kernels::cpu {

/// out = x W^T for one weight; the summation order is linear.h's.
struct Matmul {
  const Weight* weight = nullptr;  // [n, k]
  const float* x = nullptr;        // [rows, k], rows x_stride apart
  int64_t x_stride = 0;
  int64_t rows = 0;      // 0 is allowed: nothing to do
  float* out = nullptr;  // [rows, n], rows out_stride apart
  int64_t out_stride = 0;
  bool round = true;  // to BF16 (in Compute::bf16 only)
};

/// All products in one parallel loop (the experts of a layer, the projections of a block).
void matmul(const Context& context, std::span<const Matmul> products);

}  // namespace tessera::kernels::cpu
