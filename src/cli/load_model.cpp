#include "cli/load_model.h"

#include "cli/console.h"
#include "cli/progress.h"

namespace tessera::cli {

Expected<LoneModel> load_model(const std::string& name, kernels::Compute compute, int threads, bool quiet) {
  LoneModel loaded;
  TESSERA_ASSIGN_OR_RETURN(loaded.directory, format::find_model(name));
  TESSERA_ASSIGN_OR_RETURN(const auto checkpoint, format::Checkpoint::open(loaded.directory));
  TESSERA_ASSIGN_OR_RETURN(const auto json, checkpoint.read_text("config.json"));
  if (!json) return error(StatusCode::not_found, "{} has no config.json", loaded.directory.string());
  TESSERA_ASSIGN_OR_RETURN(const auto config, model::parse_config(*json, (loaded.directory / "config.json").string()));
  loaded.pool = std::make_unique<ThreadPool>(threads > 0 ? threads : default_thread_count());
  loaded.workspace = std::make_unique<kernels::Workspace>();
  const kernels::Context context{.compute = compute, .pool = loaded.pool.get(), .workspace = loaded.workspace.get()};
  ProgressBar bar("loading", quiet);
  TESSERA_ASSIGN_OR_RETURN(
      loaded.model,
      model::Model::load(checkpoint, config, context, [&](size_t done, size_t total) { bar.update(done, total); }));
  bar.clear();
  if (!quiet)
    note("loaded {} of weights in {}", format_bytes(loaded.model->weight_bytes()), format_seconds(bar.seconds()));
  return loaded;
}

}  // namespace tessera::cli
