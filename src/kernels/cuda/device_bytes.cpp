#include "kernels/cuda/device_bytes.h"

#include "kernels/atom.h"
#include "kernels/source_matrices.h"

namespace tessera::kernels::cuda {
namespace {

/// Rows [first, first + rows) of a view.
format::MatrixView row_range(const format::MatrixView& view, int64_t first, int64_t rows) {
  format::MatrixView part = view;
  part.rows = rows;
  if (part.data != nullptr) part.data += static_cast<size_t>(first) * format::row_bytes(view.format, view.cols);
  if (view.block_scales != nullptr) part.block_scales += first * view.cols / format::group_size(view.format);
  if (!view.row_scales.empty()) {
    part.row_scales = view.row_scales.subspan(static_cast<size_t>(first), static_cast<size_t>(rows));
  }
  return part;
}

}  // namespace

std::vector<format::MatrixView> gate_and_up(const MatrixSource& gate_up) {
  if (gate_up.parts.size() != 1) return gate_up.parts;
  const format::MatrixView& both = gate_up.parts[0];
  return {row_range(both, 0, both.rows / 2), row_range(both, both.rows / 2, both.rows / 2)};
}

size_t element_bytes(const format::MatrixView& view) {
  return static_cast<size_t>(view.rows) * format::row_bytes(view.format, view.cols);
}

size_t block_scale_bytes(const format::MatrixView& view) {
  const int64_t group = format::group_size(view.format);
  return group == 0 ? 0 : static_cast<size_t>(view.rows * view.cols / group);
}

size_t device_bytes(const BlockSource& source) {
  constexpr size_t kExpertFactors = 2;  // of each of an expert's matrices: gate and up, or down twice
  size_t bytes = vector_values(source) * sizeof(float);
  for_each_matrix(source, [&](const MatrixSource& matrix, MatrixUse use) {
    const auto parts = use.order == RowOrder::interleaved ? gate_and_up(matrix) : matrix.parts;
    const auto shape = atom_shape(parts, use.order);
    if (!shape.ok()) return;
    const size_t factors = use.routed ? kExpertFactors : static_cast<size_t>(strips(*shape) * kAtomRows);
    bytes += atom_matrix_bytes(*shape) + factors * sizeof(float);
  });
  return bytes;
}

}  // namespace tessera::kernels::cuda
