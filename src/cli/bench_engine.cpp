#include "cli/bench_engine.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/bench_batch.h"
#include "cli/console.h"
#include "cli/engine_flags.h"
#include "cli/flags.h"
#include "cli/live_gpu.h"
#include "cli/load_model.h"
#include "cli/table.h"
#include "cli/write_file.h"
#include "device/device.h"
#include "device/gpu_sensors.h"
#include "engine/device_choice.h"
#include "engine/draft_policy.h"
#include "engine/fit.h"
#include "engine/meter.h"
#include "kernels/live_gpu.h"
#include "model/cuda_runner.h"
#include "model/synth.h"
#include "model/weight_profile.h"

namespace tessera::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr int kWarmSteps = 8;
constexpr int kPlainSteps = 2;  // that experts are counted in

struct BenchEngineOptions {
  std::string model;  // empty: the preset, dummy weights
  std::string preset = "35b";
  std::string profile = "p1";
  std::string load_format = "auto";
  std::string requantize_projections;
  std::string draft_head = "fp8";
  std::vector<int64_t> batches = {1, 8, 64};
  std::vector<int64_t> contexts = {2048};
  std::vector<int64_t> outputs = {128};
  std::vector<int64_t> drafts = {0};
  std::vector<double> assumed_acceptance;
  std::string routing = "uniform";
  std::string json_file;
  int64_t layers = 0;  // 0: all
  int64_t rows_max = engine::kDefaultGpuBatchedTokens;
  int gpu = 0;
  double read_tb_s = 0;  // 0: measured
  bool fp8_kv = false, no_graphs = false, no_pdl = false;
};

int64_t largest(const std::vector<int64_t>& values) { return *std::max_element(values.begin(), values.end()); }

/// A model on the GPU, and the bytes that its steps read.
struct LoadedEngine {
  std::unique_ptr<kernels::Backend> backend;
  std::unique_ptr<model::Model> model;
  model::WeightTraffic traffic;
  std::string name;
  double load_seconds = 0;
};

Expected<LoadedEngine> load(const BenchEngineOptions& options, kernels::ExpertsRead& experts_read) {
  LoadedEngine bench;
  const bool skewed = options.routing == "skewed";
  const engine::BackendParts parts{.pdl = !options.no_pdl, .skewed_routers = skewed, .experts_read = &experts_read};
  const auto begin = Clock::now();
  model::PlanOptions plan{.with_mtp = largest(options.drafts) > 0,
                          .requantize_projections = !options.requantize_projections.empty()};
  if (options.draft_head == "fp8") plan.draft_head = format::WeightFormat::fp8_e4m3;
  if (options.draft_head == "nvfp4") plan.draft_head = format::WeightFormat::nvfp4;
  OpenedModel opened;
  if (options.model.empty()) {
    TESSERA_ASSIGN_OR_RETURN(model::SynthShape shape, model::synth_preset(options.preset));
    if (options.layers > 0) shape.num_hidden_layers = options.layers;
    TESSERA_ASSIGN_OR_RETURN(opened.config, model::synth_config(shape));
    TESSERA_ASSIGN_OR_RETURN(opened.dummy_formats, model::profile_formats(options.profile));
  } else {
    TESSERA_ASSIGN_OR_RETURN(opened, engine::open_model(options.model, options.load_format == "dummy"));
  }
  TESSERA_ASSIGN_OR_RETURN(bench.backend, engine::open_backend(options.gpu, opened.config, parts));
  ThreadPool pool(default_thread_count());
  TESSERA_ASSIGN_OR_RETURN(bench.model, opened.load(*bench.backend, {.plan = plan, .pool = &pool}));
  bench.name = options.model.empty() ? fmt::format("{} {}", options.preset, options.profile) : options.model;
  if (opened.dummy_formats) bench.name += ", dummy weights";
  if (options.model.empty() && skewed) bench.name += ", skewed routing";
  if (plan.requantize_projections) bench.name += ", projections in FP8";
  if (plan.with_mtp) bench.name += ", draft head " + options.draft_head;
  bench.traffic = bench.model->traffic();
  bench.load_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return bench;
}

/// One row of the grid.
struct Case {
  int64_t batch = 0, context = 0, output = 0;
  int32_t drafts = 0;  // of a sequence, in every step
};

struct Measured {
  double prefill_seconds = 0;
  BenchBatch::Decoded decoded;
  double experts = 0;     // distinct, that a layer read; 0 in dense models
  double step_bytes = 0;  // of those experts, everything else once, KV and states
  device::GpuReading gpu;

  [[nodiscard]] double tokens_per_second() const { return static_cast<double>(decoded.tokens) / decoded.seconds(); }
  [[nodiscard]] double step_seconds() const {
    return decoded.seconds() / static_cast<double>(decoded.step_seconds.size());
  }
  /// Of one sequence.
  [[nodiscard]] double tokens_of_a_step(const Case& of) const {
    return static_cast<double>(decoded.tokens) / static_cast<double>(of.batch) /
           static_cast<double>(decoded.step_seconds.size());
  }
  /// `share` of the steps took no longer.
  [[nodiscard]] double percentile_ms(double share) const {
    std::vector<double> sorted = decoded.step_seconds;
    std::sort(sorted.begin(), sorted.end());
    const auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::max<size_t>(at, 1) - 1] * 1e3;
  }
};

/// What measuring needs of a run, from the first row to the last.
class EngineBench {
 public:
  EngineBench(const BenchEngineOptions& options, LoadedEngine bench, kernels::ExpertsRead& experts_read,
              device::GpuSensors sensors)
      : options_(options), bench_(std::move(bench)), experts_read_(experts_read), sensors_(std::move(sensors)) {}

  /// Takes caches and a runner for the largest of all cases.
  Status prepare();
  Expected<Measured> measure(const Case& of);

  [[nodiscard]] const LoadedEngine& bench() const { return bench_; }

 private:
  const BenchEngineOptions& options_;
  LoadedEngine bench_;
  kernels::ExpertsRead& experts_read_;
  device::GpuSensors sensors_;
  engine::StepBytes step_bytes_;
  std::unique_ptr<kernels::Cache> cache_;
  std::unique_ptr<model::StepRunner> runner_;
  std::vector<std::vector<int32_t>> blocks_;
};

Status EngineBench::prepare() {
  const model::Model& model = *bench_.model;
  const int64_t most = largest(options_.batches);
  const auto drafts_max = static_cast<int>(largest(options_.drafts));
  const int64_t tokens_max =
      largest(options_.contexts) + (kWarmSteps + largest(options_.outputs)) * (1 + drafts_max) + kPlainSteps;
  const int64_t sequence_blocks = kernels::blocks_for(tokens_max);
  const DType kv_dtype = options_.fp8_kv ? DType::f8_e4m3 : DType::bf16;
  TESSERA_ASSIGN_OR_RETURN(cache_, model.make_cache(kv_dtype, static_cast<int>(most * sequence_blocks),
                                                    static_cast<int>(most), /*with_mtp=*/drafts_max > 0, drafts_max));
  const int64_t rows = most * (1 + drafts_max);
  TESSERA_ASSIGN_OR_RETURN(
      runner_,
      model::make_cuda_runner({.model = &model,
                               .cache = cache_.get(),
                               .gpu = options_.gpu,
                               .known_ids = model.config().vocab_size,
                               .rows_max = static_cast<int32_t>(std::max(options_.rows_max, rows)),
                               .sequences_max = static_cast<int32_t>(most),
                               .sequence_blocks_max = static_cast<int32_t>(sequence_blocks),
                               .samples_max = static_cast<int32_t>(engine::logit_rows_max(static_cast<int>(rows))),
                               .drafts_max = drafts_max,
                               .assumed_acceptance = options_.assumed_acceptance,
                               .graphs = !options_.no_graphs,
                               .pdl = !options_.no_pdl}));
  for (bool more = true; more;) {  // as the engine does while it is idle
    TESSERA_ASSIGN_OR_RETURN(more, runner_->prepare_ahead());
  }
  blocks_.resize(static_cast<size_t>(most));
  for (size_t s = 0; s < blocks_.size(); ++s) {
    blocks_[s].resize(static_cast<size_t>(sequence_blocks));
    std::iota(blocks_[s].begin(), blocks_[s].end(), static_cast<int32_t>(static_cast<int64_t>(s) * sequence_blocks));
  }
  step_bytes_ = {.weights = bench_.traffic, .cache = bench_.backend->cache_bytes(cache_->shape())};
  return {};
}

Expected<Measured> EngineBench::measure(const Case& of) {
  Measured measured;
  BenchBatch sequences(*runner_, of.batch, bench_.model->config().vocab_size, blocks_);
  TESSERA_ASSIGN_OR_RETURN(measured.prefill_seconds, sequences.prefill(of.context, options_.rows_max, of.drafts));
  TESSERA_RETURN_IF_ERROR(sequences.decode(kWarmSteps, step_bytes_).status());
  (void)sensors_.read();  // power is the mean from here on
  TESSERA_ASSIGN_OR_RETURN(measured.decoded, sequences.decode(of.output, step_bytes_));
  measured.gpu = sensors_.read();
  const model::WeightTraffic& weights = bench_.traffic;
  measured.step_bytes = weights.fixed_bytes + measured.decoded.cache_bytes;
  if (weights.experts == 0) return measured;
  TESSERA_ASSIGN_OR_RETURN(measured.experts, sequences.count_experts(kPlainSteps, experts_read_));
  measured.step_bytes += weights.routed_bytes * measured.experts / weights.experts;
  return measured;
}

std::string clocks(const device::GpuReading& gpu) {
  const auto mhz = [](const std::optional<double>& hertz) {
    return hertz ? fmt::format("{:.0f}", *hertz * 1e-6) : std::string("-");
  };
  return mhz(gpu.sm_clock_hertz) + "/" + mhz(gpu.memory_clock_hertz);
}

std::vector<std::string> table_row(const Case& of, const Measured& m, double bytes_per_second) {
  return {std::to_string(of.batch),
          std::to_string(of.context),
          std::to_string(of.output),
          of.drafts > 0 ? fmt::format("{}, {:.2f} hold", of.drafts, m.tokens_of_a_step(of) - 1) : "-",
          fmt::format("{:.0f}", static_cast<double>(of.batch * of.context) / m.prefill_seconds),
          fmt::format("{:.0f}", m.tokens_per_second()),
          fmt::format("{:.3f}", m.step_seconds() * 1e3),
          fmt::format("{:.3f}", m.percentile_ms(0.5)),
          fmt::format("{:.3f}", m.percentile_ms(0.99)),
          m.experts > 0 ? fmt::format("{:.1f}", m.experts) : "-",
          fmt::format("{:.2f}", m.step_bytes / 1e9),
          fmt::format("{:.0f} %", 100 * m.step_bytes / m.step_seconds() / bytes_per_second),
          clocks(m.gpu),
          m.gpu.power_watts ? fmt::format("{:.0f}", *m.gpu.power_watts) : "-"};
}

Json to_json(const Case& of, const Measured& m, const model::WeightTraffic& weights, double bytes_per_second) {
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json row = {{"batch", of.batch},
              {"context", of.context},
              {"output", of.output},
              {"prefill_tokens_per_second", static_cast<double>(of.batch * of.context) / m.prefill_seconds},
              {"drafts", of.drafts},
              {"tokens_of_a_sequence_per_step", m.tokens_of_a_step(of)},
              {"decode_tokens_per_second", m.tokens_per_second()},
              {"step_ms_mean", m.step_seconds() * 1e3},
              {"step_ms_p50", m.percentile_ms(0.5)},
              {"step_ms_p99", m.percentile_ms(0.99)},
              {"step_bytes", m.step_bytes},
              {"read_fraction", m.step_bytes / m.step_seconds() / bytes_per_second},
              {"sm_clock_hertz", or_null(m.gpu.sm_clock_hertz)},
              {"memory_clock_hertz", or_null(m.gpu.memory_clock_hertz)},
              {"power_watts", or_null(m.gpu.power_watts)}};
  if (weights.experts > 0) {
    row["experts_read_per_layer"] = m.experts;
    row["experts_of_even_routing"] = weights.distinct_experts(of.batch);
  }
  return row;
}

void print_head(const BenchEngineOptions& options, const plan::DeviceFacts& facts, const LoadedEngine& bench,
                double bytes_per_second) {
  print("tessera {} bench engine: {}, {}, {} layers, {} KV, steps of {} rows{}{}; loaded in {:.1f} s\n",
        TESSERA_VERSION, facts.name, bench.name, bench.model->config().num_layers(), options.fp8_kv ? "FP8" : "BF16",
        options.rows_max, options.no_graphs ? ", no graphs" : "", options.no_pdl ? ", no PDL" : "", bench.load_seconds);
  print(
      "prefill and decode are timed apart; experts: distinct ones that a layer read in a step after the timed ones\n"
      "bytes of a step: weights (those experts), KV, states; read rate {:.2f} TB/s {}; MHz: SM/memory\n",
      bytes_per_second / 1e12, options.read_tb_s > 0 ? "(given)" : "(measured here)");
  if (!options.assumed_acceptance.empty()) {
    tessera::cli::print("which drafts hold is assumed, not computed: shares {} by position\n",
                        fmt::join(options.assumed_acceptance, ", "));
  }
  if (largest(options.drafts) > 0) print("passes of the MTP head are in the time, and not in the bytes\n");
  print("\n");
}

Status bench_engine(const BenchEngineOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(const auto facts, kernels::live_gpu(options.gpu));
  TESSERA_ASSIGN_OR_RETURN(const auto gpus, device::list_gpus());
  double bytes_per_second = options.read_tb_s * 1e12;
  if (options.read_tb_s == 0) {
    TESSERA_ASSIGN_OR_RETURN(bytes_per_second, device::measure_read_rate(options.gpu, kMeasuredReadBytes));
  }
  kernels::ExpertsRead experts_read;
  TESSERA_ASSIGN_OR_RETURN(LoadedEngine loaded, load(options, experts_read));
  print_head(options, facts, loaded, bytes_per_second);
  EngineBench bench(options, std::move(loaded), experts_read,
                    device::GpuSensors(gpus[static_cast<size_t>(options.gpu)].pci_bus_id));
  TESSERA_RETURN_IF_ERROR(bench.prepare());

  std::vector<std::vector<std::string>> rows = {{"batch", "context", "output", "drafts", "prefill tok/s",
                                                 "decode tok/s", "ms", "p50", "p99", "experts", "GB", "of read rate",
                                                 "MHz", "W"}};
  Json json = {{"version", TESSERA_VERSION},
               {"gpu", facts.name},
               {"model", bench.bench().name},
               {"routing", options.routing},
               {"layers", bench.bench().model->config().num_layers()},
               {"read_bytes_per_second", bytes_per_second},
               {"rows", Json::array()}};
  for (const int64_t context : options.contexts) {
    for (const int64_t batch : options.batches) {
      for (const int64_t output : options.outputs) {
        for (const int64_t drafts : options.drafts) {
          const Case of{.batch = batch, .context = context, .output = output, .drafts = static_cast<int32_t>(drafts)};
          TESSERA_ASSIGN_OR_RETURN(const Measured measured, bench.measure(of));
          rows.push_back(table_row(of, measured, bytes_per_second));
          json["rows"].push_back(to_json(of, measured, bench.bench().traffic, bytes_per_second));
        }
      }
    }
  }
  print("{}\n", format_table(">>>>>>>>>>>>>>", rows));
  return options.json_file.empty()
             ? Status()
             : write_file(options.json_file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void add_model_flags(CLI::App& command, BenchEngineOptions& options) {
  const char* group = "Model";
  CLI::Option* model =
      command.add_option("MODEL", options.model, "A model directory; without one, dummy weights of --preset");
  command.add_option("--preset", options.preset, "Shape: 397b, 122b, 35b (default), 27b or tiny")
      ->type_name("NAME")
      ->check(one_of({"397b", "122b", "35b", "27b", "tiny"}))
      ->excludes(model)
      ->group(group);
  command.add_option("--profile", options.profile, "Its formats: p1 (default), v2, p6; see docs/benchmarks/gpu.md")
      ->type_name("P")
      ->check(one_of({"p1", "v2", "p6"}))
      ->excludes(model)
      ->group(group);
  command.add_option("--layers", options.layers, "Layers, instead of the preset's")
      ->type_name("N")
      ->check(whole(1, 1000))
      ->excludes(model)
      ->group(group);
  command.add_option("--load-format", options.load_format, "auto (default), or dummy: random weights like MODEL's")
      ->type_name("F")
      ->check(one_of({"auto", "dummy"}))
      ->group(group);
  command
      .add_option("--routing", options.routing,
                  "Of dummy weights: uniform (default), or skewed: some experts are chosen more often than others")
      ->type_name("R")
      ->check(one_of({"uniform", "skewed"}))
      ->group(group);
  add_requantize_flag(command, options.requantize_projections, group);
}

}  // namespace

void add_bench_engine(CLI::App& bench, Action& action) {
  auto options = std::make_shared<BenchEngineOptions>();
  CLI::App* command = bench.add_subcommand("engine", "Time whole steps of a model on a GPU, without HTTP");
  add_model_flags(*command, *options);
  command->add_option("--batch", options->batches, "Sequences at once (default 1,8,64)")
      ->type_name("N,N,...")
      ->delimiter(',')
      ->check(whole(1, engine::kMaxSeqsLimit));
  command->add_option("--context", options->contexts, "Tokens of each before the decode steps (default 2048)")
      ->type_name("N,N,...")
      ->delimiter(',')
      ->check(whole(1, int64_t{1} << 20));
  command->add_option("--output", options->outputs, "Tokens of each that are decoded and timed (default 128)")
      ->type_name("N,N,...")
      ->delimiter(',')
      ->check(whole(1, 100000));
  command
      ->add_option("--drafts", options->drafts,
                   "Drafts of the MTP head for each sequence, in every step (default 0: none)")
      ->type_name("N,N,...")
      ->delimiter(',')
      ->check(whole(0, kernels::kDraftsMax));
  command
      ->add_option("--draft-head", options->draft_head,
                   "What drafts are drawn from: a copy of a BF16 lm_head in fp8 (default) or nvfp4, or full: itself")
      ->type_name("F")
      ->check(one_of({"full", "fp8", "nvfp4"}));
  command
      ->add_option("--assume-acceptance", options->assumed_acceptance,
                   "Shares of steps in which the first draft holds, the first two, ..., whatever the weights say")
      ->type_name("X,X,...")
      ->delimiter(',')
      ->check(number(0, 1));
  command
      ->add_option("--max-num-batched-tokens", options->rows_max,
                   fmt::format("Rows of a prefill step (default {})", options->rows_max))
      ->type_name("N")
      ->check(whole(kernels::kBlockTokens, engine::kBatchedTokensLimit));
  command->add_option("--json", options->json_file, "Also writes everything to this file")->type_name("FILE");
  add_gpu_flag(*command, options->gpu);
  command->add_option("--read-tb-s", options->read_tb_s, "Read rate in TB/s, instead of the measured one")
      ->type_name("X")
      ->check(number(0.01, 100));
  command->add_flag("--fp8-kv", options->fp8_kv, "KV cache in FP8");
  command->add_flag("--no-cuda-graphs", options->no_graphs, "Launch every kernel by itself");
  command->add_flag("--no-pdl", options->no_pdl, "No programmatic dependent launch");
  command->callback([options, &action] {
    if (options->routing == "skewed" && !options->model.empty()) {
      throw CLI::ValidationError("--routing", "skewed is for dummy weights; MODEL's routers choose as they choose");
    }
    if (!std::ranges::is_sorted(options->assumed_acceptance, std::ranges::greater())) {
      throw CLI::ValidationError("--assume-acceptance",
                                 "shares cannot grow: the first two drafts hold where the first does");
    }
    action = [options] { return bench_engine(*options); };
  });
}

}  // namespace tessera::cli
