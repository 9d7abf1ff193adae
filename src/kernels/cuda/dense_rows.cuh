#pragma once

#include <cstdint>

// What kernels of dense products know of their rows.
namespace tessera::kernels::cuda {

/// Read past L1: another kernel of the step wrote it. As that was the step's first, it may be read before the PDL wait
/// by all but the first two (step_tables.h).
template <typename Args>
__device__ inline int live_rows(const Args& args) {
  return args.live_rows != nullptr ? min(__ldcg(args.live_rows), args.rows_max) : args.rows_max;
}

}  // namespace tessera::kernels::cuda
