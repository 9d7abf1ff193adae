#include "kernels/linear.h"

#include <gtest/gtest.h>

#include "kernels/matrix_fixture.h"

namespace tessera::kernels {
namespace {

using format::WeightFormat;

Weight pack(const Context& context, const RandomMatrix& matrix) {
  return std::move(*pack_weight(context, std::vector{matrix.view()}));
}

/// Rows of x as linear() defines them, one product with one output.
std::vector<float> expected(const RandomMatrix& w, const std::vector<float>& x, int64_t stride,
                            const std::vector<int32_t>& index, bool round) {
  std::vector<float> y;
  for (const int32_t row : index) {
    for (int64_t n = 0; n < w.rows; ++n) {
      const float v = reference_dot(w, n, x.data() + row * stride);
      y.push_back(round ? round_to_bf16(v) : v);
    }
  }
  return y;
}

TEST(Linear, SeveralOutputsOfOneInput) {
  TestContext test(2);
  const RandomMatrix a(WeightFormat::nvfp4, 48, 96, 1), b(WeightFormat::bf16, 5, 96, 2);
  const Weight wa = pack(test.context, a), wb = pack(test.context, b);
  const std::vector<float> x = random_floats(4 * 100, 3);
  std::vector<float> ya(4 * 48), yb(4 * 5);
  const LinearOutput outputs[] = {{.weight = &wa, .out = ya.data(), .stride = 48},
                                  {.weight = &wb, .out = yb.data(), .stride = 5}};
  linear(test.context, {.x = x.data(), .x_stride = 100, .rows = 4, .outputs = outputs});
  EXPECT_EQ(ya, expected(a, x, 100, {0, 1, 2, 3}, true));
  EXPECT_EQ(yb, expected(b, x, 100, {0, 1, 2, 3}, true));
}

TEST(Linear, ChosenRowsUnrounded) {
  TestContext test(2);
  const RandomMatrix w(WeightFormat::bf16, 70, 64, 1);
  const Weight weight = pack(test.context, w);
  const std::vector<float> x = random_floats(9 * 64, 3);
  const std::vector<int32_t> index = {8, 0, 5};
  std::vector<float> y(3 * 70);
  const LinearOutput output{.weight = &weight, .out = y.data(), .stride = 70};
  linear(
      test.context,
      {.x = x.data(), .x_stride = 64, .rows = 3, .row_index = index, .outputs = {&output, 1}, .round_output = false});
  EXPECT_EQ(y, expected(w, x, 64, index, false));
}

TEST(Linear, NoRows) {
  TestContext test(1);
  const RandomMatrix w(WeightFormat::f32, 2, 3, 1);
  const Weight weight = pack(test.context, w);
  std::vector<float> y(2, 7.0F);
  const LinearOutput output{.weight = &weight, .out = y.data(), .stride = 2};
  linear(test.context, {.rows = 0, .outputs = {&output, 1}});
  EXPECT_EQ(y, (std::vector<float>{7, 7})) << "nothing is written";
}

}  // namespace
}  // namespace tessera::kernels
