#include "kernels/compare.h"
#include "kernels/cuda/delta_net_fixture.h"

// Gated DeltaNet on a GPU (label gpu) and, but for tests named Large*, in the simulator. Ours against ours: bits.
// Against the CPU's operation: relative L2 and the worst element.
namespace tessera::kernels::cuda {
namespace {

DeltaNetShape make_shape(int key_heads, int value_heads, int key_dim, int value_dim, int conv_width = 4) {
  return {.key_heads = key_heads,
          .value_heads = value_heads,
          .key_dim = key_dim,
          .value_dim = value_dim,
          .conv_width = conv_width,
          .norm_eps = 1e-4F};  // large enough to be seen
}
const DeltaNetShape kSmall = make_shape(1, 2, 16, 24);
const DeltaNetShape kModel = make_shape(16, 32, 128, 128);  // Qwen3.5 35B

/// What one comparison allows: relative L2, and for each element a part of its size and of the root mean square.
struct Tolerance {
  double l2, of_element, of_rms;
};

void expect_close(std::span<const float> got, std::span<const float> want, Tolerance tolerance,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  if (got.empty()) return;
  double difference = 0, size = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    difference += (double{got[i]} - want[i]) * (double{got[i]} - want[i]);
    size += double{want[i]} * want[i];
  }
  EXPECT_LE(std::sqrt(difference / size), tolerance.l2) << what;
  const double rms = std::sqrt(size / static_cast<double>(got.size()));
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double excess =
        std::abs(double{got[i]} - want[i]) / (tolerance.of_element * std::abs(want[i]) + tolerance.of_rms * rms);
    if (excess <= worst) continue;  // NaN is never
    worst = excess;
    at = i;
  }
  EXPECT_LE(worst, 1) << what << ": worst element " << at << " is " << got[at] << ", want " << want[at]
                      << "; root mean square " << rms;
}

/// Against the oracle, which rounds nothing, and against the CPU's bf16, which rounds where the GPU does: there only
/// the precision of sums and operands remains, and a rounding here or there that falls to the other side.
void expect_matches_cpu(const DeltaWeights& weights, const std::vector<DeltaSequence>& sequences,
                        const DeltaSteps& steps, const std::string& what) {
  GpuDeltaRun gpu(weights, sequences);
  CpuDeltaRun oracle(weights, sequences, Compute::f32), cpu(weights, sequences, Compute::bf16);
  bool prefill = false;
  for (const DeltaStep& step : steps) {
    for (DeltaRun* run : std::initializer_list<DeltaRun*>{&gpu, &oracle, &cpu}) run->step(step);
    for (const DeltaPart& part : step) prefill |= part.row_class == kPrefill;
  }
  for (size_t i = 0; i < sequences.size(); ++i) {
    const std::string name = what + ", sequence " + std::to_string(i);
    const auto got = gpu.result(static_cast<int>(i)), exact = oracle.result(static_cast<int>(i)),
               same = cpu.result(static_cast<int>(i));
    // Where o is near zero, its norm magnifies what rounding has left of it.
    expect_close(got.out, exact.out, {0.02, 0x1p-5, 0.6}, name + ", out against fp32");
    expect_close(got.state, exact.state, {8e-3, 0x1p-6, 0.06}, name + ", state against fp32");
    expect_close(got.out, same.out, {prefill ? 5e-3 : 1e-3, 0x1p-6, 0.05}, name + ", out");
    expect_close(got.state, same.state, prefill ? Tolerance{6e-4, 0x1p-8, 0.01} : Tolerance{2e-6, 0x1p-18, 0x1p-18},
                 name + ", state");
    expect_same_bits(got.window, same.window, name + ", window");
  }
}

void expect_same(const DeltaResult& got, const DeltaResult& want, const std::string& what) {
  expect_same_bits(got.out, want.out, what);
  expect_same_bits(got.state, want.state, what + ", state");
  expect_same_bits(got.window, want.window, what + ", window");
}

DeltaResult run_alone(const DeltaWeights& weights, const DeltaSequence& sequence, const std::vector<int32_t>& rows,
                      RowClass row_class, DeltaOptions options = {}) {
  GpuDeltaRun run(weights, {sequence}, options);
  for (const int32_t n : rows) run.step({{0, n, row_class}});
  return run.result(0);
}

std::string describe(const DeltaNetShape& shape, int32_t rows) {
  return std::to_string(shape.key_dim) + "x" + std::to_string(shape.value_dim) + ", " + std::to_string(rows) + " rows";
}

/// Heads that fill their padded size and heads that do not, convolutions of every width.
std::vector<DeltaNetShape> small_shapes() {
  return {make_shape(1, 2, 32, 32), make_shape(1, 3, 8, 24), make_shape(2, 2, 24, 16, 2)};
}
/// One head padded to 128, and the other to 32.
std::vector<DeltaNetShape> uneven_shapes() { return {make_shape(1, 1, 40, 32, 3), make_shape(1, 2, 16, 104)}; }

TEST(DeltaNetGpu, DecodeIsThatOfTheCpu) {
  std::vector<DeltaNetShape> shapes = small_shapes();
  for (const DeltaNetShape& shape : uneven_shapes()) shapes.push_back(shape);
  for (const DeltaNetShape& shape : shapes) {
    const DeltaWeights weights(shape);
    for (const int32_t rows : {1, 2, 9, 20}) {
      expect_matches_cpu(weights, {DeltaSequence(shape, rows, 5)}, {{{0, rows, kDecode}}}, describe(shape, rows));
    }
  }
}

TEST(DeltaNetGpu, PrefillIsThatOfTheCpu) {
  for (const DeltaNetShape& shape : small_shapes()) {
    const DeltaWeights weights(shape);
    for (const int32_t rows : {1, 2, 63, 64, 65, 130}) {
      expect_matches_cpu(weights, {DeltaSequence(shape, rows, 16)}, {{{0, rows, kPrefill}}}, describe(shape, rows));
    }
  }
  for (const DeltaNetShape& shape : uneven_shapes()) {
    const DeltaWeights weights(shape);
    expect_matches_cpu(weights, {DeltaSequence(shape, 65, 16)}, {{{0, 65, kPrefill}}}, describe(shape, 65));
  }
}

/// Gates under which rows see much of what the chunks and steps before theirs have left.
TEST(DeltaNetGpu, AStateThatLasts) {
  std::vector<DeltaNetShape> shapes = small_shapes();
  for (const DeltaNetShape& shape : uneven_shapes()) shapes.push_back(shape);
  for (const DeltaNetShape& shape : shapes) {
    const DeltaWeights weights(shape);
    DeltaSequence sequence(shape, 100, 17);
    std::fill(sequence.a.begin(), sequence.a.end(), float_to_bf16(-6.0F));
    expect_matches_cpu(weights, {sequence}, {{{0, 100, kPrefill}}}, describe(shape, 100));
    expect_matches_cpu(weights, {sequence}, {{{0, 64, kPrefill}}, {{0, 33, kPrefill}}, {{0, 3, kDecode}}},
                       describe(shape, 100) + " in steps");
  }
}

/// Keys and queries so small that the constant under their norm's root counts.
TEST(DeltaNetGpu, SmallKeysAreNormedAsOnTheCpu) {
  for (const DeltaNetShape& shape : small_shapes()) {
    const DeltaWeights weights(shape);
    DeltaSequence sequence(shape, 70, 31);
    for (uint16_t& x : sequence.qkv) x = float_to_bf16(bf16_to_float(x) * 0x1p-9F);
    expect_matches_cpu(weights, {sequence}, {{{0, 9, kDecode}}}, "decode of small keys");
    expect_matches_cpu(weights, {sequence}, {{{0, 70, kPrefill}}}, "prefill of small keys");
  }
}

/// One of four neighbouring channels, which a thread has, at a time.
TEST(DeltaNetGpu, InputsOfAnySizeInAnyChannel) {
  const DeltaWeights weights(kSmall);
  for (int channel = 0; channel < 4; ++channel) {
    for (const float x : {-0x1p13F, -100.0F, 0x1p13F, 0x1p-70F}) {
      DeltaSequence sequence(kSmall, 5, 32);
      for (int32_t row = 0; row < 5; ++row) {
        const auto at = [&](int64_t width, int64_t c) { return static_cast<size_t>(row * width + c); };
        sequence.qkv[at(kSmall.channels(), 2 * kSmall.key_dim + channel)] = float_to_bf16(x);  // of v
        sequence.z[at(int64_t{kSmall.value_heads} * kSmall.value_dim, channel)] = float_to_bf16(x);
      }
      expect_matches_cpu(weights, {sequence}, {{{0, 5, kDecode}}},
                         std::to_string(x) + " in channel " + std::to_string(channel));
    }
  }
}

TEST(DeltaNetGpu, HeadsOfTheLargestSize) {
  const DeltaNetShape shape = make_shape(1, 2, 128, 128);
  const DeltaWeights weights(shape);
  expect_matches_cpu(weights, {DeltaSequence(shape, 71, 7)},
                     {{{0, 67, kPrefill}}, {{0, 3, kDecode}}, {{0, 1, kDecode}}}, "prefill and decode");
}

TEST(DeltaNetGpu, PrefillThenDecodeIsThatOfTheCpu) {
  const DeltaWeights weights(kSmall);
  const std::vector<DeltaSequence> sequences = {DeltaSequence(kSmall, 200, 1), DeltaSequence(kSmall, 150, 2),
                                                DeltaSequence(kSmall, 5, 3)};
  const DeltaSteps steps = {{{2, 2, kDecode}, {0, 64, kPrefill}, {1, 64, kPrefill}},
                            {{2, 2, kDecode}, {1, 65, kPrefill}},
                            {{1, 1, kDecode}, {2, 1, kDecode}, {0, 130, kPrefill}},
                            {{1, 8, kDecode}, {0, 6, kDecode}},
                            {{1, 12, kDecode}}};
  expect_matches_cpu(weights, sequences, steps, "mixed steps");
}

TEST(DeltaNetGpu, RowsOfAStepAreStepsOfOneRow) {
  for (const DeltaNetShape& shape : {kSmall, make_shape(1, 2, 24, 8, 3)}) {
    const DeltaWeights weights(shape);
    const DeltaSequence sequence(shape, 20, 3);
    const auto want = run_alone(weights, sequence, std::vector<int32_t>(20, 1), kDecode);
    expect_same(run_alone(weights, sequence, {20}, kDecode), want, "20 at once");
    expect_same(run_alone(weights, sequence, {1, 2, 9, 8}, kDecode), want, "drafts");
  }
  const DeltaNetShape largest = make_shape(1, 1, 128, 128);  // its kernel knows the shape
  const DeltaWeights weights(largest);
  const DeltaSequence sequence(largest, 12, 3);
  const auto want = run_alone(weights, sequence, std::vector<int32_t>(12, 1), kDecode);
  expect_same(run_alone(weights, sequence, {12}, kDecode), want, "12 at once");
  expect_same(run_alone(weights, sequence, {1, 3, 2, 6}, kDecode), want, "drafts of the largest head");
}

DeltaPart drafts(int sequence, int32_t rows, int32_t held) {
  return {.sequence = sequence, .rows = rows, .row_class = kDecode, .held = held};
}

/// Two sequences whose rows hold in part, against the same one row at a time.
void expect_records_leave_nothing(const DeltaNetShape& shape, int32_t prompt, DeltaOptions options) {
  const DeltaWeights weights(shape);
  const int32_t length = prompt + 41;
  const std::vector<DeltaSequence> both = {DeltaSequence(shape, length, 7), DeltaSequence(shape, length, 8)};
  const auto one_by_one = [&](int sequence, int32_t rows) {
    GpuDeltaRun run(weights, {both[static_cast<size_t>(sequence)]});
    if (prompt > 0) run.step({{0, prompt, kPrefill}});
    for (int32_t i = 0; i < rows; ++i) run.step({{0, 1, kDecode}});
    return run.result(0);
  };
  options.record_rows = kRecordRowsMax;
  GpuDeltaRun run(weights, both, options);
  if (prompt > 0) run.step({{0, prompt, kPrefill}, {1, prompt, kPrefill}});
  // Of the rows of a step 1 to all hold; the last steps of 0 keep nothing, once of one row and once of several.
  for (const DeltaStep& step : DeltaSteps{{drafts(1, 3, 2)},
                                          {drafts(1, 9, 9), {0, 1, kDecode}},
                                          {drafts(1, 1, 1), drafts(0, 2, 1)},
                                          {drafts(0, 6, 4)},
                                          {{1, 18, kDecode}, drafts(0, 9, 8)},
                                          {{0, 1, kDecode}, drafts(1, 1, 1)},
                                          {drafts(0, 4, 3), drafts(1, 9, 9)},
                                          {{0, 14, kDecode}, drafts(1, 2, 1)}}) {
    run.step(step);
  }
  const std::string what = describe(shape, prompt) + " before";
  const int32_t rows = 32;
  expect_same(run.result(0), one_by_one(0, rows), what);
  // The newest rows of the other one are still records: its state is the one before them.
  auto other = run.result(1);
  const auto before = one_by_one(1, 40), all = one_by_one(1, 41);
  const auto values = static_cast<size_t>(shape.value_heads * shape.value_dim);
  expect_same_bits(std::span(other.out).last(values), std::span(all.out).last(values), what + ", last");
  other.out.resize(other.out.size() - values);
  expect_same(other, before, what + ", state before records");
}

TEST(DeltaNetGpu, RowsThatDoNotHoldLeaveNothingBehind) {
  std::vector<DeltaNetShape> shapes = small_shapes();
  for (const DeltaNetShape& shape : uneven_shapes()) shapes.push_back(shape);
  shapes.push_back(make_shape(1, 1, 128, 128));  // its kernel knows the shape
  for (const DeltaNetShape& shape : shapes) expect_records_leave_nothing(shape, 0, {.stride_padding = 8});
  expect_records_leave_nothing(kSmall, 70, {.dead_sequences = 2});
}

TEST(DeltaNetGpu, LargeRowsThatDoNotHold) {
  for (const bool pdl : {true, false}) expect_records_leave_nothing(kModel, 130, {.dead_sequences = 6, .pdl = pdl});
}

TEST(DeltaNetGpu, AnySplitOfPrefillGivesTheSameBits) {
  for (const DeltaNetShape& shape : {kSmall, make_shape(1, 2, 24, 8, 3), make_shape(2, 4, 16, 8)}) {
    const DeltaWeights weights(shape);
    const DeltaSequence sequence(shape, 200, 4);
    const auto want = run_alone(weights, sequence, {200}, kPrefill);
    expect_same(run_alone(weights, sequence, {64, 136}, kPrefill), want, "64 + 136");
    expect_same(run_alone(weights, sequence, {128, 72}, kPrefill), want, "128 + 72");
    expect_same(run_alone(weights, sequence, {64, 64, 64, 8}, kPrefill), want, "by chunk");
    for (const int32_t rows : {1, 2}) {  // of the window's inputs some are older than the step
      expect_same(run_alone(weights, sequence, {64, rows}, kPrefill),
                  run_alone(weights, sequence, {64 + rows}, kPrefill), "64 + " + std::to_string(rows));
    }
  }
}

/// Of 2,048 rows, within one step.
TEST(DeltaNetGpu, ASequenceGoesOnInTheNextSegment) {
  const DeltaNetShape shape = make_shape(1, 1, 8, 8);
  const DeltaWeights weights(shape);
  const DeltaSequence sequence(shape, 2100, 4);
  expect_same(run_alone(weights, sequence, {2100}, kPrefill), run_alone(weights, sequence, {1024, 1076}, kPrefill),
              "two segments");
}

TEST(DeltaNetGpu, BitsDependOnTheSequenceAlone) {
  const DeltaWeights weights(kSmall);
  const std::vector<DeltaSequence> all = {DeltaSequence(kSmall, 200, 1), DeltaSequence(kSmall, 150, 2),
                                          DeltaSequence(kSmall, 12, 3)};
  GpuDeltaRun alone(weights, {all[1]});
  for (const DeltaPart& part : DeltaStep{{0, 128, kPrefill}, {0, 3, kDecode}, {0, 19, kDecode}}) alone.step({part});
  const auto want = alone.result(0);
  const auto prefilled = run_alone(weights, all[0], {200}, kPrefill);
  const auto decoded = run_alone(weights, all[2], {12}, kDecode);
  for (const DeltaOptions& options : {DeltaOptions{}, DeltaOptions{.dead_sequences = 3, .stride_padding = 8},
                                      DeltaOptions{.dead_sequences = 40, .pdl = false}}) {
    GpuDeltaRun mixed(weights, all, options);
    mixed.step({{2, 2, kDecode}, {0, 64, kPrefill}, {1, 64, kPrefill}});
    mixed.step({{2, 2, kDecode}, {1, 64, kPrefill}});
    mixed.step({{1, 1, kDecode}, {2, 7, kDecode}, {0, 136, kPrefill}});
    mixed.step({{1, 21, kDecode}, {2, 1, kDecode}});
    expect_same(mixed.result(0), prefilled, "prefill among others");
    expect_same(mixed.result(1), want, "prefill and decode among others");
    expect_same(mixed.result(2), decoded, "decode among others");
  }
}

TEST(DeltaNetGpu, AStepTouchesItsOwnSlotsAlone) {
  const DeltaWeights weights(kSmall);
  GpuDeltaRun run(weights, {DeltaSequence(kSmall, 70, 1), DeltaSequence(kSmall, 9, 2)},
                  {.dead_sequences = 2, .stride_padding = 8});  // slots 1 and 0
  run.step({{1, 4, kDecode}, {0, 70, kPrefill}});
  run.step({{1, 0, kDecode}, {0, 0, kPrefill}});  // no rows
  run.step({});
  const auto states = run.all_states();
  const auto windows = run.all_windows();
  const auto state = static_cast<size_t>(state_values(kSmall)), window = static_cast<size_t>(window_values(kSmall));
  EXPECT_TRUE(std::all_of(states.begin(), states.begin() + static_cast<long>(2 * state),
                          [](float x) { return std::isfinite(x); }));
  EXPECT_TRUE(
      std::all_of(states.begin() + static_cast<long>(2 * state), states.end(), [](float x) { return std::isnan(x); }));
  EXPECT_TRUE(std::none_of(windows.begin(), windows.begin() + static_cast<long>(2 * window),
                           [](uint16_t x) { return x == 0xffff; }));
  EXPECT_TRUE(std::all_of(windows.begin() + static_cast<long>(2 * window), windows.end(),
                          [](uint16_t x) { return x == 0xffff; }));
  expect_same(run.result(1), run_alone(weights, DeltaSequence(kSmall, 9, 2), {4}, kDecode), "the decoded one");
}

TEST(DeltaNetGpu, ARestoredSnapshotIsThatOfASequenceThatNeverStopped) {
  for (const DeltaNetShape& shape : {kSmall, make_shape(1, 2, 24, 8, 3)}) {
    const DeltaWeights weights(shape);
    const DeltaSequence sequence(shape, 210, 8);
    for (const int32_t position : {64, 128, 192}) {
      GpuDeltaRun run(weights, {sequence});  // slot 0
      run.step({{0, 192, kPrefill, 5, position}});
      run.step({{0, 18, kPrefill}});
      const auto want = run.result(0);
      run.copy(std::vector<StateCopy>{{5, 3}, {0, 7}});
      run.move(0, 7);
      run.resume(0, 210);
      expect_same_bits(run.result(0).state, want.state, "a copied state");
      expect_same_bits(run.result(0).window, want.window, "a copied window");
      for (const int32_t slot : {5, 3}) {
        run.move(0, slot);
        run.resume(0, position);
        run.step({{0, 210 - position, kPrefill}});
        auto got = run.result(0);
        const size_t values = static_cast<size_t>(shape.value_heads * shape.value_dim);
        expect_same_bits(got.out, std::span(want.out).subspan(static_cast<size_t>(position) * values), "outputs");
        got.out = want.out;
        expect_same(got, want, "restored at " + std::to_string(position) + " from slot " + std::to_string(slot));
      }
    }
  }
}

/// Before the end of a step's first 2,048 rows, at it, and behind it, of a sequence that has rows of another before it.
TEST(DeltaNetGpu, SnapshotsOfASequenceThatGoesOnInTheNextSegment) {
  const DeltaNetShape shape = make_shape(1, 1, 8, 8);
  const DeltaWeights weights(shape);
  const DeltaSequence sequence(shape, 2100, 8), other(shape, 70, 9);
  GpuDeltaRun whole(weights, {sequence});
  int32_t done = 0;
  for (const int32_t position : {64, 1920, 1984, 2048}) {
    whole.step({{0, position - done, kPrefill}});
    done = position;
    GpuDeltaRun run(weights, {sequence, other});
    run.step({{1, 70, kPrefill}, {0, 2100, kPrefill, 5, position}});
    run.move(0, 5);
    const std::string what = "snapshot at " + std::to_string(position);
    expect_same_bits(run.result(0).state, whole.result(0).state, what);
    expect_same_bits(run.result(0).window, whole.result(0).window, what + ", window");
  }
}

/// Positions are those of the sequence, not of the step.
TEST(DeltaNetGpu, ALaterStepLeavesASnapshotToo) {
  const DeltaNetShape shape = make_shape(1, 1, 8, 8);
  const DeltaWeights weights(shape);
  const DeltaSequence sequence(shape, 256, 8);
  for (const int32_t position : {128, 192, 256}) {
    GpuDeltaRun run(weights, {sequence});
    run.step({{0, 64, kPrefill}});
    run.step({{0, 192, kPrefill, 5, position}});
    run.move(0, 5);
    const auto got = run.result(0), want = run_alone(weights, sequence, {position}, kPrefill);
    const std::string what = "snapshot at " + std::to_string(position);
    expect_same_bits(got.state, want.state, what);
    expect_same_bits(got.window, want.window, what + ", window");
  }
}

TEST(DeltaNetGpu, ManyCopiesInManyLayers) {
  const DeltaNetShape shape = make_shape(1, 1, 8, 8, 2);
  const int64_t slots = 80, layers = 3, state = state_values(shape), window = window_values(shape);
  std::vector<float> states(static_cast<size_t>(layers * slots * state));
  std::vector<uint16_t> windows(static_cast<size_t>(layers * slots * window));
  for (size_t i = 0; i < states.size(); ++i) states[i] = static_cast<float>(i);
  for (size_t i = 0; i < windows.size(); ++i) windows[i] = static_cast<uint16_t>(i * 7);
  std::vector<StateCopy> copies;
  for (int32_t i = 0; i < 35; ++i) copies.push_back({2 * i, 2 * i + 1});
  const OnDevice<float> device_states{std::span<const float>(states)};
  const OnDevice<uint16_t> device_windows{std::span<const uint16_t>(windows)};
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  ASSERT_TRUE(copy_states({.shape = shape,
                           .layers = static_cast<int>(layers),
                           .states = device_states.get(),
                           .windows = device_windows.get(),
                           .slots = slots,
                           .copies = copies},
                          {.stream = stream.get()})
                  .ok());
  ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (const StateCopy& c : copies) {
      std::copy_n(states.begin() + (layer * slots + c.from) * state, state,
                  states.begin() + (layer * slots + c.to) * state);
      std::copy_n(windows.begin() + (layer * slots + c.from) * window, window,
                  windows.begin() + (layer * slots + c.to) * window);
    }
  }
  EXPECT_EQ(device_states.read(), states);
  EXPECT_EQ(device_windows.read(), windows);
}

/// Gates at their ends, and keys that are nearly the same: T is then far from the identity.
DeltaSequence hard_sequence(const DeltaNetShape& shape, int32_t length, float a, float b, bool same_keys) {
  DeltaSequence s(shape, length, 9);
  for (size_t i = 0; i < s.a.size(); i += 3) s.a[i] = float_to_bf16(a);
  for (size_t i = 0; i < s.b.size(); ++i) {
    if (i % 5 != 0) s.b[i] = float_to_bf16(b);
  }
  if (!same_keys) return s;
  const int64_t channels = shape.channels(), key = int64_t{shape.key_heads} * shape.key_dim;
  for (int64_t row = 1; row < length; ++row) {
    std::copy_n(s.qkv.begin() + key, key, s.qkv.begin() + row * channels + key);
  }
  return s;
}

TEST(DeltaNetGpu, HardGatesAndRepeatedKeys) {
  const DeltaWeights weights(kSmall);
  for (const float a : {-30.0F, 2.0F, 30.0F}) {
    for (const float b : {-30.0F, 0.0F, 30.0F}) {
      for (const bool same_keys : {false, true}) {
        const auto sequence = hard_sequence(kSmall, 130, a, b, same_keys);
        const std::string what = "a " + std::to_string(a) + ", b " + std::to_string(b) + (same_keys ? ", one key" : "");
        expect_matches_cpu(weights, {sequence}, {{{0, 128, kPrefill}}, {{0, 2, kDecode}}}, what);
      }
    }
  }
}

TEST(DeltaNetGpu, UnsupportedShapesAreNamed) {
  EXPECT_TRUE(supports(kModel).ok());
  for (const DeltaNetShape& shape :
       {make_shape(2, 3, 16, 16), make_shape(1, 1, 12, 16), make_shape(1, 1, 16, 136), make_shape(1, 1, 16, 16, 5),
        make_shape(1, 1, 16, 16, 1), make_shape(0, 0, 16, 16)}) {
    const Status status = supports(shape);
    EXPECT_EQ(status.code(), StatusCode::unsupported);
    EXPECT_NE(status.message().find(std::to_string(shape.value_dim)), std::string::npos) << status.message();
  }
}

TEST(DeltaNetGpu, RowsAreApartAsLoadsOf16BytesCanBe) {
  DeltaNetArgs args;
  args.shape = kModel;
  for (const auto& [qkv, z] : {std::pair{8, 8}, {4, 8}, {8, 4}}) {
    args.qkv_stride = qkv;
    args.z_stride = z;
    EXPECT_EQ(delta_net(args, {}).ok(), qkv == z) << qkv << " and " << z;
  }
}

TEST(DeltaNetGpu, RecordsAreOfAsManyRowsAsThereIsRoomFor) {
  DeltaNetArgs args;
  args.shape = kModel;
  for (const int32_t rows : {kRecordRowsMax, kRecordRowsMax + 1}) {
    args.record_rows = rows;
    EXPECT_EQ(delta_net(args, {}).ok(), rows == kRecordRowsMax);
  }
}

TEST(DeltaNetGpu, LargeModelShapes) {
  for (const DeltaNetShape& shape : {kModel, make_shape(16, 64, 128, 128), make_shape(4, 8, 64, 128)}) {
    const DeltaWeights weights(shape);
    expect_matches_cpu(weights, {DeltaSequence(shape, 300, 1), DeltaSequence(shape, 30, 2)},
                       {{{1, 9, kDecode}, {0, 200, kPrefill}}, {{1, 1, kDecode}, {0, 9, kDecode}}, {{0, 1, kDecode}}},
                       std::to_string(shape.value_heads) + " value heads");
  }
}

TEST(DeltaNetGpu, LargePrefillOfThousands) {
  const DeltaWeights weights(kModel);
  const DeltaSequence sequence(kModel, 8190, 1);
  const auto want = run_alone(weights, sequence, {8190}, kPrefill);
  expect_same(run_alone(weights, sequence, {8190}, kPrefill, {.pdl = false}), want, "without PDL");
  expect_same(run_alone(weights, sequence, {2048, 64, 4096, 1982}, kPrefill), want, "split");
  CpuDeltaRun cpu(weights, {sequence}, Compute::bf16);
  cpu.step({{0, 8190, kPrefill}});
  expect_close(want.out, cpu.result(0).out, {3e-3, 0x1p-6, 0.1}, "out");
  expect_close(want.state, cpu.result(0).state, {1e-3, 0x1p-8, 0.02}, "state");
}

/// Chunks of a step's sequences are looked up 32 sequences at a time.
TEST(DeltaNetGpu, MoreSequencesThanAWarpHasLanes) {
  const DeltaNetShape shape = make_shape(1, 1, 8, 8);
  const DeltaWeights weights(shape);
  const auto rows_of = [](int sequence) { return 1 + sequence * 37 % 130; };
  std::vector<DeltaSequence> all;
  DeltaStep step;
  for (int i = 0; i < 70; ++i) {
    all.emplace_back(shape, rows_of(i), static_cast<uint32_t>(10 * i + 1));
    step.push_back({i, rows_of(i), kPrefill});
  }
  GpuDeltaRun together(weights, all);
  together.step(step);
  for (const int i : {0, 31, 32, 33, 50, 63, 64, 69}) {
    const auto alone = run_alone(weights, all[static_cast<size_t>(i)], {rows_of(i)}, kPrefill);
    expect_same(together.result(i), alone, "sequence " + std::to_string(i));
  }
}

/// With as many chunks as rows can make: each sequence ends in one of few rows.
TEST(DeltaNetGpu, EverySequenceMayEndInAShortChunk) {
  const DeltaWeights weights(kSmall);
  const std::vector<int32_t> rows = {65, 1, 1};
  std::vector<DeltaSequence> sequences;
  DeltaStep step;
  for (size_t i = 0; i < rows.size(); ++i) {
    sequences.emplace_back(kSmall, rows[i], static_cast<uint32_t>(50 + i));
    step.push_back({static_cast<int>(i), rows[i], kPrefill});
  }
  GpuDeltaRun run(weights, sequences);
  run.step(step);
  for (size_t i = 0; i < rows.size(); ++i) {
    expect_same(run.result(static_cast<int>(i)), run_alone(weights, sequences[i], {rows[i]}, kPrefill),
                "sequence " + std::to_string(i));
  }
}

TEST(DeltaNetGpu, LargeManySequences) {
  const DeltaWeights weights(make_shape(4, 8, 128, 128));
  std::vector<DeltaSequence> all;
  for (uint32_t i = 0; i < 8; ++i) all.emplace_back(weights.shape, 400, 10 * i + 1);
  GpuDeltaRun mixed(weights, all, {.dead_sequences = 60});
  DeltaStep prefill, decode;
  for (int i = 0; i < 8; ++i) {
    prefill.push_back({i, 130 + 30 * i, kPrefill});
    decode.push_back({7 - i, 1 + i, kDecode});
  }
  mixed.step(prefill);
  mixed.step(decode);
  for (int i = 0; i < 8; ++i) {
    GpuDeltaRun alone(weights, {all[static_cast<size_t>(i)]});
    alone.step({{0, 130 + 30 * i, kPrefill}});
    for (int row = 0; row < 8 - i; ++row) alone.step({{0, 1, kDecode}});
    expect_same(mixed.result(i), alone.result(0), "sequence " + std::to_string(i));
  }
}

}  // namespace
}  // namespace tessera::kernels::cuda
