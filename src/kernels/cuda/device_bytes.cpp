#include "kernels/cuda/device_bytes.h"

#include <algorithm>

#include "format/row_copy.h"
#include "kernels/atom.h"
#include "kernels/source_matrices.h"

namespace tessera::kernels::cuda {

std::vector<format::MatrixView> gate_and_up(const MatrixSource& gate_up) {
  if (gate_up.parts.size() != 1) return gate_up.parts;
  const format::MatrixView& both = gate_up.parts[0];
  return {format::rows_of(both, 0, both.rows / 2), format::rows_of(both, both.rows / 2, both.rows / 2)};
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

size_t staging_bytes(std::span<const format::MatrixView> parts) {
  size_t bytes = 0;
  for (const format::MatrixView& part : parts) {
    bytes += staging_aligned(element_bytes(part)) + staging_aligned(block_scale_bytes(part));
  }
  return bytes;
}

size_t staging_bytes(const BlockSource& source) {
  size_t most = 0;
  for_each_matrix(source, [&](const MatrixSource& matrix, MatrixUse use) {
    most = std::max(most, staging_bytes(use.order == RowOrder::interleaved ? gate_and_up(matrix) : matrix.parts));
  });
  return most;
}

}  // namespace tessera::kernels::cuda
