#include <sys/statfs.h>

#include <algorithm>
#include <array>

#include "doctor/gather.h"
#include "engine/device_choice.h"
#include "engine/model_fit.h"
#include "format/checkpoint.h"
#include "plan/tuning_cache.h"

namespace tessera::doctor {
namespace {

namespace fs = std::filesystem;

// statfs(2), f_type; linux/magic.h.
constexpr std::array<std::pair<uint32_t, const char*>, 10> kFileSystems = {{{0xEF53, "ext4"},
                                                                            {0x58465342, "xfs"},
                                                                            {0x9123683E, "btrfs"},
                                                                            {0x2FC12FC1, "zfs"},
                                                                            {0x01021994, "tmpfs"},
                                                                            {0x794C7630, "overlay"},
                                                                            {0x6969, "nfs"},
                                                                            {0x01021997, "9p"},
                                                                            {0xFF534D42, "cifs"},
                                                                            {0x65735546, "fuse"}}};

DiskFacts gather_disk(const fs::path& directory, const GatherOptions& options) {
  constexpr double kSeconds = 1.5, kSecondsFull = 10;
  DiskFacts disk;
  struct statfs info {};
  if (options.live && ::statfs(directory.c_str(), &info) == 0) {
    disk.free_bytes = static_cast<int64_t>(info.f_bavail) * info.f_bsize;
    for (const auto& [magic, name] : kFileSystems) {
      if (static_cast<uint32_t>(info.f_type) == magic) disk.file_system = name;
    }
  }
  fs::path largest;
  uintmax_t largest_bytes = 0;
  std::error_code failure;
  for (auto entry = fs::directory_iterator(directory, failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    std::error_code ignored;
    const uintmax_t bytes = entry->is_regular_file(ignored) ? entry->file_size(ignored) : 0;
    if (ignored || entry->path().extension() != ".safetensors") continue;
    disk.checkpoint_bytes = disk.checkpoint_bytes.value_or(0) + static_cast<int64_t>(bytes);
    if (bytes > largest_bytes) {
      largest_bytes = bytes;
      largest = entry->path();
    }
  }
  if (options.live && options.measures && !largest.empty()) {
    disk.read_bytes_per_second = measure_disk_rate(largest, options.full ? kSecondsFull : kSeconds);
  }
  return disk;
}

/// On each device that the engine would try.
void gather_fits(ModelFacts& facts) {
  const auto devices = engine::choose_devices("auto", /*needs_cpu=*/false);
  if (!devices.ok()) return;
  for (const engine::Device& device : *devices) {
    EngineOptions options;
    options.model = facts.name;
    options.device = engine::device_name(device);
    auto fit = engine::fit_model(options);
    if (!fit.ok() && !engine::may_run_elsewhere(fit.status())) {
      facts.text_error = fit.status().message();  // the checkpoint itself has been opened before
      return;
    }
    DeviceFit& found = facts.fits.emplace_back();
    found.device = options.device;
    if (!fit.ok()) {
      found.error = fit.status().message();
      continue;
    }
    const bool first = std::ranges::none_of(
        facts.fits, [&](const DeviceFit& other) { return &other != &found && other.error.empty(); });
    if (first) facts.step_bytes = fit->step_bytes;
    found.report = std::move(fit->report);
  }
}

void gather_tuning(const GpuFacts& gpu, ModelFacts& facts) {
  const model::ModelConfig& config = facts.inspection->config;
  if (!config.is_moe || gpu.gpus.empty() || !gpu.built_with_cuda) return;
  const std::string& name = gpu.gpus.front().name;
  const auto tuned = plan::read_tuning(plan::tuning_file(name), name, plan::tuning_build());
  if (tuned.ok()) {
    facts.tuned_tiles = static_cast<int64_t>(plan::tuned_for(*tuned, config.hidden_size, config.moe_intermediate_size,
                                                             config.num_experts, config.experts_per_token));
  } else if (tuned.status().code() == StatusCode::not_found) {
    facts.tuned_tiles = 0;
  } else {
    facts.tuning_error = tuned.status().message();
  }
}

Status inspect(ModelFacts& facts, const GatherOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(const fs::path directory, format::find_model(options.model));
  facts.disk = gather_disk(directory, options);
  TESSERA_ASSIGN_OR_RETURN(const format::Checkpoint checkpoint, format::Checkpoint::open(directory));
  TESSERA_ASSIGN_OR_RETURN(facts.inspection, model::inspect_checkpoint(checkpoint));
  facts.step_bytes.weights = facts.inspection->traffic;
  return facts.inspection->complete;
}

}  // namespace

ModelFacts gather_model(const GpuFacts& gpu, const GatherOptions& options) {
  ModelFacts facts;
  facts.name = options.model;
  const Status status = inspect(facts, options);
  if (!status.ok()) {
    facts.error = status.message();
    return facts;
  }
  if (options.live) gather_fits(facts);
  if (options.live) gather_tuning(gpu, facts);
  return facts;
}

}  // namespace tessera::doctor
