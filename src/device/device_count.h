#pragma once

#include <cuda_runtime.h>

#include <string>

#include "device/cuda.h"

namespace tessera::device {

/// What cudaGetDeviceCount has said. not_found: there is no GPU, or no driver that can serve this build; all else is as
/// cuda_status has it.
inline Status device_count_status(cudaError_t code) {
  if (code != cudaErrorNoDevice && code != cudaErrorInsufficientDriver) return cuda_status(code, "cudaGetDeviceCount");
  return {StatusCode::not_found, std::string("no NVIDIA GPU can be used here: ") + cudaGetErrorString(code) +
                                     "; `nvidia-smi` shows the driver, which must serve CUDA 13"};
}

}  // namespace tessera::device
