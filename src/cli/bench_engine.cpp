#include "cli/bench_engine.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <numeric>
#include <random>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/load_model.h"
#include "cli/table.h"
#include "device/device.h"
#include "engine/device_choice.h"
#include "engine/fit.h"
#include "kernels/live_gpu.h"
#include "model/cuda_runner.h"
#include "model/inspect.h"
#include "model/synth.h"

namespace tessera::cli {
namespace {

using Clock = std::chrono::steady_clock;
using format::WeightFormat;
using kernels::RowClass;
using model::TensorKind;

constexpr size_t kReadBytes = size_t{4} << 30;
constexpr int kWarmSteps = 8;

struct Options {
  std::string model;  // empty: the preset, dummy weights
  std::string preset = "35b";
  std::string profile = "p1";
  std::vector<int64_t> batches = {1, 8, 64};
  std::vector<int64_t> contexts = {2048};
  int64_t steps = 64;
  int64_t layers = 0;  // 0: all
  int64_t rows_max = engine::kDefaultGpuBatchedTokens;
  int gpu = 0;
  double read_tb_s = 0;  // 0: measured
  bool fp8_kv = false, no_graphs = false, no_pdl = false;
};

/// Formats of the checkpoints that NVIDIA publishes: docs/benchmarks/gpu.md.
model::KindFormats formats_of(const std::string& profile) {
  model::KindFormats formats = {{TensorKind::routed_expert, WeightFormat::nvfp4},
                                {TensorKind::mlp, WeightFormat::nvfp4}};
  if (profile == "p1") return formats;
  for (const TensorKind kind : {TensorKind::attention, TensorKind::delta_net, TensorKind::shared_expert}) {
    formats[kind] = WeightFormat::fp8_e4m3;
  }
  if (profile == "v2") return formats;
  formats[TensorKind::shared_expert] = formats[TensorKind::lm_head] = WeightFormat::nvfp4;
  return formats;
}

/// A model on the GPU, and the bytes that its steps read.
struct Bench {
  std::unique_ptr<kernels::Backend> backend;
  std::unique_ptr<model::Model> model;
  model::WeightTraffic traffic;
  std::string name;
  double load_seconds = 0;
};

Expected<Bench> load(const Options& options) {
  Bench bench;
  const auto begin = Clock::now();
  if (options.model.empty()) {
    TESSERA_ASSIGN_OR_RETURN(model::SynthShape shape, model::synth_preset(options.preset));
    if (options.layers > 0) shape.num_hidden_layers = options.layers;
    shape.mtp_num_hidden_layers = 0;
    TESSERA_ASSIGN_OR_RETURN(const auto config, model::synth_config(shape));
    TESSERA_ASSIGN_OR_RETURN(bench.backend, engine::open_backend(options.gpu, config, {.pdl = !options.no_pdl}));
    TESSERA_ASSIGN_OR_RETURN(bench.model, model::Model::dummy(config, formats_of(options.profile), *bench.backend));
    bench.traffic = model::weight_traffic(config, formats_of(options.profile));
    bench.name = fmt::format("{} {}, dummy weights", options.preset, options.profile);
  } else {
    TESSERA_ASSIGN_OR_RETURN(const OpenedModel opened, open_model(options.model));
    TESSERA_ASSIGN_OR_RETURN(bench.backend, engine::open_backend(options.gpu, opened.config, {.pdl = !options.no_pdl}));
    TESSERA_ASSIGN_OR_RETURN(bench.model, model::Model::load(opened.checkpoint, opened.config, *bench.backend));
    TESSERA_ASSIGN_OR_RETURN(const auto found, model::inspect_checkpoint(opened.checkpoint));
    bench.traffic = found.traffic;
    bench.name = options.model;
  }
  bench.load_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return bench;
}

/// Sequences of a batch, all of one length, driven as the engine drives its own: a step ahead.
class Batch {
 public:
  Batch(model::StepRunner& runner, int64_t sequences, int64_t vocab, const std::vector<std::vector<int32_t>>& blocks)
      : runner_(runner), vocab_(vocab), blocks_(blocks), lengths_(static_cast<size_t>(sequences)) {
    params_.temperature = 0.6F;
    params_.top_k = 20;
    params_.top_p = 0.95F;
  }

  /// Reads prompts of `tokens` tokens, `rows_max` rows a step; returns the seconds.
  Expected<double> prefill(int64_t tokens, int64_t rows_max) {
    const auto begin = Clock::now();
    std::fill(lengths_.begin(), lengths_.end(), 0);
    size_t sequence = 0;
    while (sequence < lengths_.size()) {
      model::Step step;
      int64_t room = rows_max;
      while (sequence < lengths_.size() && room > 0) {
        int64_t rows = std::min(room, tokens - lengths_[sequence]);
        const bool last = lengths_[sequence] + rows == tokens;
        if (!last) rows -= rows % kernels::kBlockTokens;
        if (rows == 0) break;
        add_rows(step, sequence, rows, RowClass::prefill, last);
        room -= rows;
        if (last) ++sequence;
      }
      TESSERA_RETURN_IF_ERROR(run(step));
    }
    TESSERA_RETURN_IF_ERROR(drain());
    return seconds_since(begin);
  }

  Expected<double> decode(int64_t steps) {
    const auto begin = Clock::now();
    for (int64_t i = 0; i < steps; ++i) {
      model::Step step;
      for (size_t s = 0; s < lengths_.size(); ++s) add_rows(step, s, 1, RowClass::decode, true);
      TESSERA_RETURN_IF_ERROR(run(step));
    }
    TESSERA_RETURN_IF_ERROR(drain());
    return seconds_since(begin);
  }

 private:
  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  void add_rows(model::Step& step, size_t sequence, int64_t rows, RowClass row_class, bool draws) {
    const auto first_row = static_cast<int32_t>(step.tokens.size());
    step.sequences.push_back({.first_row = first_row,
                              .rows = static_cast<int32_t>(rows),
                              .first_position = static_cast<int32_t>(lengths_[sequence]),
                              .row_class = row_class,
                              .state_slot = static_cast<int32_t>(sequence),
                              .block_table = blocks_[sequence]});
    for (int64_t i = 0; i < rows; ++i) {
      step.tokens.push_back(row_class == RowClass::decode
                                ? model::kLastDrawn
                                : static_cast<int32_t>(random_() % static_cast<uint64_t>(vocab_)));
    }
    lengths_[sequence] += rows;
    if (!draws) return;
    step.samples.push_back({.row = first_row + static_cast<int32_t>(rows) - 1,
                            .slot = static_cast<int32_t>(sequence),
                            .params = &params_,
                            .noise = {.key = sequence, .position = static_cast<uint64_t>(lengths_[sequence])}});
  }

  Status run(const model::Step& step) {
    TESSERA_RETURN_IF_ERROR(runner_.submit(step));
    if (++under_way_ > runner_.steps_ahead()) return collect();
    return {};
  }
  Status collect() {
    --under_way_;
    TESSERA_ASSIGN_OR_RETURN(const auto results, runner_.collect());
    for (const kernels::SampleResult& result : results) TESSERA_RETURN_IF_ERROR(result.status);
    return {};
  }
  Status drain() {
    while (under_way_ > 0) TESSERA_RETURN_IF_ERROR(collect());
    return {};
  }

  model::StepRunner& runner_;
  int64_t vocab_;
  const std::vector<std::vector<int32_t>>& blocks_;
  std::vector<int64_t> lengths_;
  kernels::SampleParams params_;
  std::mt19937_64 random_{1};
  int under_way_ = 0;
};

Status bench_engine(const Options& options) {
  TESSERA_ASSIGN_OR_RETURN(const auto facts, kernels::live_gpu(options.gpu));
  double bytes_per_second = options.read_tb_s * 1e12;
  if (options.read_tb_s == 0) {
    TESSERA_ASSIGN_OR_RETURN(bytes_per_second, device::measure_read_rate(options.gpu, kReadBytes));
  }
  TESSERA_ASSIGN_OR_RETURN(const Bench bench, load(options));
  const model::ModelConfig& config = bench.model->config();
  const int64_t most = *std::max_element(options.batches.begin(), options.batches.end());
  const int64_t longest = *std::max_element(options.contexts.begin(), options.contexts.end());
  const int64_t tokens_max = longest + kWarmSteps + options.steps;
  const int64_t sequence_blocks = kernels::blocks_for(tokens_max);
  const DType kv_dtype = options.fp8_kv ? DType::f8_e4m3 : DType::bf16;
  TESSERA_ASSIGN_OR_RETURN(const auto cache, bench.model->make_cache(kv_dtype, static_cast<int>(most * sequence_blocks),
                                                                     static_cast<int>(most), /*with_mtp=*/false));
  TESSERA_ASSIGN_OR_RETURN(
      const auto runner,
      model::make_cuda_runner({.model = bench.model.get(),
                               .cache = cache.get(),
                               .gpu = options.gpu,
                               .known_ids = config.vocab_size,
                               .rows_max = static_cast<int32_t>(std::max(options.rows_max, most)),
                               .sequence_blocks_max = static_cast<int32_t>(sequence_blocks),
                               .samples_max = static_cast<int32_t>(engine::logit_rows_max(static_cast<int>(most))),
                               .graphs = !options.no_graphs,
                               .pdl = !options.no_pdl}));
  std::vector<std::vector<int32_t>> blocks(static_cast<size_t>(most));
  for (size_t s = 0; s < blocks.size(); ++s) {
    blocks[s].resize(static_cast<size_t>(sequence_blocks));
    std::iota(blocks[s].begin(), blocks[s].end(), static_cast<int32_t>(static_cast<int64_t>(s) * sequence_blocks));
  }

  print("tessera {} bench engine: {}, {}, {} layers, {} KV, steps of {} rows{}{}; loaded in {:.1f} s\n",
        TESSERA_VERSION, facts.name, bench.name, config.num_layers(), options.fp8_kv ? "FP8" : "BF16", options.rows_max,
        options.no_graphs ? ", no graphs" : "", options.no_pdl ? ", no PDL" : "", bench.load_seconds);
  print(
      "bytes of a step: weights (experts of independent uniform routing), KV and states; read rate {:.2f} TB/s {}\n\n",
      bytes_per_second / 1e12, options.read_tb_s > 0 ? "(given)" : "(measured here)");
  std::vector<std::vector<std::string>> rows = {
      {"batch", "context", "prefill tok/s", "decode tok/s", "ms a step", "GB a step", "of the read rate"}};
  const kernels::CacheBytes cache_bytes = bench.backend->cache_bytes(cache->shape());
  for (const int64_t context : options.contexts) {
    for (const int64_t batch : options.batches) {
      Batch sequences(*runner, batch, config.vocab_size, blocks);
      TESSERA_ASSIGN_OR_RETURN(const double read, sequences.prefill(context, options.rows_max));
      TESSERA_RETURN_IF_ERROR(sequences.decode(kWarmSteps).status());
      TESSERA_ASSIGN_OR_RETURN(const double decoded, sequences.decode(options.steps));
      const double step_seconds = decoded / static_cast<double>(options.steps);
      const double kv =
          static_cast<double>(context) / kernels::kBlockTokens * static_cast<double>(cache_bytes.kv_block);
      const double bytes = bench.traffic.bytes_per_step(batch) +
                           static_cast<double>(batch) * (kv + 2.0 * static_cast<double>(cache_bytes.state_slot));
      rows.push_back({std::to_string(batch), std::to_string(context),
                      fmt::format("{:.0f}", static_cast<double>(batch * context) / read),
                      fmt::format("{:.0f}", static_cast<double>(batch) / step_seconds),
                      fmt::format("{:.3f}", step_seconds * 1e3), fmt::format("{:.2f}", bytes / 1e9),
                      fmt::format("{:.0f} %", 100 * bytes / step_seconds / bytes_per_second)});
    }
  }
  print("{}\n", format_table(">>>>>>>", rows));
  return {};
}

}  // namespace

void add_bench_engine(CLI::App& bench, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = bench.add_subcommand("engine", "Time whole steps of a model on a GPU, without HTTP");
  command->add_option("MODEL", options->model, "A model directory; without one, dummy weights of --preset");
  command->add_option("--preset", options->preset, "Shape: 397b, 122b, 35b (default), 27b or tiny");
  command->add_option("--profile", options->profile, "Formats: p1 (default), v2, p6; see docs/benchmarks/gpu.md")
      ->check(one_of({"p1", "v2", "p6"}));
  command->add_option("--batch", options->batches, "Sequences at once")
      ->delimiter(',')
      ->check(whole(1, engine::kMaxSeqsLimit))
      ->capture_default_str();
  command->add_option("--context", options->contexts, "Tokens of each before the decode steps")
      ->delimiter(',')
      ->check(whole(1, int64_t{1} << 20))
      ->capture_default_str();
  command->add_option("--steps", options->steps, "Decode steps that are timed")
      ->check(whole(1, 100000))
      ->capture_default_str();
  command->add_option("--layers", options->layers, "Layers, instead of the preset's")->check(whole(1, 1000));
  command->add_option("--max-num-batched-tokens", options->rows_max, "Rows of a prefill step")
      ->check(whole(kernels::kBlockTokens, engine::kBatchedTokensLimit))
      ->capture_default_str();
  command->add_option("--gpu", options->gpu, "Which GPU, counted from 0")->capture_default_str();
  command->add_option("--read-tb-s", options->read_tb_s, "Read rate, instead of the measured one")
      ->check(number(0.01, 100));
  command->add_flag("--fp8-kv", options->fp8_kv, "KV cache in FP8");
  command->add_flag("--no-cuda-graphs", options->no_graphs, "Launch every kernel by itself");
  command->add_flag("--no-pdl", options->no_pdl, "No programmatic dependent launch");
  command->callback([options, &action] { action = [options] { return bench_engine(*options); }; });
}

}  // namespace tessera::cli
