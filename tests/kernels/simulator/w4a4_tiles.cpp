#include <vector>

#include "kernels/cuda/w4a4_instantiate.cuh"

// The W4A4 tiles that are simulated. In the place of the families' source files.
namespace tessera::kernels::cuda {
namespace {

struct Sizes {
  int m, n, k;
};
constexpr Sizes kTiles[] = {{64, 64, 256}, {64, 128, 64}, {128, 128, 128}, {128, 256, 64}, {256, 128, 64}};

constexpr bool is_simulated(const plan::Tile& t) {
  for (const Sizes& s : kTiles) {
    if (s.m == t.m && s.n == t.n && s.k == t.k) return true;
  }
  return false;
}

template <WeightFormat format, int m, size_t... i>
std::vector<W4a4Kernel> w4a4_of(std::index_sequence<i...>) {
  std::vector<W4a4Kernel> kernels;
  const auto one = []<size_t index>() -> W4a4Kernel {
    constexpr plan::Tile kTile = W4a4Family<format, m>::tile(index);
    if constexpr (is_simulated(kTile)) return compiled_or_null<kTile>();
    return nullptr;
  };
  (kernels.push_back(one.template operator()<i>()), ...);
  return kernels;
}

template <WeightFormat format, int m>
std::span<const W4a4Kernel> simulated_family() {
  static const auto kernels = w4a4_of<format, m>(std::make_index_sequence<W4a4Family<format, m>::kCount>());
  return kernels;
}

}  // namespace

template <>
std::span<const W4a4Kernel> w4a4_family<WeightFormat::nvfp4, 64>() { return simulated_family<WeightFormat::nvfp4, 64>(); }
template <>
std::span<const W4a4Kernel> w4a4_family<WeightFormat::nvfp4, 128>() { return simulated_family<WeightFormat::nvfp4, 128>(); }
template <>
std::span<const W4a4Kernel> w4a4_family<WeightFormat::nvfp4, 256>() { return simulated_family<WeightFormat::nvfp4, 256>(); }
template <>
std::span<const W4a4Kernel> w4a4_family<WeightFormat::mxfp4, 64>() { return simulated_family<WeightFormat::mxfp4, 64>(); }
template <>
std::span<const W4a4Kernel> w4a4_family<WeightFormat::mxfp4, 128>() { return simulated_family<WeightFormat::mxfp4, 128>(); }
template <>
std::span<const W4a4Kernel> w4a4_family<WeightFormat::mxfp4, 256>() { return simulated_family<WeightFormat::mxfp4, 256>(); }

}  // namespace tessera::kernels::cuda
