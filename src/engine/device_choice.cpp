#include "engine/device_choice.h"

#include <charconv>

#include "device/device.h"

namespace tessera::engine {

Expected<std::optional<int>> choose_gpu(const std::string& device, bool needs_cpu) {
  if (device == "cpu") return std::optional<int>();
  if (device == "auto") {
    if (needs_cpu) return std::optional<int>();
    const auto gpus = device::list_gpus();
    for (int i = 0; gpus.ok() && i < static_cast<int>(gpus->size()); ++i) {
      if (device::has_kernels(i).ok()) return std::optional<int>(i);
    }
    return std::optional<int>();
  }
  int index = 0;
  if (device != "cuda") {
    const std::string prefix = "cuda:";
    const char* const begin = device.c_str() + prefix.size();
    const char* const end = device.c_str() + device.size();
    if (!device.starts_with(prefix) || std::from_chars(begin, end, index).ptr != end || begin == end || index < 0) {
      return error(StatusCode::invalid_argument, "device is '{}'; it must be auto, cpu, cuda or cuda:N", device);
    }
  }
  if (needs_cpu) {
    return error(StatusCode::invalid_argument, "device is '{}', but compute fp32 runs on the CPU alone; use bf16",
                 device);
  }
  TESSERA_ASSIGN_OR_RETURN(const auto gpus, device::list_gpus());
  if (static_cast<size_t>(index) >= gpus.size()) {
    return error(StatusCode::not_found, "device is '{}', and this process sees {} GPU{}, counted from 0", device,
                 gpus.size(), gpus.size() == 1 ? "" : "s");
  }
  TESSERA_RETURN_IF_ERROR(device::has_kernels(index));
  return std::optional<int>(index);
}

}  // namespace tessera::engine
