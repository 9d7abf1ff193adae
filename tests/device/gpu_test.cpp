#include <gtest/gtest.h>

#include <algorithm>

#include "device/cuda.h"
#include "device/device.h"
#include "device/gpu_inventory.h"
#include "device/gpu_sensors.h"
#include "device/nvml.h"
#include "device/peer_copy.h"

namespace tessera::device {
namespace {

TEST(Gpu, FactsAreThoseOfARealDevice) {
  const auto gpus = list_gpus();
  ASSERT_TRUE(gpus.ok()) << gpus.status().message();
  ASSERT_FALSE(gpus->empty());
  for (const GpuFacts& gpu : *gpus) {
    std::printf("%d: %s, sm_%d%d, %d SMs, %zu B shared memory per block, %zu per SM, %zu B L2, %zu B memory\n",
                gpu.index, gpu.name.c_str(), gpu.compute_major, gpu.compute_minor, gpu.sm_count,
                gpu.smem_per_block_bytes_max, gpu.smem_per_sm_bytes, gpu.l2_bytes, gpu.memory_bytes);
    EXPECT_EQ(std::count(gpu.pci_bus_id.begin(), gpu.pci_bus_id.end(), ':'), 2) << gpu.pci_bus_id;
    EXPECT_GE(gpu.compute_major, 8);
    EXPECT_GT(gpu.sm_count, 0);
    // No tile of ours may need more than an SM120 block has.
    EXPECT_GE(gpu.smem_per_block_bytes_max, 101376U);
    EXPECT_GT(gpu.smem_per_sm_bytes, gpu.smem_per_block_bytes_max);
  }
}

int a_function_of_this_program() { return 1; }

TEST(Gpu, AFailedLaunchNamesTheKernel) {
  const auto kernel = reinterpret_cast<const void*>(&a_function_of_this_program);
  const std::string message(launch_status(cudaErrorInvalidConfiguration, kernel).message());
  const bool stripped = symbol_at(kernel).empty();  // as a bundle for another machine is
  const std::string name = stripped ? "a kernel" : "a_function_of_this_program";
  EXPECT_NE(message.find("the launch of " + name + " failed"), std::string::npos) << message;
  EXPECT_TRUE(launch_status(cudaSuccess, kernel).ok());
}

TEST(Gpu, ThisBuildHasKernelsForIt) { EXPECT_TRUE(has_kernels(0).ok()) << has_kernels(0).message(); }

TEST(Gpu, ReadRateIsMeasured) {
  const auto rate = measure_read_rate(0, size_t{1} << 30);
  ASSERT_TRUE(rate.ok()) << rate.status().message();
  std::printf("1 GiB read at %.2f TB/s\n", *rate / 1e12);
  EXPECT_GT(*rate, 0);
}

/// What the driver says; a container may have no NVML.
TEST(Gpu, ClocksAndPowerAreThoseOfAGpu) {
  const auto gpus = list_gpus();
  ASSERT_TRUE(gpus.ok()) << gpus.status().message();
  GpuSensors sensors(gpus->front().pci_bus_id);
  const GpuReading reading = sensors.read();
  std::printf("SM clock %.0f MHz, memory clock %.0f MHz, %.1f W (0: not said)\n",
              reading.sm_clock_hertz.value_or(0) * 1e-6, reading.memory_clock_hertz.value_or(0) * 1e-6,
              reading.power_watts.value_or(0));
  EXPECT_GT(reading.sm_clock_hertz.value_or(1e9), 1e8);
  EXPECT_GT(reading.memory_clock_hertz.value_or(1e9), 1e8);
  EXPECT_GT(reading.power_watts.value_or(100), 1);
}

TEST(Gpu, TheDriverKnowsTheGpusThatCudaSees) {
  const auto gpus = list_gpus();
  ASSERT_TRUE(gpus.ok()) << gpus.status().message();
  const GpuInventory inventory = read_gpu_inventory(nvml::kLibrary);
  if (inventory.error == nvml::kNoLibrary) GTEST_SKIP() << "no NVML here";
  ASSERT_EQ(inventory.error, nvml::kSuccess) << inventory.error_text;
  ASSERT_GE(inventory.gpus.size(), gpus->size());
  const DriverGpu& gpu = inventory.gpus.front();
  EXPECT_EQ(gpu.compute_major, gpus->front().compute_major);
  EXPECT_FALSE(gpu.pci_bus_id.empty());
  EXPECT_GE(inventory.cuda_version, 13000);
}

/// Of one GPU there is nothing to copy.
TEST(Gpu, CopiesBetweenGpusArrive) {
  const auto copies = try_peer_copies(size_t{8} << 20);
  ASSERT_TRUE(copies.ok()) << copies.status().message();
  EXPECT_EQ(copies->size(), list_gpus()->size() * (list_gpus()->size() - 1));
  for (const PeerCopy& copy : *copies) {
    std::printf("GPU %d to %d: %s, %.1f GB/s\n", copy.from, copy.to, copy.direct ? "direct" : "through the host",
                copy.bytes_per_second * 1e-9);
    EXPECT_EQ(copy.result, PeerCopy::Result::equal) << copy.error;
  }
}

TEST(Gpu, BadArgumentsAreErrors) {
  EXPECT_EQ(measure_read_rate(0, 8).status().code(), StatusCode::invalid_argument);
  // A code by which `--device auto` goes on to what comes next.
  EXPECT_EQ(measure_read_rate(0, size_t{1} << 50).status().code(), StatusCode::resource_exhausted);
  EXPECT_TRUE(measure_read_rate(0, 1 << 20).ok());
  const auto no_such_gpu = measure_read_rate(4096, 1 << 20);
  ASSERT_FALSE(no_such_gpu.ok());
  EXPECT_NE(no_such_gpu.status().message().find("cudaSetDevice(index) failed"), std::string::npos)
      << no_such_gpu.status().message();
}

}  // namespace
}  // namespace tessera::device
