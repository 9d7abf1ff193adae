#pragma once

#include <cstdint>

namespace tessera::kernels::ptx {

template <uint32_t mask>
uint32_t select_bits(uint32_t set, uint32_t clear) {
  return (set & mask) | (clear & ~mask);
}

}  // namespace tessera::kernels::ptx
