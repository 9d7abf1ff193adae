#pragma once

#include "base/dtype.h"
#include "kernels/simulator/cuda_runtime.h"

namespace tessera::kernels::ptx {

/// Sums in double and rounds once: not the bits of a GPU, but one function of its operands.
inline void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const uint32_t mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
  const std::byte* slots = simulator::exchange("mma.m16n8k16.bf16", mine, sizeof mine);
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, q = lane % 4;
  const auto word = [&](int of_lane, int i) {
    uint32_t value = 0;
    std::memcpy(&value, slots + static_cast<size_t>(of_lane) * simulator::kExchangeBytes + static_cast<size_t>(i) * 4,
                4);
    return value;
  };
  for (int i = 0; i < 4; ++i) {
    const int row_half = i / 2, column = 2 * q + i % 2;
    double sum = d[i];
    for (int k_half = 0; k_half < 2; ++k_half) {
      for (int from = 0; from < 4; ++from) {
        const uint32_t left = word(4 * g + from, row_half + 2 * k_half), right = word(4 * column + from, 4 + k_half);
        sum += double{bf16_to_float(static_cast<uint16_t>(left))} * bf16_to_float(static_cast<uint16_t>(right));
        sum += double{bf16_to_float(static_cast<uint16_t>(left >> 16))} *
               bf16_to_float(static_cast<uint16_t>(right >> 16));
      }
    }
    d[i] = static_cast<float>(sum);
  }
}

inline uint32_t mul_bf16x2(uint32_t a, uint32_t b) {
  const auto product = [](uint32_t x, uint32_t y) {
    return uint32_t{float_to_bf16(bf16_to_float(static_cast<uint16_t>(x)) * bf16_to_float(static_cast<uint16_t>(y)))};
  };
  return product(a & 0xffffU, b & 0xffffU) | product(a >> 16, b >> 16) << 16;
}
template <int half>
uint32_t mul_bf16x2_by(uint32_t a, uint32_t b) {
  return mul_bf16x2(a, (b >> (16 * half) & 0xffffU) * 0x10001U);
}
inline uint32_t cvt_bf16x2(float high, float low) { return uint32_t{float_to_bf16(high)} << 16 | float_to_bf16(low); }

}  // namespace tessera::kernels::ptx
