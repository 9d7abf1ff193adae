#pragma once

#include <cstdint>

#include "kernels/cuda/embed.h"
#include "tessera/status.h"

namespace tessera::kernels::cuda {

/// What the MTP head's first product reads. All pointers are device memory, 16-byte aligned.
struct MtpInputArgs {
  EmbedTable table;
  const int32_t* tokens = nullptr;        // [rows_max]
  const uint16_t* hidden = nullptr;       // [rows, table.hidden] BF16: what a pass left
  const int32_t* hidden_rows = nullptr;   // [rows_max]: which of them row i goes on from; null: row i
  const float* embedding_norm = nullptr;  // [table.hidden], zero-centred, as norm.h has it
  const float* hidden_norm = nullptr;     // the same
  float eps = 0;
  const int32_t* live_rows = nullptr;  // how many rows count; null: rows_max
  int32_t rows_max = 0;
  uint16_t* out = nullptr;  // [rows_max, 2 * table.hidden] BF16: the normed embedding, then the normed hidden row
};

/// The second kernel of a pass, or a later one. The norms' bits are those of add_norm() of embed()'s rows and of hidden
/// rows. Rows beyond live_rows are neither read nor written. invalid_argument for what those exclude.
Status mtp_input(const MtpInputArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
