#pragma once

#include <cstdint>

namespace tessera::kernels::ptx {

/// 16 bytes to shared memory, through L1. `bytes` 16, or 0: zeros, and the source is not read.
__device__ inline void cp_async_ca_16(uint32_t shared_to, const void* from, uint32_t bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(shared_to), "l"(from), "r"(bytes) : "memory");
}

/// 4 bytes to shared memory, through L1.
__device__ inline void cp_async_ca_4(uint32_t shared_to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_to), "l"(from) : "memory");
}

/// 16 bytes to shared memory, past L1.
__device__ inline void cp_async_cg_16(uint32_t shared_to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_to), "l"(from) : "memory");
}

/// This thread's copies since the last commit are a group, even if there are none.
__device__ inline void cp_async_commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Until all but the last `pending` of this thread's groups have landed.
template <int pending>
__device__ inline void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Arrives once when all of this thread's copies so far are complete; the barrier's count includes it (.noinc).
__device__ inline void cp_async_mbarrier_arrive_noinc(uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

}  // namespace tessera::kernels::ptx
