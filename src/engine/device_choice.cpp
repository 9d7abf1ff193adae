#include "engine/device_choice.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/log.h"
#include "device/device.h"
#include "engine/host_memory.h"
#include "kernels/cpu/backend.h"
#include "kernels/cuda_backend.h"
#include "kernels/live_gpu.h"

namespace tessera::engine {
namespace {

std::vector<Device> all_devices() {
  std::vector<Device> devices;
  const auto gpus = device::list_gpus();
  const StatusCode code = gpus.status().code();
  if (!gpus.ok() && code != StatusCode::not_found && code != StatusCode::unsupported) {
    spdlog::warn("no GPU is tried: {}", gpus.status().message());  // there may be one
  }
  for (int i = 0; gpus.ok() && i < static_cast<int>(gpus->size()); ++i) devices.emplace_back(i);
  devices.emplace_back(std::nullopt);
  return devices;
}

/// The number in "cuda" or "cuda:N".
Expected<int> gpu_index(const std::string& device) {
  if (device == "cuda") return 0;
  int index = 0;
  const std::string prefix = "cuda:";
  const char* const begin = device.c_str() + prefix.size();
  const char* const end = device.c_str() + device.size();
  const auto bad = [&] {
    return error(StatusCode::invalid_argument, "device is '{}'; it must be auto, cpu, cuda or cuda:N", device);
  };
  if (!device.starts_with(prefix)) return bad();
  const auto [read, failure] = std::from_chars(begin, end, index);
  // A number that no int holds is read to its end, and leaves `index` as it was.
  if (failure != std::errc() || read != end || index < 0) return bad();
  return index;
}

}  // namespace

std::string device_name(const Device& device) { return device ? fmt::format("cuda:{}", *device) : "cpu"; }

Expected<std::vector<Device>> choose_devices(const std::string& device, bool needs_cpu) {
  if (device == "cpu" || (device == "auto" && needs_cpu)) return std::vector<Device>{std::nullopt};
  if (device == "auto") return all_devices();
  TESSERA_ASSIGN_OR_RETURN(const int index, gpu_index(device));
  if (needs_cpu) {
    return error(StatusCode::invalid_argument, "device is '{}', but compute fp32 runs on the CPU alone; use bf16",
                 device);
  }
  TESSERA_ASSIGN_OR_RETURN(const auto gpus, device::list_gpus());
  if (static_cast<size_t>(index) >= gpus.size()) {
    return error(StatusCode::not_found, "device is '{}', and this process sees {} GPU{}, counted from 0", device,
                 gpus.size(), gpus.size() == 1 ? "" : "s");
  }
  return std::vector<Device>{index};
}

bool may_run_elsewhere(const Status& status) {
  return status.code() == StatusCode::resource_exhausted || status.code() == StatusCode::unsupported;
}

void log_next_device(const Status& status, const Device& device, const Device& next) {
  spdlog::warn("not on {}: {}; going on with {}", device_name(device), status.message(), device_name(next));
}

Expected<std::unique_ptr<kernels::Backend>> open_backend(const Device& device, const model::ModelConfig& config,
                                                         const BackendParts& parts) {
  if (!device) {
    return kernels::cpu::make_backend({.compute = parts.compute, .pool = parts.pool, .workspace = parts.workspace});
  }
  TESSERA_RETURN_IF_ERROR(device::has_kernels(*device));
  TESSERA_ASSIGN_OR_RETURN(const plan::DeviceFacts gpu, kernels::live_gpu(*device));
  return kernels::make_cuda_backend({.gpu = *device,
                                     .pdl = parts.pdl,
                                     .tuning = tuned_tiles(gpu.name, config),
                                     .skewed_routers = parts.skewed_routers,
                                     .experts_read = parts.experts_read});
}

plan::TuningCache tuned_tiles(const std::string& gpu, const model::ModelConfig& config) {
  if (!config.is_moe) return {};
  const std::filesystem::path file = plan::tuning_file(gpu);
  auto cache = plan::read_tuning(file, gpu, plan::tuning_build());
  if (cache.ok()) {
    const size_t used = plan::tuned_for(*cache, config.hidden_size, config.moe_intermediate_size, config.num_experts,
                                        config.experts_per_token);
    spdlog::info("{}: {} of {} tuned tiles are for this model's experts", file.string(), used, cache->entries.size());
    return *std::move(cache);
  }
  if (cache.status().code() == StatusCode::not_found) {
    spdlog::info("{}: there is no such file, tiles are chosen by estimate; `tessera tune` measures them",
                 file.string());
  } else {
    spdlog::warn("tuned tiles are not used: {}", cache.status().message());
  }
  return {};
}

Expected<size_t> available_bytes(const Device& device, double gpu_memory_utilization) {
  if (!device) return available_memory_bytes();
  TESSERA_ASSIGN_OR_RETURN(const device::GpuMemory memory, device::gpu_memory(*device));
  const auto usable = static_cast<size_t>(gpu_memory_utilization * static_cast<double>(memory.total_bytes));
  return std::min(memory.free_bytes, usable);
}

}  // namespace tessera::engine
