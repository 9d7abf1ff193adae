#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "doctor/per_gpu.h"

namespace tessera::doctor {
namespace {

using device::kThrottleClocksSetting;
using device::kThrottleHardware;
using device::kThrottlePowerBrake;
using device::kThrottleThermalHardware;
using device::kThrottleThermalSoftware;

constexpr int64_t kBusyPercent = 20;  // from here on an idle GPU's savings are no excuse

/// An idle GPU lowers its link's generation, never its width. So the width that is, and the generation that could be,
/// are judged; the generation that is only where the GPU works.
std::optional<OfGpu> pcie_link(const Gpu& gpu, const Facts& facts) {
  if (shares_memory(gpu) || facts.host.wsl || !gpu.pcie_width || !gpu.pcie_generation_max) return std::nullopt;
  int64_t width_max = gpu.pcie_width_max.value_or(*gpu.pcie_width);
  for (const PciDevice& device : facts.pci.devices) {  // the card's own, which the slot does not lower
    if (device.address == sysfs_address(gpu.pci_bus_id)) width_max = std::max(width_max, device.width_max.value_or(0));
  }
  const int64_t best = std::max(*gpu.pcie_generation_max, gpu.pcie_generation_card.value_or(0));
  const std::string found = fmt::format("generation {} x{}", *gpu.pcie_generation_max, *gpu.pcie_width);
  if (*gpu.pcie_width < width_max) {
    return OfGpu{
        Level::warn, fmt::format("{}, and the card has x{}", found, width_max),
        "the slot that the board's manual gives all lanes; reseat the card; check risers and bifurcation in the BIOS"};
  }
  if (*gpu.pcie_generation_max < best) {
    return OfGpu{Level::warn, fmt::format("{}, and the card has generation {}", found, best),
                 "a slot of the CPU's; BIOS: link speed of the slot to auto; risers and cables of that generation"};
  }
  if (gpu.busy_percent.value_or(0) >= kBusyPercent && gpu.pcie_generation &&
      *gpu.pcie_generation < *gpu.pcie_generation_max) {
    return OfGpu{Level::warn, fmt::format("{}, at generation {} while it works", found, *gpu.pcie_generation),
                 "reseat the card; sudo dmesg | grep -i aer shows errors of the link"};
  }
  const bool rests = gpu.pcie_generation && *gpu.pcie_generation < *gpu.pcie_generation_max;
  return OfGpu{Level::ok,
               rests ? fmt::format("{}; generation {} while it is idle", found, *gpu.pcie_generation) : found, ""};
}

std::optional<OfGpu> power_limit(const Gpu& gpu) {
  if (!gpu.power_limit_milliwatts || !gpu.power_default_milliwatts) return std::nullopt;
  const int64_t limit = *gpu.power_limit_milliwatts / 1000, usual = *gpu.power_default_milliwatts / 1000;
  if (limit >= usual) return OfGpu{Level::ok, fmt::format("{} W", limit), ""};
  return OfGpu{Level::warn, fmt::format("{} W, by default {}", limit, usual),
               fmt::format("sudo nvidia-smi -pl {}, if supply and cooling allow it", usual)};
}

std::optional<OfGpu> clocks(const Gpu& gpu) {
  if (!gpu.throttle_reasons) return std::nullopt;
  struct Reason {
    int64_t bits;
    const char *found, *mend;
  };
  constexpr Reason kReasons[] = {
      {kThrottleThermalSoftware | kThrottleThermalHardware, "held back by its heat",
       "air: clean filters, more space between cards, the server's fans; nvidia-smi -q -d TEMPERATURE"},
      {kThrottlePowerBrake, "held back by the power supply's brake signal", "check the supply and its cables"},
      {kThrottleHardware, "held back by its hardware", "nvidia-smi -q -d PERFORMANCE; check power cables and cooling"},
      {kThrottleClocksSetting, "held at clocks that somebody has set", "sudo nvidia-smi -rgc; sudo nvidia-smi -rac"},
  };
  const std::string heat = gpu.celsius ? fmt::format(" ({} C)", *gpu.celsius) : "";
  for (const Reason& reason : kReasons) {
    if ((*gpu.throttle_reasons & reason.bits) != 0) return OfGpu{Level::warn, reason.found + heat, reason.mend};
  }
  if (!gpu.sm_clock_mhz_max || !gpu.memory_clock_mhz_max) return OfGpu{Level::ok, "nothing holds it back", ""};
  return OfGpu{Level::ok,
               fmt::format("nothing holds it back; up to {} MHz, memory {} MHz", *gpu.sm_clock_mhz_max,
                           *gpu.memory_clock_mhz_max),
               ""};
}

std::optional<OfGpu> persistence(const Gpu& gpu, const Facts& facts) {
  if (!gpu.persistence || facts.host.wsl) return std::nullopt;
  if (*gpu.persistence != 0) return OfGpu{Level::ok, "on", ""};
  return OfGpu{Level::warn, "off", "sudo systemctl enable --now nvidia-persistenced, or sudo nvidia-smi -pm 1"};
}

std::optional<OfGpu> mig(const Gpu& gpu) {
  if (!gpu.mig) return std::nullopt;
  if (*gpu.mig == 0) return OfGpu{Level::ok, "off", ""};
  return OfGpu{Level::warn, "on: a program sees one instance", "sudo nvidia-smi -mig 0, if the whole GPU is wanted"};
}

std::optional<OfGpu> compute_mode(const Gpu& gpu) {
  if (!gpu.compute_mode) return std::nullopt;
  if (*gpu.compute_mode == device::kComputeProhibited) {
    return OfGpu{Level::fail, "compute is prohibited", "sudo nvidia-smi -c DEFAULT"};
  }
  if (*gpu.compute_mode == device::kComputeExclusive) {
    return OfGpu{Level::warn, "exclusive: one program at a time", "sudo nvidia-smi -c DEFAULT"};
  }
  return OfGpu{Level::ok, "shared", ""};
}

void mixed(const Facts& all, std::vector<Finding>& findings) {
  const GpuFacts& facts = all.gpu;
  if (facts.gpus.size() < 2) return;
  std::vector<std::string> kinds;
  for (const Gpu& gpu : facts.gpus) {
    if (std::ranges::find(kinds, gpu.name) == kinds.end()) kinds.push_back(gpu.name);
  }
  const bool by_bus = std::ranges::find(all.environment.variables,
                                        std::pair<std::string, std::string>("CUDA_DEVICE_ORDER", "PCI_BUS_ID")) !=
                      all.environment.variables.end();
  if (kinds.size() == 1) {
    findings.push_back({"mixed-gpus", Level::ok, fmt::format("{} x {}", facts.gpus.size(), kinds.front()), ""});
  } else if (by_bus) {
    findings.push_back({"mixed-gpus", Level::ok, fmt::format("{}; counted by their bus", fmt::join(kinds, ", ")), ""});
  } else {
    findings.push_back({"mixed-gpus", Level::warn, fmt::format("{}", fmt::join(kinds, ", ")),
                        "export CUDA_DEVICE_ORDER=PCI_BUS_ID, so that cuda:N is nvidia-smi's GPU N; --device cuda:N"});
  }
}

}  // namespace

void check_gpu_state(const Facts& facts, std::vector<Finding>& findings) {
  for_each_gpu("pcie-link", facts.gpu, findings, [&](const Gpu& gpu) { return pcie_link(gpu, facts); });
  for_each_gpu("power-limit", facts.gpu, findings, power_limit);
  for_each_gpu("clocks", facts.gpu, findings, clocks);
  for_each_gpu("persistence", facts.gpu, findings, [&](const Gpu& gpu) { return persistence(gpu, facts); });
  for_each_gpu("mig", facts.gpu, findings, mig);
  for_each_gpu("compute-mode", facts.gpu, findings, compute_mode);
  mixed(facts, findings);
}

}  // namespace tessera::doctor
