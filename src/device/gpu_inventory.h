#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::device {

using Number = std::optional<int64_t>;  // what the driver does not say is left out

/// What NVML says of one GPU at a moment. Nothing that tells this GPU from another of its kind: no serial number, no
/// UUID.
struct DriverGpu {
  std::string name;
  std::string pci_bus_id;  // "00000000:19:00.0"
  Number compute_major, compute_minor;
  Number memory_bytes, memory_used_bytes;
  Number bar1_bytes;                                // the window through which the host and other GPUs see memory
  Number ecc, ecc_pending, ecc_errors_uncorrected;  // switches are 0 or 1, here and below
  Number pcie_generation, pcie_generation_max;      // max: of card and slot together
  Number pcie_generation_card;                      // of the card alone
  Number pcie_width, pcie_width_max;
  Number power_limit_milliwatts, power_default_milliwatts, power_milliwatts;
  Number sm_clock_mhz, sm_clock_mhz_max, memory_clock_mhz, memory_clock_mhz_max;
  Number throttle_reasons;  // kThrottle...
  Number persistence, mig, compute_mode;
  Number celsius, busy_percent, performance_state;
  Number nvlinks;  // active ones
};

// nvmlClocksEventReasons
inline constexpr int64_t kThrottleClocksSetting = 0x2, kThrottlePowerCap = 0x4, kThrottleHardware = 0x8,
                         kThrottleThermalSoftware = 0x20, kThrottleThermalHardware = 0x40, kThrottlePowerBrake = 0x80;
// nvmlComputeMode_t
inline constexpr int64_t kComputeProhibited = 2, kComputeExclusive = 3;
// nvmlGpuTopologyLevel_t: what lies between two GPUs.
inline constexpr int kTopologySwitches = 20, kTopologyHostBridge = 30, kTopologyNode = 40, kTopologySystem = 50;
// nvmlGpuP2PStatus_t
inline constexpr int kP2pOk = 0;

/// Numbers of DriverGpu by name.
struct DriverNumber {
  const char* name;
  Number DriverGpu::*value;
};
std::span<const DriverNumber> driver_numbers();

/// Two GPUs, counted as in `gpus`.
struct DriverPair {
  int from = 0, to = 0;
  Number p2p_read;  // nvmlGpuP2PStatus_t
  Number topology;  // nvmlGpuTopologyLevel_t
};

struct GpuInventory {
  std::string driver_version;  // "580.95.05"
  int cuda_version = 0;        // that the driver serves: 13000 is 13.0
  int error = 0;               // nvml::Return; not 0: nothing else is there
  std::string error_text;
  std::vector<DriverGpu> gpus;  // in NVML's order, which is that of the bus
  std::vector<DriverPair> pairs;
};

/// Asks NVML. Changes nothing, and takes some tens of milliseconds a GPU.
GpuInventory read_gpu_inventory(const char* library);

}  // namespace tessera::device
