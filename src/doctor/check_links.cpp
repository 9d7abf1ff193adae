#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "doctor/check.h"

namespace tessera::doctor {
namespace {

using device::PeerCopy;

std::string pair_text(int from, int to) { return fmt::format("{}-{}", from, to); }

/// Some of a list, and how many more.
std::string some_of(const std::vector<std::string>& all) {
  constexpr size_t kShown = 6;
  if (all.size() <= kShown) return fmt::format("{}", fmt::join(all, ", "));
  return fmt::format("{} and {} more", fmt::join(all.begin(), all.begin() + kShown, ", "), all.size() - kShown);
}

const char* p2p_reason(int64_t status) {
  constexpr const char* kReasons[] = {"",
                                      "the chipset does not support it",
                                      "the GPU does not support it",
                                      "they are below different root complexes",
                                      "a setting of the driver has turned it off",
                                      "it is not supported",
                                      "the driver does not say why"};
  return kReasons[std::clamp<int64_t>(status, 0, std::ssize(kReasons) - 1)];
}

void p2p(const GpuFacts& facts, std::vector<Finding>& findings) {
  std::map<int64_t, std::vector<std::string>> by_status;
  for (const device::DriverPair& pair : facts.pairs) {
    if (pair.p2p_read) by_status[*pair.p2p_read].push_back(pair_text(pair.from, pair.to));
  }
  for (const auto& [status, pairs] : by_status) {
    if (status == device::kP2pOk) {
      findings.push_back(
          {"p2p", Level::ok, fmt::format("{} pairs of GPUs can read each other's memory", pairs.size()), ""});
    } else {
      findings.push_back(
          {"p2p", Level::warn,
           fmt::format("pairs {} cannot read each other's memory: {}", some_of(pairs), p2p_reason(status)),
           "GPUs below one root complex or switch; GeForce cards have none; nothing is to be done for "
           "one GPU at a time"});
    }
  }
}

void peer_copies(const GpuFacts& facts, std::vector<Finding>& findings) {
  std::map<PeerCopy::Result, std::vector<std::string>> by_result;
  double slowest = 0;
  bool direct = true;
  std::string call;
  for (const PeerCopy& copy : facts.peer_copies) {
    by_result[copy.result].push_back(pair_text(copy.from, copy.to));
    if (copy.result == PeerCopy::Result::equal) {
      slowest = slowest == 0 ? copy.bytes_per_second : std::min(slowest, copy.bytes_per_second);
    }
    direct &= copy.direct;
    if (!copy.error.empty()) call = copy.error;
  }
  const char* mend =
      "turn ACS and the IOMMU's translation off (acs, iommu); until then keep engines from P2P: "
      "NCCL_P2P_DISABLE=1 for those that use NCCL";
  for (const auto& [result, pairs] : by_result) {
    switch (result) {
      case PeerCopy::Result::equal:
        findings.push_back(
            {"p2p-copy", Level::ok,
             fmt::format("{} copies {} arrived as they were sent, the slowest at {}", pairs.size(),
                         direct ? "from GPU to GPU" : "between GPUs, some through the host,", rate_text(slowest)),
             ""});
        break;
      case PeerCopy::Result::differs:
        findings.push_back(
            {"p2p-copy", Level::fail, fmt::format("other data arrived than was sent: {}", some_of(pairs)), mend});
        break;
      case PeerCopy::Result::hangs:
        findings.push_back({"p2p-copy", Level::fail, fmt::format("a copy never arrived: {}", some_of(pairs)), mend});
        break;
      case PeerCopy::Result::failed:
        findings.push_back({"p2p-copy", Level::warn, fmt::format("could not be tried for {}: {}", some_of(pairs), call),
                            "see gpu-memory and compute-mode; then again"});
        break;
    }
  }
  if (facts.peer_copies.empty() && facts.built_with_cuda && facts.cuda_count.value_or(0) > 1) {
    findings.push_back({"p2p-copy", Level::ok, "not tried: a GPU is in use, or nothing was to be measured",
                        "tessera doctor while no GPU works"});
  }
}

/// The ports of switches above GPUs. What a root port redirects goes to the root complex anyway.
std::vector<const PciDevice*> switch_ports(const PciFacts& facts) {
  std::vector<const PciDevice*> found;
  for (const PciDevice& device : facts.devices) {
    if (!device.is_gpu && !device.parent.empty()) found.push_back(&device);
  }
  return found;
}

void acs(const PciFacts& facts, std::vector<Finding>& findings) {
  const auto ports = switch_ports(facts);
  if (ports.empty()) return;
  std::vector<std::string> redirecting;
  for (const PciDevice* port : ports) {
    if ((port->acs_control.value_or(0) & kAcsRedirects) != 0) redirecting.push_back(port->address);
  }
  if (!redirecting.empty()) {
    findings.push_back({"acs", Level::warn,
                        fmt::format("switches send traffic between GPUs up to the CPU: {}", some_of(redirecting)),
                        fmt::format("for p in {}; do sudo setpci -s $p ECAP_ACS+6.w=0000; done (until the next boot), "
                                    "or BIOS: ACS off. Not where virtual machines that nobody trusts own devices",
                                    fmt::join(redirecting, " "))});
  } else if (!std::ranges::all_of(ports, &PciDevice::readable)) {
    findings.push_back({"acs", Level::warn,
                        "not known: without root the kernel shows 64 bytes of the configuration of switches",
                        "sudo tessera doctor"});
  } else {
    findings.push_back({"acs", Level::ok, "switches pass traffic from GPU to GPU", ""});
  }
}

void iommu(const PciFacts& facts, std::vector<Finding>& findings) {
  std::set<std::string> types;
  for (const PciDevice& device : facts.devices) {
    if (device.is_gpu) types.insert(device.iommu_type);
  }
  if (types.empty()) return;
  const auto translating = std::ranges::find_if(types, [](const std::string& type) { return type.starts_with("DMA"); });
  if (translating != types.end()) {
    findings.push_back({"iommu", Level::warn,
                        fmt::format("translates what GPUs send (groups of type {})", *translating),
                        "iommu=pt on the kernel's command line (/etc/default/grub, sudo update-grub, reboot), or BIOS: "
                        "IOMMU off, where no virtual machine is given a device"});
  } else {
    findings.push_back({"iommu", Level::ok, types.contains("identity") ? "passes through (identity)" : "off", ""});
  }
}

void numa(const Facts& facts, const PciFacts& pci, std::vector<Finding>& findings) {
  std::set<int64_t> nodes;
  for (const PciDevice& device : pci.devices) {
    if (device.is_gpu && device.numa_node.value_or(-1) >= 0) nodes.insert(*device.numa_node);
  }
  std::vector<std::string> across;
  for (const device::DriverPair& pair : facts.gpu.pairs) {
    if (pair.from < pair.to && pair.topology.value_or(0) >= device::kTopologySystem) {
      across.push_back(pair_text(pair.from, pair.to));
    }
  }
  if (nodes.size() < 2 && across.empty()) {
    findings.push_back({"gpu-numa", Level::ok, "all GPUs are on one socket", ""});
    return;
  }
  const bool all_nvlink =
      std::ranges::all_of(facts.gpu.gpus, [](const Gpu& gpu) { return gpu.nvlinks.value_or(0) > 0; });
  const std::string distance =
      facts.host.numa_distance_max ? fmt::format(", distance {}", *facts.host.numa_distance_max) : "";
  findings.push_back(
      {"gpu-numa", all_nvlink ? Level::ok : Level::warn,
       fmt::format("GPUs are on {} NUMA nodes{}{}", std::max<size_t>(nodes.size(), 2), distance,
                   all_nvlink ? "; NVLink joins them" : ""),
       all_nvlink ? "numactl --cpunodebind=N --membind=N tessera serve ... --device cuda:N, N as nvidia-smi topo -m"
                  : "move the cards to slots of one socket; for one GPU numactl --cpunodebind=N --membind=N"});
}

void nvlink(const GpuFacts& facts, std::vector<Finding>& findings) {
  int64_t most = 0, least = std::numeric_limits<int64_t>::max();
  for (const Gpu& gpu : facts.gpus) {
    if (!gpu.nvlinks) return;
    most = std::max(most, *gpu.nvlinks);
    least = std::min(least, *gpu.nvlinks);
  }
  if (most == 0) return;
  if (most == least) {
    findings.push_back({"nvlink", Level::ok, fmt::format("{} links up on every GPU", most), ""});
  } else {
    findings.push_back({"nvlink", Level::warn, fmt::format("{} links up on one GPU, {} on another", most, least),
                        "nvidia-smi nvlink -s; check bridges; with NVSwitch: systemctl status nvidia-fabricmanager"});
  }
}

/// The GPUs that the driver knows and the bridges above them: in a container the bus shows those of others too. Where
/// it knows none, all.
PciFacts own_devices(const Facts& facts) {
  std::set<std::string> own;
  for (const PciDevice& device : facts.pci.devices) {
    const bool known = std::ranges::any_of(
        facts.gpu.gpus, [&](const Gpu& gpu) { return sysfs_address(gpu.pci_bus_id) == device.address; });
    if (device.is_gpu && (known || facts.gpu.gpus.empty())) own.insert(device.address);
  }
  for (size_t size = 0; size != own.size();) {
    size = own.size();
    for (const PciDevice& device : facts.pci.devices) {
      if (own.contains(device.address) && !device.parent.empty()) own.insert(device.parent);
    }
  }
  PciFacts found = facts.pci;
  std::erase_if(found.devices, [&](const PciDevice& device) { return !own.contains(device.address); });
  return found;
}

}  // namespace

void check_links(const Facts& facts, std::vector<Finding>& findings) {
  const PciFacts pci = own_devices(facts);
  const auto on_bus = std::ranges::count_if(pci.devices, &PciDevice::is_gpu);
  if (facts.gpu.gpus.size() < 2 && on_bus < 2) return;
  p2p(facts.gpu, findings);
  peer_copies(facts.gpu, findings);
  if (on_bus > 1) {
    acs(pci, findings);
    iommu(pci, findings);
    numa(facts, pci, findings);
  }
  nvlink(facts.gpu, findings);
}

}  // namespace tessera::doctor
