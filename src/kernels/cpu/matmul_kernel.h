#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/matmul.h"
#include "kernels/cpu/weight.h"

namespace tessera::kernels::cpu {

/// Columns decoded to fp32 at a time. 64 rows of them are 32 KB, which stay in a 48 KB first-level cache beside the
/// x they meet.
inline constexpr int64_t kSlabColumns = 128;
inline constexpr int64_t kSlabFloats = kPanelRows * kSlabColumns + kPanelRows * kSlabColumns / 16;  // with its scales

/// Kernels take rows of x by tiles of at most this many, and may compute the rest of the last tile as well.
inline constexpr int64_t kMaxTileRows = 12;

/// Rows of sums for `rows` rows of x.
constexpr int64_t matmul_sum_rows(int64_t rows) { return rows + kMaxTileRows; }

/// A part of one product that one thread computes: panels [first_panel, first_panel + panels) of the weight for rows
/// [first_row, first_row + rows) of x.
struct MatmulTask {
  const Matmul* product = nullptr;
  int64_t first_panel = 0, panels = 0;
  int64_t first_row = 0, rows = 0;
  bool to_bf16 = false;
  float* scratch = nullptr;  // matmul_scratch_floats(panels, rows)
};

/// A slab, then the running sums [panels][matmul_sum_rows][64].
constexpr size_t matmul_scratch_floats(int64_t panels, int64_t rows) {
  return static_cast<size_t>(kSlabFloats + panels * matmul_sum_rows(rows) * kPanelRows);
}

void run_matmul_task(const MatmulTask& task);

}  // namespace tessera::kernels::cpu
