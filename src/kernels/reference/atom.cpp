#include "kernels/atom.h"

#include <algorithm>
#include <cstring>

#include "base/status.h"
#include "format/e2m1.h"

namespace tessera::kernels {
namespace {

/// One group of codes and its scale, of a row that exists, into its slice. `k` is the group's first element.
void put_group(const format::MatrixView& m, int64_t row, int64_t k, int row_in_strip, std::byte* slice) {
  const int group = plan::scale_group(m.format);
  const std::byte* codes = m.data + row * (m.cols / 2);
  auto scale = static_cast<uint8_t>(m.block_scales[row * (m.cols / group) + k / group]);
  uint8_t flip = 0;
  if (m.format == WeightFormat::nvfp4) {
    flip = (scale & 0x80U) >> 4;
    scale &= 0x7fU;
  }
  const int first = static_cast<int>(k % kSliceDepth);
  slice[scale_place(m.format, row_in_strip, first / group)] = static_cast<std::byte>(scale);
  for (int i = 0; i < group; ++i) {
    const CodePlace place = code_place(row_in_strip, first + i);
    const auto code = static_cast<unsigned>(format::e2m1_at(codes, k + i) ^ flip);
    slice[place.byte] |= static_cast<std::byte>(code << place.shift);
  }
}

Status check_scales(const format::MatrixView& m) {
  const int64_t groups = m.cols / plan::scale_group(m.format);
  for (int64_t i = 0; i < m.rows * groups; ++i) {
    TESSERA_RETURN_IF_ERROR(
        check_scale(m.format, m.block_scales[i], i / groups, i % groups * plan::scale_group(m.format)));
  }
  return {};
}

}  // namespace

Status check_scale(WeightFormat format, std::byte scale, int64_t row, int64_t col) {
  const auto code = static_cast<uint8_t>(scale);
  const bool nvfp4 = format == WeightFormat::nvfp4;
  if (nvfp4 ? (code & 0x7fU) == 0x7fU : code == 0xffU) {
    return error(StatusCode::corrupt_data, "the block scale of row {}, columns from {} is NaN", row, col);
  }
  if (!nvfp4 && code > kUe8m0MaxCode) {
    return error(StatusCode::unsupported, "the block scale of row {}, columns from {} is 2^{}; at most 2^{} is", row,
                 col, code - 127, kUe8m0MaxCode - 127);
  }
  return {};
}

Expected<AtomShape> atom_shape(std::span<const format::MatrixView> parts) {
  if (parts.empty() || parts.size() > 2) {
    return error(StatusCode::invalid_argument, "atoms are made of 1 matrix or of gate and up, found {}", parts.size());
  }
  const format::MatrixView& first = parts[0];
  if (first.format != WeightFormat::nvfp4 && first.format != WeightFormat::mxfp4) {
    return error(StatusCode::invalid_argument, "atoms are made of NVFP4 or MXFP4, found {}",
                 format::name(first.format));
  }
  for (const format::MatrixView& part : parts) {
    if (part.format != first.format || part.rows != first.rows || part.cols != first.cols) {
      return error(StatusCode::invalid_argument, "gate is {} [{}, {}] but up is {} [{}, {}]",
                   format::name(first.format), first.rows, first.cols, format::name(part.format), part.rows, part.cols);
    }
  }
  if (first.rows <= 0 || first.cols <= 0 || first.cols % plan::scale_group(first.format) != 0) {
    return error(StatusCode::unsupported, "a {} matrix of [{}, {}]: columns come in groups of {}",
                 format::name(first.format), first.rows, first.cols, plan::scale_group(first.format));
  }
  return AtomShape{first.format, first.rows * static_cast<int64_t>(parts.size()), first.cols,
                   static_cast<int>(parts.size())};
}

Status pack_atoms(std::span<const format::MatrixView> parts, std::byte* out) {
  TESSERA_ASSIGN_OR_RETURN(const AtomShape shape, atom_shape(parts));
  for (const format::MatrixView& part : parts) TESSERA_RETURN_IF_ERROR(check_scales(part));
  std::memset(out, 0, atom_matrix_bytes(shape));
  const int group = plan::scale_group(shape.format);
  const auto slice_bytes = static_cast<size_t>(plan::weight_slice_bytes(shape.format));
  for (int64_t strip = 0; strip < strips(shape); ++strip) {
    std::byte* atoms = out + static_cast<size_t>(strip) * strip_bytes(shape);
    for (int row = 0; row < kAtomRows; ++row) {
      const SourceRow from = source_row(shape, strip, row);
      const format::MatrixView& part = parts[static_cast<size_t>(from.part)];
      if (from.row >= part.rows) continue;
      for (int64_t k = 0; k < shape.cols; k += group) {
        put_group(part, from.row, k, row, atoms + static_cast<size_t>(k / kSliceDepth) * slice_bytes);
      }
    }
  }
  return {};
}

}  // namespace tessera::kernels
