#include "plan/candidates.h"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace tessera::plan {
namespace {

constexpr std::array<TileFamily, 2> kFamilies = {{
    {"decode", 2, kTileRows, kDecodeCols, kTileDepths},
    {"prefill", 1, kTileRows, kPrefillCols, kTileDepths},
}};

std::vector<Tile> make_table(Path path, WeightFormat format) {
  std::vector<Tile> tiles;
  for (const TileFamily& family : kFamilies) {
    for (const int m : family.m) {
      for (const int n : family.n) {
        for (const int k : family.k) tiles.push_back(make_tile(path, format, m, n, k, family.blocks_per_sm));
      }
    }
  }
  return tiles;
}

std::vector<Tile> make_dense_table(WeightFormat format) {
  std::vector<Tile> tiles;
  for (const DenseTile& t : kDenseTiles) tiles.push_back(make_dense_tile(format, t));
  return tiles;
}

}  // namespace

std::span<const TileFamily> tile_families() { return kFamilies; }

std::span<const Tile> candidates(Path path, WeightFormat format) {
  if (format != WeightFormat::nvfp4 && format != WeightFormat::mxfp4) {
    return path == Path::w4a16 ? dense_candidates(format) : std::span<const Tile>();
  }
  static const std::vector<Tile> tables[] = {
      make_table(Path::w4a16, WeightFormat::nvfp4), make_table(Path::w4a16, WeightFormat::mxfp4),
      make_table(Path::w4a4, WeightFormat::nvfp4), make_table(Path::w4a4, WeightFormat::mxfp4)};
  return tables[(path == Path::w4a16 ? 0 : 2) + (format == WeightFormat::nvfp4 ? 0 : 1)];
}

std::span<const Tile> dense_candidates(WeightFormat format) {
  static const std::array<std::vector<Tile>, kDenseFormats.size()> tables = [] {
    std::array<std::vector<Tile>, kDenseFormats.size()> all;
    for (size_t i = 0; i < all.size(); ++i) all[i] = make_dense_table(kDenseFormats[i]);
    return all;
  }();
  for (size_t i = 0; i < tables.size(); ++i) {
    if (kDenseFormats[i] == format) return tables[i];
  }
  return {};
}

std::string shape_name(const Tile& tile) { return fmt::format("{}x{}x{}", tile.m, tile.n, tile.k); }

}  // namespace tessera::plan
