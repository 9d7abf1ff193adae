#include "cli/settings.h"

#include <fmt/format.h>

#include "base/byte_text.h"
#include "base/thread_pool.h"
#include "cli/table.h"
#include "doctor/environment.h"
#include "doctor/gather.h"
#include "doctor/tree.h"

namespace tessera::cli {
namespace {

using Settings = std::vector<Setting>;

/// Of the doctor's facts those that are read from files at once.
const doctor::GatherOptions kFilesAlone = [] {
  doctor::GatherOptions options;
  options.measures = false;
  return options;
}();

/// Why a flag's value is what it is, where a default stands for "choose".
std::string reason(bool given, const char* chosen) { return given ? "by flag or command" : chosen; }

std::string or_unknown(const std::string& value) { return value.empty() ? "not known" : value; }

void add_memory(const EngineOptions& options, const FitReport& fit, Settings& out) {
  out.push_back({"sequences at once", std::to_string(fit.max_num_seqs),
                 reason(options.max_num_seqs > 0, "what fits the memory, 64 at most"), "--max-num-seqs"});
  out.push_back({"tokens of a sequence", std::to_string(fit.max_model_len),
                 reason(options.max_model_len > 0, "the model's limit, or what fits"), "--max-model-len"});
  out.push_back({"rows of a step", std::to_string(fit.max_num_batched_tokens),
                 reason(options.max_num_batched_tokens > 0, "the default of the device, or what fits"),
                 "--max-num-batched-tokens"});
  out.push_back({"KV cache and states", format_bytes(fit.kv_bytes() + fit.state_bytes()),
                 reason(options.memory_bytes > 0, "what they can use of the free memory, less a reserve"),
                 "--kv-cache-memory-bytes"});
  out.push_back({"keys and values", fit.kv_cache_dtype,
                 reason(options.kv_cache_dtype != "auto", "as the checkpoint says"), "--kv-cache-dtype"});
}

void add_cpu(const EngineOptions& options, const FitReport& fit, const doctor::HostFacts& host, Settings& out) {
  const int threads = options.threads > 0 ? options.threads : default_thread_count();
  const char* work = fit.device == "cpu" ? "the cores that this process may use" : "the same: for loading";
  out.push_back({"threads", std::to_string(threads), reason(options.threads > 0, work), "--threads"});
  out.push_back({"pinning", "none", "a thread that loses its core is left out for a while", "taskset, numactl"});
  out.push_back({"allocator", "the C library's", "weights and caches are mapped once, at start", "LD_PRELOAD"});
  out.push_back({"huge pages", "asked for; system: " + or_unknown(host.transparent_huge_pages),
                 "weights and caches of the CPU in pages of 2 MB", "/sys/kernel/mm/transparent_hugepage/enabled"});
  out.push_back({"clock", or_unknown(host.clock_source), "the kernel's choice", "boot parameter clocksource="});
}

void add_gpu(const EngineOptions& options, Settings& out) {
  const auto on = [](bool value) { return value ? "on" : "off"; };
  out.push_back({"GPU memory", fmt::format("{:.0f} %", 100 * options.gpu_memory_utilization),
                 "of all of it, for everything", "--gpu-memory-utilization"});
  out.push_back({"CUDA graphs", on(options.cuda_graphs), "decode steps; the same bits", "--no-cuda-graphs"});
  out.push_back({"dependent launch", on(options.pdl), "kernels; the same bits", "--no-pdl"});
}

/// Of the environment, the variables that the doctor has a rule for: what each does here.
void add_variables(Settings& out) {
  const auto facts = doctor::gather_environment(doctor::Tree(), kFilesAlone);
  for (const auto& [name, value] : facts.variables) {
    const doctor::VariableRule* rule = doctor::find_rule(name);
    const bool acts =
        rule->effect != doctor::VariableEffect::nothing && rule->effect != doctor::VariableEffect::instead;
    out.push_back({name, value, (acts ? "" : "without effect: ") + std::string(rule->text), "unset " + name});
  }
  if (facts.variables.empty()) {
    out.push_back({"CUDA_*, NCCL_*, OMP_*", "not set", "none is needed", ""});
  }
}

}  // namespace

Settings engine_settings(const EngineOptions& options, const FitReport& fit) {
  const auto host = doctor::gather_host(doctor::Tree(), kFilesAlone);
  Settings settings = {{"device", fit.device,
                        reason(options.device != "auto", "the first GPU that can run the model, else the CPU"),
                        "--device"}};
  add_memory(options, fit, settings);
  add_cpu(options, fit, host, settings);
  if (fit.device != "cpu") add_gpu(options, settings);
  add_variables(settings);
  return settings;
}

std::string settings_text(const Settings& settings) {
  Rows rows = {{"setting", "value", "why", "otherwise"}};
  for (const Setting& s : settings) rows.push_back({s.name, s.value, s.why, s.override});
  return format_table("<<<<", rows);
}

}  // namespace tessera::cli
