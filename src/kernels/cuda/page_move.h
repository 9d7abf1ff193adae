#pragma once

#include <memory>
#include <span>
#include <utility>

#include "device/cuda.h"
#include "kernels/page_move.h"

namespace tessera::kernels::cuda {

/// Pinned memory.
class PinnedPages final : public HostPages {
 public:
  static Expected<std::unique_ptr<HostPages>> create(size_t page_bytes, int32_t pages);
  PinnedPages(device::Handle<void*, cudaFreeHost> memory, size_t page_bytes, int32_t pages)
      : HostPages(static_cast<std::byte*>(memory.get()), page_bytes, pages), memory_(std::move(memory)) {}

 private:
  device::Handle<void*, cudaFreeHost> memory_;
};

/// Behind what is in the stream; does not wait for it. `object`: what is moved, in the GPU's memory.
Status move_page(const PageMove& move, std::span<const LayeredBytes> object, const HostPages& pages,
                 cudaStream_t stream);

}  // namespace tessera::kernels::cuda
