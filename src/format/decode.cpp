#include "format/decode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/dtype.h"
#include "format/e2m1.h"
#include "format/e4m3.h"
#include "format/f16.h"
#include "format/row_copy.h"
#include "format/ue8m0.h"

namespace tessera::format {
namespace {

constexpr int64_t kElementsAtOnce = int64_t{1} << 16;  // that are copied out of a file

template <typename Bits>
Bits load(const std::byte* data, size_t i) {
  Bits bits;
  std::memcpy(&bits, data + i * sizeof(Bits), sizeof(Bits));
  return bits;
}

template <float (*decode_scale)(uint8_t)>
void decode_fp4(const std::byte* codes, const std::byte* scales, int64_t group, float scale, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const auto col = static_cast<int64_t>(i);
    const float block_scale = decode_scale(static_cast<uint8_t>(scales[col / group]));
    out[i] = decode_e2m1(e2m1_at(codes, col)) * block_scale * scale;
  }
}

}  // namespace

void decode_row(const MatrixView& matrix, int64_t row, std::span<float> out) {
  TESSERA_CHECK_EQ(static_cast<int64_t>(out.size()), matrix.cols);
  TESSERA_CHECK_LT(row, matrix.rows);
  const auto r = static_cast<size_t>(row);
  const std::byte* data = matrix.data + r * row_bytes(matrix.format, matrix.cols);
  const int64_t group = group_size(matrix.format);
  const std::byte* scales = group == 0 ? nullptr : matrix.block_scales + row * (matrix.cols / group);
  switch (matrix.format) {
    case WeightFormat::f32: std::memcpy(out.data(), data, out.size_bytes()); return;
    case WeightFormat::f16:
      for (size_t i = 0; i < out.size(); ++i) out[i] = f16_to_float(load<uint16_t>(data, i));
      return;
    case WeightFormat::bf16:
      for (size_t i = 0; i < out.size(); ++i) out[i] = bf16_to_float(load<uint16_t>(data, i));
      return;
    case WeightFormat::fp8_e4m3: {
      const float scale = matrix.row_scales.empty() ? matrix.scale : matrix.row_scales[r] * matrix.scale;
      for (size_t i = 0; i < out.size(); ++i) out[i] = decode_e4m3(load<uint8_t>(data, i)) * scale;
      return;
    }
    case WeightFormat::nvfp4: decode_fp4<decode_e4m3>(data, scales, group, matrix.scale, out); return;
    case WeightFormat::mxfp4: decode_fp4<decode_ue8m0>(data, scales, group, matrix.scale, out); return;
  }
}

Expected<float> max_magnitude(const MatrixView& matrix) {
  std::vector<float> values(static_cast<size_t>(matrix.cols));
  // Without their sign, floats sort as their bits do, infinities and NaN above the rest.
  constexpr int32_t kInfinity = 0x7f800000;
  int32_t largest = 0;
  const int64_t rows_at_once = std::max<int64_t>(1, kElementsAtOnce / std::max<int64_t>(1, matrix.cols));
  RowCopy copy;
  MatrixView rows;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const int64_t in_rows = row % rows_at_once;
    if (in_rows == 0) {
      TESSERA_ASSIGN_OR_RETURN(rows, copy.rows(matrix, row, std::min(rows_at_once, matrix.rows - row)));
    }
    decode_row(rows, in_rows, values);
    for (const float v : values) largest = std::max(largest, std::bit_cast<int32_t>(v) & INT32_MAX);
    if (largest < kInfinity) continue;
    const auto culprit = std::find_if_not(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
    return error(StatusCode::corrupt_data, "row {}, column {} is {}: not a finite number", row,
                 culprit - values.begin(), *culprit);
  }
  return std::bit_cast<float>(largest);
}

}  // namespace tessera::format
