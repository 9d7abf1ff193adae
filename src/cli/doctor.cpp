#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/engine_flags.h"
#include "cli/flags.h"
#include "cli/live_gpu.h"
#include "cli/step_plan.h"
#include "device/device.h"
#include "doctor/check.h"
#include "doctor/gather.h"
#include "engine/open_model.h"
#include "engine/precision.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;
using doctor::Facts;
using doctor::Finding;
using doctor::Level;
using Json = nlohmann::ordered_json;

struct DoctorOptions {
  doctor::GatherOptions gather;
  std::string root, record;
  bool json = false, no_measure = false;
};

constexpr std::array kLevels = {"ok", "warn", "FAIL"};

/// The GPU that a model's kernels are planned for: the first of this machine, or of the recorded one if it is known.
std::optional<StepPlanOptions> plan_options(const Facts& facts, bool live) {
  StepPlanOptions plan;
  if (live) {
    const auto gpu = live_gpu(0);
    if (!gpu.ok()) return std::nullopt;
    plan.gpu = gpu->facts;
    plan.tuning = read_tuning(*gpu);
    return plan;
  }
  if (facts.gpu.gpus.empty()) return std::nullopt;
  for (const plan::DeviceFacts& known : plan::known_devices()) {
    if (facts.gpu.gpus.front().name.find(known.name) == std::string::npos) continue;
    plan.gpu = known;
    return plan;
  }
  return std::nullopt;
}

/// Which kernels a decode step of one sequence is made of; nothing where the build or the machine has no GPU.
std::optional<doctor::PlannedKernels> plan_kernels(const Facts& facts, bool live) {
  if (!facts.model || !facts.model->error.empty()) return std::nullopt;
  if (device::list_gpus().status().code() == StatusCode::unsupported) return std::nullopt;  // built without CUDA
  auto plan = plan_options(facts, live);
  if (!plan) return std::nullopt;
  plan->steps = {{.rows = 1}};
  const auto run = [&]() -> Expected<std::vector<StepPlan>> {
    TESSERA_ASSIGN_OR_RETURN(const auto opened, engine::open_model(facts.model->name));
    TESSERA_ASSIGN_OR_RETURN(const auto precision, engine::parse_precision("bf16", "auto"));
    plan->kv_dtype = precision.kv_dtype_of(opened);
    return plan_steps([&](kernels::Backend& backend) { return opened.load(backend); }, *plan);
  };
  const auto steps = run();
  doctor::PlannedKernels kernels;
  if (!steps.ok()) {
    kernels.error = steps.status().message();
    return kernels;
  }
  for (const StepPlan& step : *steps) {
    kernels.launches += step.launches();
    for (const StepPart& part : step.parts) {
      for (const auto& kernel : part.operation.kernels) {
        if (std::ranges::find(kernels.names, kernel.name) == kernels.names.end()) kernels.names.push_back(kernel.name);
      }
    }
  }
  return kernels;
}

std::string level_text(Level level) {
  const auto index = static_cast<size_t>(level);
  const std::string word = fmt::format("{:<4}", kLevels.at(index));
  constexpr std::array kColours = {"\x1b[32m", "\x1b[33m", "\x1b[31m"};
  return has_style(Stream::out) ? kColours.at(index) + word + "\x1b[0m" : word;
}

size_t count(const std::vector<Finding>& findings, Level level) {
  return static_cast<size_t>(std::ranges::count(findings, level, &Finding::level));
}

std::string table(const std::vector<Finding>& findings) {
  size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.check.size());
  const std::string indent(width + 8, ' ');
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{}  {:<{}}  {}\n", level_text(finding.level), finding.check, width,
                        without_controls(finding.found));
    if (finding.level != Level::ok) text += fmt::format("{}why   {}\n", indent, doctor::find_check(finding.check).why);
    if (!finding.mend.empty()) text += fmt::format("{}mend  {}\n", indent, finding.mend);
  }
  return text + fmt::format("\n{} ok, {} to look at, {} to mend; docs/doctor.md has more on each\n",
                            count(findings, Level::ok), count(findings, Level::warn), count(findings, Level::fail));
}

Json to_json(const std::vector<Finding>& findings) {
  constexpr std::array kNames = {"ok", "warn", "fail"};
  Json json = {{"version", TESSERA_VERSION},
               {"level", kNames.at(static_cast<size_t>(doctor::worst(findings)))},
               {"findings", Json::array()}};
  for (const Finding& finding : findings) {
    json["findings"].push_back({{"check", finding.check},
                                {"level", kNames.at(static_cast<size_t>(finding.level))},
                                {"found", finding.found},
                                {"why", doctor::find_check(finding.check).why},
                                {"mend", finding.mend}});
  }
  return json;
}

Expected<doctor::Tree> open_tree(const DoctorOptions& options) {
  std::error_code ignored;
  if (!options.root.empty() && !fs::is_directory(options.root, ignored)) {
    return error(StatusCode::not_found, "{} is not a directory; --root takes one that --record has made", options.root);
  }
  doctor::Tree tree(options.root.empty() ? "/" : options.root);
  if (options.record.empty()) return tree;
  if (fs::exists(options.record, ignored) && !fs::is_empty(options.record, ignored)) {
    return error(StatusCode::invalid_argument, "{} is there and not empty; --record takes a new directory",
                 options.record);
  }
  fs::create_directories(options.record, ignored);
  tree.record_to(options.record);
  return tree;
}

Status examine(const DoctorOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(const doctor::Tree tree, open_tree(options));
  Facts facts = doctor::gather(tree, options.gather);
  if (!tree.record_error().empty()) {
    return error(StatusCode::unavailable, "the record is not complete: cannot write {}", tree.record_error());
  }
  if (facts.model) facts.model->kernels = plan_kernels(facts, options.gather.live);
  const std::vector<Finding> findings = doctor::check(facts);
  if (options.json) {
    print("{}\n", to_json(findings).dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print("{}", table(findings));
  }
  if (!options.record.empty()) note("recorded in {}: tar -czf machine.tgz {}", options.record, options.record);
  const size_t failed = count(findings, Level::fail);
  if (failed == 0) return {};
  const Status status = error(StatusCode::unavailable, "{} of {} findings are to be mended", failed, findings.size());
  const bool hangs = std::ranges::any_of(facts.gpu.peer_copies, [](const device::PeerCopy& copy) {
    return copy.result == device::PeerCopy::Result::hangs;
  });
  if (hangs) end_without_teardown(status);
  return status;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand("doctor", "Say what is wrong with this machine, and how to mend it");
  command->add_option(
      "MODEL", options->gather.model,
      "A directory, or a name in the Hugging Face cache: is it complete, does it fit, how fast can it be");
  command->add_flag("--full", options->gather.full,
                    "Take half a minute: larger copies between GPUs, a longer read of the disk");
  command->add_flag("--no-measure", options->no_measure,
                    "Measure nothing: neither memory nor disk nor copies between GPUs");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_option("--port", options->gather.port, "Port that shall be free (default: 8000); 0: none")
      ->type_name("N")
      ->check(whole(0, 65535));
  CLI::Option* root =
      command->add_option("--root", options->root, "Judge a machine that --record has written, in place of this one")
          ->type_name("DIR");
  command
      ->add_option(
          "--record", options->record,
          "Also write the facts to a new directory, for a bug report: without names of hosts and users, serial "
          "numbers and keys")
      ->type_name("DIR")
      ->excludes(root);
  command->footer(
      "Needs no rights, changes nothing, takes some seconds; as root it sees more of the PCI bus. Exit code 0: all is\n"
      "well, or there are warnings; 1: something is to be mended.\n\n"
      "Examples:\n"
      "  tessera doctor\n"
      "  tessera doctor MODEL --json\n"
      "  sudo tessera doctor --record machine");
  command->callback([options, &action] {
    options->gather.live = options->root.empty();
    options->gather.measures = !options->no_measure;
    action = [options] { return examine(*options); };
  });
}

}  // namespace tessera::cli
