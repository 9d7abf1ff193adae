#include <gtest/gtest.h>

#include "compare.h"
#include "kernels/linear.h"
#include "matrix_fixture.h"

namespace tessera::kernels {
namespace {

std::vector<float> run(int threads, Compute compute, const std::vector<float>& x, const std::vector<float>& weight,
                       int64_t rows, int64_t stride) {
  TestContext test(threads, compute);
  const auto n = static_cast<int64_t>(weight.size());
  std::vector<float> out(static_cast<size_t>(rows * n));
  rms_norm(test.context, {x.data(), stride, rows, n, weight.data(), 1e-6F, out.data()});
  return out;
}

TEST(RmsNorm, MatchesTheFormula) {
  for (const int64_t n : {1, 2, 15, 16, 17, 64, 100, 2048, 5120}) {
    for (const bool bf16 : {false, true}) {
      const int64_t rows = 3, stride = n + 5;
      const auto x = random_floats(static_cast<size_t>(rows * stride), 1), w = random_floats(static_cast<size_t>(n), 2);
      const auto got = run(2, bf16 ? Compute::bf16 : Compute::f32, x, w, rows, stride);
      std::vector<double> want;
      for (int64_t r = 0; r < rows; ++r) {
        double squares = 0;
        for (int64_t i = 0; i < n; ++i) squares += std::pow(double{x[static_cast<size_t>(r * stride + i)]}, 2);
        const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-6);
        for (int64_t i = 0; i < n; ++i) {
          want.push_back(x[static_cast<size_t>(r * stride + i)] * scale * (1.0 + w[static_cast<size_t>(i)]));
        }
      }
      expect_near(got, want, 1e-6, bf16 ? 0x1p-8 : 1e-6, "n " + std::to_string(n));
      if (!bf16) continue;
      for (const float v : got) EXPECT_EQ(v, round_to_bf16(v));
    }
  }
}

TEST(RmsNorm, BitsDependOnTheRowAlone) {
  const int64_t rows = 9;
  for (const int64_t n : {7, 48, 1000}) {
    const auto x = random_floats(static_cast<size_t>(rows * n), 3), w = random_floats(static_cast<size_t>(n), 4);
    const auto want = run(1, Compute::f32, x, w, rows, n);
    for (const int64_t target : simd_targets()) {
      const ForcedTarget forced(target);
      for (int threads = 1; threads <= 4; ++threads) {
        expect_same_bits(run(threads, Compute::f32, x, w, rows, n), want, hwy::TargetName(target));
      }
      for (int64_t r = 0; r < rows; ++r) {
        const std::vector<float> row(x.begin() + r * n, x.begin() + (r + 1) * n);
        expect_same_bits(run(1, Compute::f32, row, w, 1, n), std::span(want).subspan(r * n, n), "row alone");
      }
    }
  }
}

TEST(AddNorm, AddsThenNorms) {
  for (const Compute compute : {Compute::bf16, Compute::f32}) {
    for (const int64_t n : {5, 64, 100}) {
      TestContext test(2, compute);
      const int64_t rows = 3;
      const auto count = static_cast<size_t>(rows * n);
      const auto before = random_floats(count, 5), delta = random_floats(count, 6);
      const auto w = random_floats(static_cast<size_t>(n), 7);
      std::vector<float> sum = before;
      for (size_t i = 0; i < count; ++i) {
        sum[i] += delta[i];
        if (compute == Compute::bf16) sum[i] = round_to_bf16(sum[i]);
      }
      std::vector<float> residual = before, out(count);
      add_norm(test.context, {residual.data(), delta.data(), rows, n, w.data(), 1e-6F, out.data()});
      expect_same_bits(residual, sum, "residual");
      expect_same_bits(out, run(1, compute, sum, w, rows, n), "normed");
      add_norm(test.context, {residual.data(), nullptr, rows, n, w.data(), 1e-6F, out.data()});
      expect_same_bits(residual, sum, "no delta");
      expect_same_bits(out, run(1, compute, sum, w, rows, n), "normed, no delta");
    }
  }
}

TEST(RmsNorm, NoRowsAndNotFinite) {
  EXPECT_TRUE(run(2, Compute::bf16, {}, {1, 2, 3}, 0, 3).empty());
  const std::vector<float> x = {1, NAN, 2, 1, 1, 1}, w = {0, 0, 0};
  const auto got = run(1, Compute::bf16, x, w, 2, 3);
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_FLOAT_EQ(got[3], 1.0F);  // a neighbour's NaN stays there
}

}  // namespace
}  // namespace tessera::kernels
