#include "plan/cost.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

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
