#pragma once

#include "kernels/simulator/cuda_runtime.h"

namespace tessera::kernels::ptx {

namespace simulated {

/// `matrices` of 8x8: lane 4 g + q gives (g, 2q) and (g, 2q+1) of each; lane 8 i + c the address of column c of the
/// i-th.
inline void stmatrix_trans(uint32_t address, const uint32_t* pairs, int matrices) {
  uint32_t mine[3] = {address};
  for (int i = 0; i < matrices; ++i) mine[1 + i] = pairs[i];
  const std::byte* slots = simulator::exchange(matrices == 1 ? "stmatrix.x1" : "stmatrix.x2", mine, sizeof mine);
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, q = lane % 4;
  for (int i = 0; i < matrices; ++i) {
    for (int half = 0; half < 2; ++half) {
      const auto row = simulator::of_lane<uint32_t>(slots, 8 * i + 2 * q + half);
      if (row % 16 != 0) simulator::fail("stmatrix to %u, which is no multiple of 16", row);
      const auto value = static_cast<uint16_t>(pairs[i] >> (16 * half));
      std::memcpy(simulator::shared_memory(row, 16) + static_cast<size_t>(g) * 2, &value, 2);
    }
  }
  simulator::exchange("stmatrix's end", "", 1);
}

}  // namespace simulated

inline void stmatrix_x1_trans(uint32_t address, uint32_t pair) { simulated::stmatrix_trans(address, &pair, 1); }
inline void stmatrix_x2_trans(uint32_t address, uint32_t pair0, uint32_t pair1) {
  const uint32_t pairs[2] = {pair0, pair1};
  simulated::stmatrix_trans(address, pairs, 2);
}

}  // namespace tessera::kernels::ptx
