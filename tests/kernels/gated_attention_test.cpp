#include "kernels/gated_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "base/hash.h"
#include "compare.h"
#include "format/e4m3.h"
#include "matrix_fixture.h"

namespace tessera::kernels {
namespace {

struct Shape {
  int heads, kv_heads, head_dim, rotary_dim;
};

/// Inputs of one sequence at every position.
struct Sequence {
  int32_t length;
  std::vector<float> query_gate, key, value;

  Sequence(const Shape& s, int32_t n, uint32_t seed)
      : length(n),
        query_gate(random_floats(static_cast<size_t>(n * s.heads * 2 * s.head_dim), seed)),
        key(random_floats(static_cast<size_t>(n * s.kv_heads * s.head_dim), seed + 1)),
        value(random_floats(static_cast<size_t>(n * s.kv_heads * s.head_dim), seed + 2)) {}
};

/// The next `rows` rows of a sequence.
struct Part {
  int sequence;
  int32_t rows;
};

struct Model {
  Shape shape;
  DType dtype = DType::bf16;
  Compute compute = Compute::bf16;
  std::vector<float> q_norm, k_norm, inv_freq;
  float rope_scale = 1.25F, k_scale = 0.03F, v_scale = 0.017F;

  Model(const Shape& s, DType d, Compute c)
      : shape(s),
        dtype(d),
        compute(c),
        q_norm(random_floats(static_cast<size_t>(s.head_dim), 91)),
        k_norm(random_floats(static_cast<size_t>(s.head_dim), 92)) {
    for (int i = 0; i < s.rotary_dim / 2; ++i) {
      inv_freq.push_back(static_cast<float>(std::pow(1e4, -2.0 * i / s.rotary_dim)));
    }
  }

  /// Feeds the sequences in steps of parts; returns each sequence's outputs in order. Blocks are handed out in an
  /// order that `block_seed` shuffles; every byte of the cache is 0xff (NaN in all three types) before it is written.
  std::vector<std::vector<float>> run(const std::vector<Sequence>& sequences,
                                      const std::vector<std::vector<Part>>& steps, int threads = 2,
                                      uint32_t block_seed = 0) const {
    TestContext test(threads, compute);
    std::vector<std::vector<int32_t>> tables;
    std::vector<int32_t> ids(1000);
    std::iota(ids.begin(), ids.end(), 0);
    if (block_seed != 0) std::shuffle(ids.begin(), ids.end(), std::mt19937(block_seed));
    size_t used = 0;
    for (const Sequence& s : sequences) {
      const auto blocks = static_cast<size_t>(blocks_for(s.length));
      tables.emplace_back(ids.begin() + static_cast<long>(used), ids.begin() + static_cast<long>(used + blocks));
      used += blocks;
    }
    const size_t bytes = ids.size() * kv_block_bytes(dtype, shape.kv_heads, shape.head_dim);
    std::vector<std::byte> keys(bytes, std::byte{0xff}), values(bytes, std::byte{0xff});

    const auto query_row = static_cast<size_t>(shape.heads * shape.head_dim);
    const auto key_row = static_cast<size_t>(shape.kv_heads * shape.head_dim);
    std::vector<std::vector<float>> outputs(sequences.size());
    std::vector<int32_t> done(sequences.size(), 0);
    for (const auto& step : steps) {
      std::vector<SequenceRows> parts;
      std::vector<float> query_gate, key, value;
      int32_t rows = 0;
      for (const Part& part : step) {
        const Sequence& s = sequences[static_cast<size_t>(part.sequence)];
        const auto first = static_cast<size_t>(done[static_cast<size_t>(part.sequence)]);
        const auto take = [&](const std::vector<float>& from, size_t width, std::vector<float>& to) {
          to.insert(to.end(), from.begin() + static_cast<long>(first * width),
                    from.begin() + static_cast<long>((first + static_cast<size_t>(part.rows)) * width));
        };
        take(s.query_gate, 2 * query_row, query_gate);
        take(s.key, key_row, key);
        take(s.value, key_row, value);
        parts.push_back({.first_row = rows,
                         .rows = part.rows,
                         .first_position = static_cast<int32_t>(first),
                         .block_table = tables[static_cast<size_t>(part.sequence)]});
        rows += part.rows;
      }
      const std::vector<int32_t> tokens(static_cast<size_t>(rows));
      const Batch batch{tokens, parts};
      std::vector<float> out(static_cast<size_t>(rows) * query_row);
      gated_attention(test.context, {.shape = {shape.heads, shape.kv_heads, shape.head_dim, shape.rotary_dim, 1e-6F},
                                     .batch = &batch,
                                     .query_gate = query_gate.data(),
                                     .key = key.data(),
                                     .value = value.data(),
                                     .q_norm = q_norm.data(),
                                     .k_norm = k_norm.data(),
                                     .inv_freq = inv_freq.data(),
                                     .rope_scale = rope_scale,
                                     .kv = {dtype, keys.data(), values.data(), k_scale, v_scale},
                                     .out = out.data()});
      for (size_t i = 0; i < step.size(); ++i) {
        auto& to = outputs[static_cast<size_t>(step[i].sequence)];
        const auto begin = out.begin() + static_cast<long>(static_cast<size_t>(parts[i].first_row) * query_row);
        to.insert(to.end(), begin, begin + static_cast<long>(static_cast<size_t>(parts[i].rows) * query_row));
        done[static_cast<size_t>(step[i].sequence)] += step[i].rows;
      }
    }
    return outputs;
  }

  std::vector<float> run_alone(const Sequence& s, int threads = 2) const {
    return run({s}, {{{0, s.length}}}, threads)[0];
  }

  [[nodiscard]] std::vector<double> normed_and_rotated(const float* x, const std::vector<float>& weight,
                                                       int position) const {
    const Rounding round{compute == Compute::bf16};
    const auto dim = static_cast<size_t>(shape.head_dim), half = static_cast<size_t>(shape.rotary_dim / 2);
    double squares = 0;
    for (size_t i = 0; i < dim; ++i) squares += double{x[i]} * x[i];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(dim) + 1e-6);
    std::vector<double> y(dim);
    for (size_t i = 0; i < dim; ++i) y[i] = round(x[i] * scale * (1.0 + weight[i]));
    for (size_t i = 0; i < half; ++i) {
      const double angle = static_cast<float>(position) * inv_freq[i];
      const double c = round(std::cos(angle) * rope_scale), s = round(std::sin(angle) * rope_scale);
      const double a = y[i], b = y[i + half];
      y[i] = round(round(a * c) - round(b * s));
      y[i + half] = round(round(b * c) + round(a * s));
    }
    return y;
  }

  [[nodiscard]] double stored(double x, float scale) const {
    if (dtype == DType::f32) return x;
    if (dtype == DType::bf16) return round_to_bf16(static_cast<float>(x));
    return double{format::decode_e4m3(format::encode_e4m3(static_cast<float>(x) / scale))} * scale;
  }

  [[nodiscard]] std::vector<double> reference(const Sequence& s) const {
    const Rounding round{compute == Compute::bf16};
    const auto dim = static_cast<size_t>(shape.head_dim);
    const auto group = static_cast<size_t>(shape.heads / shape.kv_heads),
               kv_heads = static_cast<size_t>(shape.kv_heads);
    std::vector<std::vector<double>> keys;  // [position * kv_heads + kv_head]
    std::vector<double> out;
    for (size_t t = 0; t < static_cast<size_t>(s.length); ++t) {
      for (size_t h = 0; h < kv_heads; ++h) {
        keys.push_back(normed_and_rotated(s.key.data() + (t * kv_heads + h) * dim, k_norm, static_cast<int>(t)));
        for (double& v : keys.back()) v = stored(v, k_scale);
      }
      for (size_t h = 0; h < static_cast<size_t>(shape.heads); ++h) {
        const float* from = s.query_gate.data() + (t * static_cast<size_t>(shape.heads) + h) * 2 * dim;
        const auto q = normed_and_rotated(from, q_norm, static_cast<int>(t));
        std::vector<double> p(t + 1), o(dim, 0.0);
        for (size_t j = 0; j <= t; ++j) {
          p[j] = std::inner_product(q.begin(), q.end(), keys[j * kv_heads + h / group].begin(), 0.0) /
                 std::sqrt(static_cast<double>(dim));
        }
        const double largest = *std::max_element(p.begin(), p.end());
        double total = 0;
        for (double& v : p) total += v = std::exp(v - largest);
        for (size_t j = 0; j <= t; ++j) {
          for (size_t i = 0; i < dim; ++i) {
            o[i] += p[j] / total * stored(s.value[(j * kv_heads + h / group) * dim + i], v_scale);
          }
        }
        for (size_t i = 0; i < dim; ++i) {
          out.push_back(round(round(o[i]) * round(1 / (1 + std::exp(-double{from[dim + i]})))));
        }
      }
    }
    return out;
  }
};

const std::vector<Shape> kShapes = {{4, 1, 32, 8},   {6, 2, 16, 16},   {1, 1, 2, 2}, {3, 3, 18, 6},
                                    {16, 2, 64, 16}, {20, 1, 256, 64}, {2, 2, 40, 0}};

std::string describe(const Shape& s) {
  return std::to_string(s.heads) + "/" + std::to_string(s.kv_heads) + "x" + std::to_string(s.head_dim);
}

TEST(GatedAttention, Fp32MatchesTheFormula) {
  for (const Shape& shape : kShapes) {
    const Model model(shape, DType::f32, Compute::f32);
    const Sequence s(shape, shape.head_dim > 64 ? 70 : 300, 7);
    expect_near(model.run_alone(s), model.reference(s), 2e-5, 1e-5, describe(shape));
  }
}

TEST(GatedAttention, Bf16MatchesTheFormulaWithItsRoundingPoints) {
  for (const Shape& shape : kShapes) {
    for (const DType dtype : {DType::bf16, DType::f8_e4m3}) {
      const Model model(shape, dtype, Compute::bf16);
      const Sequence s(shape, 90, 8);
      // Rounding points that fall on the other side move an output by two BF16 steps, a stored K or V by one of its.
      expect_near(model.run_alone(s), model.reference(s), dtype == DType::bf16 ? 0.01 : 0.06, 0x1p-7, describe(shape));
    }
  }
}

/// One position attends to its own value alone: what is left are the roundings, in their order, of any scale.
TEST(GatedAttention, AValueIsScaledBeforeItIsRounded) {
  for (const Shape& shape : kShapes) {
    for (const DType dtype : {DType::bf16, DType::f8_e4m3}) {
      const Model model(shape, dtype, Compute::bf16);
      const Sequence s(shape, 1, 13);
      const auto want = model.reference(s);
      expect_same_bits(model.run_alone(s), std::vector<float>(want.begin(), want.end()), describe(shape));
    }
  }
}

TEST(GatedAttention, LongContextsMatchTheFormula) {
  const Shape shape{2, 1, 16, 8};
  const Model model(shape, DType::f32, Compute::f32);
  const Sequence s(shape, 1100, 9);
  const auto got = model.run_alone(s, 1);
  expect_near(got, model.reference(s), 2e-5, 1e-5, "1100 positions");
  // Five splits, each a thread's work, merged in order.
  expect_same_bits(model.run({s}, {{{0, 1090}}, {{0, 1}}, {{0, 9}}}, 4)[0], got, "by split");
}

TEST(GatedAttention, ContextsOfMoreThanAWaveOfSplits) {
  const Shape shape{2, 1, 16, 8};
  const Model model(shape, DType::f32, Compute::f32);
  const Sequence s(shape, 2600, 10);  // 11 splits; a wave of two threads has 8
  expect_same_bits(model.run({s}, {{{0, 2590}}, {{0, 10}}}, 2)[0], model.run_alone(s, 1), "by waves of splits");
  // Beside one whose only split is in the first of two waves of three threads.
  const Sequence other(shape, 70, 14);
  const auto both = model.run({s, other}, {{{0, 2590}, {1, 69}}, {{0, 10}, {1, 1}}}, 3);
  expect_same_bits(both[0], model.run_alone(s, 1), "beside a short one");
  expect_same_bits(both[1], model.run_alone(other, 1), "beside a long one");
}

/// Of numbers that no library's arithmetic has a part in.
TEST(GatedAttention, MergedSplitsAndScaledValuesHaveTheseBits) {
  const Shape shape{2, 1, 16, 8};
  Sequence s(shape, 600, 11);
  std::minstd_rand random(12);
  for (std::vector<float>* values : {&s.query_gate, &s.key, &s.value}) {
    for (float& v : *values) v = static_cast<float>(static_cast<int32_t>(random() >> 8 & 63U) - 32) / 16;
  }
  for (const auto& [dtype, digest] :
       {std::pair{DType::f32, uint64_t{0x8704b083ba0ff3fa}}, {DType::f8_e4m3, 0xe1757e84a68cba78}}) {
    Model model(shape, dtype, Compute::f32);
    for (std::vector<float>* norm : {&model.q_norm, &model.k_norm}) norm->assign(16, 0.0F);
    model.inv_freq = {1, 0.25F, 0.0625F, 0.015625F};
    const auto got = model.run_alone(s);
    EXPECT_EQ(fnv1a({reinterpret_cast<const char*>(got.data()), got.size() * sizeof(float)}), digest) << name(dtype);
    expect_near(got, model.reference(s), dtype == DType::f32 ? 2e-5 : 2e-4, 1e-5, "these numbers");
  }
}

/// Steps of equal parts.
std::vector<std::vector<Part>> steps_of(int32_t length, int32_t rows) {
  std::vector<std::vector<Part>> steps;
  for (int32_t done = 0; done < length; done += rows) steps.push_back({{0, std::min(rows, length - done)}});
  return steps;
}

TEST(GatedAttention, BitsDependOnTheSequenceAlone) {
  for (const Shape& shape : {Shape{6, 2, 16, 16}, Shape{3, 3, 18, 6}, Shape{20, 1, 32, 8}}) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f8_e4m3}) {
      const Model model(shape, dtype, dtype == DType::f32 ? Compute::f32 : Compute::bf16);
      const std::vector<Sequence> all = {Sequence(shape, 333, 1), Sequence(shape, 200, 2), Sequence(shape, 65, 3)};
      const auto want = model.run_alone(all[0], 1);
      const auto same = [&](const std::vector<float>& got, const std::string& what) {
        expect_same_bits(got, want, describe(shape) + " " + what);
      };
      for (int threads = 1; threads <= 4; ++threads) same(model.run_alone(all[0], threads), "threads");
      for (const int32_t rows : {1, 64, 136}) {
        same(model.run({all[0]}, steps_of(333, rows), 2)[0], "steps of " + std::to_string(rows));
      }
      // Fewer tiles than threads: parallel over splits.
      auto decode = steps_of(333, 320);
      decode.pop_back();
      decode.insert(decode.end(), 13, {{0, 1}});
      same(model.run({all[0]}, decode, 4)[0], "decode by split");
      const auto together = model.run(all, {{{2, 64}, {1, 199}, {0, 331}}, {{1, 1}, {2, 1}, {0, 2}}}, 4);
      same(together[0], "decode of three by split");
      const auto mixed = model.run(
          all, {{{1, 128}, {0, 64}}, {{2, 64}, {0, 200}, {1, 3}}, {{0, 5}, {1, 5}, {2, 1}}, {{1, 64}, {0, 64}}}, 3,
          /*block_seed=*/5);
      same(mixed[0], "among others, blocks shuffled");
      for (const size_t i : {1UL, 2UL}) {
        const auto alone = model.run_alone(all[i]);
        expect_same_bits(mixed[i], alone, "another of the three");
        expect_same_bits(together[i], alone, "another of the three, by split");
      }
      for (const int64_t target : simd_targets()) {
        const ForcedTarget forced(target);
        same(model.run_alone(all[0]), hwy::TargetName(target));
        same(model.run({all[0]}, steps_of(333, 37), 4)[0], std::string("steps, ") + hwy::TargetName(target));
      }
    }
  }
}

TEST(GatedAttention, LaterPositionsNeverLeakIntoEarlierRows) {
  const Shape shape{2, 2, 16, 8};
  for (const DType dtype : {DType::f32, DType::bf16, DType::f8_e4m3}) {
    const Model model(shape, dtype, Compute::bf16);
    const Sequence clean(shape, 130, 4);
    const auto want = model.run_alone(clean);
    const size_t key_row = 2 * 16, out_row = 2 * 16;
    for (const size_t bad : {1UL, 69UL, 129UL}) {
      Sequence dirty = clean;
      std::fill_n(dirty.key.begin() + static_cast<long>(bad * key_row), key_row, NAN);
      std::fill_n(dirty.value.begin() + static_cast<long>(bad * key_row), key_row, NAN);
      const auto got = model.run_alone(dirty);
      expect_same_bits(std::span(got).first(bad * out_row), std::span(want).first(bad * out_row), "rows before");
      EXPECT_TRUE(std::isnan(got[bad * out_row]));
    }
  }
}

TEST(GatedAttention, NoRows) {
  const Model model({2, 1, 16, 8}, DType::bf16, Compute::bf16);
  const std::vector<Sequence> one = {Sequence(model.shape, 3, 1)};
  const auto want = model.run(one, {{{0, 3}}})[0];
  ASSERT_FALSE(want.empty());
  expect_same_bits(model.run(one, {{}, {{0, 0}}, {{0, 3}}})[0], want, "after steps without rows");
}

}  // namespace
}  // namespace tessera::kernels
