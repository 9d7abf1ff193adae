#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "kernels/cuda/moe_fixture.h"
#include "kernels/cuda/quantize.h"
#include "kernels/cuda/route.h"
#include "kernels/fp4_activation.h"
#include "plan/candidates.h"

// A mixture-of-experts layer, on a GPU (label gpu) and, but for tests named Large*, in the simulator. Ours against
// ours: bits. Against the reference: relative L2 of 1e-3. Tests named Small* are for compute-sanitizer.
namespace tessera::kernels::cuda {
namespace {

std::vector<int64_t> token_counts() {
  std::vector<int64_t> counts;
  for (int64_t t = 1; t <= 40; ++t) counts.push_back(t);
  for (const int64_t t : {63, 64, 65, 127, 128, 129, 512, 4096}) counts.push_back(t);
  return counts;
}

/// x [columns, shape.cols] times the one group `atoms`, scaled: [columns, width].
std::vector<uint16_t> run_product(const plan::Tile& tile, const AtomShape& shape, const std::vector<std::byte>& atoms,
                                  const std::vector<uint16_t>& x, int64_t width, bool swiglu, float gate_scale = 1,
                                  float up_scale = 1) {
  const auto columns = static_cast<int32_t>(static_cast<int64_t>(x.size()) / shape.cols);
  std::vector<SlotTile> tiles;
  for (int32_t at = 0; at < columns; at += tile.n) tiles.push_back({0, at, std::min(tile.n, columns - at), 0});
  const std::vector<int32_t> count = {static_cast<int32_t>(tiles.size())};
  const std::vector<float> alphas = {atom_alpha(shape.format, gate_scale), atom_alpha(shape.format, up_scale)};
  const OnDevice<std::byte> weights{std::span<const std::byte>(atoms)};
  const OnDevice<uint16_t> device_x{std::span<const uint16_t>(x)};
  const OnDevice<float> alpha{std::span<const float>(alphas)};
  const OnDevice<SlotTile> device_tiles{std::span<const SlotTile>(tiles)};
  const OnDevice<int32_t> device_count{std::span<const int32_t>(count)};
  const OnDevice<uint16_t> out(static_cast<size_t>(columns * width));
  GemmArgs args;
  args.weights = weights.get();
  args.strips = static_cast<int32_t>(strips(shape));
  args.alpha = alpha.get();
  args.x = device_x.get();
  args.depth = static_cast<int32_t>(shape.cols);
  args.out = out.get();
  args.width = static_cast<int32_t>(width);
  args.swiglu = swiglu;
  args.tiles = device_tiles.get();
  args.tile_count = device_count.get();
  device::Stream stream;
  EXPECT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  EXPECT_TRUE(grouped_gemm(tile, args, count[0], {.stream = stream.get()}).ok());
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
  return out.read();
}

TEST(MoeGpu, DecodedWeightsAreExact) {
  for (const WeightFormat format : kFormats) {
    const int64_t rows = 208, cols = 320;
    RandomMatrix m(format, rows, cols, 3);  // every code; subnormal, zero and negative scales
    m.scale = 1;
    const format::MatrixView view = m.view();
    const AtomShape shape = *atom_shape({&view, 1});
    std::vector<std::byte> atoms(atom_matrix_bytes(shape));
    ASSERT_TRUE(kernels::pack_atoms({&view, 1}, atoms.data()).ok());
    std::vector<uint16_t> identity(static_cast<size_t>(cols * cols));
    for (int64_t i = 0; i < cols; ++i) identity[static_cast<size_t>(i * cols + i)] = float_to_bf16(1);
    for (const Kernel& kernel : kernels(plan::Path::w4a16, format)) {
      const auto got = run_product(kernel.tile, shape, atoms, identity, rows, false);
      for (int64_t k = 0; k < cols; ++k) {
        for (int64_t r = 0; r < rows; ++r) {
          const float want = m.code(r, k) * m.block_scale(r, k);
          ASSERT_EQ(bf16_to_float(got[static_cast<size_t>(k * rows + r)]), want)
              << plan::shape_name(kernel.tile) << " row " << r << " k " << k;
        }
      }
    }
  }
}

/// Weights that pick: gate row r is x[2r], up row r is x[2r + 1].
std::vector<RandomMatrix> gate_and_up_that_pick(int64_t rows, int64_t cols) {
  std::vector<RandomMatrix> parts;
  for (int64_t part = 0; part < 2; ++part) {
    RandomMatrix& m = parts.emplace_back(WeightFormat::nvfp4, rows, cols, 1);
    std::fill(m.data.begin(), m.data.end(), std::byte{0});
    std::fill(m.block_scales.begin(), m.block_scales.end(), std::byte{0x38});  // 1
    constexpr std::byte kOne[] = {std::byte{0x02}, std::byte{0x20}};           // E2M1 1, by place in its byte
    for (int64_t r = 0; r < rows; ++r) m.data[static_cast<size_t>(r * cols / 2 + r)] = kOne[part];
  }
  return parts;
}

TEST(MoeGpu, SwigluOfEveryGateIsThatOfTheCpu) {
  const int64_t rows = 16, cols = 64;
  const auto parts = gate_and_up_that_pick(rows, cols);
  const format::MatrixView views[] = {parts[0].view(), parts[1].view()};
  const AtomShape shape = *atom_shape(views);
  std::vector<std::byte> atoms(atom_matrix_bytes(shape));
  ASSERT_TRUE(kernels::pack_atoms(views, atoms.data()).ok());
  // All BF16 gates but infinities and NaNs, which spoil other rows too, -0, which a sum makes 0, and those whose
  // product with a weight of 1 is no normal number before it is scaled back.
  std::vector<uint16_t> x;
  const auto ups = random_bf16(1 << 16, 5);
  for (uint32_t bits = 0; bits < 1U << 16; ++bits) {
    const float gate = std::fabs(bf16_to_float(static_cast<uint16_t>(bits)));
    if (bits != 0 && !(gate > 0x1p-100F && gate < 0x1p100F)) continue;
    const uint16_t up = bits % 64 == 0 ? 0 : ups[bits];
    if (x.size() % static_cast<size_t>(cols) == static_cast<size_t>(2 * rows)) x.resize(x.size() + 64 - 2 * rows);
    x.push_back(static_cast<uint16_t>(bits));
    x.push_back(up);
  }
  x.resize((x.size() + 63) / 64 * 64);
  const auto expect_swiglu = [&](const plan::Tile& tile, float gate_scale, float up_scale) {
    const auto got = run_product(tile, shape, atoms, x, rows, true, gate_scale, up_scale);
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t at = i / 16 * 64 + i % 16 * 2;
      const float gate = bf16_to_float(x[at]) * gate_scale, up = bf16_to_float(x[at + 1]) * up_scale;
      const uint16_t want = swiglu(gate, up);
      const bool both_nan = std::isnan(bf16_to_float(want)) && std::isnan(bf16_to_float(got[i]));
      ASSERT_TRUE(got[i] == want || both_nan)
          << plan::shape_name(tile) << ", gate " << gate << ", up " << up << ": " << got[i] << ", want " << want;
    }
  };
  const auto all = kernels(plan::Path::w4a16, WeightFormat::nvfp4);
  for (const Kernel& kernel : all) expect_swiglu(kernel.tile, 1, 1);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Kernel* kernel : {&all.front(), &all.back()}) {  // one pair and several under way
    for (const float up_scale : {kInfinity, -0x1p118F, 0x1p-118F, std::nanf("")})
      expect_swiglu(kernel->tile, 1, up_scale);
    for (const float gate_scale : {-kInfinity, std::nanf("")}) expect_swiglu(kernel->tile, gate_scale, 1);
  }
}

TEST(MoeGpu, LargeEveryTileGivesTheSameBitsAndTheyAreRight) {
  for (const WeightFormat format : kFormats) {
    const Layer layer(odd_desc(format));
    for (const Pattern pattern : {Pattern::random, Pattern::one_expert, Pattern::few_experts}) {
      for (const int64_t tokens : token_counts()) {
        if (pattern != Pattern::random && tokens % 16 != 1 && tokens < 129) continue;
        const plan::Desc d = with_tokens(layer.desc, tokens);
        MoeInput input(d, pattern, static_cast<uint32_t>(tokens));
        std::vector<uint16_t> first;
        for (const Kernel& kernel : kernels(plan::Path::w4a16, format)) {
          const auto plan = plan_of(d, kernel.tile);
          if (!plan) continue;
          const std::string what = plan::shape_name(kernel.tile) + ", " + std::to_string(tokens) + " tokens";
          const auto got = run_moe(*plan, layer, input);
          if (first.empty()) {
            first = got;
            expect_close(layer, input, got, tokens, std::max<int64_t>(1, tokens / 8), what);
          }
          expect_equal(got, first, what);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(MoeGpu, SmallExpertsInBf16AndFp8) {
  for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::fp8_e4m3}) {
    const Layer layer(make_desc(format, 192, 48, 8, 3, 0));
    for (const int64_t tokens : {1, 40}) {
      const plan::Desc d = with_tokens(layer.desc, tokens);
      const MoeInput input(d, Pattern::random, 5);
      std::vector<uint16_t> first;
      for (const Kernel& kernel : kernels(plan::Path::w4a16, format)) {
        const auto plan = plan_of(d, kernel.tile);
        ASSERT_TRUE(plan) << plan::shape_name(kernel.tile);
        const auto got = run_moe(*plan, layer, input);
        const std::string what = std::string(format::name(format)) + " " + plan::shape_name(kernel.tile);
        if (first.empty()) {
          first = got;
          expect_close(layer, input, got, tokens, 1, what);
        }
        expect_equal(got, first, what);
      }
      EXPECT_FALSE(first.empty());
    }
  }
}

TEST(MoeGpu, ATokenAloneHasTheBitsThatItHasAmongOthers) {
  const Layer layer(odd_desc(WeightFormat::nvfp4));
  const plan::Desc d = with_tokens(layer.desc, 200);
  const MoeInput all(d, Pattern::random, 11);
  const plan::Tile tile = first_tile();
  const auto want = run_moe(*plan_of(d, tile), layer, all);
  for (const int64_t t : {0, 1, 127, 128, 199}) {
    expect_equal(run_moe(*plan_of(with_tokens(d, 1), tile), layer, all.tokens(d, t, 1)),
                 {want.begin() + t * d.hidden, want.begin() + (t + 1) * d.hidden}, "token " + std::to_string(t));
  }
}

TEST(MoeGpu, ManyExpertsATokenAreSummed) {  // more rows than are under way at once, more columns than a block's
  for (const int k : {8, 10, 32}) {
    const Layer layer(make_desc(WeightFormat::nvfp4, 1088, 32, 40, k, 0));
    const plan::Desc d = with_tokens(layer.desc, 3);
    const MoeInput input(d, Pattern::random, 19);
    expect_close(layer, input, run_moe(*plan_of(d, first_tile()), layer, input), 3, 1, std::to_string(k));
  }
}

TEST(MoeGpu, LargeLayersThatDoNotWaitForOneAnotherGiveTheSameBits) {
  // Two inputs in turn with one workspace, so that whatever a kernel reads too early differs; between them a layer
  // without live tokens, whose kernels have nothing to do but to wait. down is long enough for the kernel behind it to
  // start meanwhile.
  constexpr int kLayers = 30;
  for (const plan::Path path : {plan::Path::w4a16, plan::Path::w4a4}) {
    plan::Desc desc = make_desc(WeightFormat::nvfp4, 512, 2048, 8, 2, 0);
    desc.path = path;
    const Layer layer(desc);
    for (const int64_t tokens : {1, 100, 1000}) {
      if (path == plan::Path::w4a4 && tokens > 100) continue;  // its instruction may be emulated
      const plan::Desc d = with_tokens(desc, tokens);
      const MoePlan plan = *plan_of(d, kernels(path, WeightFormat::nvfp4)[0].tile);
      const MoeInput a(d, Pattern::random, 31), b(d, Pattern::few_experts, 37);
      MoeCall calls[] = {{plan, layer, a}, {plan, layer, a, 0}, {plan, layer, b}, {plan, layer, b, 0}};
      const OnDevice<uint16_t> deltas(kLayers * a.x.size());
      device::Stream stream;
      ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
      const auto run = [&](bool waiting, bool pdl) {
        EXPECT_EQ(cudaMemset(deltas.get(), 0, kLayers * a.x.size() * 2), cudaSuccess);
        EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
        for (size_t i = 0; i < kLayers; ++i) {
          MoeCall& call = calls[i % 4];
          call.args.workspace = calls[0].workspace.get();
          call.args.delta = deltas.get() + i * a.x.size();
          EXPECT_TRUE(call.run(stream.get(), pdl).ok());
          if (!waiting) continue;
          EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
        }
        EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
        return deltas.read();
      };
      const auto want = run(true, true);
      for (int repeat = 0; repeat < 20; ++repeat) {
        expect_equal(run(false, repeat != 0), want,
                     std::string(plan::name(path)) + ", " + std::to_string(tokens) + " tokens");
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(MoeGpu, LargeTheMostTokens) {
  const Layer layer(make_desc(WeightFormat::nvfp4, 64, 32, 8, 2, 0));
  const plan::Desc d = with_tokens(layer.desc, plan::kTokensMax);
  MoeInput input(d, Pattern::random, 23);
  std::vector<uint16_t> want;
  for (const Kernel& kernel : kernels(plan::Path::w4a16, WeightFormat::nvfp4)) {
    if (kernel.tile.k != 64) continue;  // every m and n; a depth of 64 makes others the same
    const auto got = run_moe(*plan_of(d, kernel.tile), layer, input);
    if (want.empty()) {
      want = got;
      expect_close(layer, input, got, d.tokens, 509, "65,536 tokens");
    }
    expect_equal(got, want, plan::shape_name(kernel.tile));
  }
}

TEST(MoeGpu, LargeRepeatsAndGraphsGiveTheSameBits) {
  for (const int64_t hidden : {448, 4096}) {
    const Layer layer(make_desc(WeightFormat::nvfp4, hidden, 64, 8, 2, 0));
    const plan::Desc d = with_tokens(layer.desc, 6);
    const MoeInput input(d, Pattern::random, 13);
    const MoePlan plan = *plan_of(d, first_tile());
    const auto want = run_moe(plan, layer, input);
    const MoeCall call(plan, layer, input);
    device::Stream stream;
    ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ASSERT_TRUE(call.run(stream.get()).ok());
    ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int repeat = 0; repeat < 1000; ++repeat) {
      ASSERT_EQ(cudaMemsetAsync(call.delta.get(), 0xff, want.size() * 2, stream.get()), cudaSuccess);
      if (repeat % 2 == 0) {
        ASSERT_EQ(cudaGraphLaunch(exec, stream.get()), cudaSuccess);
      } else {
        ASSERT_TRUE(call.run(stream.get()).ok());
      }
      ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
      expect_equal(call.delta.read(), want, "repeat " + std::to_string(repeat));
      if (HasFatalFailure()) break;
    }
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
}

TEST(MoeGpu, NoTokens) {
  const plan::Desc d = odd_desc(WeightFormat::nvfp4);
  EXPECT_TRUE(moe(*plan_of(d, first_tile()), {}, {}).ok());
}

TEST(MoeGpu, RowsOfLogitsThatOverlapAreRefused) {
  const plan::Desc d = with_tokens(odd_desc(WeightFormat::nvfp4), 1);
  const Status status = moe(*plan_of(d, first_tile()), {.logits_stride = 23}, {});
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.message().find("23 floats apart, expected at least 24"), std::string::npos) << status.message();
}

TEST(MoeGpu, TilesWithoutAKernelAndHalvesOfAGroupAreRefused) {
  const plan::Desc d = odd_desc(WeightFormat::nvfp4);
  const plan::Tile none = plan::make_tile(plan::Path::w4a16, WeightFormat::nvfp4, 64, 104, 64, 2);
  for (const auto& [gate_up, down] : {std::pair{first_tile(), none}, {none, first_tile()}}) {
    const Status status = plan_moe(d, gate_up, down).status();
    EXPECT_EQ(status.code(), StatusCode::unsupported);
    EXPECT_NE(status.message().find("64x104x64"), std::string::npos) << status.message();
  }
  const plan::Tile tile = kernels(plan::Path::w4a16, WeightFormat::mxfp4)[0].tile;
  for (const int64_t inner : {32, 48}) {
    EXPECT_EQ(plan_moe(make_desc(WeightFormat::mxfp4, 64, inner, 4, 2, 1), tile, tile).ok(), inner == 32) << inner;
  }
}

/// A narrow tile of one product has many times the columns' tiles of the other's wide one.
TEST(MoeGpu, SmallProductsWithTilesOfTheirOwn) {
  for (const plan::Path path : {plan::Path::w4a16, plan::Path::w4a4}) {
    plan::Desc desc = make_desc(WeightFormat::nvfp4, 64, 32, 4, 2, 40);
    desc.path = path;
    const Layer layer(desc);
    const MoeInput input(desc, Pattern::one_expert, 29);
    const auto all = kernels(path, desc.format);
    const auto by_width = [](const Kernel& a, const Kernel& b) { return a.tile.n < b.tile.n; };
    const plan::Tile narrow = std::ranges::min_element(all, by_width)->tile;
    const plan::Tile wide = std::ranges::max_element(all, by_width)->tile;
    ASSERT_LT(narrow.n, wide.n);
    const auto want = run_moe(*plan_moe(desc, narrow, narrow), layer, input);
    for (const auto& [gate_up, down] : {std::pair{narrow, wide}, {wide, narrow}}) {
      const MoePlan plan = *plan_moe(desc, gate_up, down);
      const std::string what = plan::shape_name(gate_up) + ", then " + plan::shape_name(down);
      EXPECT_EQ(column_tiles(plan, plan::Op::gate_up), slot_tiles_max(80, 4, gate_up.n)) << what;
      EXPECT_EQ(column_tiles(plan, plan::Op::down), slot_tiles_max(80, 4, down.n)) << what;
      expect_equal(run_moe(plan, layer, input), want, what);
    }
  }
}

TEST(MoeGpu, SharedRowsAreSummedLastAndByTheirGate) {
  const Layer layer(make_desc(WeightFormat::nvfp4, 192, 32, 8, 2, 0));
  const plan::Desc d = with_tokens(layer.desc, 5);
  const MoeInput input(d, Pattern::random, 19);
  const MoePlan plan = *plan_of(d, first_tile());
  for (const Shared shared : {Shared::gated, Shared::whole, Shared::none}) {
    MoeCall call(plan, layer, input);
    if (shared == Shared::whole) call.args.shared_gate = nullptr;
    if (shared == Shared::none) call.args.shared_rows = nullptr;
    run_and_wait(call);
    expect_close(layer, input, call.delta.read(), 5, 1, "shared " + std::to_string(static_cast<int>(shared)), shared);
  }
}

/// The reference with the experts and weights that a call has given to its tokens.
class RoutedReference {
 public:
  RoutedReference(const MoeCall& call, const Layer& layer, const MoeInput& input)
      : layer_(layer), input_(input), places_(moe_workspace(call.plan)), memory_(call.workspace.read()) {}

  [[nodiscard]] std::vector<float> of_token(int64_t t) const {
    const auto k = static_cast<size_t>(layer_.desc.experts_per_token), first = static_cast<size_t>(t) * k;
    const auto* ids = reinterpret_cast<const int32_t*>(memory_.data() + places_.ids);
    const auto* weights = reinterpret_cast<const float*>(memory_.data() + places_.weights);
    return reference_token(layer_, input_, t, {ids + first, k}, {weights + first, k});
  }

 private:
  const Layer& layer_;
  const MoeInput& input_;
  MoeWorkspace places_;
  std::vector<std::byte> memory_;
};

/// Every W4A4 tile against the reference, every `stride`-th token, and against the first tile.
void expect_w4a4_reference(const Layer& layer, int64_t tokens, int64_t stride) {
  const plan::Desc d = with_tokens(layer.desc, tokens);
  const auto hidden = static_cast<size_t>(d.hidden);
  MoeInput input(d, Pattern::random, 19);
  std::vector<uint16_t> first;
  for (const Kernel& kernel : kernels(plan::Path::w4a4, d.format)) {
    const MoePlan plan = *plan_of(d, kernel.tile);
    const MoeCall call(plan, layer, input);
    run_and_wait(call);
    const auto got = call.delta.read();
    const std::string what = plan::shape_name(kernel.tile) + ", " + std::to_string(tokens) + " tokens";
    if (first.empty()) {
      first = got;
      const RoutedReference reference(call, layer, input);
      for (int64_t t = 0; t < tokens; t += stride) {
        const auto at = static_cast<size_t>(t);
        const auto want = reference.of_token(t);
        for (size_t i = 0; i < hidden; ++i) {
          ASSERT_EQ(got[at * hidden + i], float_to_bf16(want[i])) << what << ", token " << t << ", row " << i;
        }
      }
    }
    expect_equal(got, first, what);
    if (testing::Test::HasFatalFailure()) return;
  }
}

plan::Desc small_w4a4(WeightFormat format) {
  plan::Desc desc = make_desc(format, 192, 64, 6, 2, 0);
  desc.path = plan::Path::w4a4;
  return desc;
}

TEST(MoeGpu, SmallW4a4LayersAreTheReferenceBitForBit) {
  for (const WeightFormat format : kFormats) {
    const Layer layer(small_w4a4(format));
    for (const int64_t tokens : {1, 9, 130}) expect_w4a4_reference(layer, tokens, 31);
  }
}

/// Groups of zeros, of numbers down to the smallest of BF16, and of an infinity, which spoils its token alone.
TEST(MoeGpu, SmallW4a4ActivationsOfAnySize) {
  const int64_t tokens = 9, infinite = 6;
  for (const WeightFormat format : kFormats) {
    const Layer layer(small_w4a4(format));
    const plan::Desc d = with_tokens(layer.desc, tokens);
    const auto hidden = static_cast<size_t>(d.hidden);
    MoeInput input(d, Pattern::random, 23);
    const int exponents[] = {0, -7, -9, -11, -60, -124};  // around the least scale of NVFP4, and of MXFP4
    for (size_t t = 0; t < 6; ++t) {
      for (size_t i = 0; i < hidden; ++i) {
        uint16_t& x = input.x[t * hidden + i];
        const auto group = static_cast<int>(i / 16);
        x = group % 4 == 3 ? 0 : float_to_bf16(std::ldexp(bf16_to_float(x), exponents[t] - group % 3));
      }
    }
    input.x[infinite * hidden + 40] = 0x7f80;
    const MoePlan plan = *plan_of(d, kernels(plan::Path::w4a4, format)[0].tile);
    const MoeCall call(plan, layer, input);
    run_and_wait(call);
    const auto got = call.delta.read();
    const RoutedReference reference(call, layer, input);
    for (size_t t = 0; t < static_cast<size_t>(tokens); ++t) {
      const auto want = reference.of_token(static_cast<int64_t>(t));
      for (size_t i = 0; i < hidden; ++i) {
        if (t == infinite) {
          ASSERT_TRUE(std::isnan(bf16_to_float(got[t * hidden + i]))) << "row " << i;
        } else {
          ASSERT_EQ(got[t * hidden + i], float_to_bf16(want[i])) << "token " << t << ", row " << i;
        }
      }
    }
  }
}

TEST(MoeGpu, QuantizedActivationsHaveTheBytesOfTheCpu) {
  constexpr int32_t kColumns = 7, kDepth = 96;
  const int exponents[kColumns] = {0, -60, -121, -124, -126, -128, -133};  // down to the smallest of BF16
  std::vector<uint16_t> x;
  std::vector<float> values;
  std::vector<int32_t> source;
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  for (int32_t column = 0; column < kColumns; ++column) {
    source.push_back(column);
    for (int k = 0; k < kDepth; ++k) {
      const bool infinite = (column == 1 && k == 40) || (column == 2 && k == 8);
      x.push_back(infinite ? 0x7f80 : float_to_bf16(std::ldexp(normal(random), exponents[column])));
      values.push_back(bf16_to_float(x.back()));
    }
  }
  const OnDevice<uint16_t> rows(x);
  const OnDevice<SlotTile> tile(std::vector<SlotTile>{{.columns = kColumns}});
  const OnDevice<int32_t> tile_count(std::vector<int32_t>{1});
  for (const WeightFormat format : kFormats) {
    std::vector<std::byte> want(static_cast<size_t>(fp4_activation_bytes(format, kColumns, kDepth)));
    cpu::quantize_activations(format, 1.0F, values.data(), kDepth, source, want.data());
    const OnDevice<std::byte> out(want.size());
    QuantizeArgs args;
    args.format = format;
    args.x = rows.get();
    args.depth = kDepth;
    args.tiles = tile.get();
    args.tile_count = tile_count.get();
    args.out = out.get();
    device::Stream stream;
    ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
    ASSERT_TRUE(quantize_activations(args, 1, {.stream = stream.get()}).ok());
    ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
    EXPECT_EQ(out.read(), want) << format::name(format);
  }
}

/// Of rows of the model's width, and of what gate_up makes of them.
TEST(MoeGpu, AW4a4WorkspaceHoldsTheActivationsOfBothProducts) {
  for (const WeightFormat format : kFormats) {
    for (const int64_t hidden : {64, 512}) {
      plan::Desc desc = make_desc(format, hidden, 256, 6, 2, 9);
      desc.path = plan::Path::w4a4;
      const MoeWorkspace w = moe_workspace(*plan_of(desc, kernels(plan::Path::w4a4, format)[0].tile));
      const int64_t slices = column_blocks_max(plan::slots(desc), 6) * fp4_slices(std::max<int64_t>(hidden, 256));
      EXPECT_GE(w.gated - w.fp4, static_cast<size_t>(slices * fp4_slice_bytes(format)));
    }
  }
}

TEST(MoeGpu, LargeW4a4LayersAreTheReferenceAtEveryNumberOfTokens) {
  for (const WeightFormat format : kFormats) {
    const Layer layer(small_w4a4(format));
    for (const int64_t tokens : token_counts()) {
      expect_w4a4_reference(layer, tokens, std::max<int64_t>(1, tokens / 8));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(MoeGpu, SmallCases) {
  // 17 slices go round every ring: of gate_up, then of down.
  for (const auto& [hidden, inner] : {std::pair<int64_t, int64_t>{1088, 32}, {64, 1088}}) {
    for (const WeightFormat format : kFormats) {
      const Layer layer(make_desc(format, hidden, inner, 6, 2, 0));
      for (const int64_t tokens : {1, 9, 130}) {
        const plan::Desc d = with_tokens(layer.desc, tokens);
        MoeInput input(d, Pattern::random, 17);
        std::vector<uint16_t> want;
        for (const Kernel& kernel : kernels(plan::Path::w4a16, format)) {
          if (kernel.tile.n % 16 != 0 && kernel.tile.n != 8) continue;
          const auto plan = plan_of(d, kernel.tile);
          ASSERT_TRUE(plan.has_value());
          const auto got = run_moe(*plan, layer, input);
          if (want.empty()) {
            want = got;
            expect_close(layer, input, got, tokens, 16, std::to_string(tokens) + " tokens");
          }
          expect_equal(got, want, plan::shape_name(kernel.tile));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::kernels::cuda
