#include <vector>

#include "kernels/cuda/grouped_gemm.h"

// The list of all compiled kernels. Apart from the launch, so that tests can put a list of their own in its place.
namespace tessera::kernels::cuda {
namespace {

using plan::Path;
using plan::WeightFormat;

std::vector<Kernel> compiled_of(std::initializer_list<std::span<const Kernel>> families) {
  std::vector<Kernel> all;
  for (const auto& family : families) {
    for (const Kernel& kernel : family) {
      if (kernel.function != nullptr) all.push_back(kernel);
    }
  }
  return all;
}

template <Path path, WeightFormat format>
std::span<const Kernel> all_kernels() {
  static const auto kernels =
      compiled_of({family<path, format, 2, 64>(), family<path, format, 2, 128>(), family<path, format, 2, 256>(),
                   family<path, format, 1, 64>(), family<path, format, 1, 128>(), family<path, format, 1, 256>()});
  return kernels;
}

template <WeightFormat format>
std::span<const Kernel> compiled_elements() {
  static const auto kernels = compiled_of({element_family<format>()});
  return kernels;
}

template <Path path>
std::span<const Kernel> of_format(WeightFormat format) {
  if (format == WeightFormat::nvfp4) return all_kernels<path, WeightFormat::nvfp4>();
  if (format == WeightFormat::mxfp4) return all_kernels<path, WeightFormat::mxfp4>();
  return {};
}

}  // namespace

std::span<const Kernel> kernels(Path path, WeightFormat format) {
  if (path == Path::w4a16 && format == WeightFormat::bf16) return compiled_elements<WeightFormat::bf16>();
  if (path == Path::w4a16 && format == WeightFormat::fp8_e4m3) return compiled_elements<WeightFormat::fp8_e4m3>();
  return path == Path::w4a16 ? of_format<Path::w4a16>(format) : of_format<Path::w4a4>(format);
}

}  // namespace tessera::kernels::cuda
