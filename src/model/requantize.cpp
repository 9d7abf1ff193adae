#include "model/requantize.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "format/decode.h"
#include "format/quantize.h"
#include "format/row_copy.h"

namespace tessera::model {

Expected<format::MatrixView> Requantizer::requantize(const format::MatrixView& view) {
  constexpr int64_t kChunkRows = 16;
  const auto rows = static_cast<size_t>(view.rows), cols = static_cast<size_t>(view.cols);
  Matrix& matrix = matrices_.emplace_back();
  matrix.codes.resize(rows * cols);
  matrix.scales.resize(rows);
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
      matrix.scales[r] = format::fp8_tensor_scale(amax);
      format::quantize_row(format::WeightFormat::fp8_e4m3, format::ScaleChoice::amax, matrix.scales[r], values,
                           matrix.codes.data() + r * cols, nullptr, ignored);
    }
  });
  TESSERA_RETURN_IF_ERROR(failure);
  if (!finite) {
    TESSERA_RETURN_IF_ERROR(format::max_magnitude(view).status());
    return error(StatusCode::corrupt_data, "a weight was NaN or infinite, and then finite: was the file changed?");
  }
  format::MatrixView result;
  result.format = format::WeightFormat::fp8_e4m3;
  result.rows = view.rows;
  result.cols = view.cols;
  result.data = matrix.codes.data();
  result.row_scales = matrix.scales;
  return result;
}

}  // namespace tessera::model
