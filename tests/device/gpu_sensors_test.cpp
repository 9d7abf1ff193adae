#include "device/gpu_sensors.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace tessera::device {
namespace {

constexpr const char* kBusId = "00000000:19:00.0";

TEST(GpuSensors, WithoutTheLibraryValuesAreLeftOut) {
  GpuSensors sensors(kBusId, "libno-such-thing.so.1");
  const GpuReading reading = sensors.read();
  EXPECT_FALSE(reading.sm_clock_hertz || reading.memory_clock_hertz || reading.power_watts);
}

TEST(GpuSensors, WithoutTheGpuValuesAreLeftOut) {
  GpuSensors sensors("00000000:20:00.0", TESSERA_FAKE_NVML);
  const GpuReading reading = sensors.read();
  EXPECT_FALSE(reading.sm_clock_hertz || reading.memory_clock_hertz || reading.power_watts);
}

TEST(GpuSensors, ClocksAndMeanPower) {
  using Clock = std::chrono::steady_clock;
  auto before_both = Clock::now();
  GpuSensors sensors(kBusId, TESSERA_FAKE_NVML);
  GpuReading reading = sensors.read();
  auto between = Clock::now();
  EXPECT_EQ(reading.sm_clock_hertz, 1980e6);
  EXPECT_EQ(reading.memory_clock_hertz, 3201e6);
  EXPECT_EQ(reading.power_watts, 300);  // there is no stretch of time yet
  // Nor after one that is too short, and the next begins where it ends.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  before_both = Clock::now();
  (void)sensors.read();
  between = Clock::now();
  for (int stretch = 0; stretch < 2; ++stretch) {  // each by itself
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    const auto still_between = Clock::now();
    reading = sensors.read();
    const auto after_both = Clock::now();
    const std::chrono::duration<double> most = after_both - before_both, least = still_between - between;
    ASSERT_TRUE(reading.power_watts);
    EXPECT_GE(*reading.power_watts, 1e9 / most.count());
    EXPECT_LE(*reading.power_watts, 1e9 / least.count());
    before_both = still_between;
    between = after_both;
  }
}

TEST(GpuSensors, SoonAfterALookThePowerIsThatOfTheMoment) {
  using Clock = std::chrono::steady_clock;
  GpuSensors sensors(kBusId, TESSERA_FAKE_NVML);
  while (true) {
    const auto before = Clock::now();
    (void)sensors.read();
    const GpuReading reading = sensors.read();
    if (Clock::now() - before >= std::chrono::milliseconds(200)) continue;  // the machine paused in between
    EXPECT_EQ(reading.power_watts, 300);
    return;
  }
}

}  // namespace
}  // namespace tessera::device
