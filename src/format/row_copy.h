#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "format/matrix.h"

// Rows of stored matrices, copied out of their files by those who load or convert them (mapped_file.h says why).
namespace tessera::format {

/// Rows [first, first + rows) of `matrix`, where they lie.
MatrixView rows_of(const MatrixView& matrix, int64_t first, int64_t rows);

/// Bytes of `rows` rows, or of all: elements or codes, and scales of blocks.
size_t element_bytes(const MatrixView& matrix, int64_t rows);
size_t block_scale_bytes(const MatrixView& matrix, int64_t rows);
inline size_t element_bytes(const MatrixView& matrix) { return element_bytes(matrix, matrix.rows); }
inline size_t block_scale_bytes(const MatrixView& matrix) { return block_scale_bytes(matrix, matrix.rows); }

/// The same rows in memory: what lies in a file is copied to `elements` and `block_scales`, which have room for it;
/// what is in memory stays where it is. unavailable: a file has become shorter, or cannot be read.
Expected<MatrixView> copy_rows(const MatrixView& matrix, int64_t first, int64_t rows, std::byte* elements,
                               std::byte* block_scales);

/// copy_rows with memory of its own. For one thread.
class RowCopy {
 public:
  /// Good until the next call.
  Expected<MatrixView> rows(const MatrixView& matrix, int64_t first, int64_t rows);

 private:
  std::vector<std::byte> elements_, block_scales_;
};

}  // namespace tessera::format
