#include "cli/vllm_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

namespace tessera::cli {
namespace {

// What a flag's value may be, besides a list "a|b" of those that ask for nothing more than is here.
constexpr const char* kAny = "*";       // any one
constexpr const char* kAnyMany = "**";  // any number of any
constexpr const char* kNone = "";       // no value makes it right

struct VllmFlag {
  const char* names;  // "--a,--b"
  const char* values;
  const char* why;  // it changes nothing, or cannot be had
};

constexpr const char* kOneProcess = "there is one process, with one GPU or the CPU";
constexpr const char* kTextOnly = "this server takes text only";
constexpr const char* kNoKernelChoice = "kernels are chosen by what was measured (tessera tune)";
constexpr const char* kFixedMemory = "memory is laid out at start";
constexpr const char* kAlwaysChunked = "prefill is always chunked, which changes no bit";
constexpr const char* kPlacesOfStates = "states are kept where prompts are likely to go on";
constexpr const char* kNoLora = "there are no adapters";
constexpr const char* kNoDownload = "nothing is downloaded";
constexpr const char* kOwnTokenizer = "the tokenizer is the model's own";
constexpr const char* kXgrammar = "xgrammar is always used";
constexpr const char* kNoTraces = "there are no traces; see /metrics and the access log";
constexpr const char* kNoTransfer = "keys and values stay in this process";

// Facts about vllm's flags: docs.vllm.ai, "vllm serve". Switches are taken with "--no-" before them too.
constexpr auto kSwitches = std::to_array<std::pair<const char*, const char*>>({
    {"--trust-remote-code", "code from a model's repository is never run"},
    {"--disable-custom-all-reduce", "there is one process and nothing to reduce"},
    {"--enable-chunked-prefill", kAlwaysChunked},
    {"--disable-chunked-mm-input", kTextOnly},
    {"--async-scheduling", "on a GPU the engine is always a step ahead"},
    {"--language-model-only", kTextOnly},
    {"--skip-mm-profiling", kTextOnly},
    {"--interleave-mm-strings", kTextOnly},
    {"--enable-expert-parallel", kOneProcess},
    {"--enable-eplb", kOneProcess},
    {"--enable-dbo", kOneProcess},
    {"--disable-frontend-multiprocessing", kOneProcess},
    {"--disable-hybrid-kv-cache-manager", kFixedMemory},
    {"--disable-sliding-window", "the models here have none"},
    {"--disable-cascade-attn", "there is none"},
    {"--enable-request-id-headers", "answers always have X-Request-Id"},
    {"--enable-log-requests", "there is an access log (--disable-log-requests)"},
    {"--enable-log-outputs", "answers are not logged"},
    {"--enable-server-load-tracking", "see /metrics"},
    {"--enable-mfu-metrics", "see tessera:step_read_fraction in /metrics"},
    {"--disable-fastapi-docs", "there are no such pages"},
    {"--exclude-tools-when-tool-choice-none", "tools are always left out then"},
    {"--use-tqdm-on-load", "there is a bar on terminals"},
    {"--enable-layerwise-nvtx-tracing", kNoTraces},
    {"--kv-cache-metrics", kNoTraces},
    {"--kv-sharing-fast-prefill", "the models here share no keys and values"},
});

constexpr VllmFlag kFlags[] = {
    // What changes nothing here, whatever it is.
    {"--seed", kAny, "each request without a seed draws its own; say \"seed\" in requests"},
    {"--optimization-level,-O", kAny, kNoKernelChoice},
    {"--compilation-config", kAny, kNoKernelChoice},
    {"--performance-mode", kAny, kNoKernelChoice},
    {"--attention-backend", kAny, kNoKernelChoice},
    {"--attention-config", kAny, kNoKernelChoice},
    {"--moe-backend", kAny, kNoKernelChoice},
    {"--linear-backend", kAny, kNoKernelChoice},
    {"--kernel-config", kAny, kNoKernelChoice},
    {"--all2all-backend", kAny, kOneProcess},
    {"--eplb-config", kAny, kOneProcess},
    {"--cuda-graph-sizes", kAnyMany, "every size has a graph"},
    {"--cudagraph-capture-sizes", kAnyMany, "every size has a graph"},
    {"--max-cudagraph-capture-size", kAny, "every size has a graph"},
    {"--max-seq-len-to-capture", kAny, "every size has a graph"},
    {"--swap-space", kAny, "nothing is swapped: preempted requests are computed again"},
    {"--block-size", kAny, "a block has 64 tokens"},
    {"--num-gpu-blocks-override", kAny, "see --kv-cache-memory-bytes"},
    {"--max-num-partial-prefills", kAny, kAlwaysChunked},
    {"--max-long-partial-prefills", kAny, kAlwaysChunked},
    {"--long-prefill-token-threshold", kAny, kAlwaysChunked},
    {"--stream-interval", kAny, "every token is sent when it is there"},
    {"--prefix-caching-hash-algo", kAny, "tokens are compared, not hashes of them"},
    {"--mamba-block-size", kAny, kPlacesOfStates},
    {"--mamba-cache-mode", kAny, kPlacesOfStates},
    {"--distributed-executor-backend", kAny, kOneProcess},
    {"--max-parallel-loading-workers", kAny, "as many threads load as there are cores"},
    {"--safetensors-load-strategy", kAny, "files are read ahead of the loader"},
    {"--model-impl", kAny, "there is one"},
    {"--quantization", kAny, "each tensor's format is what the checkpoint stores"},
    {"--limit-mm-per-prompt", kAny, kTextOnly},
    {"--mm-processor-kwargs", kAny, kTextOnly},
    {"--mm-processor-cache-gb", kAny, kTextOnly},
    {"--mm-processor-cache-type", kAny, kTextOnly},
    {"--mm-encoder-tp-mode", kAny, kTextOnly},
    {"--mm-encoder-attn-backend", kAny, kTextOnly},
    {"--media-io-kwargs", kAny, kTextOnly},
    {"--video-pruning-rate", kAny, kTextOnly},
    {"--allowed-local-media-path", kAny, kTextOnly},
    {"--allowed-media-domains", kAnyMany, kTextOnly},
    {"--guided-decoding-backend", kAny, kXgrammar},
    {"--structured-outputs-config", kAny, kXgrammar},
    {"--chat-template-content-format", kAny, "templates are given text"},
    {"--hf-token", kAny, kNoDownload},
    {"--api-server-count", kAny, kOneProcess},
    {"--max-log-len", kAny, "prompts are not logged"},
    {"--uvicorn-log-level", kAny, "see TESSERA_LOG"},
    {"--log-config-file", kAny, "see TESSERA_LOG"},
    {"--otlp-traces-endpoint", kAny, kNoTraces},
    {"--collect-detailed-traces", kAny, kNoTraces},
    {"--show-hidden-metrics-for-version", kAny, "no metric is hidden"},
    {"--allowed-methods", kAny, "an allowed origin may use all of them"},
    {"--allowed-headers", kAny, "an allowed origin may use all of them"},
    {"--h11-max-incomplete-event-size", kAny, "see --max-header-bytes"},
    {"--h11-max-header-count", kAny, "see --max-headers"},
    // What is fine as long as it asks for nothing more than is here.
    {"--dtype", "auto|bfloat16", "activations are BF16; see --compute"},
    {"--tokenizer-mode", "auto|hf|fast", kOwnTokenizer},
    {"--task,--runner", "auto|generate", "models here generate text"},
    {"--convert", "auto|none", "models here generate text"},
    {"--scheduling-policy", "fcfs", "requests run in the order they come"},
    {"--response-role", "assistant", "answers have the role assistant"},
    {"--mamba-cache-dtype,--mamba-ssm-cache-dtype", "auto|float32", "states are FP32"},
    {"--cpu-offload-gb", "0", "weights stay on one device"},
    {"--tensor-parallel-size", "1", kOneProcess},
    {"--pipeline-parallel-size", "1", kOneProcess},
    {"--data-parallel-size", "1", kOneProcess},
    {"--decode-context-parallel-size", "1", kOneProcess},
    {"--prefill-context-parallel-size", "1", kOneProcess},
    {"--nnodes", "1", kOneProcess},
    {"--node-rank", "0", kOneProcess},
    {"--hf-overrides", "{}", "the model is what its config.json says; change that file"},
    {"--model-loader-extra-config", "{}", "there are no other loaders"},
    {"--kv-transfer-config", "{}", kNoTransfer},
    {"--kv-events-config", "{}", kNoTransfer},
    {"--kv-offloading-backend", "native", kNoTransfer},
    {"--additional-config", "{}", "there is nothing that it would be for"},
    // What would change answers, or what clients see.
    {"--rope-scaling", kNone, "positions are what config.json says; change that file"},
    {"--rope-theta", kNone, "positions are what config.json says; change that file"},
    {"--tokenizer", kNone, kOwnTokenizer},
    {"--tokenizer-revision", kNone, kOwnTokenizer},
    {"--revision", kNone, "give the directory of that revision"},
    {"--download-dir", kNone, "nothing is downloaded; set HF_HOME, or give the model's directory"},
    {"--hf-config-path", kNone, "the config is the one in the model's directory"},
    {"--lora-modules", kNone, kNoLora},
    {"--logits-processors", kNone, "code of others is not run"},
    {"--tool-parser-plugin", kNone, "code of others is not run"},
    {"--reasoning-parser-plugin", kNone, "code of others is not run"},
    {"--middleware", kNone, "code of others is not run"},
    {"--worker-cls", kNone, "code of others is not run"},
    {"--root-path", kNone, "let the proxy take the prefix away"},
    {"--ssl-ca-certs", kNone, "clients show keys (--api-key), not certificates"},
};

// Switches that would change something; turned off, they ask for what is here.
constexpr auto kRefusedSwitches = std::to_array<std::pair<const char*, const char*>>({
    {"--enable-lora", kNoLora},
    {"--enable-sleep-mode", "the engine does not sleep; end the program"},
    {"--enable-prompt-embeds", "give text or token ids"},
    {"--enable-mm-embeds", kTextOnly},
    {"--enable-force-include-usage", "clients ask with stream_options.include_usage"},
    {"--return-tokens-as-token-ids", "clients ask with return_token_ids"},
    {"--calculate-kv-scales", "scales of the KV cache are not computed"},
    {"--skip-tokenizer-init", "a model without tokenizer.json is served by token ids"},
    {"--headless", kOneProcess},
    {"--allow-credentials", "clients show keys, not cookies"},
});

constexpr auto kShort = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"-tp", "--tensor-parallel-size"},
    {"-pp", "--pipeline-parallel-size"},
    {"-dp", "--data-parallel-size"},
    {"-dcp", "--decode-context-parallel-size"},
    {"-pcp", "--prefill-context-parallel-size"},
    {"-ep", "--enable-expert-parallel"},
    {"-sc", "--speculative-config"},
    {"-cc", "--compilation-config"},
    {"-ac", "--attention-config"},
    {"-asc", "--api-server-count"},
});

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// The names of `list` that `command` does not have.
std::string new_names(const CLI::App& command, const char* list) {
  std::vector<std::string> names = parts_of(list, ',');
  std::erase_if(names, [&](const std::string& name) { return command.get_option_no_throw(name) != nullptr; });
  return fmt::format("{}", fmt::join(names, ","));
}

/// `given` is told whether the switch was turned on, or off.
void add_switch(CLI::App& command, const char* flag, const std::function<void(bool)>& given) {
  const std::string opposite = "--no-" + std::string(flag + std::strlen("--"));
  std::string names = new_names(command, flag);
  if (const std::string off = new_names(command, opposite.c_str()); !off.empty()) {
    names += (names.empty() ? "!" : ",!") + off;
  }
  if (!names.empty()) {
    command.add_flag_function(names, [given](int64_t count) { given(count > 0); })->group("");
  }
}

void add_with_value(CLI::App& command, const VllmFlag& flag, std::vector<std::string>& ignored) {
  const std::string names = new_names(command, flag.names);
  if (names.empty()) return;
  const bool many = std::strcmp(flag.values, kAnyMany) == 0, any = many || std::strcmp(flag.values, kAny) == 0;
  const auto take = [flag, any, name = parts_of(flag.names, ',').front(),
                     &ignored](const std::vector<std::string>& given) {
    const std::vector<std::string> fine = parts_of(flag.values, '|');
    const std::string& value = given.front();
    if (std::strcmp(flag.values, kNone) == 0) {
      throw CLI::ValidationError(name, fmt::format("it is not supported: {}", flag.why));
    }
    if (!any && std::ranges::find(fine, value) == fine.end()) {
      throw CLI::ValidationError(
          name, fmt::format("found \"{}\", expected {}: {}", value, fmt::join(fine, " or "), flag.why));
    }
    ignored.push_back(fmt::format("{} ({})", name, flag.why));
  };
  CLI::Option* option = command.add_option_function<std::vector<std::string>>(names, take)->group("");
  if (many) {
    option->expected(1, CLI::detail::expected_max_vector_size);
  } else {
    option->expected(1)->take_last();  // JSON may come in parts
  }
}

}  // namespace

void add_vllm_flags(CLI::App& command, std::vector<std::string>& ignored) {
  for (const auto& [flag, why] : kSwitches) {
    add_switch(command, flag, [flag, why, &ignored](bool) { ignored.push_back(fmt::format("{} ({})", flag, why)); });
  }
  for (const auto& [flag, why] : kRefusedSwitches) {
    add_switch(command, flag, [flag, why, &ignored](bool on) {
      if (on) throw CLI::ValidationError(flag, fmt::format("it is not supported: {}", why));
      ignored.push_back(fmt::format("{} ({})", flag, why));
    });
  }
  for (const VllmFlag& flag : kFlags) add_with_value(command, flag, ignored);
}

std::string vllm_spelling(const std::string& word) {
  const auto found = std::ranges::find(kShort, std::string_view(word), [](const auto& pair) { return pair.first; });
  if (found != kShort.end()) return std::string(found->second);
  if (!word.starts_with("--")) return word;
  const size_t end = std::min(word.find('='), word.size());
  std::string name = word.substr(0, end);
  std::ranges::replace(name, '_', '-');
  // "--limit-mm-per-prompt.image 0" is a part of that flag's JSON.
  return name.substr(0, name.find('.')) + word.substr(end);
}

}  // namespace tessera::cli
