#include "cli/live_gpu.h"

#include <cstdlib>

#include "base/status.h"
#include "cli/console.h"
#include "device/device.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

fs::path cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return fs::path(cache) / "tessera";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr && *home != '\0' ? home : ".") / ".cache" / "tessera";
}

}  // namespace

Expected<LiveGpu> live_gpu(int index) {
  TESSERA_ASSIGN_OR_RETURN(const auto gpus, device::list_gpus());
  if (index < 0 || static_cast<size_t>(index) >= gpus.size()) {
    return error(StatusCode::not_found, "no GPU {}; this machine has {}, counted from 0", index, gpus.size());
  }
  const device::GpuFacts& gpu = gpus[static_cast<size_t>(index)];
  LiveGpu live;
  live.index = index;
  live.facts = plan::live_facts({.name = gpu.name,
                                 .compute_major = gpu.compute_major,
                                 .compute_minor = gpu.compute_minor,
                                 .sm_count = gpu.sm_count,
                                 .smem_per_block_bytes = static_cast<int64_t>(gpu.smem_per_block_bytes_max),
                                 .smem_per_sm_bytes = static_cast<int64_t>(gpu.smem_per_sm_bytes),
                                 .l2_bytes = static_cast<int64_t>(gpu.l2_bytes),
                                 .memory_bytes = static_cast<int64_t>(gpu.memory_bytes)});
  live.build = plan::tuning_build(TESSERA_VERSION);
  live.tuning_file = cache_directory() / plan::tuning_file_name(live.facts.name, live.build);
  return live;
}

plan::TuningCache read_tuning(const LiveGpu& gpu) {
  auto cache = plan::read_tuning(gpu.tuning_file, gpu.facts.name, gpu.build);
  if (cache.ok()) return *std::move(cache);
  if (cache.status().code() != StatusCode::not_found) note("{}", cache.status().message());
  return {.gpu = gpu.facts.name, .build = gpu.build, .entries = {}};
}

}  // namespace tessera::cli
