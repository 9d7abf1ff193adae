#pragma once

#include <cstddef>
#include <filesystem>

#include "plan/device_facts.h"
#include "plan/tuning_cache.h"
#include "tessera/status.h"

// A GPU of this machine, and what `tessera tune` has measured on it.
namespace tessera::cli {

/// What device::measure_read_rate() reads.
inline constexpr size_t kMeasuredReadBytes = size_t{4} << 30;

/// For --gpu: the first GPU of this machine, in place of a named one.
inline constexpr const char* kLiveGpu = "live";

struct LiveGpu {
  int index = 0;
  plan::DeviceFacts facts;
  std::filesystem::path tuning_file;  // plan::tuning_file
  std::string build;                  // plan::tuning_build
};

/// GPU `index`, counted from 0. not_found says how many there are; unsupported: built without CUDA.
Expected<LiveGpu> live_gpu(int index);

/// What was tuned; nothing where nothing was. A file that is refused is noted on standard error, and nothing of it
/// used.
plan::TuningCache read_tuning(const LiveGpu& gpu);

}  // namespace tessera::cli
