#pragma once

#include "kernels/ptx/rcp.cuh"
#include "kernels/spelt_math.h"

// SiLU without a branch, so that a thread's several overlap.
namespace tessera::kernels::cuda {

/// Gates for which no step of silu overflows, underflows or is a special case: nearly all of them.
__device__ inline bool ordinary_gate(float gate) {
  return (gate >= -80.0F) & (gate <= 50.0F) & (fabsf(gate) >= 0x1p-60F);
}

/// silu of an ordinary gate, without a branch, so that several overlap: an approximate reciprocal, one Newton step, and
/// two corrections of the quotient by exact remainders (Markstein), as __fdiv_rn has it where it needs no special case.
/// For some divisors and reciprocals the last bit of fp32 may differ from a correct division's; rounded to BF16, it is
/// that of every ordinary gate in BF16.
__device__ inline float silu_ordinary(float gate) {
  const float divisor = __fadd_rn(1.0F, spelt::exp_in_range(0.0F - gate));
  const float approximate = ptx::rcp_approx(divisor);
  const float reciprocal = __fmaf_rn(approximate, __fmaf_rn(-divisor, approximate, 1.0F), approximate);
  const float quotient = __fmul_rn(gate, reciprocal);
  const float better = __fmaf_rn(reciprocal, __fmaf_rn(-divisor, quotient, gate), quotient);
  return __fmaf_rn(reciprocal, __fmaf_rn(-divisor, better, gate), better);
}

}  // namespace tessera::kernels::cuda
