#include "model/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "checkpoint_files.h"
#include "kernels/cpu/backend.h"
#include "model/model.h"
#include "model/weight_plan.h"
#include "thread_ranks.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using ::testing::HasSubstr;

ModelConfig preset(const char* name) { return *synth_config(*synth_preset(name)); }

const KindFormats kFormats = {{TensorKind::routed_expert, WeightFormat::nvfp4},
                              {TensorKind::mlp, WeightFormat::mxfp4},
                              {TensorKind::attention, WeightFormat::fp8_e4m3}};

/// What every rank has all of.
bool is_replicated(const Placement& p) {
  for (const char* end : {".mlp.gate", ".mlp.shared_expert_gate", "mtp.fc"}) {
    if (p.name.ends_with(end)) return true;
  }
  if (p.kind == TensorKind::embed) return true;
  return p.matrix == nullptr && p.name.find("norm") != std::string::npos;
}

bool is_kv(const Placement& p) { return p.name.ends_with("self_attn.k_proj") || p.name.ends_with("self_attn.v_proj"); }

/// Of one matrix or vector: how many ranks have each row, or each column.
struct Coverage {
  bool replicated = false, kv = false;
  std::vector<int> copies;
  size_t stored_bytes = 0;  // of all ranks
};

using Key = std::pair<std::string, TensorKind>;  // a tied head has the embedding's name

std::map<Key, Coverage> cover(const std::vector<WeightPlan>& ranks) {
  std::map<Key, Coverage> all;
  for (const WeightPlan& plan : ranks) {
    plan.for_each([&](const PlannedBlock&, const Placement& p) {
      Coverage& c = all[{p.name, p.kind}];
      c.replicated = is_replicated(p);
      c.kv = is_kv(p);
      c.stored_bytes += p.stored_bytes;
      const bool whole_columns = p.matrix == nullptr || p.columns == whole(p.stored.cols);
      EXPECT_TRUE(whole_columns || p.rows == whole(p.stored.rows)) << p.name;
      const Range& range = whole_columns ? p.rows : p.columns;
      if (static_cast<int64_t>(c.copies.size()) < range.end) c.copies.resize(static_cast<size_t>(range.end));
      for (int64_t i = range.begin; i < range.end; ++i) ++c.copies[static_cast<size_t>(i)];
      if (p.matrix != nullptr) {
        EXPECT_EQ(p.matrix->rows, p.rows.size()) << p.name;
        EXPECT_EQ(p.matrix->cols, p.columns.size()) << p.name;
      }
    });
  }
  return all;
}

TEST(Shard, RanksHaveEverythingAndNothingTwiceButWhatAllNeed) {
  for (const char* name : {"397b", "122b", "35b", "27b"}) {
    for (const bool tied : {false, true}) {
      ModelConfig config = preset(name);
      config.layer_types.resize(4);  // of each kind one
      config.num_experts = 8;
      config.tie_word_embeddings = tied;
      const auto whole_plan = plan_dummy_weights(config, kFormats, {.with_mtp = true});
      ASSERT_TRUE(whole_plan.ok());
      std::vector<WeightPlan> one;
      one.push_back(*plan_dummy_weights(config, kFormats, {.with_mtp = true}));
      const auto alone = cover(one);
      for (const int world : {2, 4, 8}) {
        SCOPED_TRACE(fmt::format("{}, {} ranks{}", name, world, tied ? ", tied" : ""));
        std::vector<WeightPlan> ranks;
        for (int r = 0; r < world; ++r) {
          auto plan = plan_dummy_weights(config, kFormats, {.with_mtp = true, .rank = {r, world}});
          ASSERT_TRUE(plan.ok()) << plan.status().message();
          ranks.push_back(*std::move(plan));
        }
        const int kv_copies = std::max(1, world / config.attention.kv_heads);
        size_t replicated = 0;
        for (const auto& [key, found] : cover(ranks)) {
          const int copies = found.replicated ? world : found.kv ? kv_copies : 1;
          EXPECT_EQ(std::count(found.copies.begin(), found.copies.end(), copies),
                    static_cast<std::ptrdiff_t>(found.copies.size()))
              << key.first;
          const auto whole_one = alone.find(key);
          if (whole_one == alone.end()) {  // the head of a tied model, beside the embedding
            ASSERT_TRUE(tied && key.second == TensorKind::lm_head) << key.first;
            replicated += found.stored_bytes;
            continue;
          }
          EXPECT_EQ(found.stored_bytes, static_cast<size_t>(copies) * whole_one->second.stored_bytes) << key.first;
          replicated += static_cast<size_t>(copies - 1) * whole_one->second.stored_bytes;
        }
        size_t bytes = 0;
        for (const WeightPlan& plan : ranks) bytes += plan.stored_bytes();
        EXPECT_EQ(bytes, whole_plan->stored_bytes() + replicated);
      }
    }
  }
}

TEST(Shard, StepsReadAndCachesHoldAShare) {
  ThreadPool pool(1);
  kernels::Workspace workspace;
  const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool, &workspace});
  const ModelConfig config = preset("35b");
  ModelConfig tied = config;
  tied.tie_word_embeddings = true;
  const auto alone = plan_dummy_weights(config, kFormats);
  const auto cache_alone = backend->cache_bytes(cache_shape(config, DType::bf16, /*with_mtp=*/true));
  constexpr int kWorld = 4;  // of two KV heads
  double routed = 0, fixed = 0;
  size_t placed = 0;
  kernels::CacheBytes cache;
  for (int r = 0; r < kWorld; ++r) {
    const auto share = plan_dummy_weights(config, kFormats, {.rank = {r, kWorld}});
    ASSERT_TRUE(share.ok());
    routed += share->traffic().routed_bytes;
    fixed += share->traffic().fixed_bytes;
    placed += share->placed_bytes(*backend);
    EXPECT_EQ(share->traffic().experts, config.num_experts);
    // A tied head is a rank's own copy of its rows: of the embedding beside it a step reads a row.
    EXPECT_EQ(plan_dummy_weights(tied, kFormats, {.rank = {r, kWorld}})->traffic().fixed_bytes,
              share->traffic().fixed_bytes);
    const auto bytes = backend->cache_bytes(cache_shape(config, DType::bf16, /*with_mtp=*/true, {r, kWorld}));
    cache.kv_block += bytes.kv_block;
    cache.state_slot += bytes.state_slot;
  }
  EXPECT_EQ(routed, alone->traffic().routed_bytes);
  EXPECT_GT(fixed, alone->traffic().fixed_bytes);
  EXPECT_LT(fixed, 1.2 * alone->traffic().fixed_bytes);
  EXPECT_LT(placed, static_cast<size_t>(1.2 * static_cast<double>(alone->placed_bytes(*backend))));
  EXPECT_EQ(cache.state_slot, cache_alone.state_slot);
  EXPECT_EQ(cache.kv_block, 2 * cache_alone.kv_block);
}

TEST(Shard, SaysWhatCannotBeShared) {
  const auto message = [](const std::function<void(ModelConfig&)>& change, kernels::Rank rank = {1, 4}) {
    ModelConfig config = *synth_config(SynthShape{
        .num_attention_heads = 8, .num_key_value_heads = 4, .linear_num_key_heads = 4, .linear_num_value_heads = 8});
    EXPECT_TRUE(make_shard(config, {1, 4}).ok());
    change(config);
    const Status status = make_shard(config, rank).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    return std::string(status.message());
  };
  EXPECT_EQ(message([](auto& c) { c.attention.heads = 6; }),
            "num_attention_heads is 6, which 4 ranks cannot share: expected a multiple of 4");
  EXPECT_EQ(message([](auto& c) { c.attention.kv_heads = 3; }),
            "num_key_value_heads is 3, which 4 ranks cannot share: expected a multiple or a divisor of 4");
  EXPECT_THAT(message([](auto& c) { c.attention.kv_heads = 6; }), HasSubstr("num_key_value_heads is 6"));
  EXPECT_THAT(message([](auto& c) { c.delta_net.key_heads = 2; }), HasSubstr("linear_num_key_heads is 2"));
  EXPECT_THAT(message([](auto& c) { c.delta_net.value_heads = 6; }), HasSubstr("linear_num_value_heads is 6"));
  EXPECT_THAT(message([](auto& c) { c.moe_intermediate_size = 66; }), HasSubstr("moe_intermediate_size is 66"));
  EXPECT_THAT(message([](auto& c) { c.shared_expert_intermediate_size = 66; }),
              HasSubstr("shared_expert_intermediate_size is 66"));
  EXPECT_THAT(message([](auto& c) { c.is_moe = false, c.intermediate_size = 66; }),
              HasSubstr("intermediate_size is 66"));
  EXPECT_THAT(message([](auto& c) { c.vocab_size = 4098; }), HasSubstr("vocab_size is 4098"));
  for (const kernels::Rank rank : {kernels::Rank{4, 4}, {-1, 4}, {0, 0}, {-1, -1}}) {
    EXPECT_THAT(message([](auto&) {}, rank), HasSubstr(fmt::format("rank {} of {}", rank.index, rank.world)));
  }
}

TEST(Shard, CutsNoBlockScale) {
  const ModelConfig config = *synth_config(test::small_shape());  // experts of 32 channels
  const auto plan = [&](WeightFormat format, int world) {
    return plan_dummy_weights(config, {{TensorKind::routed_expert, format}}, {.rank = {world - 1, world}}).status();
  };
  EXPECT_TRUE(plan(WeightFormat::bf16, 2).ok());
  EXPECT_TRUE(plan(WeightFormat::nvfp4, 2).ok());
  EXPECT_EQ(plan(WeightFormat::mxfp4, 2).code(), StatusCode::invalid_argument);
  EXPECT_THAT(plan(WeightFormat::mxfp4, 2).message(),
              HasSubstr("mlp.experts.0.down_proj has 32 columns in MXFP4, of which rank 1 of 2 would have 16 to 32: "
                        "expected a cut at multiples of 32"));
}

/// Columns of every format are those of the whole matrix.
TEST(Shard, ColumnsAreTheColumns) {
  for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::f16, WeightFormat::f32, WeightFormat::fp8_e4m3,
                                    WeightFormat::nvfp4, WeightFormat::mxfp4}) {
    const test::TempDirectory directory;
    SynthShape shape = test::small_shape();
    shape.hidden_size = 160;  // more than are read at once
    SynthOptions options{.shape = shape};
    if (format::group_size(format) != 0 || format == WeightFormat::fp8_e4m3) {
      options.formats = {{TensorKind::attention, format}};
    } else {
      options.plain = format;
    }
    test::synthesize(directory / "model", options);
    const auto checkpoint = test::open(directory / "model");
    const auto matrix = checkpoint.matrix("model.layers.3.self_attn.o_proj");
    ASSERT_TRUE(matrix.ok()) << matrix.status().message();
    ASSERT_EQ(matrix->format, format);
    const std::vector<float> all = test::decode(*matrix);
    ColumnCuts cuts;
    for (const Range& columns : {Range{0, 32}, Range{32, 96}, Range{96, 128}, Range{0, 128}}) {
      const auto cut = cuts.cut(*matrix, columns);
      ASSERT_TRUE(cut.ok()) << cut.status().message();
      const std::vector<float> part = test::decode(*cut);
      for (int64_t row = 0; row < matrix->rows; ++row) {
        for (int64_t i = 0; i < columns.size(); ++i) {
          ASSERT_EQ(part[static_cast<size_t>(row * columns.size() + i)],
                    all[static_cast<size_t>(row * matrix->cols + columns.begin + i)])
              << format::name(format) << " [" << row << ", " << columns.begin + i << "]";
        }
      }
    }
  }
}

TEST(Shard, PlanAndBackendAreOfOneRank) {
  const test::TempDirectory directory;
  test::synthesize(directory / "model", {.shape = test::small_shape()});
  const auto checkpoint = test::open(directory / "model");
  const auto config = *synth_config(test::small_shape());
  ThreadPool pool(1);
  kernels::Workspace workspace;
  test::ThreadRanks ranks(2);
  const kernels::Rank alone{}, first{0, 2}, second{1, 2};
  const struct {
    kernels::Rank plan, backend;
  } cases[] = {{alone, second}, {alone, first}, {first, alone}, {first, second}, {second, first}};
  for (const auto& [of_plan, of_backend] : cases) {
    kernels::Comm* const comm = of_backend == alone ? nullptr : &ranks.comm(of_backend.index);
    const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool, &workspace, comm});
    const PlanOptions options{.rank = of_plan};
    for (const Status& status : {Model::load(checkpoint, config, *backend, {.plan = options}).status(),
                                 Model::dummy(config, {}, *backend, options).status()}) {
      EXPECT_EQ(status.code(), StatusCode::invalid_argument);
      EXPECT_THAT(status.message(),
                  HasSubstr(fmt::format("rank {} of {} was to be loaded on a backend that is rank {} of {}",
                                        of_plan.index, of_plan.world, of_backend.index, of_backend.world)));
    }
  }
}

}  // namespace
}  // namespace tessera::model
