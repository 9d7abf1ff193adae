#include "cli/live_gpu.h"

#include "base/status.h"
#include "cli/console.h"
#include "kernels/live_gpu.h"

namespace tessera::cli {
Expected<LiveGpu> live_gpu(int index) {
  LiveGpu live;
  live.index = index;
  TESSERA_ASSIGN_OR_RETURN(live.facts, kernels::live_gpu(index));
  live.build = plan::tuning_build();
  live.tuning_file = plan::tuning_file(live.facts.name);
  return live;
}

plan::TuningCache read_tuning(const LiveGpu& gpu) {
  auto cache = plan::read_tuning(gpu.tuning_file, gpu.facts.name, gpu.build);
  if (cache.ok()) return *std::move(cache);
  if (cache.status().code() != StatusCode::not_found) note("{}", cache.status().message());
  return {.gpu = gpu.facts.name, .build = gpu.build, .entries = {}};
}

}  // namespace tessera::cli
