// Which devices are tried and what there is of them, with GPUs of the simulator.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "engine/device_choice.h"
#include "engine/gpu_watch.h"

namespace tessera::engine {
namespace {

class SimulatedGpuChoice : public testing::Test {
 protected:
  ~SimulatedGpuChoice() override { simulator::machine = {}; }
};

TEST_F(SimulatedGpuChoice, AutoTriesEachInItsOrderAndThenTheCpu) {
  simulator::machine.gpus = 3;
  EXPECT_EQ(*choose_devices("auto", /*needs_cpu=*/false), (std::vector<Device>{0, 1, 2, std::nullopt}));
  EXPECT_EQ(*choose_devices("auto", /*needs_cpu=*/true), std::vector<Device>{std::nullopt});
}

TEST_F(SimulatedGpuChoice, TheOneThatIsAskedForIsTheOnlyOne) {
  simulator::machine.gpus = 3;
  EXPECT_EQ(*choose_devices("cuda", /*needs_cpu=*/false), std::vector<Device>{0});
  EXPECT_EQ(*choose_devices("cuda:2", /*needs_cpu=*/false), std::vector<Device>{2});
  const Status beyond = choose_devices("cuda:3", /*needs_cpu=*/false).status();
  EXPECT_EQ(beyond.code(), StatusCode::not_found);
  EXPECT_NE(beyond.message().find("sees 3 GPUs"), std::string::npos) << beyond.message();
}

TEST_F(SimulatedGpuChoice, AModelMayTakeItsShareOfTheMemoryAndNoMoreThanIsFree) {
  const size_t all = cudaDeviceProp().totalGlobalMem;
  EXPECT_EQ(*available_bytes(Device(0), 0.5), all / 2);
  simulator::machine.free_bytes = all / 4;
  EXPECT_EQ(*available_bytes(Device(0), 0.5), all / 4);
}

/// The read rate is of more than the cache holds, or not known.
TEST_F(SimulatedGpuChoice, TheReadRateIsOfAQuarterOfWhatIsFree) {
  const size_t least = 4 * static_cast<size_t>(cudaDeviceProp().l2CacheSize);
  simulator::machine.free_bytes = 4 * least;
  auto watch = GpuWatch::open(0);
  ASSERT_TRUE(watch.ok()) << watch.status().message();
  EXPECT_DOUBLE_EQ((*watch)->stats().read_bytes_per_second, static_cast<double>(least) / 1e-3);
  simulator::machine.free_bytes = 4 * least - 4;
  watch = GpuWatch::open(0);
  ASSERT_TRUE(watch.ok()) << watch.status().message();
  EXPECT_EQ((*watch)->stats().read_bytes_per_second, 0);
}

}  // namespace
}  // namespace tessera::engine
