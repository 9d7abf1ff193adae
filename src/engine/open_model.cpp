#include "engine/open_model.h"

#include "model/weight_profile.h"

namespace tessera::engine {

Expected<model::WeightPlan> OpenedModel::plan_weights(const model::PlanOptions& options) const {
  if (dummy_formats) return model::plan_dummy_weights(config, *dummy_formats, options);
  return model::plan_weights(checkpoint, config, options);
}

Expected<std::unique_ptr<model::Model>> OpenedModel::load(kernels::Backend& backend,
                                                          const model::LoadOptions& options) const {
  if (dummy_formats) return model::Model::dummy(config, *dummy_formats, backend, options.plan);
  return model::Model::load(checkpoint, config, backend, options);
}

Expected<OpenedModel> open_model(const std::string& name, bool dummy_weights) {
  TESSERA_ASSIGN_OR_RETURN(const std::filesystem::path directory, format::find_model(name));
  OpenedModel opened;
  if (dummy_weights) {
    opened.checkpoint = format::Checkpoint::without_weights(directory);
  } else {
    TESSERA_ASSIGN_OR_RETURN(opened.checkpoint, format::Checkpoint::open(directory));
  }
  const std::string path = (directory / "config.json").string();
  TESSERA_ASSIGN_OR_RETURN(const std::optional<std::string> json, opened.checkpoint.read_text("config.json"));
  if (!json) return error(StatusCode::not_found, "{}: no such file; a model directory has one", path);
  TESSERA_ASSIGN_OR_RETURN(opened.config, model::parse_config(*json, path));
  TESSERA_ASSIGN_OR_RETURN(const auto quantization, format::read_quantization_info(opened.checkpoint));
  opened.wants_fp8_kv = quantization.fp8_kv_cache;
  if (dummy_weights) {
    TESSERA_ASSIGN_OR_RETURN(opened.dummy_formats, model::configured_formats(opened.checkpoint, opened.config));
  }
  return opened;
}

}  // namespace tessera::engine
