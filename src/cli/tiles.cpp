#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/html_page.h"
#include "cli/live_gpu.h"
#include "cli/moe_shapes.h"
#include "cli/table.h"
#include "cli/tiles_compare.h"
#include "cli/write_file.h"
#include "plan/budget.h"
#include "plan/candidates.h"
#include "plan/model_shapes.h"
#include "plan/plan.h"
#include "plan/registers.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;
using plan::Candidate;
using plan::DeviceFacts;
using plan::Op;
using plan::Plan;

constexpr std::array kOps = {Op::gate_up, Op::down};
constexpr int64_t kTokenCounts[] = {1, 2, 4, 8, 16, 32, 64, 128, 512, 2048, 8192};

struct TilesOptions {
  std::string gpu = "rtx-pro-6000", model = "397b", format = "nvfp4", path = "w4a16", compare, html_file;
  int64_t tokens = 8;
  bool explain = false, json = false;
};

/// The plans of a layer's two matrix products.
using LayerPlans = std::array<Plan, kOps.size()>;

Expected<DeviceFacts> find_gpu(const std::string& key) {
  if (key != kLiveGpu) return plan::find_device(key);
  auto live = live_gpu(0);
  if (live.ok()) return live->facts;
  return live.status().with_context("--gpu takes the name of an absent GPU too");
}

Expected<LayerPlans> plan_layer(const TilesOptions& options, const DeviceFacts& gpu, int64_t tokens) {
  LayerPlans plans;
  for (size_t i = 0; i < kOps.size(); ++i) {
    TESSERA_ASSIGN_OR_RETURN(
        plans[i], plan::make_plan(moe_desc(options.model, options.format, options.path, tokens, kOps[i]), gpu));
  }
  return plans;
}

/// Indices of the kept candidates, the layer's fastest first.
std::vector<size_t> kept_in_order(const LayerPlans& plans) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < plans[0].candidates.size(); ++i) {
    if (plans[0].candidates[i].kept()) kept.push_back(i);
  }
  const auto layer_us = [&](size_t i) {
    return plans[0].candidates[i].cost.estimate_us + plans[1].candidates[i].cost.estimate_us;
  };
  std::stable_sort(kept.begin(), kept.end(), [&](size_t a, size_t b) { return layer_us(a) < layer_us(b); });
  return kept;
}

std::string format_us(double us) { return fmt::format("{:.{}f}", us, us < 10 ? 2 : us < 100 ? 1 : 0); }

std::string family(const plan::Tile& tile) {
  for (const plan::TileFamily& f : plan::tile_families()) {
    if (f.blocks_per_sm == tile.blocks_per_sm) return f.name;
  }
  return "?";
}

std::string chosen_for(const LayerPlans& plans, size_t candidate) {
  std::string ops;
  for (const Plan& p : plans) {
    if (p.choice == candidate) ops += fmt::format("{}{}", ops.empty() ? "" : ", ", plan::name(p.desc.op));
  }
  return ops;
}

std::vector<std::string> head_lines(const TilesOptions& options, const DeviceFacts& gpu, const LayerPlans& plans) {
  std::vector<std::string> lines = {
      fmt::format("{}: compute capability {}.{}, {} SMs, {} B of shared memory a block, {} B an SM, L2 {}, {} GB/s",
                  gpu.name, gpu.compute_major, gpu.compute_minor, gpu.sm_count, gpu.smem_per_block_bytes,
                  gpu.smem_per_sm_bytes, format_bytes(static_cast<uint64_t>(gpu.l2_bytes)), gpu.read_gb_s),
      fmt::format("{}: {}", plan::find_model_shape(options.model)->name, plan::describe_layer(plans[0].desc)),
      fmt::format("K segments: gate_up {}, down {}", plans[0].k_segments, plans[1].k_segments)};
  if (plans[0].desc.path == plan::Path::w4a4 && !gpu.has_fp4_mma()) {
    lines.emplace_back("This GPU has no FP4 MMA: W4A4 is emulated there, to be checked, not to be fast.");
  }
  return lines;
}

constexpr const char* kEstimates = "Times are estimates from floors (bytes, MMA rate, instructions), not measurements.";

constexpr const char* kKeptColumns = "<<>>>>>>><><<";

Rows kept_rows(const LayerPlans& plans) {
  Rows rows = {{"tile", "for", "stages", "stage B", "block B", "blocks/SM", "threads", "regs", "gate_up us", "bound",
                "down us", "bound", "chosen for"}};
  for (const size_t i : kept_in_order(plans)) {
    const Candidate& c = plans[0].candidates[i];
    const plan::Cost& down = plans[1].candidates[i].cost;
    rows.push_back({shape_name(c.tile), family(c.tile), std::to_string(c.tile.stages),
                    std::to_string(plan::stage_bytes(c.tile)), std::to_string(c.smem_bytes),
                    std::to_string(c.resident_blocks), std::to_string(threads(c.tile)),
                    std::to_string(plan::register_estimate(c.tile)), format_us(c.cost.estimate_us), c.cost.bound,
                    format_us(down.estimate_us), down.bound, chosen_for(plans, i)});
  }
  return rows;
}

/// Of the others, and why.
Rows rejected_rows(const LayerPlans& plans) {
  Rows rows = {{"rejected", "for", "because"}};
  for (const Candidate& c : plans[0].candidates) {
    if (c.kept()) continue;
    rows.push_back({shape_name(c.tile), family(c.tile), c.rejected_because});
  }
  return rows;
}

void print_rejected(const LayerPlans& plans, bool explain) {
  const Rows rows = rejected_rows(plans);
  if (rows.size() == 1) return;
  if (explain) {
    print("\n{}", format_table("<<<", rows));
  } else {
    print("\n{} tiles rejected; --explain says why\n", rows.size() - 1);
  }
}

constexpr const char* kChoiceColumns = ">><><>";

/// What is chosen, by tokens of a step.
Expected<Rows> choice_rows(const TilesOptions& options, const DeviceFacts& gpu) {
  Rows rows = {{"tokens", "experts", "gate_up", "us", "down", "us"}};
  for (const int64_t tokens : kTokenCounts) {
    TESSERA_ASSIGN_OR_RETURN(const LayerPlans plans, plan_layer(options, gpu, tokens));
    std::vector<std::string> row = {std::to_string(tokens),
                                    fmt::format("{:.0f}", plan::Routing(plans[0].desc).distinct_experts())};
    for (const Plan& p : plans) {
      row.push_back(shape_name(p.chosen().tile));
      row.push_back(format_us(p.chosen().cost.estimate_us));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Shared memory of each tile's blocks against what an SM has, and the time of a layer with it.
Expected<std::string> page(const TilesOptions& options, const DeviceFacts& gpu, const LayerPlans& plans) {
  std::string body;
  for (const std::string& line : head_lines(options, gpu, plans)) body += "<p>" + html_text(line) + "</p>\n";
  body += "<h2>Tiles that fit</h2>\n" + html_table(kKeptColumns, kept_rows(plans));
  std::vector<Bar> memory, times;
  for (const size_t i : kept_in_order(plans)) {
    const Candidate& c = plans[0].candidates[i];
    const std::string chosen = chosen_for(plans, i);
    memory.push_back({.label = shape_name(c.tile), .note = chosen.empty() ? "" : "chosen: " + chosen});
    times.push_back({.label = shape_name(c.tile), .note = memory.back().note});
    for (int block = 1; block <= c.resident_blocks; ++block) {
      memory.back().parts.push_back(
          {static_cast<double>(c.smem_bytes), fmt::format("block {}: {} B", block, c.smem_bytes), family(c.tile)});
    }
    for (const Plan& p : plans) {
      const plan::Cost& cost = p.candidates[i].cost;
      times.back().parts.push_back(
          {cost.estimate_us,
           fmt::format("{} {} us, {}", plan::name(p.desc.op), format_us(cost.estimate_us), cost.bound),
           plan::name(p.desc.op)});
    }
  }
  body += "<h2>Shared memory of an SM</h2>\n" +
          html_bars(memory, static_cast<double>(gpu.smem_per_sm_bytes), fmt::format("{} B", gpu.smem_per_sm_bytes)) +
          fmt::format("<h2>Time of a layer, {} tokens</h2>\n", options.tokens) + html_bars(times);
  TESSERA_ASSIGN_OR_RETURN(const Rows choices, choice_rows(options, gpu));
  body += "<h2>What is chosen, by tokens</h2>\n" + html_table(kChoiceColumns, choices);
  body += "<h2>Tiles that do not fit, and why</h2>\n" + html_table("<<<", rejected_rows(plans));
  body += fmt::format("<p>{}</p>\n", kEstimates);
  return html_page("tessera tiles: " + gpu.name, body);
}

Json candidate_json(const LayerPlans& plans, size_t index) {
  const Candidate& c = plans[0].candidates[index];
  Json json = {{"m", c.tile.m},
               {"n", c.tile.n},
               {"k", c.tile.k},
               {"blocks_per_sm_wanted", c.tile.blocks_per_sm},
               {"kept", c.kept()},
               {"stages", c.tile.stages},
               {"stage_bytes", plan::stage_bytes(c.tile)},
               {"smem_bytes", c.smem_bytes},
               {"threads", plan::threads(c.tile)},
               {"registers_estimate", plan::register_estimate(c.tile)}};
  if (!c.kept()) {
    json["rejected_because"] = c.rejected_because;
    return json;
  }
  json["blocks_per_sm"] = c.resident_blocks;
  for (const Plan& p : plans) {
    const plan::Cost& cost = p.candidates[index].cost;
    json[plan::name(p.desc.op)] = {{"estimate_us", cost.estimate_us},
                                   {"floor_us", cost.floor_us},
                                   {"bound", cost.bound},
                                   {"memory_us", cost.memory_us},
                                   {"l2_us", cost.l2_us},
                                   {"smem_us", cost.smem_us},
                                   {"mma_us", cost.mma_us},
                                   {"issue_us", cost.issue_us},
                                   {"start_us", cost.start_us},
                                   {"blocks", cost.blocks},
                                   {"weight_bytes", cost.weight_bytes},
                                   {"chosen", p.choice == index}};
  }
  return json;
}

Json to_json(const TilesOptions& options, const DeviceFacts& gpu, const LayerPlans& plans) {
  Json json = {{"gpu", gpu.name},
               {"compute_capability", fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor)},
               {"sm_count", gpu.sm_count},
               {"smem_per_block_bytes", gpu.smem_per_block_bytes},
               {"read_gb_s", gpu.read_gb_s},
               {"fp4_mma", gpu.has_fp4_mma()},
               {"model", options.model},
               {"format", options.format},
               {"path", options.path},
               {"tokens", options.tokens},
               {"k_segments", {{"gate_up", plans[0].k_segments}, {"down", plans[1].k_segments}}},
               {"tiles", Json::array()}};
  for (size_t i = 0; i < plans[0].candidates.size(); ++i) json["tiles"].push_back(candidate_json(plans, i));
  return json;
}

Status tiles(const TilesOptions& options) {
  if (!options.compare.empty()) {
    print_k128_comparison();
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const DeviceFacts gpu, find_gpu(options.gpu));
  TESSERA_ASSIGN_OR_RETURN(const LayerPlans plans, plan_layer(options, gpu, options.tokens));
  if (options.json) {
    // The driver names a live GPU.
    print("{}\n", to_json(options, gpu, plans).dump(2, ' ', false, Json::error_handler_t::replace));
    return {};
  }
  if (!options.html_file.empty()) {
    TESSERA_ASSIGN_OR_RETURN(const std::string text, page(options, gpu, plans));
    TESSERA_RETURN_IF_ERROR(write_file(options.html_file, text));
    note("wrote {}", options.html_file);
    return {};
  }
  for (const std::string& line : head_lines(options, gpu, plans)) print("{}\n", line);
  print("\n{}", format_table(kKeptColumns, kept_rows(plans)));
  print_rejected(plans, options.explain);
  TESSERA_ASSIGN_OR_RETURN(const Rows choices, choice_rows(options, gpu));
  print("\n{}\n{}\n", format_table(kChoiceColumns, choices), kEstimates);
  return {};
}

std::vector<std::string> gpu_names() {
  std::vector<std::string> names = {kLiveGpu};
  for (const DeviceFacts& gpu : plan::known_devices()) names.push_back(gpu.key);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

void add_tiles(CLI::App& app, Action& action) {
  auto options = std::make_shared<TilesOptions>();
  CLI::App* command = app.add_subcommand(
      "tiles", "Show the tiles that fit a GPU, present or absent, which one is chosen, and why others are not");
  command->add_option("--gpu", options->gpu, fmt::format("{} (default rtx-pro-6000)", joined(gpu_names())))
      ->type_name("NAME")
      ->check(one_of(gpu_names()));
  command->add_option("--model", options->model, fmt::format("Whose layer: {} (default 397b)", moe_shape_keys()))
      ->type_name("NAME")
      ->check(one_of_moe_shapes());
  command->add_option("--format", options->format, "Of the weights: nvfp4 (default) or mxfp4")
      ->type_name("F")
      ->check(one_of({"nvfp4", "mxfp4"}));
  command->add_option("--path", options->path, "What is multiplied: w4a16 (default) or w4a4")
      ->type_name("P")
      ->check(one_of({"w4a16", "w4a4"}));
  command->add_option("--tokens", options->tokens, "Tokens in the step (default 8)")
      ->type_name("T")
      ->transform(with_suffix())
      ->check(whole(0, plan::kTokensMax));
  command->add_flag("--explain", options->explain, "Show the rejected tiles and why");
  CLI::Option* compare =
      command
          ->add_option("--compare", options->compare,
                       "k128: the stock list of K = 128 tiles beside ours, on GPUs with 99 KB and with 227 KB")
          ->type_name("LIST")
          ->check(one_of({"k128"}));
  CLI::Option* json =
      command->add_flag("--json", options->json, "Print JSON, the rejected tiles included")->excludes(compare);
  command->add_option("--html", options->html_file, "Write a page with the tables and pictures of them")
      ->type_name("FILE")
      ->excludes(compare)
      ->excludes(json);
  command->footer(
      "Examples:\n"
      "  tessera tiles --gpu rtx-pro-6000 --explain\n"
      "  tessera tiles --gpu dgx-spark --format mxfp4 --path w4a4 --model 35b --tokens 4096\n"
      "  tessera tiles --compare k128");
  command->callback([options, &action] { action = [options] { return tiles(*options); }; });
}

}  // namespace tessera::cli
