#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda.h"
#include "format/matrix.h"
#include "tessera/status.h"

namespace tessera::kernels::cuda {

/// An embedding table [vocab, hidden], in device memory, 16-byte aligned: BF16 rows as a checkpoint stores them, or
/// atoms (kernels/atom.h) of any format, so that tied models keep one copy for table and head.
struct EmbedTable {
  format::WeightFormat format = format::WeightFormat::bf16;
  const std::byte* data = nullptr;
  const float* row_alpha = nullptr;  // of atoms: [strips * 16] (row_alphas); null: rows as stored, BF16 alone
  int64_t vocab = 0;
  int64_t hidden = 0;  // of rows as stored a multiple of 8, of atoms what their format allows
};

/// invalid_argument for what the comment above excludes.
Status check(const EmbedTable& table);

struct EmbedArgs {
  EmbedTable table;
  const int32_t* tokens = nullptr;     // [rows_max]
  const int32_t* live_rows = nullptr;  // how many rows count; null: rows_max
  int32_t rows_max = 0;
  uint16_t* out = nullptr;  // [rows_max, hidden] BF16, 16-byte aligned
  int64_t out_stride = 0;   // elements from row to row, a multiple of 8
};

/// out[i] = table[tokens[i]], of quantised tables rounded to BF16 once (kernels/embed.h). A token that the table does
/// not have gives zeros. Rows beyond live_rows are not written. invalid_argument for what the comments above exclude.
Status embed(const EmbedArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
