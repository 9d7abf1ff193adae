#include <limits>
#include <span>
#include <string>

#include "kernels/cuda/moe_fixture.h"
#include "kernels/cuda/route.h"
#include "kernels/spelt_math.h"

// Which experts the tokens of a layer go to, and which tokens count, on a GPU (label gpu) and in the simulator. Ours
// against ours: bits. Tests named Small* are for compute-sanitizer.
namespace tessera::kernels::cuda {
namespace {

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

/// Softmax over the chosen logits, in fp32 as it is spelt. chosen: by descending logit.
float weight_of(const float* logits, std::span<const int32_t> chosen, int32_t expert) {
  const auto p = [&](int32_t id) {
    return spelt::exp(round_to_bf16(logits[id]) - round_to_bf16(logits[chosen.front()]));
  };
  float total = 0;
  for (const int32_t id : chosen) total += p(id);
  return p(expert) / total;
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
        const auto ids_each = static_cast<size_t>(k);
        for (int j = 0; j < k; ++j) {
          const auto i = static_cast<size_t>(t * k + j);
          ASSERT_EQ(ids[i], want[static_cast<size_t>(j)].first);
          ASSERT_NEAR(weights[i], want[static_cast<size_t>(j)].second, 1e-5);
          ASSERT_EQ(weights[i], weight_of(input.logits.data() + t * experts, {chosen.data() + t * k, ids_each}, ids[i]))
              << "the sum goes over the choices, the largest first";
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
  const MoePlan plan = *plan_of(d, first_tile());
  const auto want = run_moe(plan, layer, clean);
  for (const size_t expert : {0, 7, 23}) {
    MoeInput bad = clean;
    bad.logits[4 * 24 + expert] = std::nanf("");
    const auto got = run_moe(plan, layer, bad);
    for (size_t i = 0; i < got.size(); ++i) {
      if (i / 448 == 4) {
        ASSERT_TRUE(std::isnan(bf16_to_float(got[i]))) << "of expert " << expert;
      } else {
        ASSERT_EQ(got[i], want[i]);
      }
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
                                       {1, 1},
                                       {1, 0},
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

}  // namespace
}  // namespace tessera::kernels::cuda
