#include <algorithm>
#include <array>
#include <cstdint>

#include "device/cuda.h"
#include "device/device.h"
#include "device/device_count.h"

namespace tessera::device {
namespace {

/// Reads words [0, count) with 16-byte loads and folds them into one word a thread, so that no load can be dropped.
__global__ void read_all(const uint4* words, size_t count, uint32_t* sink) {
  uint32_t folded = 0;
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 w = words[i];
    folded ^= w.x ^ w.y ^ w.z ^ w.w;
  }
  // The buffer holds one repeated byte, so an odd fold cannot occur by chance: the store keeps the loads alive.
  if (folded == 0x13579bdfU) *sink = folded;
}

}  // namespace

Expected<std::vector<GpuFacts>> list_gpus() {
  int count = 0;
  const WatchedCall watched("cudaGetDeviceCount");
  TESSERA_RETURN_IF_ERROR(device_count_status(cudaGetDeviceCount(&count)));
  std::vector<GpuFacts> gpus;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p{};
    TESSERA_CUDA_RETURN_IF_ERROR(cudaGetDeviceProperties(&p, i));
    std::array<char, 32> bus_id{};
    TESSERA_CUDA_RETURN_IF_ERROR(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), i));
    gpus.push_back({.index = i,
                    .name = p.name,
                    .pci_bus_id = bus_id.data(),
                    .compute_major = p.major,
                    .compute_minor = p.minor,
                    .sm_count = p.multiProcessorCount,
                    .smem_per_block_bytes_max = p.sharedMemPerBlockOptin,
                    .smem_per_sm_bytes = p.sharedMemPerMultiprocessor,
                    .l2_bytes = static_cast<size_t>(p.l2CacheSize),
                    .memory_bytes = p.totalGlobalMem});
  }
  return gpus;
}

Status has_kernels(int index) {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(index));
  cudaFuncAttributes attributes{};
  const WatchedCall watched("cudaFuncGetAttributes");
  const cudaError_t code = cudaFuncGetAttributes(&attributes, read_all);
  if (code != cudaErrorNoKernelImageForDevice && code != cudaErrorInvalidDeviceFunction) {
    return cuda_status(code, "cudaFuncGetAttributes");
  }
  (void)cudaGetLastError();  // not an error of what comes next
  cudaDeviceProp p{};
  TESSERA_CUDA_RETURN_IF_ERROR(cudaGetDeviceProperties(&p, index));
  return {StatusCode::unsupported,
          "GPU " + std::to_string(index) + " (" + p.name + ") has compute capability " + std::to_string(p.major) + "." +
              std::to_string(p.minor) +
              ", for which this build has no kernels; it has them for " TESSERA_CUDA_BUILT_FOR};
}

Expected<GpuMemory> gpu_memory(int index) {
  GpuMemory memory;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(index));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&memory.free_bytes, &memory.total_bytes));
  return memory;
}

Expected<double> measure_read_rate(int index, size_t bytes) {
  constexpr int kPasses = 9;
  constexpr int kBlocksPerSm = 8;
  constexpr int kThreads = 256;
  if (bytes < sizeof(uint4)) {
    return Status(StatusCode::invalid_argument,
                  "cannot measure a read rate over " + std::to_string(bytes) + " bytes; at least 16 are needed");
  }
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(index));
  cudaDeviceProp properties{};
  TESSERA_CUDA_RETURN_IF_ERROR(cudaGetDeviceProperties(&properties, index));
  Stream stream;
  Event begin, end;
  DeviceMemory buffer, sink;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreate(begin.fill()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreate(end.fill()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMalloc(buffer.fill(), bytes));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMalloc(sink.fill(), sizeof(uint32_t)));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(buffer.get(), 0x5a, bytes, stream.get()));
  std::array<double, kPasses> rates{};
  for (double& rate : rates) {
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(begin.get(), stream.get()));
    TESSERA_RETURN_IF_ERROR(launch(read_all,
                                   {.grid = static_cast<unsigned>(properties.multiProcessorCount * kBlocksPerSm),
                                    .block = kThreads,
                                    .stream = stream.get()},
                                   static_cast<const uint4*>(buffer.get()), bytes / sizeof(uint4),
                                   static_cast<uint32_t*>(sink.get())));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(end.get(), stream.get()));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(end.get()));
    float milliseconds = 0;
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
    rate = static_cast<double>(bytes) / (milliseconds * 1e-3);
  }
  std::sort(rates.begin(), rates.end());
  return rates[kPasses / 2];
}

}  // namespace tessera::device
