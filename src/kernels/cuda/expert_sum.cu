#include "kernels/cuda/expert_sum.h"

#include "kernels/cuda/expert_sum.cuh"
#include "kernels/cuda/live_tokens.cuh"
#include "kernels/ptx/griddepcontrol.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 128;  // of 8 columns each
static_assert(kThreads > plan::kExpertsPerTokenMax);

__global__ void __launch_bounds__(kThreads) sum_expert_rows(const __grid_constant__ SumExpertsArgs args) {
  __shared__ TokenExperts experts;
  ptx::griddepcontrol_launch_dependents_early();
  // Before the PDL wait, all but the experts' rows: none of it is of the kernel before.
  const int64_t token = blockIdx.x;
  const bool live = token < live_tokens(args.live_tokens, args.tokens);
  if (live) load_token_experts(args.experts, token, args.hidden, experts);
  __syncthreads();
  const int column = (static_cast<int>(blockIdx.y) * kThreads + static_cast<int>(threadIdx.x)) * 8;
  const bool exists = live && column < args.hidden;
  const int64_t at = token * args.hidden + column;
  uint4 shared_row{};
  if (exists && args.experts.shared_rows != nullptr) {
    shared_row = __ldcg(reinterpret_cast<const uint4*>(args.experts.shared_rows + at));
  }
  ptx::griddepcontrol_wait();
  if (!exists) return;
  *reinterpret_cast<uint4*>(args.delta + at) = sum_columns(args.experts, experts, shared_row, column);
}

}  // namespace

Status sum_experts(const SumExpertsArgs& args, const device::Queue& queue) {
  if (args.tokens == 0) return {};
  constexpr unsigned kBlockColumns = kThreads * 8;
  const dim3 grid(static_cast<unsigned>(args.tokens),
                  (static_cast<unsigned>(args.hidden) + kBlockColumns - 1) / kBlockColumns);
  return device::launch(sum_expert_rows, queue, grid, kThreads, 0, args);
}

}  // namespace tessera::kernels::cuda
