// GPUs that are not as they should be, in the simulator.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "device/device.h"
#include "device/peer_copy.h"

namespace tessera::device {
namespace {

using Result = PeerCopy::Result;

class SimulatedGpus : public testing::Test {
 protected:
  ~SimulatedGpus() override { simulator::machine = {}; }

  static std::vector<PeerCopy> copies(int gpus) {
    simulator::machine.gpus = gpus;
    const auto made = try_peer_copies(kBytes);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return *made;
  }
  static constexpr size_t kBytes = 4096;
};

TEST_F(SimulatedGpus, EachPairCopiesEachWay) {
  std::vector<std::tuple<int, int>> pairs;
  for (const PeerCopy& copy : copies(3)) {
    pairs.emplace_back(copy.from, copy.to);
    EXPECT_TRUE(copy.direct);
    EXPECT_EQ(copy.result, Result::equal) << copy.error;
    EXPECT_EQ(copy.error, "");
    EXPECT_DOUBLE_EQ(copy.bytes_per_second, 3 * kBytes / 1e-3) << "three copies in the millisecond between two events";
  }
  EXPECT_EQ(pairs, (std::vector<std::tuple<int, int>>{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}}));
  EXPECT_TRUE(copies(1).empty());
}

TEST_F(SimulatedGpus, WhatIsEnabledAlreadyIsNoError) {
  simulator::machine.peers_enabled = cudaErrorPeerAccessAlreadyEnabled;
  for (const PeerCopy& copy : copies(2)) EXPECT_EQ(copy.result, Result::equal) << copy.error;
}

TEST_F(SimulatedGpus, WhereTheyCannotWriteEachOthersMemoryCopiesGoThroughTheHost) {
  simulator::machine.peers = false;
  simulator::machine.peers_enabled = cudaErrorInvalidValue;  // nobody asks for it
  for (const PeerCopy& copy : copies(2)) {
    EXPECT_FALSE(copy.direct);
    EXPECT_EQ(copy.result, Result::equal) << copy.error;
  }
}

/// What arrives is compared to its last word; and the other pairs are tried all the same.
TEST_F(SimulatedGpus, CopiesThatChangeOrDropBytesAreFoundOut) {
  using Change = void (*)(void*, size_t);
  const std::vector<Change> changes = {[](void* to, size_t bytes) { static_cast<unsigned char*>(to)[bytes - 1] ^= 1U; },
                                       [](void* to, size_t bytes) { std::memset(to, 0, bytes); }};
  for (const Change change : changes) {
    simulator::machine.peer_copy = change;
    const auto found = copies(2);
    EXPECT_EQ(found.size(), 2U);
    for (const PeerCopy& copy : found) EXPECT_EQ(copy.result, Result::differs);
  }
}

TEST_F(SimulatedGpus, CopiesThatFailSayWhichCall) {
  simulator::machine.peer_copied = cudaErrorInvalidValue;
  auto found = copies(2);
  ASSERT_EQ(found.size(), 2U);
  for (const PeerCopy& copy : found) {
    EXPECT_EQ(copy.result, Result::failed);
    EXPECT_NE(copy.error.find("cudaMemcpyPeerAsync"), std::string::npos) << copy.error;
  }
  simulator::machine.peer_copied = cudaSuccess;
  simulator::machine.peers_enabled = cudaErrorInvalidValue;
  found = copies(2);
  EXPECT_EQ(found.at(0).result, Result::failed);
  EXPECT_NE(found[0].error.find("cudaDeviceEnablePeerAccess"), std::string::npos) << found[0].error;
}

TEST_F(SimulatedGpus, AGpuWithoutKernelsIsNamedAndLeavesNoErrorForTheNext) {
  EXPECT_TRUE(has_kernels(0).ok());
  for (const cudaError_t none : {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction}) {
    simulator::machine.kernels = none;
    const Status status = has_kernels(0);
    EXPECT_EQ(status.code(), StatusCode::unsupported);
    EXPECT_NE(status.message().find("compute capability 12.0"), std::string::npos) << status.message();
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
  simulator::machine.kernels = cudaErrorLaunchFailure;
  const Status broken = has_kernels(0);
  EXPECT_FALSE(broken.ok());
  EXPECT_NE(broken.code(), StatusCode::unsupported);
}

TEST_F(SimulatedGpus, FactsAndReadRatesAreThoseOfTheGpu) {
  simulator::machine.gpus = 2;
  const auto gpus = list_gpus();
  ASSERT_TRUE(gpus.ok()) << gpus.status().message();
  ASSERT_EQ(gpus->size(), 2U);
  const GpuFacts& gpu = gpus->back();
  const cudaDeviceProp facts;
  EXPECT_EQ(gpu.index, 1);
  EXPECT_EQ(gpu.name, facts.name);
  EXPECT_EQ(gpu.pci_bus_id, "00000000:19:00.0");
  EXPECT_EQ(gpu.compute_major, facts.major);
  EXPECT_EQ(gpu.compute_minor, facts.minor);
  EXPECT_EQ(gpu.sm_count, facts.multiProcessorCount);
  EXPECT_EQ(gpu.smem_per_block_bytes_max, facts.sharedMemPerBlockOptin);
  EXPECT_EQ(gpu.smem_per_sm_bytes, facts.sharedMemPerMultiprocessor);
  EXPECT_EQ(gpu.l2_bytes, static_cast<size_t>(facts.l2CacheSize));
  EXPECT_EQ(gpu.memory_bytes, facts.totalGlobalMem);
  const auto rate = measure_read_rate(1, kBytes);
  ASSERT_TRUE(rate.ok()) << rate.status().message();
  EXPECT_DOUBLE_EQ(*rate, kBytes / 1e-3) << "a pass in the millisecond between two events";
  EXPECT_EQ(measure_read_rate(0, 15).status().code(), StatusCode::invalid_argument);
  EXPECT_TRUE(measure_read_rate(0, 16).ok());
  simulator::machine.free_bytes = 5000;
  EXPECT_EQ(gpu_memory(0)->free_bytes, 5000U);
  EXPECT_EQ(gpu_memory(0)->total_bytes, facts.totalGlobalMem);
  EXPECT_FALSE(gpu_memory(2).ok());
}

}  // namespace
}  // namespace tessera::device
