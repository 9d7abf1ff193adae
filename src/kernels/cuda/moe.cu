#include "kernels/cuda/moe.h"

#include <string>

#include "kernels/atom.h"
#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/live_tokens.cuh"
#include "kernels/cuda/quantize.h"
#include "kernels/cuda/route.h"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/spelt_math.h"

namespace tessera::kernels::cuda {
namespace {

struct ReduceArgs {
  const uint16_t* rows = nullptr;         // [slots, hidden] BF16
  const int32_t* slots = nullptr;         // [tokens, experts_per_token]
  const float* weights = nullptr;         // [tokens, experts_per_token]
  const uint16_t* shared_rows = nullptr;  // [tokens, hidden] BF16; null: none
  const float* shared_gate = nullptr;     // [tokens, 1], rows logits_stride apart; null: weight 1
  int64_t logits_stride = 0;
  const int32_t* live_tokens = nullptr;
  uint16_t* delta = nullptr;  // [tokens, hidden] BF16
  int32_t tokens = 0;
  int32_t hidden = 0;  // a multiple of 64
  int32_t experts_per_token = 0;
};

constexpr int kReduceThreads = 128;  // of 8 columns each; more than kExpertsPerTokenMax

/// sums += weight * eight BF16 values.
__device__ void add_row(const uint4& values, float weight, float (&sums)[8]) {
  const uint32_t pairs[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sums[2 * i] = __fmaf_rn(weight, low_bf16(pairs[i]), sums[2 * i]);
    sums[2 * i + 1] = __fmaf_rn(weight, high_bf16(pairs[i]), sums[2 * i + 1]);
  }
}

__device__ float shared_weight(const ReduceArgs& args, int64_t token) {
  if (args.shared_gate == nullptr) return 1.0F;
  return spelt::sigmoid(low_bf16(ptx::cvt_bf16x2(0.0F, __ldcg(args.shared_gate + token * args.logits_stride))));
}

/// delta = bf16(sum over experts, ascending, the shared one last).
__global__ void __launch_bounds__(kReduceThreads) sum_experts(const __grid_constant__ ReduceArgs args) {
  __shared__ int64_t rows[plan::kExpertsPerTokenMax];
  __shared__ float weights[plan::kExpertsPerTokenMax + 1];
  ptx::griddepcontrol_launch_dependents_early();
  // Before the PDL wait, all but the experts' rows: none of it is of the kernel before.
  const int64_t token = blockIdx.x;
  const int k = args.experts_per_token, thread = static_cast<int>(threadIdx.x);
  const bool live = token < live_tokens(args.live_tokens, args.tokens), shared = args.shared_rows != nullptr;
  if (live && thread < k) {
    rows[thread] = int64_t{__ldcg(args.slots + token * k + thread)} * args.hidden;
    weights[thread] = __ldcg(args.weights + token * k + thread);
  } else if (live && thread == k && shared) {
    weights[k] = shared_weight(args, token);
  }
  __syncthreads();
  const int column = (static_cast<int>(blockIdx.y) * kReduceThreads + thread) * 8;
  const bool exists = live && column < args.hidden;
  const int64_t at = token * args.hidden + column;
  uint4 shared_row{};
  if (exists && shared) shared_row = __ldcg(reinterpret_cast<const uint4*>(args.shared_rows + at));
  ptx::griddepcontrol_wait();
  if (!exists) return;
  constexpr int kAtOnce = 12;  // rows under way: those of most models at once
  float sums[8] = {};
  for (int first = 0; first < k; first += kAtOnce) {
    uint4 values[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i < k) values[i] = *reinterpret_cast<const uint4*>(args.rows + rows[first + i] + column);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i < k) add_row(values[i], weights[first + i], sums);
    }
  }
  if (shared) add_row(shared_row, weights[k], sums);
  *reinterpret_cast<uint4*>(args.delta + at) = {ptx::cvt_bf16x2(sums[1], sums[0]), ptx::cvt_bf16x2(sums[3], sums[2]),
                                                ptx::cvt_bf16x2(sums[5], sums[4]), ptx::cvt_bf16x2(sums[7], sums[6])};
}

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

Status moe_experts(const MoePlan& plan, const MoeArgs& args, const device::Queue& queue) {
  const plan::Desc& d = plan.desc;
  if (d.tokens == 0) return {};
  const MoeWorkspace w = moe_workspace(plan);
  TESSERA_RETURN_IF_ERROR(multiply(plan, args, w, plan::Op::gate_up, queue));
  TESSERA_RETURN_IF_ERROR(multiply(plan, args, w, plan::Op::down, queue));
  ReduceArgs reduce;
  reduce.rows = at<uint16_t>(args, w.rows);
  reduce.slots = at<int32_t>(args, w.slots);
  reduce.weights = at<float>(args, w.weights);
  reduce.shared_rows = args.shared_rows;
  reduce.shared_gate = args.shared_gate;
  reduce.logits_stride = args.logits_stride;
  reduce.live_tokens = args.live_tokens;
  reduce.delta = args.delta;
  reduce.tokens = static_cast<int32_t>(d.tokens);
  reduce.hidden = static_cast<int32_t>(d.hidden);
  reduce.experts_per_token = d.experts_per_token;
  constexpr unsigned kBlockColumns = kReduceThreads * 8;
  const dim3 grid(static_cast<unsigned>(d.tokens),
                  (static_cast<unsigned>(d.hidden) + kBlockColumns - 1) / kBlockColumns);
  return device::launch(sum_experts, queue, grid, kReduceThreads, 0, reduce);
}

Status moe(const MoePlan& plan, const MoeArgs& args, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(moe_route(plan, args, queue));
  return moe_experts(plan, args, queue);
}

}  // namespace tessera::kernels::cuda
