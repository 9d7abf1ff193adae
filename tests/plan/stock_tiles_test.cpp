#include "plan/stock_tiles.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "plan/budget.h"
#include "plan/candidates.h"
#include "plan/device_facts.h"
#include "plan/registers.h"
#include "plan/reject.h"

namespace tessera::plan {
namespace {

std::string shape(const StockTile& t) {
  return std::to_string(t.m) + "x" + std::to_string(t.n) + "x" + std::to_string(t.k);
}

TEST(StockTiles, TheTableReproducesTheCompiledTotals) {
  // Totals and stage counts as compiled; the stage count is the largest whose total fits.
  const int totals[] = {89'088, 89'088, 98'304, 98'304, 101'376, 101'376, 101'376,
                        89'088, 99'328, 93'184, 93'184, 98'304,  98'304};
  for (size_t i = 0; i < kStockTiles.size(); ++i) {
    const StockTile& t = kStockTiles[i];
    EXPECT_EQ(stock_total_bytes(t, t.stages), totals[i]) << shape(t);
    EXPECT_EQ(stock_stages(t, kSmemPerBlockMax), t.stages) << shape(t);
  }
}

TEST(StockTiles, StagesIn227Kb) {
  const int stages[] = {11, 5, 7, 7, 15, 7, 17, 8, 9, 20, 10, 23, 15};
  for (size_t i = 0; i < kStockTiles.size(); ++i) {
    EXPECT_EQ(stock_stages(kStockTiles[i], 232'448), stages[i]) << shape(kStockTiles[i]);
  }
}

/// Shapes at which 99 KB hold no stage more, whatever the epilogue: docs/the-99-kb-story.md.
const std::set<std::string> kNoRoomForMore = {"128x128x256", "128x256x128", "256x128x128", "128x64x256"};

TEST(StockTiles, OursHaveMoreStagesOrMoreResidentBlocksOrNoRoomExists) {
  const DeviceFacts gpu = *find_device("rtx-pro-6000");
  for (const StockTile& stock : kStockTiles) {
    int stages = 0, blocks = 0;  // the best of each among our tiles of this shape
    for (const Tile& tile : candidates(Path::w4a4, WeightFormat::nvfp4)) {
      if (tile.m != stock.m || tile.n != stock.n || tile.k != stock.k || !reject_reason(tile, gpu).empty()) continue;
      const int resident = resident_blocks(gpu, smem_layout(tile).total_bytes, threads(tile), register_estimate(tile));
      EXPECT_LE(stage_bytes(tile), stock.stage_bytes) << shape(stock);
      EXPECT_GE(tile.stages * resident, stock.stages) << shape(stock);
      stages = std::max(stages, tile.stages);
      blocks = std::max(blocks, resident);
    }
    ASSERT_GT(blocks, 0) << "no tile of ours has the shape " << shape(stock);
    const bool more = stages > stock.stages || blocks > 1;
    EXPECT_NE(more, kNoRoomForMore.contains(shape(stock))) << shape(stock);
    if (!more) {
      // Codes and scales of one stage more, and not a byte of anything else.
      const Tile tile = make_tile(Path::w4a4, WeightFormat::nvfp4, stock.m, stock.n, stock.k, 1);
      EXPECT_EQ(stages, stock.stages) << shape(stock);
      EXPECT_GT((stages + 1) * stage_bytes(tile), kSmemPerBlockMax) << shape(stock);
    }
  }
}

TEST(StockTiles, TheTilesOfTheStoryFitInBothFormatsAndPaths) {
  const DeviceFacts gpu = *find_device("rtx-pro-6000");
  for (const Path path : {Path::w4a16, Path::w4a4}) {
    for (const WeightFormat format : {WeightFormat::nvfp4, WeightFormat::mxfp4}) {
      for (const auto& [m, n] : {std::pair(128, 128), std::pair(128, 256), std::pair(256, 128)}) {
        int found = 0;
        for (const Tile& tile : candidates(path, format)) {
          if (tile.m == m && tile.n == n && tile.k == 64) {
            ++found;
            EXPECT_LE(smem_layout(tile).total_bytes, kSmemPerBlockMax) << shape_name(tile);
            EXPECT_EQ(reject_reason(tile, gpu), "") << shape_name(tile);
          }
        }
        EXPECT_EQ(found, 1) << m << "x" << n << "x64";
      }
    }
  }
}

}  // namespace
}  // namespace tessera::plan
