#include "cli/moe_tiles.h"

#include <algorithm>

#include "base/status.h"
#include "plan/plan.h"
#include "selftest/moe_timer.h"

namespace tessera::cli {
namespace {

constexpr double kTimesLeast = 2;
constexpr size_t kMost = 16;

}  // namespace

Expected<std::vector<plan::Tile>> worth_measuring(const plan::Desc& desc, const plan::DeviceFacts& gpu) {
  TESSERA_ASSIGN_OR_RETURN(const plan::Plan plan, plan::make_plan(desc, gpu));
  std::vector<const plan::Candidate*> runnable;
  for (const plan::Candidate& c : plan.candidates) {
    if (c.kept() && kernels::MoeTimer::can_run(desc, c.tile)) runnable.push_back(&c);
  }
  std::stable_sort(runnable.begin(), runnable.end(),
                   [](const auto* a, const auto* b) { return a->cost.estimate_us < b->cost.estimate_us; });
  std::vector<plan::Tile> tiles;
  for (const plan::Candidate* c : runnable) {
    if (tiles.size() == kMost || c->cost.estimate_us > kTimesLeast * runnable[0]->cost.estimate_us) break;
    tiles.push_back(c->tile);
  }
  if (tiles.empty()) return error(StatusCode::unsupported, "no kernel for {} on {}", plan::describe(desc), gpu.name);
  return tiles;
}

}  // namespace tessera::cli
