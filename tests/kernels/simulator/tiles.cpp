#include <array>

#include "kernels/cuda/family.cuh"

// The tiles that are simulated: one of every kind, since all of a path are one source. In the place of kernels.cpp.
namespace tessera::kernels::cuda {
namespace {

using plan::Path;
using plan::WeightFormat;

struct Sizes {
  int m, n, k, blocks_per_sm;
};
constexpr std::array<Sizes, 9> kW4a16 = {{{64, 8, 256, 2},
                                          {64, 16, 128, 2},
                                          {128, 24, 64, 2},
                                          {256, 8, 128, 2},
                                          {64, 64, 64, 2},
                                          {128, 128, 64, 1},
                                          {64, 96, 128, 1},
                                          {256, 64, 64, 1},
                                          {256, 96, 128, 1}}};
constexpr std::array<Sizes, 6> kW4a4 = {
    {{64, 8, 256, 2}, {128, 24, 128, 2}, {64, 64, 256, 1}, {128, 128, 128, 1}, {128, 256, 64, 1}, {256, 128, 64, 1}}};

template <Path path, WeightFormat format, const auto& sizes, size_t... i>
std::array<Kernel, sizeof...(i)> kernels_of(std::index_sequence<i...>) {
  return {kernel_of<plan::make_tile(path, format, sizes[i].m, sizes[i].n, sizes[i].k, sizes[i].blocks_per_sm)>()...};
}

template <Path path, WeightFormat format>
std::span<const Kernel> simulated() {
  constexpr const auto& kSizes = []() -> const auto& {
    if constexpr (path == Path::w4a16) {
      return kW4a16;
    } else {
      return kW4a4;
    }
  }
  ();
  static const auto kernels = kernels_of<path, format, kSizes>(std::make_index_sequence<kSizes.size()>());
  return kernels;
}

template <WeightFormat format>
std::span<const Kernel> simulated_elements() {
  static const std::array kernels = {kernel_of<plan::make_dense_tile(format, plan::kDenseTiles[2])>(),
                                     kernel_of<plan::make_dense_tile(format, plan::kDenseTiles[8])>()};
  return kernels;
}

}  // namespace

std::span<const Kernel> kernels(Path path, WeightFormat format) {
  if (format == WeightFormat::bf16) return simulated_elements<WeightFormat::bf16>();
  if (format == WeightFormat::fp8_e4m3) return simulated_elements<WeightFormat::fp8_e4m3>();
  const bool nvfp4 = format == WeightFormat::nvfp4;
  if (path == Path::w4a16) {
    return nvfp4 ? simulated<Path::w4a16, WeightFormat::nvfp4>() : simulated<Path::w4a16, WeightFormat::mxfp4>();
  }
  return nvfp4 ? simulated<Path::w4a4, WeightFormat::nvfp4>() : simulated<Path::w4a4, WeightFormat::mxfp4>();
}

}  // namespace tessera::kernels::cuda
