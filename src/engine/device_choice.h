#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "kernels/backend.h"
#include "kernels/context.h"
#include "kernels/cuda_backend.h"
#include "model/config.h"
#include "plan/tuning_cache.h"

// Where a model runs. Everything that takes a --device goes through here: the engine, scoring, comparing.
namespace tessera::engine {

/// A GPU as CUDA counts them, or nullopt for the CPU.
using Device = std::optional<int>;

/// "cpu", "cuda:0"
std::string device_name(const Device& device);

/// The devices that EngineOptions::device means, in the order in which they are tried, never none. auto: every GPU,
/// then the CPU; the CPU alone where needs_cpu (compute fp32). invalid_argument for other words; not_found and
/// unsupported where a GPU was asked for and there is none, or the build has no CUDA.
Expected<std::vector<Device>> choose_devices(const std::string& device, bool needs_cpu);

/// Whether a model that did not run on one device because of `status` may run on another: there is not enough memory,
/// or no kernel for it.
bool may_run_elsewhere(const Status& status);

/// Logs why a model does not run on `device`, and where it is tried next.
void log_next_device(const Status& status, const Device& device, const Device& next);

/// What attempt(device) makes of the first device that can run the model. Where one cannot, the reason is logged and
/// the next is tried; the last one's error is returned. What an attempt took it has given back.
template <typename Attempt>
std::invoke_result_t<Attempt, Device> on_first_that_can(const std::vector<Device>& devices, const Attempt& attempt) {
  for (size_t i = 0;; ++i) {
    auto result = attempt(devices[i]);
    if (result.ok() || i + 1 == devices.size() || !may_run_elsewhere(result.status())) return result;
    log_next_device(result.status(), devices[i], devices[i + 1]);
  }
}

/// What a backend works with, which outlives it.
struct BackendParts {
  kernels::Compute compute = kernels::Compute::bf16;  // of the CPU
  ThreadPool* pool = nullptr;
  kernels::Workspace* workspace = nullptr;
  bool pdl = true;
  bool skewed_routers = false;                   // CudaBackendOptions, as the next
  kernels::ExpertsRead* experts_read = nullptr;  // outlives the backend
};
/// With the tiles that were tuned for the GPU (tuned_tiles). unsupported: this build has no kernels for the GPU.
Expected<std::unique_ptr<kernels::Backend>> open_backend(const Device& device, const model::ModelConfig& config,
                                                         const BackendParts& parts);

/// What `tessera tune` has measured on this GPU, from its file. One line of the log says which file, and how many of
/// its entries are for this model's experts, or why the file is not used; it never stands in the way.
plan::TuningCache tuned_tiles(const std::string& gpu, const model::ModelConfig& config);

/// Bytes that a model may take on the device: what is free, and of a GPU's memory no more than this share of all.
Expected<size_t> available_bytes(const Device& device, double gpu_memory_utilization);

}  // namespace tessera::engine
