#include <algorithm>
#include <limits>

#include "base/status.h"
#include "kernels/atom.h"
#include "kernels/cuda/moe.h"
#include "kernels/cuda/route.h"
#include "plan/candidates.h"
#include "plan/plan.h"

// Host decisions of the W4A16 layer: which kernels, and how much memory. No device code.
namespace tessera::kernels::cuda {
namespace {

plan::Desc with_op(plan::Desc desc, plan::Op op) {
  desc.op = op;
  return desc;
}

bool sums_segments(const plan::Desc& desc, const W4a16Kernel& kernel) {
  if (plan::k_segments(desc) == 1 || kernel.folds_segments) return true;
  return kernel.splits_segments && plan::slots(desc) <= kPartialSlotsMax;
}

const W4a16Kernel* find_kernel(const plan::Tile& tile) {
  for (const W4a16Kernel& kernel : w4a16_kernels(tile.format)) {
    if (kernel.tile == tile) return &kernel;
  }
  return nullptr;
}

Expected<W4a16Kernel> cheapest(const plan::Desc& desc, const plan::DeviceFacts& device) {
  TESSERA_ASSIGN_OR_RETURN(const plan::Plan plan, plan::make_plan(desc, device));
  const W4a16Kernel* best = nullptr;
  double best_us = std::numeric_limits<double>::infinity();
  const auto consider = [&](const plan::Candidate& candidate) {
    if (!candidate.kept() || candidate.cost.estimate_us >= best_us) return;
    const W4a16Kernel* kernel = find_kernel(candidate.tile);
    if (kernel == nullptr || !sums_segments(desc, *kernel)) return;
    best = kernel;
    best_us = candidate.cost.estimate_us;
  };
  if (const W4a16Kernel* kernel = find_kernel(plan.chosen().tile); kernel != nullptr && sums_segments(desc, *kernel)) {
    return *kernel;
  }
  for (const plan::Candidate& candidate : plan.candidates) consider(candidate);
  if (best == nullptr) {
    return error(StatusCode::unsupported, "no compiled kernel for {} on {}", plan::describe(desc), device.name);
  }
  return *best;
}

Expected<W4a16Kernel> of_tile(const plan::Desc& desc, const plan::Tile& tile) {
  const W4a16Kernel* kernel = find_kernel(tile);
  if (kernel == nullptr) {
    return error(StatusCode::unsupported, "no {} kernel of tile {} ({} blocks per SM) for {}", plan::name(tile.path),
                 plan::shape_name(tile), tile.blocks_per_sm, plan::describe(desc));
  }
  if (!sums_segments(desc, *kernel)) {
    return error(StatusCode::unsupported, "tile {} has no registers for the {} K segments of {}",
                 plan::shape_name(tile), plan::k_segments(desc), plan::describe(desc));
  }
  return *kernel;
}

}  // namespace

Status supports(const plan::Desc& desc) {
  TESSERA_RETURN_IF_ERROR(plan::validate(desc));
  if (desc.path != plan::Path::w4a16) {
    return error(StatusCode::unsupported, "this is the w4a16 path; asked for {}", plan::describe(desc));
  }
  if (desc.intermediate % plan::scale_group(desc.format) != 0) {
    return error(StatusCode::unsupported, "the intermediate size is not a multiple of the scale group {}: {}",
                 plan::scale_group(desc.format), plan::describe(desc));
  }
  return {};
}

Expected<MoePlan> plan_moe(const plan::Desc& desc, const plan::DeviceFacts& device) {
  const plan::Desc gate_up = with_op(desc, plan::Op::gate_up), down = with_op(desc, plan::Op::down);
  TESSERA_RETURN_IF_ERROR(supports(gate_up));
  TESSERA_ASSIGN_OR_RETURN(const W4a16Kernel first, cheapest(gate_up, device));
  TESSERA_ASSIGN_OR_RETURN(const W4a16Kernel second, cheapest(down, device));
  return MoePlan{gate_up, first, second};
}

Expected<MoePlan> plan_moe(const plan::Desc& desc, const plan::Tile& gate_up_tile, const plan::Tile& down_tile) {
  const plan::Desc gate_up = with_op(desc, plan::Op::gate_up), down = with_op(desc, plan::Op::down);
  TESSERA_RETURN_IF_ERROR(supports(gate_up));
  TESSERA_ASSIGN_OR_RETURN(const W4a16Kernel first, of_tile(gate_up, gate_up_tile));
  TESSERA_ASSIGN_OR_RETURN(const W4a16Kernel second, of_tile(down, down_tile));
  return MoePlan{gate_up, first, second};
}

bool splits(const MoePlan& plan, plan::Op op) {
  const W4a16Kernel& kernel = op == plan::Op::gate_up ? plan.gate_up : plan.down;
  return plan::k_segments(with_op(plan.desc, op)) > 1 && kernel.splits_segments &&
         plan::slots(plan.desc) <= kPartialSlotsMax;
}

int64_t column_tiles(const MoePlan& plan, plan::Op op) {
  const plan::Desc& d = plan.desc;
  const plan::Tile& tile = op == plan::Op::gate_up ? plan.gate_up.tile : plan.down.tile;
  return slot_tiles_max(plan::slots(d), d.experts + d.shared_experts, tile.n);
}

MoeWorkspace moe_workspace(const MoePlan& plan) {
  const plan::Desc& d = plan.desc;
  MoeWorkspace w;
  const auto take = [&](int64_t count, size_t size) {
    const size_t at = w.bytes;
    w.bytes += (static_cast<size_t>(count) * size + 255) / 256 * 256;
    return at;
  };
  const int64_t pairs = d.tokens * d.experts_per_token, slots = plan::slots(d);
  w.tickets = take(kTicketsMax, 4);
  w.ids = take(pairs, 4);
  w.weights = take(pairs, 4);
  w.slots = take(pairs, 4);
  w.slot_token = take(slots, 4);
  w.first_slot = take(d.experts + d.shared_experts + 1, 4);
  w.chunk_counts = take(chunks(d.tokens) * d.experts, 4);
  for (int op = 0; op < 2; ++op) {
    w.tiles[op] = take(column_tiles(plan, op == 0 ? plan::Op::gate_up : plan::Op::down), sizeof(SlotTile));
    w.tile_count[op] = take(1, 4);
  }
  w.gated = take(slots * d.intermediate, 2);
  w.rows = take(slots * d.hidden, 2);
  int64_t partials = 0;
  for (const plan::Op op : {plan::Op::gate_up, plan::Op::down}) {
    const W4a16Kernel& kernel = op == plan::Op::gate_up ? plan.gate_up : plan.down;
    if (!splits(plan, op)) continue;
    const plan::Desc desc = with_op(d, op);
    const int64_t row_tiles = (plan::weight_rows(desc) + kernel.tile.m - 1) / kernel.tile.m;
    partials =
        std::max(partials, plan::k_segments(desc) * column_tiles(plan, op) * row_tiles * kernel.tile.m * kernel.tile.n);
  }
  w.partials = take(partials, 4);
  return w;
}

}  // namespace tessera::kernels::cuda
