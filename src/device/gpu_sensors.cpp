#include "device/gpu_sensors.h"

#include <chrono>

#include "device/nvml.h"

namespace tessera::device {
namespace {

using ClockType = int;  // nvmlClockType_t
using nvml::kSuccess;
using nvml::Return;

using DeviceByBusId = Return(const char* pci_bus_id, nvml::Device* device);
using ClockInfo = Return(nvml::Device device, ClockType type, unsigned* megahertz);
using PowerUsage = Return(nvml::Device device, unsigned* milliwatts);
using TotalEnergy = Return(nvml::Device device, unsigned long long* millijoules);  // since the driver was loaded

/// NVML updates its count of energy some times a second: shorter stretches would be noise.
constexpr std::chrono::milliseconds kEnergyStretchMin{200};

}  // namespace

struct GpuSensors::Nvml {
  using Clock = std::chrono::steady_clock;

  explicit Nvml(const char* name) : library(name) {}

  bool open(const std::string& pci_bus_id) {
    if (library.opened() != kSuccess) return false;
    clock_info = library.symbol<ClockInfo>("nvmlDeviceGetClockInfo");
    power_usage = library.symbol<PowerUsage>("nvmlDeviceGetPowerUsage");
    total_energy = library.symbol<TotalEnergy>("nvmlDeviceGetTotalEnergyConsumption");
    auto* const by_bus_id = library.symbol<DeviceByBusId>("nvmlDeviceGetHandleByPciBusId_v2");
    return by_bus_id != nullptr && by_bus_id(pci_bus_id.c_str(), &device) == kSuccess;
  }

  [[nodiscard]] std::optional<double> clock_hertz(ClockType type) const {
    unsigned megahertz = 0;
    if (clock_info == nullptr || clock_info(device, type, &megahertz) != kSuccess) return std::nullopt;
    return megahertz * 1e6;
  }

  std::optional<double> power_watts() {
    unsigned long long energy = 0;
    const auto now = Clock::now();
    if (total_energy != nullptr && total_energy(device, &energy) == kSuccess) {
      const bool long_enough = has_energy && now - energy_at >= kEnergyStretchMin;
      const double joules = static_cast<double>(energy - energy_before) * 1e-3;
      const double seconds = std::chrono::duration<double>(now - energy_at).count();
      has_energy = true;
      energy_before = energy;
      energy_at = now;
      if (long_enough) return joules / seconds;
    }
    unsigned milliwatts = 0;
    if (power_usage == nullptr || power_usage(device, &milliwatts) != kSuccess) return std::nullopt;
    return milliwatts * 1e-3;
  }

  nvml::Library library;
  nvml::Device device = nullptr;
  ClockInfo* clock_info = nullptr;
  PowerUsage* power_usage = nullptr;
  TotalEnergy* total_energy = nullptr;

  bool has_energy = false;
  unsigned long long energy_before = 0;
  Clock::time_point energy_at;
};

GpuSensors::GpuSensors(const std::string& pci_bus_id, const char* library) : nvml_(std::make_unique<Nvml>(library)) {
  if (!nvml_->open(pci_bus_id)) nvml_.reset();
}
GpuSensors::GpuSensors(GpuSensors&&) noexcept = default;
GpuSensors& GpuSensors::operator=(GpuSensors&&) noexcept = default;
GpuSensors::~GpuSensors() = default;

GpuReading GpuSensors::read() {
  if (!nvml_) return {};
  return {.sm_clock_hertz = nvml_->clock_hertz(nvml::kClockSm),
          .memory_clock_hertz = nvml_->clock_hertz(nvml::kClockMemory),
          .power_watts = nvml_->power_watts()};
}

}  // namespace tessera::device
