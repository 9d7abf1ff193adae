#pragma once

namespace tessera::kernels::ptx {

/// x, computed here and nowhere earlier: what follows from it is not kept in registers through the loops around.
__device__ inline int unhoisted(int x) {
  int same;
  asm volatile("mov.b32 %0, %1;" : "=r"(same) : "r"(x));
  return same;
}

}  // namespace tessera::kernels::ptx
