#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "kernels/cuda/dense_gemm.h"
#include "kernels/cuda/dense_rows.cuh"
#include "kernels/cuda/w4a16_gemm.cuh"
#include "plan/candidates.h"

// The dense product for one tile: the block of w4a16_gemm.cuh, with factors of rows, and columns that follow from the
// number of live rows. For the source files that formats are compiled in, and no other.
namespace tessera::kernels::cuda {

/// A factor for each row.
template <>
struct RowFactors<DenseGemmArgs> {
  const float* first;  // of the block
  int strips;

  __device__ RowFactors(const DenseGemmArgs& args, const BlockTile& block)
      : first(args.matrices[block.tile.group].row_alpha + block.strip * kAtomRows), strips(block.strips) {}
  [[nodiscard]] __device__ float2 of_rows(int strip, int g) const {
    const float* row = first + min(strip, strips - 1) * kAtomRows + g;
    return {row[0], row[8]};
  }
  __device__ void prefetch(int lane) const {
    if (lane < strips / 2 + 1) ptx::prefetch_l2(first + min(lane * 2, strips - 1) * kAtomRows);
  }
};

/// fp32 results, straight from the accumulators: eight neighbouring rows of a column fill a sector.
template <typename S, typename Sum>
__device__ inline void write_f32(const DenseGemmArgs& args, const BlockTile& block, int warp, int lane,
                                 const Sum& sum) {
  const RowFactors<DenseGemmArgs> factors(args, block);
  const GemmMatrix& m = args.matrices[block.tile.group];
  const int g = lane / 4;
#pragma unroll
  for (int i = 0; i < S::kWarpStrips; ++i) {
    const int strip = warp * S::kWarpStrips + i;
    if (strip >= block.strips) continue;
    const float2 alpha = factors.of_rows(strip, g);
    const int row = (block.strip + strip) * kAtomRows + g;
    float* out = static_cast<float*>(m.out) + row;
#pragma unroll
    for (int c = 0; c < S::kWarpCols; ++c) {
      const int column = c * plan::kMmaCols + lane % 4 * 2;
      if (column >= block.tile.columns) continue;
      const float4 v = sum(i, c);
      const float pairs[2][2] = {{v.x, v.z}, {v.y, v.w}};
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        if (column + odd >= block.tile.columns) continue;
        float* to = out + (block.tile.first_slot + column + odd) * m.out_stride;
        if (row < m.rows) to[0] = __fmul_rn(pairs[odd][0], alpha.x);
        if (row + 8 < m.rows) to[8] = __fmul_rn(pairs[odd][1], alpha.y);
      }
    }
  }
}

/// Called by all consumer warps.
template <typename S, typename Sum>
__device__ inline void write_rows(const DenseGemmArgs& args, const BlockTile& block, std::byte* smem,
                                  uint32_t smem_address, int warp, int lane, const Sum& sum) {
  const GemmMatrix& m = args.matrices[block.tile.group];
  if (m.epilogue == Epilogue::f32) return write_f32<S>(args, block, warp, lane, sum);
  stage_rows<S>(RowFactors<DenseGemmArgs>(args, block), smem_address, warp, lane, sum);
  const bool swiglu = m.epilogue == Epilogue::swiglu;
  const OutRows rows{static_cast<uint16_t*>(m.out) + block.tile.first_slot * m.out_stride, m.out_stride,
                     swiglu ? m.rows / 2 : m.rows};
  if (swiglu) {
    Staged<S>::write_gated(rows, block, smem, warp * 32 + lane);
  } else {
    Staged<S>::template write<true>(rows, block, smem, warp * 32 + lane);
  }
}

/// Column tiles that take turns within one row tile, so that blocks which run together share weights in L2, and rows of
/// x too.
inline constexpr int kColumnTilesTogether = 8;

template <typename Budget>
__global__ void __launch_bounds__(Budget::kThreads, Budget::kTile.blocks_per_sm)
    dense_gemm(const __grid_constant__ DenseGemmArgs args) {
  using S = w4a16::Shape<Budget>;
  std::byte* smem = ptx::dynamic_shared_memory();
  const uint32_t smem_address = ptx::shared_address(smem);
  if (threadIdx.x == 0) S::Ring::init(smem_address, 32 * S::kLoaders, 32 * S::kConsumers);

  // Which tile. Blocks go through a group of column tiles row tile by row tile.
  const int group_blocks = kColumnTilesTogether * args.row_tiles;
  const int group = static_cast<int>(blockIdx.x) / group_blocks, in_group = static_cast<int>(blockIdx.x) % group_blocks;
  const int first_column_tile = group * kColumnTilesTogether;
  const int width = min(kColumnTilesTogether, args.column_tiles - first_column_tile);
  const int column_tile = first_column_tile + in_group % width;
  const int row_tile = in_group / width;
  int matrix = 0;
  while (matrix + 1 < args.count && row_tile >= args.matrices[matrix + 1].first_row_tile) ++matrix;
  w4a16::BlockWork work;
  work.tile = {matrix, column_tile * S::kTile.n, 0, 0};
  work.strip = (row_tile - args.matrices[matrix].first_row_tile) * S::kStrips;
  work.strips = min(S::kStrips, args.matrices[matrix].strips - work.strip);
  work.slices = static_cast<int>(plan::slices(args.depth));

  const auto wait = [&] {
    if (args.overlaps_previous) {
      ptx::griddepcontrol_launch_dependents_early();
    } else {
      ptx::griddepcontrol_wait();
      ptx::griddepcontrol_launch_dependents();
    }
    work.tile.columns = min(live_rows(args) - work.tile.first_slot, S::kTile.n);
    work.cols = (work.tile.columns + plan::kMmaCols - 1) / plan::kMmaCols;
    return work.tile.columns > 0;
  };
  // The weights of the first column tile are asked for before the wait; others, which may have no live row, wait first.
  const bool early = column_tile == 0;
  if (early || wait()) w4a16::run_block<Budget>(args, work, smem, smem_address, [&] { return early ? wait() : true; });
  if (args.overlaps_previous) ptx::griddepcontrol_wait();
}

/// The kernel of a tile, null where plan::compiled() says no.
template <plan::Tile tile>
constexpr DenseKernel dense_kernel_of() {
  if constexpr (plan::compiled(tile)) {
    return {tile, dense_gemm<plan::Budget<tile>>};
  } else {
    return {tile, nullptr};
  }
}

template <plan::WeightFormat format, size_t... i>
std::array<DenseKernel, sizeof...(i)> dense_family_kernels(std::index_sequence<i...>) {
  return {dense_kernel_of<plan::make_dense_tile(format, plan::kDenseTiles[i])>()...};
}

template <plan::WeightFormat format>
std::span<const DenseKernel> dense_family() {
  static const auto kernels = dense_family_kernels<format>(std::make_index_sequence<plan::kDenseTiles.size()>());
  return kernels;
}

}  // namespace tessera::kernels::cuda
