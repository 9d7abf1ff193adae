#pragma once

#include <cstddef>
#include <span>

#include "kernels/cuda/w4a4.h"
#include "plan/candidates.h"

// The prefill tiles of one format and m: a source file each, so that they compile side by side.
namespace tessera::kernels::cuda {

using W4a4Kernel = void (*)(W4a4Args);

template <WeightFormat format, int m>
struct W4a4Family {
  static constexpr size_t kCount = plan::kPrefillCols.size() * plan::kTileDepths.size();

  static constexpr plan::Tile tile(size_t i) {
    return plan::make_tile(plan::Path::w4a4, format, m, plan::kPrefillCols[i / plan::kTileDepths.size()],
                           plan::kTileDepths[i % plan::kTileDepths.size()], 1);
  }
};

/// In the order of W4a4Family::tile; null where no kernel is compiled. Defined in w4a4_instantiate.cuh.
template <WeightFormat format, int m>
std::span<const W4a4Kernel> w4a4_family();

}  // namespace tessera::kernels::cuda
