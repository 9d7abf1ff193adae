#include "kernels/cuda/atom.h"

#include "kernels/cuda/dense_fixture.h"

// Atoms that a GPU packs, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

struct Packed {
  std::vector<std::byte> atoms;
  int32_t first_bad;
};

constexpr int32_t kNumber = 3, kLaterBad = 7;

Packed pack_on_gpu(const std::vector<RandomMatrix>& parts, const AtomShape& shape) {
  PackArgs args;
  args.shape = shape;
  args.source = parts[0].format;
  args.part_count = static_cast<int>(parts.size());
  std::vector<OnDevice<std::byte>> memory;
  for (size_t i = 0; i < parts.size(); ++i) {
    const RandomMatrix& m = parts[i];
    memory.emplace_back(std::vector<std::byte>(m.data.begin(), m.data.end() - 1));
    memory.emplace_back(m.block_scales);
    args.parts[i] = {memory[2 * i].get(), memory[2 * i + 1].get(), m.rows};
  }
  const OnDevice<std::byte> out(std::vector<std::byte>(atom_matrix_bytes(shape), std::byte{0xee}));
  const OnDevice<int32_t> bad(std::vector<int32_t>{kLaterBad});
  args.out = out.get();
  args.number = kNumber;
  args.first_bad = bad.get();
  run_on_stream([&](const device::Queue& queue) { return pack_atoms(args, queue.stream); });
  return {out.read(), bad.read()[0]};
}

void expect_packed(const std::vector<RandomMatrix>& parts, RowOrder order) {
  std::vector<format::MatrixView> views;
  for (const RandomMatrix& m : parts) views.push_back(m.view());
  const auto shape = atom_shape(views, order);
  ASSERT_TRUE(shape.ok()) << shape.status().message();
  std::vector<std::byte> want(atom_matrix_bytes(*shape));
  ASSERT_TRUE(kernels::pack_atoms(views, want.data(), order).ok());
  const Packed got = pack_on_gpu(parts, *shape);
  EXPECT_EQ(got.atoms, want) << format::name(parts[0].format) << ", " << parts.size() << " parts";
  EXPECT_EQ(got.first_bad, kLaterBad);
}

TEST(AtomGpu, AtomsAreThoseOfTheCpu) {
  for (const WeightFormat format : kAllFormats) {
    for (const int64_t cols : {32, 320}) {
      expect_packed({{format, 40, cols, 1}}, RowOrder::stacked);
      expect_packed({{format, 48, cols, 2}, {format, 48, cols, 3}}, RowOrder::interleaved);
      expect_packed({{format, 20, cols, 2}, {format, 20, cols, 3}}, RowOrder::interleaved);
      expect_packed({{format, 20, cols, 4}, {format, 7, cols, 5}, {format, 30, cols, 6}}, RowOrder::stacked);
    }
  }
}

TEST(AtomGpu, TheLargestScalesAreTaken) {
  for (const auto& [format, largest] :
       {std::pair{WeightFormat::nvfp4, 0x7e}, {WeightFormat::mxfp4, kUe8m0MaxCode + 0}}) {
    RandomMatrix m(format, 16, 64, 8);
    m.block_scales[5] = static_cast<std::byte>(largest);
    expect_packed({m}, RowOrder::stacked);
  }
}

/// In every place of a slice, with either sign where there is one; of MXFP4, NaN and the least that is too large.
TEST(AtomGpu, WeightsThatAreNotFiniteAreNoted) {
  constexpr int64_t kRows = 16, kCols = 64;
  for (const WeightFormat format : kAllFormats) {
    const RandomMatrix sound(format, kRows, kCols, 7);
    const bool by_scales = !sound.block_scales.empty();
    const uint32_t bits = format == WeightFormat::f32     ? 0x7f7fffffU  // finite, but not in BF16
                          : format == WeightFormat::f16   ? 0x7c00U
                          : format == WeightFormat::bf16  ? 0x7f80U
                          : format == WeightFormat::mxfp4 ? 0xffU
                                                          : 0x7fU;
    const size_t bytes = by_scales ? 1 : format::row_bytes(format, 1);
    const size_t places = by_scales ? sound.block_scales.size() : static_cast<size_t>(kCols);
    for (size_t i = 0; i < places; ++i) {
      RandomMatrix m = sound;
      const bool other = i / 8 % 2 != 0;
      const uint32_t bad = !other                          ? bits
                           : format == WeightFormat::mxfp4 ? kUe8m0MaxCode + 1U
                                                           : bits | 1U << (8 * bytes - 1);
      const size_t place = by_scales ? i : i % kRows * kCols + i;  // a column each, in the rows by turns
      std::memcpy((by_scales ? m.block_scales : m.data).data() + place * bytes, &bad, bytes);
      EXPECT_EQ(pack_on_gpu({m}, {atom_format(format), kRows, kCols, 1}).first_bad, kNumber)
          << format::name(format) << ", place " << place;
    }
  }
}

}  // namespace
}  // namespace tessera::kernels::cuda
