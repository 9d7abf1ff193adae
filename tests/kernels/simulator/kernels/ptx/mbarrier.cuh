#pragma once

#include "kernels/simulator/block.h"

namespace tessera::kernels::ptx {

inline uint32_t shared_address(const void* p) { return simulator::shared_address(p); }
inline void mbarrier_init(uint32_t barrier, uint32_t arrivals) { simulator::mbarrier_init(barrier, arrivals); }
inline void fence_mbarrier_init() {}
inline void mbarrier_arrive(uint32_t barrier) { simulator::mbarrier_arrive(barrier, 0); }
inline void mbarrier_arrive_expect_tx(uint32_t barrier, uint32_t bytes) { simulator::mbarrier_arrive(barrier, bytes); }
inline void mbarrier_wait_parity(uint32_t barrier, uint32_t parity) {
  simulator::mbarrier_wait_parity(barrier, parity);
}

}  // namespace tessera::kernels::ptx
