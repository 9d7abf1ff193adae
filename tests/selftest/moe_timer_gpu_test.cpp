// What a layer's time is of: its tokens, its bytes, and one result whatever the tiles.

#include "selftest/moe_timer.h"

#include <gtest/gtest.h>

#include "kernels/live_gpu.h"
#include "plan/candidates.h"
#include "plan/plan.h"

namespace tessera::kernels {
namespace {

plan::Desc layer() {
  plan::Desc desc;
  desc.hidden = 1024;
  desc.intermediate = 512;
  desc.experts = 64;
  desc.experts_per_token = 4;
  desc.tokens = 32;
  return desc;
}

TEST(MoeTimerGpu, TimesUpToTheTokensOfTheLayer) {
  const auto device = live_gpu(0);
  ASSERT_TRUE(device.ok()) << device.status().message();
  const auto timer = MoeTimer::make(0, *device, layer());
  ASSERT_TRUE(timer.ok()) << timer.status().message();
  for (const int64_t tokens : {1, 31, 32}) {
    const auto time = timer->time(tokens, {});
    ASSERT_TRUE(time.ok()) << tokens << ": " << time.status().message();
    EXPECT_GT(time->us, 0) << tokens;
  }
  for (const int64_t tokens : {0, 33}) {
    EXPECT_EQ(timer->time(tokens, {}).status().code(), StatusCode::invalid_argument) << tokens;
  }
  // Two matrices of 512 x 1,024 and one of 1,024 x 512, 9 bits for 2 elements.
  const double expert = 3.0 * 1024 * 512 * 9 / 16;
  EXPECT_DOUBLE_EQ(timer->weight_bytes(1), 4 * expert);
  EXPECT_GT(timer->weight_bytes(8), timer->weight_bytes(1));
  EXPECT_GT(timer->weight_bytes(32), timer->weight_bytes(8));
  EXPECT_LE(timer->weight_bytes(32), 64 * expert);
}

TEST(MoeTimerGpu, TheResultIsThatOfAllTiles) {
  const auto device = live_gpu(0);
  ASSERT_TRUE(device.ok()) << device.status().message();
  const auto timer = MoeTimer::make(0, *device, layer());
  ASSERT_TRUE(timer.ok()) << timer.status().message();
  plan::Desc desc = layer();
  desc.tokens = 8;
  const auto want = timer->time(8, {});
  ASSERT_TRUE(want.ok()) << want.status().message();
  const auto plan = plan::make_plan(desc, *device);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  int tiles = 0;
  for (const plan::Candidate& candidate : plan->candidates) {
    if (!candidate.kept() || !MoeTimer::can_run(desc, candidate.tile) || tiles == 4) continue;
    const auto time = timer->time(8, candidate.tile, want->down);
    ASSERT_TRUE(time.ok()) << plan::shape_name(candidate.tile) << ": " << time.status().message();
    EXPECT_EQ(time->result_hash, want->result_hash) << plan::shape_name(candidate.tile);
    ++tiles;
  }
  EXPECT_GT(tiles, 1);
  EXPECT_NE(timer->time(7, {})->result_hash, want->result_hash);
}

}  // namespace
}  // namespace tessera::kernels
