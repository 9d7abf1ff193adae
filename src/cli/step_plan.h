#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "kernels/step_plan.h"
#include "model/model.h"
#include "plan/device_facts.h"
#include "plan/tuning_cache.h"

// What the steps of a model launch on a GPU, present or absent.
namespace tessera::cli {

/// A step of one class.
struct StepSize {
  int64_t rows = 1;
  bool prefill = false;  // rows of one sequence; else a row of each of so many
};

struct StepPlanOptions {
  plan::DeviceFacts gpu;
  plan::TuningCache tuning;
  DType kv_dtype = DType::bf16;
  int64_t max_model_len = 8192;
  std::vector<StepSize> steps = {{1}, {8}, {64}, {2048, true}};
};

/// Operations of a step that are alike, in the order of the first.
struct StepPart {
  kernels::PlannedOperation operation;
  int count = 0;
};
struct StepPlan {
  StepSize size;
  std::vector<StepPart> parts;

  [[nodiscard]] int64_t launches() const;
  [[nodiscard]] double weight_bytes() const;
};

/// Puts a model on the planning backend: Model::load or Model::dummy.
using LoadOnBackend = std::function<Expected<std::unique_ptr<model::Model>>(kernels::Backend& backend)>;

/// Runs each step on the planning backend. Errors: of loading, and those of steps on that GPU; unsupported: built
/// without CUDA.
Expected<std::vector<StepPlan>> plan_steps(const LoadOnBackend& load, const StepPlanOptions& options);

/// One table for each step, with a heading.
std::string step_plan_text(const std::vector<StepPlan>& steps, const StepPlanOptions& options);

}  // namespace tessera::cli
