#include <vector>

#include "kernels/cuda/dense_gemm.h"

// The list of all compiled dense kernels. Apart from the launch, so that tests can put a list of their own in its
// place.
namespace tessera::kernels::cuda {
namespace {

template <plan::WeightFormat format>
std::span<const DenseKernel> compiled() {
  static const std::vector<DenseKernel> kernels = [] {
    std::vector<DenseKernel> all;
    for (const DenseKernel& kernel : dense_family<format>()) {
      if (kernel.function != nullptr) all.push_back(kernel);
    }
    return all;
  }();
  return kernels;
}

}  // namespace

std::span<const DenseKernel> dense_kernels(plan::WeightFormat format) {
  switch (format) {
    case plan::WeightFormat::bf16: return compiled<plan::WeightFormat::bf16>();
    case plan::WeightFormat::fp8_e4m3: return compiled<plan::WeightFormat::fp8_e4m3>();
    case plan::WeightFormat::nvfp4: return compiled<plan::WeightFormat::nvfp4>();
    case plan::WeightFormat::mxfp4: return compiled<plan::WeightFormat::mxfp4>();
    default: return {};
  }
}

}  // namespace tessera::kernels::cuda
