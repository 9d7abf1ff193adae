#include "kernels/cuda/norm.h"

#include <string>

#include "kernels/cuda/dense_rows.cuh"
#include "kernels/cuda/expert_sum.cuh"
#include "kernels/cuda/norm.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/prefetch.cuh"
#include "kernels/ptx/shared_memory.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = kNormLanes;
static_assert(kThreads > plan::kExpertsPerTokenMax);

/// A block a row. Dynamic shared memory: the row's sums, then those of the parts; a thread reads back what it has
/// written.
template <bool sums_experts>
__global__ void __launch_bounds__(kThreads) add_norm_rows(const __grid_constant__ AddNormArgs args) {
  __shared__ TokenExperts experts;
  const NormInput& norm = args.norm;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int chunks = args.hidden / kNormChunk, row = static_cast<int>(blockIdx.x);
  const int64_t first = int64_t{row} * args.hidden;
  const bool shares = sums_experts && norm.experts.shared_rows != nullptr;
  auto* sums = reinterpret_cast<uint4*>(ptx::dynamic_shared_memory());
  auto* parts = reinterpret_cast<float*>(sums + chunks);
  ptx::griddepcontrol_launch_dependents_early();
  const NormWeights weights(norm, chunks);
  const bool live = row < live_rows(args);
  if constexpr (sums_experts) {
    // Before the PDL wait, all but the experts' rows: none of it is of the kernel before. The rest may have left L2
    // since it was written, as the experts' weights came through it.
    if (live) {
      load_token_experts(norm.experts, row, args.hidden, experts);
      for (int i = thread; i < chunks; i += kThreads) {
        ptx::prefetch_l2(norm.residual + first + i * kNormChunk);
        if (shares) ptx::prefetch_l2(norm.experts.shared_rows + first + i * kNormChunk);
      }
    }
    __syncthreads();
  }
  ptx::griddepcontrol_wait();
  if (!live) return;

  sum_parts(chunks, warp, kNormParts, lane, parts, [&](int i, float sum) {
    const int64_t at = first + i * kNormChunk;
    uint4 v = *reinterpret_cast<const uint4*>(norm.residual + at);
    if constexpr (sums_experts) {
      uint4 shared_row{};
      if (shares) shared_row = *reinterpret_cast<const uint4*>(norm.experts.shared_rows + at);
      v = add_bf16(v, sum_columns(norm.experts, experts, shared_row, i * kNormChunk));
    } else if (norm.delta != nullptr) {
      v = add_bf16(v, *reinterpret_cast<const uint4*>(norm.delta + at));
    }
    sums[i] = v;
    if (norm.residual_out != nullptr) *reinterpret_cast<uint4*>(norm.residual_out + at) = v;
    return add_squares(v, sum);
  });
  __syncthreads();
  uint16_t* out = norm.normed_out + int64_t{row} * args.normed_stride;
  const float inverse = inverse_norm(parts, args.hidden, norm.eps);
  weights.for_each_chunk(norm, chunks, [&](int i, const float4& low, const float4& high) {
    *reinterpret_cast<uint4*>(out + i * kNormChunk) = normed(sums[i], inverse, low, high);
  });
}

Status check(const AddNormArgs& args) {
  const NormInput& n = args.norm;
  if (n.residual == nullptr || n.weight == nullptr || n.normed_out == nullptr) {
    return {StatusCode::invalid_argument, "a norm needs rows, a weight and somewhere to write to"};
  }
  if (n.delta != nullptr && n.experts.rows != nullptr) {
    return {StatusCode::invalid_argument, "a norm of a delta of rows and of a sum of experts: there is one delta"};
  }
  const int k = n.experts.experts_per_token;
  if (n.experts.rows != nullptr && (k < 1 || k > plan::kExpertsPerTokenMax)) {
    return {StatusCode::invalid_argument, "a norm of a sum of " + std::to_string(k) + " experts; expected 1 to " +
                                              std::to_string(plan::kExpertsPerTokenMax)};
  }
  if (n.residual == n.residual_out) {
    return {StatusCode::invalid_argument, "a norm writes the residual to another buffer than it reads it from"};
  }
  if (args.hidden <= 0 || args.hidden % kNormChunk != 0 || args.hidden > kNormHiddenMax || args.rows_max < 0) {
    return {StatusCode::invalid_argument,
            "a norm of " + std::to_string(args.rows_max) + " rows of " + std::to_string(args.hidden) +
                " elements; expected a multiple of 8 up to " + std::to_string(kNormHiddenMax)};
  }
  return {};
}

}  // namespace

Status add_norm(const AddNormArgs& args, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(check(args));
  if (args.rows_max == 0) return {};
  AddNormArgs filled = args;
  if (filled.normed_stride == 0) filled.normed_stride = args.hidden;
  const size_t smem_bytes = static_cast<size_t>(args.hidden) * 2 + kNormParts * sizeof(float);
  const auto kernel = args.norm.experts.rows != nullptr ? add_norm_rows<true> : add_norm_rows<false>;
  return device::launch(kernel, queue, static_cast<unsigned>(args.rows_max), kThreads, smem_bytes, filled);
}

}  // namespace tessera::kernels::cuda
