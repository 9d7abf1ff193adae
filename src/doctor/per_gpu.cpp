#include "doctor/per_gpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tessera::doctor {
namespace {

std::string gpu_list(const std::vector<int>& indices, size_t count) {
  if (indices.size() == 1) return fmt::format("GPU {}", indices.front());
  if (indices.size() == count) return fmt::format("GPUs 0-{}", count - 1);
  return fmt::format("GPUs {}", fmt::join(indices, ", "));
}

}  // namespace

void for_each_gpu(std::string_view check, const GpuFacts& facts, std::vector<Finding>& findings,
                  const std::function<std::optional<OfGpu>(const Gpu&)>& look) {
  std::vector<std::pair<OfGpu, std::vector<int>>> groups;
  for (int i = 0; i < static_cast<int>(facts.gpus.size()); ++i) {
    const auto found = look(facts.gpus[static_cast<size_t>(i)]);
    if (!found) continue;
    const auto same = std::ranges::find_if(groups, [&](const auto& group) { return group.first == *found; });
    (same == groups.end() ? groups.emplace_back(*found, std::vector<int>()) : *same).second.push_back(i);
  }
  for (const auto& [found, indices] : groups) {
    findings.push_back(
        {check, found.level, fmt::format("{}: {}", gpu_list(indices, facts.gpus.size()), found.found), found.mend});
  }
}

bool shares_memory(const Gpu& gpu) { return gpu.name.find("GB10") != std::string::npos; }

}  // namespace tessera::doctor
