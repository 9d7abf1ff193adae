#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/byte_text.h"
#include "doctor/check.h"
#include "plan/device_facts.h"

namespace tessera::doctor {
namespace {

constexpr double kMemoryShare = 0.9;  // the default of --gpu-memory-utilization

std::string bytes_text(double bytes) { return format_bytes(static_cast<uint64_t>(bytes)); }

void files(const ModelFacts& facts, std::vector<Finding>& findings) {
  if (!facts.error.empty()) {
    findings.push_back(
        {"model-files", Level::fail, facts.error,
         "fetch it again, all of it (`hf download OWNER/NAME`); tessera inspect MODEL shows what is there"});
    return;
  }
  const model::Inspection& found = *facts.inspection;
  findings.push_back({"model-files", Level::ok,
                      fmt::format("{} complete: {} shard{}, {}, profile {}", facts.name, found.shards,
                                  found.shards == 1 ? "" : "s", bytes_text(static_cast<double>(found.disk_bytes)),
                                  found.profile.empty() ? "unknown" : found.profile),
                      ""});
  if (!facts.text_error.empty()) {
    findings.push_back({"model-text", Level::fail, facts.text_error, "fetch the small files of the checkpoint again"});
  } else if (!found.has_tokenizer) {
    findings.push_back(
        {"model-text", Level::warn, "there is no tokenizer.json", "fetch it from the model that this one was made of"});
  } else {
    findings.push_back(
        {"model-text", Level::ok,
         fmt::format("tokenizer.json, chat template {}",
                     found.chat_template_file.empty() ? "none: the bundled one serves" : found.chat_template_file),
         ""});
  }
}

void disk(const DiskFacts& facts, std::vector<Finding>& findings) {
  constexpr double kSecondsMax = 120;
  const bool remote = facts.file_system == "nfs" || facts.file_system == "9p" || facts.file_system == "cifs" ||
                      facts.file_system == "fuse";
  const std::string where = facts.file_system.empty() ? "" : fmt::format(" ({})", facts.file_system);
  const char* mend = "put the checkpoint on a local NVMe disk; in WSL2 under ~, not under /mnt";
  if (facts.read_bytes_per_second && *facts.read_bytes_per_second > 0) {
    const auto rate = static_cast<double>(*facts.read_bytes_per_second);
    const double seconds = static_cast<double>(facts.checkpoint_bytes.value_or(0)) / rate;
    const bool slow = seconds > kSecondsMax;
    findings.push_back(
        {"model-disk", slow ? Level::warn : Level::ok,
         fmt::format("read at {}{}: {:.0f} s for all of it, past the page cache", rate_text(rate), where, seconds),
         slow ? mend : ""});
  } else if (remote) {
    findings.push_back(
        {"model-disk", Level::warn, fmt::format("the checkpoint is on a remote file system{}", where), mend});
  }
  if (!facts.free_bytes) return;
  constexpr int64_t kFreeMin = int64_t{2} << 30;
  const bool full = *facts.free_bytes < kFreeMin;
  findings.push_back({"model-space", full ? Level::warn : Level::ok,
                      fmt::format("{} free beside the checkpoint", bytes_text(static_cast<double>(*facts.free_bytes))),
                      full ? "df -h; delete what is not needed" : ""});
}

void formats(const model::Inspection& found, std::vector<Finding>& findings) {
  std::map<std::string, double> bytes;
  double sum = 0, plain = 0;
  for (const model::StoredPart& part : found.parts) {
    if (!part.kind) continue;  // the vision tower is not loaded
    bytes[part.format] += static_cast<double>(part.bytes);
    sum += static_cast<double>(part.bytes);
    if (part.format == "F32" && part.kind != model::TensorKind::small) plain += static_cast<double>(part.bytes);
  }
  std::vector<std::string> texts;
  for (const auto& [format, size] : bytes) texts.push_back(fmt::format("{} {}", bytes_text(size), format));
  const bool wide = plain > 0.05 * sum;
  findings.push_back(
      {"model-formats", wide ? Level::warn : Level::ok, fmt::format("{}", fmt::join(texts, ", ")),
       wide ? "tessera quantize MODEL DIRECTORY: FP32 weights are read at twice the bytes of BF16" : ""});
}

/// Where the model would run on a machine that is only recorded: by its bytes.
void fit_by_bytes(const Facts& facts, std::vector<Finding>& findings) {
  const auto weights = static_cast<double>(facts.model->inspection->loaded_bytes());
  if (facts.gpu.gpus.empty()) {
    const auto memory = static_cast<double>(facts.host.memory_available_bytes.value_or(0));
    const bool fits = weights < memory;
    findings.push_back({"model-fit", fits ? Level::ok : Level::fail,
                        fmt::format("{} of weights, {} of memory available", bytes_text(weights), bytes_text(memory)),
                        fits ? "" : "a smaller model, or fewer bits: tessera quantize"});
    return;
  }
  const auto memory = kMemoryShare * static_cast<double>(facts.gpu.gpus.front().memory_bytes.value_or(0));
  const bool fits = weights < memory;
  findings.push_back({"model-fit", fits ? Level::ok : Level::warn,
                      fmt::format("{} of weights, {} of one GPU to be used", bytes_text(weights), bytes_text(memory)),
                      fits ? "" : "a model runs on one GPU: a smaller one, or fewer bits (tessera quantize)"});
}

void fit(const Facts& facts, std::vector<Finding>& findings) {
  const ModelFacts& model = *facts.model;
  if (model.fits.empty()) {
    fit_by_bytes(facts, findings);
    return;
  }
  const auto first = std::ranges::find_if(model.fits, [](const DeviceFit& fit) { return fit.error.empty(); });
  if (first == model.fits.end()) {
    findings.push_back(
        {"model-fit", Level::fail, fmt::format("{}: {}", model.fits.front().device, model.fits.front().error),
         "a smaller model, fewer bits (tessera quantize), or less context: --max-model-len, --max-num-seqs"});
    return;
  }
  const FitReport& report = first->report;
  const std::string found = fmt::format(
      "on {}: {} of {}, {} of them weights; up to {} sequences at once, of up to {} tokens", first->device,
      bytes_text(static_cast<double>(report.total_bytes())), bytes_text(static_cast<double>(report.available_bytes)),
      bytes_text(static_cast<double>(report.weight_bytes)), report.max_num_seqs, report.max_model_len);
  if (first != model.fits.begin()) {
    findings.push_back(
        {"model-fit", Level::warn,
         fmt::format("{}; not on {}: {}", found, model.fits.front().device, model.fits.front().error),
         "give less context (--max-model-len, --max-num-seqs), free the GPU's memory, or use fewer bits"});
  } else {
    findings.push_back({"model-fit", Level::ok, found, ""});
  }
}

void kernels(const Facts& facts, std::vector<Finding>& findings) {
  const ModelFacts& model = *facts.model;
  if (facts.gpu.gpus.empty() || !facts.gpu.built_with_cuda) return;
  if (model.kernels && !model.kernels->error.empty()) {
    findings.push_back({"model-kernels", Level::fail, model.kernels->error,
                        "--device cpu, or a checkpoint in other formats (tessera quantize)"});
  } else if (model.kernels) {
    findings.push_back({"model-kernels", Level::ok,
                        fmt::format("a decode step is {} launches of {} kernels; none falls back",
                                    model.kernels->launches, model.kernels->names.size()),
                        "tessera plan MODEL lists them"});
  }
  if (model.inspection->quantization.activations_4bit && facts.gpu.gpus.front().compute_major == 12) {
    findings.push_back({"model-kernels", Level::warn,
                        "the checkpoint asks for 4-bit activations; they are computed in 16 bits, which is more exact, "
                        "and slower in prefill",
                        "nothing can be set yet"});
  }
  if (!model.tuning_error.empty()) {
    findings.push_back({"model-kernels", Level::warn, fmt::format("tuned tiles are not used: {}", model.tuning_error),
                        "tessera tune"});
  } else if (model.tuned_tiles) {
    const bool none = *model.tuned_tiles == 0;
    findings.push_back({"model-kernels", Level::ok,
                        none ? "tiles of experts are chosen by estimate"
                             : fmt::format("{} tuned tiles are for this model", *model.tuned_tiles),
                        none ? "tessera tune measures them, in about a minute" : ""});
  }
}

struct Rate {
  double bytes_per_second = 0;
  const char* source = "";
};

/// The GPU that is cuda:N as CUDA counts those that it shows; the first of the bus where it counts none.
const Gpu* gpu_of(const GpuFacts& facts, const std::string& device) {
  for (const Gpu& gpu : facts.gpus) {
    if (gpu.cuda_index && fmt::format("cuda:{}", *gpu.cuda_index) == device) return &gpu;
  }
  return facts.gpus.empty() ? nullptr : &facts.gpus.front();
}

/// How fast the device reads its memory: measured, else as its maker says.
std::optional<Rate> read_rate(const Facts& facts, const std::string& device) {
  if (device == "cpu") {
    if (!facts.host.read_bytes_per_second) return std::nullopt;
    return Rate{static_cast<double>(*facts.host.read_bytes_per_second), "measured"};
  }
  const Gpu* const gpu = gpu_of(facts.gpu, device);
  if (gpu == nullptr) return std::nullopt;
  if (gpu->read_bytes_per_second) return Rate{static_cast<double>(*gpu->read_bytes_per_second), "measured"};
  for (const plan::DeviceFacts& known : plan::known_devices()) {
    if (gpu->name.find(known.name) != std::string::npos) return Rate{known.read_gb_s * 1e9, "by the data sheet"};
  }
  return std::nullopt;
}

/// The least that a decode step of so many sequences reads.
double step_bytes(const ModelFacts& facts, int64_t batch, int64_t context) {
  engine::StepBytes bytes = facts.step_bytes;
  if (bytes.cache.kv_block == 0) {  // no backend was asked
    bytes.cache.kv_block = facts.inspection->kv_bytes_per_token_bf16 * kernels::kBlockTokens;
    bytes.cache.state_slot = facts.inspection->state_bytes;
  }
  model::Step step;
  step.tokens.resize(static_cast<size_t>(batch));
  step.sequences.resize(static_cast<size_t>(batch));
  for (auto& sequence : step.sequences) {
    sequence.first_position = static_cast<int32_t>(context - 1);
    sequence.rows = 1;
  }
  return bytes.of(step);
}

void expected_speed(const Facts& facts, std::vector<Finding>& findings) {
  constexpr int64_t kContext = 2048;
  constexpr double kSpeedMin = 5;  // slower than people read
  const ModelFacts& model = *facts.model;
  std::string device =
      facts.gpu.gpus.empty() ? "cpu" : fmt::format("cuda:{}", facts.gpu.gpus.front().cuda_index.value_or(0));
  for (const DeviceFit& fit : model.fits) {
    if (!fit.error.empty()) continue;
    device = fit.device;
    break;
  }
  const auto rate = read_rate(facts, device);
  if (!rate) return;
  std::vector<std::string> speeds;
  double alone = 0;
  for (const int64_t batch : {1, 8, 64}) {
    const double speed = static_cast<double>(batch) * rate->bytes_per_second / step_bytes(model, batch, kContext);
    if (batch == 1) alone = speed;
    speeds.push_back(fmt::format("{:.{}f} at {}", speed, speed < 10 ? 1 : 0, batch));
  }
  // docs/benchmarks/gpu.md: batches of 1 to 64 on an H200.
  const char* reached = device == "cpu" ? "" : "; steps on an H200 reached 40 to 57 % of that";
  findings.push_back(
      {"expected-speed", alone < kSpeedMin ? Level::warn : Level::ok,
       fmt::format("expected at most, in tokens/s: {} streams of {} tokens (a step of one reads {} on {} at {}, {}){}",
                   fmt::join(speeds, ", "), kContext, bytes_text(step_bytes(model, 1, kContext)), device,
                   rate_text(rate->bytes_per_second), rate->source, reached),
       alone < kSpeedMin ? "a GPU, a model with fewer active weights, or fewer bits" : ""});
}

}  // namespace

void check_model(const Facts& facts, std::vector<Finding>& findings) {
  if (!facts.model) return;
  files(*facts.model, findings);
  disk(facts.model->disk, findings);
  if (!facts.model->error.empty() || !facts.model->inspection) return;
  formats(*facts.model->inspection, findings);
  fit(facts, findings);
  kernels(facts, findings);
  expected_speed(facts, findings);
}

}  // namespace tessera::doctor
