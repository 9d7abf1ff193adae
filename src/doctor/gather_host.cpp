#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "doctor/gather.h"
#include "engine/host_memory.h"

namespace tessera::doctor {
namespace {

const std::string kCpu = "sys/devices/system/cpu/";

/// What follows the colon of "key : value"; empty without one.
std::string after_colon(const std::string& line) {
  const size_t colon = line.find(':');
  if (colon == std::string::npos) return {};
  const size_t begin = line.find_first_not_of(" \t", colon + 1);
  return begin == std::string::npos ? std::string() : line.substr(begin);
}

/// Cores in "0-15,32".
int count_cores(const std::string& list) {
  int count = 0;
  for (size_t at = 0; at < list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const std::string part = list.substr(at, comma - at);
    const size_t dash = part.find('-');
    const auto first = leading_number(part);
    const auto last = dash == std::string::npos ? first : leading_number(part.substr(dash + 1));
    if (first && last && *last >= *first) count += static_cast<int>(*last - *first + 1);
    at = comma + 1;
  }
  return count;
}

void read_cpu(const Tree& tree, HostFacts& facts) {
  facts.machine = "x86_64";
  for (const std::string& line :
       tree.read_lines("proc/cpuinfo", {"model name", "flags", "CPU implementer", "CPU part", "Features"})) {
    if (line.starts_with("model name")) facts.cpu = after_colon(line);
    if (line.starts_with("CPU implementer")) facts.machine = "aarch64";
    if (!line.starts_with("flags")) continue;
    const auto flags = words_of(after_colon(line));
    const auto has = [&](const char* flag) { return std::ranges::find(flags, flag) != flags.end(); };
    facts.avx2 = has("avx2");
    facts.avx512 = has("avx512f") && has("avx512bw") && has("avx512vl");
  }
  facts.cores_online = count_cores(tree.read(kCpu + "online").value_or(""));
  facts.cores_allowed = facts.cores_online;
  for (const std::string& line : tree.read_lines("proc/self/status", {"Cpus_allowed_list"})) {
    facts.cores_allowed = count_cores(after_colon(line));
  }
  facts.governor = tree.read(kCpu + "cpu0/cpufreq/scaling_governor").value_or("");
  facts.scaling_driver = tree.read(kCpu + "cpu0/cpufreq/scaling_driver").value_or("");
  facts.clock_source = tree.read("sys/devices/system/clocksource/clocksource0/current_clocksource").value_or("");
}

void read_memory(const Tree& tree, HostFacts& facts) {
  Number swap_free;
  const std::pair<const char*, Number*> wanted[] = {{"MemTotal:", &facts.memory_bytes},
                                                    {"MemAvailable:", &facts.memory_available_bytes},
                                                    {"SwapTotal:", &facts.swap_bytes},
                                                    {"SwapFree:", &swap_free}};
  for (const std::string& line :
       tree.read_lines("proc/meminfo", {"MemTotal:", "MemAvailable:", "SwapTotal:", "SwapFree:"})) {
    for (const auto& [key, number] : wanted) {
      const auto kib = leading_number(after_colon(line));
      if (line.starts_with(key) && kib) *number = *kib * 1024;
    }
  }
  if (facts.swap_bytes && swap_free) facts.swap_used_bytes = *facts.swap_bytes - *swap_free;
  const std::string pages = tree.read("sys/kernel/mm/transparent_hugepage/enabled").value_or("");
  const size_t open = pages.find('['), close = pages.find(']');
  if (open < close && close != std::string::npos)
    facts.transparent_huge_pages = pages.substr(open + 1, close - open - 1);
}

/// Limits of the groups that this process is in: the tightest from its own up to the mount's root, which carries a
/// container's.
void read_groups(const Tree& tree, HostFacts& facts) {
  const auto tighten_memory = [&](const std::string& text) {
    const auto bytes = leading_number(text);  // "max": none
    if (!bytes || (facts.memory_bytes && *bytes >= *facts.memory_bytes)) return;
    facts.container_memory_bytes = std::min(*bytes, facts.container_memory_bytes.value_or(*bytes));
  };
  const auto tighten_cpu = [&](Number quota, Number period, bool v1) {
    if (!quota || !period || *quota <= 0 || *period <= 0) return;
    const double cores = static_cast<double>(*quota) / static_cast<double>(*period);
    if (facts.cpu_quota && *facts.cpu_quota <= cores) return;
    facts.cpu_quota = cores;
    facts.cpu_quota_v1 = v1;
  };
  const std::string groups = tree.peek("proc/self/cgroup").value_or("");
  for (size_t at = 0; at < groups.size();) {
    const size_t end = std::min(groups.find('\n', at), groups.size());
    const std::string line = groups.substr(at, end - at);
    at = end + 1;
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    std::string path = line.substr(second + 1);
    if (!path.starts_with('/')) continue;
    for (;; path.erase(std::min(path.rfind('/'), path.size()))) {
      const std::string below = path == "/" ? "" : path;
      if (controllers == ",,") {
        const std::string group = "sys/fs/cgroup" + below + "/";
        tighten_memory(tree.peek(group + "memory.max").value_or(""));
        const auto cpu = words_of(tree.peek(group + "cpu.max").value_or(""));
        if (cpu.size() == 2) tighten_cpu(leading_number(cpu[0]), leading_number(cpu[1]), false);
      } else if (controllers.find(",memory,") != std::string::npos) {
        tighten_memory(tree.peek("sys/fs/cgroup/memory" + below + "/memory.limit_in_bytes").value_or(""));
      } else if (controllers.find(",cpu,") != std::string::npos) {
        const std::string group = "sys/fs/cgroup/cpu" + below + "/cpu.cfs_";
        tighten_cpu(leading_number(tree.peek(group + "quota_us").value_or("")),
                    leading_number(tree.peek(group + "period_us").value_or("")), true);
      }
      if (below.empty()) break;
    }
  }
}

/// The limits as one group's, since the names of groups may be those of users.
void record_groups(const Tree& tree, const HostFacts& facts) {
  tree.record("proc/self/cgroup", "0::/\n");
  if (facts.cpu_quota) {
    tree.record("sys/fs/cgroup/cpu.max", fmt::format("{} 100000\n", static_cast<int64_t>(*facts.cpu_quota * 100000)));
  }
  if (!facts.container_memory_bytes || !facts.memory_available_bytes) return;
  const int64_t limit = *facts.container_memory_bytes;
  tree.record("sys/fs/cgroup/memory.max", fmt::format("{}\n", limit));
  tree.record("sys/fs/cgroup/memory.current",
              fmt::format("{}\n", limit - std::min(limit, *facts.memory_available_bytes)));
}

void read_limits(const Tree& tree, HostFacts& facts) {
  constexpr size_t kHard = 4;  // "Max open files  SOFT  HARD  files"
  for (const std::string& line : tree.read_lines("proc/self/limits", {"Max open files", "Max locked memory"})) {
    const auto words = words_of(line);
    if (words.size() <= kHard) continue;
    facts.has_limits = true;
    (line.starts_with("Max open") ? facts.open_files_max : facts.locked_bytes_max) = leading_number(words[kHard]);
  }
  for (const std::string& line :
       tree.read_lines("proc/self/mounts", {"tmpfs /dev/shm ", "shm /dev/shm ", "none /dev/shm "})) {
    facts.has_shared_memory = true;
    const size_t size = line.find("size=");
    const auto kib = size == std::string::npos ? std::nullopt : leading_number(line.substr(size + 5));
    if (kib) facts.shared_memory_bytes = *kib * 1024;
  }
}

void read_nodes(const Tree& tree, HostFacts& facts) {
  const std::string nodes = "sys/devices/system/node/";
  for (const std::string& name : tree.list(nodes)) {
    if (!name.starts_with("node") || !leading_number(name.substr(4))) continue;
    ++facts.numa_nodes;
    for (const std::string& word : words_of(tree.read(nodes + name + "/distance").value_or(""))) {
      const auto distance = leading_number(word);
      if (distance) facts.numa_distance_max = std::max(*distance, facts.numa_distance_max.value_or(0));
    }
  }
  facts.numa_balancing = tree.read_number("proc/sys/kernel/numa_balancing").value_or(0) != 0;
}

}  // namespace

HostFacts gather_host(const Tree& tree, const GatherOptions& options) {
  constexpr const char* kMeasured = "measured.json";
  constexpr const char* kMemoryRate = "memory_read_bytes_per_second";
  HostFacts facts;
  const std::string release = tree.read("proc/sys/kernel/osrelease").value_or("");
  facts.wsl = release.find("icrosoft") != std::string::npos;
  read_cpu(tree, facts);
  read_memory(tree, facts);
  read_groups(tree, facts);
  if (facts.memory_available_bytes) {
    facts.memory_available_bytes = static_cast<int64_t>(engine::available_memory_bytes(tree.root()));
  }
  record_groups(tree, facts);
  read_limits(tree, facts);
  read_nodes(tree, facts);
  if (!options.live) {
    const auto json = nlohmann::json::parse(tree.read(kMeasured).value_or("{}"), nullptr, /*allow_exceptions=*/false);
    const bool has = json.is_object() && json.contains(kMemoryRate) && json[kMemoryRate].is_number_integer();
    if (has) facts.read_bytes_per_second = json[kMemoryRate].get<int64_t>();
  } else if (options.measures) {
    facts.read_bytes_per_second = measure_memory_rate(static_cast<size_t>(facts.memory_available_bytes.value_or(0)));
    if (facts.read_bytes_per_second) {
      tree.record(kMeasured, nlohmann::json{{kMemoryRate, *facts.read_bytes_per_second}}.dump() + "\n");
    }
  }
  return facts;
}

}  // namespace tessera::doctor
