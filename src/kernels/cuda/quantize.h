#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda.h"
#include "kernels/atom.h"
#include "kernels/cuda/grouped_gemm.h"
#include "tessera/status.h"

// Activations of the W4A4 path: BF16 rows, gathered by slot, into FP4 slices (kernels/fp4_activation.h).
namespace tessera::kernels::cuda {

/// Slots are padded to whole slices of 8 columns, group by group. The slices of a run of slots of one group begin at
/// this column block; no list has to be made, because group g + 1 begins at least ceil(slots of g / 8) blocks later:
/// floor((s + c) / 8) + 1 >= floor(s / 8) + ceil(c / 8). `first_slot` is the group's first, or whole blocks after it.
constexpr int64_t column_block(int64_t first_slot, int64_t group) { return first_slot / plan::kMmaCols + group; }
constexpr int64_t column_blocks_max(int64_t slots, int64_t groups) { return slots / plan::kMmaCols + groups; }

struct QuantizeArgs {
  WeightFormat format = WeightFormat::nvfp4;
  const uint16_t* x = nullptr;      // [rows, depth] BF16, 16-byte aligned
  int32_t depth = 0;                // K, a multiple of 16
  const int32_t* x_rows = nullptr;  // [slots]: row of x; null: the slot itself
  const SlotTile* tiles = nullptr;  // [*tile_count]: n a multiple of 8
  const int32_t* tile_count = nullptr;
  // [groups], each from kInputScaleMin to kInputScaleMax of kernels/fp4_activation.h; null: 1, as mxfp4 has it.
  const float* input_scales = nullptr;
  std::byte* out = nullptr;  // column_blocks_max * fp4_slices(depth) slices (kernels/fp4_activation.h), 16-byte aligned
};
/// The bytes of cpu::quantize_activations. tiles_max: slot_tiles_max of route.h, the blocks to launch.
Status quantize_activations(const QuantizeArgs& args, int64_t tiles_max, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
