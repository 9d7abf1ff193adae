#pragma once

#include <cstdint>

namespace tessera::kernels::ptx {

/// Bits of `set` where mask is 1, of `clear` where it is 0: one instruction, where the compiler makes two of the
/// expression with a constant mask.
template <uint32_t mask>
__device__ inline uint32_t select_bits(uint32_t set, uint32_t clear) {
  uint32_t d;
  asm("lop3.b32 %0, %1, %2, %3, 0xe4;" : "=r"(d) : "r"(set), "r"(clear), "n"(mask));
  return d;
}

}  // namespace tessera::kernels::ptx
