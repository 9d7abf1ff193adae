#pragma once

namespace tessera::kernels::ptx {

/// Named barrier 1 to 15 (0 is __syncthreads), for the first `threads` threads of a block that come to it.
__device__ inline void barrier_sync(int barrier, int threads) {
  asm volatile("barrier.sync.aligned %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

}  // namespace tessera::kernels::ptx
