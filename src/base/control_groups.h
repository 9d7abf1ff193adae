#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera {

/// A folder of /sys/fs/cgroup, which need not be there: a container may see paths that its own mount lacks.
struct ControlGroup {
  std::filesystem::path folder;
  bool version_2 = false;
};

/// The groups that have a `controller` ("memory") for this process: its own first, then those above it, up to the
/// mount's root, which carries a container's limits. Version 2 has all controllers in one group. `root` stands for "/"
/// in tests.
std::vector<ControlGroup> control_groups(const std::string& controller, const std::filesystem::path& root = "/");

/// Cores that the quotas of the control groups (version 2) above this process leave, a part of one counted as one; as
/// many as an int holds where there is no quota.
int cores_of_quota(const std::filesystem::path& root = "/");

}  // namespace tessera
