#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/byte_text.h"
#include "doctor/check.h"

namespace tessera::doctor {
namespace {

constexpr int kCoresMin = 4;

std::string bytes_text(int64_t bytes) { return format_bytes(static_cast<uint64_t>(std::max<int64_t>(bytes, 0))); }

void cpu(const HostFacts& facts, std::vector<Finding>& findings) {
  if (facts.cores_online > 0) {
    const std::string found = facts.cores_allowed == facts.cores_online
                                  ? fmt::format("{} cores", facts.cores_online)
                                  : fmt::format("{} of {} cores", facts.cores_allowed, facts.cores_online);
    const std::string model = facts.cpu.empty() ? "" : fmt::format(" of {}", facts.cpu);
    const bool few = facts.cores_allowed < kCoresMin;
    findings.push_back(
        {"cpu-cores", few ? Level::warn : Level::ok, found + model,
         few ? fmt::format("give it {} cores: taskset, the container's cpuset, or a larger machine", kCoresMin) : ""});
  }
  if (facts.machine == "aarch64") {
    findings.push_back({"cpu-instructions", Level::ok, "64-bit Arm", ""});
  } else {
    findings.push_back({"cpu-instructions", facts.avx2 ? Level::ok : Level::warn,
                        facts.avx512 ? "AVX-512"
                        : facts.avx2 ? "AVX2"
                                     : "neither AVX2 nor AVX-512",
                        facts.avx2 ? "" : "a newer CPU; in a virtual machine: the CPU type host, not kvm64 or qemu64"});
  }
  if (facts.governor.empty()) return;
  // Drivers of the CPU's own power states go up within a millisecond under the governor "powersave".
  const bool own_states = facts.scaling_driver.find("pstate") != std::string::npos;
  const bool slow = facts.governor == "powersave" && !own_states;
  findings.push_back({"cpu-governor", slow ? Level::warn : Level::ok,
                      fmt::format("{} ({})", facts.governor, facts.scaling_driver),
                      slow ? "sudo cpupower frequency-set -g performance" : ""});
}

void memory(const HostFacts& facts, std::vector<Finding>& findings) {
  if (facts.memory_bytes && facts.memory_available_bytes) {
    const bool little = *facts.memory_available_bytes < (int64_t{4} << 30);
    findings.push_back(
        {"memory", little ? Level::warn : Level::ok,
         fmt::format("{}, {} available", bytes_text(*facts.memory_bytes), bytes_text(*facts.memory_available_bytes)),
         little ? "end what takes it (ps aux --sort -rss | head), or raise the container's limit" : ""});
  }
  if (facts.read_bytes_per_second) {
    constexpr int64_t kRateMin = 10'000'000'000;  // half a channel of DDR4
    const bool slow = *facts.read_bytes_per_second < kRateMin;
    findings.push_back(
        {"memory-bandwidth", slow ? Level::warn : Level::ok,
         fmt::format("{} read by all threads, measured", rate_text(static_cast<double>(*facts.read_bytes_per_second))),
         slow ? "measure again while nothing else runs; a module in each channel (sudo dmidecode -t memory), their "
                "profile in the BIOS; a machine of one's own"
              : ""});
  }
  if (facts.swap_bytes) {
    constexpr int64_t kUsedMax = int64_t{1} << 30;
    const bool used = facts.swap_used_bytes.value_or(0) > kUsedMax;
    findings.push_back(
        {"swap", used ? Level::warn : Level::ok,
         *facts.swap_bytes == 0 ? "none"
                                : fmt::format("{}, {} in use", bytes_text(*facts.swap_bytes),
                                              bytes_text(facts.swap_used_bytes.value_or(0))),
         used ? "end what takes the memory; sudo swapoff -a && sudo swapon -a; sudo sysctl vm.swappiness=1" : ""});
  }
  if (!facts.transparent_huge_pages.empty()) {
    const bool never = facts.transparent_huge_pages == "never";
    findings.push_back({"huge-pages", never ? Level::warn : Level::ok,
                        fmt::format("transparent huge pages: {}", facts.transparent_huge_pages),
                        never ? "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" : ""});
  }
}

void limits(const Facts& all, std::vector<Finding>& findings) {
  const HostFacts& facts = all.host;
  if (facts.has_limits) {
    constexpr int64_t kLockedMin = 8 << 20, kFilesMin = 4096;
    const bool little = facts.locked_bytes_max && *facts.locked_bytes_max < kLockedMin && all.gpu.gpus.size() > 1;
    findings.push_back(
        {"locked-memory", little ? Level::warn : Level::ok,
         facts.locked_bytes_max ? bytes_text(*facts.locked_bytes_max) : "no limit",
         little ? "ulimit -l unlimited; docker run --ulimit memlock=-1; LimitMEMLOCK=infinity in the unit" : ""});
    const bool few = facts.open_files_max && *facts.open_files_max < kFilesMin;
    findings.push_back(
        {"open-files", few ? Level::warn : Level::ok,
         facts.open_files_max ? fmt::format("up to {}", *facts.open_files_max) : "no limit",
         few ? "ulimit -Hn 65536 as root, docker run --ulimit nofile=65536, LimitNOFILE=65536 in the unit" : ""});
  }
  if (facts.has_shared_memory) {
    constexpr int64_t kSharedMin = int64_t{1} << 30;
    const bool little = facts.shared_memory_bytes && *facts.shared_memory_bytes < kSharedMin && all.gpu.gpus.size() > 1;
    findings.push_back(
        {"shared-memory", little ? Level::warn : Level::ok,
         facts.shared_memory_bytes ? bytes_text(*facts.shared_memory_bytes) : "half of the memory",
         little ? "for engines of several processes beside this one: docker run --ipc=host, or --shm-size 16g" : ""});
  }
}

void container(const HostFacts& facts, std::vector<Finding>& findings) {
  if (!facts.cpu_quota && !facts.container_memory_bytes) return;
  std::string found;
  if (facts.cpu_quota) found = fmt::format("{:.3g} cores' time", *facts.cpu_quota);
  if (facts.container_memory_bytes) {
    found += fmt::format("{}{} of memory", found.empty() ? "" : ", ", bytes_text(*facts.container_memory_bytes));
  }
  // Threads are as many as cores by default; a quota of version 1 is not looked at when they are counted.
  const bool unseen = facts.cpu_quota && facts.cpu_quota_v1 && *facts.cpu_quota < facts.cores_allowed;
  const bool few = facts.cpu_quota && *facts.cpu_quota < kCoresMin && *facts.cpu_quota < facts.cores_allowed;
  const auto threads = static_cast<int>(std::max(1.0, std::floor(facts.cpu_quota.value_or(1))));
  findings.push_back({"container-limits", unseen || few ? Level::warn : Level::ok, found,
                      unseen
                          ? fmt::format("--threads {} for models on the CPU; or a cpuset in place of a quota", threads)
                      : few ? fmt::format("docker run --cpus {}, or resources.limits.cpu of the pod", kCoresMin)
                            : ""});
}

void kernel(const HostFacts& facts, std::vector<Finding>& findings) {
  if (!facts.clock_source.empty()) {
    constexpr const char* kSlow[] = {"hpet", "acpi_pm", "jiffies", "pit", "refined-jiffies"};
    const bool slow = std::ranges::find(kSlow, facts.clock_source) != std::end(kSlow);
    findings.push_back(
        {"clock-source", slow ? Level::warn : Level::ok, facts.clock_source,
         slow ? "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource; if the kernel "
                "refuses it (dmesg | grep -i tsc), update the BIOS"
              : ""});
  }
  if (facts.numa_nodes > 1) {
    findings.push_back(
        {"numa", facts.numa_balancing ? Level::warn : Level::ok,
         fmt::format("{} nodes, automatic balancing {}", facts.numa_nodes, facts.numa_balancing ? "on" : "off"),
         facts.numa_balancing ? "sudo sysctl kernel.numa_balancing=0" : ""});
  }
}

}  // namespace

void check_host(const Facts& facts, std::vector<Finding>& findings) {
  cpu(facts.host, findings);
  memory(facts.host, findings);
  limits(facts, findings);
  container(facts.host, findings);
  kernel(facts.host, findings);
}

}  // namespace tessera::doctor
