#pragma once

#include <memory>

#include "kernels/backend.h"
#include "plan/tuning_cache.h"

namespace tessera::kernels {

/// How many experts layers of routed experts have read, for measurements: while it is on, each such layer waits for
/// the GPU and adds to it. Not while a graph is captured.
struct ExpertsRead {
  bool on = false;
  int64_t layers = 0;
  int64_t experts = 0;  // distinct, of each of these layers
};

struct CudaBackendOptions {
  int gpu = 0;                    // counted as CUDA does
  bool pdl = true;                // programmatic dependent launch; changes no bit
  plan::TuningCache tuning = {};  // measured tiles of grouped products; they change no bit
  /// Routers of dummy weights favour some experts, instead of all alike (skewed_router.h).
  bool skewed_routers = false;
  ExpertsRead* experts_read = nullptr;  // outlives the backend
  Comm* comm = nullptr;                 // of this rank, outlives the backend; null: there is one
};

/// A model's blocks on one GPU. Everything a block does is enqueued on its pass's stream; nothing waits, but begin()
/// and the reads, which are for scoring and tests: an engine drives passes by a runner. not_found: no such GPU;
/// unsupported: built without CUDA.
Expected<std::unique_ptr<Backend>> make_cuda_backend(const CudaBackendOptions& options);

}  // namespace tessera::kernels
