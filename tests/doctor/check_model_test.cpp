#include <gtest/gtest.h>

#include "doctor/check.h"
#include "doctor/machines.h"

// What is said of a model: whether it fits, how fast it can be, what its bytes are.
namespace tessera::doctor {
namespace {

model::Inspection& inspection(Facts& facts) { return *facts.model->inspection; }

TEST(Check, AFitIsToldByItsNumbers) {
  Facts facts = healthy();
  FitReport& report = facts.model->fits.front().report;
  report.weight_bytes = 20'000'000'000;
  report.workspace_bytes = 1'000'000'000;
  report.available_bytes = 90'000'000'000;
  report.max_num_seqs = 12;
  report.max_model_len = 4096;
  EXPECT_NE(text_of(check(facts))
                .find("model-fit: on cuda:0: 21.0 GB of 90.0 GB, 20.0 GB of them weights; up to 12 sequences at once, "
                      "of up to 4096 tokens\n"),
            std::string::npos)
      << text_of(check(facts));
}

/// A recorded GPU is judged by the bytes of the weights, of which it takes as much as the engine would.
TEST(Check, WeightsMustFitWhatTheEngineMayTakeOfARecordedGpu) {
  Facts facts = healthy();
  facts.model->fits.clear();
  facts.gpu.gpus.front().memory_bytes = 100'000'000'000;
  auto& parts = inspection(facts).parts;
  parts.push_back({.kind = std::nullopt, .bytes = 20'000'000'000});  // the vision tower is not loaded
  parts.front().bytes = 89'999'999'999;
  EXPECT_EQ(find(check(facts), "model-fit")->level, Level::ok) << text_of(check(facts));
  parts.front().bytes = 90'000'000'000;
  EXPECT_EQ(find(check(facts), "model-fit")->level, Level::warn) << text_of(check(facts));
}

/// What is there of it says nothing; where it lies does.
TEST(Check, AModelThatIsNotCompleteIsNotJudged) {
  Facts facts = healthy();
  facts.model->error = "no tensor";
  const auto findings = check(facts);
  for (const char* name : {"model-text", "model-formats", "model-fit", "model-kernels", "expected-speed"}) {
    EXPECT_EQ(find(findings, name), nullptr) << name;
  }
  for (const char* name : {"model-disk", "model-space"}) EXPECT_NE(find(findings, name), nullptr) << name;
}

/// Kernels of a GPU are of no account where models run on the CPU.
TEST(Check, KernelsAreThoseOfAGpu) {
  Facts facts = healthy();
  facts.gpu.built_with_cuda = false;
  EXPECT_EQ(find(check(facts), "model-kernels"), nullptr);
}

TEST(Check, TunedTilesAreCounted) {
  Facts facts = healthy();
  facts.model->tuned_tiles = 1;
  EXPECT_NE(text_of(check(facts)).find("model-kernels: 1 tuned tiles are for this model\n"), std::string::npos);
  facts.model->tuned_tiles = 0;
  EXPECT_NE(text_of(check(facts)).find("model-kernels: tiles of experts are chosen by estimate\n"), std::string::npos);
}

/// A GPU without 4-bit tensor cores could not do otherwise.
TEST(Check, FourBitActivationsAreMissedWhereTheGpuHasThem) {
  Facts facts = healthy();
  inspection(facts).quantization.activations_4bit = true;
  EXPECT_NE(text_of(check(facts)).find("the checkpoint asks for 4-bit activations"), std::string::npos);
  facts.gpu.gpus.front().compute_major = 9;
  EXPECT_EQ(text_of(check(facts)).find("the checkpoint asks for 4-bit activations"), std::string::npos);
}

TEST(Check, ExpectedSpeedIsOfBytesOverTheMeasuredRate) {
  Facts facts = healthy();
  facts.model->step_bytes = {};
  facts.model->step_bytes.weights.fixed_bytes = 4e9;
  facts.model->step_bytes.cache = {.kv_block = 1'000'000, .state_slot = 0};  // 32 blocks: 32 MB a stream
  const auto findings = check(facts);
  const auto speed = std::ranges::find(findings, "expected-speed", &Finding::check);
  ASSERT_NE(speed, findings.end());
  // 1600e9 / 4.032e9, 8 x 1600e9 / 4.256e9, 64 x 1600e9 / 6.048e9
  EXPECT_NE(speed->found.find("397 at 1, 3008 at 8, 16931 at 64"), std::string::npos) << speed->found;
  EXPECT_NE(speed->found.find("expected at most"), std::string::npos);
  // No device was asked: blocks of 64 tokens in BF16, and states, which are read and written.
  facts.model->step_bytes.cache = {};
  inspection(facts).kv_bytes_per_token_bf16 = 15'000;  // 30.72 MB a stream
  inspection(facts).state_bytes = 640'000;
  const std::string by_shape = find(check(facts), "expected-speed")->found;
  EXPECT_NE(by_shape.find("397 at 1, 3008 at 8, 16931 at 64"), std::string::npos) << by_shape;
  EXPECT_NE(by_shape.find("a step of one reads 4.03 GB on cuda:0"), std::string::npos) << by_shape;
}

/// What is asked of a machine without a GPU: whether the weights fit its memory, and how fast it reads them.
TEST(Check, AModelOnTheCpu) {
  Facts facts = healthy();
  facts.gpu.gpus.clear();
  facts.model->fits.clear();
  facts.host.memory_available_bytes = 20'000'000'001;
  facts.model->step_bytes = {};
  facts.model->step_bytes.weights.fixed_bytes = 4e9;
  facts.model->step_bytes.cache = {.kv_block = 1'000'000, .state_slot = 0};
  facts.host.read_bytes_per_second = 40'320'000'000;
  const auto findings = check(facts);
  EXPECT_EQ(find(findings, "model-fit")->level, Level::ok);
  EXPECT_EQ(find(findings, "model-fit")->mend, "");
  EXPECT_NE(find(findings, "expected-speed")->found.find(" 10 at 1, 76 at 8, "), std::string::npos)
      << find(findings, "expected-speed")->found;
  EXPECT_NE(find(findings, "expected-speed")->found.find("on cpu at"), std::string::npos);
  EXPECT_EQ(find(findings, "expected-speed")->found.find("H200"), std::string::npos);
  facts.host.memory_available_bytes = 20'000'000'000;
  const auto full = check(facts);
  EXPECT_EQ(find(full, "model-fit")->level, Level::fail);
  EXPECT_NE(find(full, "model-fit")->mend, "");
  facts.host.read_bytes_per_second.reset();
  EXPECT_EQ(find(check(facts), "expected-speed"), nullptr) << "nobody knows";
}

/// Where no GPU was measured, its maker's number stands in; and the first device that the model fits is the one.
TEST(Check, ExpectedSpeedOfTheDeviceThatItFits) {
  Facts facts = healthy();
  facts.gpu.gpus[0].read_bytes_per_second.reset();
  EXPECT_NE(find(check(facts), "expected-speed")->found.find("by the data sheet"), std::string::npos);
  facts.gpu.gpus[0].name = "NVIDIA of another kind";
  EXPECT_EQ(find(check(facts), "expected-speed"), nullptr) << "of which nobody knows";
  facts.model->fits = {{"cuda:0", "too large", {}}, {"cuda:1", {}, {}}, {"cpu", {}, {}}};
  const std::string found = find(check(facts), "expected-speed")->found;
  EXPECT_NE(found.find("on cuda:1 at"), std::string::npos) << found;
  EXPECT_NE(found.find("measured"), std::string::npos) << found;
  EXPECT_NE(found.find("H200"), std::string::npos) << found;
}

/// CUDA may count GPUs in another order than the bus, and shows those of CUDA_VISIBLE_DEVICES alone.
TEST(Check, ExpectedSpeedIsThatOfTheGpuThatCudaMeans) {
  Facts facts = healthy();
  facts.gpu.gpus[1].read_bytes_per_second = 4'000'000'000'000;
  const auto rate_is = [&](const char* rate) {
    const std::string found = find(check(facts), "expected-speed")->found;
    EXPECT_NE(found.find(std::string("on cuda:0 at ") + rate + ", measured"), std::string::npos) << found;
  };
  rate_is("1.60 TB/s");
  facts.gpu.gpus[0].cuda_index = 1;
  facts.gpu.gpus[1].cuda_index = 0;
  rate_is("4.00 TB/s");
  facts.gpu.gpus[0].cuda_index.reset();
  rate_is("4.00 TB/s");
  facts.gpu.gpus[1].cuda_index.reset();  // built without CUDA
  rate_is("1.60 TB/s");
}

/// Formats are of what is loaded: FP32 that is not small, if it is more than a twentieth.
TEST(Check, WideFormatsAreOfWhatIsLoaded) {
  Facts facts = healthy();
  using model::TensorKind;
  auto& parts = facts.model->inspection->parts;
  parts = {{.kind = TensorKind::routed_expert, .format = "NVFP4", .bytes = 19'000'000'000},
           {.kind = TensorKind::routed_expert, .format = "F32", .bytes = 1'000'000'000},
           {.kind = TensorKind::small, .format = "F32", .bytes = 0},
           {.kind = std::nullopt, .format = "F32", .bytes = 5'000'000'000}};
  EXPECT_EQ(find(check(facts), "model-formats")->level, Level::ok);
  EXPECT_EQ(find(check(facts), "model-formats")->found, "1.00 GB F32, 19.0 GB NVFP4");
  parts[1].bytes += 100;
  EXPECT_EQ(find(check(facts), "model-formats")->level, Level::warn);
  EXPECT_NE(find(check(facts), "model-formats")->mend, "");
  parts[1].kind = TensorKind::small;
  EXPECT_EQ(find(check(facts), "model-formats")->level, Level::ok);
}

}  // namespace
}  // namespace tessera::doctor
