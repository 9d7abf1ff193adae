#pragma once

#include <string>
#include <vector>

#include "plan/cost.h"
#include "plan/desc.h"
#include "plan/device_facts.h"
#include "plan/tile.h"

namespace tessera::plan {

struct Candidate {
  Tile tile;
  int smem_bytes = 0;            // of its stages; of kStagesMin where they do not fit
  int resident_blocks = 0;       // of an SM; 0: rejected
  std::string rejected_because;  // empty: kept
  Cost cost;                     // of the kept

  [[nodiscard]] bool kept() const { return rejected_because.empty(); }
};

/// A description, every tile that was considered for it, and the choice.
struct Plan {
  Desc desc;
  DeviceFacts device;
  int k_segments = 1;
  std::vector<Candidate> candidates;  // in the tables' order
  size_t choice = 0;                  // index into candidates

  [[nodiscard]] const Candidate& chosen() const { return candidates[choice]; }
};

/// Estimates this close to the least are not told apart.
inline constexpr double kEstimateTolerance = 0.02;

/// The choice is the first kept tile, in the tables' order, whose estimate is within kEstimateTolerance of the least.
/// Any kept tile gives the same bits.
/// Errors: those of validate(); unsupported if no tile fits the GPU.
Expected<Plan> make_plan(const Desc& desc, const DeviceFacts& device);

}  // namespace tessera::plan
