#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/atom.h"
#include "kernels/cuda/w4a16.h"
#include "plan/tile.h"
#include "tessera/status.h"

// The W4A4 path of a mixture of experts: 4-bit weights times 4-bit activations by the block-scaled FP4 MMA, native on
// compute capability 12.x, emulated elsewhere. It is for prefill rows. Of a layer, after routing (route.h):
//
//   quantize_activations   the normed tokens, gathered by slot, into FP4 slices
//   w4a4_gemm gate_up      SwiGLU in the epilogue; BF16 rows, one per slot
//   quantize_activations   those rows
//   w4a4_gemm down         BF16 rows, one per slot, to be summed by ascending expert
//
// Every product of a row is summed serially over slices of 64 along K, by one chain of MMAs that starts from zero, so
// that all tiles give the same bits: those of cpu/moe_reference.h. There are no K segments: prefill fills a GPU.
namespace tessera::kernels::cuda {

/// Slots are padded to whole slices of 8 columns, group by group. The slices of a run of slots of one group begin at
/// this column block; no list has to be made, because group g + 1 begins at least ceil(slots of g / 8) blocks later:
/// floor((s + c) / 8) + 1 >= floor(s / 8) + ceil(c / 8). `first_slot` is the group's first, or whole blocks after it.
constexpr int64_t column_block(int64_t first_slot, int64_t group) { return first_slot / plan::kMmaCols + group; }
constexpr int64_t column_blocks_max(int64_t slots, int64_t groups) { return slots / plan::kMmaCols + groups; }

/// An input scale: kInputScaleMin to kInputScaleMax of kernels/fp4_activation.h; 1 for mxfp4.
struct QuantizeArgs {
  WeightFormat format = WeightFormat::nvfp4;
  const uint16_t* x = nullptr;      // [rows, depth] BF16, 16-byte aligned
  int32_t depth = 0;                // K, a multiple of 16
  const int32_t* x_rows = nullptr;  // [slots]: row of x; null: the slot itself
  const SlotTile* tiles = nullptr;  // [*tile_count]: n a multiple of 8
  const int32_t* tile_count = nullptr;
  float input_scale = 1.0F;
  std::byte* out = nullptr;  // column_blocks_max * fp4_slices(depth) slices (kernels/fp4_activation.h), 16-byte aligned
};
/// The bytes of cpu::quantize_activations. tiles_max, here and below: slot_tiles_max of route.h, the blocks to launch.
Status quantize_activations(const QuantizeArgs& args, int64_t tiles_max, cudaStream_t stream);

struct W4a4Args {
  const std::byte* weights = nullptr;  // [groups] matrices of atoms, group_bytes apart
  int64_t group_bytes = 0;
  int32_t strips = 0;            // of one group
  int32_t atoms = 0;             // of a strip
  int32_t slices = 0;            // fp4_slices of the depth
  const float* alpha = nullptr;  // [groups, 2]: weight scale * input scale of rows 0..7 of every strip, and 8..15
  const std::byte* activations = nullptr;  // from quantize_activations
  uint16_t* out = nullptr;                 // [slots, width] BF16, 16-byte aligned
  int32_t width = 0;                       // weight rows, or half of them with SwiGLU; a multiple of 8
  bool swiglu = false;                     // kernels/spelt_math.h, gate and up interleaved by 8
  const SlotTile* tiles = nullptr;         // [*tile_count], for the kernel's n
  const int32_t* tile_count = nullptr;
  int32_t row_tiles = 0;  // ceil(strips / (tile.m / 16)): filled in by w4a4_gemm
};
/// The grouped product. unsupported, naming the tile, where no such kernel is compiled.
Status w4a4_gemm(const plan::Tile& tile, const W4a4Args& args, int64_t tiles_max, cudaStream_t stream);

/// The tiles that are compiled: those of the prefill family that plan::compiled names.
std::span<const plan::Tile> w4a4_tiles(WeightFormat format);

}  // namespace tessera::kernels::cuda
