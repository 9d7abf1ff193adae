#include "doctor/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::doctor {

std::vector<Finding> check(const Facts& facts) {
  std::vector<Finding> findings;
  check_gpus(facts, findings);
  check_links(facts, findings);
  check_host(facts, findings);
  check_places(facts, findings);
  check_model(facts, findings);
  std::ranges::stable_sort(findings, {}, [](const Finding& finding) { return &find_check(finding.check); });
  return findings;
}

Level worst(std::span<const Finding> findings) {
  Level level = Level::ok;
  for (const Finding& finding : findings) level = std::max(level, finding.level);
  return level;
}

std::string rate_text(double bytes_per_second) {
  return bytes_per_second >= 1e12  ? fmt::format("{:.2f} TB/s", bytes_per_second * 1e-12)
         : bytes_per_second >= 1e9 ? fmt::format("{:.1f} GB/s", bytes_per_second * 1e-9)
                                   : fmt::format("{:.0f} MB/s", bytes_per_second * 1e-6);
}

}  // namespace tessera::doctor
