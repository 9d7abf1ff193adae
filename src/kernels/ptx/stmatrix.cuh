#pragma once

#include <cstdint>

namespace tessera::kernels::ptx {

/// Writes two 8x8 matrices of BF16 transposed: lane 4 g + q gives elements (g, 2q) and (g, 2q+1) of each; the 16 bytes
/// at the address of lane c (0..7) become column c of the first, those of lane 8 + c of the second.
__device__ inline void stmatrix_x2_trans(uint32_t address, uint32_t pair0, uint32_t pair1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(pair0), "r"(pair1)
               : "memory");
}

}  // namespace tessera::kernels::ptx
