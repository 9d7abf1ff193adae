#include "base/status.h"
#include "model/cuda_runner.h"

// Linked in place of the CUDA runner unless TESSERA_CUDA is on.
namespace tessera::model {

Expected<std::unique_ptr<StepRunner>> make_cuda_runner(const CudaRunnerParts& /*parts*/) {
  return error(StatusCode::unsupported,
               "built without CUDA; configure with -DTESSERA_CUDA=ON (CUDA 13 or later) to use a GPU");
}

}  // namespace tessera::model
