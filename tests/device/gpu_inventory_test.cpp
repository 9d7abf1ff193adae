#include "device/gpu_inventory.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "device/nvml.h"

namespace tessera::device {
namespace {

TEST(GpuInventory, WithoutTheLibraryThereIsAnError) {
  const GpuInventory inventory = read_gpu_inventory("libno-such-thing.so.1");
  EXPECT_EQ(inventory.error, nvml::kNoLibrary);
  EXPECT_EQ(inventory.error_text, "there is no libnvidia-ml.so.1");
  EXPECT_TRUE(inventory.gpus.empty());
}

TEST(GpuInventory, ALibraryThatIsNotNvmlIsAnError) {
  const GpuInventory inventory = read_gpu_inventory("libm.so.6");
  EXPECT_EQ(inventory.error, nvml::kNoLibrary);
  EXPECT_NE(inventory.error_text.find("is not NVML"), std::string::npos);
}

TEST(GpuInventory, ErrorsAreInTheWordsOfNvmlAndOursInOurs) {
  const nvml::Library library(TESSERA_FAKE_NVML);
  EXPECT_EQ(library.error_text(nvml::kDriverNotLoaded), "Driver Not Loaded");
  EXPECT_EQ(library.error_text(nvml::kNoLibrary), "libnvidia-ml.so.1 is not NVML");
}

TEST(GpuInventory, EveryNumberHasAName) {
  std::set<std::string_view> names;
  for (const DriverNumber& number : driver_numbers()) names.insert(number.name);
  EXPECT_EQ(names.size(), driver_numbers().size());
  // The struct is its two texts and its numbers.
  EXPECT_EQ(2 * sizeof(std::string) + names.size() * sizeof(Number), sizeof(DriverGpu));
  DriverGpu gpu;
  int64_t next = 0;
  for (const DriverNumber& number : driver_numbers()) gpu.*number.value = next++;
  next = 0;
  for (const DriverNumber& number : driver_numbers()) EXPECT_EQ(gpu.*number.value, next++) << number.name;
}

TEST(GpuInventory, WhatTheDriverSaysAndWhatItLeavesOut) {
  const GpuInventory inventory = read_gpu_inventory(TESSERA_FAKE_NVML);
  ASSERT_EQ(inventory.error, nvml::kSuccess);
  EXPECT_EQ(inventory.driver_version, "580.95.05");
  EXPECT_EQ(inventory.cuda_version, 13000);
  ASSERT_EQ(inventory.gpus.size(), 2U);  // without the one that is lost
  const DriverGpu& gpu = inventory.gpus.front();
  EXPECT_EQ(gpu.name, "NVIDIA H200");
  EXPECT_EQ(gpu.pci_bus_id, "00000000:19:00.0");
  EXPECT_EQ(gpu.compute_major, 9);
  EXPECT_EQ(gpu.compute_minor, 0);
  EXPECT_EQ(gpu.memory_bytes, 150'000'000'000);
  EXPECT_EQ(gpu.memory_used_bytes, 7);
  EXPECT_EQ(gpu.sm_clock_mhz, 1980);
  EXPECT_EQ(gpu.nvlinks, 2);
  EXPECT_EQ(gpu.throttle_reasons, kThrottlePowerCap);  // by the older name of the question
  EXPECT_FALSE(gpu.ecc || gpu.ecc_pending || gpu.ecc_errors_uncorrected || gpu.bar1_bytes);  // not supported
  EXPECT_EQ(gpu.pcie_generation, 3);
  EXPECT_EQ(gpu.pcie_generation_max, 4);
  EXPECT_EQ(gpu.pcie_generation_card, 5);
  EXPECT_EQ(gpu.pcie_width, 8);
  EXPECT_EQ(gpu.pcie_width_max, 16);
  EXPECT_EQ(gpu.power_limit_milliwatts, 400'000);
  EXPECT_EQ(gpu.power_default_milliwatts, 700'000);
  EXPECT_EQ(gpu.power_milliwatts, 300'000);
  EXPECT_EQ(gpu.sm_clock_mhz_max, 1981);
  EXPECT_EQ(gpu.memory_clock_mhz, 3201);
  EXPECT_EQ(gpu.memory_clock_mhz_max, 3202);
  EXPECT_EQ(gpu.persistence, 1);
  EXPECT_EQ(gpu.mig, 0);
  EXPECT_EQ(gpu.compute_mode, kComputeExclusive);
  EXPECT_EQ(gpu.celsius, 61);
  EXPECT_EQ(gpu.busy_percent, 51);
  EXPECT_EQ(gpu.performance_state, 8);
  const DriverGpu& other = inventory.gpus.back();
  EXPECT_EQ(other.ecc, 1);
  EXPECT_EQ(other.ecc_pending, 0);
  EXPECT_EQ(other.ecc_errors_uncorrected, 41);
  EXPECT_EQ(other.bar1_bytes, 256 << 20);
  EXPECT_FALSE(other.sm_clock_mhz);  // no answer
  ASSERT_EQ(inventory.pairs.size(), 2U);
  EXPECT_EQ(inventory.pairs[1].from, 1);
  EXPECT_EQ(inventory.pairs[1].to, 0);
  EXPECT_EQ(inventory.pairs[1].p2p_read, 3);
  EXPECT_EQ(inventory.pairs[1].topology, kTopologySystem);
}

/// The library stays loaded here, as by another part of a program: it counts who has it open, and has clocks for one.
TEST(GpuInventory, NvmlIsClosedAfterEveryLook) {
  void* held = ::dlopen(TESSERA_FAKE_NVML, RTLD_NOW);
  ASSERT_NE(held, nullptr);
  for (int look = 0; look < 2; ++look) {
    const GpuInventory inventory = read_gpu_inventory(TESSERA_FAKE_NVML);
    ASSERT_EQ(inventory.gpus.size(), 2U);
    EXPECT_EQ(inventory.gpus[0].sm_clock_mhz, 1980) << "look " << look;
  }
  ::dlclose(held);
}

}  // namespace
}  // namespace tessera::device
