#include "kernels/atom.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/dtype.h"
#include "base/status.h"
#include "format/e2m1.h"
#include "format/f16.h"

namespace tessera::kernels {
namespace {

bool four_bits(WeightFormat format) { return format == WeightFormat::nvfp4 || format == WeightFormat::mxfp4; }

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

/// An element as BF16: rounded from F32, F16.
uint16_t bf16_at(const format::MatrixView& m, int64_t row, int64_t k) {
  const auto i = static_cast<size_t>(row * m.cols + k);
  if (m.format == WeightFormat::f32) {
    float value = 0;
    std::memcpy(&value, m.data + 4 * i, 4);
    return float_to_bf16(value);
  }
  uint16_t bits = 0;
  std::memcpy(&bits, m.data + 2 * i, 2);
  return m.format == WeightFormat::f16 ? float_to_bf16(format::f16_to_float(bits)) : bits;
}

void put_element(const format::MatrixView& m, int64_t row, int64_t k, int row_in_strip, std::byte* slice) {
  const WeightFormat format = atom_format(m.format);
  std::byte* to = slice + element_place(format, row_in_strip, static_cast<int>(k % kSliceDepth));
  if (format == WeightFormat::fp8_e4m3) {
    *to = m.data[row * m.cols + k];
  } else {
    const uint16_t bits = bf16_at(m, row, k);
    std::memcpy(to, &bits, 2);
  }
}

void put_row(const format::MatrixView& m, int64_t row, int row_in_strip, std::byte* strip) {
  const bool codes = four_bits(m.format);
  const auto slice_bytes = static_cast<size_t>(plan::weight_slice_bytes(atom_format(m.format)));
  for (int64_t k = 0; k < m.cols; k += codes ? plan::scale_group(m.format) : 1) {
    std::byte* slice = strip + static_cast<size_t>(k / kSliceDepth) * slice_bytes;
    if (codes) {
      put_group(m, row, k, row_in_strip, slice);
    } else {
      put_element(m, row, k, row_in_strip, slice);
    }
  }
}

Status check_elements(const format::MatrixView& m) {
  for (int64_t i = 0; i < m.rows * m.cols; ++i) {
    const int64_t row = i / m.cols, col = i % m.cols;
    const bool finite = m.format == WeightFormat::fp8_e4m3 ? (static_cast<uint8_t>(m.data[i]) & 0x7fU) != 0x7fU
                                                           : (bf16_at(m, row, col) & 0x7f80U) != 0x7f80U;
    if (!finite) {
      return error(StatusCode::corrupt_data, "the {} weight of row {}, column {} is not finite{}",
                   format::name(m.format), row, col,
                   atom_format(m.format) == m.format ? "" : " when it is rounded to BF16");
    }
  }
  return {};
}

struct PartRow {
  const format::MatrixView* part = nullptr;  // null: padding
  int64_t row = 0;
};
PartRow find_row(std::span<const format::MatrixView> parts, const AtomShape& shape, int64_t strip, int row_in_strip) {
  const SourceRow from = source_row(shape, strip, row_in_strip);
  if (shape.parts > 1) {
    const format::MatrixView& part = parts[static_cast<size_t>(from.part)];
    return from.row < part.rows ? PartRow{&part, from.row} : PartRow{};
  }
  int64_t row = from.row;
  for (const format::MatrixView& part : parts) {
    if (row < part.rows) return {&part, row};
    row -= part.rows;
  }
  return {};
}

}  // namespace

Status check_weights(const format::MatrixView& m) {
  if (!four_bits(m.format)) return check_elements(m);
  const int64_t groups = m.cols / plan::scale_group(m.format);
  const bool nvfp4 = m.format == WeightFormat::nvfp4;
  for (int64_t i = 0; i < m.rows * groups; ++i) {
    const auto code = static_cast<uint8_t>(m.block_scales[i]);
    const int64_t row = i / groups, col = i % groups * plan::scale_group(m.format);
    if (nvfp4 ? (code & 0x7fU) == 0x7fU : code == 0xffU) {
      return error(StatusCode::corrupt_data, "the block scale of row {}, columns from {} is NaN", row, col);
    }
    if (!nvfp4 && code > kUe8m0MaxCode) {
      return error(StatusCode::unsupported, "the block scale of row {}, columns from {} is 2^{}; at most 2^{} is", row,
                   col, code - 127, kUe8m0MaxCode - 127);
    }
  }
  return {};
}

Expected<AtomShape> atom_shape(std::span<const format::MatrixView> parts, RowOrder order) {
  const size_t most = order == RowOrder::interleaved ? 2 : size_t{kAtomPartsMax};
  if (parts.empty() || parts.size() > most) {
    return error(StatusCode::invalid_argument, "atoms are made of 1 to {} matrices ({}), found {}", most,
                 order == RowOrder::interleaved ? "gate and up" : "stacked by rows", parts.size());
  }
  const format::MatrixView& first = parts[0];
  const bool interleaved = order == RowOrder::interleaved && parts.size() == 2;
  int64_t rows = 0;
  for (const format::MatrixView& part : parts) {
    if (part.format != first.format || part.cols != first.cols || (interleaved && part.rows != first.rows)) {
      return error(StatusCode::invalid_argument, "{} is {} [{}, {}] but {} is {} [{}, {}]",
                   interleaved ? "gate" : "the first part", format::name(first.format), first.rows, first.cols,
                   interleaved ? "up" : "another", format::name(part.format), part.rows, part.cols);
    }
    if (part.rows <= 0 || part.cols <= 0 || part.cols % plan::scale_group(part.format) != 0) {
      return error(StatusCode::unsupported, "a {} matrix of [{}, {}]: columns come in groups of {}",
                   format::name(part.format), part.rows, part.cols, plan::scale_group(part.format));
    }
    rows += part.rows;
  }
  return AtomShape{atom_format(first.format), rows, first.cols, interleaved ? 2 : 1};
}

Status pack_atoms(std::span<const format::MatrixView> parts, std::byte* out, RowOrder order) {
  TESSERA_ASSIGN_OR_RETURN(const AtomShape shape, atom_shape(parts, order));
  for (const format::MatrixView& part : parts) TESSERA_RETURN_IF_ERROR(check_weights(part));
  std::memset(out, 0, atom_matrix_bytes(shape));
  for (int64_t strip = 0; strip < strips(shape); ++strip) {
    for (int row = 0; row < kAtomRows; ++row) {
      const PartRow from = find_row(parts, shape, strip, row);
      if (from.part != nullptr) {
        put_row(*from.part, from.row, row, out + static_cast<size_t>(strip) * strip_bytes(shape));
      }
    }
  }
  return {};
}

void row_alphas(std::span<const format::MatrixView> parts, const AtomShape& shape, std::span<float> out) {
  TESSERA_CHECK_EQ(static_cast<int64_t>(out.size()), strips(shape) * kAtomRows);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto [part, row] =
        find_row(parts, shape, static_cast<int64_t>(i) / kAtomRows, static_cast<int>(i % kAtomRows));
    const auto scale = [&] {
      return part->row_scales.empty() ? part->scale : part->row_scales[static_cast<size_t>(row)] * part->scale;
    };
    out[i] = part == nullptr ? 0.0F : atom_alpha(shape.format, scale());
  }
}

}  // namespace tessera::kernels
