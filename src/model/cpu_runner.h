#pragma once

#include <cstdint>
#include <memory>

#include "base/thread_pool.h"
#include "model/model.h"
#include "model/runner.h"

namespace tessera::model {

/// What the runner works with, which outlives it, and its bounds.
struct CpuRunnerParts {
  const Model* model = nullptr;     // on the CPU backend
  kernels::Cache* cache = nullptr;  // of the model's
  /// Beside the cache, for what steps move; null: they move nothing.
  kernels::HostPages* pages = nullptr;
  ThreadPool* pool = nullptr;
  int64_t known_ids = 0;    // ids [known_ids, vocab) are never drawn: no tokenizer entry stands for them
  int32_t rows_max = 0;     // of a step
  int32_t samples_max = 0;  // of a step
  int drafts_max = 0;       // above 0 the cache has the MTP layers' KV, and records of one row more
  int steps_ahead = 0;      // above 0 it gains no time, only a device's order of calls: for tests
};

/// Steps on the CPU: submit() computes, collect() hands out. It returns no errors.
Expected<std::unique_ptr<StepRunner>> make_cpu_runner(const CpuRunnerParts& parts);

}  // namespace tessera::model
