#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "kernels/cuda/dense_decode.h"
#include "kernels/cuda/dense_fixture.h"
#include "plan/candidates.h"

// Dense products, on a GPU (label gpu) and, but for tests named Large*, in the simulator. Ours against ours: bits.
// Against the reference in double, rounded once per output: relative L2.
namespace tessera::kernels::cuda {
namespace {

struct Call {
  int64_t rows = 0;      // of x that count
  int64_t rows_max = 0;  // 0: the same, and no count in device memory
  std::optional<plan::Tile> tile = {};
  int sm_count = 132;
  std::vector<int32_t> row_index = {};
  const char* gpu = "h200";
};

/// One launch (or one a matrix) of all `weights` on the rows of `input`.
std::vector<DenseResult> run(const std::vector<const DenseWeights*>& weights, const DenseInput& input,
                             const Call& call) {
  const int64_t rows_max = call.rows_max > 0 ? call.rows_max : call.rows;
  const OnDevice<int32_t> live(std::vector<int32_t>{static_cast<int32_t>(call.rows)});
  const OnDevice<int32_t> index(call.row_index);
  DenseArgs args;
  args.x = input.on_device.get();
  args.x_stride = input.stride;
  if (!call.row_index.empty()) args.row_index = index.get();
  args.depth = static_cast<int32_t>(input.depth);
  if (call.rows_max > 0) args.live_rows = live.get();
  args.rows_max = static_cast<int32_t>(rows_max);
  std::vector<DenseOutput> outputs;
  for (const DenseWeights* w : weights) outputs.emplace_back(*w, rows_max);
  for (const DenseOutput& output : outputs) args.matrices[args.count++] = output.matrix();
  run_on_stream([&](const device::Queue& queue) {
    return call.tile ? dense_tiled(args, *call.tile, queue) : dense(args, facts_with(call.sm_count, call.gpu), queue);
  });
  std::vector<DenseResult> results;
  for (const DenseOutput& output : outputs) results.push_back(output.read());
  return results;
}

DenseResult run(const DenseWeights& weights, const DenseInput& input, const Call& call) {
  return run(std::vector<const DenseWeights*>{&weights}, input, call).front();
}

std::string name_of(const DenseWeights& w, const std::string& what) {
  return std::string(format::name(w.format)) + " [" + std::to_string(w.rows) + ", " + std::to_string(w.depth) + "], " +
         what;
}

std::vector<plan::Tile> tiles_for(const DenseWeights& w) {
  std::vector<plan::Tile> tiles;
  const plan::Desc desc = plan::dense_desc(w.format, w.rows, w.depth, 1);
  for (const DenseKernel& kernel : dense_kernels(w.format)) {
    if (can_run_dense(desc, kernel.tile)) tiles.push_back(kernel.tile);
  }
  return tiles;
}

/// Every number of rows up to that of `input`, by the decode kernel and by tiles, has the bits that the same rows have
/// among all.
void expect_one_answer(const DenseWeights& w, const DenseInput& input, std::span<const int64_t> counts, bool all_tiles,
                       int64_t row_step = 1, int64_t step = 1) {
  const auto tiles = tiles_for(w);
  ASSERT_FALSE(tiles.empty());
  const DenseResult want = run(w, input, {.rows = input.rows, .tile = tiles.front()});
  expect_close(w, input, want, input.rows, name_of(w, plan::shape_name(tiles.front())), row_step, step);
  for (size_t i = 0; i < counts.size(); ++i) {
    const int64_t rows = counts[i];
    const std::string what = name_of(w, std::to_string(rows) + " rows");
    for (const int sm_count : {1, 132}) {
      if (rows > kDecodeRowsMax && sm_count == 1) continue;
      expect_rows(w, run(w, input, {.rows = rows, .sm_count = sm_count}), want, rows, what);
    }
    for (size_t t = 0; t < tiles.size(); ++t) {
      if (!all_tiles && t != i % tiles.size()) continue;
      expect_rows(w, run(w, input, {.rows = rows, .tile = tiles[t]}), want, rows,
                  what + ", " + plan::shape_name(tiles[t]));
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(DenseGpu, EveryTileAndTheDecodeKernelGiveOneAnswer) {
  const int64_t counts[] = {1, 2, 7, 8, 9, 15, 16, 17, 24, 33, 64, 65, 130};
  for (const WeightFormat format : kDenseFormats) {
    const DenseInput input(130, 192, 1);
    expect_one_answer({format, 40, 192, Epilogue::bf16, 2}, input, counts, false);
  }
}

TEST(DenseGpu, LargeEveryTileAndTheDecodeKernelGiveOneAnswer) {
  const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 33, 64, 65, 130, 1000, 4096};
  for (const WeightFormat format : kDenseFormats) {
    const DenseInput input(4096, 2048, 1);
    expect_one_answer({format, 2304, 2048, Epilogue::bf16, 2}, input, counts, true, 97, 5);
    expect_one_answer({format, 1000, 2048, Epilogue::f32, 3}, input, counts, true, 97, 5);
  }
}

TEST(DenseGpu, ShapesThatNoTileDivides) {
  const int64_t counts[] = {1, 10, 40};
  for (const WeightFormat format : kDenseFormats) {
    for (const auto& [rows, depth, epilogue] : {std::tuple<int64_t, int64_t, Epilogue>{250, 64, Epilogue::f32},
                                                {20, 384, Epilogue::bf16},
                                                {23, 64, Epilogue::bf16},
                                                {48, 96, Epilogue::swiglu},
                                                {272, 160, Epilogue::swiglu},
                                                {1, 64, Epilogue::bf16}}) {
      expect_one_answer({format, rows, depth, epilogue, 5}, DenseInput(40, depth, 6), counts, false);
    }
  }
}

TEST(DenseGpu, DeepMatricesAreSummedInSegments) {
  const int64_t counts[] = {1, 9, 17};
  for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::nvfp4}) {
    for (const int64_t depth : {2560, 5120}) {
      const DenseWeights w(format, 36, depth, Epilogue::f32, 8);  // the order of segments shows in fp32
      ASSERT_EQ(plan::k_segments(plan::dense_desc(format, w.rows, depth, 1)), depth > 4096 ? 4 : 2);
      expect_one_answer(w, DenseInput(17, depth, 9), counts, false);
    }
  }
}

/// x of sixteen such rows is read where it lies. They end in the first half of a slice of K, and NaN follows.
TEST(DenseGpu, DeepRowsEndWithinASlice) {
  const int64_t counts[] = {9, 16};
  for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::nvfp4}) {
    expect_one_answer({format, 40, 4112, Epilogue::f32, 8}, DenseInput(16, 4112, 9), counts, false);
  }
}

/// So many are left beside a long row on a GPU of little shared memory.
TEST(DenseGpu, TwoStagesAWarpAreEnough) {
  const DenseWeights w(WeightFormat::nvfp4, 64, 4608, Epilogue::f32, 8);
  const DenseInput input(1, 4608, 9);
  DenseArgs args;
  args.depth = 4608;
  args.rows_max = 1;
  args.matrices[args.count++] = {.format = WeightFormat::nvfp4, .rows = 64};
  ASSERT_EQ(decode_launch(args, facts_with(1, "rtx-pro-6000")).args.stages, kDecodeStagesMin);
  expect_rows(w, run(w, input, {.rows = 1, .sm_count = 1, .gpu = "rtx-pro-6000"}), run(w, input, {.rows = 1}), 1,
              "two stages");
}

/// What is few is so for the whole launch, whatever its rows: the same matrix beside others has the others' segments.
TEST(DenseGpu, FewStripsAreFewInTheirLaunch) {
  const int64_t counts[] = {1, 8, 9, 17};
  const DenseWeights few(WeightFormat::bf16, 80, 2048, Epilogue::f32, 12);
  expect_one_answer(few, DenseInput(17, 2048, 13), counts, false);
  DenseArgs args;
  args.depth = 2048;
  args.matrices[args.count++].rows = 256;
  args.matrices[args.count++].rows = 1024;
  EXPECT_EQ(launch_segments(args, args.matrices[0]), 4);
  args.matrices[args.count++].rows = 512;  // 112 strips
  for (int i = 0; i < args.count; ++i) EXPECT_EQ(launch_segments(args, args.matrices[i]), 1);
  args.depth = 4096;
  for (int i = 0; i < args.count; ++i) EXPECT_EQ(launch_segments(args, args.matrices[i]), 4);
}

TEST(DenseGpu, LargeDeepMatricesAreSummedInSegments) {
  const int64_t counts[] = {1, 4, 8, 9, 16, 17, 64, 300};
  for (const WeightFormat format : kDenseFormats) {
    for (const auto& [rows, depth] : {std::pair<int64_t, int64_t>{5120, 17408}, {4096, 8192}, {2048, 4096}}) {
      expect_one_answer({format, rows, depth, Epilogue::f32, 10}, DenseInput(300, depth, 11), counts, true, 61, 37);
    }
  }
}

TEST(DenseGpu, SegmentsAreWhatTheRuleSays) {
  // Each segment alone, the other's x being zeros, and both.
  const int64_t depth = 2560, begin = plan::segment_begin(depth, 2, 1);
  const DenseWeights whole(WeightFormat::bf16, 16, depth, Epilogue::f32, 12);
  const DenseInput input(3, depth, 13);
  DenseInput low(3, depth, 13), high(3, depth, 13);
  for (int64_t r = 0; r < 3; ++r) {
    std::fill_n(low.x.begin() + r * low.stride + begin, depth - begin, uint16_t{0});
    std::fill_n(high.x.begin() + r * high.stride, begin, uint16_t{0});
  }
  low.on_device.write(low.x);
  high.on_device.write(high.x);
  const DenseResult a = run(whole, low, {.rows = 3}), b = run(whole, high, {.rows = 3});
  const DenseResult both = run(whole, input, {.rows = 3});
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t i = 0; i < 16; ++i) {
      const auto at = static_cast<size_t>(r * whole.out_stride() + i);
      // With a factor of 1, the sum of the two results, rounded once, is the result.
      EXPECT_EQ(std::bit_cast<float>(both[at]), std::bit_cast<float>(a[at]) + std::bit_cast<float>(b[at])) << r << i;
    }
  }
}

TEST(DenseGpu, DeadRowsAreNeitherReadNorWritten) {
  for (const WeightFormat format : kDenseFormats) {
    const DenseWeights w(format, 72, 128, Epilogue::bf16, 14);
    for (const auto& [rows, rows_max] : {std::pair<int64_t, int64_t>{0, 1},
                                         {1, 2},
                                         {0, 8},
                                         {3, 8},
                                         {8, 16},
                                         {9, 16},
                                         {0, 20},
                                         {1, 20},
                                         {25, 70},
                                         {64, 130}}) {
      if (rows > 20 && format != WeightFormat::bf16) continue;
      const DenseInput input(rows, 128, 15);  // rows behind are NaN
      const DenseResult want = rows > 0 ? run(w, input, {.rows = rows, .tile = tiles_for(w).front()}) : DenseResult();
      expect_rows(w, run(w, input, {.rows = rows, .rows_max = rows_max}), want, rows,
                  std::to_string(rows) + " of " + std::to_string(rows_max));
      for (const plan::Tile& tile : tiles_for(w)) {
        if (rows_max < 20) continue;
        expect_rows(w, run(w, input, {.rows = rows, .rows_max = rows_max, .tile = tile}), want, rows,
                    std::to_string(rows) + " of " + std::to_string(rows_max) + ", " + plan::shape_name(tile));
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST(DenseGpu, MatricesOfDifferentFormatsInOneLaunch) {
  for (const int64_t depth : {192, 2560}) {
    const bool segments = depth > 2048;
    const DenseWeights a(WeightFormat::bf16, segments ? 32 : 320, depth, Epilogue::bf16, 16),
        b(WeightFormat::fp8_e4m3, 90, depth, Epilogue::f32, 17),
        c(WeightFormat::nvfp4, 64, depth, Epilogue::swiglu, 18), d(WeightFormat::mxfp4, 16, depth, Epilogue::bf16, 19),
        e(WeightFormat::bf16, 4, depth, Epilogue::f32, 20);
    const std::vector<const DenseWeights*> all = {&a, &b, &c, &d, &e};
    const DenseInput input(20, depth, 21);
    std::vector<DenseResult> want;
    for (const DenseWeights* w : all) want.push_back(run(*w, input, {.rows = 20, .tile = tiles_for(*w).front()}));
    for (const int64_t rows : {1, 3, 9, 16, 20}) {
      for (const int sm_count : {1, 3, 132}) {
        if (segments && (rows % 3 != 0 || sm_count == 132)) continue;
        const auto got = run(all, input, {.rows = rows, .sm_count = sm_count});
        for (size_t i = 0; i < all.size(); ++i) {
          expect_rows(*all[i], got[i], want[i], rows, "matrix " + std::to_string(i) + ", " + std::to_string(rows));
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Matrices of any formats, shapes and epilogues in one launch, against launches of one matrix each.
void expect_any_mixture(std::mt19937& random, std::span<const int64_t> depths, int64_t weight_rows_max,
                        std::span<const int> sm_counts) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  const int64_t depth = depths[below(depths.size())];
  std::vector<DenseWeights> weights;
  const size_t count = 1 + below(kDenseMatricesMax);
  weights.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto format = kDenseFormats[below(depth % 32 == 0 ? 4 : 3)];  // the last, MXFP4, takes multiples of 32
    const auto epilogue = static_cast<Epilogue>(below(3));
    auto rows = 1 + static_cast<int64_t>(below(static_cast<size_t>(weight_rows_max)));
    if (epilogue == Epilogue::swiglu) rows = (rows + 15) / 16 * 16;
    weights.emplace_back(format, rows, depth, epilogue, static_cast<uint32_t>(random()));
  }
  std::vector<const DenseWeights*> all;
  for (const DenseWeights& w : weights) all.push_back(&w);
  const auto rows = 1 + static_cast<int64_t>(below(kDecodeRowsMax));
  const int sm_count = sm_counts[below(sm_counts.size())];
  const int64_t rows_max = below(2) == 0 ? 0 : rows + static_cast<int64_t>(below(kDecodeRowsMax + 1 - rows));
  const DenseInput input(rows, depth, static_cast<uint32_t>(random()));
  const auto got = run(all, input, {.rows = rows, .rows_max = rows_max, .sm_count = sm_count});
  for (size_t i = 0; i < count; ++i) {
    const std::string what = name_of(weights[i], "matrix " + std::to_string(i) + " of " + std::to_string(count) + ", " +
                                                     std::to_string(rows) + " of " + std::to_string(rows_max) +
                                                     " rows, " + std::to_string(sm_count) + " SMs");
    expect_rows(weights[i], got[i], run(weights[i], input, {.rows = rows}), rows, what);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(DenseGpu, AnyMixtureOfMatricesIsEachOfThemAlone) {
  std::mt19937 random(40);
  constexpr int64_t kDepths[] = {16, 48, 80, 96, 272, 480, 2064, 2560};
  constexpr int kSmCounts[] = {1, 2, 3, 132};
  for (int i = 0; i < 60 && !HasFatalFailure(); ++i) expect_any_mixture(random, kDepths, 48, kSmCounts);
}

TEST(DenseGpu, LargeAnyMixtureOfMatricesIsEachOfThemAlone) {
  std::mt19937 random(41);
  constexpr int64_t kDepths[] = {16, 48, 272, 1040, 2064, 2304, 2560, 4352, 5120, 17408, 18944};
  constexpr int kSmCounts[] = {1, 2, 7, 132, 188};
  for (int i = 0; i < 60 && !HasFatalFailure(); ++i) expect_any_mixture(random, kDepths, 3000, kSmCounts);
}

TEST(DenseGpu, RowsAreGathered) {
  const DenseWeights w(WeightFormat::fp8_e4m3, 250, 192, Epilogue::f32, 22);
  const DenseInput input(40, 192, 23);
  const DenseResult all = run(w, input, {.rows = 40, .tile = tiles_for(w).front()});
  for (const std::vector<int32_t>& index :
       {std::vector<int32_t>{39}, {5, 0, 39, 5}, {1, 3, 5, 7, 9, 11, 13, 15, 17, 19}, std::vector<int32_t>(33, 38)}) {
    DenseResult want;
    for (const int32_t row : index) {
      want.insert(want.end(), all.begin() + row * w.out_stride(), all.begin() + (row + 1) * w.out_stride());
    }
    const auto rows = static_cast<int64_t>(index.size());
    expect_rows(w, run(w, input, {.rows = rows, .row_index = index}), want, rows, std::to_string(rows) + " gathered");
    std::vector<int32_t> padded = index;  // what lies behind the live ones is no row
    padded.resize(index.size() + 3, -1'000'000'000);
    expect_rows(w, run(w, input, {.rows = rows, .rows_max = rows + 3, .row_index = padded}), want, rows,
                std::to_string(rows) + " gathered, 3 dead");
  }
}

TEST(DenseGpu, RepeatsGiveTheSameBits) {
  const DenseWeights w(WeightFormat::nvfp4, 32, 2560, Epilogue::bf16, 24);
  const DenseInput input(20, 2560, 25);
  for (const int64_t rows : {5, 20}) {
    const DenseResult first = run(w, input, {.rows = rows});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run(w, input, {.rows = rows}), first);
  }
}

/// Of three launches, one after another, the third reads what the first has written, and does not wait for the second.
TEST(DenseGpu, OverlapsTheKernelBefore) {
  const DenseWeights first(WeightFormat::bf16, 64, 320, Epilogue::bf16, 26),
      between(WeightFormat::nvfp4, 250, 320, Epilogue::bf16, 27), last(WeightFormat::bf16, 48, 64, Epilogue::bf16, 28);
  const DenseInput input(20, 320, 29);
  for (const int32_t rows_max : {5, 20}) {
    for (const int32_t live_rows : {rows_max, rows_max - 1, 0}) {
      const OnDevice<int32_t> live(std::vector<int32_t>{live_rows});
      const auto run_last = [&](bool overlaps) {
        const DenseOutput x(first, rows_max), other(between, rows_max), out(last, rows_max);
        const auto product = [&](const DenseOutput& to, const uint16_t* from, int64_t stride) {
          DenseArgs args;
          args.x = from;
          args.x_stride = stride;
          args.depth = static_cast<int32_t>(to.weights->depth);
          args.live_rows = live.get();
          args.rows_max = rows_max;
          args.matrices[args.count++] = to.matrix();
          return args;
        };
        run_on_stream([&](const device::Queue& queue) -> Status {
          const plan::DeviceFacts facts = facts_with(132);
          TESSERA_RETURN_IF_ERROR(dense(product(x, input.on_device.get(), input.stride), facts, queue));
          TESSERA_RETURN_IF_ERROR(dense(product(other, input.on_device.get(), input.stride), facts, queue));
          DenseArgs args = product(out, x.memory.get(), first.out_stride());
          args.overlaps_previous = overlaps;
          return dense(args, facts, queue);
        });
        return out.read();
      };
      const DenseResult want = run_last(false);
      for (int i = 0; i < 3; ++i) {
        expect_rows(last, run_last(true), want, live_rows, std::to_string(live_rows) + " rows");
      }
    }
  }
}

// ---- with a norm before it ----

struct NormCase {
  int64_t depth;
  std::vector<uint16_t> residual, delta;  // [rows + 1, depth]: the last row is NaN
  std::vector<float> weight;
  NormCase(int64_t rows, int64_t k, uint32_t seed)
      : depth(k),
        residual(random_bf16(static_cast<size_t>(rows * k), seed)),
        delta(random_bf16(static_cast<size_t>(rows * k), seed + 1)) {
    residual.resize(residual.size() + static_cast<size_t>(k), kNanBf16);
    delta.resize(delta.size() + static_cast<size_t>(k), kNanBf16);
    for (const uint16_t v : random_bf16(static_cast<size_t>(k), seed + 2)) weight.push_back(bf16_to_float(v) / 8);
  }
};

struct NormedProduct {
  DenseResult product;
  std::vector<uint16_t> residual, normed;
};

enum class Delta { none, rows, experts };

/// fused: as dense() has it; else add_norm, then the product. A delta of experts is that of rows: one a token.
NormedProduct run_normed(const DenseWeights& w, const NormCase& c, int64_t rows, int64_t rows_max, bool fused,
                         bool keep_normed, Delta kind, int sm_count) {
  const auto elements = static_cast<size_t>(rows_max * c.depth);
  const OnDevice<uint16_t> residual(c.residual), delta(c.delta);
  const OnDevice<float> weight(c.weight), ones(std::vector<float>(static_cast<size_t>(rows_max), 1.0F));
  std::vector<int32_t> slot_of_row(static_cast<size_t>(rows_max));
  std::iota(slot_of_row.begin(), slot_of_row.end(), 0);
  const OnDevice<int32_t> slots(slot_of_row);
  const OnDevice<uint16_t> residual_out(std::vector<uint16_t>(elements, kUntouched));
  const OnDevice<uint16_t> normed(std::vector<uint16_t>(elements, kUntouched));
  const OnDevice<int32_t> live(std::vector<int32_t>{static_cast<int32_t>(rows)});
  const DenseOutput output(w, rows_max);
  DenseArgs args;
  args.norm = {.residual = residual.get(),
               .delta = kind == Delta::rows ? delta.get() : nullptr,
               .weight = weight.get(),
               .eps = 1e-6F,
               .residual_out = residual_out.get(),
               .normed_out = keep_normed ? normed.get() : nullptr};
  if (kind == Delta::experts) {
    args.norm.experts = {.rows = delta.get(), .slots = slots.get(), .weights = ones.get(), .experts_per_token = 1};
  }
  args.depth = static_cast<int32_t>(c.depth);
  args.live_rows = live.get();
  args.rows_max = static_cast<int32_t>(rows_max);
  args.matrices[args.count++] = output.matrix();
  const OnDevice<std::byte> workspace(std::vector<std::byte>(dense_workspace_bytes(args)));
  args.workspace = workspace.get();
  run_on_stream([&](const device::Queue& queue) -> Status {
    if (fused) return dense(args, facts_with(sm_count), queue);
    AddNormArgs norm{.norm = args.norm, .hidden = args.depth, .live_rows = args.live_rows, .rows_max = args.rows_max};
    norm.norm.normed_out = normed.get();
    TESSERA_RETURN_IF_ERROR(add_norm(norm, queue));
    args.norm = {};
    args.x = normed.get();
    args.x_stride = c.depth;
    return dense_tiled(args, tiles_for(w).front(), queue);
  });
  return {output.read(), residual_out.read(), normed.read()};
}

TEST(DenseGpu, ANormBeforeTheProductIsTheNormAsALaunchOfItsOwn) {
  for (const int64_t depth : {96, 2048, 2304}) {
    const DenseWeights w(WeightFormat::bf16, 48, depth, Epilogue::bf16, 26);
    for (const auto& [rows, rows_max] :
         {std::pair<int64_t, int64_t>{1, 1}, {2, 4}, {4, 4}, {0, 3}, {5, 8}, {9, 9}, {16, 16}, {17, 18}}) {
      const NormCase c(rows, depth, 27);
      for (const bool keep : {true, false}) {
        const Delta delta = rows == 2 ? Delta::none : Delta::rows;
        const NormedProduct want = run_normed(w, c, rows, rows_max, false, true, delta, 132);
        const NormedProduct got = run_normed(w, c, rows, rows_max, true, keep, delta, rows == 4 ? 1 : 132);
        const std::string what = std::to_string(rows) + " rows of " + std::to_string(depth);
        expect_rows(w, got.product, want.product, rows, what);
        EXPECT_EQ(got.residual, want.residual) << what;
        if (keep) {
          EXPECT_EQ(got.normed, want.normed) << what;
        } else {
          EXPECT_TRUE(std::all_of(got.normed.begin(), got.normed.end(), [](uint16_t v) { return v == kUntouched; }))
              << what;
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(DenseGpu, ANormThatSumsExpertsIsTheNormOfTheirSum) {
  for (const int64_t depth : {96, 2304}) {
    const DenseWeights w(WeightFormat::bf16, 48, depth, Epilogue::bf16, 26);
    for (const auto& [rows, rows_max] : {std::pair<int64_t, int64_t>{1, 1}, {5, 8}, {0, 3}, {16, 16}, {17, 18}}) {
      const NormCase c(rows, depth, 27);
      for (const bool keep : {true, false}) {
        const NormedProduct want = run_normed(w, c, rows, rows_max, true, keep, Delta::rows, 132);
        const NormedProduct got = run_normed(w, c, rows, rows_max, true, keep, Delta::experts, 132);
        const std::string what = std::to_string(rows) + " rows of " + std::to_string(depth);
        expect_rows(w, got.product, want.product, rows, what);
        EXPECT_EQ(got.residual, want.residual) << what;
        EXPECT_EQ(got.normed, want.normed) << what;
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::kernels::cuda
