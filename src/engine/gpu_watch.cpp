#include "engine/gpu_watch.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "device/device.h"

namespace tessera::engine {
namespace {

constexpr size_t kReadBytesMax = size_t{1} << 30;

/// 0 where too little memory is free to see past the L2 cache.
Expected<double> read_rate(const device::GpuFacts& gpu) {
  TESSERA_ASSIGN_OR_RETURN(const device::GpuMemory memory, device::gpu_memory(gpu.index));
  const size_t bytes = std::min(kReadBytesMax, memory.free_bytes / 4);
  if (bytes < 4 * gpu.l2_bytes) return 0.0;
  return device::measure_read_rate(gpu.index, bytes);
}

}  // namespace

Expected<std::unique_ptr<GpuWatch>> GpuWatch::open(int gpu) {
  TESSERA_ASSIGN_OR_RETURN(const auto gpus, device::list_gpus());
  const device::GpuFacts& facts = gpus.at(static_cast<size_t>(gpu));
  const Expected<double> rate = read_rate(facts);
  if (!rate) spdlog::warn("steps are shown without their share of the GPU's read rate: {}", rate.status().message());
  return std::make_unique<GpuWatch>(rate ? *rate : 0.0, device::GpuSensors(facts.pci_bus_id));
}

GpuWatch::GpuWatch(double read_bytes_per_second, device::GpuSensors sensors, std::chrono::milliseconds period)
    : read_bytes_per_second_(read_bytes_per_second),
      sensors_(std::move(sensors)),
      period_(period),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

GpuStats GpuWatch::stats() const {
  const std::lock_guard lock(mutex_);
  return {.read_bytes_per_second = read_bytes_per_second_,
          .sm_clock_hertz = latest_.sm_clock_hertz,
          .memory_clock_hertz = latest_.memory_clock_hertz,
          .power_watts = latest_.power_watts};
}

void GpuWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const device::GpuReading reading = sensors_.read();
    std::unique_lock lock(mutex_);
    latest_ = reading;
    wake_.wait_for(lock, stop, period_, [] { return false; });
  }
}

}  // namespace tessera::engine
