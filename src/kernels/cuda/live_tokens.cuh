#pragma once

#include <cstdint>

// How many rows of a launch count: a graph is captured for `tokens` of them and run with fewer.
namespace tessera::kernels::cuda {

/// live: null where all count. Past L1, so that it may be read before a PDL wait (step_tables.h).
__device__ inline int live_tokens(const int32_t* live, int tokens) { return live != nullptr ? __ldcg(live) : tokens; }

}  // namespace tessera::kernels::cuda
