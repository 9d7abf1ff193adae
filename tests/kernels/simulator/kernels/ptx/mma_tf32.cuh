#pragma once

#include "kernels/simulator/cuda_runtime.h"

namespace tessera::kernels::ptx {

inline float cvt_tf32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7f800000U) == 0x7f800000U) return x;
  return std::bit_cast<float>((bits + 0x1000U) & 0xffffe000U);
}

/// Drops what a GPU drops, sums in double and rounds once: not the bits of a GPU, but one function of its operands.
inline void mma_m16n8k8_tf32(float (&d)[4], const float (&a)[4], float b0, float b1) {
  float mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
  for (float& x : mine) x = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xffffe000U);
  const std::byte* slots = simulator::exchange("mma.m16n8k8.tf32", mine, sizeof mine);
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, q = lane % 4;
  const auto of = [&](int of_lane) {
    return reinterpret_cast<const float*>(slots + static_cast<size_t>(of_lane) * simulator::kExchangeBytes);
  };
  for (int i = 0; i < 4; ++i) {
    const int row_half = i / 2, column = 2 * q + i % 2;
    double sum = d[i];
    for (int k = 0; k < 8; ++k) {
      sum += double{of(4 * g + k % 4)[row_half + 2 * (k / 4)]} * of(4 * column + k % 4)[4 + k / 4];
    }
    d[i] = static_cast<float>(sum);
  }
}

}  // namespace tessera::kernels::ptx
