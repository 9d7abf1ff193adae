#include <array>

#include "kernels/cuda/dense_gemm.cuh"

// The tiles of dense products that are simulated: one of every kind. In the place of dense_kernels.cpp.
namespace tessera::kernels::cuda {
namespace {

constexpr std::array<plan::DenseTile, 5> kTiles = {
    {{32, 32, 2}, {64, 24, 2}, {64, 64, 2}, {128, 128, 1}, {256, 64, 1}}};

template <plan::WeightFormat format, size_t... i>
std::span<const DenseKernel> simulated(std::index_sequence<i...>) {
  static const std::array<DenseKernel, sizeof...(i)> kernels = {
      dense_kernel_of<plan::make_dense_tile(format, kTiles[i])>()...};
  return kernels;
}

template <plan::WeightFormat format>
std::span<const DenseKernel> simulated() {
  return simulated<format>(std::make_index_sequence<kTiles.size()>());
}

}  // namespace

std::span<const DenseKernel> dense_kernels(plan::WeightFormat format) {
  switch (format) {
    case plan::WeightFormat::bf16: return simulated<plan::WeightFormat::bf16>();
    case plan::WeightFormat::fp8_e4m3: return simulated<plan::WeightFormat::fp8_e4m3>();
    case plan::WeightFormat::nvfp4: return simulated<plan::WeightFormat::nvfp4>();
    case plan::WeightFormat::mxfp4: return simulated<plan::WeightFormat::mxfp4>();
    default: return {};
  }
}

}  // namespace tessera::kernels::cuda
