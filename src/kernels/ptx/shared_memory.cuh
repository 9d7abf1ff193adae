#pragma once

#include <cstddef>

namespace tessera::kernels::ptx {

/// The block's dynamic shared memory.
__device__ inline std::byte* dynamic_shared_memory() {
  extern __shared__ __align__(128) std::byte smem[];
  return smem;
}

}  // namespace tessera::kernels::ptx
