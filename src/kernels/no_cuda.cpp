#include "base/status.h"
#include "kernels/cuda_backend.h"
#include "kernels/step_plan.h"

// Linked in place of the CUDA kernels unless TESSERA_CUDA is on.
namespace tessera::kernels {

Expected<std::unique_ptr<Backend>> make_cuda_backend(const CudaBackendOptions& /*options*/) {
  return error(StatusCode::unsupported,
               "built without CUDA, so there are no GPU kernels; configure with -DTESSERA_CUDA=ON (CUDA 13 or later)");
}

Expected<std::unique_ptr<Backend>> make_planning_backend(const plan::DeviceFacts& /*gpu*/, plan::TuningCache /*tuning*/,
                                                         std::vector<PlannedOperation>& /*operations*/,
                                                         Comm* /*comm*/) {
  return error(
      StatusCode::unsupported,
      "built without CUDA, so there are no GPU kernels to plan with; configure with -DTESSERA_CUDA=ON (CUDA 13 "
      "or later); no GPU is needed");
}

}  // namespace tessera::kernels
