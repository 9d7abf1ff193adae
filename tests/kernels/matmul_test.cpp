#include "kernels/cpu/matmul.h"

#include <gtest/gtest.h>

#include <string>

#include "kernels/compare.h"
#include "kernels/matrix_fixture.h"

namespace tessera::kernels {
namespace {

using cpu::Matmul;
using format::WeightFormat;

Weight pack(const Context& context, const RandomMatrix& matrix) {
  const format::MatrixView view = matrix.view();
  return std::move(*pack_weight(context, {&view, 1}));
}

struct Shape {
  int64_t n, k;
};
// One row, rows that fill no block or panel, several panels; K that fills no group, word or slab.
constexpr Shape kPlainShapes[] = {{1, 1}, {3, 7}, {16, 16}, {17, 130}, {64, 131}, {200, 257}};
constexpr Shape kGroupedShapes[] = {{1, 32}, {17, 64}, {64, 128}, {100, 160}, {200, 288}};

/// What matmul must give, element by element.
std::vector<float> expected(const RandomMatrix& w, const std::vector<float>& x, int64_t rows, bool round) {
  std::vector<float> y;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t n = 0; n < w.rows; ++n) {
      const float v = reference_dot(w, n, x.data() + row * w.cols);
      y.push_back(round ? round_to_bf16(v) : v);
    }
  }
  return y;
}

std::vector<float> product(const Context& context, const Weight& weight, const std::vector<float>& x, int64_t rows,
                           bool round) {
  std::vector<float> y(static_cast<size_t>(rows * weight.rows), -1.0F);
  const Matmul m{.weight = &weight,
                 .x = x.data(),
                 .x_stride = weight.cols,
                 .rows = rows,
                 .out = y.data(),
                 .out_stride = weight.rows,
                 .round = round};
  cpu::matmul(context, {&m, 1});
  return y;
}

class EachFormat : public ::testing::TestWithParam<WeightFormat> {};

TEST_P(EachFormat, GivesTheContractsBits) {
  const bool grouped = format::group_size(GetParam()) > 0;
  TestContext one(1), three(3);
  for (const auto [n, k] : grouped ? std::span<const Shape>(kGroupedShapes) : std::span<const Shape>(kPlainShapes)) {
    const RandomMatrix w(GetParam(), n, k, static_cast<uint32_t>(n * 1000 + k));
    const Weight weight = pack(one.context, w);
    constexpr int64_t kMaxRows = 70;
    const std::vector<float> x = random_floats(static_cast<size_t>(kMaxRows * k), 7);
    const std::vector<float> want = expected(w, x, kMaxRows, false);
    for (const int64_t target : simd_targets()) {
      const ForcedTarget forced(target);
      // Without an fma of the CPU's a product takes twenty times as long.
      const int64_t step = target == simd_targets().front() && simd_targets().size() > 1 ? 7 : 1;
      for (int64_t rows = 0; rows <= kMaxRows; rows += step) {
        const std::vector<float> head(want.begin(), want.begin() + rows * n);
        const std::string what = std::string(hwy::TargetName(target)) + " " + std::to_string(n) + " x " +
                                 std::to_string(k) + ", rows " + std::to_string(rows);
        expect_same_bits(product(one.context, weight, x, rows, false), head, what);
        expect_same_bits(product(three.context, weight, x, rows, false), head, what + ", 3 threads");
      }
    }
  }
}

TEST_P(EachFormat, RowsDoNotDependOnTheirNumber) {
  TestContext test(2);
  const RandomMatrix w(GetParam(), 300, 320, 5);
  const Weight weight = pack(test.context, w);
  constexpr int64_t kRows = 600;  // more than the rows of one task
  const std::vector<float> x = random_floats(kRows * 320, 9);
  const std::vector<float> want = expected(w, x, kRows, true);
  for (const int64_t target : simd_targets()) {
    const ForcedTarget forced(target);
    for (const int64_t rows : {1, 2, 5, 70, 255, 256, 257, 600}) {
      const std::vector<float> head(want.begin(), want.begin() + rows * 300);
      expect_same_bits(product(test.context, weight, x, rows, true), head, "rows " + std::to_string(rows));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Matmul, EachFormat, ::testing::ValuesIn(kAllFormats),
                         [](const auto& test) { return std::string(name(test.param)); });

// Experts of a layer: many products, some without rows, strided inputs and outputs.
TEST(Matmul, ManyProductsInOneCall) {
  TestContext test(2);
  constexpr int64_t kStride = 1000;
  std::vector<RandomMatrix> matrices;
  std::vector<Weight> weights;
  std::vector<Matmul> products;
  const std::vector<float> x = random_floats(64 * kStride, 21);
  std::vector<float> y(64 * kStride, -1.0F), want = y;
  for (int i = 0; i < 40; ++i) {
    matrices.emplace_back(kAllFormats[i % 6], 1 + i * 3 % 20, 32 * (1 + i % 5), static_cast<uint32_t>(i));
    weights.push_back(pack(test.context, matrices.back()));
  }
  for (int i = 0; i < 40; ++i) {
    const int64_t rows = i * 7 % 4;
    const int64_t column = i * 21;
    products.push_back({.weight = &weights[static_cast<size_t>(i)],
                        .x = x.data() + i,
                        .x_stride = kStride,
                        .rows = rows,
                        .out = y.data() + column,
                        .out_stride = kStride,
                        .round = false});
    const RandomMatrix& w = matrices[static_cast<size_t>(i)];
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t n = 0; n < w.rows; ++n) {
        want[static_cast<size_t>(row * kStride + column + n)] = reference_dot(w, n, x.data() + i + row * kStride);
      }
    }
  }
  cpu::matmul(test.context, products);
  expect_same_bits(y, want, "40 products");
}

TEST(Matmul, ThreadsHaveRoomForTheLargestProductOfACall) {
  TestContext test(4);
  const Weight weight = pack(test.context, {WeightFormat::f32, 2048, 96, 31});
  const Weight little = pack(test.context, {WeightFormat::f32, 16, 96, 33});
  constexpr int64_t kRows = 200;
  const std::vector<float> x = random_floats(kRows * 96, 32);
  const std::vector<float> want = product(test.context, weight, x, kRows, false);
  std::vector<float> y(want.size(), -1.0F), last(16);
  const Matmul large{.weight = &weight,
                     .x = x.data(),
                     .x_stride = 96,
                     .rows = kRows,
                     .out = y.data(),
                     .out_stride = 2048,
                     .round = false};
  const Matmul small{.weight = &little, .x = x.data(), .x_stride = 96, .rows = 1, .out = last.data(), .out_stride = 16};
  for (int i = 0; i < 3; ++i) {
    cpu::matmul(test.context, std::array{large, small});
    expect_same_bits(y, want, "before a smaller product");
    std::fill(y.begin(), y.end(), -1.0F);
  }
}

/// Its byte is 0, and it is a subnormal number: large inputs show it.
TEST(Matmul, TheSmallestMxfp4ScaleIsNotZero) {
  TestContext test(1);
  RandomMatrix w(WeightFormat::mxfp4, 70, 64, 41);
  std::fill(w.block_scales.begin(), w.block_scales.end(), std::byte{0});
  const Weight weight = pack(test.context, w);
  std::vector<float> x = random_floats(40 * 64, 42);
  for (float& v : x) v *= 0x1p90F;
  for (const int64_t target : simd_targets()) {
    const ForcedTarget forced(target);
    for (const int64_t rows : {1, 40}) {
      expect_same_bits(product(test.context, weight, x, rows, false), expected(w, x, rows, false),
                       hwy::TargetName(target));
    }
  }
}

TEST(Matmul, NothingToDo) {
  TestContext test(2);
  cpu::matmul(test.context, {});
  const RandomMatrix w(WeightFormat::f32, 20, 64, 1);
  const Weight weight = pack(test.context, w);
  const std::vector<float> x(64, 1.0F);
  std::vector<float> y(20, 7.0F);
  const cpu::Matmul none{&weight, x.data(), 64, /*rows=*/0, y.data(), 20};
  cpu::matmul(test.context, {&none, 1});
  EXPECT_EQ(y, std::vector<float>(20, 7.0F)) << "nothing is written";
}

TEST(Matmul, NanAndInfinityStayInTheirRow) {
  TestContext test(1);
  for (const WeightFormat f : kAllFormats) {
    const RandomMatrix w(f, 20, 64, 31);
    const Weight weight = pack(test.context, w);
    std::vector<float> x = random_floats(3 * 64, 32);
    const std::vector<float> clean = product(test.context, weight, x, 3, true);
    x[64 + 5] = std::numeric_limits<float>::quiet_NaN();
    x[64 + 6] = std::numeric_limits<float>::infinity();
    const std::vector<float> got = product(test.context, weight, x, 3, true);
    for (size_t i = 0; i < got.size(); ++i) {
      if (i / 20 == 1) {
        EXPECT_TRUE(std::isnan(got[i])) << name(f) << " " << i;
      } else {
        EXPECT_EQ(got[i], clean[i]) << name(f) << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::kernels
