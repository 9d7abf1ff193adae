#include "model/weight_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <numeric>

#include "damaged_weights.h"
#include "kernels/cpu/backend.h"
#include "kernels/cuda/device_bytes.h"
#include "model/model.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using test::TempDirectory;
using ::testing::HasSubstr;

using test::small_shape;

constexpr KindFormats::value_type kRouted{TensorKind::routed_expert, WeightFormat::nvfp4};

/// Placements as text: name, format and size of each, block by block.
std::vector<std::string> lines_of(const WeightPlan& plan) {
  std::vector<std::string> lines;
  for (const auto& block : plan.blocks) {
    for (const Placement& p : block->placements) {
      lines.push_back(p.matrix == nullptr ? fmt::format("{} {}", p.name, p.values.size())
                                          : fmt::format("{} {} [{}, {}]", p.name, format::name(p.matrix->format),
                                                        p.matrix->rows, p.matrix->cols));
    }
    lines.push_back(fmt::format("block of source {}{}", block->source.index(), block->mtp ? ", MTP" : ""));
  }
  return lines;
}

TEST(WeightPlan, ACheckpointHasTheLayersThatItsConfigSays) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape(true), .formats = {kRouted}});
  const auto checkpoint = test::open(directory / "model");
  auto config = synth_config(small_shape(true));
  ASSERT_TRUE(config.ok());
  const int layers = config->num_layers();
  config->layer_types.pop_back();
  const auto fewer = plan_weights(checkpoint, *config);
  ASSERT_FALSE(fewer.ok());
  EXPECT_THAT(fewer.status().message(), HasSubstr(fmt::format("num_hidden_layers is {}, and the checkpoint has "
                                                              "model.layers.{}.",
                                                              layers - 1, layers - 1)));
  EXPECT_THAT(fewer.status().message(), HasSubstr(fmt::format("tensors of layers 0 to {} alone", layers - 2)));
  config->layer_types.resize(static_cast<size_t>(layers) + 1, config->layer_types.back());
  EXPECT_FALSE(plan_weights(checkpoint, *config).ok());
}

TEST(WeightPlan, OfACheckpointAndWithoutOneAreTheSameList) {
  for (const bool is_moe : {true, false}) {
    const TempDirectory directory;
    const KindFormats formats = {
        kRouted, {TensorKind::attention, WeightFormat::fp8_e4m3}, {TensorKind::mlp, WeightFormat::mxfp4}};
    test::synthesize(directory / "model", {.shape = small_shape(is_moe), .formats = formats});
    const auto checkpoint = test::open(directory / "model");
    const auto config = synth_config(small_shape(is_moe));
    ASSERT_TRUE(config.ok());
    for (const bool with_mtp : {true, false}) {
      const auto plan = plan_weights(checkpoint, *config, {.with_mtp = with_mtp});
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      const WeightPlan dummy = *plan_dummy_weights(*config, formats, {.with_mtp = with_mtp});
      EXPECT_EQ(lines_of(*plan), lines_of(dummy));
      EXPECT_EQ(plan->stored_bytes(), dummy.stored_bytes());
      EXPECT_EQ(plan->traffic().bytes_per_step(8), dummy.traffic().bytes_per_step(8));
      EXPECT_EQ(plan->traffic().bytes_per_step(8), plan_dummy_weights(*config, formats)->traffic().bytes_per_step(8));
      EXPECT_EQ(plan->blocks.back()->mtp, with_mtp);
    }
  }
}

/// What a GPU's loader holds beside the weights: the largest matrix as it is stored.
TEST(WeightPlan, StagesTheLargestMatrix) {
  using kernels::cuda::staging_aligned;
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape(), .formats = {kRouted}});
  const auto checkpoint = test::open(directory / "model");
  const auto config = synth_config(small_shape());
  const auto most = [](const WeightPlan& plan) {
    size_t bytes = 0;
    for (const auto& block : plan.blocks) bytes = std::max(bytes, kernels::cuda::staging_bytes(block->source));
    return bytes;
  };
  const auto plan = plan_weights(checkpoint, *config);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  size_t largest = 0;
  plan->for_each([&](const PlannedBlock&, const Placement& p) {
    if (p.matrix != nullptr) largest = std::max(largest, p.stored_bytes);
  });
  EXPECT_EQ(most(*plan), staging_aligned(largest));
  // What becomes FP8 is staged as FP8. Gate and up lie side by side, codes and scales apart.
  const auto fp8 = plan_weights(checkpoint, *config, {.requantize_projections = true});
  EXPECT_LT(kernels::cuda::staging_bytes(fp8->blocks[1]->source),
            kernels::cuda::staging_bytes(plan->blocks[1]->source));
  const auto& moe = std::get<kernels::MoeSource>(plan->blocks[2]->source);
  EXPECT_EQ(kernels::cuda::staging_bytes(moe.experts[0].gate_up.parts),
            2 * (staging_aligned(32 * 64 / 2) + staging_aligned(32 * 64 / 16)));
  ThreadPool pool(1);
  kernels::Workspace workspace;
  EXPECT_EQ(plan->staging_bytes(*kernels::cpu::make_backend({kernels::Compute::bf16, &pool, &workspace})), 0U);
}

TEST(WeightPlan, KnowsWhereBytesLie) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape(), .formats = {kRouted}, .shard_bytes_max = 100'000});
  const auto checkpoint = test::open(directory / "model");
  ASSERT_GT(checkpoint.shards().size(), 1U);
  const auto config = synth_config(small_shape());
  const auto plan = plan_weights(checkpoint, *config);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  size_t matrices = 0;
  for (const auto& block : plan->blocks) {
    for (const Placement& p : block->placements) {
      if (p.matrix == nullptr) continue;
      const size_t bytes = static_cast<size_t>(p.stored.rows) * format::row_bytes(p.stored.format, p.stored.cols);
      const auto place = checkpoint.place({p.stored.data, bytes});
      ASSERT_TRUE(place) << p.name;
      const auto file = checkpoint.shards()[place->shard]->mapping();
      EXPECT_EQ(file.data() + place->offset, p.stored.data);
      ++matrices;
    }
  }
  EXPECT_EQ(matrices, 2U + 4 * (1 + 5 * 3 + 3 + 1) + 3 * 5 + 4);
  const std::byte elsewhere{};
  EXPECT_FALSE(checkpoint.place({&elsewhere, 1}));
}

TEST(WeightPlan, SaysWhatIsMissingOrOfAnotherSize) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  SynthShape other = small_shape();
  other.moe_intermediate_size = 64;
  auto plan = plan_weights(test::open(directory / "model"), *synth_config(other));
  EXPECT_THAT(plan.status().message(), HasSubstr("gate_proj is [32, 64], expected [64, 64] from config.json"));
  other = small_shape();
  other.num_experts = 6;
  plan = plan_weights(test::open(directory / "model"), *synth_config(other));
  EXPECT_THAT(plan.status().message(), HasSubstr("mlp.gate is [5, 64], expected [6, 64]"));
  // As many elements are not enough.
  const auto turned = [&](const std::string& name) {
    test::rewrite(directory / "model", [&](auto& tensors) {
      auto& shape = tensors.at(name).shape;
      std::swap(shape[0], shape[1]);
    });
  };
  for (const auto& [name, message] :
       {std::pair{"model.language_model.layers.0.mlp.experts.4.up_proj", "is [64, 32], expected [32, 64]"},
        {"model.language_model.layers.3.self_attn.o_proj", "is [128, 64], expected [64, 128]"},
        {"model.language_model.embed_tokens", "is [64, 224], expected [224, 64]"}}) {
    turned(std::string(name) + ".weight");
    plan = plan_weights(test::open(directory / "model"), *synth_config(small_shape()));
    EXPECT_EQ(plan.status().code(), StatusCode::corrupt_data) << name;
    EXPECT_THAT(plan.status().message(), HasSubstr(message)) << name;
    turned(std::string(name) + ".weight");
  }
  test::rewrite(directory / "model", [](auto& tensors) { tensors.erase("model.language_model.norm.weight"); });
  plan = plan_weights(test::open(directory / "model"), *synth_config(small_shape()));
  EXPECT_THAT(plan.status().message(), HasSubstr("no tensor 'model.norm.weight'"));
}

/// Gate and up are the halves of a fused tensor's rows: with other rows they would be others.
TEST(WeightPlan, FusedExpertsHaveTheirWholeShape) {
  const SynthShape shape = small_shape();
  const int64_t experts = shape.num_experts, inner = shape.moe_intermediate_size, hidden = shape.hidden_size;
  const std::string name = "layers.1.mlp.experts.";
  const struct {
    const char* tensor;
    std::vector<int64_t> dims;
  } cases[] = {{"gate_up_proj", {experts, 2 * inner + 8, hidden}},
               {"gate_up_proj", {experts + 1, 2 * inner, hidden}},
               {"gate_up_proj", {experts, 2 * inner}},
               {"down_proj", {experts, hidden + 8, inner}},
               {"down_proj", {experts + 1, hidden, inner}}};
  for (const auto& [tensor, dims] : cases) {
    const TempDirectory directory;
    test::synthesize(directory / "model", {.shape = shape, .fused_experts = true});
    ASSERT_TRUE(plan_weights(test::open(directory / "model"), *synth_config(shape)).ok());
    test::rewrite(directory / "model", [&](auto& tensors) {
      auto& stored = tensors.at("model.language_model." + name + tensor);
      stored.shape = dims;
      stored.data.resize(
          2 * static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>())));
    });
    const Status status = plan_weights(test::open(directory / "model"), *synth_config(shape)).status();
    EXPECT_EQ(status.code(), StatusCode::corrupt_data);
    EXPECT_THAT(status.message(),
                HasSubstr(fmt::format("model.{}{} is [{}], expected [", name, tensor, fmt::join(dims, ", "))));
  }
}

/// The GPU's loader is held to the same list (loading_gpu_test.cpp).
TEST(LoadWeights, NamesWhatCannotBe) {
  ThreadPool pool(2);
  kernels::Workspace workspace;
  const auto config = synth_config(test::damaged_shape());
  for (const test::Damage& damage : test::damages()) {
    SCOPED_TRACE(damage.what);
    for (const bool sound : {true, false}) {
      const TempDirectory directory;
      test::write_damaged(directory / "model", damage, sound);
      const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool, &workspace});
      const Status status = Model::load(test::open(directory / "model"), *config, *backend).status();
      EXPECT_EQ(status.ok(), sound) << status.message();
      if (sound) continue;
      EXPECT_EQ(status.code(), StatusCode::corrupt_data);
      EXPECT_THAT(status.message(), HasSubstr(damage.named));
    }
  }
}

/// Whatever else is there, what nobody drafts with is not loaded.
size_t threads_of_this_process() {
  size_t threads = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) threads += thread.exists() ? 1 : 0;
  return threads;
}

/// What becomes FP8 does so on the threads that the caller has, however many cores there are.
TEST(LoadWeights, StartsNoThreads) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  const auto checkpoint = test::open(directory / "model");
  const auto config = synth_config(small_shape());
  ThreadPool pool(3);
  kernels::Workspace workspace;
  const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool, &workspace});
  const size_t before = threads_of_this_process();
  size_t most = 0;
  const auto count = [&](size_t, size_t) { most = std::max(most, threads_of_this_process()); };
  for (ThreadPool* given : {&pool, static_cast<ThreadPool*>(nullptr)}) {
    const auto model = Model::load(checkpoint, *config, *backend,
                                   {.plan = {.requantize_projections = true}, .progress = count, .pool = given});
    ASSERT_TRUE(model.ok()) << model.status().message();
  }
  EXPECT_EQ(most, before);
}

TEST(LoadWeights, LeavesTheMtpHeadUnlessAskedFor) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  const auto checkpoint = test::open(directory / "model");
  const auto config = synth_config(small_shape());
  ThreadPool pool(2);
  kernels::Workspace workspace;
  size_t bytes[2] = {};
  for (const bool with_mtp : {false, true}) {
    const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool, &workspace});
    const auto model = Model::load(checkpoint, *config, *backend, {.plan = {.with_mtp = with_mtp}});
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ((*model)->has_mtp(), with_mtp);
    bytes[with_mtp ? 1 : 0] = backend->weight_bytes();
  }
  EXPECT_LT(bytes[0], bytes[1]);
}

}  // namespace
}  // namespace tessera::model
