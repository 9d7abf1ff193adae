#include <limits>
#include <optional>
#include <string>

#include "kernels/cuda/moe_fixture.h"
#include "kernels/cuda/route.h"
#include "plan/candidates.h"

// A mixture-of-experts layer, on a GPU (label gpu) and, but for tests named Large*, in the simulator. Ours against
// ours: bits. Against the reference: relative L2 of 1e-3. Tests named Small* are for compute-sanitizer.
namespace tessera::kernels::cuda {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::nvfp4, WeightFormat::mxfp4};

plan::Desc make_desc(WeightFormat format, int64_t hidden, int64_t inner, int experts, int k, int64_t tokens) {
  return {.op = plan::Op::gate_up,
          .format = format,
          .path = plan::Path::w4a16,
          .hidden = hidden,
          .intermediate = inner,
          .experts = experts,
          .experts_per_token = k,
          .tokens = tokens};
}

plan::Tile first_tile() { return kernels(plan::Path::w4a16, WeightFormat::nvfp4)[0].tile; }

plan::Desc with_tokens(plan::Desc d, int64_t tokens) {
  d.tokens = tokens;
  return d;
}

/// The same tile for both products; nothing where it is not compiled.
std::optional<MoePlan> plan_of(const plan::Desc& d, const plan::Tile& tile) {
  const auto plan = plan_moe(d, tile, tile);
  if (plan.ok()) return *plan;
  EXPECT_EQ(plan.status().code(), StatusCode::unsupported) << plan.status().message();
  return std::nullopt;
}

void expect_close(const Layer& layer, const MoeInput& input, const std::vector<uint16_t>& got, int64_t tokens,
                  int64_t stride, const std::string& what, Shared shared = Shared::gated) {
  const auto hidden = static_cast<size_t>(layer.desc.hidden);
  double difference = 0, size = 0;
  for (int64_t t = 0; t < tokens; t += stride) {
    const auto row = static_cast<size_t>(t);
    const auto want = reference_token(layer, input, t, shared);
    for (size_t i = 0; i < hidden; ++i) {
      const double d = double{bf16_to_float(got[row * hidden + i])} - want[i];
      difference += d * d;
      size += double{want[i]} * want[i];
    }
  }
  ASSERT_GT(size, 0) << what;
  EXPECT_LE(std::sqrt(difference / size), 1e-3) << what;
}

void expect_equal(const std::vector<uint16_t>& got, const std::vector<uint16_t>& want, const std::string& what) {
  const auto at = std::mismatch(got.begin(), got.end(), want.begin());
  ASSERT_EQ(got.size(), want.size()) << what;
  ASSERT_TRUE(at.first == got.end()) << what << ": element " << at.first - got.begin() << " is " << *at.first
                                     << ", want " << *at.second;
}

std::vector<int64_t> token_counts() {
  std::vector<int64_t> counts;
  for (int64_t t = 1; t <= 40; ++t) counts.push_back(t);
  for (const int64_t t : {63, 64, 65, 127, 128, 129, 512, 4096}) counts.push_back(t);
  return counts;
}

// H is no multiple of 256, and I none of 64 nor of any tile.
plan::Desc odd_desc(WeightFormat format) {
  return make_desc(format, 448, format == WeightFormat::nvfp4 ? 176 : 160, 24, 5, 0);
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

/// Those that a product of n columns must get.
void expect_tiles(const SlotTile* tiles, int32_t count, const int32_t* first_slot, int experts, int n) {
  int32_t at = 0;
  for (int group = 0; group < experts; ++group) {
    for (int32_t slot = first_slot[group]; slot < first_slot[group + 1]; slot += n, ++at) {
      ASSERT_LT(at, count);
      ASSERT_EQ(tiles[at].group, group);
      ASSERT_EQ(tiles[at].first_slot, slot);
      ASSERT_EQ(tiles[at].columns, std::min(n, first_slot[group + 1] - slot));
    }
  }
  EXPECT_EQ(at, count);
}

TEST(MoeGpu, RouterChoosesTheLargestAndTheLowerIdOfEquals) {
  for (const auto& [experts, k] : {std::pair{8, 1}, {40, 32}, {512, 10}, {1024, 32}, {5, 5}, {1, 1}}) {
    for (const int64_t tokens : {1, 16, 17, 33, 300}) {
      const Layer layer(make_desc(WeightFormat::nvfp4, 64, 16, experts, k, 0));
      const plan::Desc d = with_tokens(layer.desc, tokens);
      const MoeInput input(d, Pattern::random, 5);
      const plan::Tile tile = first_tile();
      const MoePlan plan = *plan_of(d, tile);
      const MoeCall call(plan, layer, input);
      run_and_wait(call);
      const auto chosen = call.chosen.read();
      const auto memory = call.workspace.read();
      const MoeWorkspace w = moe_workspace(plan);
      const auto* ids = reinterpret_cast<const int32_t*>(memory.data() + w.ids);
      const auto* weights = reinterpret_cast<const float*>(memory.data() + w.weights);
      const auto* slots = reinterpret_cast<const int32_t*>(memory.data() + w.slots);
      const auto* first_slot = reinterpret_cast<const int32_t*>(memory.data() + w.first_slot);
      std::vector<int32_t> next(first_slot, first_slot + experts);
      for (int64_t t = 0; t < tokens; ++t) {
        const auto want = reference_route(d, input.logits.data() + t * experts);
        for (int j = 0; j < k; ++j) {
          const auto i = static_cast<size_t>(t * k + j);
          ASSERT_EQ(ids[i], want[static_cast<size_t>(j)].first);
          ASSERT_NEAR(weights[i], want[static_cast<size_t>(j)].second, 1e-5);
          ASSERT_EQ(slots[i], next[static_cast<size_t>(ids[i])]++) << "slots go by expert, then token";
          if (j == 0) continue;
          const float before = round_to_bf16(input.logits[static_cast<size_t>(t * experts + chosen[i - 1])]);
          const float now = round_to_bf16(input.logits[static_cast<size_t>(t * experts + chosen[i])]);
          ASSERT_TRUE(before > now || (before == now && chosen[i - 1] < chosen[i])) << before << ' ' << now;
        }
      }
      EXPECT_EQ(first_slot[experts], tokens * k);
      for (const plan::Op op : {plan::Op::gate_up, plan::Op::down}) {
        const size_t i = op == plan::Op::gate_up ? 0 : 1;
        expect_tiles(reinterpret_cast<const SlotTile*>(memory.data() + w.tiles[i]),
                     *reinterpret_cast<const int32_t*>(memory.data() + w.tile_count[i]), first_slot, experts,
                     plan.tile(op).n);
      }
    }
  }
}

TEST(MoeGpu, NanLogitsSpoilTheirTokenAlone) {
  const Layer layer(odd_desc(WeightFormat::nvfp4));
  const plan::Desc d = with_tokens(layer.desc, 9);
  const MoeInput clean(d, Pattern::random, 3);
  MoeInput bad = clean;
  bad.logits[4 * 24 + 7] = std::nanf("");
  const MoePlan plan = *plan_of(d, first_tile());
  const auto want = run_moe(plan, layer, clean), got = run_moe(plan, layer, bad);
  for (size_t i = 0; i < got.size(); ++i) {
    if (i / 448 == 4) {
      ASSERT_TRUE(std::isnan(bf16_to_float(got[i])));
    } else {
      ASSERT_EQ(got[i], want[i]);
    }
  }
}

TEST(MoeGpu, RouterPutsNanLast) {
  const int experts = 40, k = 8;
  for (const int64_t tokens : {2, 20}) {  // routed with their grouping, and before it
    const Layer layer(make_desc(WeightFormat::nvfp4, 64, 16, experts, k, 0));
    const plan::Desc d = with_tokens(layer.desc, tokens);
    MoeInput input(d, Pattern::random, 5);
    for (int e = 0; e < experts; ++e) input.logits[static_cast<size_t>(experts + e)] = std::nanf("");  // of token 1
    const float some[] = {-3, 7, -std::numeric_limits<float>::infinity(), -0.0F, 0};
    const int at[] = {31, 4, 39, 2, 33};
    for (int i = 0; i < 5; ++i) input.logits[static_cast<size_t>(experts + at[i])] = some[i];
    const MoePlan plan = *plan_of(d, first_tile());
    const MoeCall call(plan, layer, input);
    run_and_wait(call);
    const auto chosen = call.chosen.read();
    // -0 ties with 0; then NaN, the lower id first.
    EXPECT_EQ(std::vector<int32_t>(chosen.begin() + k, chosen.begin() + 2 * k),
              (std::vector<int32_t>{4, 2, 33, 31, 39, 0, 1, 3}));
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

/// What of a workspace other kernels read.
struct Lists {
  std::vector<int32_t> ids, slots, slot_token, first_slot, chosen, tiles[2], tile_count[2];
  std::vector<float> weights;

  /// Of `live` tokens.
  Lists(const MoeCall& call, int64_t live) : chosen(call.chosen.read()) {
    const plan::Desc& d = call.plan.desc;
    const auto memory = call.workspace.read();
    const MoeWorkspace w = moe_workspace(call.plan);
    const auto take = [&](auto& to, size_t offset, int64_t count) {
      to.resize(static_cast<size_t>(count));
      std::memcpy(to.data(), memory.data() + offset, to.size() * 4);
    };
    const int64_t pairs = live * d.experts_per_token;
    chosen.resize(static_cast<size_t>(pairs));
    take(ids, w.ids, pairs);
    take(weights, w.weights, pairs);
    take(slots, w.slots, pairs);
    take(slot_token, w.slot_token, pairs);
    take(first_slot, w.first_slot, d.experts + 1);
    for (size_t i = 0; i < 2; ++i) {
      take(tile_count[i], w.tile_count[i], 1);
      take(tiles[i], w.tiles[i], tile_count[i][0] * static_cast<int64_t>(sizeof(SlotTile) / 4));
    }
  }
  bool operator==(const Lists&) const = default;
};

TEST(MoeGpu, SmallOnlyLiveTokensCount) {
  for (const plan::Path path : {plan::Path::w4a16, plan::Path::w4a4}) {
    plan::Desc desc = make_desc(WeightFormat::nvfp4, 128, 32, 12, 3, 0);
    desc.path = path;
    const Layer layer(desc);
    const plan::Tile tile = kernels(path, WeightFormat::nvfp4)[0].tile;
    for (const auto& [bucket, live] : {std::pair<int64_t, int64_t>{96, 65},
                                       {96, 96},
                                       {96, 9},
                                       {16, 9},
                                       {16, 0},
                                       {96, 0},
                                       {300, 0},
                                       {300, 9},
                                       {300, 128},
                                       {300, 129}}) {
      const std::string what = std::to_string(live) + " of " + std::to_string(bucket) + " tokens";
      const plan::Desc few = with_tokens(desc, live), many = with_tokens(desc, bucket);
      MoeInput input(many, Pattern::random, 41);
      const MoeInput some = input.tokens(many, 0, live);
      // What does not count may be anything.
      std::fill(input.x.begin() + live * desc.hidden, input.x.end(), uint16_t{0x7fff});
      std::fill(input.shared_rows.begin() + live * desc.hidden, input.shared_rows.end(), uint16_t{0x7fff});
      std::fill(input.logits.begin() + live * desc.experts, input.logits.end(), std::nanf(""));
      const MoeCall call(*plan_of(many, tile), layer, input, static_cast<int32_t>(live));
      run_and_wait(call);
      const auto got = call.delta.read();
      const auto end = got.begin() + live * desc.hidden;
      EXPECT_TRUE(std::all_of(end, got.end(), [](uint16_t v) { return v == kUntouched; })) << what;
      const auto chosen = call.chosen.read();
      EXPECT_TRUE(std::all_of(chosen.begin() + live * 3, chosen.end(), [](int32_t id) { return id == 0; })) << what;
      const Lists lists(call, live);
      if (live == 0) {
        EXPECT_EQ(lists.tile_count[0][0] + lists.tile_count[1][0] + lists.first_slot.back(), 0) << what;
        continue;
      }
      const MoeCall alone(*plan_of(few, tile), layer, some);
      run_and_wait(alone);
      EXPECT_TRUE(lists == Lists(alone, live)) << what;
      expect_equal({got.begin(), end}, alone.delta.read(), what);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(MoeGpu, SmallOneGraphServesAnyNumberOfLiveTokens) {
  const Layer layer(make_desc(WeightFormat::nvfp4, 128, 32, 12, 3, 0));
  const plan::Desc d = with_tokens(layer.desc, 24);
  const MoeInput input(d, Pattern::random, 43);
  const MoePlan plan = *plan_of(d, first_tile());
  const auto want = run_moe(plan, layer, input);
  const MoeCall call(plan, layer, input, 24);
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_TRUE(call.run(stream.get()).ok());
  ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (const int32_t live : {24, 0, 7, 1, 0, 23}) {
    ASSERT_EQ(cudaMemcpy(call.live_tokens.get(), &live, sizeof live, cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_EQ(cudaMemset(call.delta.get(), 0x55, want.size() * 2), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream.get()), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
    std::vector<uint16_t> all = want;
    std::fill(all.begin() + live * d.hidden, all.end(), uint16_t{0x5555});
    expect_equal(call.delta.read(), all, std::to_string(live) + " live");
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST(MoeGpu, SmallPdlChangesNoBit) {
  for (const plan::Path path : {plan::Path::w4a16, plan::Path::w4a4}) {
    plan::Desc desc = make_desc(WeightFormat::nvfp4, 128, 32, 12, 3, 0);
    desc.path = path;
    const Layer layer(desc);
    const plan::Tile tile = kernels(path, WeightFormat::nvfp4)[0].tile;
    for (const int64_t tokens : {1, 20, 200}) {
      const plan::Desc d = with_tokens(desc, tokens);
      const MoeInput input(d, Pattern::random, 47);
      const MoeCall with(*plan_of(d, tile), layer, input), without(*plan_of(d, tile), layer, input);
      run_and_wait(with, true);
      run_and_wait(without, false);
      expect_equal(without.delta.read(), with.delta.read(), std::to_string(tokens) + " tokens");
      EXPECT_TRUE(Lists(with, tokens) == Lists(without, tokens));
    }
  }
}

/// Every W4A4 tile against the reference, every `stride`-th token, and against the first tile.
void expect_w4a4_reference(const Layer& layer, int64_t tokens, int64_t stride) {
  const plan::Desc d = with_tokens(layer.desc, tokens);
  const auto hidden = static_cast<size_t>(d.hidden), k = static_cast<size_t>(d.experts_per_token);
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
      const auto memory = call.workspace.read();
      const MoeWorkspace w = moe_workspace(plan);
      const auto* ids = reinterpret_cast<const int32_t*>(memory.data() + w.ids);
      const auto* weights = reinterpret_cast<const float*>(memory.data() + w.weights);
      for (int64_t t = 0; t < tokens; t += stride) {
        const auto at = static_cast<size_t>(t);
        const auto want = reference_token(layer, input, t, {ids + at * k, k}, {weights + at * k, k});
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
