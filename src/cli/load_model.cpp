#include "cli/load_model.h"

#include <algorithm>

#include "cli/console.h"
#include "cli/engine_flags.h"
#include "cli/flags.h"
#include "cli/progress.h"
#include "engine/device_choice.h"
#include "engine/precision.h"

namespace tessera::cli {
namespace {

/// Of one step: 270 rows of a vocabulary of 248,320.
constexpr int64_t kLogitBytesMax = int64_t{256} << 20;

}  // namespace

int64_t rows_of_logits_max(const model::ModelConfig& config) {
  const int64_t rows = kLogitBytesMax / (config.vocab_size * static_cast<int64_t>(sizeof(float)));
  return std::clamp<int64_t>(rows / kernels::kBlockTokens * kernels::kBlockTokens, kernels::kBlockTokens, 512);
}

void add_device_flags(CLI::App& command, LoneModelOptions& options, const char* group) {
  add_device_flag(command, options.device, group);
  command.add_option("--compute", options.compute, "bf16 (default), or fp32: no rounding between operations")
      ->type_name("C")
      ->check(one_of({"bf16", "fp32"}))
      ->group(group);
  command
      .add_option("--kv-cache-dtype", options.kv_cache_dtype,
                  "auto (default: as the checkpoint says), bfloat16, fp8; only auto with --compute fp32")
      ->type_name("D")
      ->check(one_of({"auto", "bfloat16", "fp8"}))
      ->group(group);
}

namespace {

/// Weights, one sequence and the logits of a step must fit in what is free; so must weights and what they are staged
/// in.
Status check_memory(const OpenedModel& opened, const LoneModelOptions& options, const model::WeightPlan& plan,
                    DType kv_dtype, const engine::Device& device, const kernels::Backend& backend) {
  const size_t weights = plan.placed_bytes(backend), staging = plan.staging_bytes(backend);
  const auto blocks = static_cast<size_t>(kernels::blocks_for(options.tokens_max));
  const auto cache =
      backend.cache_bytes(model::cache_shape(opened.config, kv_dtype, /*with_mtp=*/false, backend.rank()));
  const size_t sequence = blocks * cache.kv_block + cache.state_slot;
  const size_t logits = static_cast<size_t>(options.rows_max * opened.config.vocab_size) * sizeof(float);
  TESSERA_ASSIGN_OR_RETURN(const size_t available, engine::available_bytes(device, options.gpu_memory_utilization));
  if (available == 0 || weights + std::max(staging, sequence + logits) <= available) return {};
  if (weights + staging > available) {
    return error(
        StatusCode::resource_exhausted,
        "the model does not fit: {} are free; needed are {} for weights and, while they are loaded, {} for the "
        "largest matrix as it is stored; use a smaller model or free memory",
        format_bytes(available), format_bytes(weights), format_bytes(staging));
  }
  return error(StatusCode::resource_exhausted,
               "the model does not fit: {} are free; needed are {} for weights, {} for a context of {} tokens and {} "
               "for logits; lower --max-model-len or --prefill-chunk, or free memory",
               format_bytes(available), format_bytes(weights), format_bytes(sequence), options.tokens_max,
               format_bytes(logits));
}

Expected<LoneModel> load_on(const engine::Device& device, const OpenedModel& opened, const engine::Precision& precision,
                            const LoneModelOptions& options) {
  const DType kv_dtype = precision.kv_dtype_of(opened);
  LoneModel loaded;
  loaded.device = engine::device_name(device);
  loaded.kv_cache_dtype = engine::kv_dtype_name(kv_dtype);
  loaded.pool = std::make_unique<ThreadPool>(options.threads > 0 ? options.threads : default_thread_count());
  loaded.workspace = std::make_unique<kernels::Workspace>();
  TESSERA_ASSIGN_OR_RETURN(loaded.backend, engine::open_backend(device, opened.config,
                                                                {.compute = precision.compute,
                                                                 .pool = loaded.pool.get(),
                                                                 .workspace = loaded.workspace.get()}));
  const model::PlanOptions plan{.requantize_projections = !options.requantize_projections.empty()};
  TESSERA_ASSIGN_OR_RETURN(const auto weights, opened.plan_weights(plan));
  TESSERA_RETURN_IF_ERROR(check_memory(opened, options, weights, kv_dtype, device, *loaded.backend));
  if (plan.requantize_projections && !options.quiet) {
    const auto [matrices, stored_bytes] = weights.requantized();
    note("{}", requantized_text(matrices, stored_bytes));
  }
  ProgressBar bar("loading", options.quiet);
  bar.update(0, opened.checkpoint.tensor_bytes());
  const auto show = [&bar](size_t done, size_t total) { bar.update(done, total); };
  TESSERA_ASSIGN_OR_RETURN(loaded.model,
                           opened.load(*loaded.backend, {.plan = plan, .progress = show, .pool = loaded.pool.get()}));
  bar.clear();
  TESSERA_ASSIGN_OR_RETURN(loaded.sequence,
                           model::LoneSequence::create(*loaded.model, kv_dtype, options.tokens_max, options.rows_max));
  if (device) TESSERA_RETURN_IF_ERROR(loaded.sequence->try_step());
  if (!options.quiet) {
    note("loaded {} of weights in {}", format_bytes(loaded.backend->weight_bytes()), format_seconds(bar.seconds()));
  }
  return loaded;
}

}  // namespace

Expected<LoneModel> load_model(const OpenedModel& opened, const LoneModelOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(const auto precision, engine::parse_precision(options.compute, options.kv_cache_dtype));
  TESSERA_ASSIGN_OR_RETURN(const auto devices, engine::choose_devices(options.device, precision.needs_cpu()));
  return engine::on_first_that_can(
      devices, [&](const engine::Device& device) { return load_on(device, opened, precision, options); });
}

}  // namespace tessera::cli
