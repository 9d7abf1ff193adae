#include "base/cpu_quota.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

namespace tessera {

int cores_of_quota(const std::filesystem::path& root) {
  int cores = std::numeric_limits<int>::max();
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    // A container may see a path that its own mount lacks: going up, the walk ends at the mount's root.
    for (std::filesystem::path path = line.substr(4);; path = path.parent_path()) {
      // "max 100000" or "<quota> <period>", both in microseconds.
      std::ifstream file(root / "sys/fs/cgroup" / path / "cpu.max");
      double quota = 0, period = 0;
      if (file >> quota >> period && quota > 0 && period > 0) {
        cores = static_cast<int>(std::min<double>(cores, std::ceil(quota / period)));
      }
      if (path.empty()) break;
    }
  }
  return cores;
}

}  // namespace tessera
