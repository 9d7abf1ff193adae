#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/aligned_buffer.h"
#include "base/status.h"
#include "format/matrix.h"
#include "kernels/context.h"

namespace tessera::kernels {

/// A weight matrix W[rows, cols] in the layout that a backend reads, made once at load.
///
/// CPU layout: see kernels/cpu/weight.h. Row r of the product is alpha[r] * sum_k decode(W[r,k]) * x[k], summed in
/// the one order that linear.h fixes.
struct Weight {
  format::WeightFormat format = format::WeightFormat::f32;
  int64_t rows = 0;
  int64_t cols = 0;
  AlignedBuffer<std::byte> data;  // rows padded to 16 with zeros
  AlignedBuffer<float> alpha;     // [rows padded to 16], fp32 multiplier of each row's sum

  [[nodiscard]] bool empty() const { return rows == 0; }
};

/// Stacks `parts` (same format and cols; q over k over v, gate over up, ...) by rows and re-lays them. Parts keep
/// their own scales, so unequal global scales stay exact. Errors: mixed formats or cols (invalid_argument), cols
/// not a multiple of the format's group (unsupported), NaN or infinite weights or scales (corrupt_data, naming the
/// part, row and column), a file that cannot be read (unavailable).
Expected<Weight> pack_weight(const Context& context, std::span<const format::MatrixView> parts);

/// Bytes that pack_weight will take for such a matrix; for the fit report.
size_t packed_bytes(format::WeightFormat format, int64_t rows, int64_t cols);

/// Decodes row `row` into out[cols]: exact fp32 products decode(W) * alpha (embedding look-up, tests).
void decode_row(const Weight& weight, int64_t row, float* out);

}  // namespace tessera::kernels
