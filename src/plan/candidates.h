#pragma once

#include <array>
#include <span>
#include <string>

#include "plan/budget.h"
#include "plan/registers.h"
#include "plan/tile.h"

// Candidate tiles as data. To add a tile, add its m, n or k to a family; whether it fits is not decided here. All of it
// is constexpr, because kernels are instantiated from the same tables.
namespace tessera::plan {

// In the order of preference where estimates do not tell tiles apart: small tiles fill and balance a GPU, deep stages
// cost few barriers.
inline constexpr std::array kTileRows = {64, 128, 256};
inline constexpr std::array kTileDepths = {256, 128, 64};
inline constexpr std::array kDecodeCols = {8, 16, 24, 32, 40, 48, 56, 64};
inline constexpr std::array kPrefillCols = {64, 96, 128, 192, 256};

/// How consumer warps divide a tile. W4A16 and narrow tiles: over rows alone, so that each weight is decoded and read
/// from shared memory once. W4A4 has nothing to decode, and its wide tiles are bound by reads of shared memory, which
/// are least for square warp tiles.
struct WarpGrid {
  int m, warps_m_narrow, warps_m_wide, warps_n_wide;
};
inline constexpr std::array<WarpGrid, 4> kWarpGrids = {{{32, 2, 1, 2}, {64, 4, 2, 4}, {128, 8, 4, 2}, {256, 8, 4, 2}}};
inline constexpr int kWideCols = 96;  // from here on

/// n of the tiles that are made for so many blocks an SM.
constexpr std::span<const int> family_cols(int blocks_per_sm) {
  return blocks_per_sm == 2 ? std::span<const int>(kDecodeCols) : std::span<const int>(kPrefillCols);
}

/// All combinations of m, n and k, for one number of blocks per SM.
struct TileFamily {
  const char* name;
  int blocks_per_sm;
  std::span<const int> m, n, k;
};

/// decode: few columns, two blocks an SM, so that one block's loads cover the other's start and end, and the next
/// kernel's blocks may start early. prefill: wide tiles, one block an SM.
std::span<const TileFamily> tile_families();

/// Tiles of dense products, for 17 rows and more (fewer have a kernel without tiles, kernels/cuda/dense.h). They are
/// few: a dense product has one column tile after another and no experts with a token or two. 32 rows are for matrices
/// of 2,048 rows, which make 32 blocks of 64. Narrow tiles of 4-bit weights stage twice the depth, in about the same
/// bytes.
struct DenseTile {
  int m, n, blocks_per_sm;
};
inline constexpr std::array<DenseTile, 11> kDenseTiles = {{{32, 32, 2},
                                                           {32, 64, 2},
                                                           {64, 24, 2},
                                                           {64, 32, 2},
                                                           {64, 48, 2},
                                                           {64, 64, 2},
                                                           {64, 128, 1},
                                                           {128, 64, 1},
                                                           {128, 128, 1},
                                                           {256, 64, 1},
                                                           {256, 128, 1}}};
inline constexpr std::array kDenseFormats = {WeightFormat::bf16, WeightFormat::fp8_e4m3, WeightFormat::nvfp4,
                                             WeightFormat::mxfp4};
constexpr int dense_tile_depth(WeightFormat format, int blocks_per_sm) {
  const bool four_bits = format == WeightFormat::nvfp4 || format == WeightFormat::mxfp4;
  return four_bits && blocks_per_sm == 2 ? 128 : 64;
}

/// Every candidate of a path and format, in the tables' order, with its warps and with the most stages that fit; 0 or
/// 1 stage for a tile that has no room (reject.h says why). Experts in BF16 or FP8, which nobody publishes for speed,
/// have the tiles of dense products.
std::span<const Tile> candidates(Path path, WeightFormat format);
/// The same of dense products.
std::span<const Tile> dense_candidates(WeightFormat format);
/// Those that a product may use.
inline std::span<const Tile> candidates(const Desc& desc) {
  return desc.op == Op::dense ? dense_candidates(desc.format) : candidates(desc.path, desc.format);
}

/// The tile of these sizes with its warps and stages, whether or not it is in a table.
constexpr Tile make_tile(Path path, WeightFormat format, int m, int n, int k, int blocks_per_sm) {
  Tile tile{.path = path, .format = format, .m = m, .n = n, .k = k, .blocks_per_sm = blocks_per_sm};
  for (const WarpGrid& grid : kWarpGrids) {
    if (grid.m != m) continue;
    const bool wide = path == Path::w4a4 && n >= kWideCols;
    tile.warps_m = wide ? grid.warps_m_wide : grid.warps_m_narrow;
    tile.warps_n = wide ? grid.warps_n_wide : 1;
  }
  if (legal_shape(tile)) tile.stages = stages_that_fit(tile);
  return tile;
}

constexpr Tile make_dense_tile(WeightFormat format, const DenseTile& t) {
  return make_tile(Path::w4a16, format, t.m, t.n, dense_tile_depth(format, t.blocks_per_sm), t.blocks_per_sm);
}

/// Whether a kernel of this tile is compiled: it fits the budget, and its registers should too. What a GPU has is not
/// looked at (reject.h does).
constexpr bool compiled(const Tile& tile) { return fits(tile) && register_estimate(tile) <= register_limit(tile); }

/// "64x8x256"
std::string shape_name(const Tile& tile);

}  // namespace tessera::plan
