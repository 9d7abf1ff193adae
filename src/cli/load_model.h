#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/thread_pool.h"
#include "engine/open_model.h"
#include "kernels/backend.h"
#include "kernels/context.h"
#include "model/lone_sequence.h"
#include "model/model.h"

namespace tessera::cli {

using engine::OpenedModel;

/// What a model without an engine is wanted for.
struct LoneModelOptions {
  std::string device = "auto";
  std::string compute = "bf16";         // or "fp32"
  std::string kv_cache_dtype = "auto";  // or "bfloat16", "fp8"
  std::string requantize_projections;   // as in EngineOptions, as gpu_memory_utilization
  double gpu_memory_utilization = 0.9;
  int64_t tokens_max = 0;  // of its sequence
  int64_t rows_max = 0;    // of a step
  int threads = 0;         // 0: all cores
  bool quiet = false;      // no progress on standard error
};

/// A model without an engine and one sequence of it, with what they borrow.
struct LoneModel {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<kernels::Workspace> workspace;
  std::unique_ptr<kernels::Backend> backend;
  std::unique_ptr<model::Model> model;
  std::optional<model::LoneSequence> sequence;
  std::string device;          // "cpu", "cuda:0"
  std::string kv_cache_dtype;  // "bfloat16", "fp8", "float32"
};

/// Rows of a step whose logits, fp32, all take no more memory than they should: a multiple of 64.
int64_t rows_of_logits_max(const model::ModelConfig& config);

/// The flags of all commands that load a model without an engine.
void add_device_flags(CLI::App& command, LoneModelOptions& options, const char* group);

/// Loads the weights where LoneModelOptions::device says, as the engine chooses (engine/device_choice.h), with progress
/// on standard error. Errors: those of the devices; resource_exhausted where weights, sequence and the logits of a step
/// do not fit.
Expected<LoneModel> load_model(const OpenedModel& opened, const LoneModelOptions& options);

}  // namespace tessera::cli
