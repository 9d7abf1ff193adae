#pragma once

#include "format/f16.h"
#include "kernels/simulator/cuda_runtime.h"

namespace tessera::kernels::ptx {

inline uint32_t cvt_f16x2(float high, float low) {
  return uint32_t{format::float_to_f16(high)} << 16 | format::float_to_f16(low);
}
inline float low_f16(uint32_t pair) { return format::f16_to_float(static_cast<uint16_t>(pair)); }
inline float high_f16(uint32_t pair) { return format::f16_to_float(static_cast<uint16_t>(pair >> 16)); }

/// Sums in double and rounds once: not the bits of a GPU, but one function of its operands.
inline void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  // Each lane brings its values as floats, so that none is converted more than once.
  const uint32_t mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
  float values[12];
  for (int i = 0; i < 6; ++i) {
    values[2 * i] = low_f16(mine[i]);
    values[2 * i + 1] = high_f16(mine[i]);
  }
  const std::byte* slots = simulator::exchange("mma.m16n8k16.f16", values, sizeof values);
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, q = lane % 4;
  const auto of = [&](int of_lane) {
    return reinterpret_cast<const float*>(slots + static_cast<size_t>(of_lane) * simulator::kExchangeBytes);
  };
  for (int i = 0; i < 4; ++i) {
    const int row_half = i / 2, column = 2 * q + i % 2;
    double sum = d[i];
    for (int k_half = 0; k_half < 2; ++k_half) {
      for (int from = 0; from < 4; ++from) {
        const float* left = of(4 * g + from) + 2 * (row_half + 2 * k_half);
        const float* right = of(4 * column + from) + 2 * (4 + k_half);
        sum += double{left[0]} * right[0] + double{left[1]} * right[1];
      }
    }
    d[i] = static_cast<float>(sum);
  }
}

}  // namespace tessera::kernels::ptx
