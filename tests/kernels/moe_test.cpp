#include "kernels/moe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "compare.h"
#include "kernels/linear.h"
#include "matrix_fixture.h"

namespace tessera::kernels {
namespace {

/// A matrix in both forms: as the kernels read it and as plain numbers.
struct TestWeight {
  Weight packed;
  std::vector<double> plain;
  int64_t cols;

  TestWeight(const Context& context, int64_t rows, int64_t columns, uint32_t seed, float scale) : cols(columns) {
    RandomMatrix matrix(format::WeightFormat::bf16, rows, cols, seed);
    matrix.scale = 1.0F;
    const auto values = random_floats(static_cast<size_t>(rows * cols), seed);
    for (size_t i = 0; i < values.size(); ++i) {
      const float v = round_to_bf16(values[i] * scale);
      matrix.put(i, v, 0);
      plain.push_back(v);
    }
    const auto view = matrix.view();
    packed = std::move(*pack_weight(context, {&view, 1}));
  }

  [[nodiscard]] std::vector<double> times(const std::vector<double>& x, Rounding round) const {
    std::vector<double> y(plain.size() / static_cast<size_t>(cols));
    for (size_t r = 0; r < y.size(); ++r) {
      y[r] = round(std::inner_product(x.begin(), x.end(), plain.begin() + static_cast<long>(r) * cols, 0.0));
    }
    return y;
  }
};

Weight pack(const std::vector<float>& values, int64_t rows, int64_t cols) {
  TestContext test(1);
  const format::MatrixView view{.format = format::WeightFormat::f32,
                                .rows = rows,
                                .cols = cols,
                                .data = reinterpret_cast<const std::byte*>(values.data()),
                                .row_scales = {}};
  return std::move(*pack_weight(test.context, {&view, 1}));
}

struct TestExpert {
  TestWeight gate_up, down;

  TestExpert(const Context& context, int64_t hidden, int64_t inner, uint32_t seed)
      : gate_up(context, 2 * inner, hidden, seed, 0.1F), down(context, hidden, inner, seed + 1, 0.1F) {}

  [[nodiscard]] std::vector<double> operator()(const std::vector<double>& x, Rounding round) const {
    const auto both = gate_up.times(x, round);
    std::vector<double> inner(both.size() / 2);
    for (size_t i = 0; i < inner.size(); ++i) {
      inner[i] = round(round(both[i] / (1 + std::exp(-both[i]))) * both[inner.size() + i]);
    }
    return down.times(inner, round);
  }

  SwigluWeights take() { return {std::move(gate_up.packed), std::move(down.packed)}; }
};

std::vector<double> normed(const float* x, const std::vector<float>& weight, Rounding round) {
  double squares = 0;
  for (size_t i = 0; i < weight.size(); ++i) squares += double{x[i]} * x[i];
  const double scale = 1 / std::sqrt(squares / static_cast<double>(weight.size()) + 1e-6);
  std::vector<double> y(weight.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = round(x[i] * scale * (1.0 + weight[i]));
  return y;
}

struct Shape {
  int64_t hidden, inner, shared_inner;  // shared_inner 0: no shared expert
  int experts, k;
};

struct Model {
  Shape shape;
  Compute compute;
  std::vector<float> norm_weight;
  std::vector<TestExpert> plain;
  std::vector<SwigluWeights> experts;
  std::vector<TestWeight> router, shared_gate;
  std::vector<TestExpert> plain_shared;
  SwigluWeights shared;

  Model(const Shape& s, Compute c, float router_scale = 0.2F) : shape(s), compute(c) {
    TestContext test(2, compute);
    norm_weight = random_floats(static_cast<size_t>(s.hidden), 70);
    for (int e = 0; e < s.experts; ++e) {
      plain.emplace_back(test.context, s.hidden, s.inner, 100 + 2 * static_cast<uint32_t>(e));
      experts.push_back(plain.back().take());
    }
    router.emplace_back(test.context, s.experts, s.hidden, 71, router_scale);
    shared_gate.emplace_back(test.context, 1, s.hidden, 72, 0.2F);
    if (s.shared_inner > 0) {
      plain_shared.emplace_back(test.context, s.hidden, s.shared_inner, 73);
      shared = plain_shared[0].take();
    }
  }

  struct Result {
    std::vector<float> out;
    std::vector<int32_t> chosen;
  };
  [[nodiscard]] Result run(std::vector<float> x, int threads = 2) const {
    TestContext test(threads, compute);
    return run(std::move(x), test.context);
  }
  [[nodiscard]] Result run(std::vector<float> x, const Context& context) const {
    const int64_t rows = static_cast<int64_t>(x.size()) / shape.hidden;
    std::vector<int32_t> chosen(static_cast<size_t>(rows * shape.k));
    std::vector<float> normed(x.size()), out(x.size());
    rms_norm(context, {x.data(), shape.hidden, rows, shape.hidden, norm_weight.data(), 1e-6F, normed.data()});
    const bool has_shared = shape.shared_inner > 0;
    moe(context, {.x = normed.data(),
                  .rows = rows,
                  .hidden = shape.hidden,
                  .experts_per_token = shape.k,
                  .router = &router[0].packed,
                  .experts = experts,
                  .shared = has_shared ? &shared : nullptr,
                  .shared_gate = has_shared ? &shared_gate[0].packed : nullptr,
                  .out = out.data(),
                  .chosen = chosen.data()});
    return {std::move(out), std::move(chosen)};
  }

  /// The block's output, for the experts that the kernel chose; checks that they are the largest within tolerance.
  [[nodiscard]] std::vector<double> reference(const std::vector<float>& x, const std::vector<int32_t>& chosen) const {
    const Rounding round{compute == Compute::bf16};
    std::vector<double> out;
    const auto k = static_cast<size_t>(shape.k), hidden = static_cast<size_t>(shape.hidden);
    for (size_t row = 0; row * hidden < x.size(); ++row) {
      const auto in = normed(x.data() + row * hidden, norm_weight, round);
      const auto logits = router[0].times(in, round);
      std::vector<int32_t> ids(chosen.begin() + static_cast<long>(row * k),
                               chosen.begin() + static_cast<long>((row + 1) * k));
      auto sorted = logits;
      std::sort(sorted.rbegin(), sorted.rend());
      double total = 0;
      for (size_t j = 0; j < k; ++j) {
        EXPECT_NEAR(logits[static_cast<size_t>(ids[j])], sorted[j], round.bf16 ? 0.05 : 1e-4) << "choice " << j;
        total += std::exp(logits[static_cast<size_t>(ids[j])] - sorted[0]);
      }
      std::sort(ids.begin(), ids.end());
      EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end()) << "an expert chosen twice";
      std::vector<double> sum(hidden, 0.0);
      for (const int32_t id : ids) {
        const auto y = plain[static_cast<size_t>(id)](in, round);
        const double weight = std::exp(logits[static_cast<size_t>(id)] - sorted[0]) / total;
        for (size_t i = 0; i < hidden; ++i) sum[i] += weight * y[i];
      }
      if (shape.shared_inner > 0) {
        const auto y = plain_shared[0](in, round);
        const double gate = shared_gate[0].times(in, round)[0];
        for (size_t i = 0; i < hidden; ++i) sum[i] += y[i] / (1 + std::exp(-gate));
      }
      for (size_t i = 0; i < hidden; ++i) out.push_back(round(sum[i]));
    }
    return out;
  }
};

const std::vector<Shape> kShapes = {{64, 32, 32, 16, 4},   {32, 16, 0, 8, 2},    {48, 32, 80, 5, 5},
                                    {16, 16, 16, 512, 10}, {32, 16, 16, 40, 32}, {20, 12, 4, 7, 1}};

std::string describe(const Shape& s) {
  return std::to_string(s.experts) + " experts, top " + std::to_string(s.k) + ", hidden " + std::to_string(s.hidden);
}

TEST(Moe, MatchesTheFormula) {
  for (const Shape& shape : kShapes) {
    for (const Compute compute : {Compute::f32, Compute::bf16}) {
      const Model model(shape, compute);
      for (const int64_t rows : {1, 3, 70}) {
        const auto x = random_floats(static_cast<size_t>(rows * shape.hidden), 9);
        const auto got = model.run(x);
        const bool bf16 = compute == Compute::bf16;
        expect_near(got.out, model.reference(x, got.chosen), bf16 ? 0.02 : 2e-5, bf16 ? 0x1p-7 : 1e-5, describe(shape));
        for (const float v : got.out) ASSERT_TRUE(!bf16 || v == round_to_bf16(v)) << v;
      }
    }
  }
}

TEST(Moe, BitsDependOnTheRowAlone) {
  for (const Shape& shape : kShapes) {
    const Model model(shape, Compute::bf16);
    const int64_t rows = 21;
    const auto x = random_floats(static_cast<size_t>(rows * shape.hidden), 10);
    const auto want = model.run(x, 1);
    for (int threads = 2; threads <= 4; ++threads) expect_same_bits(model.run(x, threads).out, want.out, "threads");
    for (const int64_t target : simd_targets()) {
      const ForcedTarget forced(target);
      const auto got = model.run(x);
      expect_same_bits(got.out, want.out, hwy::TargetName(target));
      EXPECT_EQ(got.chosen, want.chosen);
    }
    for (int64_t row = 0; row < rows; ++row) {
      const std::vector<float> alone(x.begin() + row * shape.hidden, x.begin() + (row + 1) * shape.hidden);
      expect_same_bits(model.run(alone).out, std::span(want.out).subspan(row * shape.hidden, shape.hidden),
                       "row alone");
    }
  }
}

TEST(Moe, TiesGoToTheLowerIdAndEveryTokenMayTakeOneExpert) {
  const Model model({32, 16, 16, 12, 3}, Compute::bf16, /*router_scale=*/0.0F);  // all logits 0
  const auto x = random_floats(40 * 32, 11);
  const auto got = model.run(x);
  for (size_t row = 0; row < 40; ++row) {
    for (int32_t j = 0; j < 3; ++j) EXPECT_EQ(got.chosen[row * 3 + static_cast<size_t>(j)], j);
  }
  expect_near(got.out, model.reference(x, got.chosen), 0.02, 0x1p-7, "ties");
}

TEST(Moe, SumsByExpertIdNotByProbability) {
  // The same experts under other ids: the same choice and weights, another order of the sum.
  const Model model({64, 32, 0, 6, 5}, Compute::f32);
  Model renamed({64, 32, 0, 6, 5}, Compute::f32);
  const std::vector<size_t> names = {3, 0, 5, 1, 4, 2};
  std::vector<float> router;
  for (size_t id = 0; id < 6; ++id) {
    const auto row = model.router[0].plain.begin() + static_cast<long>(names[id] * 64);
    router.insert(router.end(), row, row + 64);
  }
  std::vector<SwigluWeights> experts(6);
  for (size_t id = 0; id < 6; ++id) experts[id] = std::move(renamed.experts[names[id]]);
  renamed.experts = std::move(experts);
  renamed.router[0].packed = pack(router, 6, 64);

  const auto x = random_floats(20 * 64, 14);
  const auto a = model.run(x), b = renamed.run(x);
  for (size_t i = 0; i < a.chosen.size(); ++i)
    ASSERT_EQ(static_cast<size_t>(a.chosen[i]), names[static_cast<size_t>(b.chosen[i])]);
  expect_near(a.out, std::vector<double>(b.out.begin(), b.out.end()), 1e-5, 1e-5, "renamed experts");
  EXPECT_NE(a.out, b.out);
}

/// An expert of width 16 whose output for x[0] = 1 is `out`: gates of 16, whose silu is 16, times 1.
SwigluWeights expert_that_says(const std::vector<float>& out) {
  const auto hidden = static_cast<int64_t>(out.size());
  std::vector<float> gate_up(static_cast<size_t>(32 * hidden)), down(static_cast<size_t>(hidden * 16));
  gate_up[0] = 32;  // gate of the first channel: silu(32) = 32 in fp32
  gate_up[static_cast<size_t>(16 * hidden)] = 1.0F / 32;
  for (size_t i = 0; i < out.size(); ++i) down[16 * i] = out[i];
  return {pack(gate_up, 32, hidden), pack(down, hidden, 16)};
}

/// The sum's exact bits: each term is seen by itself, where all other experts say 0, and added in order of the ids.
TEST(Moe, TheSumHasTheBitsOfAscendingIds) {
  constexpr size_t kHidden = 32, kExperts = 7;
  const std::vector<float> logits = {0.4F, -0.3F, 1.1F, 0.2F, 1.6F, -0.9F, 0.7F};  // chosen: 4 2 6 0 3
  const std::vector<int32_t> by_id = {0, 2, 3, 4, 6}, by_probability = {4, 2, 6, 0, 3};
  std::vector<float> router(kExperts * kHidden), x(kHidden);
  x[0] = 1;
  for (size_t e = 0; e < kExperts; ++e) router[e * kHidden] = logits[e];
  const Weight packed = pack(router, kExperts, kHidden);
  std::vector<std::vector<float>> says;
  for (uint32_t e = 0; e < kExperts; ++e) says.push_back(random_floats(kHidden, 300 + e));

  TestContext test(1, Compute::f32);
  std::vector<int32_t> chosen(by_id.size());
  const auto run = [&](const std::vector<std::vector<float>>& outs) {
    std::vector<SwigluWeights> experts;
    for (const auto& out : outs) experts.push_back(expert_that_says(out));
    std::vector<float> out(kHidden);
    moe(test.context, {.x = x.data(),
                       .rows = 1,
                       .hidden = kHidden,
                       .experts_per_token = static_cast<int>(by_id.size()),
                       .router = &packed,
                       .experts = experts,
                       .out = out.data(),
                       .chosen = chosen.data()});
    return out;
  };
  std::vector<float> weights(kExperts);
  for (const int32_t e : by_id) {
    std::vector<std::vector<float>> alone(kExperts, std::vector<float>(kHidden));
    alone[static_cast<size_t>(e)].assign(kHidden, 1.0F);
    weights[static_cast<size_t>(e)] = run(alone)[0];
  }
  const auto sum = [&](const std::vector<int32_t>& order) {
    std::vector<float> total(kHidden);
    for (const int32_t id : order) {
      const auto e = static_cast<size_t>(id);
      for (size_t i = 0; i < kHidden; ++i) total[i] = std::fma(weights[e], says[e][i], total[i]);
    }
    return total;
  };
  const auto got = run(says);
  EXPECT_EQ(chosen, by_probability);
  expect_same_bits(got, sum(by_id), "ascending ids");
  EXPECT_NE(got, sum(by_probability)) << "these numbers would show nothing";
  // The weights: softmax over the chosen, whose sum is taken by falling probability. These are its bits.
  expect_same_bits(
      weights, std::vector<float>{0x1.e1be32p-4F, 0, 0x1.e50e3ep-3F, 0x1.8a6af6p-4F, 0x1.8fdc5ap-2F, 0, 0x1.45247ap-3F},
      "weights");
  double total = 0;
  for (const int32_t e : by_id) total += std::exp(static_cast<double>(logits[static_cast<size_t>(e)]));
  for (const int32_t e : by_id) {
    const auto at = static_cast<size_t>(e);
    EXPECT_NEAR(weights[at], std::exp(static_cast<double>(logits[at])) / total, 1e-6) << "expert " << e;
  }
}

/// A logit that is too small for BF16 leaves -0 or 0, by its sign.
TEST(Moe, NegativeZeroTiesWithZero) {
  for (const float first : {-1.0F, 1.0F}) {
    std::vector<float> x(32), router(3 * 32);
    x[0] = 0x1p-70F;
    router[0] = first * 0x1p-70F;
    router[32] = -first * 0x1p-70F;
    const Weight packed = pack(router, 3, 32);
    std::vector<SwigluWeights> experts;
    for (int e = 0; e < 3; ++e) experts.push_back(expert_that_says(std::vector<float>(32, 1.0F)));
    TestContext test(1, Compute::bf16);
    std::vector<float> out(32);
    std::vector<int32_t> chosen(2);
    moe(test.context, {.x = x.data(),
                       .rows = 1,
                       .hidden = 32,
                       .experts_per_token = 2,
                       .router = &packed,
                       .experts = experts,
                       .out = out.data(),
                       .chosen = chosen.data()});
    EXPECT_EQ(chosen, (std::vector<int32_t>{0, 1})) << "the first logit is " << (first < 0 ? "-0" : "0");
  }
}

TEST(Moe, NanLogitsComeLast) {
  Model model({64, 16, 0, 8, 4}, Compute::f32);
  std::vector<float> router(model.router[0].plain.begin(), model.router[0].plain.end());
  // Expert 5: infinity minus infinity.
  for (size_t i = 0; i < 64; ++i) router[5 * 64 + i] = i % 2 == 0 ? 3e38F : -3e38F;
  model.router[0].packed = pack(router, 8, 64);
  const auto got = model.run(std::vector<float>(64, 1.0F));
  EXPECT_EQ(std::count(got.chosen.begin(), got.chosen.end(), 5), 0);
  EXPECT_TRUE(std::isnan(got.out[0]));
}

TEST(Moe, ChosenFallInProbability) {
  const Model model({64, 16, 0, 64, 8}, Compute::f32);
  const auto x = random_floats(5 * 64, 12);
  const auto got = model.run(x);
  for (size_t row = 0; row < 5; ++row) {
    const auto logits = model.router[0].times(normed(x.data() + row * 64, model.norm_weight, {}), {});
    for (size_t j = 1; j < 8; ++j) {
      EXPECT_GE(logits[static_cast<size_t>(got.chosen[row * 8 + j - 1])],
                logits[static_cast<size_t>(got.chosen[row * 8 + j])]);
    }
  }
}

TEST(Moe, NotFiniteRowsHarmNobodyElse) {
  for (const Compute compute : {Compute::f32, Compute::bf16}) {
    const Model model({64, 32, 32, 16, 4}, compute);
    const auto clean = random_floats(6 * 64, 13);
    const auto want = model.run(clean);
    for (const float bad : {NAN, INFINITY, -INFINITY, 3e38F}) {
      auto x = clean;
      std::fill_n(x.begin() + 2 * 64, 64, bad);
      const auto got = model.run(x);
      for (const int32_t id : got.chosen) EXPECT_TRUE(id >= 0 && id < 16);
      for (const size_t row : {0UL, 1UL, 3UL, 4UL, 5UL}) {
        expect_same_bits(std::span(got.out).subspan(row * 64, 64), std::span(want.out).subspan(row * 64, 64), "others");
      }
    }
  }
}

TEST(Moe, NoRows) {
  const Model model({32, 16, 16, 8, 2}, Compute::bf16);
  TestContext test(2, Compute::bf16);
  std::vector<float> out(32, 7.0F);
  std::vector<int32_t> chosen(2, 7);
  moe(test.context, {.rows = 0,
                     .hidden = 32,
                     .experts_per_token = 2,
                     .router = &model.router[0].packed,
                     .experts = model.experts,
                     .shared = &model.shared,
                     .shared_gate = &model.shared_gate[0].packed,
                     .out = out.data(),
                     .chosen = chosen.data()});
  EXPECT_EQ(out, std::vector<float>(32, 7.0F)) << "nothing is written";
  EXPECT_EQ(chosen, std::vector<int32_t>(2, 7));
}

TEST(Mlp, MatchesTheFormula) {
  for (const Compute compute : {Compute::f32, Compute::bf16}) {
    TestContext test(2, compute);
    const Rounding round{compute == Compute::bf16};
    for (const int64_t rows : {0, 1, 33}) {
      const int64_t hidden = 48, inner = 80;
      TestExpert expert(test.context, hidden, inner, 30);
      const SwigluWeights weights = expert.take();
      const auto x = random_floats(static_cast<size_t>(rows * hidden), 32);
      std::vector<float> out(x.size());
      mlp(test.context, {x.data(), rows, hidden, &weights, out.data()});
      std::vector<double> want;
      for (int64_t row = 0; row < rows; ++row) {
        const auto y = expert({x.begin() + row * hidden, x.begin() + (row + 1) * hidden}, round);
        want.insert(want.end(), y.begin(), y.end());
      }
      expect_near(out, want, round.bf16 ? 0.02 : 2e-5, round.bf16 ? 0x1p-7 : 1e-5, "mlp");
      // None of these sums is so near to the middle between two BF16 numbers that its last bits would matter.
      if (round.bf16) expect_same_bits(out, std::vector<float>(want.begin(), want.end()), "mlp, rounded");
    }
  }
}

}  // namespace
}  // namespace tessera::kernels
