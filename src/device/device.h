#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tessera/status.h"

namespace tessera::device {

/// What the driver says of one GPU. Bytes are bytes; nothing here is a guess from a table.
struct GpuFacts {
  int index = 0;
  std::string name;
  std::string pci_bus_id;  // "00000000:19:00.0": what other libraries know the GPU by
  int compute_major = 0;   // 12.0 is RTX PRO 6000 and RTX 5090, 9.0 is H200
  int compute_minor = 0;
  int sm_count = 0;
  size_t smem_per_block_bytes_max = 0;  // with opt-in
  size_t smem_per_sm_bytes = 0;
  size_t l2_bytes = 0;
  size_t memory_bytes = 0;
};

/// The GPUs of this process, in CUDA's order (CUDA_VISIBLE_DEVICES applies). A build without CUDA answers
/// `unsupported`: "built without CUDA", and how to build with it.
Expected<std::vector<GpuFacts>> list_gpus();

/// Whether this build has machine code for GPU `index`; `unsupported` names the GPU and its compute capability.
Status has_kernels(int index);

/// Memory of GPU `index`, bytes: what other processes hold is not free.
struct GpuMemory {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
};
Expected<GpuMemory> gpu_memory(int index);

/// Measures how fast GPU `index` reads memory: bytes per second over `bytes` of device memory, median of several
/// passes, the floor that every memory-bound kernel is judged by.
Expected<double> measure_read_rate(int index, size_t bytes);

}  // namespace tessera::device
