#include "kernels/live_gpu.h"

#include "base/status.h"

namespace tessera::kernels {

Expected<plan::DeviceFacts> live_gpu(int index) {
  TESSERA_ASSIGN_OR_RETURN(const auto gpus, device::list_gpus());
  return facts_of(gpus, index);
}

Expected<plan::DeviceFacts> facts_of(std::span<const device::GpuFacts> gpus, int index) {
  if (index < 0 || static_cast<size_t>(index) >= gpus.size()) {
    return error(StatusCode::not_found, "no GPU {}; this machine has {}, counted from 0", index, gpus.size());
  }
  const device::GpuFacts& gpu = gpus[static_cast<size_t>(index)];
  return plan::live_facts({.name = gpu.name,
                           .compute_major = gpu.compute_major,
                           .compute_minor = gpu.compute_minor,
                           .sm_count = gpu.sm_count,
                           .smem_per_block_bytes = static_cast<int64_t>(gpu.smem_per_block_bytes_max),
                           .smem_per_sm_bytes = static_cast<int64_t>(gpu.smem_per_sm_bytes),
                           .l2_bytes = static_cast<int64_t>(gpu.l2_bytes),
                           .memory_bytes = static_cast<int64_t>(gpu.memory_bytes)});
}

}  // namespace tessera::kernels
