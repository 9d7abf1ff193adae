#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/status.h"
#include "base/thread_pool.h"
#include "format/checkpoint.h"
#include "kernels/backend.h"
#include "kernels/context.h"
#include "model/model.h"

namespace tessera::cli {

/// A model directory before its weights are read.
struct OpenedModel {
  format::Checkpoint checkpoint;
  model::ModelConfig config;
  bool wants_fp8_kv = false;
};

/// Finds and opens `name`.
Expected<OpenedModel> open_model(const std::string& name);

/// The same without its weights, which need not be there.
Expected<OpenedModel> open_without_weights(const std::string& name);

/// A model without an engine, with what it borrows.
struct LoneModel {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<kernels::Workspace> workspace;
  std::unique_ptr<kernels::Backend> backend;
  std::unique_ptr<model::Model> model;
};

/// Loads the weights, with progress on standard error unless `quiet`. `threads` 0: all cores.
Expected<LoneModel> load_model(const OpenedModel& opened, kernels::Compute compute, int threads, bool quiet,
                               const model::PlanOptions& plan = {});

}  // namespace tessera::cli
