#pragma once

#include <span>

#include "device/device.h"
#include "plan/device_facts.h"
#include "tessera/status.h"

namespace tessera::kernels {

/// What the planner knows of a GPU of this machine, counted from 0. not_found says how many there are; unsupported:
/// built without CUDA.
Expected<plan::DeviceFacts> live_gpu(int index);

/// The same of a machine that has these.
Expected<plan::DeviceFacts> facts_of(std::span<const device::GpuFacts> gpus, int index);

}  // namespace tessera::kernels
