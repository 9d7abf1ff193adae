// Plans of steps for GPUs that are not there. A build without CUDA has nothing to plan with, and says so.

#include "cli/step_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "model/synth.h"
#include "plan/budget.h"
#include "plan/candidates.h"
#include "plan/plan.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;

Expected<std::vector<StepPlan>> plan_preset(const char* preset, const StepPlanOptions& options) {
  const auto load = [&](kernels::Backend& backend) -> Expected<std::unique_ptr<model::Model>> {
    TESSERA_ASSIGN_OR_RETURN(model::SynthShape shape, model::synth_preset(preset));
    shape.mtp_num_hidden_layers = 0;
    TESSERA_ASSIGN_OR_RETURN(const model::ModelConfig config, model::synth_config(shape));
    const model::KindFormats formats = {{model::TensorKind::routed_expert, format::WeightFormat::nvfp4},
                                        {model::TensorKind::mlp, format::WeightFormat::nvfp4}};
    return model::Model::dummy(config, formats, backend);
  };
  return plan_steps(load, options);
}

bool has_kernels() {
  std::vector<kernels::PlannedOperation> operations;
  return kernels::make_planning_backend(*plan::find_device("h200"), {}, operations).ok();
}

class StepPlanTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!has_kernels()) GTEST_SKIP() << "built without CUDA";
    options_.gpu = *plan::find_device(GetParam());
  }
  StepPlanOptions options_;
};
INSTANTIATE_TEST_SUITE_P(Gpus, StepPlanTest, ::testing::Values("rtx-pro-6000", "h200"));

std::map<std::string, int> times(const StepPlan& step) {
  std::map<std::string, int> counts;
  for (const StepPart& part : step.parts) counts[part.operation.name] += part.count;
  return counts;
}

const kernels::PlannedOperation& operation(const StepPlan& step, const std::string& name) {
  static const kernels::PlannedOperation none;
  for (const StepPart& part : step.parts) {
    if (part.operation.name == name) return part.operation;
  }
  ADD_FAILURE() << "no " << name;
  return none;
}

TEST_P(StepPlanTest, EveryLayerAndEveryKernelOfItIsListed) {
  const auto steps = plan_preset("35b", options_);
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  ASSERT_EQ(steps->size(), 4U);
  const std::map<std::string, int> want = {{"fetch the step", 1},  {"embedding", 1}, {"Gated DeltaNet", 30},
                                           {"attention", 10},      {"experts", 40},  {"head", 1},
                                           {"announce the end", 1}};
  for (const StepPlan& step : *steps) {
    EXPECT_EQ(times(step), want) << step.size.rows;
    for (const StepPart& part : step.parts) {
      EXPECT_FALSE(part.operation.kernels.empty()) << part.operation.name;
      for (const kernels::PlannedKernel& kernel : part.operation.kernels) {
        EXPECT_NE(kernel.name, "") << part.operation.name;
        EXPECT_GT(kernel.blocks, 0) << kernel.name;
        EXPECT_GT(kernel.threads, 0) << kernel.name;
        EXPECT_LE(kernel.smem_bytes, options_.gpu.smem_per_block_bytes) << kernel.name;
        EXPECT_EQ(kernel.tile.empty(), kernel.name.find("_gemm") == std::string::npos) << kernel.name;
      }
    }
  }
}

/// Launches of a kernel in operations of a name; of any name where it is empty.
int launches(const StepPlan& step, const std::string& kernel, const std::string& operation = "") {
  int count = 0;
  for (const StepPart& part : step.parts) {
    if (!operation.empty() && part.operation.name != operation) continue;
    for (const kernels::PlannedKernel& k : part.operation.kernels) count += k.name == kernel ? part.count : 0;
  }
  return count;
}

TEST_P(StepPlanTest, TheStateOfEachSequenceHasBlocksOfItsOwn) {
  options_.steps = {{1}, {4}};
  const auto steps = plan_preset("35b", options_);
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  const auto blocks = [&](const StepPlan& step) {
    for (const kernels::PlannedKernel& kernel : operation(step, "Gated DeltaNet").kernels) {
      if (kernel.name.starts_with("delta_net_decode")) return kernel.blocks;
    }
    return int64_t{0};
  };
  EXPECT_EQ(blocks((*steps)[0]), 32);  // value heads
  EXPECT_EQ(blocks((*steps)[1]), 4 * 32);
}

TEST_P(StepPlanTest, OfAFewRowsTheNormAfterExpertsSumsThem) {
  options_.steps = {{1}, {8}, {128}, {128, true}, {129}, {512, true}};
  const auto steps = plan_preset("35b", options_);
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  for (const StepPlan& step : *steps) {
    SCOPED_TRACE(step.size.rows);
    const int few = step.size.rows <= 128 ? 1 : 0;
    EXPECT_EQ(launches(step, "add_norm_rows<true>"), 40 * few) << "of 39 layers and the head";
    EXPECT_EQ(launches(step, "add_norm_rows<true>", "head"), few);
    EXPECT_EQ(launches(step, "sum_expert_rows", "experts"), 40 * (1 - few));
    EXPECT_EQ(launches(step, "sum_expert_rows"), 40 * (1 - few));
  }
}

TEST_P(StepPlanTest, WeightsAreThoseOfTheShape) {
  const auto steps = plan_preset("35b", options_);
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  // 2 matrices of 2,048 x 512 (gate, up) and one of 512 x 2,048 for 8 of 256 experts, 9 bits for 2 elements; the shared
  // expert, its gate (a strip of 16 rows for one) and the router in BF16.
  const double expert = 3 * 2048 * 512, bf16 = expert + 16 * 2048 + 256 * 2048;
  EXPECT_NEAR(operation((*steps)[0], "experts").weight_bytes, 8 * expert * 9 / 16 + 2 * bf16, 1);
  EXPECT_NEAR(operation((*steps)[0], "head").weight_bytes, 2.0 * 248320 * 2048, 1);
  // More rows choose more experts, and the rest is read once.
  EXPECT_GT(operation((*steps)[1], "experts").weight_bytes, 4 * operation((*steps)[0], "experts").weight_bytes);
  EXPECT_EQ(operation((*steps)[2], "attention").weight_bytes, operation((*steps)[0], "attention").weight_bytes);
  EXPECT_LT((*steps)[2].weight_bytes(), 256 * 40 * expert * 9 / 16 + 8e9);
}

TEST_P(StepPlanTest, AStepReadsTheWeightsOfAllItsLaunches) {
  const auto steps = plan_preset("35b", options_);
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  for (const StepPlan& step : *steps) {
    double sum = 0;
    for (const auto& [name, count] : times(step)) sum += count * operation(step, name).weight_bytes;
    EXPECT_NEAR(step.weight_bytes(), sum, 1e-9 * sum) << step.size.rows;
    // Of the embedding a row for each token, in BF16; of layers all, whatever rows there are.
    EXPECT_EQ(operation(step, "embedding").weight_bytes, 2.0 * 2048 * static_cast<double>(step.size.rows));
  }
}

TEST_P(StepPlanTest, TunedTilesAreTheOnesThatArePlanned) {
  const auto tile_of = [&] {
    const auto steps = plan_preset("35b", options_);
    EXPECT_TRUE(steps.ok()) << steps.status().message();
    for (const kernels::PlannedKernel& kernel : operation(steps->front(), "experts").kernels) {
      if (kernel.name == "w4a16_gemm") return kernel.tile;
    }
    return std::string();
  };
  const std::string estimated = tile_of();
  plan::Desc desc;
  desc.hidden = 2048;
  desc.intermediate = 512;
  desc.experts = 256;
  desc.experts_per_token = 8;
  desc.tokens = 1;
  const auto tiles = plan::make_plan(desc, options_.gpu);
  ASSERT_TRUE(tiles.ok());
  options_.steps = {{1}};
  for (const plan::Candidate& candidate : tiles->candidates) {
    if (!candidate.kept() || !plan::compiled(candidate.tile) || plan::shape_name(candidate.tile) == estimated) continue;
    options_.tuning.entries = {{desc, candidate.tile, 1.0}};
    if (tile_of() == plan::shape_name(candidate.tile)) return;
  }
  ADD_FAILURE() << "no tile takes the place of " << estimated;
}

TEST_P(StepPlanTest, TheTextHasATableForEachStep) {
  options_.steps = {{1}, {64, true}};
  const auto steps = plan_preset("27b", options_);
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  const std::string text = step_plan_text(*steps, options_);
  EXPECT_THAT(text, HasSubstr("decode of 1 row on " + options_.gpu.name));
  EXPECT_THAT(text, HasSubstr("prefill of 64 rows on " + options_.gpu.name));
  EXPECT_THAT(text, HasSubstr("MLP"));
  EXPECT_THAT(text, HasSubstr("delta_net_decode<128, 128"));
}

TEST(StepPlanWithoutCuda, SaysWhatToBuild) {
  if (has_kernels()) GTEST_SKIP() << "built with CUDA";
  StepPlanOptions options;
  options.gpu = *plan::find_device("h200");
  const auto steps = plan_preset("tiny", options);
  EXPECT_EQ(steps.status().code(), StatusCode::unsupported);
  EXPECT_THAT(steps.status().message(), HasSubstr("TESSERA_CUDA=ON"));
}

}  // namespace
}  // namespace tessera::cli
