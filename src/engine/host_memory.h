#pragma once

#include <cstddef>
#include <filesystem>

namespace tessera::engine {

/// Bytes of memory that this process can still take without pushing anything out: the least of the kernel's
/// MemAvailable and of what each cgroup limit above this process leaves, file cache counted as free. 0 if /proc cannot
/// be read. `root` stands for "/" in tests.
size_t available_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace tessera::engine
