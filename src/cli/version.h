#pragma once

#include <string>

namespace tessera::cli {

/// What --version prints: version, commit, compilers, architectures, and the instructions that the CPU's kernels use
/// on this machine.
std::string version_text();

}  // namespace tessera::cli
