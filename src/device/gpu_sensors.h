#pragma once

#include <memory>
#include <optional>
#include <string>

namespace tessera::device {

/// Clocks and power of a GPU at a moment; what the driver does not say is left out.
struct GpuReading {
  std::optional<double> sm_clock_hertz, memory_clock_hertz;
  std::optional<double> power_watts;  // the mean since the read before, where the GPU counts its energy
};

/// Reads clocks and power by NVML, which is part of the driver and loaded when it is asked for. Without it, every
/// value is left out: nothing of Tessera depends on one.
///
/// A read takes from tens of microseconds to milliseconds: it belongs on no thread that drives the GPU.
class GpuSensors {
 public:
  /// `pci_bus_id` as GpuFacts has it; CUDA and NVML count GPUs differently.
  explicit GpuSensors(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");
  GpuSensors(GpuSensors&&) noexcept;
  GpuSensors& operator=(GpuSensors&&) noexcept;
  ~GpuSensors();

  /// One thread at a time.
  [[nodiscard]] GpuReading read();

 private:
  struct Nvml;
  std::unique_ptr<Nvml> nvml_;  // null: there is none, or it does not know the GPU
};

}  // namespace tessera::device
