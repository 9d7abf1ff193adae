#pragma once

#include <filesystem>

namespace tessera {

/// Cores that the quotas of the control groups (version 2) above this process leave, a part of one counted as one; as
/// many as an int holds where there is no quota. `root` stands for "/" in tests.
int cores_of_quota(const std::filesystem::path& root = "/");

}  // namespace tessera
