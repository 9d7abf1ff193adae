#include <algorithm>
#include <cctype>

#include "device/device.h"
#include "device/nvml.h"
#include "doctor/gather.h"

namespace tessera::doctor {
namespace {

constexpr const char* kFile = "gpus.json";
constexpr int64_t kMiB = int64_t{1} << 20;
// What is taken of a GPU that may be serving: a context of some hundred megabytes, and these.
constexpr int64_t kReadBytes = 512 * kMiB;
constexpr int64_t kCopyBytes = 8 * kMiB, kCopyBytesFull = 128 * kMiB;
constexpr int64_t kFreeBytesMin = 4096 * kMiB;
constexpr int64_t kBusyPercentMax = 5;

/// The GPU that CUDA means; added where NVML does not know it.
Gpu& find(GpuFacts& facts, const device::GpuFacts& cuda) {
  const std::string address = sysfs_address(cuda.pci_bus_id);
  for (Gpu& gpu : facts.gpus) {
    if (sysfs_address(gpu.pci_bus_id) == address) return gpu;
  }
  Gpu& gpu = facts.gpus.emplace_back();
  gpu.name = cuda.name;
  gpu.pci_bus_id = cuda.pci_bus_id;
  return gpu;
}

/// CUDA's own facts; which of `facts.gpus` each of its GPUs is.
std::vector<size_t> add_cuda(GpuFacts& facts) {
  const auto listed = device::list_gpus();
  facts.built_with_cuda = listed.status().code() != StatusCode::unsupported;
  if (!listed.ok()) {
    if (facts.built_with_cuda) facts.cuda_error = listed.status().message();
    return {};
  }
  facts.cuda_count = static_cast<int64_t>(listed->size());
  std::vector<size_t> places;
  for (const device::GpuFacts& cuda : *listed) {
    Gpu& gpu = find(facts, cuda);
    gpu.compute_major = cuda.compute_major;
    gpu.compute_minor = cuda.compute_minor;
    gpu.smem_per_block_bytes = static_cast<int64_t>(cuda.smem_per_block_bytes_max);
    // NVML has no memory of its own to speak of where the host's is the GPU's.
    if (!gpu.memory_bytes) gpu.memory_bytes = static_cast<int64_t>(cuda.memory_bytes);
    gpu.cuda_index = cuda.index;
    places.push_back(static_cast<size_t>(&gpu - facts.gpus.data()));
  }
  return places;
}

/// Whether a small measurement neither disturbs others nor is disturbed.
bool is_quiet(const Gpu& gpu) {
  const bool has_room =
      !gpu.memory_bytes || !gpu.memory_used_bytes || *gpu.memory_bytes - *gpu.memory_used_bytes >= kFreeBytesMin;
  return has_room && gpu.busy_percent.value_or(0) <= kBusyPercentMax &&
         gpu.compute_mode.value_or(0) != device::kComputeProhibited;
}

void measure(GpuFacts& facts, const std::vector<size_t>& places, bool full) {
  for (size_t i = 0; i < places.size(); ++i) {
    Gpu& gpu = facts.gpus[places[i]];
    if (!is_quiet(gpu) || !device::has_kernels(static_cast<int>(i)).ok()) continue;
    const auto rate = device::measure_read_rate(static_cast<int>(i), size_t{kReadBytes});
    if (rate.ok()) gpu.read_bytes_per_second = static_cast<int64_t>(*rate);
  }
  const bool quiet = std::ranges::all_of(places, [&](size_t place) { return is_quiet(facts.gpus[place]); });
  if (places.size() < 2 || !quiet) return;
  auto copies = device::try_peer_copies(static_cast<size_t>(full ? kCopyBytesFull : kCopyBytes));
  if (!copies.ok()) return;
  for (device::PeerCopy& copy : *copies) {
    copy.from = static_cast<int>(places[static_cast<size_t>(copy.from)]);
    copy.to = static_cast<int>(places[static_cast<size_t>(copy.to)]);
    facts.peer_copies.push_back(copy);
  }
}

GpuFacts ask_driver(const GatherOptions& options) {
  device::GpuInventory inventory = device::read_gpu_inventory(device::nvml::kLibrary);
  GpuFacts facts;
  facts.driver_version = inventory.driver_version;
  facts.cuda_version = inventory.cuda_version;
  facts.error = inventory.error;
  facts.error_text = inventory.error_text;
  facts.pairs = std::move(inventory.pairs);
  for (device::DriverGpu& gpu : inventory.gpus) static_cast<device::DriverGpu&>(facts.gpus.emplace_back()) = gpu;
  const std::vector<size_t> places = add_cuda(facts);
  if (options.measures) measure(facts, places, options.full);
  return facts;
}

}  // namespace

std::string sysfs_address(std::string pci_bus_id) {
  constexpr size_t kLength = std::string_view("0000:41:00.0").size();
  if (pci_bus_id.size() > kLength) pci_bus_id.erase(0, pci_bus_id.size() - kLength);
  for (char& c : pci_bus_id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return pci_bus_id;
}

GpuFacts gather_gpus(const Tree& tree, const GatherOptions& options) {
  if (!options.live) return parse_gpu_facts(tree.read(kFile).value_or("{}"));
  GpuFacts facts = ask_driver(options);
  tree.record(kFile, gpu_facts_json(facts));
  return facts;
}

}  // namespace tessera::doctor
