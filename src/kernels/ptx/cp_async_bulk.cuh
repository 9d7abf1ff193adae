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

/// The same of bytes that nothing else reads before much more has been read: they are the first to leave L2, in place
/// of what kernels need again, their instructions among it.
__device__ inline void cp_async_bulk_once(uint32_t shared_to, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile(
      "{.reg .b64 policy;\n"
      "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], policy;}" ::
          "r"(shared_to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

}  // namespace tessera::kernels::ptx
