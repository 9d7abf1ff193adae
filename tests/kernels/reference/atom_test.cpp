#include "kernels/atom.h"

#include <gtest/gtest.h>

#include <set>

#include "format/e4m3.h"
#include "format/ue8m0.h"
#include "kernels/matrix_fixture.h"

namespace tessera::kernels {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::nvfp4, WeightFormat::mxfp4};

/// Element (row 0..15, k) of a strip, decoded from its atoms by the places that atom.h documents.
double decoded(const AtomShape& shape, const std::vector<std::byte>& atoms, int64_t strip, int row, int64_t k) {
  const std::byte* slice = atoms.data() + static_cast<size_t>(strip) * strip_bytes(shape) +
                           static_cast<size_t>(k / kSliceDepth * plan::weight_slice_bytes(shape.format));
  const int in_slice = static_cast<int>(k % kSliceDepth);
  const CodePlace place = code_place(row, in_slice);
  const auto code = static_cast<uint8_t>(static_cast<unsigned>(slice[place.byte]) >> place.shift);
  const auto scale =
      static_cast<uint8_t>(slice[scale_place(shape.format, row, in_slice / plan::scale_group(shape.format))]);
  return double{format::decode_e2m1(code)} *
         (shape.format == WeightFormat::nvfp4 ? format::decode_e4m3(scale) : format::decode_ue8m0(scale));
}

std::vector<std::byte> packed(std::span<const format::MatrixView> parts, AtomShape& shape) {
  const auto found = atom_shape(parts);
  EXPECT_TRUE(found.ok());
  shape = *found;
  std::vector<std::byte> atoms(atom_matrix_bytes(shape), std::byte{0xee});
  const Status status = pack_atoms(parts, atoms.data());
  EXPECT_TRUE(status.ok()) << status.message();
  return atoms;
}

TEST(Atom, PlacesOfASliceAreABijection) {
  for (const WeightFormat format : kFormats) {
    std::set<int> nibbles;
    std::set<int> scales;
    for (int row = 0; row < kAtomRows; ++row) {
      for (int k = 0; k < kSliceDepth; ++k) {
        const CodePlace place = code_place(row, k);
        EXPECT_LT(place.byte, kSliceCodeBytes);
        nibbles.insert(place.byte * 2 + place.shift / 4);
        scales.insert(scale_place(format, row, k / plan::scale_group(format)));
      }
    }
    EXPECT_EQ(nibbles.size(), 1024U);
    EXPECT_EQ(scales.size(), static_cast<size_t>(1024 / plan::scale_group(format)));
    EXPECT_EQ(*scales.begin(), kSliceCodeBytes);
    EXPECT_EQ(*scales.rbegin(), plan::weight_slice_bytes(format) - 1);
  }
}

TEST(Atom, AWordIsTheFragmentOfTheFp4Mma) {
  // a2 of lane g = 3, q = 1: row 3, k 40..47, and element 41 is the fifth nibble.
  const CodePlace place = code_place(3, 41);
  EXPECT_EQ(place.byte, (3 * 4 + 1) * 16 + 2 * 4 + 2);
  EXPECT_EQ(place.shift, 0);
  EXPECT_EQ(code_place(11, 40).byte, (3 * 4 + 1) * 16 + 3 * 4);
}

TEST(Atom, HoldsEveryElementAndZeroesElsewhere) {
  for (const WeightFormat format : kFormats) {
    const int64_t group = plan::scale_group(format);
    for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{16, 256}, {24, group}, {40, 256 + 3 * group}}) {
      const RandomMatrix m(format, rows, cols, 1);
      AtomShape shape;
      const format::MatrixView view = m.view();
      const auto atoms = packed({&view, 1}, shape);
      for (int64_t r = 0; r < strips(shape) * kAtomRows; ++r) {
        for (int64_t k = 0; k < atoms_per_strip(shape) * kAtomDepth; ++k) {
          const bool inside = r < rows && k < cols;
          const double want = inside ? double{m.code(r, k)} * m.block_scale(r, k) : 0;
          ASSERT_EQ(decoded(shape, atoms, r / kAtomRows, static_cast<int>(r % kAtomRows), k), want) << r << ' ' << k;
        }
      }
    }
  }
}

TEST(Atom, GateAndUpAreInterleavedByEight) {
  for (const WeightFormat format : kFormats) {
    const RandomMatrix gate(format, 48, 64, 2), up(format, 48, 64, 3);
    const format::MatrixView parts[] = {gate.view(), up.view()};
    AtomShape shape;
    const auto atoms = packed(parts, shape);
    ASSERT_EQ(strips(shape), 6);
    for (int64_t i = 0; i < 48; ++i) {
      for (int64_t k = 0; k < 64; ++k) {
        const int row = static_cast<int>(i % 8);
        ASSERT_EQ(decoded(shape, atoms, i / 8, row, k), double{gate.code(i, k)} * gate.block_scale(i, k));
        ASSERT_EQ(decoded(shape, atoms, i / 8, row + 8, k), double{up.code(i, k)} * up.block_scale(i, k));
      }
    }
  }
}

TEST(Atom, ScalesThatCannotBeAreErrors) {
  for (const auto& [format, byte, code] : {std::tuple{WeightFormat::nvfp4, 0x7f, StatusCode::corrupt_data},
                                           {WeightFormat::nvfp4, 0xff, StatusCode::corrupt_data},
                                           {WeightFormat::mxfp4, 0xff, StatusCode::corrupt_data},
                                           {WeightFormat::mxfp4, 193, StatusCode::unsupported}}) {
    RandomMatrix m(format, 16, 64, 4);
    m.block_scales[5] = static_cast<std::byte>(byte);
    const format::MatrixView view = m.view();
    std::vector<std::byte> atoms(2304);
    const Status status = pack_atoms({&view, 1}, atoms.data());
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(
        status.message().find(format == WeightFormat::nvfp4 ? "row 1, columns from 16" : "row 2, columns from 32"),
        std::string::npos)
        << status.message();
  }
}

TEST(Atom, ShapesThatCannotBeAreErrors) {
  const RandomMatrix a(WeightFormat::nvfp4, 16, 64, 5), b(WeightFormat::nvfp4, 16, 48, 6),
      c(WeightFormat::bf16, 16, 64, 7);
  const format::MatrixView unequal[] = {a.view(), b.view()};
  EXPECT_EQ(atom_shape(unequal).status().code(), StatusCode::invalid_argument);
  const format::MatrixView wide = c.view();
  EXPECT_EQ(atom_shape({&wide, 1}).status().code(), StatusCode::invalid_argument);
  format::MatrixView odd = a.view();
  odd.cols = 40;
  EXPECT_EQ(atom_shape({&odd, 1}).status().code(), StatusCode::unsupported);
}

}  // namespace
}  // namespace tessera::kernels
