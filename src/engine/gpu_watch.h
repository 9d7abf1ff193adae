#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/status.h"
#include "device/gpu_sensors.h"
#include "tessera/engine.h"

namespace tessera::engine {

/// Knows how fast a GPU reads its memory, and reads its clocks and power now and then, on a thread of its own, since
/// that may take milliseconds.
class GpuWatch {
 public:
  /// Measures the read rate of GPU `gpu` over up to 1 GiB of what is free of its memory: a few milliseconds, for which
  /// nothing else should run there. Where it cannot be measured, the log says why and it is 0.
  static Expected<std::unique_ptr<GpuWatch>> open(int gpu);

  GpuWatch(double read_bytes_per_second, device::GpuSensors sensors,
           std::chrono::milliseconds period = std::chrono::seconds(1));

  /// The values of the last read. Any thread.
  [[nodiscard]] GpuStats stats() const;

 private:
  void run(const std::stop_token& stop);

  const double read_bytes_per_second_;
  device::GpuSensors sensors_;
  std::chrono::milliseconds period_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  device::GpuReading latest_;
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace tessera::engine
