#include "model/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/compare_models.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/read_input.h"
#include "cli/table.h"
#include "engine/device_choice.h"
#include "text/tokenizer.h"

namespace tessera::cli {
namespace {

using format::WeightFormat;
using model::QuantizedPart;
using model::TensorKind;
using Json = nlohmann::ordered_json;

const std::map<std::string, WeightFormat> kQuantizeFormats = {{"nvfp4", WeightFormat::nvfp4},
                                                              {"mxfp4", WeightFormat::mxfp4},
                                                              {"fp8", WeightFormat::fp8_e4m3},
                                                              {"bf16", WeightFormat::bf16}};

constexpr std::pair<TensorKind, const char*> kQuantizedKinds[] = {
    {TensorKind::routed_expert, "Routed experts"},
    {TensorKind::shared_expert, "Shared experts"},
    {TensorKind::mlp, "MLP of dense models"},
    {TensorKind::attention, "Full attention: q, k, v, o"},
    {TensorKind::delta_net, "Gated DeltaNet: qkv, z, out"},
    {TensorKind::lm_head, "Output head"},
    {TensorKind::mtp, "MTP head, but for its router"},
    {TensorKind::delta_net_ab, "Gated DeltaNet: a, b (sensitive)"},
    {TensorKind::router, "Router and shared expert gate (sensitive)"},
    {TensorKind::embed, "Embedding"},
};

struct QuantizeOptions {
  std::string source;
  std::string destination;
  std::string recipe = "mlp";
  std::string format = "nvfp4";
  std::map<TensorKind, std::string> kinds;  // empty strings: as the recipe has it
  std::string dialect;                      // empty: the source's
  std::string scales = "amax";
  bool separate_scales = false;
  uint64_t shard_megabytes = 5000;
  int threads = 0;
  std::string report_file;
  std::string check_file;  // text to compare result and source on; empty: they are not compared
  int64_t check_tokens = 512;
  LoneModelOptions check;
  bool quiet = false;
};

Expected<model::QuantizeOptions> quantize_options(const QuantizeOptions& options) {
  model::QuantizeOptions quantize;
  TESSERA_ASSIGN_OR_RETURN(quantize.formats,
                           model::quantize_recipe(options.recipe, kQuantizeFormats.at(options.format)));
  for (const auto& [kind, name] : options.kinds) {
    if (name == "keep") {
      quantize.formats.erase(kind);
    } else if (!name.empty()) {
      quantize.formats[kind] = kQuantizeFormats.at(name);
    }
  }
  if (options.dialect == "modelopt") quantize.dialect = format::Dialect::modelopt;
  if (options.dialect == "compressed-tensors") quantize.dialect = format::Dialect::compressed_tensors;
  quantize.scales = options.scales == "mse" ? format::ScaleChoice::mse : format::ScaleChoice::amax;
  quantize.shared_scales = !options.separate_scales;
  quantize.shard_bytes_max = options.shard_megabytes * 1'000'000;
  return quantize;
}

std::string kind_name(const QuantizedPart& part) { return part.kind ? std::string(model::name(*part.kind)) : "vision"; }

std::string dialect_name(format::Dialect dialect) {
  return dialect == format::Dialect::modelopt ? "modelopt" : "compressed-tensors";
}

Json to_json(const model::QuantizeReport& report) {
  Json parts = Json::array();
  for (const QuantizedPart& part : report.parts) {
    Json entry = {{"kind", kind_name(part)},
                  {"from", part.from},
                  {"to", part.to},
                  {"tensors", part.tensors},
                  {"weights", part.elements},
                  {"bytes_before", part.bytes_before},
                  {"bytes_after", part.bytes_after},
                  {"bits_per_weight", part.bits_per_weight()}};
    if (part.from != part.to) {
      entry["relative_rms_error"] = part.error.relative_l2();
      entry["max_abs_error"] = part.error.max_abs_error;
      entry["saturated"] = part.error.saturated;
      entry["worst_tensor"] = part.worst;
      entry["worst_relative_rms_error"] = part.worst_error;
    }
    parts.push_back(std::move(entry));
  }
  return {{"dialect", dialect_name(report.dialect)},
          {"parts", std::move(parts)},
          {"already_quantized", report.already_quantized},
          {"files_left_out", report.files_left_out}};
}

Json to_json(const ModelDistance& distance) {
  return {{"device", distance.device},
          {"tokens", distance.tokens},
          {"source_perplexity", distance.reference_perplexity},
          {"perplexity", distance.perplexity},
          {"kl_divergence", distance.kl_divergence},
          {"worst_kl_divergence", distance.worst_kl_divergence},
          {"same_best_token", distance.same_best_token}};
}

void print_report(const model::QuantizeReport& report, const std::string& destination, double seconds) {
  std::vector<std::vector<std::string>> rows = {
      {"kind", "format", "tensors", "weights", "before", "after", "bits", "error", "worst", "worst tensor"}};
  uint64_t before = 0;
  uint64_t after = 0;
  for (const QuantizedPart& part : report.parts) {
    const bool copied = part.from == part.to;
    before += part.bytes_before;
    after += part.bytes_after;
    rows.push_back({kind_name(part), copied ? part.from : part.from + " -> " + part.to, std::to_string(part.tensors),
                    format_count(static_cast<double>(part.elements)), format_bytes(part.bytes_before),
                    format_bytes(part.bytes_after), fmt::format("{:.2f}", part.bits_per_weight()),
                    copied ? "-" : fmt::format("{:.2f} %", 100 * part.error.relative_l2()),
                    copied ? "-" : fmt::format("{:.2f} %", 100 * part.worst_error),
                    copied ? "" : without_controls(part.worst)});
  }
  print("{}", format_table("<<>>>>>>><", rows));
  print(
      "error: root mean square of the rounding errors against that of the weights; bits: of a weight, scales "
      "included\n");
  for (const std::string& part : report.already_quantized) print("{} already: copied as it is\n", part);
  for (const std::string& file : report.files_left_out) note("not copied: {}", without_controls(file));
  print("{}: {} -> {}, {} dialect, {}\n", destination, format_bytes(before), format_bytes(after),
        dialect_name(report.dialect), format_seconds(seconds));
}

void print_distance(const ModelDistance& distance) {
  print(
      "on {}, {} tokens: perplexity {:.5f}, of the source {:.5f}; KL divergence {:.6f} a token, {:.4f} at the worst; "
      "the same likeliest token after {:.2f} % of them\n",
      distance.device, distance.tokens, distance.perplexity, distance.reference_perplexity, distance.kl_divergence,
      distance.worst_kl_divergence, 100 * distance.same_best_token);
}

/// The first tokens of the text that the models are compared on.
Expected<std::vector<int32_t>> check_tokens(const QuantizeOptions& options, const OpenedModel& source) {
  TESSERA_ASSIGN_OR_RETURN(const auto tokenizer,
                           text::Tokenizer::load(source.checkpoint.directory() / "tokenizer.json"));
  TESSERA_ASSIGN_OR_RETURN(const std::string text, read_input(options.check_file));
  TESSERA_ASSIGN_OR_RETURN(std::vector<int32_t> tokens, tokenizer.encode(text));
  const auto most = std::min(options.check_tokens, source.config.max_position_embeddings);
  tokens.resize(std::min(tokens.size(), static_cast<size_t>(most)));
  if (tokens.size() >= 2) return tokens;
  return error(StatusCode::invalid_argument, "{} holds {} tokens, expected at least 2", options.check_file,
               tokens.size());
}

/// The source as it is run, with the tokens that its copy is compared on; nothing without --check.
struct Check {
  OpenedModel source;
  std::vector<int32_t> tokens;
};
Expected<std::optional<Check>> open_check(const QuantizeOptions& options) {
  if (options.check_file.empty()) return std::optional<Check>();
  // Found out before hours of work, not after.
  TESSERA_RETURN_IF_ERROR(engine::choose_devices(options.check.device, options.check.compute == "fp32").status());
  Check check;
  TESSERA_ASSIGN_OR_RETURN(check.source, engine::open_model(options.source));
  TESSERA_ASSIGN_OR_RETURN(check.tokens, check_tokens(options, check.source));
  return std::optional(std::move(check));
}

Expected<ModelDistance> compare(const QuantizeOptions& options, const Check& check) {
  TESSERA_ASSIGN_OR_RETURN(const OpenedModel made, engine::open_model(options.destination));
  LoneModelOptions load = options.check;
  load.threads = options.threads;
  load.quiet = options.quiet;
  auto distance = compare_models(check.source, made, check.tokens, load);
  if (distance.ok()) return distance;
  return distance.status().with_context(
      fmt::format("{} is written, but could not be compared with its source", options.destination));
}

Status quantize(const QuantizeOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(model::QuantizeOptions quantize, quantize_options(options));
  TESSERA_ASSIGN_OR_RETURN(const auto directory, format::find_model(options.source));
  TESSERA_ASSIGN_OR_RETURN(const format::Checkpoint source, format::Checkpoint::open(directory));
  TESSERA_ASSIGN_OR_RETURN(const std::optional<Check> check, open_check(options));
  // Opened first: hours of work shall not end in a report that cannot be written.
  std::ofstream report_file;
  if (!options.report_file.empty()) {
    report_file.open(options.report_file, std::ios::app);  // what is there stays until there is a new one
    if (!report_file) {
      return error(StatusCode::invalid_argument, "cannot write {}: {}", options.report_file, std::strerror(errno));
    }
    report_file.close();
  }
  ThreadPool pool(options.threads > 0 ? options.threads : default_thread_count());
  std::atomic<bool> stopped = false;
  const OnInterrupt on_interrupt([&] { stopped = true; });
  ProgressBar bar("quantizing", options.quiet);
  // What begins with the first progress is ours: a run that a signal ends at once takes it along.
  const auto remove_partial = [partial = options.destination + ".partial"] {
    std::error_code ignored;
    std::filesystem::remove_all(partial, ignored);
  };
  bool begun = false;
  quantize.progress = [&](size_t done, size_t total) {
    if (!std::exchange(begun, true)) set_last_rites(remove_partial);
    bar.update(done, total);
    return !stopped.load();
  };
  const auto report = model::quantize_checkpoint(source, options.destination, quantize, pool);
  set_last_rites({});
  bar.clear();
  if (!report.ok()) return report.status();
  print_report(*report, options.destination, bar.seconds());
  Json json = to_json(*report);
  Status compared;
  if (check) {
    const auto distance = compare(options, *check);
    compared = distance.status();
    if (distance.ok()) {
      print_distance(*distance);
      json["check"] = to_json(*distance);
    }
  }
  if (!options.report_file.empty()) report_file.open(options.report_file, std::ios::trunc);
  if (report_file.is_open()) report_file << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  if (report_file.is_open()) report_file.close();
  TESSERA_RETURN_IF_ERROR(compared);
  return report_file ? Status()
                     : error(StatusCode::unavailable, "cannot write {}; is the disk full?", options.report_file);
}

void add_format_flags(CLI::App* command, QuantizeOptions& options) {
  const char* group = "What is quantised to what";
  command
      ->add_option("--recipe", options.recipe,
                   "experts: routed experts; mlp (default): shared experts and dense MLPs too; balanced: mlp, and FP8 "
                   "for attention and Gated DeltaNet; all: mlp, attention, Gated DeltaNet, output and MTP heads")
      ->type_name("R")
      ->check(one_of({"experts", "mlp", "balanced", "all"}))
      ->group(group);
  command->add_option("--format", options.format, "The recipe's main format: nvfp4 (default), mxfp4 or fp8")
      ->type_name("F")
      ->check(one_of({"nvfp4", "mxfp4", "fp8"}))
      ->group(group);
  for (const auto& [kind, what] : kQuantizedKinds) {
    command
        ->add_option("--" + std::string(model::name(kind)), options.kinds[kind],
                     fmt::format("{}: nvfp4, mxfp4, fp8, bf16 or keep", what))
        ->type_name("F")
        ->check(one_of({"nvfp4", "mxfp4", "fp8", "bf16", "keep"}))
        ->group(group);
  }
}

void add_check_flags(CLI::App& command, QuantizeOptions& options) {
  const char* group = "Comparing the result with its source";
  CLI::Option* check =
      command
          .add_option(
              "--check", options.check_file,
              "Text that both models read afterwards: perplexities, KL divergence, and how often the likeliest token "
              "is the same; - for standard input")
          ->type_name("FILE")
          ->check(readable_text())
          ->group(group);
  command
      .add_option(
          "--check-tokens", options.check_tokens,
          "Tokens of it at most (default 512); a token takes 4 bytes of memory for each entry of the vocabulary")
      ->type_name("N")
      ->transform(with_suffix())
      ->check(whole(2, 1 << 20))
      ->group(group);
  add_device_flags(command, options.check, group);
  for (CLI::Option* option : command.get_options({})) {
    if (option->get_group() == group && option != check) option->needs(check);
  }
}

}  // namespace

void add_quantize(CLI::App& app, Action& action) {
  auto options = std::make_shared<QuantizeOptions>();
  CLI::App* command = app.add_subcommand("quantize", "Write a smaller copy of a checkpoint in 4-bit or FP8 formats");
  command->add_option("MODEL", options->source, "What to quantise: a directory or a name in the Hugging Face cache")
      ->required();
  command->add_option("DIR", options->destination, "Directory to make; must not be there")->required();
  add_format_flags(command, *options);
  add_check_flags(*command, *options);
  command
      ->add_option("--scales", options->scales,
                   "How block scales are chosen: amax (default), or mse: the best of several, more exact and slower")
      ->type_name("S")
      ->check(one_of({"amax", "mse"}));
  command
      ->add_option("--dialect", options->dialect,
                   "How they are spelled: modelopt or compressed-tensors (default: as the source, else modelopt)")
      ->type_name("D")
      ->check(one_of({"modelopt", "compressed-tensors"}));
  command->add_flag("--separate-scales", options->separate_scales,
                    "A tensor scale of its own for gate and up, and for q, k and v; slightly more exact, but other "
                    "engines read one scale for all of them");
  command->add_option("--shard-size", options->shard_megabytes, "Megabytes of a file at most (default 5000)")
      ->type_name("MB")
      ->check(whole(1, 10'000'000));
  command->add_option("--threads", options->threads, "Threads (default: all cores)")
      ->type_name("N")
      ->check(whole(1, 1024));
  command->add_option("--report", options->report_file, "Write the errors of each part as JSON")->type_name("FILE");
  command->add_flag("-q,--quiet", options->quiet, "No progress");
  command->footer(
      "Examples:\n"
      "  tessera quantize Qwen/Qwen3.5-35B-A3B /models/35b-nvfp4 --recipe balanced\n"
      "  tessera quantize ./bf16 ./nvfp4 --scales mse --lm-head nvfp4 --dialect compressed-tensors");
  command->callback([options, &action] { action = [options] { return quantize(*options); }; });
}

}  // namespace tessera::cli
