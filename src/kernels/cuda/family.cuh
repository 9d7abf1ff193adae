#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "kernels/cuda/w4a16_gemm.cuh"
#include "kernels/cuda/w4a4_gemm.cuh"
#include "plan/candidates.h"

// For the source files that families are compiled in (family.cu.in), and no other: whoever includes this compiles
// kernels.
namespace tessera::kernels::cuda {

/// The kernel of a tile, null where plan::compiled() says no.
template <plan::Tile tile>
constexpr Kernel kernel_of() {
  if constexpr (!plan::compiled(tile)) {
    return {tile, nullptr};
  } else if constexpr (tile.path == plan::Path::w4a16) {
    return {tile, w4a16_gemm<plan::Budget<tile>>};
  } else {
    return {tile, w4a4_gemm<plan::Budget<tile>>};
  }
}

template <plan::Path path, plan::WeightFormat format, int blocks_per_sm, int m, size_t... i>
std::array<Kernel, sizeof...(i)> family_kernels(std::index_sequence<i...>) {
  constexpr size_t kDepths = plan::kTileDepths.size();
  constexpr auto kCols = plan::family_cols(blocks_per_sm);
  return {kernel_of<plan::make_tile(path, format, m, kCols[i / kDepths], plan::kTileDepths[i % kDepths],
                                    blocks_per_sm)>()...};
}

template <plan::WeightFormat format, size_t... i>
std::array<Kernel, sizeof...(i)> element_kernels(std::index_sequence<i...>) {
  return {kernel_of<plan::make_dense_tile(format, plan::kDenseTiles[i])>()...};
}

template <plan::WeightFormat format>
std::span<const Kernel> element_family() {
  static const auto kernels = element_kernels<format>(std::make_index_sequence<plan::kDenseTiles.size()>());
  return kernels;
}

template <plan::Path path, plan::WeightFormat format, int blocks_per_sm, int m>
std::span<const Kernel> family() {
  constexpr size_t kCount = plan::family_cols(blocks_per_sm).size() * plan::kTileDepths.size();
  static const auto kernels = family_kernels<path, format, blocks_per_sm, m>(std::make_index_sequence<kCount>());
  return kernels;
}

}  // namespace tessera::kernels::cuda
