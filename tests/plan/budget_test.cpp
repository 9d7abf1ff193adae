#include "plan/budget.h"

#include <gtest/gtest.h>

#include "plan/candidates.h"
#include "plan/registers.h"

namespace tessera::plan {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::nvfp4, WeightFormat::mxfp4};
constexpr Path kPaths[] = {Path::w4a16, Path::w4a4};

TEST(Budget, SlicesOfEveryFormat) {
  EXPECT_EQ(weight_slice_bytes(WeightFormat::bf16), 2'048);
  EXPECT_EQ(weight_slice_bytes(WeightFormat::fp8_e4m3), 1'024);
  EXPECT_EQ(weight_slice_bytes(WeightFormat::nvfp4), 512 + 64);
  EXPECT_EQ(weight_slice_bytes(WeightFormat::mxfp4), 512 + 32);
  EXPECT_EQ(activation_slice_bytes(Path::w4a16, WeightFormat::mxfp4), 8 * 64 * 2);
  EXPECT_EQ(activation_slice_bytes(Path::w4a4, WeightFormat::nvfp4), 256 + 32);
  EXPECT_EQ(activation_slice_bytes(Path::w4a4, WeightFormat::mxfp4), 256 + 16);
}

struct Exact {
  Path path;
  int m, n, k, blocks;
  int stages_nvfp4, stage_nvfp4, total_nvfp4;
  int stages_mxfp4, stage_mxfp4, total_mxfp4;
};

// Stage = m/16 * k/64 * (576 or 544) + n/8 * k/64 * (1024; 288 or 272). Total = stages * (stage + 16).
constexpr Exact kExact[] = {
    {Path::w4a16, 64, 8, 256, 2, 3, 13'312, 39'984, 3, 12'800, 38'448},
    {Path::w4a16, 64, 16, 128, 2, 5, 8'704, 43'600, 5, 8'448, 42'320},
    {Path::w4a16, 128, 128, 64, 1, 4, 20'992, 84'032, 4, 20'736, 83'008},
    {Path::w4a16, 256, 64, 64, 1, 5, 17'408, 87'120, 5, 16'896, 84'560},
    {Path::w4a4, 128, 128, 128, 1, 5, 18'432, 92'240, 5, 17'408, 87'120},
    {Path::w4a16, 128, 128, 128, 1, 2, 41'984, 84'000, 2, 41'472, 82'976},
    {Path::w4a4, 128, 128, 256, 1, 2, 36'864, 73'760, 2, 34'816, 69'664},
    {Path::w4a4, 128, 256, 128, 1, 3, 27'648, 82'992, 3, 26'112, 78'384},
    {Path::w4a4, 128, 128, 64, 1, 10, 9'216, 92'320, 11, 8'704, 95'920},
    {Path::w4a4, 128, 256, 64, 1, 7, 13'824, 96'880, 7, 13'056, 91'504},
    {Path::w4a4, 256, 128, 64, 1, 7, 13'824, 96'880, 7, 13'056, 91'504},
    {Path::w4a16, 128, 256, 64, 1, 2, 37'376, 74'784, 2, 37'120, 74'272},
    {Path::w4a16, 256, 128, 64, 1, 3, 25'600, 76'848, 4, 25'088, 100'416},
};

TEST(Budget, ExactBytes) {
  for (const Exact& e : kExact) {
    const Tile nvfp4 = make_tile(e.path, WeightFormat::nvfp4, e.m, e.n, e.k, e.blocks);
    const Tile mxfp4 = make_tile(e.path, WeightFormat::mxfp4, e.m, e.n, e.k, e.blocks);
    EXPECT_EQ(nvfp4.stages, e.stages_nvfp4) << shape_name(nvfp4);
    EXPECT_EQ(stage_bytes(nvfp4), e.stage_nvfp4) << shape_name(nvfp4);
    EXPECT_EQ(smem_layout(nvfp4).total_bytes, e.total_nvfp4) << shape_name(nvfp4);
    EXPECT_EQ(mxfp4.stages, e.stages_mxfp4) << shape_name(mxfp4);
    EXPECT_EQ(stage_bytes(mxfp4), e.stage_mxfp4) << shape_name(mxfp4);
    EXPECT_EQ(smem_layout(mxfp4).total_bytes, e.total_mxfp4) << shape_name(mxfp4);
    EXPECT_TRUE(fits(nvfp4) && fits(mxfp4)) << shape_name(nvfp4);
  }
}

TEST(Budget, StagesAloneAreTheDesignsFigures) {
  // What the design names as starting configurations: stages without barriers.
  const auto staged = [](Path path, int m, int n, int k, int blocks) {
    const Tile tile = make_tile(path, WeightFormat::nvfp4, m, n, k, blocks);
    return tile.stages * stage_bytes(tile);
  };
  EXPECT_EQ(staged(Path::w4a16, 64, 8, 256, 2), 39'936);
  EXPECT_EQ(staged(Path::w4a16, 64, 16, 128, 2), 43'520);
  EXPECT_EQ(staged(Path::w4a16, 128, 128, 64, 1), 83'968);
  EXPECT_EQ(staged(Path::w4a16, 256, 64, 64, 1), 87'040);
  EXPECT_EQ(staged(Path::w4a4, 128, 128, 128, 1), 92'160);
}

TEST(Budget, HalfTheScalesDecideATile) {
  const Tile nvfp4 = make_tile(Path::w4a16, WeightFormat::nvfp4, 256, 128, 128, 1);
  const Tile mxfp4 = make_tile(Path::w4a16, WeightFormat::mxfp4, 256, 128, 128, 1);
  EXPECT_EQ(smem_layout(nvfp4, 2).total_bytes, kSmemPerBlockMax + 1'056);
  EXPECT_EQ(smem_layout(mxfp4, 2).total_bytes, kSmemPerBlockMax - 992);
  EXPECT_FALSE(fits(nvfp4));
  EXPECT_TRUE(fits(mxfp4));
}

TEST(Budget, AnEpilogueBesideTheStagesWouldCostTwo) {
  const Tile tile = make_tile(Path::w4a4, WeightFormat::nvfp4, 128, 128, 128, 1);
  EXPECT_EQ(epilogue_bytes(tile), 34'816);
  const int beside = kSmemPerBlockMax - epilogue_bytes(tile);
  EXPECT_EQ(beside / (stage_bytes(tile) + kBarrierBytesPerStage), 3);
  EXPECT_EQ(tile.stages, 5);
}

TEST(Budget, LimitsLeaveTheDriverItsShare) {
  for (int blocks = 1; blocks <= 4; ++blocks) {
    EXPECT_LE(blocks * (smem_limit(blocks) + kSmemReservedPerBlock), 102'400) << blocks;
    EXPECT_EQ(smem_limit(blocks) % kSmemUnit, 0) << blocks;
  }
}

TEST(Budget, IsAConstantOfTheTile) {
  constexpr Tile kTile{.path = Path::w4a16,
                       .format = WeightFormat::nvfp4,
                       .m = 64,
                       .n = 8,
                       .k = 256,
                       .blocks_per_sm = 2,
                       .warps_m = 4,
                       .warps_n = 1,
                       .stages = 3};
  static_assert(Budget<kTile>::kSmem.total_bytes == 39'984 && Budget<kTile>::kThreads == 160);
  EXPECT_EQ(make_tile(kTile.path, kTile.format, kTile.m, kTile.n, kTile.k, kTile.blocks_per_sm), kTile);
  Tile tile = kTile;
  tile.stages = 4;
  EXPECT_FALSE(fits(tile));
  tile.stages = 1;
  EXPECT_FALSE(fits(tile));
}

TEST(Budget, EveryPartIsAlignedForBulkCopiesAndNothingOverlaps) {
  for (const Path path : kPaths) {
    for (const WeightFormat format : kFormats) {
      for (const Tile& tile : candidates(path, format)) {
        if (!fits(tile)) continue;
        const SmemLayout layout = smem_layout(tile);
        for (const int offset :
             {layout.stage_bytes, layout.activations_offset, layout.barriers_offset, layout.total_bytes}) {
          EXPECT_EQ(offset % 16, 0) << shape_name(tile);
        }
        EXPECT_EQ(layout.activations_offset, stage_weight_bytes(tile));
        EXPECT_EQ(layout.stage_bytes - layout.activations_offset, stage_activation_bytes(tile));
        EXPECT_GE(layout.barriers_offset, tile.stages * layout.stage_bytes);
        EXPECT_GE(layout.barriers_offset, epilogue_bytes(tile));
        EXPECT_EQ(layout.total_bytes - layout.barriers_offset, tile.stages * 16);
      }
    }
  }
}

TEST(Budget, StagesAreTheMostThatFit) {
  for (const Path path : kPaths) {
    for (const WeightFormat format : kFormats) {
      for (const Tile& tile : candidates(path, format)) {
        const int limit = smem_limit(tile.blocks_per_sm);
        if (tile.stages > 0) {
          EXPECT_LE(smem_layout(tile, tile.stages).total_bytes, limit) << shape_name(tile);
        }
        if (tile.stages < kStagesMax) {
          EXPECT_GT(smem_layout(tile, tile.stages + 1).total_bytes, limit) << shape_name(tile);
        }
      }
    }
  }
}

TEST(Budget, MoreOfAnythingNeverGetsMoreStages) {
  for (const Path path : kPaths) {
    for (const WeightFormat format : kFormats) {
      for (const Tile& tile : candidates(path, format)) {
        Tile wider = tile, deeper = tile, taller = tile, alone = tile, mxfp4 = tile;
        wider.n *= 2;
        deeper.k *= 2;
        taller.m *= 2;
        alone.blocks_per_sm = 1;
        mxfp4.format = WeightFormat::mxfp4;
        EXPECT_LE(stages_that_fit(wider), tile.stages) << shape_name(tile);
        EXPECT_LE(stages_that_fit(deeper), tile.stages) << shape_name(tile);
        EXPECT_LE(stages_that_fit(taller), tile.stages) << shape_name(tile);
        EXPECT_GE(stages_that_fit(alone), tile.stages) << shape_name(tile);
        EXPECT_GE(stages_that_fit(mxfp4), tile.stages) << shape_name(tile);
      }
    }
  }
}

TEST(Registers, LimitsComeFromTheRegisterFile) {
  const Tile decode = make_tile(Path::w4a16, WeightFormat::nvfp4, 64, 8, 256, 2);
  EXPECT_EQ(threads(decode), 160);
  EXPECT_EQ(accumulator_registers(decode), 4);
  EXPECT_EQ(register_limit(decode), 168);  // 10 warps: 3 on a scheduler, 16384 / 96 = 170
  const Tile prefill = make_tile(Path::w4a16, WeightFormat::nvfp4, 256, 128, 64, 1);
  EXPECT_EQ(threads(prefill), 256);
  EXPECT_EQ(register_limit(prefill), 255);  // 8 warps: 2 on a scheduler; a thread has no more
  const Tile wide = make_tile(Path::w4a4, WeightFormat::nvfp4, 128, 256, 64, 1);
  EXPECT_EQ(threads(wide), 288);
  EXPECT_EQ(accumulator_registers(wide), 128);
  EXPECT_EQ(register_limit(wide), 168);  // 9 warps: 3 on a scheduler
}

}  // namespace
}  // namespace tessera::plan
