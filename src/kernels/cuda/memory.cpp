#include "kernels/cuda/memory.h"

#include <algorithm>
#include <atomic>

#include "base/status.h"

namespace tessera::kernels::cuda {

Expected<DeviceBuffer> DeviceBuffer::allocate(size_t bytes) {
  DeviceBuffer buffer;
  buffer.bytes = std::max<size_t>(bytes, 16);
  const WatchedCall watched("cudaMalloc");
  const cudaError_t code = cudaMalloc(buffer.memory.fill(), buffer.bytes);
  if (code == cudaErrorMemoryAllocation) {
    size_t free = 0, total = 0;
    TESSERA_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free, &total));
    return error(StatusCode::resource_exhausted, "{} bytes of GPU memory are needed, and {} of {} are free", bytes,
                 free, total);
  }
  TESSERA_RETURN_IF_ERROR(device::cuda_status(code, "cudaMalloc"));
  return buffer;
}

Expected<DeviceBuffer> DeviceBuffer::create(size_t bytes, int fill) {
  TESSERA_ASSIGN_OR_RETURN(DeviceBuffer buffer, allocate(bytes));
  // Not the whole device: another engine's stream may be being captured, which nobody may wait for.
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(buffer.memory.get(), fill, buffer.bytes, cudaStreamPerThread));
  const WatchedCall watched("cudaStreamSynchronize");
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(cudaStreamPerThread));
  return buffer;
}

DeviceBuffer DeviceBuffer::nowhere(size_t bytes) {
  DeviceBuffer buffer;
  static std::atomic<uintptr_t> next = kNowhere;
  constexpr size_t kAlignment = 256;
  buffer.bytes = bytes;
  *buffer.memory.fill() = reinterpret_cast<void*>(next.fetch_add((bytes / kAlignment + 1) * kAlignment));
  return buffer;
}

Expected<MappedBuffer> MappedBuffer::create(size_t bytes) {
  MappedBuffer buffer;
  buffer.bytes = std::max<size_t>(bytes, 16);
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaHostAlloc(buffer.memory.fill(), buffer.bytes, cudaHostAllocMapped | cudaHostAllocPortable));
  std::fill_n(buffer.host(), buffer.bytes, std::byte{0});
  void* device = nullptr;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(&device, buffer.memory.get(), 0));
  buffer.device = static_cast<std::byte*>(device);
  return buffer;
}

size_t Arena::bytes() const {
  size_t sum = 0;
  for (const DeviceBuffer& chunk : chunks_) sum += chunk.bytes;
  return sum;
}

Expected<std::byte*> Arena::take(size_t bytes) {
  constexpr size_t kAlignment = 256, kChunkBytes = size_t{64} << 20;
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].bytes) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    const size_t chunk_bytes = std::max(bytes, kChunkBytes);
    if (nowhere_) {
      chunks_.push_back(DeviceBuffer::nowhere(chunk_bytes));
    } else {
      TESSERA_ASSIGN_OR_RETURN(auto chunk, DeviceBuffer::create(chunk_bytes));
      chunks_.push_back(std::move(chunk));
    }
  }
  std::byte* taken = chunks_[chunk_].as<std::byte>(used_);
  used_ += bytes;
  return taken;
}

}  // namespace tessera::kernels::cuda
