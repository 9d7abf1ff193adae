#include "kernels/cuda/attention.h"

#include <bit>

#include "kernels/cuda/attention_fixture.h"
#include "kernels/cuda/attention_shape.h"
#include "kernels/spelt_math.h"

// Attention on the GPU: against the CPU's operation with a tolerance, against itself bit for bit.
namespace tessera::kernels::cuda {
namespace {

using Sequences = std::vector<AttentionSequence>;

constexpr RowClass kPrefill = RowClass::prefill, kDecode = RowClass::decode;

double root_mean_square(std::span<const float> values) {
  double total = 0;
  for (const float value : values) total += double{value} * value;
  return std::sqrt(total / static_cast<double>(values.size()));
}

/// Relative L2, and the worst element beyond two steps of BF16, in parts of its row's root mean square: early rows are
/// means of few values and so larger than late ones.
void expect_close(std::span<const uint16_t> got, std::span<const float> want, size_t width, double l2_max,
                  double worst_max, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double difference = 0, worst = 0;
  size_t at = 0;
  for (size_t row = 0; row < got.size(); row += width) {
    const double rms = root_mean_square(want.subspan(row, width));
    for (size_t i = row; i < row + width; ++i) {
      const double d = std::abs(double{bf16_to_float(got[i])} - want[i]);
      difference += d * d;
      const double beyond = (d - std::abs(want[i]) / 64) / rms;
      if (!(beyond <= worst)) {
        worst = beyond;
        at = i;
      }
    }
  }
  const double size = root_mean_square(want) * std::sqrt(static_cast<double>(want.size()));
  EXPECT_LE(std::sqrt(difference) / size, l2_max) << what;
  EXPECT_LE(worst, worst_max) << what << ": worst element " << at % width << " of row " << at / width << " is "
                              << bf16_to_float(got[at]) << ", want " << want[at];
}

void expect_cpu(const AttentionLayer& layer, const Sequences& sequences, const AttentionOutcome& got,
                const std::string& what) {
  for (size_t i = 0; i < sequences.size(); ++i) {
    const std::string where = layer.describe() + ", " + what + ", sequence " + std::to_string(i);
    // BF16 of q, k, p and the output: about 2^-9 each. E4M3 rounds K and V by up to 2^-4, which the fp32 cache does
    // not.
    const bool e4m3 = layer.dtype == DType::f8_e4m3;
    expect_close(got.out[i], cpu_attention(layer, sequences[i], Compute::f32), layer.q_width(), e4m3 ? 0.05 : 0.01,
                 e4m3 ? 2.0 : 0.12, where + " against fp32");
    expect_close(got.out[i], cpu_attention(layer, sequences[i], Compute::bf16), layer.q_width(), e4m3 ? 0.015 : 0.008,
                 e4m3 ? 0.3 : 0.08, where + " against BF16");
  }
}

void expect_same(const AttentionOutcome& got, const AttentionOutcome& want, size_t sequence, const std::string& what) {
  ASSERT_EQ(got.out[sequence].size(), want.out[sequence].size()) << what;
  for (size_t i = 0; i < got.out[sequence].size(); ++i) {
    ASSERT_EQ(got.out[sequence][i], want.out[sequence][i]) << what << ": output " << i << " of sequence " << sequence;
  }
  ASSERT_TRUE(got.stored[sequence] == want.stored[sequence]) << what << ": cache of sequence " << sequence;
}

AttentionOutcome run(const AttentionLayer& layer, const Sequences& sequences, const std::vector<AttentionStep>& steps,
                     const AttentionRun& how = {}) {
  AttentionOnGpu gpu(layer, sequences, how);
  return gpu.steps(steps);
}

/// A step for each number of rows.
std::vector<AttentionStep> steps_of(std::initializer_list<int32_t> rows, RowClass row_class) {
  std::vector<AttentionStep> steps;
  for (const int32_t n : rows) steps.push_back({{0, n, row_class}});
  return steps;
}

const std::vector<AttentionLayer>& layers() {
  static const std::vector<AttentionLayer> all = [] {
    std::vector<AttentionLayer> out;
    for (const DType dtype : {DType::bf16, DType::f8_e4m3}) {
      out.emplace_back(2, 2, 16, 8, dtype);
      out.emplace_back(4, 2, 32, 32, dtype);
      out.emplace_back(3, 1, 64, 16, dtype);
      out.emplace_back(6, 2, 40, 0, dtype);
      out.emplace_back(8, 1, 128, 96, dtype);  // more pairs than a warp has lanes
      out.emplace_back(16, 1, 256, 64, dtype);
    }
    return out;
  }();
  return all;
}

TEST(Attention, DecodeMatchesTheCpu) {
  for (const AttentionLayer& layer : layers()) {
    const Sequences sequences = {AttentionSequence(layer, 256, 4, 1), AttentionSequence(layer, 64, 3, 2),
                                 AttentionSequence(layer, 0, 2, 3)};
    const auto got = run(layer, sequences, {{{0, 1}, {1, 2}, {2, 1}}, {{2, 1}, {0, 3}, {1, 1}}});
    expect_cpu(layer, sequences, got, "decode");
  }
}

TEST(Attention, PrefillMatchesTheCpu) {
  for (const AttentionLayer& layer : layers()) {
    const Sequences sequences = {AttentionSequence(layer, 0, layer.shape.head_dim > 128 ? 65 : 130, 1),
                                 AttentionSequence(layer, 64, 63, 2), AttentionSequence(layer, 128, 1, 3)};
    const auto got = run(layer, sequences, {{{0, sequences[0].rows, kPrefill}, {1, 63, kPrefill}, {2, 1, kPrefill}}});
    expect_cpu(layer, sequences, got, "prefill");
  }
}

/// A position that sees itself alone has its value, times the gate's sigmoid rounded to BF16: no sum blurs a bit.
TEST(Attention, TheFirstPositionIsItsValueTimesItsGate) {
  const AttentionLayer layer(4, 2, 32, 16, DType::bf16);
  const AttentionSequence sequence(layer, 0, 1, 9);
  for (const RowClass row_class : {kDecode, kPrefill}) {
    const auto got = run(layer, {sequence}, {{{0, 1, row_class}}}).out[0];
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t head = i / 32, d = i % 32;
      const float gate = spelt::round_bf16(spelt::sigmoid(bf16_to_float(sequence.query_gate[(2 * head + 1) * 32 + d])));
      const float value = bf16_to_float(sequence.value[head / 2 * 32 + d]);
      ASSERT_EQ(got[i], float_to_bf16(value * gate)) << "head " << head << ", dimension " << d;
    }
  }
}

/// A key that outweighs all others, by more than an exponent of fp32 holds, at places that differ in the thread, the
/// warp and the block of the cache that have it; or, in the last sequence, that of the newest row, which the one before
/// it does not see.
TEST(Attention, AKeyMayOutweighAllOthers) {
  for (const DType dtype : {DType::bf16, DType::f8_e4m3}) {
    AttentionLayer layer(8, 1, 32, 0, dtype);
    for (auto* norm : {&layer.q_norm, &layer.k_norm}) std::fill(norm->begin(), norm->end(), 1.0F);
    if (dtype == DType::f8_e4m3) layer.k_scale = 0.5F;
    Sequences sequences;
    AttentionStep decode, prefill;
    for (const int outweighs : {0, 1, 3, 4, 6, 8, 42, 71, 255, -1}) {
      AttentionSequence s(layer, outweighs < 0 ? 64 : 256, 2, static_cast<uint32_t>(outweighs + 50));
      for (uint16_t& x : s.stored_keys) x = float_to_bf16(bf16_to_float(x) * 0.125F);
      if (outweighs >= 0) std::fill_n(s.stored_keys.begin() + outweighs * 32, 32, float_to_bf16(200.0F));
      for (size_t i = 0; i < s.query_gate.size(); ++i) {
        if (i % 64 < 32) s.query_gate[i] = float_to_bf16(1.0F);
      }
      for (size_t i = 0; i < s.key.size(); ++i) s.key[i] = float_to_bf16(i < 32 ? -1.0F : 1.0F);
      decode.push_back({static_cast<int>(sequences.size()), 2, kDecode});
      prefill.push_back({static_cast<int>(sequences.size()), 2, kPrefill});
      sequences.push_back(std::move(s));
    }
    expect_cpu(layer, sequences, run(layer, sequences, {decode}), "decode");
    expect_cpu(layer, sequences, run(layer, sequences, {prefill}), "prefill");
  }
}

/// Sequences are looked up 32 at a time: more than two times of either kind.
TEST(Attention, MoreSequencesThanAWarpHasLanes) {
  const AttentionLayer layer(2, 1, 16, 8, DType::bf16);
  Sequences sequences;
  AttentionStep step;
  for (int i = 0; i < 140; ++i) {
    sequences.emplace_back(layer, i % 3 * 64, 1 + i % 2, static_cast<uint32_t>(i));
    step.push_back({i, 1 + i % 2, i < 70 ? kDecode : kPrefill});
  }
  expect_cpu(layer, sequences, run(layer, sequences, {step}), "many");
}

/// Contexts around the borders of decode splits, and of their superblocks of 4,096.
TEST(Attention, DecodeAtTheBordersOfSplits) {
  for (const DType dtype : {DType::bf16, DType::f8_e4m3}) {
    const AttentionLayer layer(2, 1, 32, 16, dtype);
    Sequences sequences;
    AttentionStep first, second;
    for (const int32_t stored : {192, 448, 512, 4032, 4096, 8128}) {
      first.push_back({static_cast<int>(sequences.size()), 63});
      second.push_back({static_cast<int>(sequences.size()), 4});
      sequences.emplace_back(layer, stored, 67, static_cast<uint32_t>(stored));
    }
    expect_cpu(layer, sequences, run(layer, sequences, {first, second}), "borders");
  }
}

TEST(Attention, DecodeBitsDependOnTheSequenceAlone) {
  for (const AttentionLayer& layer :
       {AttentionLayer(8, 1, 32, 16, DType::bf16), AttentionLayer(3, 1, 128, 32, DType::bf16),
        AttentionLayer(16, 2, 128, 16, DType::f8_e4m3)}) {
    const Sequences all = {AttentionSequence(layer, 576, 10, 1), AttentionSequence(layer, 192, 66, 2),
                           AttentionSequence(layer, 0, 5, 3)};
    const auto alone = run(layer, {all[0]}, steps_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, kDecode));
    const auto together = run(layer, all, {{{0, 9}, {1, 66}, {2, 4}}, {{2, 1}, {0, 1}}},
                              {.block_seed = 5, .spare_rows = 7, .pdl = false});
    expect_same(together, alone, 0, layer.describe() + " nine rows among others");
    const auto two = run(layer, all, {{{1, 60}, {0, 1}}, {{0, 3}, {2, 5}, {1, 1}}, {{0, 6}, {1, 5}}},
                         {.block_seed = 6, .sm_count = 1, .decode_row_blocks = 2});
    expect_same(two, alone, 0, layer.describe() + " two row blocks");
    for (const size_t i : {1UL, 2UL}) expect_same(two, together, i, layer.describe() + " other steps");
  }
}

/// Blocks that take one split, a superblock, or all splits in turn.
TEST(Attention, GrainsOfDecodeHaveTheSameBits) {
  const AttentionLayer layer(2, 1, 32, 16, DType::bf16);
  const Sequences sequences = {AttentionSequence(layer, 8128, 66, 1), AttentionSequence(layer, 320, 2, 2)};
  const std::vector<AttentionStep> steps = {{{1, 1}, {0, 66}}, {{1, 1}}};
  const auto want = run(layer, sequences, steps);
  for (const int slots : {40, 27, 1}) {  // 28 superblocks
    const auto got = run(layer, sequences, steps, {.sm_count = 2, .decode_slots = slots});
    for (const size_t i : {0UL, 1UL}) expect_same(got, want, i, std::to_string(slots) + " slots");
  }
  expect_cpu(layer, sequences, want, "66 rows over two superblocks");
}

TEST(Attention, PrefillBitsDoNotDependOnItsSteps) {
  for (const AttentionLayer& layer :
       {AttentionLayer(8, 2, 32, 16, DType::bf16), AttentionLayer(3, 1, 64, 32, DType::f8_e4m3),
        AttentionLayer(16, 1, 32, 8, DType::bf16)}) {
    const Sequences all = {AttentionSequence(layer, 0, 200, 1), AttentionSequence(layer, 64, 70, 2)};
    const auto want = run(layer, {all[0]}, {{{0, 200, kPrefill}}});
    const auto parts = run(layer, all, {{{0, 64, kPrefill}, {1, 64, kPrefill}}, {{0, 136, kPrefill}, {1, 6}}},
                           {.block_seed = 7, .spare_rows = 9, .pdl = false});
    expect_same(parts, want, 0, layer.describe() + " steps of 64 and 136");
    const auto more =
        run(layer, all, {{{1, 70, kPrefill}, {0, 128, kPrefill}}, {{0, 64, kPrefill}}, {{0, 8, kPrefill}}},
            {.sm_count = 1});
    expect_same(more, want, 0, layer.describe() + " steps of 128, 64 and 8");
    const auto uneven = run(layer, {all[0]}, {{{0, 62, kPrefill}}, {{0, 3, kPrefill}}, {{0, 135, kPrefill}}});
    expect_same(uneven, want, 0, layer.describe() + " steps of 62, 3 and 135");
  }
}

TEST(Attention, GrainsOfPrefillHaveTheSameBits) {
  for (const DType dtype : {DType::bf16, DType::f8_e4m3}) {
    const AttentionLayer layer(2, 1, 32, 16, dtype);
    const Sequences sequences = {AttentionSequence(layer, 8128, 66, 1)};
    const std::vector<AttentionStep> steps = {{{0, 64, kPrefill}}, {{0, 2, kPrefill}}};
    const auto want = run(layer, sequences, steps);
    for (const int slots : {2, 1}) {
      expect_same(run(layer, sequences, steps, {.sm_count = 1, .prefill_slots = slots}), want, 0,
                  std::to_string(slots) + " slots");
    }
    expect_cpu(layer, sequences, want, "three splits");
  }
}

/// Their states are merged a few of their dimensions at a time.
TEST(Attention, PrefillOfWideHeadsOverSplits) {
  const AttentionLayer layer(1, 1, 128, 8, DType::bf16);
  const Sequences sequences = {AttentionSequence(layer, 4096, 9, 1)};
  expect_cpu(layer, sequences, run(layer, sequences, {{{0, 9, kPrefill}}}), "two splits");
}

/// Ten splits, of which a superblock has eight; rows of two warps.
TEST(Attention, PrefillBySuperblocksHasTheSameBits) {
  const AttentionLayer layer(1, 1, 32, 8, DType::bf16);
  const Sequences sequences = {AttentionSequence(layer, 36'864, 17, 1)};
  const std::vector<AttentionStep> steps = {{{0, 17, kPrefill}}};
  expect_same(run(layer, sequences, steps, {.sm_count = 1, .prefill_slots = 2}), run(layer, sequences, steps), 0,
              "two superblocks");
}

/// A row's NaN stays in the rows that see it.
TEST(Attention, LaterRowsNeverReachEarlierOnes) {
  for (const DType dtype : {DType::bf16, DType::f8_e4m3}) {
    for (const AttentionLayer& layer : {AttentionLayer(2, 1, 32, 8, dtype), AttentionLayer(4, 1, 128, 8, dtype)}) {
      const AttentionSequence clean(layer, 64, 70, 4);
      const size_t width = layer.q_width(), kv_width = layer.kv_width();
      for (const RowClass row_class : {kDecode, kPrefill}) {
        const auto steps = row_class == kDecode ? steps_of({60, 4, 6}, kDecode) : steps_of({64, 6}, kPrefill);
        const auto want = run(layer, {clean}, steps);
        for (const size_t bad : {0UL, 1UL, 5UL, 62UL, 66UL}) {
          AttentionSequence dirty = clean;
          // Odd dimensions and even ones. Infinities are stored as NaN, in E4M3 as numbers.
          const size_t one = bad == 1 ? 2 : 3, other = bad == 66 ? 17 : 18;
          dirty.value[bad * kv_width + one] = bad == 62 && dtype == DType::bf16 ? 0xff80 : 0x7fc0;
          dirty.value[bad * kv_width + other] = bad == 5 && dtype == DType::bf16 ? 0x7f80 : 0xffc0;
          const auto got = run(layer, {dirty}, steps);
          const std::string what = layer.describe() + " row " + std::to_string(bad);
          for (size_t i = 0; i < got.out[0].size(); ++i) {
            const size_t d = i % width % static_cast<size_t>(layer.shape.head_dim);
            if (i / width >= bad && (d == one || d == other)) {
              ASSERT_TRUE(std::isnan(bf16_to_float(got.out[0][i]))) << what << ": output " << i;
            } else {
              ASSERT_EQ(got.out[0][i], want.out[0][i]) << what << ": output " << i;
            }
          }
          // All of a key, and all values from the row on.
          for (const bool of_key : {true, false}) {
            if (!of_key && bad != 5) continue;
            dirty = clean;
            const auto from = static_cast<long>(bad * kv_width);
            if (of_key) {
              std::fill_n(dirty.key.begin() + from, kv_width, 0x7fc0);
            } else {
              std::fill(dirty.value.begin() + from, dirty.value.end(), 0x7fc0);
            }
            const auto all = run(layer, {dirty}, steps);
            for (size_t i = 0; i < all.out[0].size(); ++i) {
              if (i / width >= bad) {
                ASSERT_TRUE(std::isnan(bf16_to_float(all.out[0][i])))
                    << what << (of_key ? ", key" : ", values") << ": output " << i;
              } else {
                ASSERT_EQ(all.out[0][i], want.out[0][i]) << what << (of_key ? ", key" : ", values") << ": output " << i;
              }
            }
          }
        }
      }
    }
  }
}

/// Of the dimensions that a thread has in one load, each in turn.
TEST(Attention, LaterRowsOfWideHeadsNeverReachEarlierOnes) {
  const AttentionLayer layer(1, 1, 256, 8, DType::bf16);
  const AttentionSequence clean(layer, 0, 4, 4);
  const size_t width = layer.q_width(), bad = 2;
  const auto steps = steps_of({4}, kDecode);
  const auto want = run(layer, {clean}, steps);
  for (const size_t d : {4UL, 9UL, 14UL, 19UL, 255UL}) {
    AttentionSequence dirty = clean;
    dirty.value[bad * width + d] = 0x7fc0;
    const auto got = run(layer, {dirty}, steps);
    for (size_t i = 0; i < got.out[0].size(); ++i) {
      if (i / width >= bad && i % width == d) {
        ASSERT_TRUE(std::isnan(bf16_to_float(got.out[0][i]))) << d << ": output " << i;
      } else {
        ASSERT_EQ(got.out[0][i], want.out[0][i]) << d << ": output " << i;
      }
    }
  }
}

TEST(Attention, NothingToDo) {
  const AttentionLayer layer(2, 1, 32, 8, DType::bf16);
  const Sequences sequences = {AttentionSequence(layer, 0, 3, 1)};
  AttentionOnGpu gpu(layer, sequences, {.spare_rows = 4});
  const auto got = gpu.steps({{{0, 0, kPrefill}}, {{0, 0}}, {{0, 3, kPrefill}}});
  expect_cpu(layer, sequences, got, "after steps without rows");
}

TEST(Attention, RefusesWhatItCannotRun) {
  const auto refused = [](const AttentionShape& shape, DType kv, const char* why) {
    const Status status = supports(shape, kv);
    ASSERT_EQ(status.code(), StatusCode::unsupported) << why;
    EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("head_dim"), std::string::npos) << status.message();
  };
  const AttentionShape possible[] = {{16, 2, 256, 64, 1e-6F}, {32, 2, 256, 256, 1e-6F}, {1, 1, 8, 0, 1e-6F}};
  for (const AttentionShape& shape : possible) EXPECT_TRUE(supports(shape, DType::bf16).ok()) << shape.head_dim;
  refused({16, 2, 256, 64, 1e-6F}, DType::f32, "KV cache");
  refused({16, 3, 256, 64, 1e-6F}, DType::bf16, "divide");
  refused({34, 2, 256, 64, 1e-6F}, DType::bf16, "16 query heads");
  refused({16, 2, 0, 0, 1e-6F}, DType::bf16, "multiple of 8");
  refused({16, 2, 260, 64, 1e-6F}, DType::bf16, "multiple of 8");
  refused({16, 2, 264, 64, 1e-6F}, DType::bf16, "multiple of 8");
  refused({16, 2, 64, 66, 1e-6F}, DType::bf16, "rotary_dim");
  refused({16, 2, 64, 7, 1e-6F}, DType::bf16, "rotary_dim");
}

TEST(Attention, ACacheIsOfTheTypeThatWasPlannedFor) {
  AttentionArgs args;
  args.plan.shape = {16, 2, 256, 64, 1e-6F};
  for (const DType planned : {DType::bf16, DType::f8_e4m3}) {
    args.plan.kv = planned;
    for (const DType found : {DType::bf16, DType::f8_e4m3}) {
      args.kv.dtype = found;
      EXPECT_EQ(attention(args, {}).ok(), found == planned) << name(planned) << " " << name(found);
    }
  }
}

TEST(Attention, ScalesOfTheCacheMustBePositive) {
  AttentionArgs args;
  args.plan.shape = {16, 2, 256, 64, 1e-6F};
  args.plan.kv = args.kv.dtype = DType::f8_e4m3;
  for (const auto& [k, v] : {std::pair{1.0F, 0.0F}, {0.0F, 1.0F}, {1.0F, INFINITY}, {-1.0F, 1.0F}, {1.0F, NAN}}) {
    args.kv.k_scale = k;
    args.kv.v_scale = v;
    const Status status = attention(args, {});
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_NE(status.message().find("KV scales"), std::string::npos) << status.message();
  }
}

TEST(Attention, RowsAreApartAsLoadsOf16BytesCanBe) {
  AttentionArgs args;
  args.plan.shape = {16, 2, 256, 64, 1e-6F};
  args.plan.kv = args.kv.dtype = DType::bf16;
  EXPECT_TRUE(attention(args, {}).ok());
  for (int64_t* stride : {&args.query_gate_stride, &args.key_stride, &args.value_stride}) {
    *stride = 4;
    EXPECT_EQ(attention(args, {}).code(), StatusCode::invalid_argument);
    *stride = 8;
    EXPECT_TRUE(attention(args, {}).ok());
  }
}

/// Memory is taken once, for the widest step, and no step may need more; it holds the states of decode or of prefill.
TEST(Attention, TheWorkspaceOfTheWidestStepIsEnoughForAny) {
  using attn::decode_slot_bytes, attn::prefill_slot_bytes;
  constexpr int kSms = 132, kRows = 512, kSequences = 64;
  for (const AttentionShape& shape : {AttentionShape{16, 2, 256, 64, 1e-6F}, AttentionShape{16, 8, 128, 64, 1e-6F},
                                      AttentionShape{8, 8, 64, 64, 1e-6F}}) {
    for (const int64_t blocks : {1, 4, 5, 40, 4096}) {
      StepTables bounds{.block_table_stride = blocks, .rows_max = kRows, .sequences_max = kSequences};
      const size_t most = attention_workspace_bytes_max(shape, DType::bf16, bounds, kSms);
      for (const int32_t sequences : {1, 2, 63, kSequences}) {
        for (const int32_t each : {0, 1, 2, 8}) {
          for (const int32_t prefilled : {0, 1}) {
            bounds.decode_sequences_max = each > 0 ? sequences - prefilled : 0;
            bounds.decode_rows_max = bounds.decode_sequences_max * each;
            bounds.sequences_max = bounds.decode_sequences_max + prefilled;
            bounds.rows_max = prefilled > 0 ? kRows : bounds.decode_rows_max;
            const auto plan = plan_attention(shape, DType::bf16, bounds, kSms);
            ASSERT_TRUE(plan.ok()) << plan.status().message();
            const int64_t states =
                std::max(plan->decode_slots * decode_slot_bytes(shape.head_dim, plan->decode_row_blocks),
                         plan->prefill_slots * prefill_slot_bytes(shape.head_dim));
            EXPECT_GE(plan->workspace_bytes, kAttentionCounterBytes + static_cast<size_t>(states));
            EXPECT_LE(plan->workspace_bytes, most)
                << shape.head_dim << ": " << sequences << " sequences of " << each << " rows, " << blocks << " blocks";
          }
        }
      }
    }
  }
}

// ---- cases for a real GPU ----

std::vector<AttentionLayer> large_layers() {
  std::vector<AttentionLayer> out;
  for (const DType dtype : {DType::bf16, DType::f8_e4m3}) {
    out.emplace_back(16, 2, 256, 64, dtype);
    out.emplace_back(32, 2, 256, 64, dtype);
    out.emplace_back(24, 4, 256, 64, dtype);
    out.emplace_back(4, 4, 128, 64, dtype);
    out.emplace_back(6, 2, 80, 40, dtype);
  }
  return out;
}

TEST(Attention, LargeDecode) {
  for (const AttentionLayer& layer : large_layers()) {
    Sequences sequences;
    AttentionStep one, nine, rest;
    for (const int32_t stored : {192, 448, 4032, 4096, 12288}) {
      const auto i = static_cast<int>(sequences.size());
      sequences.emplace_back(layer, stored, 63 + 1 + 9, static_cast<uint32_t>(stored));
      rest.push_back({i, 63});
      one.push_back({i, 1});
      nine.push_back({i, 9});
    }
    const auto want = run(layer, sequences, {rest, one, nine}, {.sm_count = 132});
    expect_cpu(layer, sequences, want, "large decode");
    const auto again = run(layer, sequences, {rest, nine, one}, {.block_seed = 3, .spare_rows = 50, .sm_count = 20});
    const auto superblocks = run(layer, sequences, {rest, one, nine}, {.sm_count = 132, .decode_slots = 264});
    for (size_t i = 0; i < sequences.size(); ++i) {
      expect_same(again, want, i, layer.describe() + " other steps");
      expect_same(superblocks, want, i, layer.describe() + " few slots");
    }
  }
}

TEST(Attention, LargePrefill) {
  for (const AttentionLayer& layer : large_layers()) {
    const Sequences sequences = {AttentionSequence(layer, 0, 4096 + 130, 1), AttentionSequence(layer, 40960, 200, 2),
                                 AttentionSequence(layer, 0, 65, 3)};
    const auto want =
        run(layer, sequences, {{{0, 4226, kPrefill}, {1, 200, kPrefill}, {2, 65, kPrefill}}}, {.sm_count = 132});
    expect_cpu(layer, sequences, want, "large prefill");
    const auto parts = run(layer, sequences,
                           {{{2, 64, kPrefill}, {0, 1024, kPrefill}, {1, 64, kPrefill}},
                            {{2, 1, kPrefill}, {1, 136, kPrefill}, {0, 3072, kPrefill}},
                            {{0, 130, kPrefill}}},
                           {.block_seed = 3, .spare_rows = 100, .sm_count = 20});
    for (size_t i = 0; i < sequences.size(); ++i) expect_same(parts, want, i, layer.describe() + " in parts");
  }
}

TEST(Attention, LargeRepeatsGiveTheSameBits) {
  const AttentionLayer layer(16, 2, 256, 64, DType::bf16);
  Sequences sequences;
  AttentionStep step;
  for (int i = 0; i < 24; ++i) {
    sequences.emplace_back(layer, 64 * (1 + 7 * i), 2, static_cast<uint32_t>(i));
    step.push_back({i, 2, i < 12 ? kDecode : kPrefill});
  }
  const auto want = run(layer, sequences, {step}, {.sm_count = 132});
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto got = run(layer, sequences, {step}, {.block_seed = static_cast<uint32_t>(repeat), .sm_count = 132});
    for (size_t i = 0; i < sequences.size(); ++i) expect_same(got, want, i, "repeat");
  }
}

}  // namespace
}  // namespace tessera::kernels::cuda
