#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "kernels/cuda/w4a16_gemm.cuh"
#include "plan/candidates.h"

// Kernels of one format, blocks per SM and m: a source file each, so that they compile side by side.
namespace tessera::kernels::cuda {

template <plan::WeightFormat format, int blocks_per_sm, int m>
struct W4a16Family {
  static constexpr size_t kDepths = plan::kTileDepths.size();
  static constexpr size_t kCount =
      (blocks_per_sm == 2 ? plan::kDecodeCols.size() : plan::kPrefillCols.size()) * kDepths;

  static constexpr plan::Tile tile(size_t i) {
    const int n = blocks_per_sm == 2 ? plan::kDecodeCols[i / kDepths] : plan::kPrefillCols[i / kDepths];
    return plan::make_tile(plan::Path::w4a16, format, m, n, plan::kTileDepths[i % kDepths], blocks_per_sm);
  }
  template <size_t i>
  static W4a16Kernel entry() {
    constexpr plan::Tile kTile = tile(i);
    if constexpr (plan::compiled(kTile)) {
      using Budget = plan::Budget<kTile>;
      return {kTile, Budget::kSmem.total_bytes, folds_segments(kTile), splits_segments(kTile), w4a16_gemm<Budget>};
    } else {
      return {};
    }
  }
  template <size_t... i>
  static std::array<W4a16Kernel, kCount> entries(std::index_sequence<i...>) {
    return {entry<i>()...};
  }
};

template <plan::WeightFormat format, int blocks_per_sm, int m>
std::span<const W4a16Kernel> w4a16_family() {
  using Family = W4a16Family<format, blocks_per_sm, m>;
  static const auto kernels = Family::entries(std::make_index_sequence<Family::kCount>());
  return kernels;
}

}  // namespace tessera::kernels::cuda
