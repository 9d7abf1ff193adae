#include <unistd.h>

#include <algorithm>
#include <array>

#include "doctor/environment.h"
#include "doctor/gather.h"

namespace tessera::doctor {
namespace {

using enum VariableEffect;

constexpr std::array kRules = {
    VariableRule{"CUDA_VISIBLE_DEVICES", hides_gpus, "which GPUs this process sees, and their order"},
    VariableRule{"CUDA_DEVICE_ORDER", acts, "how cuda:N counts GPUs: PCI_BUS_ID as nvidia-smi, else the fastest first"},
    VariableRule{"CUDA_LAUNCH_BLOCKING", slows, "the host waits for each kernel: for debugging"},
    VariableRule{"CUDA_DEVICE_WAITS_ON_EXCEPTION", slows, "a kernel that fails waits for a debugger: it looks hung"},
    VariableRule{"CUDA_FORCE_PTX_JIT", slows,
                 "CUDA ignores the machine code of this build, which has no PTX: no kernel starts"},
    VariableRule{"CUDA_DEVICE_MAX_CONNECTIONS", nothing, "steps run on one stream"},
    VariableRule{"CUDA_MODULE_LOADING", acts, "when kernels are loaded: EAGER makes the start slower"},
    VariableRule{"CUDA_MPS_PIPE_DIRECTORY", acts, "GPUs are used through MPS"},
    VariableRule{"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", slows, "MPS gives this process a share of the SMs"},
    VariableRule{"CUDA_HOME", nothing, "for builds"},
    VariableRule{"CUDA_PATH", nothing, "for builds"},
    VariableRule{"CUDA_CACHE_PATH", nothing, "nothing is compiled at run time"},
    VariableRule{"NVIDIA_VISIBLE_DEVICES", acts, "which GPUs the container was given"},
    VariableRule{"NVIDIA_TF32_OVERRIDE", nothing, "no kernel uses TF32"},
    VariableRule{"OMP_NUM_THREADS", instead, "--threads N says how many threads the CPU's work has"},
    VariableRule{"MALLOC_ARENA_MAX", acts, "how many heaps malloc has; weights, caches and states are in none"},
    VariableRule{"MKL_NUM_THREADS", instead, "--threads N says how many threads the CPU's work has"},
    VariableRule{"VLLM_API_KEY", acts, "a key that clients of `tessera serve` must show"},
    VariableRule{"VLLM_ATTENTION_BACKEND", nothing, "there is one"},
    VariableRule{"HF_HOME", acts, "where models are looked for by name"},
    VariableRule{"HF_HUB_CACHE", acts, "where models are looked for by name"},
    VariableRule{"HF_HUB_OFFLINE", nothing, "nothing is ever downloaded"},
    VariableRule{"HF_TOKEN", nothing, "nothing is ever downloaded"},
    VariableRule{"HF_HUB_ENABLE_HF_TRANSFER", nothing, "nothing is ever downloaded"},
    VariableRule{"TESSERA_LOG", acts, "how much is logged"},
    VariableRule{"TESSERA_SIMD", slows, "kernels of the CPU keep to the instructions it names: for tests"},
    VariableRule{"TESSERA_API_KEY", acts, "a key that clients of `tessera serve` must show"},
    VariableRule{"NCCL_*", nothing, "NCCL is not used"},
    VariableRule{"PYTORCH_*", nothing, "PyTorch is not used"},
    VariableRule{"TORCH_*", nothing, "PyTorch is not used"},
    VariableRule{"TORCHINDUCTOR_*", nothing, "PyTorch is not used"},
    VariableRule{"TRITON_*", nothing, "Triton is not used"},
    VariableRule{"VLLM_*", nothing, "settings of vLLM"},
    VariableRule{"SGLANG_*", nothing, "settings of SGLang"},
    VariableRule{"SGL_*", nothing, "settings of SGLang"},
    VariableRule{"FLASHINFER_*", nothing, "FlashInfer is not used"},
    VariableRule{"TRTLLM_*", nothing, "settings of TensorRT-LLM"},
    VariableRule{"TLLM_*", nothing, "settings of TensorRT-LLM"},
    VariableRule{"GGML_*", nothing, "settings of llama.cpp"},
    VariableRule{"LLAMA_*", nothing, "settings of llama.cpp"},
    VariableRule{"GOMP_CPU_AFFINITY", nothing, "OpenMP is not used"},
    VariableRule{"KMP_*", nothing, "OpenMP is not used"},
};

/// Values that may be shown and recorded: those that Tessera's advice depends on, and no path, key or UUID.
std::string shown_value(const VariableRule& rule, const std::string& value) {
  const bool matters = rule.effect == slows || rule.effect == hides_gpus || rule.name == "CUDA_DEVICE_ORDER";
  const bool plain = std::ranges::all_of(value, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == ',' || c == '_' || c == '-' || c == ' ';
  });
  constexpr size_t kPlainBytesMax = 24;  // a UUID is longer
  return matters && plain && value.size() <= kPlainBytesMax ? value : "set";
}

}  // namespace

std::span<const VariableRule> environment_rules() { return kRules; }

const VariableRule* find_rule(std::string_view variable) {
  for (const VariableRule& rule : kRules) {  // names come before prefixes
    const bool prefix = rule.name.ends_with('*');
    if (prefix ? variable.starts_with(rule.name.substr(0, rule.name.size() - 1)) : variable == rule.name) return &rule;
  }
  return nullptr;
}

EnvironmentFacts gather_environment(const Tree& tree, const GatherOptions& options) {
  std::vector<std::string> entries;
  if (options.live) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  } else {
    const std::string text = tree.peek("proc/self/environ").value_or("");
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\0', at), text.size());
      entries.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  EnvironmentFacts facts;
  std::string recorded;
  for (const std::string& entry : entries) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    const VariableRule* rule = find_rule(name);
    if (rule == nullptr) continue;
    facts.variables.emplace_back(name, shown_value(*rule, entry.substr(equals + 1)));
  }
  std::ranges::sort(facts.variables);
  for (const auto& [name, value] : facts.variables) recorded += name + "=" + value + '\0';
  tree.record("proc/self/environ", recorded);
  return facts;
}

}  // namespace tessera::doctor
