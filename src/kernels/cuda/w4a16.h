#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/tile.h"
#include "tessera/status.h"

// The grouped matrix product of a mixture-of-experts layer, as CUDA kernels see it. Groups are experts, then the shared
// expert; columns are slots, the (token, expert) pairs in order of expert, then token.
namespace tessera::kernels::cuda {

/// Up to n neighbouring slots of one group. Written by group_slots() (route.h), one list for each n in use.
struct SlotTile {
  int32_t group = 0;
  int32_t first_slot = 0;
  int32_t columns = 0;
  int32_t unused = 0;  // 16 bytes: one load
};

struct W4a16Args {
  const std::byte* weights = nullptr;  // [groups] matrices of atoms, group_bytes apart
  int64_t group_bytes = 0;
  int32_t strips = 0;               // of one group
  int32_t atoms = 0;                // of a strip
  const float* alpha = nullptr;     // [groups, 2]: atom_alpha of rows 0..7 of every strip, and of rows 8..15
  const uint16_t* x = nullptr;      // [rows, depth] BF16
  int32_t depth = 0;                // K, a multiple of 16
  const int32_t* x_rows = nullptr;  // [slots]: row of x; null: the slot itself
  uint16_t* out = nullptr;          // [slots, width] BF16
  int32_t width = 0;                // weight rows, or half of them with SwiGLU; a multiple of 8
  bool swiglu = false;              // kernels/spelt_math.h, gate and up interleaved by 8
  bool weights_early = false;       // tiles are known to be complete when the kernel starts, before its PDL wait
  const SlotTile* tiles = nullptr;  // [*tile_count]
  const int32_t* tile_count = nullptr;
  int32_t row_tiles = 0;  // ceil(16 strips / tile.m)
  int32_t segments = 1;   // of K (plan::k_segments)
  // One segment a block (blockIdx.y), its sums here: segments * gridDim.x * tile.m * tile.n floats; null: a block sums
  // all segments.
  float* partials = nullptr;
  int32_t* tickets = nullptr;  // [blocks of one segment], zero before and after the launch; with partials
};

/// A compiled variant. Grid: row_tiles * (bound of column tiles) blocks, times segments in y with partials.
struct W4a16Kernel {
  plan::Tile tile;
  int smem_bytes = 0;
  bool folds_segments = false;   // can sum several segments in one block
  bool splits_segments = false;  // can take one segment a block, with partials
  void (*kernel)(W4a16Args) = nullptr;
};

/// Launches `kernel` for up to `column_tiles` column tiles, with PDL.
Status w4a16_multiply(const W4a16Kernel& kernel, const W4a16Args& args, int64_t column_tiles, cudaStream_t stream);

/// Kernels of a family, in the order of plan::candidates; null where plan::compiled() says no. Each is instantiated in
/// a source file of its own, so that they compile side by side.
template <plan::WeightFormat format, int blocks_per_sm, int m>
std::span<const W4a16Kernel> w4a16_family();

/// Every W4A16 kernel of a format, in the order of plan::candidates: those that plan::compiled() names.
std::span<const W4a16Kernel> w4a16_kernels(plan::WeightFormat format);

}  // namespace tessera::kernels::cuda
