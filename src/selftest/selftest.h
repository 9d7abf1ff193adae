#pragma once

#include <functional>
#include <string>

#include "tessera/status.h"

// Checks the kernels of this build on a GPU against the CPU references: the FP4 MMA and W4A4 (its quantiser and every
// tile, in both formats) bit for bit; W4A16, whose sums the CPU does not repeat, to a relative error of 1e-3 and every
// tile bit for bit against the first. About a minute.
namespace tessera::kernels {

struct SelftestCheck {
  std::string name;  // "NVFP4 w4a4 128x128x64, 10 stages"
  bool equal = false;
  std::string detail;  // what was compared, or the first difference
};

/// "driver 13.0, runtime 13.0, FP4 MMA native".
Expected<std::string> selftest_environment(int gpu);

/// Hands each check to `report` as it ends; a difference is a check that is not equal, and the rest still run. Errors:
/// unsupported in a build without CUDA; a CUDA call that failed.
Status selftest(int gpu, const std::function<void(const SelftestCheck&)>& report);

}  // namespace tessera::kernels
