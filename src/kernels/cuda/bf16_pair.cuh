#pragma once

#include <cstdint>

// A word of two BF16 values.
namespace tessera::kernels::cuda {

__device__ inline float low_bf16(uint32_t pair) { return __uint_as_float(pair << 16); }
__device__ inline float high_bf16(uint32_t pair) { return __uint_as_float(pair & 0xffff0000U); }

}  // namespace tessera::kernels::cuda
