#include "cli/load_model.h"

#include "cli/console.h"
#include "cli/engine_flags.h"
#include "cli/progress.h"
#include "kernels/cpu/backend.h"

namespace tessera::cli {

namespace {

Expected<OpenedModel> read_config(format::Checkpoint checkpoint) {
  OpenedModel opened;
  opened.checkpoint = std::move(checkpoint);
  const std::string path = (opened.checkpoint.directory() / "config.json").string();
  TESSERA_ASSIGN_OR_RETURN(const auto json, opened.checkpoint.read_text("config.json"));
  if (!json) return error(StatusCode::not_found, "{}: no such file; a model directory has one", path);
  TESSERA_ASSIGN_OR_RETURN(opened.config, model::parse_config(*json, path));
  TESSERA_ASSIGN_OR_RETURN(const auto quantization, format::read_quantization_info(opened.checkpoint));
  opened.wants_fp8_kv = quantization.fp8_kv_cache;
  return opened;
}

}  // namespace

Expected<OpenedModel> open_model(const std::string& name) {
  TESSERA_ASSIGN_OR_RETURN(const auto directory, format::find_model(name));
  TESSERA_ASSIGN_OR_RETURN(auto checkpoint, format::Checkpoint::open(directory));
  return read_config(std::move(checkpoint));
}

Expected<OpenedModel> open_without_weights(const std::string& name) {
  TESSERA_ASSIGN_OR_RETURN(const auto directory, format::find_model(name));
  return read_config(format::Checkpoint::without_weights(directory));
}

Expected<LoneModel> load_model(const OpenedModel& opened, kernels::Compute compute, int threads, bool quiet,
                               const model::PlanOptions& plan) {
  LoneModel loaded;
  loaded.pool = std::make_unique<ThreadPool>(threads > 0 ? threads : default_thread_count());
  loaded.workspace = std::make_unique<kernels::Workspace>();
  loaded.backend =
      kernels::cpu::make_backend({.compute = compute, .pool = loaded.pool.get(), .workspace = loaded.workspace.get()});
  if (plan.requantize_projections && !quiet) {
    TESSERA_ASSIGN_OR_RETURN(const auto weights, model::plan_weights(opened.checkpoint, opened.config, plan));
    const auto [matrices, stored_bytes] = weights.requantized();
    note("{}", requantized_text(matrices, stored_bytes));
  }
  ProgressBar bar("loading", quiet);
  bar.update(0, opened.checkpoint.tensor_bytes());
  const auto show = [&bar](size_t done, size_t total) { bar.update(done, total); };
  TESSERA_ASSIGN_OR_RETURN(loaded.model, model::Model::load(opened.checkpoint, opened.config, *loaded.backend,
                                                            {.plan = plan, .progress = show}));
  bar.clear();
  if (!quiet) {
    note("loaded {} of weights in {}", format_bytes(loaded.backend->weight_bytes()), format_seconds(bar.seconds()));
  }
  return loaded;
}

}  // namespace tessera::cli
