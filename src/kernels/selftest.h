#pragma once

#include <functional>
#include <string>

#include "tessera/status.h"

// Checks the kernels of this build on a GPU against the CPU references: the FP4 MMA, the quantiser of activations, and
// every tile of W4A4 in both formats. About a minute.
namespace tessera::kernels {

struct SelftestCheck {
  std::string name;  // "NVFP4 w4a4 128x128x64"
  bool equal = false;
  std::string detail;  // what was compared, or the first difference
};

/// "driver 13.0, runtime 13.0, FP4 MMA native".
Expected<std::string> selftest_environment(int gpu);

/// Hands each check to `report` as it ends; a difference is a check that is not equal, and the rest still run. Errors:
/// unsupported in a build without CUDA; a CUDA call that failed.
Status selftest(int gpu, const std::function<void(const SelftestCheck&)>& report);

}  // namespace tessera::kernels
