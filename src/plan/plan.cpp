#include "plan/plan.h"

#include <algorithm>
#include <limits>

#include "base/status.h"
#include "plan/budget.h"
#include "plan/candidates.h"
#include "plan/registers.h"
#include "plan/reject.h"

namespace tessera::plan {
Expected<Plan> make_plan(const Desc& desc, const DeviceFacts& device) {
  TESSERA_RETURN_IF_ERROR(validate(desc));
  Plan plan{.desc = desc, .device = device, .k_segments = k_segments(desc), .candidates = {}};
  const Routing routing(desc);
  double least_us = std::numeric_limits<double>::infinity();
  for (const Tile& tile : candidates(desc)) {
    Candidate candidate{.tile = tile, .rejected_because = reject_reason(tile, device, plan.k_segments), .cost = {}};
    candidate.smem_bytes = smem_layout(tile, std::max(tile.stages, kStagesMin)).total_bytes;
    if (candidate.kept()) {
      candidate.resident_blocks = resident_blocks(device, candidate.smem_bytes, threads(tile), register_estimate(tile));
      candidate.cost = estimate(desc, routing, tile, device, candidate.resident_blocks);
      least_us = std::min(least_us, candidate.cost.estimate_us);
    }
    plan.candidates.push_back(std::move(candidate));
  }
  const auto choice = std::find_if(plan.candidates.begin(), plan.candidates.end(), [&](const Candidate& c) {
    return c.kept() && c.cost.estimate_us <= least_us * (1 + kEstimateTolerance);
  });
  if (choice == plan.candidates.end()) {
    return error(StatusCode::unsupported,
                 "no tile for {} fits {} (compute capability {}.{}, {} B of shared memory a block); {}: {}",
                 describe(desc), device.name, device.compute_major, device.compute_minor, device.smem_per_block_bytes,
                 shape_name(plan.candidates.front().tile), plan.candidates.front().rejected_because);
  }
  plan.choice = static_cast<size_t>(choice - plan.candidates.begin());
  return plan;
}

}  // namespace tessera::plan
