#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/matrix.h"
#include "plan/budget.h"
#include "tessera/status.h"

// The atom: how CUDA kernels keep weights, in BF16, FP8 (E4M3), NVFP4 and MXFP4. One layout feeds the FP4 MMA
// (m16n8k64) and the BF16 MMA (m16n8k16).
//
// A matrix is cut into strips of 16 rows; a strip is one linear run of slices of 64 elements along K. Whatever depth a
// kernel stages at a time, its part of a strip is one contiguous, 16-byte aligned run of whole slices, which copies of
// any size can bring. Rows beyond the matrix and elements beyond its depth are zeros, or zero codes with zero bytes as
// scales.
//
//   matrix   | strip 0: slice 0, slice 1, ... | strip 1: ... |
//   slice    | codes: 32 lanes x 16 bytes | scales |            NVFP4 512 + 64 bytes, MXFP4 512 + 32
//            | chunk 0: 32 lanes x 16 bytes | chunk 1 | ...     FP8 2 chunks, 1,024 bytes; BF16 4 chunks, 2,048
//
// 4-bit codes. Lane 4 g + q of a warp owns the 16 bytes at 16 (4 g + q): the four 32-bit words that the FP4 MMA takes
// as a0..a3
//
//                k 8q .. 8q+7    k 32+8q .. 32+8q+7
//   row g             a0                a2
//   row g + 8         a1                a3
//
// and within a word the eight elements in this order, lowest nibble first:
//
//   nibble    0  1  2  3  4  5  6  7
//   k - 8q    0  2  4  6  1  3  5  7
//
// so that nibbles i and i + 4, equally placed in the two halves of the word, become one pair of BF16 (elements 2i and
// 2i + 1) under one mask; pair i then meets the i-th 32-bit word of BF16 activations in their natural order. For the
// FP4 MMA this is a permutation of K inside eight elements: its activations are packed in the same order. No scale
// group is crossed.
//
// BF16 MMA j of a slice (j = 0 .. 3) takes pairs 0 and 1 (j even) or 2 and 3 (j odd) of a0 and a1 (j < 2) or a2 and a3:
// sixteen k, four of each q. The activations of lane 4 g + q are the 16 bytes at k = 8q and those at k = 32 + 8q of
// column g, as memory has them. So it is in every format:
//
// BF16. Lane L's 16 bytes of chunk j are the fragment of MMA j, its four words in the MMA's order: row g and row g + 8
// of the first pair, then of the second.
//
// FP8. Lane L's 16 bytes of chunk h are those of MMAs 2h and 2h + 1, four words: row g and row g + 8 of the first MMA,
// then of the second. A word has its four elements in the order 0 2 1 3, so that one shift and one mask make a pair of
// BF16 of bytes 0 and 2, and of 1 and 3.
//
// Scales. The bytes of rows g and g + 8 lie together, so that a lane reads both at once; NVFP4 8 bytes at 8 g: row g's
// four groups, then row g + 8's; MXFP4 4 bytes at 4 g: row g's two groups, then row g + 8's. The FP4 MMA takes its
// scales of A from lanes q = 0 (row g) and q = 1 (row g + 8). An NVFP4 scale is kept as its E4M3 byte without sign, as
// the FP4 MMA reads it: the codes of a group whose scale is negative have their signs flipped.
//
// SwiGLU. A gate_up matrix interleaves gate and up by 8: rows 0..7 of strip s are gate rows 8s.., rows 8..15 are the
// same up rows. Of a lane's accumulators d0, d1 are then gate and d2, d3 up, of the same columns.
namespace tessera::kernels {

using format::WeightFormat;

inline constexpr int kAtomRows = plan::kMmaRows;
inline constexpr int kSliceDepth = plan::kMmaDepth;
inline constexpr int kSliceCodeBytes = kAtomRows * kSliceDepth / 2;
inline constexpr int kAtomPartsMax = 8;

/// How the rows of several matrices become those of one.
enum class RowOrder {
  stacked,      // one after another (q, k, v)
  interleaved,  // gate and up, by 8
};

/// In what format atoms keep a matrix: F32 and F16 are rounded to BF16, to nearest even.
constexpr WeightFormat atom_format(WeightFormat source) {
  return source == WeightFormat::f32 || source == WeightFormat::f16 ? WeightFormat::bf16 : source;
}

/// A matrix of atoms. parts = 2: rows of two equal matrices (gate and up), interleaved by 8; `rows` counts both.
struct AtomShape {
  WeightFormat format = WeightFormat::nvfp4;
  int64_t rows = 0;
  int64_t cols = 0;
  int parts = 1;
};

constexpr int64_t strips(const AtomShape& s) {
  const int64_t part_rows = s.rows / s.parts, unit = kAtomRows / s.parts;
  return (part_rows + unit - 1) / unit;
}
constexpr int64_t strip_slices(const AtomShape& s) { return plan::slices(s.cols); }
constexpr size_t strip_bytes(const AtomShape& s) {
  return static_cast<size_t>(strip_slices(s)) * static_cast<size_t>(plan::weight_slice_bytes(s.format));
}
constexpr size_t atom_matrix_bytes(const AtomShape& s) { return static_cast<size_t>(strips(s)) * strip_bytes(s); }

/// Where row `row` (0..15) of strip `strip` comes from.
struct SourceRow {
  int part = 0;     // of those that are interleaved
  int64_t row = 0;  // of the part; may lie beyond it: padding
};
constexpr SourceRow source_row(const AtomShape& s, int64_t strip, int row) {
  const int unit = kAtomRows / s.parts;
  return {row / unit, strip * unit + row % unit};
}

/// The lane that has (row 0..15, k 0..63) of a slice, and which half of K it is of.
constexpr int atom_lane(int row, int k) { return row % 8 * 4 + k % 32 / 8; }

/// A nibble of a slice.
struct CodePlace {
  int byte = 0;
  int shift = 0;  // 0 or 4
};
/// Where the 4-bit code of (row 0..15, k 0..63) lies in its slice.
constexpr CodePlace code_place(int row, int k) {
  const int word = row / 8 + 2 * (k / 32);
  const int nibble = k % 8 / 2 + 4 * (k % 2);
  return {atom_lane(row, k) * 16 + word * 4 + nibble / 2, nibble % 2 * 4};
}

/// Where the scale of (row 0..15, group along K) lies in its slice. NVFP4 has groups 0..3, MXFP4 0 and 1.
constexpr int scale_place(WeightFormat format, int row, int group) {
  const int groups = kSliceDepth / plan::scale_group(format);
  return kSliceCodeBytes + (row % 8 * 2 + row / 8) * groups + group;
}

/// Where the BF16 or FP8 element (row 0..15, k 0..63) begins in its slice.
constexpr int element_place(WeightFormat format, int row, int k) {
  const int half = k / 32, mma = k % 8 / 4, pair = k % 4 / 2, low_or_high = k % 2;
  if (format == WeightFormat::fp8_e4m3) {
    return half * 512 + atom_lane(row, k) * 16 + (2 * mma + row / 8) * 4 + 2 * low_or_high + pair;
  }
  return (2 * half + mma) * 512 + atom_lane(row, k) * 16 + (2 * pair + row / 8) * 4 + 2 * low_or_high;
}

/// The W4A16 path multiplies BF16 weights code * scale * 2^-shift. A product of E2M1 (2 significant bits) and E4M3 (4)
/// has 6 and is exact in BF16's 8; the power of two lets both factors be formed by moving bits into BF16's exponent.
/// Exact for every NVFP4 weight, and for MXFP4 scales from 2^-68 to 2^65: below, the product rounds once to BF16's
/// subnormals; above, pack_atoms refuses. BF16 and FP8 weights are multiplied as they are.
constexpr int weight_shift(WeightFormat format) {
  return format == WeightFormat::nvfp4 ? 8 : format == WeightFormat::mxfp4 ? 64 : 0;
}
inline constexpr uint8_t kUe8m0MaxCode = 192;

/// What the fp32 sum of a row is multiplied by: the row's scale, with the shift taken back.
constexpr float atom_alpha(WeightFormat format, float scale) {
  return scale * (format == WeightFormat::nvfp4 ? 0x1p8F : format == WeightFormat::mxfp4 ? 0x1p64F : 1.0F);
}

/// Re-lays one matrix, or several of one format and depth as `order` says (interleaved: gate and up, of equal shape),
/// into out[atom_matrix_bytes(shape)]. The CUDA version (cuda/atom.h) writes equal bytes. Errors: parts that do not
/// go together (invalid_argument); cols not a multiple of 16, of MXFP4 of 32, an MXFP4 scale above 2^65 (unsupported);
/// a NaN scale, a weight that is not finite in its atoms' format (corrupt_data, naming row and column).
Status pack_atoms(std::span<const format::MatrixView> parts, std::byte* out, RowOrder order = RowOrder::interleaved);

/// What pack_atoms says of one matrix's weights and block scales.
Status check_weights(const format::MatrixView& matrix);

/// The shape of such parts, or why there is none.
Expected<AtomShape> atom_shape(std::span<const format::MatrixView> parts, RowOrder order = RowOrder::interleaved);

/// The factor of each row of such a matrix: out[strips * 16], atom_alpha of the scale of the matrix that the row comes
/// from and of its own, where it has one; 0 for rows beyond the matrix.
void row_alphas(std::span<const format::MatrixView> parts, const AtomShape& shape, std::span<float> out);

}  // namespace tessera::kernels
