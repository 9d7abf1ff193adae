#include "model/requantize.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "base/check.h"
#include "format/decode.h"
#include "format/quantize.h"
#include "format/row_copy.h"

namespace tessera::model {

Expected<format::MatrixView> Requantizer::requantize(const format::MatrixView& view, format::WeightFormat format) {
  constexpr int64_t kChunkRows = 16;
  TESSERA_CHECK(format == format::WeightFormat::fp8_e4m3 || format == format::WeightFormat::nvfp4);
  const bool row_scales = format == format::WeightFormat::fp8_e4m3;
  const auto rows = static_cast<size_t>(view.rows), cols = static_cast<size_t>(view.cols);
  const size_t code_bytes = format::row_bytes(format, view.cols), groups = row_scales ? 0 : cols / 16;
  format::MatrixView result;
  if (!row_scales) {
    TESSERA_ASSIGN_OR_RETURN(const float amax, format::max_magnitude(view));
    result.scale = format::nvfp4_tensor_scale(amax).multiplier;
  }
  Matrix& matrix = matrices_.emplace_back();
  matrix.codes.resize(rows * code_bytes);
  matrix.block_scales.resize(rows * groups);
  if (row_scales) matrix.scales.resize(rows);
  std::atomic<bool> finite{true};
  std::vector<format::RowCopy> copies(static_cast<size_t>(pool_.size()));
  std::mutex mutex;
  Status failure;
  pool_.run_chunks((view.rows + kChunkRows - 1) / kChunkRows, [&](int64_t chunk, int thread) {
    const int64_t first = chunk * kChunkRows, end = std::min(view.rows, first + kChunkRows);
    const auto stored = copies[static_cast<size_t>(thread)].rows(view, first, end - first);
    if (!stored.ok()) {
      const std::lock_guard lock(mutex);
      failure = stored.status();
      return;
    }
    std::vector<float> values(cols);
    format::QuantizationError ignored;
    for (int64_t row = first; row < end; ++row) {
      format::decode_row(*stored, row - first, values);
      float amax = 0;
      bool row_finite = true;
      for (const float value : values) {
        row_finite = row_finite && std::isfinite(value);
        amax = std::max(amax, std::abs(value));
      }
      if (!row_finite) {
        finite.store(false, std::memory_order_relaxed);
        continue;
      }
      const auto r = static_cast<size_t>(row);
      if (row_scales) matrix.scales[r] = format::fp8_tensor_scale(amax);
      format::quantize_row(format, format::ScaleChoice::amax, row_scales ? matrix.scales[r] : result.scale, values,
                           matrix.codes.data() + r * code_bytes, matrix.block_scales.data() + r * groups, ignored);
    }
  });
  TESSERA_RETURN_IF_ERROR(failure);
  if (!finite) {
    TESSERA_RETURN_IF_ERROR(format::max_magnitude(view).status());
    return error(StatusCode::corrupt_data, "a weight was NaN or infinite, and then finite: was the file changed?");
  }
  result.format = format;
  result.rows = view.rows;
  result.cols = view.cols;
  result.data = matrix.codes.data();
  if (groups > 0) result.block_scales = matrix.block_scales.data();
  result.row_scales = matrix.scales;
  return result;
}

}  // namespace tessera::model
