#pragma once

#include <memory>

#include "kernels/backend.h"
#include "plan/tuning_cache.h"

namespace tessera::kernels {

struct CudaBackendOptions {
  int gpu = 0;                    // counted as CUDA does
  bool pdl = true;                // programmatic dependent launch; changes no bit
  plan::TuningCache tuning = {};  // measured tiles of grouped products; they change no bit
};

/// A model's blocks on one GPU. Everything a block does is enqueued on its pass's stream; nothing waits, but begin()
/// and the reads, which are for scoring and tests: an engine drives passes by a runner. not_found: no such GPU;
/// unsupported: built without CUDA.
Expected<std::unique_ptr<Backend>> make_cuda_backend(const CudaBackendOptions& options);

}  // namespace tessera::kernels
