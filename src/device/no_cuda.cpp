#include "base/status.h"
#include "device/device.h"
#include "device/peer_copy.h"

// Linked in place of the CUDA sources when TESSERA_CUDA is off, so that callers need no #ifdef.
namespace tessera::device {
namespace {

Status built_without_cuda() {
  return error(StatusCode::unsupported,
               "built without CUDA: configure with -DTESSERA_CUDA=ON (CUDA 13 or later) to use a GPU");
}

}  // namespace

Expected<std::vector<GpuFacts>> list_gpus() { return built_without_cuda(); }
Status has_kernels(int /*index*/) { return built_without_cuda(); }
Expected<GpuMemory> gpu_memory(int /*index*/) { return built_without_cuda(); }
Expected<double> measure_read_rate(int /*index*/, size_t /*bytes*/) { return built_without_cuda(); }
Expected<std::vector<PeerCopy>> try_peer_copies(size_t /*bytes*/) { return built_without_cuda(); }

}  // namespace tessera::device
