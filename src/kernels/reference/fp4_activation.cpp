#include "kernels/fp4_activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "format/e2m1.h"
#include "format/quantize.h"

namespace tessera::kernels {

std::byte quantize_fp4_group(WeightFormat format, float input_scale, std::span<const float> values, std::byte* codes) {
  if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) {
    std::memset(codes, 0, values.size() / 2);
    return std::byte{format == WeightFormat::mxfp4 ? uint8_t{0xff} : uint8_t{0x7f}};
  }
  std::byte scale{};
  format::QuantizationError ignored;
  format::quantize_row(format, format::ScaleChoice::amax, input_scale, values, codes, &scale, ignored);
  return scale;
}

namespace cpu {
namespace {

/// One column's 64 elements into its place in the slice.
void quantize_column(WeightFormat format, float input_scale, std::span<const float> values, int column,
                     std::byte* slice) {
  const auto group = static_cast<size_t>(format::group_size(format));
  const size_t groups = kSliceDepth / group;
  std::array<std::byte, kSliceDepth / 2> codes;
  std::byte* scales = slice + kSliceCols * kSliceDepth / 2 + static_cast<size_t>(column) * groups;
  for (size_t i = 0; i < groups; ++i) {
    scales[i] = quantize_fp4_group(format, input_scale, values.subspan(i * group, group), codes.data() + i * group / 2);
  }
  for (int k = 0; k < kSliceDepth; ++k) {
    const CodePlace place = fp4_activation_place(column, k);
    slice[place.byte] |= static_cast<std::byte>(format::e2m1_at(codes.data(), k) << place.shift);
  }
}

}  // namespace

void quantize_activations(WeightFormat format, float input_scale, const float* x, int64_t depth,
                          std::span<const int32_t> source, std::byte* out) {
  TESSERA_CHECK(format == WeightFormat::nvfp4 || format == WeightFormat::mxfp4);
  TESSERA_CHECK(input_scale >= kInputScaleMin && input_scale <= kInputScaleMax);
  const int64_t slices = fp4_slices(depth);
  const auto columns = static_cast<int64_t>(source.size());
  std::memset(out, 0, static_cast<size_t>(fp4_activation_bytes(format, columns, depth)));
  const int64_t padded = (columns + kSliceCols - 1) / kSliceCols * kSliceCols;
  for (int64_t column = 0; column < padded; ++column) {
    const int64_t row = column < columns ? source[static_cast<size_t>(column)] : -1;
    for (int64_t slice = 0; slice < slices; ++slice) {
      std::array<float, kSliceDepth> values{};
      const int64_t count = std::min<int64_t>(kSliceDepth, depth - slice * kSliceDepth);
      if (row >= 0) std::copy_n(x + row * depth + slice * kSliceDepth, count, values.begin());
      quantize_column(format, input_scale, values, static_cast<int>(column % kSliceCols),
                      out + (column / kSliceCols * slices + slice) * fp4_slice_bytes(format));
    }
  }
}

}  // namespace cpu
}  // namespace tessera::kernels
