#pragma once

namespace tessera::kernels::ptx {

/// 2^x within 2 units in the last place; subnormals, taken or given, are zero. 0 for -infinity, NaN for NaN.
__device__ inline float ex2_approx(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

}  // namespace tessera::kernels::ptx
