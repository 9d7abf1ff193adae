#include "kernels/cuda/norm.h"

#include <string>

#include "kernels/cuda/dense_rows.cuh"
#include "kernels/cuda/norm.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/prefetch.cuh"
#include "kernels/ptx/shared_memory.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = kNormLanes;

/// A block a row. Shared memory: the row's sums, then those of the parts; a thread reads back what it has written.
__global__ void __launch_bounds__(kThreads) add_norm_rows(const __grid_constant__ AddNormArgs args) {
  const NormInput& norm = args.norm;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int chunks = args.hidden / kNormChunk, row = static_cast<int>(blockIdx.x);
  auto* sums = reinterpret_cast<uint4*>(ptx::dynamic_shared_memory());
  auto* parts = reinterpret_cast<float*>(sums + chunks);
  ptx::griddepcontrol_launch_dependents_early();
  if (static_cast<int>(threadIdx.x) < chunks) ptx::prefetch_l2(norm.weight + threadIdx.x * kNormChunk);
  ptx::griddepcontrol_wait();
  if (row >= live_rows(args)) return;

  const int64_t first = int64_t{row} * args.hidden;
  sum_parts(chunks, warp, kNormParts, lane, parts, [&](int i, float sum) {
    const int64_t at = first + i * kNormChunk;
    uint4 v = *reinterpret_cast<const uint4*>(norm.residual + at);
    if (norm.delta != nullptr) v = add_bf16(v, *reinterpret_cast<const uint4*>(norm.delta + at));
    sums[i] = v;
    if (norm.residual_out != nullptr) *reinterpret_cast<uint4*>(norm.residual_out + at) = v;
    return add_squares(v, sum);
  });
  __syncthreads();
  if (norm.normed_out == nullptr) return;
  uint16_t* out = norm.normed_out + int64_t{row} * args.normed_stride;
  const float inverse = inverse_norm(parts, args.hidden, norm.eps);
  for (int i = static_cast<int>(threadIdx.x); i < chunks; i += kThreads) {
    const auto* weight = reinterpret_cast<const float4*>(norm.weight + i * kNormChunk);
    *reinterpret_cast<uint4*>(out + i * kNormChunk) = normed(sums[i], inverse, weight[0], weight[1]);
  }
}

Status check(const AddNormArgs& args) {
  const NormInput& n = args.norm;
  if (n.residual == nullptr || n.weight == nullptr || (n.residual_out == nullptr && n.normed_out == nullptr)) {
    return {StatusCode::invalid_argument, "a norm needs rows, a weight and somewhere to write to"};
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
  return device::launch(add_norm_rows, queue, static_cast<unsigned>(args.rows_max), kThreads, smem_bytes, filled);
}

}  // namespace tessera::kernels::cuda
