#pragma once

#include "kernels/simulator/block.h"

namespace tessera::kernels::ptx {

inline std::byte* dynamic_shared_memory() { return simulator::shared_memory(simulator::kSharedBase, 0); }

}  // namespace tessera::kernels::ptx
