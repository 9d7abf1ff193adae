#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/matrix.h"

// From fp32 rows to stored codes and scales. A matrix takes two passes, so that memory stays at one row: the largest
// magnitude (max_magnitude, decode.h), then the rows one by one.
namespace tessera::format {

/// The two spellings of NVFP4's per-tensor scale. They are chosen together, so that multiplier == 1 / divisor in fp32
/// and a matrix has the same values in either dialect.
struct TensorScale {
  float multiplier = 1.0F;  // ModelOpt weight_scale_2
  float divisor = 1.0F;     // compressed-tensors weight_global_scale
};

/// divisor = 448 * 6 / amax, the largest block scale then being 448; amax 0 gives 1 and 1. `amax` is finite, and may
/// be that of several matrices which shall share a scale (gate and up; q, k and v).
TensorScale nvfp4_tensor_scale(float amax);

/// FP8 weight_scale: amax / 448; 1 if amax is 0.
float fp8_tensor_scale(float amax);

/// How a block's scale is chosen.
enum class ScaleChoice {
  amax,  // NVFP4: nearest E4M3 to amax / 6, at least 2^-9. MXFP4: 2^(floor(log2(amax)) - 2), the OCP rule
  mse,   // the candidate of least squared error, from just below amax / 6 to amax / 4 (both rules in between);
         // MXFP4: the OCP scale or its double. 4 times slower (MXFP4: 2)
};

/// What rounding did, summed over what was encoded.
struct QuantizationError {
  int64_t count = 0;
  int64_t saturated = 0;  // elements beyond the reach of rounding: half a step and more above the largest code
  double sum_of_squared_error = 0;
  double sum_of_squares = 0;
  double max_abs_error = 0;

  void add(const QuantizationError& other);
  /// ||error|| / ||values||; 0 for no values.
  [[nodiscard]] double relative_l2() const;
};

/// Encodes one row of finite values into `format` (nvfp4, mxfp4 or fp8_e4m3).
///   codes:        row_bytes(format, row.size()) bytes
///   block_scales: row.size() / group_size(format) bytes; unused for fp8_e4m3
///   scale:        MatrixView::scale of the result (TensorScale::multiplier, fp8_tensor_scale); unused for mxfp4
/// row.size() is a multiple of the group. Adds to `error`.
void quantize_row(WeightFormat format, ScaleChoice choice, float scale, std::span<const float> row, std::byte* codes,
                  std::byte* block_scales, QuantizationError& error);

}  // namespace tessera::format
