#pragma once

#include <cstdint>

#include "kernels/cuda/grouped_gemm.h"
#include "kernels/ptx/mbarrier.cuh"

// What the blocks of all grouped products have in common: which part of the product is a block's, and the ring of
// stages between those who load and those who multiply.
namespace tessera::kernels::cuda {

/// A block's columns and rows.
struct BlockTile {
  SlotTile tile;
  int strip;   // first
  int strips;  // that exist, at most those of the tile
};

/// False for a block beyond the last column tile. `strips` are those of the tile. With weights_early, called before
/// the PDL wait: hence past L1 (step_tables.h).
__device__ inline bool find_block_tile(const GemmArgs& args, int strips, BlockTile& block) {
  const int column_tile = static_cast<int>(blockIdx.x) / args.row_tiles;
  const int count = __ldcg(args.tile_count);
  const int4 entry =
      __ldcg(reinterpret_cast<const int4*>(args.tiles) + column_tile);  // at once, whether it exists or not
  if (column_tile >= count) return false;
  block.tile = {entry.x, entry.y, entry.z, 0};
  block.strip = static_cast<int>(blockIdx.x) % args.row_tiles * strips;
  block.strips = min(strips, args.strips - block.strip);
  return true;
}

/// For each stage a barrier that is full when what others bring has landed, and one that is empty when it has been
/// read.
template <int stages, int barriers_offset>
struct Pipeline {
  static __device__ uint32_t full(uint32_t smem, int stage) { return smem + barriers_offset + stage * 16; }
  static __device__ uint32_t empty(uint32_t smem, int stage) { return full(smem, stage) + 8; }

  /// By one thread, before the block's first __syncthreads(). filled_by, read_by: arrivals that fill and free a stage.
  static __device__ void init(uint32_t smem, int filled_by, int read_by) {
    for (int stage = 0; stage < stages; ++stage) {
      ptx::mbarrier_init(full(smem, stage), filled_by);
      ptx::mbarrier_init(empty(smem, stage), read_by);
    }
    ptx::fence_mbarrier_init();
  }

  /// Before step `step` (the ring's stages in turn) is loaded: until what the stage held has been read.
  static __device__ void wait_until_empty(uint32_t smem, int step) {
    ptx::mbarrier_wait_parity(empty(smem, step % stages), (step / stages & 1) ^ 1);
  }

  /// Where a warp that multiplies is.
  struct Place {
    int stage = 0;
    uint32_t parity = 0;

    __device__ void advance() {
      if (++stage == stages) {
        stage = 0;
        parity ^= 1;
      }
    }
  };
};

}  // namespace tessera::kernels::cuda
