#pragma once

#include <array>
#include <utility>

#include "kernels/cuda/w4a4_gemm.cuh"
#include "kernels/cuda/w4a4_table.h"

// For the source files that a family's kernels are compiled in, and no other: whoever includes this compiles them.
namespace tessera::kernels::cuda {

template <plan::Tile tile>
constexpr W4a4Kernel compiled_or_null() {
  if constexpr (plan::compiled(tile)) {
    return w4a4_kernel<plan::Budget<tile>>;
  } else {
    return nullptr;
  }
}

template <WeightFormat format, int m, size_t... i>
std::array<W4a4Kernel, sizeof...(i)> compiled_kernels(std::index_sequence<i...>) {
  return {compiled_or_null<W4a4Family<format, m>::tile(i)>()...};
}

template <WeightFormat format, int m>
std::span<const W4a4Kernel> w4a4_family() {
  static const auto kernels = compiled_kernels<format, m>(std::make_index_sequence<W4a4Family<format, m>::kCount>());
  return kernels;
}

}  // namespace tessera::kernels::cuda
