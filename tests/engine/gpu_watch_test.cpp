#include "engine/gpu_watch.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/wait_until.h"

namespace tessera::engine {
namespace {

using namespace std::chrono_literals;

TEST(GpuWatch, SaysWhatTheSensorsSay) {
  const GpuWatch watch(4.5e12, device::GpuSensors("00000000:19:00.0", TESSERA_FAKE_NVML), 1ms);
  ASSERT_TRUE(test::wait_until([&] { return watch.stats().sm_clock_hertz.has_value(); }));
  const GpuStats stats = watch.stats();
  EXPECT_EQ(stats.read_bytes_per_second, 4.5e12);
  EXPECT_EQ(stats.sm_clock_hertz, 1980e6);
  EXPECT_EQ(stats.memory_clock_hertz, 3201e6);
  EXPECT_TRUE(stats.power_watts);
}

TEST(GpuWatch, WhatIsKnownOfAGpuWithoutPowerIsSaid) {
  const GpuWatch watch(4.5e12, device::GpuSensors("00000000:1a:00.0", TESSERA_FAKE_NVML), 1ms);
  ASSERT_TRUE(test::wait_until([&] { return watch.stats().sm_clock_hertz.has_value(); }));
  EXPECT_EQ(watch.stats().sm_clock_hertz, 1980e6);
  EXPECT_FALSE(watch.stats().power_watts);
}

TEST(GpuWatch, EndsAtOnceWhateverItsPeriod) {
  const GpuWatch watch(4.5e12, device::GpuSensors("", "libno-such-thing.so.1"), 24h);
  EXPECT_FALSE(watch.stats().sm_clock_hertz);
}

}  // namespace
}  // namespace tessera::engine
