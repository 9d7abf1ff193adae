#include "kernels/atom.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "format/e4m3.h"
#include "format/ue8m0.h"
#include "kernels/matrix_fixture.h"

namespace tessera::kernels {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::nvfp4, WeightFormat::mxfp4};

bool four_bits(WeightFormat format) { return format == WeightFormat::nvfp4 || format == WeightFormat::mxfp4; }

/// Element (row 0..15, k) of a strip, decoded from its atoms by the places that atom.h documents.
double decoded(const AtomShape& shape, const std::vector<std::byte>& atoms, int64_t strip, int row, int64_t k) {
  const std::byte* slice = atoms.data() + static_cast<size_t>(strip) * strip_bytes(shape) +
                           static_cast<size_t>(k / kSliceDepth * plan::weight_slice_bytes(shape.format));
  const int in_slice = static_cast<int>(k % kSliceDepth);
  if (!four_bits(shape.format)) {
    const std::byte* at = slice + element_place(shape.format, row, in_slice);
    if (shape.format == WeightFormat::fp8_e4m3) return format::decode_e4m3(static_cast<uint8_t>(*at));
    uint16_t bits = 0;
    std::memcpy(&bits, at, 2);
    return bf16_to_float(bits);
  }
  const CodePlace place = code_place(row, in_slice);
  const auto code = static_cast<uint8_t>(static_cast<unsigned>(slice[place.byte]) >> place.shift);
  const auto scale =
      static_cast<uint8_t>(slice[scale_place(shape.format, row, in_slice / plan::scale_group(shape.format))]);
  return double{format::decode_e2m1(code)} *
         (shape.format == WeightFormat::nvfp4 ? format::decode_e4m3(scale) : format::decode_ue8m0(scale));
}

/// What atoms keep of an element.
double kept(const RandomMatrix& m, int64_t row, int64_t k) {
  const double value = double{m.code(row, k)} * m.block_scale(row, k);
  return atom_format(m.format) == WeightFormat::bf16 ? round_to_bf16(static_cast<float>(value)) : value;
}

std::vector<std::byte> packed(std::span<const format::MatrixView> parts, AtomShape& shape,
                              RowOrder order = RowOrder::interleaved) {
  const auto found = atom_shape(parts, order);
  EXPECT_TRUE(found.ok());
  shape = *found;
  std::vector<std::byte> atoms(atom_matrix_bytes(shape), std::byte{0xee});
  const Status status = pack_atoms(parts, atoms.data(), order);
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

TEST(Atom, ElementsOfASliceAreABijectionAndFragmentsOfTheBf16Mma) {
  for (const auto& [format, bytes] : {std::pair{WeightFormat::bf16, 2}, {WeightFormat::fp8_e4m3, 1}}) {
    std::set<int> places;
    for (int row = 0; row < kAtomRows; ++row) {
      for (int k = 0; k < kSliceDepth; ++k) places.insert(element_place(format, row, k));
    }
    EXPECT_EQ(places.size(), 1024U);
    EXPECT_EQ(*places.rbegin(), plan::weight_slice_bytes(format) - bytes);
  }
  // Lane g = 3, q = 1, MMA 3 (k 44..47): row 3's first pair, row 11's, row 3's second.
  EXPECT_EQ(element_place(WeightFormat::bf16, 3, 44), 3 * 512 + 13 * 16);
  EXPECT_EQ(element_place(WeightFormat::bf16, 11, 45), 3 * 512 + 13 * 16 + 4 + 2);
  EXPECT_EQ(element_place(WeightFormat::bf16, 3, 46), 3 * 512 + 13 * 16 + 8);
  EXPECT_EQ(element_place(WeightFormat::fp8_e4m3, 11, 45), 512 + 13 * 16 + 12 + 2);
}

TEST(Atom, HoldsEveryElementAndZeroesElsewhere) {
  for (const WeightFormat format : kAllFormats) {
    const int64_t group = plan::scale_group(format);
    for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{16, 256}, {24, group}, {40, 256 + 3 * group}}) {
      const RandomMatrix m(format, rows, cols, 1);
      AtomShape shape;
      const format::MatrixView view = m.view();
      const auto atoms = packed({&view, 1}, shape);
      for (int64_t r = 0; r < strips(shape) * kAtomRows; ++r) {
        for (int64_t k = 0; k < strip_slices(shape) * kSliceDepth; ++k) {
          const bool inside = r < rows && k < cols;
          const double want = inside ? kept(m, r, k) : 0;
          ASSERT_EQ(decoded(shape, atoms, r / kAtomRows, static_cast<int>(r % kAtomRows), k), want) << r << ' ' << k;
        }
      }
    }
  }
}

TEST(Atom, DepthIsPaddedToTheSlice) {
  for (const WeightFormat format : kAllFormats) {
    const AtomShape shape{atom_format(format), 16, 320, 1};
    EXPECT_EQ(atom_matrix_bytes(shape), static_cast<size_t>(5 * plan::weight_slice_bytes(shape.format)));
  }
  EXPECT_EQ(strip_bytes({WeightFormat::nvfp4, 16, 512, 1}), 2U * 2'304);
}

TEST(Atom, PartsAreStackedByRows) {
  for (const WeightFormat format : kAllFormats) {
    const RandomMatrix q(format, 20, 96, 2), k(format, 7, 96, 3), v(format, 30, 96, 4);
    RandomMatrix scaled = v;
    if (format == WeightFormat::fp8_e4m3) scaled.row_scales.assign(30, 0.5F);
    const format::MatrixView parts[] = {q.view(), k.view(), scaled.view()};
    AtomShape shape;
    const auto atoms = packed(parts, shape, RowOrder::stacked);
    ASSERT_EQ(shape.rows, 57);
    ASSERT_EQ(strips(shape), 4);
    std::vector<float> alphas(64);
    row_alphas(parts, shape, alphas);
    const RandomMatrix* sources[] = {&q, &k, &scaled};
    int64_t at = 0;
    for (const RandomMatrix* m : sources) {
      for (int64_t r = 0; r < m->rows; ++r, ++at) {
        for (int64_t col = 0; col < 96; ++col) {
          ASSERT_EQ(decoded(shape, atoms, at / 16, static_cast<int>(at % 16), col), kept(*m, r, col))
              << at << ' ' << col;
        }
        EXPECT_EQ(alphas[static_cast<size_t>(at)], atom_alpha(shape.format, m->alpha(r)));
      }
    }
    for (; at < 64; ++at) EXPECT_EQ(alphas[static_cast<size_t>(at)], 0);
  }
}

TEST(Atom, WeightsThatAreNotFiniteAreErrors) {
  for (const WeightFormat format : {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16, WeightFormat::fp8_e4m3}) {
    RandomMatrix m(format, 16, 64, 4);
    const uint32_t bits = format == WeightFormat::f32    ? 0x7f7fffffU  // finite, but not in BF16
                          : format == WeightFormat::f16  ? 0x7c00U
                          : format == WeightFormat::bf16 ? 0xff80U
                                                         : 0xffU;
    std::memcpy(m.data.data() + format::row_bytes(format, 3 * 64 + 5), &bits, format::row_bytes(format, 1));
    const format::MatrixView view = m.view();
    std::vector<std::byte> atoms(2048);
    const Status status = pack_atoms({&view, 1}, atoms.data());
    EXPECT_EQ(status.code(), StatusCode::corrupt_data);
    EXPECT_NE(status.message().find("row 3, column 5"), std::string::npos) << status.message();
  }
}

TEST(Atom, GateAndUpAreInterleavedByEight) {
  for (const WeightFormat format : kAllFormats) {
    const RandomMatrix gate(format, 48, 64, 2), up(format, 48, 64, 3);
    const format::MatrixView parts[] = {gate.view(), up.view()};
    AtomShape shape;
    const auto atoms = packed(parts, shape);
    ASSERT_EQ(strips(shape), 6);
    for (int64_t i = 0; i < 48; ++i) {
      for (int64_t k = 0; k < 64; ++k) {
        const int row = static_cast<int>(i % 8);
        ASSERT_EQ(decoded(shape, atoms, i / 8, row, k), kept(gate, i, k));
        ASSERT_EQ(decoded(shape, atoms, i / 8, row + 8, k), kept(up, i, k));
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

TEST(Atom, TheLargestScaleIsTaken) {
  const std::vector<std::byte> codes(16), scale = {std::byte{kUe8m0MaxCode}};
  const format::MatrixView matrix{WeightFormat::mxfp4, 1, 32, codes.data(), scale.data(), 1.0F, {}};
  const Status status = check_weights(matrix);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Atom, ShapesThatCannotBeAreErrors) {
  const RandomMatrix a(WeightFormat::nvfp4, 16, 64, 5), b(WeightFormat::nvfp4, 16, 48, 6),
      c(WeightFormat::bf16, 16, 64, 7), d(WeightFormat::nvfp4, 24, 64, 8);
  const format::MatrixView unequal[] = {a.view(), b.view()};
  EXPECT_EQ(atom_shape(unequal).status().code(), StatusCode::invalid_argument);
  const format::MatrixView mixed[] = {a.view(), c.view()};
  EXPECT_EQ(atom_shape(mixed, RowOrder::stacked).status().code(), StatusCode::invalid_argument);
  const format::MatrixView taller[] = {a.view(), d.view()};
  EXPECT_EQ(atom_shape(taller).status().code(), StatusCode::invalid_argument);
  EXPECT_TRUE(atom_shape(taller, RowOrder::stacked).ok());
  const std::vector<format::MatrixView> many(9, a.view());
  EXPECT_EQ(atom_shape(many, RowOrder::stacked).status().code(), StatusCode::invalid_argument);
  format::MatrixView odd = a.view();
  odd.cols = 40;
  EXPECT_EQ(atom_shape({&odd, 1}).status().code(), StatusCode::unsupported);
}

}  // namespace
}  // namespace tessera::kernels
