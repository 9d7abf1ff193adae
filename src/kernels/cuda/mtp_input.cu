#include "kernels/cuda/mtp_input.h"

#include <string>

#include "kernels/cuda/dense_rows.cuh"
#include "kernels/cuda/embed.cuh"
#include "kernels/cuda/norm.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/shared_memory.cuh"

namespace tessera::kernels::cuda {
namespace {

/// Blocks [rows, 2]: a row's embedding, and what it goes on from. Dynamic shared memory: the row, then the sums of the
/// parts.
__global__ void __launch_bounds__(kNormLanes) mtp_input_rows(const __grid_constant__ MtpInputArgs args) {
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int row = static_cast<int>(blockIdx.x), chunks = static_cast<int>(args.table.hidden) / kNormChunk;
  const bool embeds = blockIdx.y == 0;
  NormInput norm;
  norm.residual = args.hidden;
  norm.weight = embeds ? args.embedding_norm : args.hidden_norm;
  const NormWeights weights(norm, chunks);
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  if (row >= live_rows(args)) return;

  auto* values = reinterpret_cast<uint4*>(ptx::dynamic_shared_memory());
  auto* parts = reinterpret_cast<float*>(values + chunks);
  const int64_t from = embeds ? args.tokens[row] : args.hidden_rows != nullptr ? args.hidden_rows[row] : row;
  sum_parts(chunks, warp, kNormParts, lane, parts, [&](int i, float sum) {
    const uint4 v =
        embeds ? embedding_chunk(args.table, from, i) : reinterpret_cast<const uint4*>(args.hidden)[from * chunks + i];
    values[i] = v;
    return add_squares(v, sum);
  });
  __syncthreads();
  auto* out = reinterpret_cast<uint4*>(args.out) + int64_t{2 * row + (embeds ? 0 : 1)} * chunks;
  const float inverse = inverse_norm(parts, static_cast<int>(args.table.hidden), args.eps);
  weights.for_each_chunk(norm, chunks, [&](int i, const float4& low, const float4& high) {
    out[i] = normed(values[i], inverse, low, high);
  });
}

}  // namespace

Status mtp_input(const MtpInputArgs& args, const device::Queue& queue) {
  if (args.tokens == nullptr || args.hidden == nullptr || args.embedding_norm == nullptr ||
      args.hidden_norm == nullptr || args.out == nullptr) {
    return {StatusCode::invalid_argument, "the MTP head's input needs tokens, hidden rows, two norms and memory"};
  }
  TESSERA_RETURN_IF_ERROR(check(args.table));
  if (args.table.hidden > kNormHiddenMax || args.rows_max < 0) {
    return {StatusCode::invalid_argument, "an MTP head's input of " + std::to_string(args.rows_max) + " rows of " +
                                              std::to_string(args.table.hidden) + " elements; expected up to " +
                                              std::to_string(kNormHiddenMax)};
  }
  if (args.rows_max == 0) return {};
  const size_t smem_bytes = static_cast<size_t>(args.table.hidden) * 2 + kNormParts * sizeof(float);
  return device::launch(mtp_input_rows, queue, dim3(static_cast<unsigned>(args.rows_max), 2), kNormLanes, smem_bytes,
                        args);
}

}  // namespace tessera::kernels::cuda
