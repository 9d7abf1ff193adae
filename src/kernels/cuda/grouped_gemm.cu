#include "kernels/cuda/grouped_gemm.h"

#include <string>

#include "plan/budget.h"
#include "plan/candidates.h"

namespace tessera::kernels::cuda {

Status grouped_gemm(const plan::Tile& tile, const GemmArgs& args, int64_t column_tiles, const device::Queue& queue) {
  for (const Kernel& kernel : kernels(tile.path, tile.format)) {
    if (!(kernel.tile == tile)) continue;
    if (column_tiles == 0) return {};
    GemmArgs filled = args;
    const int strips = tile.m / plan::kMmaRows;
    filled.row_tiles = (args.strips + strips - 1) / strips;
    return device::launch(kernel.function, queue, static_cast<unsigned>(column_tiles * filled.row_tiles),
                          static_cast<unsigned>(plan::threads(tile)),
                          static_cast<size_t>(plan::smem_layout(tile).total_bytes), filled);
  }
  return {StatusCode::unsupported, std::string("no kernel of tile ") + plan::name(tile.path) + " " +
                                       std::string(format::name(tile.format)) + " " + plan::shape_name(tile) + ", " +
                                       std::to_string(tile.stages) + " stages, " + std::to_string(tile.blocks_per_sm) +
                                       " blocks an SM; `tessera tiles` lists those that are compiled"};
}

}  // namespace tessera::kernels::cuda
