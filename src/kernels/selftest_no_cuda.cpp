#include "base/status.h"
#include "kernels/selftest.h"

// Linked in place of cuda/selftest.cpp unless TESSERA_CUDA and TESSERA_CUDA_KERNELS are on.
namespace tessera::kernels {
namespace {

Status built_without_cuda() {
  return error(StatusCode::unsupported,
               "built without CUDA kernels, so there is nothing to check; configure with -DTESSERA_CUDA=ON "
               "-DTESSERA_CUDA_KERNELS=ON (CUDA 13 or later)");
}

}  // namespace

Expected<std::string> selftest_environment(int /*gpu*/) { return built_without_cuda(); }
Status selftest(int /*gpu*/, const std::function<void(const SelftestCheck&)>& /*report*/) {
  return built_without_cuda();
}

}  // namespace tessera::kernels
