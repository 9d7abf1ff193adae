#include "base/status.h"
#include "kernels/cuda/backend.h"
#include "plan/device_facts.h"

// The backend of the simulated GPU, which is planned for like an H200 of few SMs, so that grids are small. In the place
// of live_backend.cpp.
namespace tessera::kernels {

Expected<std::unique_ptr<Backend>> make_cuda_backend(const CudaBackendOptions& options) {
  plan::DeviceFacts facts = *plan::find_device("h200");
  facts.sm_count = 4;
  TESSERA_ASSIGN_OR_RETURN(auto uploader, cuda::Uploader::create());
  return std::unique_ptr<Backend>(std::make_unique<cuda::CudaBackend>(options, facts, std::move(uploader)));
}

}  // namespace tessera::kernels
