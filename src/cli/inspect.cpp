#include "model/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/html_page.h"
#include "cli/live_gpu.h"
#include "cli/table.h"
#include "cli/write_file.h"
#include "device/device.h"
#include "kernels/live_gpu.h"
#include "model/stored_tensors.h"
#include "plan/device_facts.h"

namespace tessera::cli {
namespace {

using model::Inspection;
using model::StoredPart;
using Json = nlohmann::ordered_json;

constexpr int kGpuCounts[] = {1, 4};
constexpr int64_t kBatches[] = {1, 8, 16, 64};

struct InspectOptions {
  std::string model, html_file;
  std::string glob;
  bool tensors = false;
  bool json = false;
  std::string gpu;  // a key of plan::known_devices; empty: the GPU that is there
};

/// The GPU that steps are bounded for: the one asked for, or that of this machine with its measured read rate.
std::optional<plan::DeviceFacts> bounding_gpu(const plan::DeviceFacts* asked) {
  if (asked != nullptr) return *asked;
  auto live = kernels::live_gpu(0);
  if (!live.ok()) return std::nullopt;
  if (const auto rate = device::measure_read_rate(0, kMeasuredReadBytes); rate.ok()) live->read_gb_s = *rate / 1e9;
  return *std::move(live);
}

std::string kind_name(const StoredPart& part) { return part.kind ? std::string(model::name(*part.kind)) : "vision"; }

/// Tokens a second if weights alone were read, once, at full bandwidth.
double bound(const Inspection& found, const plan::DeviceFacts& gpu, int count) {
  return count * gpu.read_gb_s * 1e9 / found.traffic.bytes_per_step(1);
}

bool fits(const Inspection& found, const plan::DeviceFacts& gpu, int count) {
  return static_cast<double>(found.loaded_bytes()) < count * static_cast<double>(gpu.memory_bytes);
}

/// Gated DeltaNet states are read and written in every step.
double state_traffic(const Inspection& found, int64_t batch) {
  return 2.0 * static_cast<double>(found.state_bytes) * static_cast<double>(batch);
}

/// What a step takes at least: weights and states at the GPU's read rate.
double step_ms(const Inspection& found, const plan::DeviceFacts& gpu, int64_t batch) {
  return (found.traffic.bytes_per_step(batch) + state_traffic(found, batch)) / (gpu.read_gb_s * 1e6);
}

Json tensors_json(const std::vector<model::StoredTensor>& tensors) {
  Json list = Json::array();
  for (const auto& tensor : tensors) {
    list.push_back({{"name", tensor.name},
                    {"dtype", name(tensor.view.dtype)},
                    {"shape", tensor.view.shape},
                    {"kind", tensor.kind ? model::name(*tensor.kind) : "vision"},
                    {"format", tensor.format},
                    {"bytes", tensor.view.bytes.size()}});
  }
  return list;
}

Json parts_json(const Inspection& found) {
  Json parts = Json::array();
  for (const StoredPart& part : found.parts) {
    parts.push_back({{"kind", kind_name(part)},
                     {"format", part.format},
                     {"tensors", part.tensors},
                     {"weights", part.elements},
                     {"bytes", part.bytes},
                     {"bits_per_weight", part.bits_per_weight()}});
  }
  return parts;
}

Json to_json(const Inspection& found, const std::optional<plan::DeviceFacts>& gpu) {
  const auto& c = found.config;
  Json json = {{"model_type", found.model_type},
               {"layers", c.num_layers()},
               {"attention_layers", c.count(model::LayerType::full_attention)},
               {"hidden_size", c.hidden_size},
               {"vocab_size", c.vocab_size},
               {"experts", c.is_moe ? c.num_experts : 0},
               {"experts_per_token", c.is_moe ? c.experts_per_token : 0},
               {"parameters", found.parameters},
               {"active_parameters", found.active_parameters},
               {"mtp_parameters", found.mtp_parameters},
               {"parts", parts_json(found)},
               {"dialects", found.dialects},
               {"quant_method", found.quantization.method},
               {"activations_4bit", found.quantization.activations_4bit},
               {"fp8_kv_cache", found.quantization.fp8_kv_cache},
               {"mtp", found.has_mtp},
               {"vision", found.has_vision},
               {"tokenizer", found.has_tokenizer},
               {"chat_template", found.chat_template_file},
               {"shards", found.shards},
               {"tensor_bytes", found.tensor_bytes},
               {"disk_bytes", found.disk_bytes},
               {"weight_bytes_per_token", found.traffic.bytes_per_step(1)},
               {"profile", found.profile},
               {"complete", found.complete.ok()},
               {"kv_bytes_per_token_bf16", found.kv_bytes_per_token_bf16},
               {"mtp_kv_bytes_per_token_bf16", found.mtp_kv_bytes_per_token_bf16},
               {"state_bytes_per_sequence", found.state_bytes}};
  for (const int64_t batch : kBatches) {
    json["steps"].push_back({{"batch", batch},
                             {"distinct_experts", found.traffic.distinct_experts(batch)},
                             {"weight_bytes", found.traffic.bytes_per_step(batch)},
                             {"state_bytes", state_traffic(found, batch)}});
    if (gpu) json["steps"].back()["ms_at_least"] = step_ms(found, *gpu, batch);
  }
  if (gpu) json["gpu"] = {{"name", gpu->name}, {"read_gb_s", gpu->read_gb_s}};
  for (const plan::DeviceFacts& known : plan::known_devices()) {
    for (const int count : kGpuCounts) {
      json["bounds"].push_back({{"gpu", known.name},
                                {"count", count},
                                {"bandwidth_gb_s", known.read_gb_s * count},
                                {"tokens_per_second", bound(found, known, count)},
                                {"weights_fit", fits(found, known, count)}});
    }
  }
  return json;
}

/// What is told before tables: name and value.
std::vector<std::pair<std::string, std::string>> facts_of(const Inspection& found) {
  const auto& c = found.config;
  const auto& q = found.quantization;
  const int full = c.count(model::LayerType::full_attention);
  const std::string active =
      found.complete.ok() ? ", of which a token uses " + format_count(found.active_parameters) : "";
  const std::string mtp =
      found.has_mtp ? "MTP head " + format_count(static_cast<double>(found.mtp_parameters)) : "no MTP head";
  return {
      {"model",
       fmt::format("{}: {} layers ({} full attention, {} Gated DeltaNet), hidden size {}, {}", found.model_type,
                   c.num_layers(), full, c.num_layers() - full, c.hidden_size,
                   c.is_moe ? fmt::format("{} experts, {} a token", c.num_experts, c.experts_per_token) : "dense")},
      {"parameters", fmt::format("{}{}; {}", format_count(static_cast<double>(found.parameters)), active, mtp)},
      {"on disk", fmt::format("{} in {} shards and small files", format_bytes(found.disk_bytes), found.shards)},
      {"vision", found.has_vision ? "there, not loaded" : "none"},
      {"quantised",
       fmt::format("{}{}{}", q.method.empty() ? "not said in config.json" : without_controls(q.method),
                   found.dialects.empty() ? "" : fmt::format(", NVFP4 spelt as {}", fmt::join(found.dialects, " and ")),
                   q.activations_4bit ? ", asks for 4-bit activations" : "")},
      {"profile", found.profile.empty() ? "unknown" : found.profile},
      {"KV cache", q.fp8_kv_cache ? "FP8 asked for" : "BF16 (nothing else asked for)"},
      {"tokenizer",
       fmt::format("{}, chat template {}", found.has_tokenizer ? "tokenizer.json" : "none",
                   found.chat_template_file.empty() ? "none (the bundled one serves)" : found.chat_template_file)},
  };
}

void print_facts(const Inspection& found) {
  for (const auto& [name, value] : facts_of(found)) print("{:<12}{}\n", name, value);
  print("\n");
}

constexpr const char* kPartColumns = "<<>>>>";

Rows part_rows(const Inspection& found) {
  Rows rows = {{"kind", "format", "tensors", "weights", "bytes", "bits/weight"}};
  for (const StoredPart& part : found.parts) {
    rows.push_back({kind_name(part), part.format, std::to_string(part.tensors),
                    format_count(static_cast<double>(part.elements)), format_bytes(part.bytes),
                    fmt::format("{:.2f}", part.bits_per_weight())});
  }
  return rows;
}

/// What a step reads, by batch.
Rows step_rows(const Inspection& found, const std::optional<plan::DeviceFacts>& gpu) {
  const bool moe = found.traffic.experts > 0;
  Rows rows = {{"batch", "experts/layer", "weights/step", "states/step"}};
  if (gpu) rows[0].insert(rows[0].end(), {"ms at least", "tok/s at most"});
  for (const int64_t batch : kBatches) {
    rows.push_back({std::to_string(batch), moe ? fmt::format("{:.0f}", found.traffic.distinct_experts(batch)) : "-",
                    format_bytes(static_cast<uint64_t>(found.traffic.bytes_per_step(batch))),
                    format_bytes(static_cast<uint64_t>(state_traffic(found, batch)))});
    if (!gpu) continue;
    const double ms = step_ms(found, *gpu, batch);
    rows.back().push_back(fmt::format("{:.2f}", ms));
    rows.back().push_back(fmt::format("{:.0f}", static_cast<double>(batch) * 1e3 / ms));
  }
  return rows;
}

const char* step_columns(bool gpu) { return gpu ? ">>>>>>" : ">>>>"; }

constexpr const char* kBoundColumns = "<>>>";

/// Bounds of each known GPU.
Rows bound_rows(const Inspection& found) {
  Rows rows = {{"bandwidth bound, batch 1", "GB/s", "1 GPU", "4 GPUs"}};
  for (const plan::DeviceFacts& known : plan::known_devices()) {
    std::vector<std::string> row = {known.name, fmt::format("{:.0f}", known.read_gb_s)};
    for (const int count : kGpuCounts) {
      row.push_back(fits(found, known, count) ? fmt::format("{:.0f} tok/s", bound(found, known, count)) : "too big");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

constexpr const char* kBoundNote = "weights read once a token, without speculation, KV, states and communication";

void print_traffic(const Inspection& found, const std::optional<plan::DeviceFacts>& gpu) {
  const size_t kv = found.kv_bytes_per_token_bf16;
  print("a token in the KV cache   {} in BF16, {} in FP8{}\n", format_bytes(kv), format_bytes(kv / 2),
        found.has_mtp ? fmt::format("; MTP layers {} in BF16", format_bytes(found.mtp_kv_bytes_per_token_bf16)) : "");
  print("a sequence's GDN state    {}\n\n", format_bytes(found.state_bytes));
  if (!found.complete.ok()) {
    print("it cannot be loaded: {}\n", found.complete.message());
    return;
  }
  print("{}", format_table(step_columns(gpu.has_value()), step_rows(found, gpu)));
  if (gpu) print("(on one {}, which reads {:.0f} GB/s; KV left out)\n", gpu->name, gpu->read_gb_s);
  print("\n");
  print("{}({})\n", format_table(kBoundColumns, bound_rows(found)), kBoundNote);
}

/// Bytes on disk, a bar a kind, and bytes of a step, a bar a batch.
std::string page(const Inspection& found, const std::optional<plan::DeviceFacts>& gpu, const std::string& model) {
  std::string body =
      html_facts(facts_of(found)) + "<h2>What the bytes are</h2>\n" + html_table(kPartColumns, part_rows(found));
  std::vector<Bar> kinds;
  for (const StoredPart& part : found.parts) {
    const std::string kind = kind_name(part);
    auto bar = std::ranges::find(kinds, kind, &Bar::label);
    if (bar == kinds.end()) bar = kinds.insert(kinds.end(), Bar{.label = kind});
    bar->parts.push_back({static_cast<double>(part.bytes), part.format + ", " + format_bytes(part.bytes), part.format});
  }
  for (Bar& bar : kinds) {
    double bytes = 0;
    for (const Bar::Part& part : bar.parts) bytes += part.value;
    bar.note = fmt::format("{:.1f} %", 100 * bytes / static_cast<double>(std::max<size_t>(1, found.tensor_bytes)));
  }
  body += html_bars(kinds);
  if (!found.complete.ok()) {
    return html_page(model, body + "<p>It cannot be loaded: " + html_text(found.complete.message()) + "</p>\n");
  }
  body += "<h2>What a step reads at least</h2>\n" + html_table(step_columns(gpu.has_value()), step_rows(found, gpu));
  std::vector<Bar> steps;
  for (const int64_t batch : kBatches) {
    const double weights = found.traffic.bytes_per_step(batch), states = state_traffic(found, batch);
    steps.push_back({.label = fmt::format("batch {}", batch),
                     .parts = {{weights, "weights, " + format_bytes(static_cast<uint64_t>(weights)), "weights"},
                               {states, "states, " + format_bytes(static_cast<uint64_t>(states)), "states"}}});
    if (gpu) steps.back().note = fmt::format("{:.2f} ms", step_ms(found, *gpu, batch));
  }
  body += html_bars(steps);
  if (gpu) {
    body += html_text(fmt::format("On one {}, which reads {:.0f} GB/s; KV left out.", gpu->name, gpu->read_gb_s));
  }
  body += "<h2>Bounds</h2>\n" + html_table(kBoundColumns, bound_rows(found)) + "<p>" + kBoundNote + "</p>\n";
  return html_page(model, body);
}

/// The tensors whose stored or canonical name matches `glob`.
std::vector<model::StoredTensor> matching_tensors(const format::Checkpoint& checkpoint, const std::string& glob) {
  std::vector<model::StoredTensor> tensors = model::stored_tensors(checkpoint);
  std::erase_if(tensors, [&](const auto& tensor) {
    return ::fnmatch(glob.c_str(), tensor.name.c_str(), 0) != 0 &&
           ::fnmatch(glob.c_str(), tensor.canonical.c_str(), 0) != 0;
  });
  return tensors;
}

void print_tensors(const std::vector<model::StoredTensor>& tensors) {
  std::string text;
  for (const auto& tensor : tensors) {
    text += fmt::format("{}  {} [{}]  {}\n", without_controls(tensor.name), name(tensor.view.dtype),
                        fmt::join(tensor.view.shape, ", "), format_bytes(tensor.view.bytes.size()));
  }
  write_out(text);
}

Status inspect(const InspectOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(const auto directory, format::find_model(options.model));
  TESSERA_ASSIGN_OR_RETURN(const format::Checkpoint checkpoint, format::Checkpoint::open(directory));
  if (options.tensors) {
    const auto tensors = matching_tensors(checkpoint, options.glob.empty() ? "*" : options.glob);
    if (tensors.empty()) return error(StatusCode::not_found, "no tensor matches \"{}\"", options.glob);
    if (options.json) {
      print("{}\n", tensors_json(tensors).dump(1, ' ', false, Json::error_handler_t::replace));
    } else {
      print_tensors(tensors);
    }
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const Inspection found, model::inspect_checkpoint(checkpoint));
  plan::DeviceFacts asked;
  if (!options.gpu.empty()) {
    TESSERA_ASSIGN_OR_RETURN(asked, plan::find_device(options.gpu));
  }
  const auto gpu = bounding_gpu(options.gpu.empty() ? nullptr : &asked);
  if (!options.html_file.empty()) {
    TESSERA_RETURN_IF_ERROR(write_file(options.html_file, page(found, gpu, directory.filename().string())));
    note("wrote {}", options.html_file);
    return {};
  }
  if (options.json) {
    print("{}\n", to_json(found, gpu).dump(2, ' ', false, Json::error_handler_t::replace));
    return {};
  }
  print_facts(found);
  print("{}\n", format_table(kPartColumns, part_rows(found)));
  print_traffic(found, gpu);
  return {};
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command =
      app.add_subcommand("inspect", "Show what a checkpoint holds, and what reading it costs, without loading it");
  command->add_option("MODEL", options->model, "A directory, or a name in the Hugging Face cache")->required();
  CLI::Option* tensors =
      command->add_option("--tensors", options->glob, "List the tensors whose name matches GLOB (default: all)")
          ->type_name("GLOB")
          ->expected(0, 1);
  command
      ->add_option("--gpu", options->gpu,
                   "Bound steps for this GPU (rtx-pro-6000, h200, ...) instead of the one in this machine")
      ->type_name("GPU");
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON");
  command->add_option("--html", options->html_file, "Write a page with the tables and pictures of them")
      ->type_name("FILE")
      ->excludes(json)
      ->excludes(tensors);
  command->footer(
      "Examples:\n"
      "  tessera inspect nvidia/Qwen3.5-397B-A17B-NVFP4\n"
      "  tessera inspect ./model --tensors '*layers.0.*' --json");
  command->callback([options, tensors, &action] {
    options->tensors = tensors->count() > 0;
    action = [options] { return inspect(*options); };
  });
}

}  // namespace tessera::cli
