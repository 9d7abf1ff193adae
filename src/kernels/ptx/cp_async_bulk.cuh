#pragma once

#include <cstdint>

namespace tessera::kernels::ptx {

/// Copies `bytes` (a multiple of 16, both addresses too) to shared memory; they count towards the barrier's phase. The
/// shared::cta form: shared::cluster without a cluster launch is reported to cost gigabytes of driver memory.
__device__ inline void cp_async_bulk(uint32_t shared_to, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}

}  // namespace tessera::kernels::ptx
