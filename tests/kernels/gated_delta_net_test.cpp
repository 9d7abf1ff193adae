#include "kernels/gated_delta_net.h"

#include <gtest/gtest.h>

#include <string>

#include "compare.h"
#include "delta_net_inputs.h"

namespace tessera::kernels {
namespace {

using Sequence = DeltaSequenceOf<float>;

/// The next `rows` rows of a sequence.
struct Part {
  int sequence;
  int32_t rows;
  RowClass row_class;
  int32_t snapshot_position = 0;  // one is taken after so many positions; 0: none
  int32_t restored_position = 0;  // the sequence first goes back to its snapshot, of so many positions; 0: it goes on
  /// The rows are kept as records, and all but so many of them are of other tokens: the next part goes on behind these.
  int32_t held = 0;
};
using Steps = std::vector<std::vector<Part>>;

constexpr size_t kRecordRows = 9;
constexpr RowClass kPrefill = RowClass::prefill, kDecode = RowClass::decode;

struct Result {
  std::vector<float> out, state;
};

struct Model : DeltaWeights {
  Compute compute = Compute::bf16;

  Model(const DeltaNetShape& s, Compute c) : DeltaWeights(s), compute(c) {}

  /// Feeds the sequences in steps; slots hold NaN before they are first used. Outputs of what is run twice come twice.
  std::vector<Result> run(const std::vector<Sequence>& sequences, const Steps& steps, int threads = 2) const {
    TestContext test(threads, compute);
    const auto state_floats = static_cast<size_t>(shape.state_floats());
    std::vector<float> states(2 * sequences.size() * state_floats, NAN);  // a snapshot's slot for each
    const auto channels = static_cast<size_t>(shape.channels()), heads = static_cast<size_t>(shape.value_heads);
    const size_t values = heads * static_cast<size_t>(shape.value_dim);
    std::vector<Result> results(sequences.size());
    std::vector<int32_t> done(sequences.size(), 0), held(sequences.size(), 0);
    const auto record_rows = static_cast<int32_t>(kRecordRows);
    std::vector<float> records(sequences.size() * kRecordRows * static_cast<size_t>(shape.record_floats()), NAN);
    for (const auto& step : steps) {
      std::vector<SequenceRows> parts;
      std::vector<float> qkv, z, b, a;
      int32_t rows = 0;
      for (const Part& part : step) {
        const Sequence& s = sequences[static_cast<size_t>(part.sequence)];
        const auto count = static_cast<int32_t>(sequences.size());
        const int32_t slot = count - 1 - part.sequence, snapshot_slot = count + part.sequence;
        if (part.restored_position > 0) {
          copy_state(shape, {.from = snapshot_slot, .to = slot}, states.data());
          done[static_cast<size_t>(part.sequence)] = part.restored_position;
        }
        const int32_t first = done[static_cast<size_t>(part.sequence)];
        const auto take = [&](const std::vector<float>& from, size_t width, std::vector<float>& to) {
          const auto begin = from.begin() + static_cast<long>(static_cast<size_t>(first) * width);
          const int32_t right = part.held > 0 ? part.held : part.rows;
          to.insert(to.end(), begin, begin + static_cast<long>(static_cast<size_t>(right) * width));
          to.insert(to.end(), static_cast<size_t>(part.rows - right) * width, 0.3F);
        };
        take(s.qkv, channels, qkv);
        take(s.z, values, z);
        take(s.b, heads, b);
        take(s.a, heads, a);
        parts.push_back({.first_row = rows,
                         .rows = part.rows,
                         .first_position = first,
                         .row_class = part.row_class,
                         .state_slot = slot,
                         .snapshot_slot = part.snapshot_position > 0 ? snapshot_slot : -1,
                         .snapshot_position = part.snapshot_position,
                         .keeps_records = part.held > 0,
                         .held = held[static_cast<size_t>(part.sequence)],
                         .block_table = {}});
        held[static_cast<size_t>(part.sequence)] = part.held;
        rows += part.rows;
      }
      const std::vector<int32_t> tokens(static_cast<size_t>(rows));
      const Batch batch{tokens, parts};
      std::vector<float> out(static_cast<size_t>(rows) * values);
      gated_delta_net(test.context, {.shape = shape,
                                     .batch = &batch,
                                     .qkv = qkv.data(),
                                     .z = z.data(),
                                     .b = b.data(),
                                     .a = a.data(),
                                     .conv_weight = conv_weight.data(),
                                     .a_log = a_log.data(),
                                     .dt_bias = dt_bias.data(),
                                     .norm_weight = norm_weight.data(),
                                     .states = states.data(),
                                     .records = records.data(),
                                     .record_rows = record_rows,
                                     .out = out.data()});
      for (size_t i = 0; i < step.size(); ++i) {
        auto& to = results[static_cast<size_t>(step[i].sequence)].out;
        const auto begin = out.begin() + static_cast<long>(static_cast<size_t>(parts[i].first_row) * values);
        const int32_t right = step[i].held > 0 ? step[i].held : step[i].rows;
        to.insert(to.end(), begin, begin + static_cast<long>(static_cast<size_t>(right) * values));
        done[static_cast<size_t>(step[i].sequence)] += right;
      }
    }
    for (size_t i = 0; i < sequences.size(); ++i) {
      const auto begin = states.begin() + static_cast<long>((sequences.size() - 1 - i) * state_floats);
      results[i].state.assign(begin, begin + static_cast<long>(state_floats));
    }
    return results;
  }

  Result run_alone(const Sequence& s, RowClass row_class, int threads = 2) const {
    return run({s}, {{{0, s.length, row_class}}}, threads)[0];
  }

  /// The recurrence in double; outputs, then the state as the kernel keeps it.
  struct Reference {
    std::vector<double> out, state;
  };
  [[nodiscard]] Reference reference(const Sequence& s) const {
    const Rounding round{compute == Compute::bf16};
    const auto channels = static_cast<size_t>(shape.channels()), width = static_cast<size_t>(shape.conv_width);
    const auto dk = static_cast<size_t>(shape.key_dim), dv = static_cast<size_t>(shape.value_dim);
    const auto hk = static_cast<size_t>(shape.key_heads), hv = static_cast<size_t>(shape.value_heads);
    Reference result;
    result.out.resize(static_cast<size_t>(s.length) * hv * dv);
    std::vector<std::vector<double>> states(hv, std::vector<double>(dk * dv, 0.0));
    for (size_t t = 0; t < static_cast<size_t>(s.length); ++t) {
      std::vector<double> x(channels);
      for (size_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (size_t back = 0; back < width && back <= t; ++back) {
          sum += double{conv_weight[c * width + width - 1 - back]} * s.qkv[(t - back) * channels + c];
        }
        x[c] = round(sum / (1 + std::exp(-sum)));
      }
      for (size_t h = 0; h < hv; ++h) {
        const size_t key_head = h / (hv / hk);
        const auto unit = [&](const double* from, double scale) {
          double squares = 0;
          for (size_t i = 0; i < dk; ++i) squares += from[i] * from[i];
          std::vector<double> y(from, from + dk);
          for (double& v : y) v *= scale / std::sqrt(squares + 1e-6);
          return y;
        };
        const auto q = unit(x.data() + key_head * dk, 1 / std::sqrt(static_cast<double>(dk)));
        const auto k = unit(x.data() + (hk + key_head) * dk, 1.0);
        const double* v = x.data() + 2 * hk * dk + h * dv;
        const double beta = round(1 / (1 + std::exp(-double{s.b[t * hv + h]})));
        const double g = -std::exp(double{a_log[h]}) * std::log1p(std::exp(double{s.a[t * hv + h]} + dt_bias[h]));
        auto& state = states[h];
        for (double& e : state) e *= std::exp(g);
        std::vector<double> o(dv, 0.0);
        double squares = 0;
        for (size_t j = 0; j < dv; ++j) {
          double recalled = 0;
          for (size_t i = 0; i < dk; ++i) recalled += k[i] * state[i * dv + j];
          const double u = beta * (v[j] - recalled);
          for (size_t i = 0; i < dk; ++i) {
            state[i * dv + j] += k[i] * u;
            o[j] += q[i] * state[i * dv + j];
          }
          o[j] = round(o[j]);
          squares += o[j] * o[j];
        }
        for (size_t j = 0; j < dv; ++j) {
          const double normed = round(o[j] / std::sqrt(squares / static_cast<double>(dv) + double{shape.norm_eps}));
          const double z = s.z[(t * hv + h) * dv + j];
          result.out[(t * hv + h) * dv + j] = round(round(normed * norm_weight[j]) * (z / (1 + std::exp(-z))));
        }
      }
    }
    for (const auto& state : states) result.state.insert(result.state.end(), state.begin(), state.end());
    for (size_t slot = 0; slot + 1 < width; ++slot) {
      const int64_t t = s.length - static_cast<int64_t>(width - 1 - slot);
      for (size_t c = 0; c < channels; ++c) {
        result.state.push_back(t < 0 ? 0.0 : s.qkv[static_cast<size_t>(t) * channels + c]);
      }
    }
    return result;
  }
};

const std::vector<DeltaNetShape> kShapes = {{2, 4, 16, 16, 4}, {1, 3, 12, 20, 4},   {2, 2, 4, 4, 2},
                                            {1, 1, 64, 48, 4}, {1, 2, 128, 128, 4}, {3, 3, 8, 36, 1}};

std::string describe(const DeltaNetShape& s) {
  return std::to_string(s.key_heads) + "/" + std::to_string(s.value_heads) + " heads, " + std::to_string(s.key_dim) +
         "x" + std::to_string(s.value_dim);
}

TEST(GatedDeltaNet, Fp32MatchesTheRecurrence) {
  for (const DeltaNetShape& shape : kShapes) {
    const Model model(shape, Compute::f32);
    for (const int32_t length : {1, 2, 3, 63, 64, 65, 200}) {
      const Sequence s(shape, length, 5);
      const auto want = model.reference(s);
      for (const RowClass row_class : {kPrefill, kDecode}) {
        const auto got = model.run_alone(s, row_class);
        const std::string what = describe(shape) + ", length " + std::to_string(length);
        expect_near(got.out, want.out, 2e-4, 2e-4, what + ", out");  // the norm magnifies outputs near zero
        expect_near(got.state, want.state, 2e-5, 2e-5, what + ", state");
      }
    }
  }
}

TEST(GatedDeltaNet, Bf16MatchesTheRecurrenceWithItsRoundingPoints) {
  for (const DeltaNetShape& shape : kShapes) {
    const Model model(shape, Compute::bf16);
    const Sequence s(shape, 100, 6);
    const auto want = model.reference(s);
    for (const RowClass row_class : {kPrefill, kDecode}) {
      const auto got = model.run_alone(s, row_class);
      expect_near(got.out, want.out, 0.05, 0x1p-6, describe(shape));  // a few roundings fall on the other side
      for (const float v : got.out) ASSERT_EQ(v, round_to_bf16(v));
      // What one row leaves has the same roundings.
      const Sequence one(shape, 1, 6);
      expect_near(model.run_alone(one, row_class).state, model.reference(one).state, 2e-5, 2e-5, describe(shape));
    }
  }
}

/// Of one row little is summed: what is left are the roundings, in their order.
TEST(GatedDeltaNet, OneRowIsRoundedAsTheFormulaIs) {
  for (const DeltaNetShape& shape : kShapes) {
    const Model model(shape, Compute::bf16);
    const Sequence s(shape, 1, 6);
    const auto want = model.reference(s).out;
    for (const RowClass row_class : {kPrefill, kDecode}) {
      expect_same_bits(model.run_alone(s, row_class).out, std::vector<float>(want.begin(), want.end()),
                       describe(shape));
    }
  }
}

TEST(GatedDeltaNet, ExtremeGates) {
  const DeltaNetShape shape{1, 1, 16, 16, 4};
  const Model model(shape, Compute::f32);
  for (const float gate : {-200.0F, -30.0F, 19.0F, 21.0F, 100.0F}) {
    Sequence s(shape, 130, 3);
    for (size_t i = 0; i < s.a.size(); i += 3) s.a[i] = gate;
    for (size_t i = 0; i < s.b.size(); i += 5) s.b[i] = gate;
    const auto want = model.reference(s);
    for (const RowClass row_class : {kPrefill, kDecode}) {
      expect_near(model.run_alone(s, row_class).out, want.out, 1e-3, 1e-3, "gate " + std::to_string(gate));
    }
  }
}

void expect_same(const Result& got, const Result& want, const std::string& what) {
  expect_same_bits(got.out, want.out, what);
  expect_same_bits(got.state, want.state, what + ", state");
}

TEST(GatedDeltaNet, BitsDependOnTheSequenceAlone) {
  for (const DeltaNetShape& shape : {kShapes[0], kShapes[1], kShapes[3], kShapes[5]}) {
    for (const Compute compute : {Compute::f32, Compute::bf16}) {
      const Model model(shape, compute);
      const std::vector<Sequence> all = {Sequence(shape, 200, 1), Sequence(shape, 150, 2), Sequence(shape, 5, 3)};
      const auto prefilled = model.run_alone(all[0], kPrefill, 1), decoded = model.run_alone(all[2], kDecode, 1);
      for (int threads = 1; threads <= 4; ++threads) {
        expect_same(model.run_alone(all[0], kPrefill, threads), prefilled, "threads");
        expect_same(model.run_alone(all[2], kDecode, threads), decoded, "threads");
      }
      const auto split = [&](std::vector<int32_t> rows) {
        Steps steps;
        for (const int32_t n : rows) steps.push_back({{0, n, kPrefill}});
        return model.run({all[0]}, steps)[0];
      };
      expect_same(split({64, 136}), prefilled, "64 + 136");
      expect_same(split({128, 72}), prefilled, "128 + 72");
      expect_same(split({64, 64, 64, 8}), prefilled, "by chunk");
      const auto one_by_one =
          model.run({all[2]}, {{{0, 1, kDecode}}, {{0, 1, kDecode}}, {{0, 2, kDecode}}, {{0, 1, kDecode}}})[0];
      expect_same(one_by_one, decoded, "decode one by one");

      // Prefill, then drafts, among others; against the same alone.
      const Steps alone = {{{0, 128, kPrefill}}, {{0, 3, kDecode}}, {{0, 19, kDecode}}};
      const auto want = model.run({all[1]}, alone)[0];
      const Steps mixed_steps = {{{0, 64, kPrefill}, {2, 2, kDecode}, {1, 64, kPrefill}},
                                 {{2, 2, kDecode}, {1, 64, kPrefill}},
                                 {{1, 1, kDecode}, {0, 136, kPrefill}},
                                 {{2, 1, kDecode}, {1, 21, kDecode}}};
      const auto mixed = model.run(all, mixed_steps, 3);
      expect_same(mixed[0], prefilled, "prefill among others");
      expect_same(mixed[1], want, "prefill and decode among others");
      expect_same(mixed[2], decoded, "decode among others");
      for (const int64_t target : simd_targets()) {
        const ForcedTarget forced(target);
        const auto again = model.run(all, mixed_steps, 2);
        for (size_t i = 0; i < again.size(); ++i) expect_same(again[i], mixed[i], hwy::TargetName(target));
      }
    }
  }
}

TEST(GatedDeltaNet, ARestoredSnapshotIsThatOfASequenceThatNeverStopped) {
  for (const DeltaNetShape& shape : kShapes) {
    const Model model(shape, Compute::bf16);
    const Sequence s(shape, 210, 7);
    const auto values = static_cast<size_t>(shape.value_heads * shape.value_dim);
    for (const int32_t position : {64, 128, 192}) {
      const auto want = model.run({s}, {{{0, 192, kPrefill}}, {{0, 18, kDecode}}})[0];
      const Steps steps = {{{0, 192, kPrefill, position}}, {{0, 18, kDecode}}};
      expect_same(model.run({s}, steps)[0], want, "with a snapshot");
      Steps again = steps;
      if (position < 192) again.push_back({{0, 192 - position, kPrefill, 0, position}});
      again.push_back({{0, 18, kDecode, 0, position < 192 ? 0 : position}});
      const auto got = model.run({s}, again)[0];
      const std::string what = describe(shape) + ", restored at " + std::to_string(position);
      expect_same_bits(got.state, want.state, what + ", state");
      const auto since = static_cast<size_t>(210 - position) * values;
      expect_same_bits(std::span(got.out).last(since), std::span(want.out).last(since), what);
    }
  }
}

TEST(GatedDeltaNet, RowsThatDoNotHoldLeaveNothingBehind) {
  for (const DeltaNetShape& shape : kShapes) {
    const Model model(shape, Compute::bf16);
    const std::vector<Sequence> both = {Sequence(shape, 96, 7), Sequence(shape, 96, 8)};
    const auto want = model.run(both, {{{0, 64, kPrefill}, {1, 64, kPrefill}}, {{0, 32, kDecode}, {1, 32, kDecode}}});
    // Of the rows of a step 1 to all hold; the last step advances by the rest and keeps its own row.
    const auto drafts = [](int sequence, int32_t rows, int32_t held) {
      return Part{.sequence = sequence, .rows = rows, .row_class = kDecode, .held = held};
    };
    const Steps steps = {{{1, 64, kPrefill}},
                         {drafts(1, 3, 2), {0, 64, kPrefill}},
                         {drafts(1, 9, 9), {0, 1, kDecode}},
                         {drafts(1, 1, 1), drafts(0, 2, 1)},
                         {drafts(0, 6, 4)},
                         {{1, 19, kDecode}, drafts(0, 9, 8)},
                         {drafts(0, 9, 7), drafts(1, 2, 1)},
                         {{0, 11, kDecode}}};
    auto got = model.run(both, steps);
    const std::string what = describe(shape);
    expect_same(got[0], want[0], what);
    // The newest rows of the other one are still records: its state is the one before them.
    const auto before = model.run({both[1]}, {{{0, 64, kPrefill}}, {{0, 31, kDecode}}})[0];
    expect_same_bits(got[1].out, want[1].out, what);
    expect_same_bits(got[1].state, before.state, what + ", state before records");
  }
}

/// The first rows of a sequence that are kept as records advance an empty state, whatever the slot holds.
TEST(GatedDeltaNet, RecordsOfTheFirstRowsStartFromNothing) {
  for (const DeltaNetShape& shape : kShapes) {
    const Model model(shape, Compute::bf16);
    const std::vector<Sequence> one = {Sequence(shape, 12, 9)};
    const Part first{.sequence = 0, .rows = 4, .row_class = kDecode, .held = 3};
    const auto got = model.run(one, {{first}, {{0, 9, kDecode}}})[0];
    expect_same(got, model.run_alone(one[0], kDecode), describe(shape));
  }
}

TEST(GatedDeltaNet, LaterRowsOfAChunkNeverLeakIntoEarlierOnes) {
  const DeltaNetShape shape{1, 2, 16, 16, 4};
  const Model model(shape, Compute::bf16);
  const Sequence clean(shape, 100, 4);
  const auto want = model.run_alone(clean, kPrefill);
  for (const size_t bad : {1UL, 40UL, 63UL, 70UL}) {
    Sequence dirty = clean;
    const auto channels = static_cast<size_t>(shape.channels());
    std::fill_n(dirty.qkv.begin() + static_cast<long>(bad * channels), channels, NAN);
    const auto got = model.run_alone(dirty, kPrefill);
    const size_t row = 2 * 16;
    expect_same_bits(std::span(got.out).first(bad * row), std::span(want.out).first(bad * row), "rows before");
    EXPECT_TRUE(std::isnan(got.out[bad * row]));
  }
}

TEST(GatedDeltaNet, NoRows) {
  const Model model(kShapes[0], Compute::bf16);
  const std::vector<Sequence> one = {Sequence(model.shape, 3, 1)};
  const auto want = model.run(one, {{{0, 2, kPrefill}}, {{0, 1, kDecode}}})[0].out;
  ASSERT_FALSE(want.empty());
  const auto got = model.run(one, {{}, {{0, 0, kPrefill}}, {{0, 2, kPrefill}}, {{0, 0, kDecode}}, {{0, 1, kDecode}}});
  expect_same_bits(got[0].out, want, "between steps without rows");
}

}  // namespace
}  // namespace tessera::kernels
