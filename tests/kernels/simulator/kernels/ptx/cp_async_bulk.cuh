#pragma once

#include "kernels/simulator/block.h"

namespace tessera::kernels::ptx {

inline void cp_async_bulk(uint32_t shared_to, const void* from, uint32_t bytes, uint32_t barrier) {
  simulator::copy_later_to_barrier(shared_to, from, bytes, barrier);
}
inline void cp_async_bulk_once(uint32_t shared_to, const void* from, uint32_t bytes, uint32_t barrier) {
  cp_async_bulk(shared_to, from, bytes, barrier);
}

}  // namespace tessera::kernels::ptx
