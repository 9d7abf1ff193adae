#include "kernels/cuda/page_move.h"

#include <limits>

#include "base/status.h"

namespace tessera::kernels::cuda {

Expected<std::unique_ptr<HostPages>> PinnedPages::create(size_t page_bytes, int32_t pages) {
  const size_t bytes = static_cast<size_t>(pages) * page_bytes;
  device::Handle<void*, cudaFreeHost> memory;
  const WatchedCall watched("cudaHostAlloc");
  const cudaError_t code = cudaHostAlloc(memory.fill(), bytes, cudaHostAllocPortable);
  if (code != cudaSuccess) {
    return error(StatusCode::resource_exhausted,
                 "{} bytes of the host's memory cannot be pinned for what the prefix cache gives up ({}); give it less "
                 "(kv_offload)",
                 bytes, cudaGetErrorString(code));
  }
  return std::unique_ptr<HostPages>(std::make_unique<PinnedPages>(std::move(memory), page_bytes, pages));
}

/// Rows of all layers in one call: a block of the 35B shape is 20 of 64 KiB.
Status move_page(const PageMove& move, std::span<const LayeredBytes> object, const HostPages& pages,
                 cudaStream_t stream) {
  constexpr size_t kPitchMax = std::numeric_limits<int32_t>::max();  // that cudaMemcpy2D takes
  Status status;
  const WatchedCall watched("cudaMemcpyAsync");  // waits where more is waiting than the driver queues
  for_each_run(move, object, pages, [&](const LayeredBytes& run, std::byte* page) {
    const size_t rows_at_once = run.pitch <= kPitchMax ? run.rows : 1;
    for (size_t row = 0; row < run.rows && status.ok(); row += rows_at_once) {
      std::byte* const here = run.first + row * run.pitch;
      std::byte* const there = page + row * run.width;
      status = device::cuda_status(
          move.to_host ? cudaMemcpy2DAsync(there, run.width, here, rows_at_once == 1 ? run.width : run.pitch, run.width,
                                           rows_at_once, cudaMemcpyDeviceToHost, stream)
                       : cudaMemcpy2DAsync(here, rows_at_once == 1 ? run.width : run.pitch, there, run.width, run.width,
                                           rows_at_once, cudaMemcpyHostToDevice, stream),
          "cudaMemcpy2DAsync");
    }
  });
  return status;
}

}  // namespace tessera::kernels::cuda
