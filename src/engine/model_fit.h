#pragma once

#include "engine/meter.h"
#include "tessera/engine.h"

namespace tessera::engine {

/// What Engine::create would find out before it loads anything.
struct ModelFit {
  FitReport report;
  StepBytes step_bytes;
};

/// Of the first device of `options` on which the model fits; its files are read as far as Engine::create reads them
/// before the weights, so errors are the same.
Expected<ModelFit> fit_model(const EngineOptions& options);

}  // namespace tessera::engine
