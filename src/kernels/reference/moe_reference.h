#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "format/matrix.h"
#include "plan/desc.h"

// What the CUDA kernels of a mixture of experts compute, slowly and straight from the checkpoint's bytes: the oracle of
// their tests and of `tessera selftest`. W4A4 goes through the model of the FP4 MMA in the kernels' order along K, and
// its results are theirs bit for bit; W4A16 sums exact products in double, and is compared with a tolerance.
namespace tessera::kernels::cpu {

/// Static input scales of W4A4 in NVFP4 (fp4_activation.h); MXFP4 has none: 1.
struct InputScales {
  float gate_up = 1.0F;
  float down = 1.0F;
};

struct ReferenceExpert {
  format::MatrixView gate, up;  // [inner, hidden]
  format::MatrixView down;      // [hidden, inner]
  InputScales input_scales = {};
};

/// One row of x times one row of w, before any rounding to BF16.
///   W4A4: (serial over slices of 64, ascending, from 0) * (w.scale * input_scale), each product rounded to fp32.
///   W4A16: the double sum * w.scale, rounded to fp32.
/// x: [w.cols]. out: [w.rows]. w: nvfp4 or mxfp4, cols a multiple of the group.
void reference_product(plan::Path path, const format::MatrixView& w, float input_scale, std::span<const float> x,
                       std::span<float> out);

/// swiglu of kernels/spelt_math.h after the gate and up products: [inner], values of BF16.
std::vector<float> reference_gate_up(plan::Path path, const ReferenceExpert& expert, std::span<const float> x);

/// The down product rounded to BF16: [hidden].
std::vector<float> reference_down(plan::Path path, const ReferenceExpert& expert, std::span<const float> gated);

/// What one token passes through.
struct ReferenceSlot {
  const ReferenceExpert* expert = nullptr;
  float weight = 0;
};

/// What the shared expert makes of the token, and its weight. An empty row: there is none.
struct ReferenceShared {
  std::span<const float> row;  // [hidden], values of BF16
  float weight = 0;
};

/// The layer's output for one token, before the residual: fp32, serial fma of weight * down over `slots` in their order
/// (ascending expert), then of the shared expert's row, rounded to BF16 once.
std::vector<float> reference_moe(plan::Path path, std::span<const ReferenceSlot> slots, const ReferenceShared& shared,
                                 std::span<const float> x);

}  // namespace tessera::kernels::cpu
