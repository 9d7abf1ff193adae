#pragma once

#include <algorithm>

#include "plan/tile.h"

// The shared-memory budget: every byte that a block of a tiled product takes is counted here and nowhere else. All of
// it is constexpr: the planner prints these sums, and kernels build their pointers from Budget<kTile>, which does not
// compile for a tile that does not fit.
//
// A block's dynamic shared memory, from offset 0, every part a multiple of 16 bytes (what cp.async.bulk asks of its
// addresses and sizes; 128-bit loads by consecutive lanes meet no bank conflict at any such address):
//
//   stage 0 | stage 1 | ... | barriers
//   |<--- epilogue --->|
//
// stage      weights, then activations, both in slices of K = 64 in the register order of the MMA: no padding.
// barriers   a full and an empty mbarrier per stage, 8 bytes each.
// epilogue   the BF16 results, [n][m], on their way to rows that are written whole. It OVERLAYS the stages: a block's
//            epilogue begins when its last stage has been consumed and it has no further load in flight. Two resident
//            blocks, or the next block of the grid, hide that gap; a separate buffer would cost a stage.
namespace tessera::plan {

/// Largest dynamic shared memory of a block on compute capability 12.x (with opt-in), and the limit everywhere: 99 KB.
inline constexpr int kSmemPerBlockMax = 101'376;
/// What the driver takes for itself from an SM's shared memory for each resident block.
inline constexpr int kSmemReservedPerBlock = 1'024;
/// Unit in which an SM hands out shared memory.
inline constexpr int kSmemUnit = 128;
/// Fewer than two stages are no pipeline. More than 16 hide nothing: the smallest stage (64x8x64, MXFP4 W4A4) then
/// has 39 KB in flight, four times what 1,792 GB/s needs an SM of 188 to have for a latency of 1 us.
inline constexpr int kStagesMin = 2;
inline constexpr int kStagesMax = 16;

constexpr int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

/// Bytes a block may take so that `blocks_per_sm` of them share an SM of 100 KB: 101,376 for one, 50,176 for two.
constexpr int smem_limit(int blocks_per_sm) {
  const int share = (kSmemPerBlockMax + kSmemReservedPerBlock) / blocks_per_sm - kSmemReservedPerBlock;
  return share / kSmemUnit * kSmemUnit;
}
static_assert(smem_limit(1) == kSmemPerBlockMax && smem_limit(2) == 50'176);

/// Weights: 16 rows x 64 K, BF16 or E4M3 elements, or 4-bit codes and then one byte of scale per group (16 elements in
/// NVFP4, 32 in MXFP4). F32 and F16 are kept as BF16.
constexpr int weight_slice_bytes(WeightFormat format) {
  constexpr int kElements = kMmaRows * kMmaDepth;
  switch (format) {
    case WeightFormat::nvfp4:
    case WeightFormat::mxfp4: return kElements / 2 + kElements / scale_group(format);
    case WeightFormat::fp8_e4m3: return kElements;
    default: return kElements * 2;
  }
}
static_assert(weight_slice_bytes(WeightFormat::nvfp4) == 576 && weight_slice_bytes(WeightFormat::mxfp4) == 544);
/// Slices of a strip of 16 weight rows of this depth.
constexpr int64_t slices(int64_t depth) { return (depth + kMmaDepth - 1) / kMmaDepth; }

/// Activations: 8 columns x 64 K, BF16, or 4-bit codes and scales in the weights' format.
constexpr int activation_slice_bytes(Path path, WeightFormat format) {
  return path == Path::w4a16 ? kMmaCols * kMmaDepth * 2
                             : kMmaCols * kMmaDepth / 2 + kMmaCols * kMmaDepth / scale_group(format);
}

constexpr int stage_weight_bytes(const Tile& t) {
  return t.m / kMmaRows * (t.k / kMmaDepth) * weight_slice_bytes(t.format);
}
constexpr int stage_activation_bytes(const Tile& t) {
  return t.n / kMmaCols * (t.k / kMmaDepth) * activation_slice_bytes(t.path, t.format);
}
constexpr int stage_bytes(const Tile& t) { return stage_weight_bytes(t) + stage_activation_bytes(t); }

inline constexpr int kBarrierBytesPerStage = 2 * 8;

/// [n][m] BF16, rows 16 bytes apart from being multiples of 128, so that the 8 lanes which write neighbouring columns
/// hit different banks. SwiGLU halves m; the bytes are those of the wider one, so that a tile's do not depend on the
/// operation.
constexpr int epilogue_bytes(const Tile& t) { return t.n * (t.m * 2 + 16); }

/// Offsets are bytes from the start of dynamic shared memory.
struct SmemLayout {
  int stage_bytes = 0;         // stage s begins at s * stage_bytes
  int activations_offset = 0;  // within a stage; weights begin at 0
  int barriers_offset = 0;
  int total_bytes = 0;
};

/// Of `stages` stages of this tile, whether they fit or not.
constexpr SmemLayout smem_layout(const Tile& t, int stages) {
  SmemLayout layout;
  layout.stage_bytes = stage_bytes(t);
  layout.activations_offset = stage_weight_bytes(t);
  layout.barriers_offset = std::max(stages * layout.stage_bytes, epilogue_bytes(t));
  layout.total_bytes = layout.barriers_offset + stages * kBarrierBytesPerStage;
  return layout;
}
constexpr SmemLayout smem_layout(const Tile& t) { return smem_layout(t, t.stages); }

/// The most stages whose bytes fit the tile's share of an SM: 0 to kStagesMax. Fewer than kStagesMin: no such tile.
constexpr int stages_that_fit(const Tile& t) {
  const int limit = smem_limit(t.blocks_per_sm);
  int stages = 0;
  while (stages < kStagesMax && smem_layout(t, stages + 1).total_bytes <= limit) ++stages;
  return stages;
}

/// Whether a kernel of this tile may exist.
constexpr bool fits(const Tile& t) {
  return legal_shape(t) && t.stages >= kStagesMin && t.stages <= kStagesMax &&
         smem_layout(t).total_bytes <= smem_limit(t.blocks_per_sm);
}

/// A tile as constants for device code, where nvcc calls no host function, constexpr or not. Naming the Budget of a
/// tile without room does not compile. Kernels take it as a type, template <typename Budget> __global__ ..., because
/// nvcc 13.0 cannot name a __global__ template whose argument is a Tile.
template <Tile tile>
struct Budget {
  static_assert(legal_shape(tile), "m, n and k are whole MMAs of every warp");
  static_assert(tile.stages >= kStagesMin && tile.stages <= kStagesMax, "2 to 16 stages");
  static_assert(smem_layout(tile).total_bytes <= smem_limit(tile.blocks_per_sm), "shared memory of a block");
  static constexpr Tile kTile = tile;
  static constexpr SmemLayout kSmem = smem_layout(tile);
  static constexpr int kThreads = threads(tile);
};

}  // namespace tessera::plan
