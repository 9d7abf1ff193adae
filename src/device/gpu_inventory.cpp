#include "device/gpu_inventory.h"

#include <array>

#include "device/nvml.h"

namespace tessera::device {
namespace {

using nvml::Device;
using nvml::kSuccess;
using nvml::Library;
using nvml::Return;

constexpr unsigned kNvlinksMax = 18;

constexpr std::array kNumbers = {
    DriverNumber{"compute_major", &DriverGpu::compute_major},
    DriverNumber{"compute_minor", &DriverGpu::compute_minor},
    DriverNumber{"memory_bytes", &DriverGpu::memory_bytes},
    DriverNumber{"memory_used_bytes", &DriverGpu::memory_used_bytes},
    DriverNumber{"bar1_bytes", &DriverGpu::bar1_bytes},
    DriverNumber{"ecc", &DriverGpu::ecc},
    DriverNumber{"ecc_pending", &DriverGpu::ecc_pending},
    DriverNumber{"ecc_errors_uncorrected", &DriverGpu::ecc_errors_uncorrected},
    DriverNumber{"pcie_generation", &DriverGpu::pcie_generation},
    DriverNumber{"pcie_generation_max", &DriverGpu::pcie_generation_max},
    DriverNumber{"pcie_generation_card", &DriverGpu::pcie_generation_card},
    DriverNumber{"pcie_width", &DriverGpu::pcie_width},
    DriverNumber{"pcie_width_max", &DriverGpu::pcie_width_max},
    DriverNumber{"power_limit_milliwatts", &DriverGpu::power_limit_milliwatts},
    DriverNumber{"power_default_milliwatts", &DriverGpu::power_default_milliwatts},
    DriverNumber{"power_milliwatts", &DriverGpu::power_milliwatts},
    DriverNumber{"sm_clock_mhz", &DriverGpu::sm_clock_mhz},
    DriverNumber{"sm_clock_mhz_max", &DriverGpu::sm_clock_mhz_max},
    DriverNumber{"memory_clock_mhz", &DriverGpu::memory_clock_mhz},
    DriverNumber{"memory_clock_mhz_max", &DriverGpu::memory_clock_mhz_max},
    DriverNumber{"throttle_reasons", &DriverGpu::throttle_reasons},
    DriverNumber{"persistence", &DriverGpu::persistence},
    DriverNumber{"mig", &DriverGpu::mig},
    DriverNumber{"compute_mode", &DriverGpu::compute_mode},
    DriverNumber{"celsius", &DriverGpu::celsius},
    DriverNumber{"busy_percent", &DriverGpu::busy_percent},
    DriverNumber{"performance_state", &DriverGpu::performance_state},
    DriverNumber{"nvlinks", &DriverGpu::nvlinks},
};

// nvmlMemory_t, nvmlBAR1Memory_t, nvmlUtilization_t, nvmlPciInfo_t
struct Memory {
  unsigned long long total, free, used;
};
struct Bar1 {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

/// Questions about one GPU whose answer is one number, or two.
class Asker {
 public:
  Asker(const Library& library, Device device) : library_(library), device_(device) {}

  template <typename T>
  bool ask(const char* name, T& answer) const {
    return library_.call(library_.symbol<Return(Device, T*)>(name), device_, &answer) == kSuccess;
  }
  [[nodiscard]] Number number(const char* name) const {
    unsigned value = 0;
    return ask(name, value) ? Number(value) : std::nullopt;
  }
  /// The first argument of the question is a number, as the kind of a clock.
  [[nodiscard]] Number number(const char* name, unsigned kind) const {
    unsigned value = 0;
    const auto function = library_.symbol<Return(Device, unsigned, unsigned*)>(name);
    return library_.call(function, device_, kind, &value) == kSuccess ? Number(value) : std::nullopt;
  }
  void two(const char* name, Number& first, Number& second) const {
    int a = 0, b = 0;
    if (library_.call(library_.symbol<Return(Device, int*, int*)>(name), device_, &a, &b) != kSuccess) return;
    first = a;
    second = b;
  }
  [[nodiscard]] Number uncorrected_errors() const {
    constexpr int kUncorrected = 1, kSinceBoot = 0;
    unsigned long long count = 0;
    const auto function = library_.symbol<Return(Device, int, int, unsigned long long*)>("nvmlDeviceGetTotalEccErrors");
    const Return code = library_.call(function, device_, kUncorrected, kSinceBoot, &count);
    return code == kSuccess ? Number(static_cast<int64_t>(count)) : std::nullopt;
  }
  [[nodiscard]] Number throttle_reasons() const {
    unsigned long long reasons = 0;  // older drivers have the second name only
    if (ask("nvmlDeviceGetCurrentClocksEventReasons", reasons) ||
        ask("nvmlDeviceGetCurrentClocksThrottleReasons", reasons)) {
      return static_cast<int64_t>(reasons);
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string name() const {
    std::array<char, 96> text{};
    const auto function = library_.symbol<Return(Device, char*, unsigned)>("nvmlDeviceGetName");
    return library_.call(function, device_, text.data(), unsigned{text.size() - 1}) == kSuccess ? text.data() : "?";
  }

 private:
  const Library& library_;
  Device device_;
};

Number active_nvlinks(const Asker& gpu) {
  Number active;
  for (unsigned link = 0; link < kNvlinksMax; ++link) {
    const Number state = gpu.number("nvmlDeviceGetNvLinkState", link);
    if (state) active = active.value_or(0) + (*state == 1 ? 1 : 0);
  }
  return active;
}

DriverGpu read_gpu(const Library& library, Device device) {
  const Asker ask(library, device);
  DriverGpu gpu;
  gpu.name = ask.name();
  if (PciInfo pci{}; ask.ask("nvmlDeviceGetPciInfo_v3", pci)) gpu.pci_bus_id = pci.bus_id;
  if (Memory memory{}; ask.ask("nvmlDeviceGetMemoryInfo", memory)) {
    gpu.memory_bytes = static_cast<int64_t>(memory.total);
    gpu.memory_used_bytes = static_cast<int64_t>(memory.used);
  }
  if (Bar1 bar1{}; ask.ask("nvmlDeviceGetBAR1MemoryInfo", bar1)) gpu.bar1_bytes = static_cast<int64_t>(bar1.total);
  if (Utilization busy{}; ask.ask("nvmlDeviceGetUtilizationRates", busy)) gpu.busy_percent = busy.gpu;
  ask.two("nvmlDeviceGetCudaComputeCapability", gpu.compute_major, gpu.compute_minor);
  ask.two("nvmlDeviceGetEccMode", gpu.ecc, gpu.ecc_pending);
  Number mig_pending;
  ask.two("nvmlDeviceGetMigMode", gpu.mig, mig_pending);
  gpu.ecc_errors_uncorrected = ask.uncorrected_errors();
  gpu.pcie_generation = ask.number("nvmlDeviceGetCurrPcieLinkGeneration");
  gpu.pcie_generation_max = ask.number("nvmlDeviceGetMaxPcieLinkGeneration");
  gpu.pcie_generation_card = ask.number("nvmlDeviceGetGpuMaxPcieLinkGeneration");
  gpu.pcie_width = ask.number("nvmlDeviceGetCurrPcieLinkWidth");
  gpu.pcie_width_max = ask.number("nvmlDeviceGetMaxPcieLinkWidth");
  gpu.power_limit_milliwatts = ask.number("nvmlDeviceGetEnforcedPowerLimit");
  gpu.power_default_milliwatts = ask.number("nvmlDeviceGetPowerManagementDefaultLimit");
  gpu.power_milliwatts = ask.number("nvmlDeviceGetPowerUsage");
  gpu.sm_clock_mhz = ask.number("nvmlDeviceGetClockInfo", nvml::kClockSm);
  gpu.sm_clock_mhz_max = ask.number("nvmlDeviceGetMaxClockInfo", nvml::kClockSm);
  gpu.memory_clock_mhz = ask.number("nvmlDeviceGetClockInfo", nvml::kClockMemory);
  gpu.memory_clock_mhz_max = ask.number("nvmlDeviceGetMaxClockInfo", nvml::kClockMemory);
  gpu.throttle_reasons = ask.throttle_reasons();
  gpu.persistence = ask.number("nvmlDeviceGetPersistenceMode");
  gpu.compute_mode = ask.number("nvmlDeviceGetComputeMode");
  gpu.celsius = ask.number("nvmlDeviceGetTemperature", 0);
  gpu.performance_state = ask.number("nvmlDeviceGetPerformanceState");
  gpu.nvlinks = active_nvlinks(ask);
  return gpu;
}

void read_pairs(const Library& library, const std::vector<Device>& devices, std::vector<DriverPair>& pairs) {
  constexpr int kRead = 0;  // nvmlGpuP2PCapsIndex_t
  const auto p2p = library.symbol<Return(Device, Device, int, int*)>("nvmlDeviceGetP2PStatus");
  const auto ancestor = library.symbol<Return(Device, Device, int*)>("nvmlDeviceGetTopologyCommonAncestor");
  for (int from = 0; from < static_cast<int>(devices.size()); ++from) {
    for (int to = 0; to < static_cast<int>(devices.size()); ++to) {
      if (from == to) continue;
      Device const a = devices[static_cast<size_t>(from)], b = devices[static_cast<size_t>(to)];
      DriverPair& pair = pairs.emplace_back(DriverPair{.from = from, .to = to, .p2p_read = {}, .topology = {}});
      int answer = 0;
      if (library.call(p2p, a, b, kRead, &answer) == kSuccess) pair.p2p_read = answer;
      if (library.call(ancestor, a, b, &answer) == kSuccess) pair.topology = answer;
    }
  }
}

}  // namespace

std::span<const DriverNumber> driver_numbers() { return kNumbers; }

GpuInventory read_gpu_inventory(const char* name) {
  const Library library(name);
  GpuInventory inventory;
  inventory.error = library.opened();
  if (inventory.error != kSuccess) {
    inventory.error_text = library.error_text(inventory.error);
    return inventory;
  }
  std::array<char, 80> version{};
  const auto driver = library.symbol<Return(char*, unsigned)>("nvmlSystemGetDriverVersion");
  if (library.call(driver, version.data(), unsigned{version.size() - 1}) == kSuccess) {
    inventory.driver_version = version.data();
  }
  (void)library.call(library.symbol<Return(int*)>("nvmlSystemGetCudaDriverVersion_v2"), &inventory.cuda_version);
  unsigned count = 0;
  (void)library.call(library.symbol<Return(unsigned*)>("nvmlDeviceGetCount_v2"), &count);
  const auto by_index = library.symbol<Return(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2");
  std::vector<Device> devices;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (library.call(by_index, i, &device) != kSuccess) continue;
    devices.push_back(device);
    inventory.gpus.push_back(read_gpu(library, device));
  }
  read_pairs(library, devices, inventory.pairs);
  return inventory;
}

}  // namespace tessera::device
