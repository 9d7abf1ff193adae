#include "plan/reject.h"

#include <fmt/format.h>

#include "plan/budget.h"
#include "plan/registers.h"

namespace tessera::plan {
namespace {

std::string no_room(const Tile& tile) {
  const int limit = smem_limit(tile.blocks_per_sm);
  const SmemLayout two = smem_layout(tile, kStagesMin);
  const std::string share = tile.blocks_per_sm == 1 ? "" : fmt::format(" ({} blocks an SM)", tile.blocks_per_sm);
  if (epilogue_bytes(tile) > kStagesMin * two.stage_bytes) {
    return fmt::format("epilogue {} B, barriers {} B: {} B, {} B over {}{}", epilogue_bytes(tile),
                       two.total_bytes - two.barriers_offset, two.total_bytes, two.total_bytes - limit, limit, share);
  }
  return fmt::format("{} stages of {} B, barriers {} B: {} B, {} B over {}{}", kStagesMin, two.stage_bytes,
                     two.total_bytes - two.barriers_offset, two.total_bytes, two.total_bytes - limit, limit, share);
}

}  // namespace

std::string reject_reason(const Tile& tile, const DeviceFacts& device, int segments) {
  if (!legal_shape(tile)) {
    return fmt::format("{} rows, {} columns, {} deep over {}x{} warps is not made of {}x{}x{} MMAs", tile.m, tile.n,
                       tile.k, tile.warps_m, tile.warps_n, kMmaRows, kMmaCols, kMmaDepth);
  }
  if (tile.stages < kStagesMin) return no_room(tile);
  const int total = smem_layout(tile).total_bytes;
  const int limit = smem_limit(tile.blocks_per_sm);
  if (total > limit) return fmt::format("{} stages take {} B, {} B over {}", tile.stages, total, total - limit, limit);
  const int registers = register_estimate(tile);
  if (registers > register_limit(tile)) {
    return fmt::format("{} registers a thread ({} accumulators), {} threads x {} blocks leave {}", registers,
                       accumulator_registers(tile), threads(tile), tile.blocks_per_sm, register_limit(tile));
  }
  if (segments > 1 && !folds_segments(tile)) {
    return fmt::format("{} registers a thread and {} more for the sum of {} K segments, {} threads leave {}", registers,
                       accumulator_registers(tile), segments, threads(tile), register_limit(tile));
  }
  if (total > device.smem_per_block_bytes) {
    return fmt::format("{} B, {} B over the {} B a block may have on {}", total, total - device.smem_per_block_bytes,
                       device.smem_per_block_bytes, device.name);
  }
  const int resident = resident_blocks(device, total, threads(tile), registers);
  if (resident < tile.blocks_per_sm) {
    return fmt::format("{} of the {} blocks an SM that it is made for are resident on {} ({} B, {} threads)", resident,
                       tile.blocks_per_sm, device.name, total, threads(tile));
  }
  return {};
}

}  // namespace tessera::plan
