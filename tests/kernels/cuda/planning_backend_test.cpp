// What the CUDA backend launches for blocks in an order that no model has, by its plan: no GPU is needed.

#include <gtest/gtest.h>

#include "kernels/step_plan.h"
#include "plan/device_facts.h"

namespace tessera::kernels {
namespace {

using format::WeightFormat;

MatrixSource matrix(WeightFormat format, int64_t rows, int64_t cols) {
  return {.name = "m", .parts = {{.format = format, .rows = rows, .cols = cols, .row_scales = {}}}};
}

MoeSource experts() {
  constexpr int64_t kHidden = 256, kInner = 64;
  const SwigluSource expert{.inner = kInner,
                            .gate_up = matrix(WeightFormat::nvfp4, 2 * kInner, kHidden),
                            .down = matrix(WeightFormat::nvfp4, kHidden, kInner)};
  MoeSource source;
  source.hidden = kHidden;
  source.norm_eps = 1e-6F;
  source.experts_per_token = 2;
  source.norm.resize(kHidden);
  source.router = matrix(WeightFormat::bf16, 8, kHidden);
  source.experts.assign(8, expert);
  return source;
}

TEST(PlanningBackend, WhatExpertsLeaveIsSummedBeforeOthersTakeItsMemory) {
  std::vector<PlannedOperation> operations;
  const auto backend = *make_planning_backend(*plan::find_device("h200"), {}, operations);
  const auto block = *backend->load(experts());
  const auto cache = *backend->make_cache({});
  const auto pass = *backend->make_pass({.rows_max = 4, .sequences_max = 4, .hidden = 256, .vocab = 16});
  const std::vector<int32_t> tokens(4);
  const std::vector<SequenceRows> sequences(4, {.rows = 1, .row_class = RowClass::decode, .block_table = {}});
  ASSERT_TRUE(backend->begin(*pass, *cache, {.tokens = tokens, .sequences = sequences}, {}).ok());
  for (const char* first : {"dense_decode_rows<1, true>", "sum_expert_rows", "sum_expert_rows"}) {
    const Status status = backend->moe(*pass, *block);
    ASSERT_TRUE(status.ok()) << status.message();
    const auto& kernels = operations.back().kernels;
    EXPECT_EQ(kernels.front().name, first);
    EXPECT_EQ(kernels.back().name, "w4a16_gemm") << "the sum is left to what comes next";
  }
}

}  // namespace
}  // namespace tessera::kernels
