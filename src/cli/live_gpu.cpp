#include "cli/live_gpu.h"

#include <cstdlib>

#include "cli/console.h"
#include "base/status.h"
#include "kernels/live_gpu.h"

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
  LiveGpu live;
  live.index = index;
  TESSERA_ASSIGN_OR_RETURN(live.facts, kernels::live_gpu(index));
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
