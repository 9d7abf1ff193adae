#include "cli/tiles_compare.h"

#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/table.h"
#include "plan/candidates.h"
#include "plan/device_facts.h"
#include "plan/registers.h"
#include "plan/reject.h"
#include "plan/stock_tiles.h"

namespace tessera::cli {
namespace {

using plan::DeviceFacts;
using plan::Path;
using plan::Tile;
using plan::WeightFormat;

constexpr const char* kGpus[] = {"rtx-pro-6000", "h200"};
constexpr int kStockDepth = 128;

struct Staged {
  int stages = 0, blocks = 0;
};

int resident(const Tile& tile, const DeviceFacts& gpu) {
  return resident_blocks(gpu, smem_layout(tile).total_bytes, threads(tile), register_estimate(tile));
}

/// Of our kept tiles of this shape, the one with the most stages on an SM.
Staged ours(const plan::StockTile& stock, const DeviceFacts& gpu) {
  Staged best;
  for (const Tile& tile : plan::candidates(Path::w4a4, WeightFormat::nvfp4)) {
    if (tile.m != stock.m || tile.n != stock.n || tile.k != stock.k || !reject_reason(tile, gpu).empty()) continue;
    const int blocks = resident(tile, gpu);
    if (tile.stages * blocks > best.stages * best.blocks) best = {tile.stages, blocks};
  }
  return best;
}

/// "4 x 1", stages of a block x blocks of an SM.
std::string show(const Staged& staged) {
  return staged.stages == 0 ? "none" : fmt::format("{} x {}", staged.stages, staged.blocks);
}

void print_shapes(const std::vector<DeviceFacts>& gpus) {
  std::vector<std::vector<std::string>> rows = {
      {"tile", "stage B", "ours", "99 KB: stages x blocks", "ours", "227 KB: stages x blocks", "ours"}};
  for (const plan::StockTile& stock : plan::kStockTiles) {
    if (stock.k != kStockDepth) continue;
    const Tile tile = plan::make_tile(Path::w4a4, WeightFormat::nvfp4, stock.m, stock.n, stock.k, 1);
    std::vector<std::string> row = {shape_name(tile), std::to_string(stock.stage_bytes),
                                    std::to_string(stage_bytes(tile))};
    for (const DeviceFacts& gpu : gpus) {
      const int stages = stock_stages(stock, static_cast<int>(gpu.smem_per_block_bytes));
      row.push_back(show({stages, 1}));
      row.push_back(show(ours(stock, gpu)));
    }
    rows.push_back(std::move(row));
  }
  print("{}", format_table("<>>>>>>", rows));
}

void print_counts(const std::vector<DeviceFacts>& gpus) {
  std::vector<std::vector<std::string>> rows = {{"our tiles that fit", "K = 64", "K = 128", "K = 256", "rejected"}};
  for (const DeviceFacts& gpu : gpus) {
    for (const WeightFormat format : {WeightFormat::nvfp4, WeightFormat::mxfp4}) {
      for (const Path path : {Path::w4a16, Path::w4a4}) {
        int kept[3] = {}, rejected = 0;
        for (const Tile& tile : plan::candidates(path, format)) {
          if (reject_reason(tile, gpu).empty()) {
            ++kept[tile.k == 64 ? 0 : tile.k == 128 ? 1 : 2];
          } else {
            ++rejected;
          }
        }
        rows.push_back({fmt::format("{} {} {}", gpu.name, format::name(format), plan::name(path)),
                        std::to_string(kept[0]), std::to_string(kept[1]), std::to_string(kept[2]),
                        std::to_string(rejected)});
      }
    }
  }
  print("{}", format_table("<>>>>", rows));
}

}  // namespace

void print_k128_comparison() {
  std::vector<DeviceFacts> gpus;
  for (const char* key : kGpus) gpus.push_back(*plan::find_device(key));
  print(
      "Stock: CUTLASS block-scaled NVFP4 grouped GEMM with K = 128, bytes as compiled, its own stage count for the\n"
      "limit of each GPU, one block an SM. Ours: W4A4 tiles, NVFP4, the same 101,376 B at most on both GPUs.\n\n");
  print_shapes(gpus);
  print("\n");
  print_counts(gpus);
  print(
      "\nMXFP4 tiles of K = 64 hold half a block of the 128x4 scale layout: stock does not compile them, ours fold.\n");
}

}  // namespace tessera::cli
