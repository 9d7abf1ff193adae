#include "engine/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "device/device.h"
#include "plan/candidates.h"

namespace tessera::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Device> kTwoGpusAndCpu = {0, 1, std::nullopt};

TEST(DeviceChoice, NamesAreThoseOfTheFlag) {
  EXPECT_EQ(device_name(std::nullopt), "cpu");
  EXPECT_EQ(device_name(3), "cuda:3");
}

TEST(DeviceChoice, AutoEndsWithTheCpu) {
  const auto devices = choose_devices("auto", false);
  ASSERT_TRUE(devices.ok());
  const auto gpus = device::list_gpus();
  EXPECT_EQ(devices->size(), (gpus.ok() ? gpus->size() : 0) + 1);
  EXPECT_EQ(devices->back(), std::nullopt);
  EXPECT_THAT(*choose_devices("cpu", false), ElementsAre(Device()));
  EXPECT_THAT(*choose_devices("auto", /*needs_cpu=*/true), ElementsAre(Device()));
}

TEST(DeviceChoice, OtherWordsAreRefused) {
  for (const char* word : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:0x", "cuda0", "cuda:99999999999"}) {
    const auto devices = choose_devices(word, false);
    EXPECT_EQ(devices.status().code(), StatusCode::invalid_argument) << word;
    EXPECT_THAT(devices.status().message(), HasSubstr("auto, cpu, cuda or cuda:N"));
  }
  EXPECT_THAT(choose_devices("cuda", /*needs_cpu=*/true).status().message(), HasSubstr("fp32"));
  EXPECT_FALSE(choose_devices("cuda:4096", false).ok());
}

TEST(DeviceChoice, TheFirstThatCanTakesTheModel) {
  std::vector<Device> tried;
  const auto first = on_first_that_can(kTwoGpusAndCpu, [&](const Device& device) {
    tried.push_back(device);
    return Expected<int>(5);
  });
  EXPECT_EQ(*first, 5);
  EXPECT_THAT(tried, ElementsAre(Device(0)));
}

TEST(DeviceChoice, WhatDoesNotFitOrHasNoKernelGoesOn) {
  std::vector<Device> tried;
  testing::internal::CaptureStdout();
  const auto last = on_first_that_can(kTwoGpusAndCpu, [&](const Device& device) -> Expected<int> {
    tried.push_back(device);
    if (device == Device(0)) return Status(StatusCode::resource_exhausted, "too large");
    if (device == Device(1)) return Status(StatusCode::unsupported, "no kernel");
    return 7;
  });
  EXPECT_THAT(testing::internal::GetCapturedStdout(), AllOf(HasSubstr("not on cuda:0: too large; going on with cuda:1"),
                                                            HasSubstr("not on cuda:1: no kernel; going on with cpu")));
  EXPECT_EQ(*last, 7);
  EXPECT_EQ(tried, kTwoGpusAndCpu);
}

TEST(DeviceChoice, OtherErrorsAndTheLastDevicesEndIt) {
  int tried = 0;
  const auto fail_with = [&](StatusCode code) {
    tried = 0;
    return on_first_that_can(kTwoGpusAndCpu, [&](const Device& device) -> Expected<int> {
      ++tried;
      return Status(code, device_name(device));
    });
  };
  EXPECT_EQ(fail_with(StatusCode::corrupt_data).status().message(), "cuda:0");
  EXPECT_EQ(tried, 1);
  EXPECT_EQ(fail_with(StatusCode::resource_exhausted).status().message(), "cpu");
  EXPECT_EQ(tried, 3);
}

TEST(DeviceChoice, AGpuThatWasAskedForIsTheOnlyOneTried) {
  const auto alone = on_first_that_can(
      {0}, [&](const Device&) -> Expected<int> { return Status(StatusCode::resource_exhausted, "too large"); });
  EXPECT_EQ(alone.status().message(), "too large");
}

// ---- tuned tiles ----

constexpr const char* kGpu = "NVIDIA Test GPU";

class TunedTilesTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / ("tessera_tuned_" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_ / "tessera");
    ASSERT_EQ(::setenv("XDG_CACHE_HOME", directory_.c_str(), 1), 0);
    config_.hidden_size = 4096;
    config_.moe_intermediate_size = 1024;
    config_.num_experts = 512;
    config_.experts_per_token = 10;
  }
  void TearDown() override {
    (void)::unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(directory_);
  }
  static plan::TuningCache measured(const std::string& build) {
    plan::Desc desc{.hidden = 4096, .intermediate = 1024, .experts = 512, .experts_per_token = 10, .tokens = 8};
    plan::Desc other = desc;
    other.hidden = 2048;
    const plan::Tile tile = plan::make_tile(plan::Path::w4a16, plan::WeightFormat::nvfp4, 64, 8, 256, 2);
    return {.gpu = kGpu, .build = build, .entries = {{desc, tile, 155.25}, {other, tile, 99.5}}};
  }
  /// What is logged meanwhile.
  std::string log_of_reading(size_t entries) const {
    testing::internal::CaptureStdout();
    EXPECT_EQ(tuned_tiles(kGpu, config_).entries.size(), entries);
    return testing::internal::GetCapturedStdout();
  }

  std::filesystem::path directory_;
  model::ModelConfig config_;
};

TEST_F(TunedTilesTest, AreReadWhereTuneWritesThem) {
  EXPECT_EQ(plan::tuning_file(kGpu).parent_path(), directory_ / "tessera");
  ASSERT_TRUE(plan::write_tuning(plan::tuning_file(kGpu), measured(plan::tuning_build())).ok());
  EXPECT_THAT(log_of_reading(2), HasSubstr("1 of 2 tuned tiles are for this model's experts"));
}

TEST_F(TunedTilesTest, NoFileIsNoError) { EXPECT_THAT(log_of_reading(0), HasSubstr("tessera tune")); }

TEST_F(TunedTilesTest, AFileThatIsDamagedOrForeignIsLeftAlone) {
  const auto file = plan::tuning_file(kGpu);
  ASSERT_TRUE(plan::write_tuning(file, measured("0.0.1-00000000")).ok());
  EXPECT_THAT(log_of_reading(0), HasSubstr("of another GPU or build"));
  std::ofstream(file, std::ios::app) << "x";
  EXPECT_THAT(log_of_reading(0), HasSubstr("damaged"));
  std::filesystem::remove(file);
  std::filesystem::create_directories(file);
  EXPECT_THAT(log_of_reading(0), HasSubstr("tuned tiles are not used"));
}

TEST_F(TunedTilesTest, ADenseModelHasNone) {
  config_.is_moe = false;
  EXPECT_EQ(log_of_reading(0), "");
}

}  // namespace
}  // namespace tessera::engine
