#include <vector>

#include "kernels/cuda/w4a16_table.cuh"

// The W4A16 tiles that are simulated: one of every kind, since all are one source. In the place of w4a16.cpp.
namespace tessera::kernels::cuda {
namespace {

struct Sizes {
  int m, n, k, blocks_per_sm;
};
constexpr Sizes kTiles[] = {{64, 8, 256, 2},  {64, 16, 128, 2},  {128, 24, 64, 2}, {256, 8, 128, 2},
                            {64, 64, 64, 2}, {128, 128, 64, 1}, {64, 96, 128, 1}, {256, 64, 64, 1}};

template <plan::WeightFormat format, size_t i>
void add(std::vector<W4a16Kernel>& kernels) {
  constexpr plan::Tile kTile =
      plan::make_tile(plan::Path::w4a16, format, kTiles[i].m, kTiles[i].n, kTiles[i].k, kTiles[i].blocks_per_sm);
  static_assert(plan::compiled(kTile));
  using Budget = plan::Budget<kTile>;
  kernels.push_back(
      {kTile, Budget::kSmem.total_bytes, folds_segments(kTile), splits_segments(kTile), w4a16_gemm<Budget>});
}

template <plan::WeightFormat format, size_t... i>
std::vector<W4a16Kernel> w4a16_of(std::index_sequence<i...>) {
  std::vector<W4a16Kernel> kernels;
  (add<format, i>(kernels), ...);
  return kernels;
}

}  // namespace

std::span<const W4a16Kernel> w4a16_kernels(plan::WeightFormat format) {
  using Indices = std::make_index_sequence<std::size(kTiles)>;
  static const auto nvfp4 = w4a16_of<plan::WeightFormat::nvfp4>(Indices());
  static const auto mxfp4 = w4a16_of<plan::WeightFormat::mxfp4>(Indices());
  return format == plan::WeightFormat::mxfp4 ? mxfp4 : nvfp4;
}

}  // namespace tessera::kernels::cuda
