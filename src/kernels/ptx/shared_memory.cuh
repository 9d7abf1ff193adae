#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::kernels::ptx {

/// The block's dynamic shared memory.
__device__ inline std::byte* dynamic_shared_memory() {
  extern __shared__ __align__(128) std::byte smem[];
  return smem;
}

/// An address of the shared window, as instructions on shared memory take it.
__device__ inline uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

}  // namespace tessera::kernels::ptx
