#include "format/row_copy.h"

#include <algorithm>

#include "format/mapped_file.h"

namespace tessera::format {

size_t element_bytes(const MatrixView& matrix, int64_t rows) {
  return static_cast<size_t>(rows) * row_bytes(matrix.format, matrix.cols);
}

size_t block_scale_bytes(const MatrixView& matrix, int64_t rows) {
  const int64_t group = group_size(matrix.format);
  return group == 0 ? 0 : static_cast<size_t>(rows * (matrix.cols / group));
}

MatrixView rows_of(const MatrixView& matrix, int64_t first, int64_t rows) {
  MatrixView part = matrix;
  part.rows = rows;
  if (part.data != nullptr) part.data += element_bytes(matrix, first);
  if (part.block_scales != nullptr) part.block_scales += block_scale_bytes(matrix, first);
  if (!part.row_scales.empty()) {
    part.row_scales = part.row_scales.subspan(static_cast<size_t>(first), static_cast<size_t>(rows));
  }
  return part;
}

Expected<MatrixView> copy_rows(const MatrixView& matrix, int64_t first, int64_t rows, std::byte* elements,
                               std::byte* block_scales) {
  MatrixView part = rows_of(matrix, first, rows);
  if (part.file != nullptr) {
    TESSERA_RETURN_IF_ERROR(part.file->read({part.data, element_bytes(part, rows)}, elements));
    part.data = elements;
    part.file = nullptr;
  }
  if (part.scales_file != nullptr) {
    TESSERA_RETURN_IF_ERROR(part.scales_file->read({part.block_scales, block_scale_bytes(part, rows)}, block_scales));
    part.block_scales = block_scales;
    part.scales_file = nullptr;
  }
  return part;
}

Expected<MatrixView> RowCopy::rows(const MatrixView& matrix, int64_t first, int64_t rows) {
  const auto grow = [](std::vector<std::byte>& memory, size_t bytes) {
    if (memory.size() < bytes) memory.resize(bytes);
  };
  if (matrix.file != nullptr) grow(elements_, element_bytes(matrix, rows));
  if (matrix.scales_file != nullptr) grow(block_scales_, block_scale_bytes(matrix, rows));
  return copy_rows(matrix, first, rows, elements_.data(), block_scales_.data());
}

}  // namespace tessera::format
