#include "kernels/cuda/moe.h"

#include <string>

#include "kernels/atom.h"
#include "kernels/cuda/quantize.h"
#include "kernels/cuda/route.h"

namespace tessera::kernels::cuda {
namespace {

template <typename T>
T* at(const MoeArgs& args, size_t offset) {
  return reinterpret_cast<T*>(args.workspace + offset);
}

RouteArgs route_args(const MoePlan& plan, const MoeArgs& args, const MoeWorkspace& w) {
  RouteArgs route;
  route.logits = args.logits;
  route.logits_stride = args.logits_stride;
  route.live_tokens = args.live_tokens;
  route.tokens = static_cast<int32_t>(plan.desc.tokens);
  route.experts = plan.desc.experts;
  route.experts_per_token = plan.desc.experts_per_token;
  route.ids = at<int32_t>(args, w.ids);
  route.weights = at<float>(args, w.weights);
  route.chosen = args.chosen;
  route.slots = at<int32_t>(args, w.slots);
  route.slot_token = at<int32_t>(args, w.slot_token);
  route.first_slot = at<int32_t>(args, w.first_slot);
  route.chunk_counts = at<int32_t>(args, w.chunk_counts);
  for (int op = 0; op < 2; ++op) {
    route.tiles[op] = at<SlotTile>(args, w.tiles[op]);
    route.tile_count[op] = at<int32_t>(args, w.tile_count[op]);
  }
  route.tile_columns[0] = plan.gate_up.n;
  route.tile_columns[1] = plan.down.n;
  return route;
}

GemmArgs gemm_args(const MoePlan& plan, const MoeArgs& args, const MoeWorkspace& w, plan::Op op) {
  const bool gate_up = op == plan::Op::gate_up;
  plan::Desc desc = plan.desc;
  desc.op = op;
  const AtomShape shape{desc.format, plan::weight_rows(desc), plan::weight_depth(desc), gate_up ? 2 : 1};
  GemmArgs gemm;
  gemm.weights = gate_up ? args.gate_up : args.down;
  gemm.group_bytes = static_cast<int64_t>(atom_matrix_bytes(shape));
  gemm.strips = static_cast<int32_t>(strips(shape));
  gemm.alpha = gate_up ? args.gate_up_alpha : args.down_alpha;
  gemm.depth = static_cast<int32_t>(shape.cols);
  gemm.out = at<uint16_t>(args, gate_up ? w.gated : w.rows);
  gemm.width = static_cast<int32_t>(gate_up ? desc.intermediate : desc.hidden);
  gemm.swiglu = gate_up;
  gemm.tiles = at<SlotTile>(args, w.tiles[gate_up ? 0 : 1]);
  gemm.tile_count = at<int32_t>(args, w.tile_count[gate_up ? 0 : 1]);
  if (desc.path == plan::Path::w4a4) {
    gemm.activations = at<std::byte>(args, w.fp4);
    return gemm;
  }
  gemm.x = gate_up ? args.x : at<uint16_t>(args, w.gated);
  gemm.x_rows = gate_up ? at<int32_t>(args, w.slot_token) : nullptr;
  gemm.weights_early = !gate_up;
  return gemm;
}

/// The rows of one product into FP4 slices.
Status quantize(const MoePlan& plan, const MoeArgs& args, const MoeWorkspace& w, plan::Op op,
                const device::Queue& queue) {
  const bool gate_up = op == plan::Op::gate_up;
  const plan::Desc& d = plan.desc;
  QuantizeArgs quantize;
  quantize.format = d.format;
  quantize.x = gate_up ? args.x : at<uint16_t>(args, w.gated);
  quantize.depth = static_cast<int32_t>(gate_up ? d.hidden : d.intermediate);
  quantize.x_rows = gate_up ? at<int32_t>(args, w.slot_token) : nullptr;
  quantize.tiles = at<SlotTile>(args, w.tiles[gate_up ? 0 : 1]);
  quantize.tile_count = at<int32_t>(args, w.tile_count[gate_up ? 0 : 1]);
  quantize.input_scales = gate_up ? args.gate_up_input_scales : args.down_input_scales;
  quantize.out = at<std::byte>(args, w.fp4);
  return quantize_activations(quantize, column_tiles(plan, op), queue);
}

Status multiply(const MoePlan& plan, const MoeArgs& args, const MoeWorkspace& w, plan::Op op,
                const device::Queue& queue) {
  if (plan.desc.path == plan::Path::w4a4) TESSERA_RETURN_IF_ERROR(quantize(plan, args, w, op, queue));
  return grouped_gemm(plan.tile(op), gemm_args(plan, args, w, op), column_tiles(plan, op), queue);
}

}  // namespace

Status moe_route(const MoePlan& plan, const MoeArgs& args, const device::Queue& queue) {
  const plan::Desc& d = plan.desc;
  if (d.tokens == 0) return {};
  if (args.logits_stride < d.experts) {
    return {StatusCode::invalid_argument, "rows of logits are " + std::to_string(args.logits_stride) +
                                              " floats apart, expected at least " + std::to_string(d.experts) + ": " +
                                              plan::describe_layer(d)};
  }
  return route(route_args(plan, args, moe_workspace(plan)), queue);
}

Status moe_products(const MoePlan& plan, const MoeArgs& args, const device::Queue& queue) {
  if (plan.desc.tokens == 0) return {};
  const MoeWorkspace w = moe_workspace(plan);
  TESSERA_RETURN_IF_ERROR(multiply(plan, args, w, plan::Op::gate_up, queue));
  return multiply(plan, args, w, plan::Op::down, queue);
}

ExpertSum expert_sum(const MoePlan& plan, const MoeArgs& args) {
  const MoeWorkspace w = moe_workspace(plan);
  return {.rows = at<uint16_t>(args, w.rows),
          .slots = at<int32_t>(args, w.slots),
          .weights = at<float>(args, w.weights),
          .shared_rows = args.shared_rows,
          .shared_gate = args.shared_gate,
          .gate_stride = args.logits_stride,
          .experts_per_token = plan.desc.experts_per_token};
}

Status moe(const MoePlan& plan, const MoeArgs& args, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(moe_route(plan, args, queue));
  TESSERA_RETURN_IF_ERROR(moe_products(plan, args, queue));
  return sum_experts({.experts = expert_sum(plan, args),
                      .live_tokens = args.live_tokens,
                      .delta = args.delta,
                      .tokens = static_cast<int32_t>(plan.desc.tokens),
                      .hidden = static_cast<int32_t>(plan.desc.hidden)},
                     queue);
}

}  // namespace tessera::kernels::cuda
