#pragma once

#include <cstdint>

// Programmatic dependent launch: kernels/cuda/step_tables.h has the rule. Without the launch attribute both do nothing.
namespace tessera::kernels::ptx {

/// In builds for tests (CMake's TESSERA_RANDOM_DELAYS), a quarter of all warps sleeps for up to 16 us, others each
/// time, so that a read or a write at the wrong side of a wait finds what it must not. Changes no bit.
__device__ inline void random_delay() {
#ifdef TESSERA_RANDOM_DELAYS
  const uint32_t warp = (blockIdx.x * 8191 + blockIdx.y * 127 + blockIdx.z) * 32 + threadIdx.x / 32;
  uint32_t x = warp * 2654435761U + static_cast<uint32_t>(clock64() >> 6);
  x = (x ^ x >> 15) * 2246822519U;
  x = __reduce_max_sync(__activemask(), x ^ x >> 13);
  if (x % 4 == 0) __nanosleep(x / 4 % 16384);
#endif
}

/// Returns when the kernels that this one depends on have finished, their writes visible.
__device__ inline void griddepcontrol_wait() {
  random_delay();
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// Lets the dependent kernel's blocks start, once every block of this one has called it or ended.
__device__ inline void griddepcontrol_launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;");
  random_delay();
}

/// The same before this kernel's own wait: of the kernels that step_tables.h names, and of no other.
__device__ inline void griddepcontrol_launch_dependents_early() { griddepcontrol_launch_dependents(); }

}  // namespace tessera::kernels::ptx
