#pragma once

#include <cstdint>

#include "kernels/ptx/shared_memory.cuh"

// Barriers in shared memory that count arriving threads and arriving bytes. Addresses are of the shared window
// (shared_address()); a barrier is 8 bytes, aligned to 8. A phase completes when every expected thread has arrived
// and every expected byte has landed; waits name the parity of the phase they wait for, 0 first.
namespace tessera::kernels::ptx {

__device__ inline void mbarrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes initialised barriers visible to the copy engine; a __syncthreads() makes them visible to the block.
__device__ inline void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void mbarrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives, and makes the phase wait for `bytes` more.
__device__ inline void mbarrier_arrive_expect_tx(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// Returns once the phase of this parity is complete; what was written before it is then visible.
__device__ inline void mbarrier_wait_parity(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}

}  // namespace tessera::kernels::ptx
