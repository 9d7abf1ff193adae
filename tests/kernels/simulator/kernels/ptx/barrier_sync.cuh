#pragma once

#include "kernels/simulator/block.h"

namespace tessera::kernels::ptx {

inline void barrier_sync(int barrier, int threads) { simulator::block_barrier(barrier, threads); }

}  // namespace tessera::kernels::ptx
