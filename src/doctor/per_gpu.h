#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.h"

namespace tessera::doctor {

/// What is found of one GPU; those of which the same is found share a line.
struct OfGpu {
  Level level = Level::ok;
  std::string found, mend;

  bool operator==(const OfGpu&) const = default;
};

/// Adds what `look` finds of each GPU: "GPUs 0-3: ...".
void for_each_gpu(std::string_view check, const GpuFacts& facts, std::vector<Finding>& findings,
                  const std::function<std::optional<OfGpu>(const Gpu&)>& look);

/// GB10 and the like: the GPU's memory is the host's, and it has no PCIe link of its own.
bool shares_memory(const Gpu& gpu);

/// Its clocks, links and limits (check_gpu_state.cpp).
void check_gpu_state(const Facts& facts, std::vector<Finding>& findings);

}  // namespace tessera::doctor
