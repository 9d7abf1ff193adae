#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "format/matrix.h"

// The CPU layout of a weight: lanes of a vector are rows, K runs along memory.
//
// Rows are cut into panels of 64, and a panel into blocks of 16 (the last panel may have fewer than four). A word is
// four bytes of one row: 1, 2, 4 or 8 consecutive columns by format. A panel is one linear stream
//   [word][block][16 rows] of 4 bytes,
// so a core that works on a panel reads memory in order, and one 64-byte load holds the same columns of 16 rows.
// Inside the 64 bytes of one word and block:
//   f32, bf16, 4-bit   the words of the 16 rows, as little-endian row-major files hold them
//   f16                column 0 of the 16 rows, then column 1
//   fp8_e4m3           columns 0 and 1 (a byte each) of the 16 rows, then columns 2 and 3
// so that 16 halves, or 16 pairs of bytes, are contiguous for the f16 -> f32 instruction.
//
// After the words of each scale group (16 columns for NVFP4, 32 for MXFP4) come its scales, 64 bytes: byte b of the
// 32-bit lane r belongs to row r of block b. MXFP4 keeps its UE8M0 byte. NVFP4 scales are recoded from E4M3 to
// E5M3 without subnormals, value 2^(code / 8 - 22) * (1 + (code % 8) / 8), so that a shift, a mask and an or make the
// fp32 value / 2^9; codes are decoded as 2^9 times their value, which makes up for it. A zero scale becomes zero codes
// and a negative one flips their signs, for E5M3 has neither.
namespace tessera::kernels::cpu {

inline constexpr int64_t kBlockRows = 16;
inline constexpr int64_t kPanelRows = 64;
inline constexpr int64_t kPanelBlocks = kPanelRows / kBlockRows;
inline constexpr int64_t kLineBytes = 64;  // of one word of one block, or the scales of one group of a panel

/// Kernels load codes at byte offsets 1 to 3 and may touch the line after the last.
inline constexpr int64_t kTailBytes = 64;

/// The stored alpha is this power of two times the row's: FP8 codes are decoded as their value / 2^8 (what their bits
/// mean as binary16) and MXFP4 codes as 2^9 times theirs (NVFP4's scales make up for the same factor). Powers of two
/// change no other bit of a sum unless it comes within them of fp32's largest or smallest number.
constexpr float alpha_factor(format::WeightFormat format) {
  switch (format) {
    case format::WeightFormat::fp8_e4m3: return 0x1p8F;
    case format::WeightFormat::mxfp4: return 0x1p-9F;
    default: return 1.0F;
  }
}

/// Columns in the 4-byte word of one row.
constexpr int64_t word_columns(format::WeightFormat format) {
  switch (format) {
    case format::WeightFormat::f32: return 1;
    case format::WeightFormat::f16:
    case format::WeightFormat::bf16: return 2;
    case format::WeightFormat::fp8_e4m3: return 4;
    case format::WeightFormat::nvfp4:
    case format::WeightFormat::mxfp4: return 8;
  }
  return 1;
}

/// Words of one row; the last is padded with zero columns.
constexpr int64_t row_words(format::WeightFormat format, int64_t cols) {
  return (cols + word_columns(format) - 1) / word_columns(format);
}

constexpr int64_t padded_rows(int64_t rows) { return (rows + kBlockRows - 1) / kBlockRows * kBlockRows; }
constexpr int64_t panel_count(int64_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }

/// Blocks of panel `panel`: 4 but in the last.
constexpr int64_t panel_blocks(int64_t rows, int64_t panel) {
  return std::min(kPanelBlocks, padded_rows(rows) / kBlockRows - panel * kPanelBlocks);
}

/// Bytes of a panel of `blocks` blocks.
constexpr int64_t panel_bytes(format::WeightFormat format, int64_t cols, int64_t blocks) {
  const int64_t group = format::group_size(format);
  return (row_words(format, cols) * blocks + (group > 0 ? cols / group : 0)) * kLineBytes;
}

/// Offset of the line that holds word `word` of block `block` in a panel of `blocks` blocks.
constexpr int64_t word_offset(format::WeightFormat format, int64_t blocks, int64_t word, int64_t block) {
  const int64_t group = format::group_size(format);
  const int64_t scale_lines = group > 0 ? word / (group / word_columns(format)) : 0;
  return (word * blocks + block + scale_lines) * kLineBytes;
}

/// Offset of the scales of group `group` in a panel of `blocks` blocks of a 4-bit format.
constexpr int64_t scales_offset(format::WeightFormat format, int64_t blocks, int64_t group) {
  const int64_t words = format::group_size(format) / word_columns(format);
  return ((group + 1) * words * blocks + group) * kLineBytes;
}

}  // namespace tessera::kernels::cpu
