#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/live_gpu.h"
#include "cli/load_model.h"
#include "cli/step_plan.h"
#include "engine/precision.h"
#include "model/synth.h"
#include "model/weight_profile.h"

namespace tessera::cli {
namespace {

struct PlanOptions {
  std::string model, preset, profile = "p1";
  std::string gpu = kLiveGpu;
  std::string kv_cache_dtype = "auto";
  int64_t max_model_len = 8192;
  std::vector<int64_t> decode = {1, 8, 64};
  int64_t prefill = 2048;
};

/// Of a GPU that is there, with its tuned tiles; else of one that is known by name.
Status choose_gpu(const std::string& key, StepPlanOptions& plan) {
  if (key != kLiveGpu) {
    TESSERA_ASSIGN_OR_RETURN(plan.gpu, plan::find_device(key));
    return {};
  }
  auto live = live_gpu(0);
  if (!live.ok()) return live.status().with_context("--gpu takes the name of an absent GPU too");
  plan.gpu = live->facts;
  plan.tuning = read_tuning(*live);
  return {};
}

Expected<OpenedModel> open_preset(const std::string& preset, const std::string& profile) {
  TESSERA_ASSIGN_OR_RETURN(const model::SynthShape shape, model::synth_preset(preset));
  OpenedModel opened;
  TESSERA_ASSIGN_OR_RETURN(opened.config, model::synth_config(shape));
  TESSERA_ASSIGN_OR_RETURN(opened.dummy_formats, model::profile_formats(profile));
  return opened;
}

Status plan(const PlanOptions& options) {
  StepPlanOptions plan;
  TESSERA_RETURN_IF_ERROR(choose_gpu(options.gpu, plan));
  plan.max_model_len = options.max_model_len;
  plan.steps.clear();
  for (const int64_t rows : options.decode) plan.steps.push_back({.rows = rows});
  plan.steps.push_back({.rows = options.prefill, .prefill = true});
  TESSERA_ASSIGN_OR_RETURN(const OpenedModel opened, options.model.empty()
                                                         ? open_preset(options.preset, options.profile)
                                                         : engine::open_model(options.model));
  TESSERA_ASSIGN_OR_RETURN(const auto precision, engine::parse_precision("bf16", options.kv_cache_dtype));
  plan.kv_dtype = precision.kv_dtype_of(opened);
  const auto load = [&](kernels::Backend& backend) { return opened.load(backend); };
  TESSERA_ASSIGN_OR_RETURN(const auto steps, plan_steps(load, plan));
  print("{}", step_plan_text(steps, plan));
  return {};
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "List what the steps of a model launch on a GPU, present or absent");
  CLI::Option* model = command->add_option("MODEL", options->model,
                                           "A directory, or a name in the Hugging Face cache; only headers and "
                                           "small tensors are read");
  command->add_option("--preset", options->preset, "Instead of a model, the shape of 397b, 122b, 35b, 27b or tiny")
      ->type_name("NAME")
      ->check(one_of({"397b", "122b", "35b", "27b", "tiny"}))
      ->excludes(model);
  command->add_option("--profile", options->profile, "Formats of the preset: p1 (default), v2, p6")
      ->type_name("P")
      ->check(one_of({"p1", "v2", "p6"}))
      ->excludes(model);
  std::vector<std::string> keys = {kLiveGpu};
  std::string known;
  for (const plan::DeviceFacts& device : plan::known_devices()) {
    keys.push_back(device.key);
    known += (known.empty() ? "" : ", ") + device.key;
  }
  command->add_option("--gpu", options->gpu, "live (default: the GPU of this machine), " + known)
      ->type_name("GPU")
      ->check(one_of(keys));
  command->add_option("--decode", options->decode, "Rows of decode steps (default 1,8,64)")
      ->type_name("N,N,...")
      ->delimiter(',')
      ->check(whole(1, 1024));
  command->add_option("--prefill", options->prefill, "Rows of a prefill step (default 2048)")
      ->type_name("N")
      ->transform(with_suffix())
      ->check(whole(1, 65'536));
  command->add_option("--max-model-len", options->max_model_len, "Tokens that a sequence may have (default 8192)")
      ->type_name("N")
      ->transform(with_suffix())
      ->check(whole(1, int64_t{1} << 22));
  command
      ->add_option("--kv-cache-dtype", options->kv_cache_dtype, "auto (default: as the checkpoint says), bfloat16, fp8")
      ->type_name("D")
      ->check(one_of({"auto", "bfloat16", "fp8"}));
  command->footer(
      "Examples:\n"
      "  tessera plan MODEL --gpu rtx-pro-6000\n"
      "  tessera plan --preset 397b --gpu h200 --decode 1,16 --kv-cache-dtype fp8");
  command->callback([options, &action] {
    if (options->model.empty() && options->preset.empty()) {
      throw CLI::ValidationError("MODEL or --preset is required");
    }
    action = [options] { return plan(*options); };
  });
}

}  // namespace tessera::cli
