#include "base/status.h"
#include "kernels/cuda/backend.h"
#include "kernels/live_gpu.h"

// Apart from the backend, so that tests can put a GPU of their own in the place of this machine's.
namespace tessera::kernels {

Expected<std::unique_ptr<Backend>> make_cuda_backend(const CudaBackendOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(plan::DeviceFacts facts, live_gpu(options.gpu));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(options.gpu));
  TESSERA_ASSIGN_OR_RETURN(auto uploader, cuda::Uploader::create());
  return std::unique_ptr<Backend>(std::make_unique<cuda::CudaBackend>(options, std::move(facts), std::move(uploader)));
}

}  // namespace tessera::kernels
