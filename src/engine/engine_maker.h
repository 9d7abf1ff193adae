#pragma once

#include <memory>

#include "engine/step_loop.h"
#include "model/runner.h"
#include "tessera/engine.h"

namespace tessera::engine {

/// An engine over any runner, with token ids alone: how what stands above an engine is shown devices that fail.
struct EngineMaker {
  /// parts.runner is `runner`.
  static Engine make(std::unique_ptr<model::StepRunner> runner, StepLoopParts parts);
};

}  // namespace tessera::engine
