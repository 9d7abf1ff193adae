#include "kernels/cuda/embed.h"

#include <string>

#include "kernels/atom.h"
#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/decode.cuh"
#include "kernels/cuda/dense_rows.cuh"
#include "kernels/ptx/griddepcontrol.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 128;

__device__ uint32_t word_at(const std::byte* p) { return *reinterpret_cast<const uint32_t*>(p); }

/// Eight neighbouring elements of a row of a slice, as the products take them: lane 4 (row % 8) + q has those of
/// k 32 half + 8 q.
__device__ void decode_chunk_bf16(const std::byte* slice, int row, int q, int half, uint32_t (&pairs)[4]) {
  const std::byte* at = slice + half * 1024 + (row % 8 * 4 + q) * 16 + row / 8 * 4;
#pragma unroll
  for (int i = 0; i < 4; ++i) pairs[i] = word_at(at + i / 2 * 512 + i % 2 * 8);
}
__device__ void decode_chunk_fp8(const std::byte* slice, int row, int q, int half, uint32_t (&pairs)[4]) {
  const std::byte* at = slice + half * 512 + (row % 8 * 4 + q) * 16 + row / 8 * 4;
#pragma unroll
  for (int mma = 0; mma < 2; ++mma) {
    uint32_t two[2];
    decode_e4m3(word_at(at + mma * 8), two);
    pairs[2 * mma] = two[0];
    pairs[2 * mma + 1] = two[1];
  }
}
template <WeightFormat format>
__device__ void decode_chunk_fp4(const std::byte* slice, int row, int q, int half, uint32_t (&pairs)[4]) {
  decode_e2m1(word_at(slice + (row % 8 * 4 + q) * 16 + (row / 8 + 2 * half) * 4), pairs);
  const std::byte* scales = slice + scale_place(format, row, 0);
  uint32_t scale = 0;
  if constexpr (format == WeightFormat::nvfp4) {
    scale = scales_e4m3(word_at(scales), q);
  } else {
    scale = scales_ue8m0(__byte_perm(*reinterpret_cast<const uint16_t*>(scales), 0, 0x4140));
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    pairs[i] = half == 0 ? ptx::mul_bf16x2_by<0>(pairs[i], scale) : ptx::mul_bf16x2_by<1>(pairs[i], scale);
  }
}

/// Chunk `chunk` of a row of atoms, times the row's factor.
__device__ uint4 atom_chunk(const EmbedTable& table, int64_t token, int chunk) {
  const int64_t slice = token / kAtomRows * plan::slices(table.hidden) + chunk / 8;
  const std::byte* at = table.data + slice * plan::weight_slice_bytes(table.format);
  const int row = static_cast<int>(token % kAtomRows), q = chunk % 4, half = chunk / 4 % 2;
  uint32_t pairs[4];
  switch (table.format) {
    case WeightFormat::fp8_e4m3: decode_chunk_fp8(at, row, q, half, pairs); break;
    case WeightFormat::nvfp4: decode_chunk_fp4<WeightFormat::nvfp4>(at, row, q, half, pairs); break;
    case WeightFormat::mxfp4: decode_chunk_fp4<WeightFormat::mxfp4>(at, row, q, half, pairs); break;
    default: decode_chunk_bf16(at, row, q, half, pairs); break;
  }
  const float alpha = table.row_alpha[token];
#pragma unroll
  for (uint32_t& pair : pairs) {
    pair = ptx::cvt_bf16x2(__fmul_rn(high_bf16(pair), alpha), __fmul_rn(low_bf16(pair), alpha));
  }
  return {pairs[0], pairs[1], pairs[2], pairs[3]};
}

/// A block a row.
__global__ void __launch_bounds__(kThreads) embed_rows(const __grid_constant__ EmbedArgs args) {
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int row = static_cast<int>(blockIdx.x);
  if (row >= live_rows(args)) return;
  const EmbedTable& table = args.table;
  const int64_t token = __ldcg(args.tokens + row);
  const bool exists = token >= 0 && token < table.vocab;
  const auto* stored = reinterpret_cast<const uint16_t*>(table.data) + token * table.hidden;
  auto* out = args.out + row * args.out_stride;
  for (int chunk = static_cast<int>(threadIdx.x); chunk < table.hidden / 8; chunk += kThreads) {
    uint4 v{};
    if (exists) {
      v = table.row_alpha == nullptr ? *reinterpret_cast<const uint4*>(stored + chunk * 8)
                                     : atom_chunk(table, token, chunk);
    }
    *reinterpret_cast<uint4*>(out + chunk * 8) = v;
  }
}

Status check(const EmbedArgs& args) {
  const EmbedTable& t = args.table;
  const auto refuse = [](const std::string& what) { return Status(StatusCode::invalid_argument, what); };
  if (t.data == nullptr || args.tokens == nullptr || args.out == nullptr) {
    return refuse("an embedding needs a table, tokens and memory for rows");
  }
  if (t.format == WeightFormat::f32 || t.format == WeightFormat::f16 ||
      (t.row_alpha == nullptr && t.format != WeightFormat::bf16)) {
    return refuse("an embedding table of " + std::string(format::name(t.format)) +
                  (t.row_alpha == nullptr ? " rows; expected BF16 rows, or atoms" : " atoms"));
  }
  const int64_t unit = t.row_alpha == nullptr ? 8 : plan::scale_group(t.format);
  if (t.vocab <= 0 || t.hidden <= 0 || t.hidden % unit != 0 || args.out_stride < t.hidden || args.out_stride % 8 != 0 ||
      args.rows_max < 0) {
    return refuse("an embedding of " + std::to_string(args.rows_max) + " rows, " + std::to_string(args.out_stride) +
                  " elements apart, from a table of [" + std::to_string(t.vocab) + ", " + std::to_string(t.hidden) +
                  "]; rows are multiples of " + std::to_string(unit) + " elements");
  }
  return {};
}

}  // namespace

Status embed(const EmbedArgs& args, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(check(args));
  if (args.rows_max == 0) return {};
  return device::launch(embed_rows, queue, static_cast<unsigned>(args.rows_max), kThreads, size_t{0}, args);
}

}  // namespace tessera::kernels::cuda
