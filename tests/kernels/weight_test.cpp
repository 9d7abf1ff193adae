#include "kernels/weight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "base/temp_directory.h"
#include "format/mapped_file.h"
#include "kernels/embed.h"
#include "kernels/matrix_fixture.h"

namespace tessera::kernels {
namespace {

using format::MatrixView;
using format::WeightFormat;
using ::testing::HasSubstr;

std::vector<float> decoded(const Weight& weight, int64_t row) {
  std::vector<float> out(static_cast<size_t>(weight.cols));
  decode_row(weight, row, out.data());
  return out;
}

TEST(Weight, DecodesWhatWasPacked) {
  TestContext test(2);
  for (const WeightFormat f : kAllFormats) {
    for (const int64_t rows : {1, 16, 63, 64, 65, 150}) {
      for (int64_t cols : {32, 64, 288, 37, 1}) {
        if (format::group_size(f) > 0) cols = (cols + 31) / 32 * 32;
        RandomMatrix w(f, rows, cols, static_cast<uint32_t>(rows + cols));
        if (f == WeightFormat::fp8_e4m3) w.row_scales = random_floats(static_cast<size_t>(rows), 3);
        const MatrixView view = w.view();
        const auto weight = pack_weight(test.context, {&view, 1});
        ASSERT_TRUE(weight.ok()) << weight.status().message();
        EXPECT_EQ((*weight).data.size() + (*weight).alpha.size_in_bytes(), packed_bytes(f, rows, cols));
        for (int64_t row = 0; row < rows; ++row) {
          const std::vector<float> got = decoded(*weight, row);
          for (int64_t col = 0; col < cols; ++col) {
            const float want = w.code(row, col) * w.block_scale(row, col) * w.alpha(row);
            ASSERT_EQ(got[static_cast<size_t>(col)], want) << name(f) << " at " << row << ", " << col;
          }
        }
      }
    }
  }
}

TEST(Weight, UnalignedSource) {
  TestContext test(1);
  RandomMatrix w(WeightFormat::bf16, 20, 33, 1);
  const Weight want = std::move(*pack_weight(test.context, std::vector{w.view()}));
  std::memmove(w.data.data() + 1, w.data.data(), w.data.size() - 1);
  MatrixView view = w.view();
  ++view.data;
  const Weight got = std::move(*pack_weight(test.context, {&view, 1}));
  for (int64_t row = 0; row < 20; ++row) EXPECT_EQ(decoded(got, row), decoded(want, row));
}

TEST(Weight, StackedPartsKeepTheirScales) {
  TestContext test(2);
  RandomMatrix q(WeightFormat::nvfp4, 70, 64, 1), k(WeightFormat::nvfp4, 9, 64, 2), v(WeightFormat::nvfp4, 33, 64, 3);
  k.scale = 5.0F;
  v.scale = 0.3F;
  const MatrixView parts[] = {q.view(), k.view(), v.view()};
  const Weight weight = std::move(*pack_weight(test.context, parts));
  ASSERT_EQ(weight.rows, 112);
  int64_t row = 0;
  for (const RandomMatrix* w : {&q, &k, &v}) {
    for (int64_t r = 0; r < w->rows; ++r, ++row) {
      const std::vector<float> got = decoded(weight, row);
      for (int64_t col = 0; col < 64; ++col) {
        ASSERT_EQ(got[static_cast<size_t>(col)], w->code(r, col) * w->block_scale(r, col) * w->scale) << row;
      }
    }
  }
}

TEST(Weight, TakesAboutTheBytesOfTheCheckpoint) {
  EXPECT_NEAR(static_cast<double>(packed_bytes(WeightFormat::nvfp4, 12288, 4096)), 12288 * 4096 * 0.5625, 60000);
  EXPECT_NEAR(static_cast<double>(packed_bytes(WeightFormat::bf16, 1, 4096)), 16 * 4096 * 2, 200);
}

StatusCode pack_code(const TestContext& test, const std::vector<MatrixView>& parts) {
  return pack_weight(test.context, parts).status().code();
}

TEST(Weight, RefusesWhatItCannotPack) {
  TestContext test(1);
  const RandomMatrix a(WeightFormat::bf16, 4, 32, 1), b(WeightFormat::bf16, 4, 16, 1), c(WeightFormat::f16, 4, 32, 1);
  EXPECT_EQ(pack_code(test, {}), StatusCode::invalid_argument);
  EXPECT_EQ(pack_code(test, {a.view(), b.view()}), StatusCode::invalid_argument);
  EXPECT_EQ(pack_code(test, {a.view(), c.view()}), StatusCode::invalid_argument);
  MatrixView odd = RandomMatrix(WeightFormat::nvfp4, 4, 32, 1).view();
  odd.cols = 24;
  EXPECT_EQ(pack_code(test, {odd}), StatusCode::unsupported);
  MatrixView empty = a.view();
  empty.rows = 0;
  EXPECT_EQ(pack_code(test, {empty}), StatusCode::invalid_argument);
  RandomMatrix scaled(WeightFormat::nvfp4, 4, 32, 1);
  MatrixView rows = scaled.view();
  for (const size_t count : {3, 5}) {
    const std::vector<float> scales(count, 1.0F);
    rows.row_scales = scales;
    EXPECT_EQ(pack_code(test, {rows}), StatusCode::invalid_argument) << count << " scales of 4 rows";
  }
  scaled.scale = std::numeric_limits<float>::infinity();
  EXPECT_EQ(pack_code(test, {scaled.view()}), StatusCode::corrupt_data);
}

TEST(Weight, NamesTheElementThatIsNotFinite) {
  TestContext test(2);
  for (const WeightFormat f : kAllFormats) {
    const RandomMatrix good(f, 70, 96, 1);
    RandomMatrix bad(f, 70, 96, 2);
    const int64_t group = format::group_size(f);
    int64_t column = 41;
    if (group > 0) {
      bad.block_scales[static_cast<size_t>(67 * (96 / group) + 1)] = std::byte{0xff};
      column = group;
    } else {
      const size_t bytes = format::row_bytes(f, 1);
      std::memset(bad.data.data() + (67 * 96 + 41) * bytes, 0xff, bytes);
    }
    const std::vector<MatrixView> parts = {good.view(), bad.view()};
    const Status status = pack_weight(test.context, parts).status();
    EXPECT_EQ(status.code(), StatusCode::corrupt_data) << name(f);
    EXPECT_THAT(status.message(), HasSubstr("part 1"));
    EXPECT_THAT(status.message(), HasSubstr("row 67, column " + std::to_string(column)));
  }
}

/// Bytes that could not be read are no weights, whatever they look like.
TEST(Weight, AFileThatBecameShorterIsAnError) {
  TestContext test(2);
  const test::TempDirectory directory;
  const RandomMatrix stored(WeightFormat::bf16, 200, 64, 1);
  const std::string_view bytes(reinterpret_cast<const char*>(stored.data.data()), 200 * 64 * 2);
  const auto path = directory.write("weights", std::string(bytes));
  const format::MappedFile file = std::move(*format::MappedFile::open(path));
  MatrixView view = stored.view();
  view.data = file.bytes().data();
  view.file = &file;
  EXPECT_EQ(pack_code(test, {view}), StatusCode::ok);
  std::filesystem::resize_file(path, bytes.size() - 1);
  EXPECT_EQ(pack_code(test, {view}), StatusCode::unavailable);
}

TEST(Weight, InfinityIsNotFinite) {
  TestContext test(1);
  const float inf = -std::numeric_limits<float>::infinity();
  for (const WeightFormat f : {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16}) {
    RandomMatrix w(f, 3, 5, 1);
    w.put(14, inf, 1);
    EXPECT_EQ(pack_code(test, {w.view()}), StatusCode::corrupt_data) << name(f);
    w.put(14, f == WeightFormat::f16 ? 65504.0F : std::numeric_limits<float>::lowest() / 2, 1);
    EXPECT_EQ(pack_code(test, {w.view()}), StatusCode::ok) << name(f);
  }
}

TEST(Embed, RoundsRowsOfTheTable) {
  const RandomMatrix w(WeightFormat::f32, 100, 33, 4);
  for (const Compute compute : {Compute::bf16, Compute::f32}) {
    TestContext test(2, compute);
    const Weight table = std::move(*pack_weight(test.context, std::vector{w.view()}));
    const std::vector<int32_t> tokens = {99, 0, 64, 64, 17};
    std::vector<float> out(tokens.size() * 33);
    embed(test.context, {.table = &table, .tokens = tokens, .out = out.data()});
    for (size_t i = 0; i < out.size(); ++i) {
      const float want = w.code(tokens[i / 33], static_cast<int64_t>(i % 33));
      EXPECT_EQ(out[i], compute == Compute::bf16 ? round_to_bf16(want) : want);
    }
  }
}

}  // namespace
}  // namespace tessera::kernels
