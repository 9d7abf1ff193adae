#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.h"

namespace tessera::doctor {

/// A machine with two GPUs below a switch, a model and nothing to say against.
inline Facts healthy() {
  constexpr int64_t kGb = 1'000'000'000;
  Facts facts;
  facts.gpu.driver_version = "580.95.05";
  facts.gpu.cuda_version = 13000;
  facts.gpu.built_with_cuda = true;
  facts.gpu.cuda_count = 2;
  for (int i = 0; i < 2; ++i) {
    Gpu& gpu = facts.gpu.gpus.emplace_back();
    gpu.name = "NVIDIA RTX PRO 6000 Blackwell Server Edition";
    gpu.pci_bus_id = i == 0 ? "00000000:03:00.0" : "00000000:04:00.0";
    gpu.compute_major = 12;
    gpu.compute_minor = 0;
    gpu.memory_bytes = 102 * kGb;
    gpu.memory_used_bytes = 0;
    gpu.bar1_bytes = int64_t{128} << 30;
    gpu.ecc = gpu.ecc_pending = 1;
    gpu.ecc_errors_uncorrected = 0;
    gpu.pcie_generation = 1;  // idle
    gpu.pcie_generation_max = gpu.pcie_generation_card = 5;
    gpu.pcie_width = gpu.pcie_width_max = 16;
    gpu.power_limit_milliwatts = gpu.power_default_milliwatts = 600'000;
    gpu.sm_clock_mhz_max = 2430;
    gpu.memory_clock_mhz_max = 12481;
    gpu.throttle_reasons = 1;
    gpu.persistence = 1;
    gpu.mig = gpu.compute_mode = gpu.busy_percent = 0;
    gpu.nvlinks = 4;
    gpu.smem_per_block_bytes = 101'376;
    gpu.read_bytes_per_second = 1600 * kGb;
    gpu.cuda_index = i;
    facts.gpu.pairs.push_back({.from = i, .to = 1 - i, .p2p_read = 0, .topology = 10});
    facts.gpu.peer_copies.push_back({.from = i,
                                     .to = 1 - i,
                                     .direct = true,
                                     .result = device::PeerCopy::Result::equal,
                                     .bytes_per_second = 5e10,
                                     .error = {}});
  }
  const auto add = [&](const char* address, const char* parent, bool is_gpu) {
    PciDevice& device = facts.pci.devices.emplace_back();
    device.address = address;
    device.parent = parent;
    device.is_gpu = is_gpu;
    device.readable = true;
    device.width_max = 16;
    device.numa_node = 0;
    device.iommu_type = "identity";
    if (!is_gpu) device.acs_control = 0x1;
  };
  add("0000:00:01.1", "", false);
  add("0000:01:00.0", "0000:00:01.1", false);
  add("0000:02:00.0", "0000:01:00.0", false);
  add("0000:02:01.0", "0000:01:00.0", false);
  add("0000:03:00.0", "0000:02:00.0", true);
  add("0000:04:00.0", "0000:02:01.0", true);

  HostFacts& host = facts.host;
  host.machine = "x86_64";
  host.cpu = "AMD EPYC";
  host.avx2 = host.avx512 = true;
  host.cores_online = host.cores_allowed = 64;
  host.cpu_quota = 32;
  host.governor = "performance";
  host.scaling_driver = "acpi-cpufreq";
  host.clock_source = "tsc";
  host.memory_bytes = 512 * kGb;
  host.memory_available_bytes = 500 * kGb;
  host.container_memory_bytes = 500 * kGb;
  host.swap_bytes = 8 * kGb;
  host.swap_used_bytes = 0;
  host.transparent_huge_pages = "madvise";
  host.locked_bytes_max = 8 << 20;
  host.open_files_max = 65536;
  host.has_limits = host.has_shared_memory = true;
  host.shared_memory_bytes = 16 * kGb;
  host.numa_nodes = 2;
  host.read_bytes_per_second = 300 * kGb;

  facts.environment.variables = {{"CUDA_VISIBLE_DEVICES", "0,1"}, {"NCCL_DEBUG", "set"}};
  facts.places = PlaceFacts{
      .cache_directory = "/cache", .cache_error = {}, .cache_free_bytes = kGb, .port = 8000, .port_error = {}};

  ModelFacts& model = facts.model.emplace();
  model.name = "model";
  model.inspection.emplace();
  model.inspection->has_tokenizer = true;
  model.inspection->profile = "P1";
  model.inspection->parts = {{.kind = model::TensorKind::routed_expert,
                              .format = "NVFP4",
                              .tensors = 9,
                              .elements = 9,
                              .bytes = 20'000'000'000}};
  model.step_bytes.weights.fixed_bytes = 3e9;
  model.step_bytes.cache = {.kv_block = 1 << 20, .state_slot = 1 << 20};
  model.fits.push_back({.device = "cuda:0", .error = {}, .report = {}});
  model.kernels = PlannedKernels{.launches = 400, .names = {"rows"}, .error = {}};
  model.tuned_tiles = 48;
  model.disk = {
      .file_system = "ext4", .free_bytes = 100 * kGb, .read_bytes_per_second = 5 * kGb, .checkpoint_bytes = 20 * kGb};
  return facts;
}

inline std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += "(" + std::to_string(static_cast<int>(finding.level)) + ") " + std::string(finding.check) + ": " +
            finding.found + "\n";
  }
  return text;
}

/// The first of a check; null: there is none.
inline const Finding* find(const std::vector<Finding>& findings, std::string_view check) {
  const auto found = std::ranges::find(findings, check, &Finding::check);
  return found == findings.end() ? nullptr : &*found;
}

}  // namespace tessera::doctor
