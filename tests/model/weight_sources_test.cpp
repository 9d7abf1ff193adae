// What a backend is given to load: of a plan, of a checkpoint, and where weights are made up.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "checkpoint_files.h"
#include "model/load_weights.h"
#include "model/model.h"
#include "model/stored_tensors.h"
#include "model/weight_plan.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using kernels::BlockSource;
using test::small_shape;
using test::TempDirectory;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Keeps what it is given, and computes nothing.
class Recorder : public kernels::Backend {
 public:
  std::vector<BlockSource> loaded;
  std::vector<size_t> ahead;          // blocks that were announced
  std::vector<size_t> staging = {0};  // of one block after the other

  std::string_view name() const override { return "recorder"; }
  kernels::Rank rank() const override { return {}; }
  Expected<std::unique_ptr<kernels::AttentionBlock>> load(const kernels::AttentionSource& s) override {
    return keep<kernels::AttentionBlock>(s);
  }
  Expected<std::unique_ptr<kernels::DeltaNetBlock>> load(const kernels::DeltaNetSource& s) override {
    return keep<kernels::DeltaNetBlock>(s);
  }
  Expected<std::unique_ptr<kernels::MlpBlock>> load(const kernels::MlpSource& s) override {
    return keep<kernels::MlpBlock>(s);
  }
  Expected<std::unique_ptr<kernels::MoeBlock>> load(const kernels::MoeSource& s) override {
    return keep<kernels::MoeBlock>(s);
  }
  Expected<std::unique_ptr<kernels::Embedding>> load(const kernels::EmbeddingSource& s) override {
    return keep<kernels::Embedding>(s);
  }
  Expected<std::unique_ptr<kernels::Head>> load(const kernels::HeadSource& s) override {
    return keep<kernels::Head>(s);
  }
  Expected<std::unique_ptr<kernels::MtpInput>> load(const kernels::MtpInputSource& s) override {
    return keep<kernels::MtpInput>(s);
  }
  size_t weight_bytes() const override { return 0; }
  size_t weight_bytes(const BlockSource& /*source*/) const override { return 0; }
  size_t staging_bytes(const BlockSource& /*source*/) const override { return staging[asked_++ % staging.size()]; }
  Status read_ahead(const format::Checkpoint& /*checkpoint*/, std::span<const BlockSource* const> sources) override {
    EXPECT_TRUE(loaded.empty()) << "too late";
    ahead.push_back(sources.size());
    return {};
  }
  kernels::CacheBytes cache_bytes(const kernels::CacheShape& /*shape*/) const override { return {}; }
  Expected<std::unique_ptr<kernels::Cache>> make_cache(const kernels::CacheShape& /*shape*/) override { return no(); }
  Expected<std::unique_ptr<kernels::HostPages>> make_host_pages(const kernels::CacheShape& /*shape*/,
                                                                int32_t /*pages*/) override {
    return no();
  }
  Expected<std::unique_ptr<kernels::Pass>> make_pass(const kernels::PassShape& /*shape*/) override { return no(); }
  Status begin(kernels::Pass& /*pass*/, kernels::Cache& /*cache*/, const kernels::Batch& /*batch*/,
               std::span<const int32_t> /*logit_rows*/) override {
    return no();
  }
  Status embed(kernels::Pass& /*pass*/, const kernels::Embedding& /*embedding*/) override { return no(); }
  Status attention(kernels::Pass& /*pass*/, const kernels::AttentionBlock& /*block*/, int /*layer*/) override {
    return no();
  }
  Status delta_net(kernels::Pass& /*pass*/, const kernels::DeltaNetBlock& /*block*/, int /*layer*/) override {
    return no();
  }
  Status mlp(kernels::Pass& /*pass*/, const kernels::MlpBlock& /*block*/) override { return no(); }
  Status moe(kernels::Pass& /*pass*/, const kernels::MoeBlock& /*block*/) override { return no(); }
  Status head(kernels::Pass& /*pass*/, const kernels::Head& /*head*/,
              const kernels::Embedding& /*embedding*/) override {
    return no();
  }
  Status select_hidden(kernels::Pass& /*pass*/, std::span<const int32_t> /*rows*/) override { return no(); }
  Status mtp_input(kernels::Pass& /*pass*/, const kernels::MtpInput& /*input*/,
                   const kernels::Embedding& /*embedding*/) override {
    return no();
  }
  Status read_logits(kernels::Pass& /*pass*/, std::span<float> /*logits*/) override { return no(); }
  Status read_hidden(kernels::Pass& /*pass*/, std::span<float> /*hidden*/) override { return no(); }

  /// The first block of a kind.
  template <typename Source>
  const Source& first() const {
    for (const BlockSource& source : loaded) {
      if (const auto* found = std::get_if<Source>(&source)) return *found;
    }
    ADD_FAILURE() << "no such block";
    static const Source kNone;
    return kNone;
  }

 private:
  template <typename Block, typename Source>
  Expected<std::unique_ptr<Block>> keep(const Source& source) {
    loaded.emplace_back(source);
    return std::make_unique<Block>();
  }
  static Status no() { return {StatusCode::unsupported, "nothing is computed here"}; }

  mutable size_t asked_ = 0;
};

template <typename Source>
const Source& source_of(const WeightPlan& plan, size_t number = 0) {
  for (const auto& block : plan.blocks) {
    if (const auto* found = std::get_if<Source>(&block->source); found != nullptr && number-- == 0) return *found;
  }
  ADD_FAILURE() << "no such block";
  static const Source kNone;
  return kNone;
}

/// A config none of whose numbers is a default.
ModelConfig config_of(bool is_moe) {
  ModelConfig config = *synth_config(small_shape(is_moe));
  config.rms_norm_eps = 0.25F;
  config.rope_scale = 1.5F;
  return config;
}

TEST(WeightSources, AreAsTheConfigSays) {
  for (const bool is_moe : {true, false}) {
    const ModelConfig config = config_of(is_moe);
    ASSERT_GT(config.mtp_layers, 0);
    const WeightPlan plan = *plan_dummy_weights(config, {}, {.with_mtp = true});
    const auto& attention = source_of<kernels::AttentionSource>(plan);
    EXPECT_EQ(attention.rope_scale, 1.5F);
    EXPECT_EQ(attention.inv_freq, config.inv_freq);
    EXPECT_EQ(attention.hidden, config.hidden_size);
    EXPECT_EQ(source_of<kernels::HeadSource>(plan).norm_eps, 0.25F);
    EXPECT_EQ(source_of<kernels::HeadSource>(plan, 1).norm_eps, 0.25F) << "of the MTP head";
    EXPECT_EQ(source_of<kernels::MtpInputSource>(plan).norm_eps, 0.25F);
    if (is_moe) {
      const auto& moe = source_of<kernels::MoeSource>(plan);
      EXPECT_EQ(moe.norm_eps, 0.25F);
      EXPECT_EQ(moe.experts_per_token, config.experts_per_token);
      EXPECT_TRUE(moe.shared);
    } else {
      EXPECT_EQ(source_of<kernels::MlpSource>(plan).norm_eps, 0.25F);
    }
  }
  ModelConfig config = config_of(true);
  config.shared_expert_intermediate_size = 0;
  const WeightPlan plan = *plan_dummy_weights(config, {});
  EXPECT_FALSE(source_of<kernels::MoeSource>(plan).shared) << "a model may have no shared expert";
  EXPECT_TRUE(source_of<kernels::MoeSource>(plan).shared_gate.parts.empty());
}

TEST(WeightSources, AModelWithoutFilesSaysWhatItsStepsRead) {
  const ModelConfig config = config_of(true);
  const KindFormats formats = {{TensorKind::routed_expert, WeightFormat::nvfp4}};
  Recorder backend;
  const auto model = Model::dummy(config, formats, backend);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_GT((*model)->traffic().bytes_per_step(8), 0);
  EXPECT_EQ((*model)->traffic().bytes_per_step(8), plan_dummy_weights(config, formats)->traffic().bytes_per_step(8));
}

TEST(WeightSources, OfRanksAreWhatEachHas) {
  ModelConfig config = config_of(true);
  config.tie_word_embeddings = true;
  const WeightPlan alone = *plan_dummy_weights(config, {});
  EXPECT_TRUE(source_of<kernels::EmbeddingSource>(alone).lm_head.parts.empty()) << "the embedding is the head";
  EXPECT_EQ(alone.traffic().fixed_bytes, [&] {
    ModelConfig apart = config;
    apart.tie_word_embeddings = false;
    return plan_dummy_weights(apart, {})->traffic().fixed_bytes;
  }()) << "one of the two is read by each step";
  for (const int index : {0, 1}) {
    const WeightPlan plan = *plan_dummy_weights(config, {}, {.rank = {index, 2}});
    const auto& embedding = source_of<kernels::EmbeddingSource>(plan);
    ASSERT_EQ(embedding.lm_head.parts.size(), 1U) << "rows of a head of its own";
    EXPECT_EQ(embedding.lm_head.parts[0].rows, config.vocab_size / 2);
    EXPECT_EQ(embedding.head_first, index * config.vocab_size / 2);
    plan.for_each([&](const PlannedBlock&, const Placement& p) {
      if (p.matrix != nullptr) {
        EXPECT_EQ(p.weights, p.rows.size() * p.columns.size()) << p.name;
      }
    });
  }
  // Query heads go to the rank that has their keys.
  config.attention.heads = 8;
  config.delta_net.key_heads = config.delta_net.value_heads = 8;
  for (const int kv_heads : {1, 2}) {
    config.attention.kv_heads = kv_heads;
    for (const int index : {0, 1, 2, 3}) {
      const auto shard = make_shard(config, {index, 4});
      ASSERT_TRUE(shard.ok()) << shard.status().message();
      EXPECT_EQ(shard->kv_heads.begin, shard->heads.begin * kv_heads / 8) << index;
      EXPECT_EQ(shard->kv_heads.size(), 1) << index;
    }
  }
}

/// What has groups of columns with one scale is cut between them, on every rank.
TEST(WeightSources, ColumnsAreCutBetweenGroups) {
  ModelConfig config = config_of(false);
  config.intermediate_size = 96;
  for (const int index : {0, 1}) {
    const Status status =
        plan_dummy_weights(config, {{TensorKind::mlp, WeightFormat::mxfp4}}, {.rank = {index, 2}}).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << index;
    EXPECT_THAT(status.message(), HasSubstr("expected a cut at multiples of 32"));
  }
}

TEST(WeightSources, OnlyPlainNumbersBecomeOthers) {
  const ModelConfig config = config_of(true);
  const WeightPlan plan = *plan_dummy_weights(config, {{TensorKind::attention, WeightFormat::nvfp4}},
                                              {.with_mtp = true, .requantize_projections = true});
  int changed = 0;
  plan.for_each([&](const PlannedBlock&, const Placement& p) {
    if (p.kind == TensorKind::attention) {
      EXPECT_FALSE(p.becomes) << p.name;
    }
    changed += p.becomes ? 1 : 0;
  });
  EXPECT_GT(changed, 0);
  for (const WeightFormat plain : {WeightFormat::bf16, WeightFormat::f16, WeightFormat::f32}) {
    const WeightPlan fp8 =
        *plan_dummy_weights(config, {{TensorKind::attention, plain}}, {.requantize_projections = true});
    EXPECT_EQ(source_of<kernels::AttentionSource>(fp8).o.parts.at(0).format, WeightFormat::fp8_e4m3);
  }
  // A draft head whose depth has no whole groups is none.
  ModelConfig odd = config;
  odd.hidden_size = 72;
  const PlanOptions drafting{.with_mtp = true, .draft_head = WeightFormat::nvfp4};
  EXPECT_TRUE(source_of<kernels::HeadSource>(*plan_dummy_weights(odd, {}, drafting), 1).lm_head.parts.empty());
  EXPECT_EQ(source_of<kernels::HeadSource>(*plan_dummy_weights(config, {}, drafting), 1).lm_head.parts.size(), 1U);
}

TEST(WeightSources, WhatBecomesOthersIsReadAsItIsStored) {
  const ModelConfig config = config_of(true);
  const WeightPlan plain = *plan_dummy_weights(config, {});
  const WeightPlan changed = *plan_dummy_weights(config, {}, {.requantize_projections = true});
  EXPECT_EQ(changed.stored_bytes(), plain.stored_bytes());
  int64_t weights = 0;
  changed.for_each([&](const PlannedBlock&, const Placement& p) { weights += p.becomes ? p.weights : 0; });
  ASSERT_GT(weights, 0);
  EXPECT_EQ(changed.requantized().stored_bytes, static_cast<size_t>(2 * weights)) << "BF16";
  EXPECT_LT(changed.traffic().fixed_bytes, plain.traffic().fixed_bytes) << "steps read what they became";
}

/// What is loaded as it lies has its bytes; what is made of it has none before it is.
TEST(WeightSources, HaveTheBytesThatTheyWillBe) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  const auto checkpoint = test::open(directory / "model");
  const auto config = synth_config(small_shape());
  for (const PlanOptions& options : {PlanOptions{.requantize_projections = true}, PlanOptions{.rank = {1, 2}}}) {
    const auto plan = plan_weights(checkpoint, *config, options);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    plan->for_each([&](const PlannedBlock&, const Placement& p) {
      if (p.matrix == nullptr) return;
      const bool made = p.becomes || p.columns != whole(p.stored.cols);
      EXPECT_EQ(p.matrix->data == nullptr, made) << p.name;
    });
  }
}

TEST(WeightSources, VectorsAreCountedAsTheyAreStored) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  const auto change = [&](const char* dtype, size_t bytes, std::vector<int64_t> dims) {
    test::rewrite(directory / "model", [&](auto& tensors) {
      auto& norm = tensors.at("model.language_model.norm.weight");
      norm.dtype = dtype;
      norm.shape = dims;
      norm.data.assign(bytes, '\0');
    });
  };
  const auto plan_of = [&] { return plan_weights(test::open(directory / "model"), *synth_config(small_shape())); };
  change("F32", 256, {64});
  const auto plan = plan_of();
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  plan->for_each([&](const PlannedBlock&, const Placement& p) {
    if (p.name == "model.norm.weight") {
      EXPECT_EQ(p.stored_bytes, 256U);
    }
  });
  for (const int64_t size : {63, 65}) {
    change("BF16", static_cast<size_t>(2 * size), {size});
    EXPECT_THAT(plan_of().status().message(), HasSubstr(fmt::format("has {} elements, expected 64", size)));
  }
}

TEST(WeightSources, ACheckpointMayHaveNoMtpHead) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  test::rewrite(directory / "model", [](auto& tensors) {
    std::erase_if(tensors, [](const auto& tensor) { return tensor.first.starts_with("mtp."); });
  });
  const auto plan = plan_weights(test::open(directory / "model"), *synth_config(small_shape()), {.with_mtp = true});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_FALSE(plan->blocks.back()->mtp);
}

/// Made-up weights are of a size that lets a model's numbers neither vanish nor grow.
TEST(WeightSources, ThatAreMadeUp) {
  Recorder backend;
  ASSERT_TRUE(load_dummy_weights(*plan_dummy_weights(config_of(true), {}, {.with_mtp = true}), backend).ok());
  const auto& attention = backend.first<kernels::AttentionSource>();
  EXPECT_THAT(attention.input_norm, Each(0.0F)) << "which is one, since it is zero-centred";
  EXPECT_THAT(attention.q_norm, Each(0.0F));
  const auto& o = attention.o.parts.at(0);
  ASSERT_NE(o.rows, o.cols);
  EXPECT_EQ(o.scale, 1 / std::sqrt(static_cast<float>(o.cols)));
  const auto& net = backend.first<kernels::DeltaNetSource>();
  EXPECT_THAT(net.norm, Each(1.0F));
  EXPECT_THAT(net.conv, Each(0.25F));
  EXPECT_THAT(net.a_log, Each(0.0F));
  EXPECT_TRUE(backend.ahead.empty());
}

TEST(WeightSources, ThatAreReadAreAnnouncedAndCounted) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  const auto checkpoint = test::open(directory / "model");
  const auto config = synth_config(small_shape());
  auto plan = plan_weights(checkpoint, *config, {.with_mtp = true});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const size_t blocks = plan->blocks.size(), total = plan->stored_bytes();
  std::vector<size_t> done;
  Recorder backend;
  backend.staging.assign(blocks, 7);
  backend.staging[2] = 50;
  EXPECT_EQ(plan->staging_bytes(backend), 50U) << "blocks are loaded one after another";
  EXPECT_EQ(plan_dummy_weights(*config, {})->staging_bytes(backend), 0U) << "what is made up lies nowhere before";
  const auto progress = [&](size_t now, size_t all) {
    EXPECT_EQ(all, total);
    EXPECT_GT(now, done.empty() ? 0 : done.back());
    done.push_back(now);
  };
  ASSERT_TRUE(load_weights(*std::move(plan), checkpoint, backend, progress, nullptr).ok());
  EXPECT_THAT(backend.ahead, ElementsAre(blocks));
  EXPECT_EQ(backend.loaded.size(), blocks);
  ASSERT_EQ(done.size(), blocks);
  EXPECT_EQ(done.back(), total);
}

/// What is made of one block's matrices is given back before that of the next is made.
TEST(WeightSources, CopiesAreThoseOfOneBlock) {
  const TempDirectory directory;
  SynthShape shape = small_shape(/*is_moe=*/false);
  shape.hidden_size = 256;
  shape.num_hidden_layers = 16;
  test::synthesize(directory / "model", {.shape = shape});
  const auto checkpoint = test::open(directory / "model");
  const auto in_use = [] {
    const auto heap = mallinfo2();
    return static_cast<int64_t>(heap.uordblks + heap.hblkhd);
  };
  // Codes and scales of projections, and columns of what stays.
  for (const PlanOptions& options : {PlanOptions{.requantize_projections = true}, PlanOptions{.rank = {1, 2}}}) {
    auto plan = plan_weights(checkpoint, *synth_config(shape), options);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    int64_t made = 0;
    plan->for_each([&](const PlannedBlock&, const Placement& p) {
      if (p.matrix != nullptr && p.matrix->data == nullptr) made += static_cast<int64_t>(p.weights);
    });
    Recorder backend;
    std::vector<int64_t> held;  // behind each block
    held.reserve(plan->blocks.size());
    const auto progress = [&](size_t, size_t) {
      backend.loaded.clear();
      held.push_back(in_use());
    };
    ASSERT_TRUE(load_weights(*std::move(plan), checkpoint, backend, progress, nullptr).ok());
    EXPECT_LT(*std::ranges::max_element(held) - held.front(), made / 4);
  }
}

/// However late: what was read before may be of two files.
TEST(WeightSources, AFileThatIsWrittenMeanwhileIsAnError) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  const auto checkpoint = test::open(directory / "model");
  const auto file = directory / "model" / "model.safetensors";
  const auto late = [&](size_t now, size_t all) {
    if (now == all) std::filesystem::resize_file(file, std::filesystem::file_size(file) + 1);
  };
  Recorder backend;
  auto plan = plan_weights(checkpoint, *synth_config(small_shape()));
  EXPECT_FALSE(load_weights(*std::move(plan), checkpoint, backend, late, nullptr).ok());
}

TEST(WeightSources, ScalesOfCachesArePositiveNumbers) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  const auto scales_with = [&](float value) {
    test::rewrite(directory / "model", [&](auto& tensors) {
      auto& scale = tensors["model.language_model.layers.3.self_attn.k_proj.k_scale"];
      scale = {"model.language_model.layers.3.self_attn.k_proj.k_scale",
               "F32",
               {},
               std::string(reinterpret_cast<const char*>(&value), sizeof value)};
    });
    return load_kv_scales(test::open(directory / "model"), *synth_config(small_shape()));
  };
  const auto fine = scales_with(0.5F);
  ASSERT_TRUE(fine.ok()) << fine.status().message();
  EXPECT_EQ(fine->k.front(), 0.5F);
  EXPECT_EQ(fine->v.front(), 1.0F) << "which the checkpoint does not say";
  for (const float wrong : {0.0F, -1.0F, HUGE_VALF, NAN}) {
    EXPECT_THAT(scales_with(wrong).status().message(), HasSubstr("expected a positive number")) << wrong;
  }
}

TEST(StoredTensors, HaveTheFormatsOfTheirScales) {
  const TempDirectory directory;
  test::synthesize(directory / "model",
                   {.shape = small_shape(false),
                    .formats = {{TensorKind::mlp, WeightFormat::mxfp4}, {TensorKind::attention, WeightFormat::nvfp4}}});
  int mxfp4 = 0, nvfp4 = 0;
  for (const StoredTensor& tensor : stored_tensors(test::open(directory / "model"))) {
    if (!tensor.is_weight) continue;
    if (tensor.kind == TensorKind::mlp) mxfp4 += tensor.format == format::name(WeightFormat::mxfp4) ? 1 : 1000;
    if (tensor.kind == TensorKind::attention) nvfp4 += tensor.format == format::name(WeightFormat::nvfp4) ? 1 : 1000;
  }
  EXPECT_EQ(mxfp4, 4 * 3);
  EXPECT_EQ(nvfp4, 4);
}

}  // namespace
}  // namespace tessera::model
