#include "device/gpu_sensors.h"

#include <dlfcn.h>

#include <chrono>

namespace tessera::device {
namespace {

// Of NVML's API, by hand: nvml.h is a package of its own (cuda-nvml-dev), and the library comes with the driver.
// Types and values: NVML API Reference Guide, "Device Enums", "Initialization and Cleanup", "Device Queries".
using Return = int;     // nvmlReturn_t
using Device = void*;   // nvmlDevice_t
using ClockType = int;  // nvmlClockType_t
constexpr Return kSuccess = 0;
constexpr ClockType kClockSm = 1, kClockMemory = 2;

using Init = Return();
using DeviceByBusId = Return(const char* pci_bus_id, Device* device);
using ClockInfo = Return(Device device, ClockType type, unsigned* megahertz);
using PowerUsage = Return(Device device, unsigned* milliwatts);
using TotalEnergy = Return(Device device, unsigned long long* millijoules);  // since the driver was loaded

/// NVML updates its count of energy some times a second: shorter stretches would be noise.
constexpr std::chrono::milliseconds kEnergyStretchMin{200};

}  // namespace

struct GpuSensors::Nvml {
  using Clock = std::chrono::steady_clock;

  ~Nvml() {
    if (initialized) (void)shutdown();
    if (library != nullptr) ::dlclose(library);
  }

  bool open(const std::string& pci_bus_id, const char* name) {
    library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    auto* const init = symbol<Init>("nvmlInit_v2");
    auto* const device_by_bus_id = symbol<DeviceByBusId>("nvmlDeviceGetHandleByPciBusId_v2");
    shutdown = symbol<Init>("nvmlShutdown");
    clock_info = symbol<ClockInfo>("nvmlDeviceGetClockInfo");
    power_usage = symbol<PowerUsage>("nvmlDeviceGetPowerUsage");
    total_energy = symbol<TotalEnergy>("nvmlDeviceGetTotalEnergyConsumption");
    if (init == nullptr || device_by_bus_id == nullptr || shutdown == nullptr) return false;
    initialized = init() == kSuccess;
    return initialized && device_by_bus_id(pci_bus_id.c_str(), &device) == kSuccess;
  }

  template <typename Function>
  Function* symbol(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(library, name));
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

  void* library = nullptr;
  bool initialized = false;
  Device device = nullptr;
  Init* shutdown = nullptr;
  ClockInfo* clock_info = nullptr;
  PowerUsage* power_usage = nullptr;
  TotalEnergy* total_energy = nullptr;

  bool has_energy = false;
  unsigned long long energy_before = 0;
  Clock::time_point energy_at;
};

GpuSensors::GpuSensors(const std::string& pci_bus_id, const char* library) : nvml_(std::make_unique<Nvml>()) {
  if (!nvml_->open(pci_bus_id, library)) nvml_.reset();
}
GpuSensors::GpuSensors(GpuSensors&&) noexcept = default;
GpuSensors& GpuSensors::operator=(GpuSensors&&) noexcept = default;
GpuSensors::~GpuSensors() = default;

GpuReading GpuSensors::read() {
  if (!nvml_) return {};
  return {.sm_clock_hertz = nvml_->clock_hertz(kClockSm),
          .memory_clock_hertz = nvml_->clock_hertz(kClockMemory),
          .power_watts = nvml_->power_watts()};
}

}  // namespace tessera::device
