#include "engine/host_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "base/control_groups.h"

namespace tessera::engine {
namespace {

namespace fs = std::filesystem;

/// A file that holds one number; nullopt for "max" or no file.
std::optional<size_t> read_number(const fs::path& file) {
  size_t number = 0;
  if (std::ifstream(file) >> number) return number;
  return std::nullopt;
}

/// The number after `key` in lines of "key number ...".
size_t read_field(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    return std::strtoull(line.c_str() + key.size(), nullptr, 10);
  }
  return 0;
}

/// What one cgroup leaves; everything where it sets no limit.
size_t left_by(const fs::path& group, const char* limit_file, const char* usage_file, const std::string& stat_prefix) {
  const auto limit = read_number(group / limit_file);
  const auto usage = read_number(group / usage_file);
  if (!limit || !usage) return std::numeric_limits<size_t>::max();
  const fs::path stat = group / "memory.stat";
  const size_t cache =
      read_field(stat, stat_prefix + "active_file ") + read_field(stat, stat_prefix + "inactive_file ");
  const size_t used = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, used);
}

}  // namespace

size_t available_memory_bytes(const fs::path& root) {
  size_t least = read_field(root / "proc/meminfo", "MemAvailable:") * 1024;
  for (const auto& [folder, version_2] : control_groups("memory", root)) {
    least = std::min(least, version_2 ? left_by(folder, "memory.max", "memory.current", "")
                                      : left_by(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"));
  }
  return least;
}

}  // namespace tessera::engine
