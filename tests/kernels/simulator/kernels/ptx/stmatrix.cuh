#pragma once

#include "kernels/simulator/cuda_runtime.h"

namespace tessera::kernels::ptx {

inline void stmatrix_x2_trans(uint32_t address, uint32_t pair0, uint32_t pair1) {
  const uint32_t pairs[2] = {pair0, pair1};
  const std::byte* slots = simulator::exchange("stmatrix.x2", &address, sizeof address);
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, q = lane % 4;
  for (int i = 0; i < 2; ++i) {
    for (int half = 0; half < 2; ++half) {
      const auto column = simulator::of_lane<uint32_t>(slots, 8 * i + 2 * q + half);
      if (column % 16 != 0) simulator::fail("stmatrix to %u, which is no multiple of 16", column);
      const auto value = static_cast<uint16_t>(pairs[i] >> (16 * half));
      std::memcpy(simulator::shared_memory(column, 16) + static_cast<size_t>(g) * 2, &value, 2);
    }
  }
  simulator::exchange("stmatrix's end", "", 1);
}

}  // namespace tessera::kernels::ptx
