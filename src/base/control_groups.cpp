#include "base/control_groups.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace tessera {

namespace fs = std::filesystem;

std::vector<ControlGroup> control_groups(const std::string& controller, const fs::path& root) {
  std::vector<ControlGroup> groups;
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    // "0::/path" (version 2) or "4:memory:/path" (version 1).
    const bool version_2 = line.starts_with("0::/");
    const std::string mark = version_2 ? "::/" : ":" + controller + ":/";
    const size_t at = line.find(mark);
    if (at == std::string::npos) continue;
    const fs::path mount = root / "sys/fs/cgroup" / (version_2 ? "" : controller);
    for (fs::path path = line.substr(at + mark.size());; path = path.parent_path()) {
      groups.push_back({mount / path, version_2});
      if (path.empty()) break;
    }
  }
  return groups;
}

int cores_of_quota(const fs::path& root) {
  int cores = std::numeric_limits<int>::max();
  for (const ControlGroup& group : control_groups("cpu", root)) {
    if (!group.version_2) continue;
    // "max 100000" or "<quota> <period>", both in microseconds.
    std::ifstream file(group.folder / "cpu.max");
    double quota = 0, period = 0;
    if (file >> quota >> period && quota > 0 && period > 0) {
      cores = static_cast<int>(std::min<double>(cores, std::ceil(quota / period)));
    }
  }
  return cores;
}

}  // namespace tessera
