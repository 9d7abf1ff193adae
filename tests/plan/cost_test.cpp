#include "plan/cost.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "plan/budget.h"
#include "plan/candidates.h"
#include "plan/model_shapes.h"
#include "plan/plan.h"

namespace tessera::plan {
namespace {

Desc layer(const char* model, Op op, int64_t tokens, Path path = Path::w4a16) {
  return layer_desc(*find_model_shape(model), op, WeightFormat::nvfp4, path, tokens);
}

TEST(Routing, DistinctExperts) {
  // E (1 - (1 - k/E)^B).
  const std::pair<int64_t, double> known[] = {{0, 0}, {1, 10}, {6, 57}, {8, 75}, {16, 139}, {64, 367}};
  for (const auto& [tokens, experts] : known) {
    EXPECT_NEAR(Routing(layer("397b", Op::gate_up, tokens)).distinct_experts(), experts, 0.9) << tokens;
  }
}

TEST(Routing, ColumnTilesOfOneColumnAreTheSlots) {
  for (const int64_t tokens : {1, 9, 100, 65'536}) {
    const Desc desc = layer("397b", Op::gate_up, tokens);
    const double tiles = Routing(desc).column_tiles(1);
    EXPECT_NEAR(tiles, static_cast<double>(slots(desc)), 1e-6 * static_cast<double>(slots(desc))) << tokens;
  }
}

RC_GTEST_PROP(Routing, Bounds, ()) {
  const int experts = *rc::gen::inRange(1, 1025);
  const Desc desc{.hidden = 64,
                  .intermediate = 16,
                  .experts = experts,
                  .experts_per_token = *rc::gen::inRange(1, std::min(experts, 32) + 1),
                  .tokens = *rc::gen::inRange<int64_t>(0, 65'537)};
  const Routing routing(desc);
  const double total = static_cast<double>(slots(desc));
  double before = total * (1 + 1e-6);
  for (int n = 1; n <= 256; n *= 2) {
    const double tiles = routing.column_tiles(n);
    RC_ASSERT(tiles <= before * (1 + 1e-9));                      // wider tiles are fewer
    RC_ASSERT(tiles >= total / n * (1 - 1e-6));                   // all slots are covered
    RC_ASSERT(tiles >= routing.distinct_experts() * (1 - 1e-6));  // an expert that is read has a tile
    RC_ASSERT(tiles <= (total / n + routing.distinct_experts()) * (1 + 1e-6));
    before = tiles;
  }
}

TEST(Cost, WeightBytesAreThoseOfTheExpertsRead) {
  const Desc desc = layer("397b", Op::gate_up, 1);
  const Tile tile = make_tile(Path::w4a16, WeightFormat::nvfp4, 64, 8, 256, 2);
  const Cost cost = estimate(desc, Routing(desc), tile, *find_device("rtx-pro-6000"), 2);
  EXPECT_NEAR(cost.weight_bytes, 10.0 * 2048 * 4096 * 9 / 16, 1);
  EXPECT_NEAR(cost.blocks, 320, 1e-9);
  EXPECT_STREQ(cost.bound, "memory");
  EXPECT_GE(cost.floor_us, cost.memory_us);
  EXPECT_GE(cost.estimate_us, cost.floor_us);
}

/// Where latency bounds the read rate, time is inverse to the stages that a block has in flight: all of them, but for
/// W4A16 the one that is being read.
TEST(Cost, BytesInFlightAreThoseOfTheStagesThatLoad) {
  DeviceFacts device = *find_device("rtx-pro-6000");
  device.read_gb_s = 1e9;
  for (const Path path : {Path::w4a16, Path::w4a4}) {
    const Desc desc = layer("397b", Op::gate_up, 16, path);
    Tile tile = make_tile(path, WeightFormat::nvfp4, 64, 8, 256, 2);
    const auto memory_us = [&](int stages) {
      tile.stages = stages;
      return estimate(desc, Routing(desc), tile, device, 2).memory_us;
    };
    const int read = path == Path::w4a16 ? 1 : 0;
    EXPECT_NEAR(memory_us(5) / memory_us(3), (3.0 - read) / (5 - read), 1e-9) << name(path);
    EXPECT_NEAR(memory_us(2) / memory_us(3), (3.0 - read) / (2 - read), 1e-9) << name(path);
  }
}

/// In a grid of so many blocks that only the read rate bounds it.
TEST(Cost, MemoryMovesWeightsRowsAndResults) {
  DeviceFacts device = *find_device("rtx-pro-6000");
  device.read_gb_s = 1;
  const auto besides_weights = [&](Op op, Path path) {
    const Desc desc = layer("397b", op, 64, path);
    const Cost cost = estimate(desc, Routing(desc), make_tile(path, WeightFormat::nvfp4, 64, 8, 256, 2), device, 2);
    return cost.memory_us * 1e3 - cost.weight_bytes;
  };
  // 64 tokens of 4,096, which each of their ten experts reads from L2, to 640 rows of 1,024, and these to rows of
  // 4,096.
  EXPECT_NEAR(besides_weights(Op::gate_up, Path::w4a16), 64 * 4096 * 2 + 640 * 1024 * 2, 1);
  EXPECT_NEAR(besides_weights(Op::down, Path::w4a16), 640 * 1024 * 2 + 640 * 4096 * 2, 1);
  EXPECT_NEAR(besides_weights(Op::down, Path::w4a4), 640 * 1024 * 9 / 16 + 640 * 4096 * 2, 1);
}

TEST(Cost, FewBlocksHaveNoMoreInFlightThanTheyAre) {
  DeviceFacts device = *find_device("rtx-pro-6000");
  device.read_gb_s = 1e9;
  const Tile tile = make_tile(Path::w4a16, WeightFormat::nvfp4, 64, 8, 256, 2);
  const auto memory_us = [&](int64_t tokens, int resident) {
    const Desc desc = layer("397b", Op::gate_up, tokens);
    return estimate(desc, Routing(desc), tile, device, resident).memory_us;
  };
  EXPECT_EQ(memory_us(1, 2), memory_us(1, 3)) << "320 blocks on 188 SMs";
  EXPECT_NEAR(memory_us(64, 2) / memory_us(64, 3), 1.5, 1e-9);
}

/// Weights are read by each column of warps, rows of tokens by each row of them.
TEST(Cost, WarpsReadWhatTheyMultiply) {
  const DeviceFacts device = *find_device("rtx-pro-6000");
  const Desc desc = layer("397b", Op::gate_up, 4096);
  Tile tile = make_tile(Path::w4a16, WeightFormat::nvfp4, 128, 128, 64, 1);
  const auto smem_us = [&](int warps_m, int warps_n) {
    tile.warps_m = warps_m;
    tile.warps_n = warps_n;
    return estimate(desc, Routing(desc), tile, device, 1).smem_us;
  };
  const double weights = stage_weight_bytes(tile), rows = stage_activation_bytes(tile);
  EXPECT_NEAR(smem_us(8, 1) / smem_us(2, 4), (weights + 8 * rows) / (4 * weights + 2 * rows), 1e-9);
}

/// One block more than fit at once is a round more, in which most SMs have nothing to do.
TEST(Cost, BlocksAreDealtOutWhole) {
  const Desc desc = layer("397b", Op::gate_up, 1);  // 320 blocks
  const Tile tile = make_tile(Path::w4a16, WeightFormat::nvfp4, 64, 8, 256, 2);
  const auto of_sms = [&](int sms, int resident = 1) {
    DeviceFacts device = *find_device("rtx-pro-6000");
    device.sm_count = sms;
    device.read_gb_s = device.bf16_tflops = 1e9;  // what all SMs share bounds nothing
    return estimate(desc, Routing(desc), tile, device, resident);
  };
  const Cost whole = of_sms(320), one_less = of_sms(319);
  EXPECT_NEAR(one_less.start_us / whole.start_us, 2, 1e-9);
  EXPECT_EQ(of_sms(160, 2).start_us, whole.start_us) << "those of one SM start together";
  ASSERT_STREQ(whole.bound, one_less.bound);
  EXPECT_NEAR(one_less.floor_us / whole.floor_us, 2, 0.4) << whole.bound;
}

TEST(Cost, SmsThatIdleReadNothingFromL2) {
  // Of BF16 no instruction is spent on decoding, so that L2 is what bounds a narrow tile.
  const Desc desc = dense_desc(WeightFormat::bf16, 20'480, 2048, 1);  // 320 blocks
  const Tile tile = make_tile(Path::w4a16, WeightFormat::bf16, 64, 8, 128, 1);
  DeviceFacts device = *find_device("h200");
  device.read_gb_s = device.bf16_tflops = 1e9;
  for (const int sms : {320, 319}) {
    device.sm_count = sms;
    const Cost cost = estimate(desc, Routing(desc), tile, device, 8);
    ASSERT_STREQ(cost.bound, "L2");
    EXPECT_NEAR(cost.floor_us / cost.l2_us, sms == 320 ? 1 : 638.0 / 320, 1e-9);
  }
}

/// Of one consumer warp, a step of K = 64 and a stage, by the figures at the top of cost.cpp: loads of rows and
/// columns, decoding and MMAs; waits and copies.
TEST(Cost, InstructionsAreThoseOfStepsAndStages) {
  struct Case {
    Desc desc;
    Tile tile;
    double step, stage;
  };
  const auto tile = [](Path path, WeightFormat format, int blocks, int warps_m, int warps_n) {
    Tile t = make_tile(path, format, 128, 128, 64, blocks);
    t.warps_m = warps_m;
    t.warps_n = warps_n;
    return t;
  };
  const Desc w4a16 = layer("397b", Op::gate_up, 4096), w4a4 = layer("397b", Op::gate_up, 4096, Path::w4a4);
  // FP4 codes: 2 x 8 fragments, so 2 x 2 + 2 x 8 loads, and each of the 2 is decoded in 4 x 18.5 and multiplied in
  // 4 x 8. 8 warps copy 128 rows of 36 bytes and 128 of 128: 6 times 512 bytes each; weights alone, 2 times.
  const double step = 20 + 2 * (74 + 32);
  // BF16 has 4 x 2 + 2 x 8 loads, nothing to decode, and 128 rows of 128 bytes twice: 8 copies. FP4 MMAs take K = 64 at
  // once, 4 x 4 of them here, and nothing is copied.
  const Case cases[] = {{w4a16, tile(Path::w4a16, WeightFormat::nvfp4, 1, 4, 2), step, 30 + 3 * 6},
                        {w4a16, tile(Path::w4a16, WeightFormat::nvfp4, 2, 4, 2), step, 30 + 3 * 2},
                        {dense_desc(WeightFormat::bf16, 2048, 4096, 4096),
                         tile(Path::w4a16, WeightFormat::bf16, 1, 4, 2), 24 + 2 * 32, 30 + 3 * 8},
                        {w4a4, tile(Path::w4a4, WeightFormat::nvfp4, 1, 2, 4), 2 * 4 + 2 * 4 + 16, 12}};
  const DeviceFacts gpu = *find_device("rtx-pro-6000");
  for (const Case& c : cases) {
    const Cost cost = estimate(c.desc, Routing(c.desc), c.tile, gpu, 1);
    const double clocks = cost.issue_us * gpu.clock_ghz * 1e3 * gpu.sm_count;
    EXPECT_NEAR(clocks * 4 / (cost.blocks * 64 * consumer_warps(c.tile)), c.step + c.stage, 1e-6)
        << name(c.desc.path) << " " << format::name(c.tile.format) << " " << c.tile.blocks_per_sm;
  }
}

TEST(Cost, ProductsTakeTheRateOfTheirPath) {
  DeviceFacts gpu = *find_device("rtx-pro-6000");
  gpu.bf16_tflops = 100;
  gpu.fp4_tflops = 400;
  for (const Path path : {Path::w4a16, Path::w4a4}) {
    const Desc desc = layer("397b", Op::gate_up, 4096, path);
    const Cost cost = estimate(desc, Routing(desc), make_tile(path, WeightFormat::nvfp4, 128, 128, 64, 1), gpu, 1);
    const double flops = cost.blocks * 2 * 128 * 128 * 4096;
    EXPECT_NEAR(cost.mma_us, flops / (path == Path::w4a16 ? 100e6 : 400e6), 1e-6 * cost.mma_us) << name(path);
  }
}

TEST(Cost, FewWarpsHideLessLatency) {
  const DeviceFacts h200 = *find_device("h200");
  const Desc desc = layer("397b", Op::gate_up, 4096, Path::w4a4);  // emulated: bound by instructions
  const Tile tile = make_tile(Path::w4a4, WeightFormat::nvfp4, 64, 64, 128, 1);
  const Cost one = estimate(desc, Routing(desc), tile, h200, 1), two = estimate(desc, Routing(desc), tile, h200, 2);
  ASSERT_STREQ(one.bound, "issue");
  ASSERT_STREQ(two.bound, "issue");
  EXPECT_EQ(one.issue_us, two.issue_us);
  const double warps = consumer_warps(tile) / 4.0;  // of a scheduler, and beside them two warps' worth of waiting
  EXPECT_NEAR(one.floor_us / two.floor_us, (1 + 2 / warps) / (1 + 2 / (2 * warps)), 1e-9);
}

TEST(Cost, DecodeFloorsOfTheWholeLayer) {
  // Routed experts of a layer of 397B on an H200 at 4.5 TB/s: 16 us for 1 token, 118 for 8, 577 for 64, gate_up and
  // down together.
  const DeviceFacts h200 = *find_device("h200");
  const std::pair<int64_t, double> floors[] = {{1, 16}, {8, 118}, {64, 577}};
  for (const auto& [tokens, us] : floors) {
    double total = 0;
    for (const Op op : {Op::gate_up, Op::down})
      total += make_plan(layer("397b", op, tokens), h200)->chosen().cost.memory_us;
    EXPECT_NEAR(total, us, 0.06 * us) << tokens;
  }
}

TEST(Cost, NoTokensCostNothing) {
  const Plan plan = *make_plan(layer("397b", Op::down, 0), *find_device("rtx-pro-6000"));
  EXPECT_EQ(plan.chosen().cost.estimate_us, 0);
}

TEST(Cost, GrowsWithTokensAndShrinksWithTheGpu) {
  for (const Path path : {Path::w4a16, Path::w4a4}) {
    for (const Op op : {Op::gate_up, Op::down}) {
      double before = 0;
      for (const int64_t tokens : {1, 8, 64, 512, 4096, 65'536}) {
        const double big =
            make_plan(layer("397b", op, tokens, path), *find_device("rtx-pro-6000"))->chosen().cost.estimate_us;
        const double small =
            make_plan(layer("397b", op, tokens, path), *find_device("dgx-spark"))->chosen().cost.estimate_us;
        EXPECT_GT(big, before) << tokens;
        EXPECT_GT(small, big) << tokens;
        before = big;
      }
    }
  }
}

TEST(Cost, FewTokensChooseNarrowTilesAndManyWideOnes) {
  const DeviceFacts gpu = *find_device("rtx-pro-6000");
  EXPECT_EQ(make_plan(layer("397b", Op::gate_up, 1), gpu)->chosen().tile.n, 8);
  EXPECT_GE(make_plan(layer("397b", Op::gate_up, 65'536), gpu)->chosen().tile.n, 64);
  EXPECT_GE(make_plan(layer("397b", Op::gate_up, 65'536, Path::w4a4), gpu)->chosen().tile.n, 96);
}

TEST(Cost, EmulatedW4A4IsIssueBound) {
  const Plan plan = *make_plan(layer("397b", Op::gate_up, 4096, Path::w4a4), *find_device("h200"));
  EXPECT_STREQ(plan.chosen().cost.bound, "issue");
  EXPECT_EQ(plan.chosen().cost.mma_us, 0);
}

}  // namespace
}  // namespace tessera::plan
