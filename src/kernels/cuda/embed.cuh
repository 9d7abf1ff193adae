#pragma once

#include <cstdint>

#include "kernels/atom.h"
#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/decode.cuh"
#include "kernels/cuda/embed.h"

// Rows of an embedding table, eight elements at a time.
namespace tessera::kernels::cuda {

__device__ inline uint32_t word_at(const std::byte* p) { return *reinterpret_cast<const uint32_t*>(p); }

/// Eight neighbouring elements of a row of a slice, as the products take them: lane 4 (row % 8) + q has those of
/// k 32 half + 8 q.
__device__ inline void decode_chunk_bf16(const std::byte* slice, int row, int q, int half, uint32_t (&pairs)[4]) {
  const std::byte* at = slice + half * 1024 + (row % 8 * 4 + q) * 16 + row / 8 * 4;
#pragma unroll
  for (int i = 0; i < 4; ++i) pairs[i] = word_at(at + i / 2 * 512 + i % 2 * 8);
}
__device__ inline void decode_chunk_fp8(const std::byte* slice, int row, int q, int half, uint32_t (&pairs)[4]) {
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
__device__ inline uint4 atom_chunk(const EmbedTable& table, int64_t token, int chunk) {
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

/// Elements [8 chunk, 8 chunk + 8) of a token's row; zeros where the table does not have it.
__device__ inline uint4 embedding_chunk(const EmbedTable& table, int64_t token, int chunk) {
  if (token < 0 || token >= table.vocab) return {};
  if (table.row_alpha != nullptr) return atom_chunk(table, token, chunk);
  return reinterpret_cast<const uint4*>(table.data)[token * (table.hidden / 8) + chunk];
}

}  // namespace tessera::kernels::cuda
