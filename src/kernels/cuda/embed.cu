#include "kernels/cuda/embed.h"

#include <string>

#include "kernels/cuda/dense_rows.cuh"
#include "kernels/cuda/embed.cuh"
#include "kernels/ptx/griddepcontrol.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 128;

/// A block a row.
__global__ void __launch_bounds__(kThreads) embed_rows(const __grid_constant__ EmbedArgs args) {
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int row = static_cast<int>(blockIdx.x);
  if (row >= live_rows(args)) return;
  const EmbedTable& table = args.table;
  const int64_t token = __ldcg(args.tokens + row);
  auto* out = args.out + row * args.out_stride;
  for (int chunk = static_cast<int>(threadIdx.x); chunk < table.hidden / 8; chunk += kThreads) {
    *reinterpret_cast<uint4*>(out + chunk * 8) = embedding_chunk(table, token, chunk);
  }
}

Status refuse(const std::string& what) { return {StatusCode::invalid_argument, what}; }

}  // namespace

Status check(const EmbedTable& t) {
  if (t.data == nullptr) return refuse("an embedding needs a table");
  if (t.format == WeightFormat::f32 || t.format == WeightFormat::f16 ||
      (t.row_alpha == nullptr && t.format != WeightFormat::bf16)) {
    return refuse("an embedding table of " + std::string(format::name(t.format)) +
                  (t.row_alpha == nullptr ? " rows; expected BF16 rows, or atoms" : " atoms"));
  }
  const int64_t unit = t.row_alpha == nullptr ? 8 : plan::scale_group(t.format);
  if (t.vocab <= 0 || t.hidden <= 0 || t.hidden % unit != 0) {
    return refuse("an embedding table of [" + std::to_string(t.vocab) + ", " + std::to_string(t.hidden) +
                  "]; rows are multiples of " + std::to_string(unit) + " elements");
  }
  return {};
}

Status embed(const EmbedArgs& args, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(check(args.table));
  if (args.tokens == nullptr || args.out == nullptr) return refuse("an embedding needs tokens and memory for rows");
  if (args.out_stride < args.table.hidden || args.out_stride % 8 != 0 || args.rows_max < 0) {
    return refuse("an embedding of " + std::to_string(args.rows_max) + " rows, " + std::to_string(args.out_stride) +
                  " elements apart; they have " + std::to_string(args.table.hidden) +
                  ", and strides are multiples of 8");
  }
  if (args.rows_max == 0) return {};
  return device::launch(embed_rows, queue, static_cast<unsigned>(args.rows_max), kThreads, size_t{0}, args);
}

}  // namespace tessera::kernels::cuda
