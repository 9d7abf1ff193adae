#include "cli/engine_flags.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/live_gpu.h"
#include "cli/load_model.h"
#include "cli/progress.h"
#include "cli/step_plan.h"
#include "engine/draft_policy.h"
#include "engine/fit.h"
#include "kernels/batch.h"
#include "model/weight_profile.h"

namespace tessera::cli {
namespace {

constexpr const char* kGroup = "Engine";

/// vllm's --speculative-config, and whether drafts are made where they do not pay.
void read_speculative_config(const std::string& text, EngineOptions& options) {
  const auto fail = [&](const std::string& why) {
    throw CLI::ValidationError(fmt::format(
        R"(--speculative-config: found {}, {}; expected JSON such as {{"method": "mtp", "num_speculative_tokens": 5}})",
        text, why));
  };
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) fail("which is no JSON object");
  for (const auto& [key, value] : json.items()) {
    if (key == "num_speculative_tokens") {
      if (!value.is_number_integer() || value < 0 || value > kernels::kDraftsMax) {
        fail(fmt::format("whose num_speculative_tokens is not a whole number from 0 to {}", kernels::kDraftsMax));
      }
      options.speculative_tokens = value.get<int>();
    } else if (key == "method") {
      static const std::set<std::string> kMtp = {"mtp", "qwen3_5_mtp", "qwen3_next_mtp", "auto"};
      if (!value.is_string() || !kMtp.contains(value.get<std::string>())) {
        fail("whose method is not mtp: drafts are made by a model's own MTP head alone");
      }
    } else if (key == "draft_head") {
      static const std::set<std::string> kHeads = {"auto", "full", "fp8", "nvfp4"};
      if (!value.is_string() || !kHeads.contains(value.get<std::string>())) {
        fail("whose draft_head is none of auto, full, fp8 and nvfp4");
      }
      options.draft_head = value.get<std::string>();
    } else if (key == "adaptive") {
      if (!value.is_boolean()) fail("whose adaptive is neither true nor false");
      options.speculative_always = !value.get<bool>();
    } else {
      fail(fmt::format("with the unknown \"{}\"", key));
    }
  }
}

}  // namespace

CLI::Option* add_device_flag(CLI::App& command, std::string& device, const char* group) {
  return command
      .add_option("--device", device, "auto (default: the first GPU that can run it, else the CPU), cpu, cuda, cuda:N")
      ->type_name("D")
      ->check(device_words())
      ->group(group);
}

CLI::Option* add_gpu_flag(CLI::App& command, int& gpu) {
  return command.add_option("--gpu", gpu, "Which GPU, counted from 0 (default 0)")
      ->type_name("N")
      ->check(whole(0, std::numeric_limits<int>::max()));
}

void add_requantize_flag(CLI::App& command, std::string& format, const char* group) {
  command
      .add_option("--requantize-projections", format,
                  "fp8: BF16 projections of attention, Gated DeltaNet and shared experts become FP8 when loaded")
      ->type_name("F")
      ->check(one_of({"fp8"}))
      ->group(group);
}

void add_engine_flags(CLI::App& command, EngineFlags& flags) {
  EngineOptions& options = flags.options;
  command
      .add_option("--max-model-len", options.max_model_len, "Tokens of a sequence, prompt and answer (16k is 16000)")
      ->type_name("N")
      ->transform(with_suffix())
      ->check(whole(1, int64_t{1} << 30))
      ->group(kGroup);
  command.add_option("--max-num-seqs", options.max_num_seqs, "Sequences that run at once")
      ->type_name("N")
      ->check(whole(1, engine::kMaxSeqsLimit))
      ->group(kGroup);
  command
      .add_option("--max-num-batched-tokens", options.max_num_batched_tokens,
                  fmt::format("Rows of a step (default {} on a GPU, {} on the CPU)", engine::kDefaultGpuBatchedTokens,
                              engine::kDefaultBatchedTokens))
      ->type_name("N")
      ->transform(with_suffix())
      ->check(whole(1, engine::kBatchedTokensLimit))
      ->group(kGroup);
  command
      .add_option("--kv-cache-dtype", options.kv_cache_dtype, "auto (default: as the checkpoint says), bfloat16, fp8")
      ->type_name("D")
      ->transform(also({{"bf16", "bfloat16"}, {"fp8_e4m3", "fp8"}}))
      ->check(one_of({"auto", "bfloat16", "fp8"}))
      ->group(kGroup);
  command.add_option("--kv-cache-memory-bytes", options.memory_bytes, "Memory for KV cache and states (4G is 4 GiB)")
      ->type_name("N")
      ->transform(with_suffix())
      ->check(whole(1, int64_t{1} << 50))
      ->group(kGroup);
  add_device_flag(command, options.device, kGroup);
  command
      .add_option("--gpu-memory-utilization", options.gpu_memory_utilization,
                  "Of a GPU's memory, what the engine may take (default 0.9)")
      ->type_name("X")
      ->check(number(0.01, 1))
      ->group(kGroup);
  command
      .add_flag("--cuda-graphs,!--no-cuda-graphs,!--enforce-eager", options.cuda_graphs,
                "Decode steps as CUDA graphs (default); the same bits without")
      ->group(kGroup);
  command
      .add_flag("--pdl,!--no-pdl", options.pdl,
                "Programmatic dependent launch of kernels (default); the same bits without")
      ->group(kGroup);
  command
      .add_flag("--enable-prefix-caching,!--no-enable-prefix-caching", options.prefix_caching,
                "Compute what prompts begin with once (default); the same bits without")
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--prefix-cache-mode",
          [&options](const std::string& mode) { options.prefix_cache_keeps_answers = mode == "fast"; },
          "exact (default): the same bits as without it; fast: keeps answers as they were decoded, too, so that the "
          "next turn reads nothing again, with other bits")
      ->type_name("M")
      ->check(one_of({"exact", "fast"}))
      ->group(kGroup);
  command
      .add_flag("--idle-prefill,!--no-idle-prefill", options.idle_prefill,
                "Read answers into the prefix cache while no request wants a step (default); the same bits without")
      ->group(kGroup);
  const auto add_gib = [&](const char* names, size_t& bytes, const char* help) {
    command
        .add_option_function<double>(
            names, [&bytes](double gib) { bytes = static_cast<size_t>(gib * (1 << 30)); }, help)
        ->type_name("N")
        ->check(number(0, 1 << 20))
        ->group(kGroup);
  };
  add_gib("--kv-offload-gib,--kv-offloading-size", options.kv_offload_bytes,
          "GiB of the host's memory for what the prefix cache has no room for (default 0); the same bits without");
  command
      .add_option("--kv-offload-dir", options.kv_offload_dir,
                  "Directory that keeps a copy of what is in that memory, also for later; the same bits without")
      ->type_name("DIR")
      ->group(kGroup);
  add_gib("--kv-offload-dir-gib", options.kv_offload_dir_bytes, "GiB of its files, at most (default 64)");
  command
      .add_option(
          "--prefill-step-ms", options.prefill_step_ms,
          "Milliseconds of a step that reads prompts beside answers (default: these take twice as long; 0: no bound)")
      ->type_name("N")
      ->check(whole(0, 60'000))
      ->group(kGroup);
  command
      .add_option(
          "--num-speculative-tokens", options.speculative_tokens,
          "Drafts of the MTP head, at most, as far as they pay (default: 5 on a GPU, else 0); the same bits without")
      ->type_name("N")
      ->check(whole(0, kernels::kDraftsMax))
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--speculative-config", [&options](const std::string& json) { read_speculative_config(json, options); },
          R"(vllm's JSON: {"method": "mtp", "num_speculative_tokens": 5}; "adaptive": false, "draft_head": "full", "fp8" or "nvfp4")")
      ->type_name("JSON")
      ->group(kGroup);
  command
      .add_option("--load-format", options.load_format,
                  "auto (default), or dummy: random weights in the shape of config.json, made on a GPU")
      ->type_name("F")
      ->transform(also({{"hf", "auto"}, {"safetensors", "auto"}, {"fastsafetensors", "auto"}}))
      ->check(one_of({"auto", "dummy"}))
      ->group(kGroup);
  add_requantize_flag(command, options.requantize_projections, kGroup);
  command.add_option("--compute", options.compute, "bf16 (default), or fp32: no rounding between operations")
      ->type_name("C")
      ->check(one_of({"bf16", "fp32"}))
      ->group(kGroup);
  command.add_option("--threads", options.threads, "CPU threads (default: all cores)")
      ->type_name("N")
      ->check(whole(1, engine::kThreadsLimit))
      ->group(kGroup);
  command
      .add_flag("--print-plan", flags.print_plan,
                "List on standard error what steps launch on the GPU, and go on (see tessera plan)")
      ->group(kGroup);
  command.add_flag("-q,--quiet", flags.quiet, "Nothing on standard error but failures");
}

void add_verbose_flag(CLI::App& command, EngineFlags& flags, const std::string& what, const char* group) {
  command.add_flag("--verbose", flags.verbose, what)->group(group);
}

void add_chat_template_flag(CLI::App& command, EngineFlags& flags, const char* group) {
  command
      .add_option("--chat-template", flags.options.chat_template, "Jinja template to use in place of the model's own")
      ->type_name("FILE")
      ->check(readable_file())
      ->group(group);
  command
      .add_flag("--parse-special-tokens", flags.options.parse_special_tokens,
                "Control tokens in messages (<|im_end|>, <think>) are these tokens, not text")
      ->group(group);
}

std::string fit_text(const std::string& model, const FitReport& fit) {
  const int64_t cached_tokens = int64_t{fit.kv_blocks} * kernels::kBlockTokens;
  const std::string tier =
      fit.host_pages > 0
          ? fmt::format(", {} of the host's memory for what the prefix cache gives up", format_bytes(fit.host_bytes()))
          : "";
  return fmt::format(
      "{}: {} of weights, {} of KV cache ({} tokens, {}), {} of states, {} to work in{}; {} of memory are free\n"
      "up to {} sequence{} at once, of {} tokens each at most",
      model, format_bytes(fit.weight_bytes), format_bytes(fit.kv_bytes()), cached_tokens, fit.kv_cache_dtype,
      format_bytes(fit.state_bytes()), format_bytes(fit.workspace_bytes), tier, format_bytes(fit.available_bytes),
      fit.max_num_seqs, fit.max_num_seqs == 1 ? "" : "s", fit.max_model_len);
}

std::string requantized_text(int matrices, size_t stored_bytes) {
  if (matrices == 0) return "no projection is BF16: --requantize-projections changes nothing";
  return fmt::format("{} projections, {} as they are stored, become FP8 with a scale a row (--requantize-projections)",
                     matrices, format_bytes(stored_bytes));
}

void end_without_teardown(const Status& why) {
  note("tessera: {}", why.message());
  std::fflush(nullptr);
  std::_Exit(kFailure);
}

void watch_gpu_calls(std::chrono::milliseconds limit) {
  watch_calls(limit, [](const char* call, std::chrono::milliseconds waited) {
    end_without_teardown(error(StatusCode::unavailable,
                               "the GPU's driver has not returned from {} for {} s: a kernel, or the driver, hangs",
                               call, std::chrono::duration<double>(waited).count()));
  });
}

Status close_engine(Engine& engine, Status status) {
  if (const Status failure = engine.close(); !failure.ok()) end_without_teardown(failure);
  return status;
}

namespace {

/// What steps launch on the GPU that the engine runs on, of sizes that it may take.
Status print_plan(const EngineOptions& options, const FitReport& fit) {
  const std::string prefix = "cuda:";
  if (!fit.device.starts_with(prefix)) {
    note("the engine runs on the CPU: there are no launches to list; `tessera plan` lists those of a GPU");
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const LiveGpu gpu, live_gpu(std::stoi(fit.device.substr(prefix.size()))));
  TESSERA_ASSIGN_OR_RETURN(const auto opened, engine::open_model(options.model, options.load_format == "dummy"));
  ThreadPool pool(options.threads > 0 ? options.threads : default_thread_count());
  const model::PlanOptions weights{.requantize_projections = !options.requantize_projections.empty()};
  StepPlanOptions plan;
  plan.gpu = gpu.facts;
  plan.tuning = read_tuning(gpu);
  plan.kv_dtype = fit.kv_cache_dtype == "fp8" ? DType::f8_e4m3 : DType::bf16;
  plan.max_model_len = fit.max_model_len;
  std::erase_if(plan.steps, [&](const StepSize& step) { return !step.prefill && step.rows > fit.max_num_seqs; });
  plan.steps.back().rows = std::min<int64_t>(plan.steps.back().rows, fit.max_num_batched_tokens);
  const auto load = [&](kernels::Backend& backend) { return opened.load(backend, {.plan = weights, .pool = &pool}); };
  TESSERA_ASSIGN_OR_RETURN(const auto steps, plan_steps(load, plan));
  note("{}", step_plan_text(steps, plan));
  return {};
}

}  // namespace

Expected<Engine> open_engine(const EngineFlags& flags) {
  if (!flags.quiet) {
    if (!flags.ignored.empty()) note("without effect here: {}", fmt::join(flags.ignored, ", "));
  }
  EngineOptions options = flags.options;
  ProgressBar bar("loading", flags.quiet);
  options.on_load_progress = [&bar](size_t done, size_t total) { bar.update(done, total); };
  options.on_fit = [&](const FitReport& fit) {
    const std::string name = std::filesystem::path(options.model).filename().string();
    if (!flags.quiet) note("{}", fit_text(name.empty() ? options.model : name, fit));
    if (!flags.quiet && !options.requantize_projections.empty()) {
      note("{}", requantized_text(fit.requantized_matrices, fit.requantized_stored_bytes));
    }
    bar.update(0, fit.weight_bytes);
  };
  auto engine = Engine::create(options);
  bar.clear();
  if (engine && !flags.quiet && bar.seconds() > 1) note("loaded in {}", format_seconds(bar.seconds()));
  if (engine && flags.verbose && !flags.quiet) {
    std::vector<Setting> settings = engine_settings(options, engine->fit());
    settings.insert(settings.end(), flags.settings.begin(), flags.settings.end());
    note("{}", settings_text(settings));
  }
  if (engine && flags.print_plan) TESSERA_RETURN_IF_ERROR(print_plan(options, engine->fit()));
  return engine;
}

}  // namespace tessera::cli
