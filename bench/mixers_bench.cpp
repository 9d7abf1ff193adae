// Speed of what lies between the projections: attention, Gated DeltaNet, the routing and summing of experts, norms.
// The last argument of every benchmark is the number of threads. Bytes per second count state, or keys and values as
// stored, once each way; items are rows.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/gated_attention.h"
#include "kernels/gated_delta_net.h"
#include "kernels/linear.h"
#include "kernels/moe.h"

namespace tessera::kernels {
namespace {

std::vector<float> random_floats(int64_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<size_t>(count));
  for (auto& v : x) v = round_to_bf16(normal(random));
  return x;
}

struct Setup {
  explicit Setup(int64_t threads) : pool(static_cast<int>(threads)), context{Compute::bf16, &pool, &workspace} {}
  ThreadPool pool;
  Workspace workspace;
  Context context;
};

/// Qwen3.5-35B-A3B.
constexpr DeltaNetShape kDeltaNet{
    .key_heads = 16, .value_heads = 32, .key_dim = 128, .value_dim = 128, .conv_width = 4, .norm_eps = 1e-6F};

// args: slots, threads. The floor of decoding: every state read and written once, nothing else.
void delta_net_floor(benchmark::State& state) {
  const int64_t slots = state.range(0), floats = kDeltaNet.state_floats();
  Setup setup(state.range(1));
  std::vector<float> states(static_cast<size_t>(slots * floats));
  int64_t slot = 0;
  const int64_t chunks = 32, length = floats / chunks;
  for (auto _ : state) {
    setup.pool.run_chunks(chunks, [&](int64_t chunk, int) {
      float* s = states.data() + slot * floats + chunk * length;
      for (int64_t i = 0; i < length; ++i) s[i] *= 0.5F;
    });
    slot = (slot + 1) % slots;
  }
  state.SetBytesProcessed(state.iterations() * 2 * floats * 4);
}
BENCHMARK(delta_net_floor)
    ->ArgNames({"slots", "threads"})
    ->ArgsProduct({{1, 150}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

// args: rows per sequence, prefill, slots (sequences take turns; many: states come from memory), threads
void delta_net(benchmark::State& state) {
  const int64_t rows = state.range(0), slots = state.range(2);
  const bool prefill = state.range(1) != 0;
  Setup setup(state.range(3));
  const DeltaNetShape& s = kDeltaNet;
  const auto qkv = random_floats(rows * s.channels()), z = random_floats(rows * s.value_heads * s.value_dim);
  const auto b = random_floats(rows * s.value_heads), a = random_floats(rows * s.value_heads);
  const auto conv = random_floats(s.channels() * s.conv_width), per_head = random_floats(s.value_heads);
  const auto norm = random_floats(s.value_dim);
  std::vector<float> states(static_cast<size_t>(slots * s.state_floats()));
  std::vector<float> out(z.size());
  const std::vector<int32_t> tokens(static_cast<size_t>(rows));
  int32_t slot = 0;
  for (auto _ : state) {
    const SequenceRows sequence{.rows = static_cast<int32_t>(rows),
                                .first_position = 64,
                                .row_class = prefill ? RowClass::prefill : RowClass::decode,
                                .state_slot = slot,
                                .block_table = {}};
    const Batch batch{tokens, {&sequence, 1}};
    gated_delta_net(setup.context, {.shape = s,
                                    .batch = &batch,
                                    .qkv = qkv.data(),
                                    .z = z.data(),
                                    .b = b.data(),
                                    .a = a.data(),
                                    .conv_weight = conv.data(),
                                    .a_log = per_head.data(),
                                    .dt_bias = per_head.data(),
                                    .norm_weight = norm.data(),
                                    .states = states.data(),
                                    .out = out.data()});
    slot = static_cast<int32_t>((slot + 1) % slots);
  }
  state.SetItemsProcessed(state.iterations() * rows);
  state.SetBytesProcessed(state.iterations() * 2 * s.state_floats() * 4);
}
BENCHMARK(delta_net)
    ->ArgNames({"rows", "prefill", "slots", "threads"})
    ->ArgsProduct({{1}, {0}, {1, 150}, {1, 2}})
    ->ArgsProduct({{4}, {0}, {150}, {1, 2}})
    ->ArgsProduct({{64, 512}, {1}, {1}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

// args: rows, context before them, dtype, threads. 16 heads, 2 KV heads, head_dim 256 (Qwen3.5-35B-A3B)
void attention(benchmark::State& state) {
  const auto rows = static_cast<int32_t>(state.range(0)), context = static_cast<int32_t>(state.range(1));
  const auto dtype = static_cast<DType>(state.range(2));
  Setup setup(state.range(3));
  const AttentionShape shape{.heads = 16, .kv_heads = 2, .head_dim = 256, .rotary_dim = 64, .norm_eps = 1e-6F};
  const auto query_gate = random_floats(int64_t{rows} * 2 * 16 * 256), key = random_floats(int64_t{rows} * 2 * 256);
  const auto norm = random_floats(256);
  const std::vector<float> inv_freq(32, 0.1F);
  std::vector<int32_t> table(static_cast<size_t>((context + rows + 63) / 64));
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int32_t>(i);
  AlignedBuffer<std::byte> keys(table.size() * kv_block_bytes(dtype, 2, 256)), values(keys.size());
  std::fill_n(keys.data(), keys.size(), std::byte{0x33});
  std::fill_n(values.data(), values.size(), std::byte{0x33});
  std::vector<float> out(static_cast<size_t>(rows) * 16 * 256);
  const std::vector<int32_t> tokens(static_cast<size_t>(rows));
  const SequenceRows sequence{.rows = rows, .first_position = context, .block_table = table};
  const Batch batch{tokens, {&sequence, 1}};
  for (auto _ : state) {
    gated_attention(setup.context, {.shape = shape,
                                    .batch = &batch,
                                    .query_gate = query_gate.data(),
                                    .key = key.data(),
                                    .value = key.data(),
                                    .q_norm = norm.data(),
                                    .k_norm = norm.data(),
                                    .inv_freq = inv_freq.data(),
                                    .kv = {dtype, keys.data(), values.data(), 1.0F, 1.0F},
                                    .out = out.data()});
  }
  const int64_t pairs = int64_t{rows} * context + int64_t{rows} * (rows + 1) / 2;
  state.SetItemsProcessed(state.iterations() * rows);
  if (rows == 1) state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(2 * keys.size()));
  state.counters["flops"] =
      benchmark::Counter(static_cast<double>(pairs) * 16 * 256 * 4, benchmark::Counter::kIsIterationInvariantRate);
}
constexpr auto kBf16 = static_cast<int64_t>(DType::bf16), kFp8 = static_cast<int64_t>(DType::f8_e4m3);
BENCHMARK(attention)
    ->ArgNames({"rows", "context", "dtype", "threads"})
    ->ArgsProduct({{1}, {0, 4095, 32767}, {kBf16, kFp8}, {1, 2}})
    ->ArgsProduct({{4}, {4092}, {kBf16}, {2}})
    ->ArgsProduct({{512}, {0, 4096}, {kBf16, kFp8}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

// args: rows, threads. The 35B model's 256 experts, top 8, hidden 2048, but experts of 16 rows: what is timed is
// routing, gathering and summing, and 50 MB of weights instead of 1.6 GB.
void moe_glue(benchmark::State& state) {
  const int64_t rows = state.range(0), hidden = 2048, inner = 16, experts = 256;
  Setup setup(state.range(1));
  const auto random = random_floats(experts * hidden);
  const auto weight = [&](int64_t n, int64_t k) {
    const format::MatrixView view{.format = format::WeightFormat::f32,
                                  .rows = n,
                                  .cols = k,
                                  .data = reinterpret_cast<const std::byte*>(random.data()),
                                  .row_scales = {}};
    return std::move(*pack_weight(setup.context, {&view, 1}));
  };
  std::vector<SwigluWeights> all;
  for (int64_t e = 0; e < experts; ++e) all.push_back({weight(2 * inner, hidden), weight(hidden, inner)});
  const SwigluWeights shared{weight(2 * inner, hidden), weight(hidden, inner)};
  const Weight router = weight(experts, hidden), shared_gate = weight(1, hidden);
  const auto x = random_floats(rows * hidden);
  std::vector<float> out(x.size());
  for (auto _ : state) {
    moe(setup.context, {.x = x.data(),
                        .rows = rows,
                        .hidden = hidden,
                        .experts_per_token = 8,
                        .router = &router,
                        .experts = all,
                        .shared = &shared,
                        .shared_gate = &shared_gate,
                        .out = out.data()});
  }
  state.SetItemsProcessed(state.iterations() * rows);
}
BENCHMARK(moe_glue)
    ->ArgNames({"rows", "threads"})
    ->ArgsProduct({{1, 4, 512}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void rms_norm(benchmark::State& state) {
  const int64_t rows = state.range(0), n = 2048;
  Setup setup(state.range(1));
  const auto x = random_floats(rows * n), weight = random_floats(n);
  std::vector<float> out(x.size());
  for (auto _ : state) rms_norm(setup.context, {x.data(), n, rows, n, weight.data(), 1e-6F, out.data()});
  state.SetItemsProcessed(state.iterations() * rows);
}
BENCHMARK(rms_norm)
    ->ArgNames({"rows", "threads"})
    ->ArgsProduct({{1, 512}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tessera::kernels

BENCHMARK_MAIN();
