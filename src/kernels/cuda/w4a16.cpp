#include "kernels/cuda/w4a16.h"

#include <vector>

namespace tessera::kernels::cuda {
namespace {

template <plan::WeightFormat format>
std::vector<W4a16Kernel> all_kernels() {
  std::vector<W4a16Kernel> kernels;
  for (const auto& family :
       {w4a16_family<format, 2, 64>(), w4a16_family<format, 2, 128>(), w4a16_family<format, 2, 256>(),
        w4a16_family<format, 1, 64>(), w4a16_family<format, 1, 128>(), w4a16_family<format, 1, 256>()}) {
    for (const W4a16Kernel& kernel : family) {
      if (kernel.kernel != nullptr) kernels.push_back(kernel);
    }
  }
  return kernels;
}

}  // namespace

std::span<const W4a16Kernel> w4a16_kernels(plan::WeightFormat format) {
  static const auto nvfp4 = all_kernels<plan::WeightFormat::nvfp4>();
  static const auto mxfp4 = all_kernels<plan::WeightFormat::mxfp4>();
  return format == plan::WeightFormat::mxfp4 ? mxfp4 : nvfp4;
}

}  // namespace tessera::kernels::cuda
