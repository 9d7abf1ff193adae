#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/cuda.h"
#include "plan/tile.h"
#include "tessera/status.h"

// The grouped matrix product of a mixture-of-experts layer: 4-bit weights (M) times tokens (N). Groups are experts;
// columns are slots, the (token, expert) pairs in order of expert, then token. One kernel template a path
// (w4a16_gemm.cuh, w4a4_gemm.cuh), instantiated for every tile of the plan (family.cuh); all tiles of a path give the
// same bits.
namespace tessera::kernels::cuda {

/// Up to n neighbouring slots of one group. Written by route() (route.h), one list for each n in use.
struct SlotTile {
  int32_t group = 0;
  int32_t first_slot = 0;
  int32_t columns = 0;
  int32_t unused = 0;  // 16 bytes: one load
};

struct GemmArgs {
  const std::byte* weights = nullptr;  // [groups] matrices of atoms, group_bytes apart
  int64_t group_bytes = 0;
  int32_t strips = 0;            // of one group
  int32_t depth = 0;             // K, a multiple of 16
  const float* alpha = nullptr;  // [groups, 2]: factor of rows 0..7 of every strip, and of rows 8..15: atom_alpha
                                 // (W4A16), or weight scale times input scale (W4A4)
  uint16_t* out = nullptr;       // [slots, width] BF16
  int32_t width = 0;             // weight rows, or half of them with SwiGLU; a multiple of 8
  bool swiglu = false;           // of kernels/spelt_math.h, gate and up rows interleaved by 8
  const SlotTile* tiles =
      nullptr;  // for the tile's n: one for each column tile of the launch, *tile_count of them used
  const int32_t* tile_count = nullptr;
  int32_t row_tiles = 0;  // ceil(16 strips / tile.m): filled in by grouped_gemm

  // W4A16
  const uint16_t* x = nullptr;      // [rows, depth] BF16
  const int32_t* x_rows = nullptr;  // [slots]: row of x; null: the slot itself
  bool weights_early = false;       // tiles may be read, and weights loaded, before the PDL wait (step_tables.h)

  // W4A4
  const std::byte* activations = nullptr;  // of quantize_activations (quantize.h)

  static constexpr bool kSegments = false;  // K is summed in one
  [[nodiscard]] constexpr int64_t x_row_elements() const { return depth; }
  [[nodiscard]] constexpr const std::byte* group_weights(int group) const { return weights + group * group_bytes; }
};

/// A compiled kernel. Grid: row_tiles * (bound of column tiles) blocks; blocks beyond *tile_count return at once.
struct Kernel {
  plan::Tile tile;
  void (*function)(GemmArgs) = nullptr;
};

/// Every kernel of a path and format, in the order of plan::candidates: the tiles that plan::compiled() names. Empty
/// where there are none.
std::span<const Kernel> kernels(plan::Path path, plan::WeightFormat format);

/// Launches the kernel of `tile` for up to `column_tiles` column tiles. unsupported, naming the tile, where none is
/// compiled.
Status grouped_gemm(const plan::Tile& tile, const GemmArgs& args, int64_t column_tiles, const device::Queue& queue);

/// The kernels of one path, format, blocks per SM and m, in the order of plan::candidates; function is null where
/// plan::compiled() says no. Each family is a source file of its own, so that they compile side by side.
template <plan::Path path, plan::WeightFormat format, int blocks_per_sm, int m>
std::span<const Kernel> family();
/// W4A16 of a format that is not 4-bit: plan::dense_candidates.
template <plan::WeightFormat format>
std::span<const Kernel> element_family();

}  // namespace tessera::kernels::cuda
