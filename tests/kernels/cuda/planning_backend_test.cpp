// What the CUDA backend launches for blocks in an order that no model has, by its plan: no GPU is needed.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/delta_net.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/pass.h"
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
  for (const char* first : {"dense_decode_rows<1, true, 8>", "sum_expert_rows", "sum_expert_rows"}) {
    const Status status = backend->moe(*pass, *block);
    ASSERT_TRUE(status.ok()) << status.message();
    const auto& kernels = operations.back().kernels;
    EXPECT_EQ(kernels.front().name, first);
    EXPECT_EQ(kernels.back().name, "w4a16_gemm") << "the sum is left to what comes next";
  }
}

TEST(PlanningBackend, OfRanksExpertsLeaveRowsThatAreSummedAtOnce) {
  struct OneOfTwo final : Comm {
    [[nodiscard]] Rank rank() const override { return {.index = 0, .world = 2}; }
    Status all_reduce(const CommRows& /*rows*/, bool /*round*/) override { return {}; }
    Status all_gather(const CommRows& /*rows*/) override { return {}; }
  } comm;
  std::vector<PlannedOperation> operations;
  const auto backend = *make_planning_backend(*plan::find_device("h200"), {}, operations, &comm);
  const auto block = *backend->load(experts());
  const auto cache = *backend->make_cache({});
  const auto pass = *backend->make_pass({.rows_max = 1, .sequences_max = 1, .hidden = 256, .vocab = 16});
  const std::vector<int32_t> tokens(1);
  const SequenceRows sequence{.rows = 1};
  ASSERT_TRUE(backend->begin(*pass, *cache, {.tokens = tokens, .sequences = {&sequence, 1}}, {}).ok());
  ASSERT_TRUE(backend->moe(*pass, *block).ok());
  EXPECT_EQ(operations.back().kernels.back().name, "sum_expert_rows");
}

/// Of 8 experts with an even router n rows, which take 2 each, read 8 (1 - (3/4)^n): 2, 3.5 and 5.46875 of 1, 2 and 4.
/// A shared one is read by any row.
TEST(PlanningBackend, TheMoreRowsTheMoreExpertsAreRead) {
  std::vector<PlannedOperation> operations;
  const auto backend = *make_planning_backend(*plan::find_device("h200"), {}, operations);
  const auto cache = *backend->make_cache({});
  const auto bytes = [&](const MoeSource& source, size_t rows) {
    const auto block = *backend->load(source);
    const auto pass = *backend->make_pass({.rows_max = 4, .sequences_max = 4, .hidden = 256, .vocab = 16});
    const std::vector<int32_t> tokens(rows);
    const std::vector<SequenceRows> sequences(rows, {.rows = 1});
    EXPECT_TRUE(backend->begin(*pass, *cache, {.tokens = tokens, .sequences = sequences}, {}).ok());
    operations.clear();
    EXPECT_TRUE(backend->moe(*pass, *block).ok());
    return operations.at(0).weight_bytes;
  };
  MoeSource with_shared = experts();
  with_shared.shared = with_shared.experts[0];
  with_shared.shared_gate = matrix(WeightFormat::bf16, 1, 256);
  const double one = bytes(experts(), 1), shared = bytes(with_shared, 1) - one;
  EXPECT_DOUBLE_EQ((bytes(experts(), 4) - one) / (bytes(experts(), 2) - one), 3.46875 / 1.5);
  EXPECT_GT(shared, 3 * 64 * 256 / 2);
  EXPECT_DOUBLE_EQ(bytes(with_shared, 4) - bytes(experts(), 4), shared);
}

TEST(PlanningBackend, AHeadReadsTheWeightsThatAreItsOwn) {
  std::vector<PlannedOperation> operations;
  const auto backend = *make_planning_backend(*plan::find_device("h200"), {}, operations);
  const auto embedding = *backend->load(EmbeddingSource{.table = matrix(WeightFormat::bf16, 64, 256), .lm_head = {}});
  const auto cache = *backend->make_cache({});
  const auto pass =
      *backend->make_pass({.rows_max = 1, .sequences_max = 1, .logit_rows_max = 1, .hidden = 256, .vocab = 64});
  const std::vector<int32_t> tokens(1), logit_rows(1);
  const SequenceRows sequence{.rows = 1};
  for (const bool own : {false, true}) {
    HeadSource source;
    source.norm.resize(256);
    if (own) source.lm_head = matrix(WeightFormat::fp8_e4m3, 64, 256);
    const auto head = *backend->load(source);
    ASSERT_TRUE(backend->begin(*pass, *cache, {.tokens = tokens, .sequences = {&sequence, 1}}, logit_rows).ok());
    operations.clear();
    ASSERT_TRUE(backend->head(*pass, *head, *embedding).ok());
    EXPECT_EQ(operations[0].name, "head");
    EXPECT_EQ(operations[0].weight_bytes, 64 * 256 * (own ? 1 : 2));
  }
}

TEST(PlanningBackend, EachAttentionLayerHasMemoryAndScalesOfItsOwn) {
  const std::vector<float> k_scales = {0.5F, 0.75F, 1.5F}, v_scales = {3.0F, 3.5F, 4.0F};
  const CacheShape shape = {.kv_dtype = DType::f8_e4m3,
                            .attention = {.heads = 4, .kv_heads = 2, .head_dim = 64, .rotary_dim = 64},
                            .attention_layers = 3,
                            .k_scales = k_scales,
                            .v_scales = v_scales,
                            .delta_net = {},
                            .blocks = 5};
  const auto cache = cuda::Cache::nowhere(shape);
  const size_t bytes = 5 * cuda::kv_block_bytes(shape.kv_dtype, shape.attention);
  const std::byte* next = cache->kv_pool(0).keys;
  for (int layer = 0; layer < shape.attention_layers; ++layer) {
    const cuda::KvPool pool = cache->kv_pool(layer);
    EXPECT_EQ(pool.k_scale, k_scales[static_cast<size_t>(layer)]) << "layer " << layer;
    EXPECT_EQ(pool.v_scale, v_scales[static_cast<size_t>(layer)]) << "layer " << layer;
    EXPECT_EQ(pool.keys, next) << "layer " << layer;
    EXPECT_EQ(pool.values, next + bytes) << "layer " << layer;
    next = pool.values + bytes;
  }
}

TEST(PlanningBackend, AStateSlotHasRoomForItsRecords) {
  CacheShape shape;
  shape.delta_net = {.key_heads = 2, .value_heads = 4, .key_dim = 64, .value_dim = 64};
  shape.linear_layers = 3;
  shape.state_slots = 5;
  const CacheBytes without = cuda::cache_bytes(shape);
  EXPECT_EQ(without.state_slot, without.state);
  // fp32 of S, and BF16 of the last three inputs of the convolution, keys and queries once for each value head.
  EXPECT_EQ(without.state, 3U * (4 * 64 * 64 * 4 + 4 * 3 * 192 * 2));
  shape.record_rows = 6;
  const CacheBytes bytes = cuda::cache_bytes(shape);
  EXPECT_EQ(bytes.state, without.state);
  const auto cache = cuda::Cache::nowhere(shape);
  const auto of_layer = static_cast<size_t>(cache->records(1) - cache->records(0));  // of all slots
  EXPECT_EQ(bytes.state_slot - bytes.state, 3 * of_layer / 5);
  EXPECT_EQ(of_layer, 5 * 4 * 6 * cuda::record_bytes(shape.delta_net));
}

/// What is taken in a frame does not overlap, whatever earlier frames were of; a chunk is as large as what it is for.
TEST(PlanningBackend, ScratchMemoryOfAFrameIsNowhereTwice) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  cuda::Arena arena;
  arena.move_nowhere();
  for (const std::vector<int64_t>& takes : {std::vector<int64_t>{48, 32}, {48, 100}, {1, 100, 33, 200, 64}, {200}}) {
    cuda::Arena::Frame frame(arena);
    std::vector<std::pair<const std::byte*, const std::byte*>> taken;
    for (const int64_t mib : takes) {
      const std::byte* const begin = *frame.take<std::byte>(mib * kMiB);
      taken.emplace_back(begin, begin + mib * kMiB);
    }
    std::ranges::sort(taken);
    for (size_t i = 1; i < taken.size(); ++i) EXPECT_LE(taken[i - 1].second, taken[i].first);
  }
  EXPECT_EQ(arena.bytes(), static_cast<size_t>((64 + 64 + 100 + 64 + 200 + 64) * kMiB));
}

/// What an inner frame took of another chunk, the outer one has nothing to do with.
TEST(PlanningBackend, AFrameGoesOnWhereItWas) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  cuda::Arena arena;
  arena.move_nowhere();
  for (const int64_t inner : {5, 10, 64, 100}) {
    cuda::Arena::Frame frame(arena);
    const std::byte* const first = *frame.take<std::byte>(60 * kMiB);
    {
      cuda::Arena::Frame of_inner(arena);
      ASSERT_TRUE(of_inner.take<std::byte>(inner * kMiB).ok());
    }
    EXPECT_EQ(*frame.take<std::byte>(kMiB), first + 60 * kMiB) << inner;
  }
}

}  // namespace
}  // namespace tessera::kernels
