#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "plan/device_facts.h"
#include "plan/tuning_cache.h"

// What a step would launch on a GPU, which need not be there.
namespace tessera::kernels {

struct PlannedKernel {
  std::string name;  // with its template arguments; of products in tiles without
  std::string tile;  // "64x8x256"; empty: the kernel has none
  int64_t blocks = 0;
  int64_t threads = 0;     // of a block
  int64_t smem_bytes = 0;  // dynamic, of a block

  bool operator==(const PlannedKernel&) const = default;
};

/// A call of the backend.
struct PlannedOperation {
  std::string name;
  double weight_bytes = 0;  // that it reads: of routed experts those that random routing is expected to choose
  std::vector<PlannedKernel> kernels;

  bool operator==(const PlannedOperation&) const = default;
};

/// The CUDA backend with every launch written down in its place: its blocks, the functions that it calls, its choices
/// of kernels, tiles and grids. Nothing is allocated and no weight is looked at. Calls add to `operations`, which must
/// outlive it. comm: of the rank whose steps are planned, called with rows that have no memory. unsupported: built
/// without CUDA.
Expected<std::unique_ptr<Backend>> make_planning_backend(const plan::DeviceFacts& gpu, plan::TuningCache tuning,
                                                         std::vector<PlannedOperation>& operations,
                                                         Comm* comm = nullptr);

}  // namespace tessera::kernels
