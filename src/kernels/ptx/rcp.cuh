#pragma once

namespace tessera::kernels::ptx {

/// 1 / x within one unit in the last place; a subnormal x, or result, is taken as zero.
__device__ inline float rcp_approx(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

}  // namespace tessera::kernels::ptx
