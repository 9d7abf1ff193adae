#pragma once

#include "plan/device_facts.h"
#include "tessera/status.h"

namespace tessera::kernels {

/// What the planner knows of a GPU of this machine, counted from 0. not_found says how many there are; unsupported:
/// built without CUDA.
Expected<plan::DeviceFacts> live_gpu(int index);

}  // namespace tessera::kernels
