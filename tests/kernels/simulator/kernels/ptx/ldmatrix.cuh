#pragma once

#include "kernels/simulator/cuda_runtime.h"

namespace tessera::kernels::ptx {
namespace internal {

template <int matrices, bool trans>
void ldmatrix(uint32_t (&d)[matrices], uint32_t address) {
  const std::byte* slots = simulator::exchange(trans ? "ldmatrix.trans" : "ldmatrix", &address, sizeof address);
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, q = lane % 4;
  for (int i = 0; i < matrices; ++i) {
    const auto element = [&](int row, int column) {
      const auto from = simulator::of_lane<uint32_t>(slots, 8 * i + row);
      if (from % 16 != 0) simulator::fail("ldmatrix from %u, which is no multiple of 16", from);
      uint16_t value;
      std::memcpy(&value, simulator::shared_memory(from, 16) + static_cast<size_t>(column) * 2, 2);
      return uint32_t{value};
    };
    d[i] = trans ? element(2 * q, g) | element(2 * q + 1, g) << 16 : element(g, 2 * q) | element(g, 2 * q + 1) << 16;
  }
  simulator::exchange("ldmatrix's end", "", 1);
}

}  // namespace internal

inline void ldmatrix_x4(uint32_t (&d)[4], uint32_t address) { internal::ldmatrix<4, false>(d, address); }
inline void ldmatrix_x4_trans(uint32_t (&d)[4], uint32_t address) { internal::ldmatrix<4, true>(d, address); }
inline void ldmatrix_x2_trans(uint32_t (&d)[2], uint32_t address) { internal::ldmatrix<2, true>(d, address); }

}  // namespace tessera::kernels::ptx
