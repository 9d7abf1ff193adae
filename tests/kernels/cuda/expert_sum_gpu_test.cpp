#include <random>
#include <string>

#include "kernels/cuda/expert_sum.h"
#include "kernels/cuda/moe_fixture.h"
#include "kernels/cuda/norm.h"

// The sum over a token's experts inside the norm that comes next, against the sum as a launch of its own: bits. On a
// GPU (label gpu) and, but for tests named Large*, in the simulator.
namespace tessera::kernels::cuda {
namespace {

/// What experts may leave: rows of slots in any order, weights, a shared expert's rows and the logits of their gate.
struct ExpertOutputs {
  int64_t hidden;
  int k;
  OnDevice<uint16_t> rows, shared_rows;
  OnDevice<int32_t> slots;
  OnDevice<float> weights, gates;
  static constexpr int64_t kGateStride = 5;

  /// Tokens from `live` on have slots that are not there.
  ExpertOutputs(int64_t tokens, int64_t live, int64_t size, int experts_per_token, uint32_t seed)
      : hidden(size),
        k(experts_per_token),
        rows(random_bf16(static_cast<size_t>(tokens * k * size), seed)),
        shared_rows(random_bf16(static_cast<size_t>(tokens * size), seed + 1)),
        slots(shuffled(tokens * k, live * k, seed + 2)),
        weights(floats(tokens * k, seed + 3)),
        gates(floats(tokens * kGateStride, seed + 4)) {}

  static std::vector<int32_t> shuffled(int64_t count, int64_t live, uint32_t seed) {
    std::vector<int32_t> slots(static_cast<size_t>(count));
    std::iota(slots.begin(), slots.end(), 0);
    std::shuffle(slots.begin(), slots.end(), std::mt19937(seed));
    std::fill(slots.begin() + live, slots.end(), -1'000'000'000);
    return slots;
  }
  static std::vector<float> floats(int64_t count, uint32_t seed) {
    std::vector<float> values;
    for (const uint16_t v : random_bf16(static_cast<size_t>(count), seed)) values.push_back(bf16_to_float(v) * 0.3F);
    return values;
  }
  [[nodiscard]] ExpertSum sum(Shared shared) const {
    return {.rows = rows.get(),
            .slots = slots.get(),
            .weights = weights.get(),
            .shared_rows = shared == Shared::none ? nullptr : shared_rows.get(),
            .shared_gate = shared == Shared::gated ? gates.get() + 2 : nullptr,
            .gate_stride = kGateStride,
            .experts_per_token = k};
  }
};

struct Normed {
  std::vector<uint16_t> residual, normed;
};

/// norm(residual + the experts' sum), in one launch or in two.
Normed run_norm(const ExpertOutputs& outputs, Shared shared, int64_t tokens, int32_t live, bool in_one, bool pdl) {
  const auto elements = static_cast<size_t>(tokens * outputs.hidden);
  const std::vector<uint16_t> untouched(elements, kUntouched);
  const OnDevice<uint16_t> residual(random_bf16(elements, 7)), delta(untouched), sum(untouched), normed(untouched);
  const OnDevice<float> weight(ExpertOutputs::floats(outputs.hidden, 8));
  const OnDevice<int32_t> live_rows(std::vector<int32_t>{live});
  AddNormArgs args;
  args.norm = {.residual = residual.get(),
               .weight = weight.get(),
               .eps = 1e-6F,
               .residual_out = sum.get(),
               .normed_out = normed.get()};
  args.hidden = static_cast<int32_t>(outputs.hidden);
  args.live_rows = live_rows.get();
  args.rows_max = static_cast<int32_t>(tokens);
  device::Stream stream;
  EXPECT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  const device::Queue queue{stream.get(), pdl};
  Status status;
  if (in_one) {
    args.norm.experts = outputs.sum(shared);
  } else {
    args.norm.delta = delta.get();
    status = sum_experts({.experts = outputs.sum(shared),
                          .live_tokens = live_rows.get(),
                          .delta = delta.get(),
                          .tokens = args.rows_max,
                          .hidden = args.hidden},
                         queue);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  status = add_norm(args, queue);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
  return {sum.read(), normed.read()};
}

TEST(ExpertSumGpu, ANormSumsAsALaunchOfItsOwnDoes) {
  for (const int64_t hidden : {64, 2048, 4096, 4672}) {  // chunks of a thread: none or one, one, two, two or three
    for (const int k : {1, 8, 10, 32}) {
      for (const Shared shared : {Shared::gated, Shared::whole, Shared::none}) {
        const int64_t tokens = 6;
        const int32_t live = k == 10 ? 0 : k == 1 ? 6 : 5;
        const ExpertOutputs outputs(tokens, live, hidden, k, static_cast<uint32_t>(hidden) + 11);
        const Normed want = run_norm(outputs, shared, tokens, live, false, true);
        const std::string what = std::to_string(hidden) + " columns, " + std::to_string(k) + " experts, shared " +
                                 std::to_string(static_cast<int>(shared));
        for (const bool pdl : {true, false}) {
          const Normed got = run_norm(outputs, shared, tokens, live, true, pdl);
          expect_equal(got.residual, want.residual, what + ", residual");
          expect_equal(got.normed, want.normed, what);
        }
        for (size_t i = static_cast<size_t>(live * hidden); i < want.normed.size(); ++i) {
          ASSERT_EQ(want.normed[i], kUntouched) << what << ", element " << i;
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ExpertSumGpu, ThereIsOneDelta) {
  const ExpertOutputs outputs(1, 1, 64, 2, 3);
  AddNormArgs args;
  uint16_t row[64] = {}, other[64] = {};
  float weight[64] = {};
  args.norm = {
      .residual = row, .delta = row, .experts = outputs.sum(Shared::none), .weight = weight, .normed_out = other};
  args.hidden = 64;
  args.rows_max = 1;
  const Status status = add_norm(args, {});
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.message().find("one delta"), std::string::npos) << status.message();
  args.norm.delta = nullptr;
  for (const int experts : {0, 33}) {
    args.norm.experts.experts_per_token = experts;
    EXPECT_NE(add_norm(args, {}).message().find(std::to_string(experts) + " experts"), std::string::npos);
  }
}

/// Layers one after another, each the routing, the products and the norm that sums them.
struct NormedLayers {
  static constexpr int kLayers = 30;
  std::vector<MoeCall> calls;
  OnDevice<uint16_t> residual, sums, normed;
  OnDevice<float> weight;
  size_t elements;  // of a layer's rows

  /// Two inputs in turn with one workspace, so that whatever a kernel reads too early differs.
  NormedLayers(const MoePlan& plan, const Layer& layer, const MoeInput& a, const MoeInput& b)
      : residual(random_bf16(a.x.size(), 41)),
        sums(kLayers * a.x.size()),
        normed(kLayers * a.x.size()),
        weight(ExpertOutputs::floats(plan.desc.hidden, 42)),
        elements(a.x.size()) {
    calls.reserve(4);
    for (const MoeInput* input : {&a, &b}) {
      calls.emplace_back(plan, layer, *input);
      calls.emplace_back(plan, layer, *input, 0);  // without live tokens: its kernels have nothing to do but to wait
    }
    for (MoeCall& call : calls) call.args.workspace = calls[0].workspace.get();
  }
  [[nodiscard]] Status enqueue(int i, bool in_one, const device::Queue& queue) const {
    const MoeCall& call = calls[static_cast<size_t>(i) % 4];
    AddNormArgs args;
    args.norm = {.residual = residual.get(),
                 .weight = weight.get(),
                 .eps = 1e-6F,
                 .residual_out = sums.get() + static_cast<size_t>(i) * elements,
                 .normed_out = normed.get() + static_cast<size_t>(i) * elements};
    args.hidden = static_cast<int32_t>(call.plan.desc.hidden);
    args.live_rows = call.args.live_tokens;
    args.rows_max = static_cast<int32_t>(call.plan.desc.tokens);
    if (!in_one) {
      args.norm.delta = call.args.delta;
      TESSERA_RETURN_IF_ERROR(moe(call.plan, call.args, queue));
      return add_norm(args, queue);
    }
    args.norm.experts = expert_sum(call.plan, call.args);
    TESSERA_RETURN_IF_ERROR(moe_route(call.plan, call.args, queue));
    TESSERA_RETURN_IF_ERROR(moe_products(call.plan, call.args, queue));
    return add_norm(args, queue);
  }
  Normed run(int layers, bool in_one, bool waiting, bool pdl) {
    for (const OnDevice<uint16_t>* out : {&sums, &normed}) {
      EXPECT_EQ(cudaMemset(out->get(), 0, kLayers * elements * 2), cudaSuccess);
    }
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    device::Stream stream;
    EXPECT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
    for (int i = 0; i < layers; ++i) {
      const Status status = enqueue(i, in_one, {stream.get(), pdl});
      EXPECT_TRUE(status.ok()) << status.message();
      if (!waiting && i + 1 < layers) continue;
      EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
    }
    return {sums.read(), normed.read()};
  }
};

void expect_layers(const plan::Desc& desc, std::span<const int64_t> counts, int layers, int repeats) {
  const Layer layer(desc);
  for (const int64_t tokens : counts) {
    const plan::Desc d = with_tokens(desc, tokens);
    const MoeInput a(d, Pattern::random, 31), b(d, Pattern::few_experts, 37);
    NormedLayers run(*plan_of(d, first_tile()), layer, a, b);
    const Normed want = run.run(layers, false, true, true);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const Normed got = run.run(layers, true, false, repeat != 0);
      expect_equal(got.residual, want.residual, std::to_string(tokens) + " tokens, residual");
      expect_equal(got.normed, want.normed, std::to_string(tokens) + " tokens");
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ExpertSumGpu, LayersThatEndInANormAreThoseThatEndInASum) {
  constexpr int64_t kCounts[] = {1, 5, 20};
  expect_layers(make_desc(WeightFormat::nvfp4, 192, 32, 8, 2, 0), kCounts, 4, 2);
}

TEST(ExpertSumGpu, LargeLayersThatDoNotWaitForOneAnotherGiveTheSameBits) {
  // down is long enough for the norm to start meanwhile.
  constexpr int64_t kCounts[] = {1, 8, 64, 128};
  expect_layers(make_desc(WeightFormat::nvfp4, 2048, 2048, 8, 2, 0), kCounts, NormedLayers::kLayers, 20);
}

}  // namespace
}  // namespace tessera::kernels::cuda
