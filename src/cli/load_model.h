#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "base/thread_pool.h"
#include "format/checkpoint.h"
#include "kernels/context.h"
#include "model/model.h"

namespace tessera::cli {

/// A model without an engine, with what it borrows.
struct LoneModel {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<kernels::Workspace> workspace;
  std::unique_ptr<model::Model> model;
  std::filesystem::path directory;
};

/// Finds, opens and loads `name`, with progress on standard error unless `quiet`. `threads` 0: all cores.
Expected<LoneModel> load_model(const std::string& name, kernels::Compute compute, int threads, bool quiet);

}  // namespace tessera::cli
