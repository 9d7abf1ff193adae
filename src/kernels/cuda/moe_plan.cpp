#include <algorithm>

#include "base/status.h"
#include "kernels/atom.h"
#include "kernels/cuda/moe.h"
#include "kernels/cuda/quantize.h"
#include "kernels/cuda/route.h"
#include "kernels/fp4_activation.h"
#include "plan/candidates.h"
#include "plan/plan.h"

// Host decisions of the layer: which kernels, and how much memory. No device code.
namespace tessera::kernels::cuda {
namespace {

plan::Desc with_op(plan::Desc desc, plan::Op op) {
  desc.op = op;
  return desc;
}

Expected<plan::Tile> choose(const plan::Desc& desc, const plan::DeviceFacts& device, const plan::TuningCache& tuning) {
  TESSERA_ASSIGN_OR_RETURN(plan::Plan plan, plan::make_plan(desc, device));
  plan::apply_tuning(tuning, plan);
  if (can_run(desc, plan.chosen().tile)) return plan.chosen().tile;
  const plan::Candidate* best = nullptr;
  for (const plan::Candidate& candidate : plan.candidates) {
    if (!candidate.kept() || !can_run(desc, candidate.tile)) continue;
    if (best == nullptr || candidate.cost.estimate_us < best->cost.estimate_us) best = &candidate;
  }
  if (best == nullptr) {
    return error(StatusCode::unsupported, "no compiled kernel for {} on {}", plan::describe(desc), device.name);
  }
  return best->tile;
}

Status check(const plan::Desc& desc, const plan::Tile& tile) {
  if (can_run(desc, tile)) return {};
  return error(StatusCode::unsupported, "no {} kernel of tile {} ({} blocks per SM) is compiled for {}",
               plan::name(tile.path), plan::shape_name(tile), tile.blocks_per_sm, plan::describe(desc));
}

}  // namespace

Status supports(const plan::Desc& desc) {
  TESSERA_RETURN_IF_ERROR(plan::validate(desc));
  if (desc.intermediate % plan::scale_group(desc.format) != 0) {
    return error(StatusCode::unsupported, "the intermediate size is not a multiple of the scale group {}: {}",
                 plan::scale_group(desc.format), plan::describe(desc));
  }
  return {};
}

bool can_run(const plan::Desc& desc, const plan::Tile& tile) {
  const auto compiled = kernels(desc.path, desc.format);
  return std::any_of(compiled.begin(), compiled.end(), [&](const Kernel& k) { return k.tile == tile; });
}

Expected<MoePlan> plan_moe(const plan::Desc& desc, const plan::DeviceFacts& device, const plan::TuningCache& tuning) {
  const plan::Desc gate_up = with_op(desc, plan::Op::gate_up), down = with_op(desc, plan::Op::down);
  TESSERA_RETURN_IF_ERROR(supports(gate_up));
  TESSERA_ASSIGN_OR_RETURN(const plan::Tile first, choose(gate_up, device, tuning));
  TESSERA_ASSIGN_OR_RETURN(const plan::Tile second, choose(down, device, tuning));
  return MoePlan{gate_up, first, second};
}

Expected<MoePlan> plan_moe(const plan::Desc& desc, const plan::Tile& gate_up_tile, const plan::Tile& down_tile) {
  const plan::Desc gate_up = with_op(desc, plan::Op::gate_up), down = with_op(desc, plan::Op::down);
  TESSERA_RETURN_IF_ERROR(supports(gate_up));
  TESSERA_RETURN_IF_ERROR(check(gate_up, gate_up_tile));
  TESSERA_RETURN_IF_ERROR(check(down, down_tile));
  return MoePlan{gate_up, gate_up_tile, down_tile};
}

int64_t column_tiles(const MoePlan& plan, plan::Op op) {
  const plan::Desc& d = plan.desc;
  return slot_tiles_max(plan::slots(d), d.experts, plan.tile(op).n);
}

MoeWorkspace moe_workspace(const MoePlan& plan) {
  const plan::Desc& d = plan.desc;
  MoeWorkspace w;
  const auto take = [&](int64_t count, size_t size) {
    const size_t at = w.bytes;
    w.bytes += (static_cast<size_t>(count) * size + 255) / 256 * 256;
    return at;
  };
  const int64_t slots = plan::slots(d);
  w.ids = take(slots, 4);
  w.weights = take(slots, 4);
  w.slots = take(slots, 4);
  w.slot_token = take(slots, 4);
  w.first_slot = take(d.experts + 1, 4);
  w.chunk_counts = take(chunks(d.tokens) * d.experts, 4);
  for (int op = 0; op < 2; ++op) {
    w.tiles[op] = take(column_tiles(plan, op == 0 ? plan::Op::gate_up : plan::Op::down), sizeof(SlotTile));
    w.tile_count[op] = take(1, 4);
  }
  if (d.path == plan::Path::w4a4) {
    w.fp4 = take(column_blocks_max(slots, d.experts) * fp4_slices(std::max(d.hidden, d.intermediate)),
                 static_cast<size_t>(fp4_slice_bytes(d.format)));
  }
  w.gated = take(slots * d.intermediate, 2);
  w.rows = take(slots * d.hidden, 2);
  return w;
}

}  // namespace tessera::kernels::cuda
