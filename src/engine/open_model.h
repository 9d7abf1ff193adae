#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "format/checkpoint.h"
#include "kernels/backend.h"
#include "model/config.h"
#include "model/model.h"
#include "model/weight_plan.h"

namespace tessera::engine {

/// A model before its weights are read: of a directory, or of a shape alone.
struct OpenedModel {
  format::Checkpoint checkpoint;
  model::ModelConfig config;
  bool wants_fp8_kv = false;
  /// Formats of weights that are made up; nullopt: they are the checkpoint's.
  std::optional<model::KindFormats> dummy_formats;

  // The one place that tells stored weights from made-up ones.
  [[nodiscard]] Expected<model::WeightPlan> plan_weights(const model::PlanOptions& options = {}) const;
  [[nodiscard]] Expected<std::unique_ptr<model::Model>> load(kernels::Backend& backend,
                                                             const model::LoadOptions& options = {}) const;
};

/// Finds and opens `name` (format::find_model). dummy_weights: its weights are made up, and need not be there.
Expected<OpenedModel> open_model(const std::string& name, bool dummy_weights = false);

}  // namespace tessera::engine
