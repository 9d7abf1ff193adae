#include "kernels/cuda/norm.h"

#include "kernels/cuda/dense_fixture.h"
#include "kernels/linear.h"

// RMSNorm, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

constexpr float kEps = 0.01F;  // large enough to be seen

struct Rows {
  std::vector<uint16_t> residual, normed;
};

Rows run_norm(const std::vector<uint16_t>& x, const std::vector<uint16_t>& delta, const std::vector<float>& weight,
              int64_t live_rows, int64_t rows_max, int64_t normed_stride = 0) {
  const auto hidden = static_cast<int32_t>(weight.size());
  const auto elements = static_cast<size_t>(rows_max * std::max<int64_t>(hidden, normed_stride));
  const OnDevice<uint16_t> residual(x), change(delta);
  const OnDevice<float> weights(weight);
  const OnDevice<uint16_t> sum(std::vector<uint16_t>(elements, kUntouched));
  const OnDevice<uint16_t> normed(std::vector<uint16_t>(elements, kUntouched));
  const OnDevice<int32_t> live(std::vector<int32_t>{static_cast<int32_t>(live_rows)});
  AddNormArgs args;
  args.norm = {.residual = residual.get(),
               .delta = delta.empty() ? nullptr : change.get(),
               .weight = weights.get(),
               .eps = kEps,
               .residual_out = delta.empty() ? nullptr : sum.get(),
               .normed_out = normed.get()};
  args.hidden = hidden;
  args.normed_stride = normed_stride;
  args.live_rows = live.get();
  args.rows_max = static_cast<int32_t>(rows_max);
  run_on_stream([&](const device::Queue& queue) { return add_norm(args, queue); });
  return {sum.read(), normed.read()};
}

std::vector<float> random_weight(int64_t hidden) {
  std::vector<float> weight;
  for (const uint16_t v : random_bf16(static_cast<size_t>(hidden), 3)) weight.push_back(bf16_to_float(v) / 4);
  return weight;
}

TEST(NormGpu, IsTheNormOfTheCpu) {
  TestContext cpu(1, Compute::f32);
  for (const int64_t hidden : {8, 64, 136, 2048, 2056, 5120, kNormHiddenMax}) {
    const int64_t rows = 5, live = 4;
    auto x = random_bf16(static_cast<size_t>(rows * hidden), 1);
    auto delta = random_bf16(static_cast<size_t>(rows * hidden), 2);
    std::fill(x.end() - hidden, x.end(), kNanBf16);
    std::fill(x.begin() + hidden, x.begin() + 2 * hidden, uint16_t{0});  // a row of zeros
    std::fill(delta.begin() + hidden, delta.begin() + 2 * hidden, uint16_t{0});
    const auto weight = random_weight(hidden);
    for (const bool with_delta : {true, false}) {
      const Rows got = run_norm(x, with_delta ? delta : std::vector<uint16_t>(), weight, live, rows);
      std::vector<float> sum(static_cast<size_t>(live * hidden)), want(sum.size());
      for (size_t i = 0; i < sum.size(); ++i) {
        sum[i] = bf16_to_float(x[i]);
        if (!with_delta) continue;
        sum[i] = round_to_bf16(sum[i] + bf16_to_float(delta[i]));
        ASSERT_EQ(got.residual[i], float_to_bf16(sum[i])) << hidden << ", element " << i;
      }
      rms_norm(cpu.context, {.x = sum.data(),
                             .x_stride = hidden,
                             .rows = live,
                             .n = hidden,
                             .weight = weight.data(),
                             .eps = kEps,
                             .out = want.data()});
      // Another tree of the same sum: at most one rounding to the other side.
      for (size_t i = 0; i < sum.size(); ++i) {
        ASSERT_NEAR(bf16_to_float(got.normed[i]), want[i], 0x1.01p-8F * std::fabs(want[i]) + 1e-30F)
            << hidden << ", element " << i;
      }
      for (size_t i = sum.size(); i < got.normed.size(); ++i) ASSERT_EQ(got.normed[i], kUntouched);
    }
  }
}

TEST(NormGpu, ARowAloneHasTheBitsThatItHasAmongOthers) {
  const int64_t hidden = 2056, rows = 7;
  const auto x = random_bf16(static_cast<size_t>(rows * hidden), 4);
  const auto delta = random_bf16(static_cast<size_t>(rows * hidden), 5);
  const auto weight = random_weight(hidden);
  const Rows all = run_norm(x, delta, weight, rows, rows);
  for (int64_t r = 0; r < rows; ++r) {
    const auto row = [&](const std::vector<uint16_t>& v) {
      return std::vector<uint16_t>(v.begin() + r * hidden, v.begin() + (r + 1) * hidden);
    };
    const Rows one = run_norm(row(x), row(delta), weight, 1, 1);
    EXPECT_EQ(one.normed, row(all.normed)) << r;
    EXPECT_EQ(one.residual, row(all.residual)) << r;
  }
}

TEST(NormGpu, NormedRowsAreApartAsTheyShallBe) {
  const int64_t hidden = 136, stride = 152, rows = 3;
  const auto x = random_bf16(static_cast<size_t>(rows * hidden), 6);
  const auto weight = random_weight(hidden);
  const auto close = run_norm(x, {}, weight, rows, rows).normed,
             apart = run_norm(x, {}, weight, rows, rows, stride).normed;
  for (int64_t i = 0; i < rows * stride; ++i) {
    const int64_t row = i / stride, column = i % stride;
    const uint16_t want = column < hidden ? close[static_cast<size_t>(row * hidden + column)] : kUntouched;
    ASSERT_EQ(apart[static_cast<size_t>(i)], want) << "row " << row << ", element " << column;
  }
}

TEST(NormGpu, WhatCannotBeIsRefused) {
  AddNormArgs args;
  EXPECT_EQ(add_norm(args, {}).code(), StatusCode::invalid_argument);
  uint16_t row[8] = {}, normed[8] = {}, sum[8] = {};
  float weight[8] = {};
  args.norm = {.residual = row, .weight = weight, .residual_out = row, .normed_out = normed};
  args.hidden = 8;
  EXPECT_NE(add_norm(args, {}).message().find("another buffer"), std::string::npos);
  args.norm.residual_out = sum;
  args.norm.normed_out = nullptr;
  EXPECT_NE(add_norm(args, {}).message().find("somewhere to write to"), std::string::npos);
  args.norm.normed_out = normed;
  args.hidden = 12;
  EXPECT_NE(add_norm(args, {}).message().find("12 elements"), std::string::npos);
  args.hidden = kNormHiddenMax + 8;
  EXPECT_NE(add_norm(args, {}).message().find("24008 elements"), std::string::npos);
}

}  // namespace
}  // namespace tessera::kernels::cuda
