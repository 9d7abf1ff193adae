#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/atom.h"

// Activations of W4A4: rows quantised to the weights' 4-bit format, in the order in which lanes of the FP4 MMA hold its
// B operand. A slice is 8 columns (rows of x) by 64 along K:
//
//   codes   lane 4 g + q: 8 bytes, b0 (column g, k 8q .. 8q+7) and b1 (32 + 8q ..); the eight nibbles of a word in the
//           order of the weights (kernels/atom.h): 0 2 4 6 1 3 5 7
//   scales  column g: 4 bytes (NVFP4) or 2 (MXFP4), ascending k
//
// Slices of the same 8 columns follow one another along K, so that a stage of any depth is one linear copy.
namespace tessera::kernels {

inline constexpr int kSliceCols = plan::kMmaCols;

/// 288 (NVFP4), 272 (MXFP4).
constexpr int fp4_slice_bytes(WeightFormat format) { return plan::activation_slice_bytes(plan::Path::w4a4, format); }

constexpr int64_t fp4_slices(int64_t depth) { return (depth + kSliceDepth - 1) / kSliceDepth; }

/// Bytes of `columns` rows of x, `depth` long: columns are padded to 8 and K to 64.
constexpr int64_t fp4_activation_bytes(WeightFormat format, int64_t columns, int64_t depth) {
  return (columns + kSliceCols - 1) / kSliceCols * fp4_slices(depth) * fp4_slice_bytes(format);
}

/// Where the byte with the codes of (column, k) lies in its slice, and by how much to shift them.
constexpr CodePlace fp4_activation_place(int column, int k) {
  const int nibble = k % 8 / 2 + 4 * (k % 2);
  return {(column * 4 + k % 32 / 8) * 8 + k / 32 * 4 + nibble / 2, nibble % 2 * 4};
}

/// An input scale must lie between these, so that no step of the quantiser underflows: a group's step is a multiple of
/// 2^-9 * scale, and fp32 is normal down to 2^-126.
inline constexpr float kInputScaleMin = 0x1p-100F;
inline constexpr float kInputScaleMax = 0x1p100F;

/// One group (16 values in nvfp4, 32 in mxfp4) as quantize_row of format/quantize.h with ScaleChoice::amax does it: the
/// scale is the nearest E4M3 to amax / 6 / input_scale, at least 2^-9, or 2^(floor(log2(amax)) - 2); a code is the
/// nearest to x / (scale * input_scale); every division is IEEE's. A group with a value that is not finite gets a NaN
/// scale and codes of zero: whatever reads it is NaN.
///   codes: values.size() / 2 bytes, low nibble first
std::byte quantize_fp4_group(WeightFormat format, float input_scale, std::span<const float> values, std::byte* codes);

namespace cpu {

/// What the CUDA kernel writes, byte for byte.
///   x:      [rows, depth], depth a multiple of 16; beyond it K is padded with zeros (NVFP4: scale 2^-9, MXFP4: 2^-127)
///   source: column j of the result is row source[j] of x; -1: a column of zeros
///   out:    fp4_activation_bytes(format, source.size(), depth); columns beyond source.size() are zeros
void quantize_activations(WeightFormat format, float input_scale, const float* x, int64_t depth,
                          std::span<const int32_t> source, std::byte* out);

}  // namespace cpu
}  // namespace tessera::kernels
