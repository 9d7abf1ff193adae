#include <algorithm>
#include <memory>

#include "cli/bench_engine.h"
#include "cli/bench_serve.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/engine_flags.h"
#include "cli/flags.h"
#include "cli/live_gpu.h"
#include "cli/moe_shapes.h"
#include "cli/moe_tiles.h"
#include "cli/table.h"
#include "device/device.h"
#include "plan/candidates.h"
#include "selftest/moe_timer.h"

namespace tessera::cli {
namespace {

struct BenchOptions {
  int gpu = 0;
  std::vector<std::string> models = {"397b", "397b-tp4", "122b", "35b", "deepseek-v3"};
  std::vector<int64_t> tokens = {1, 8, 64, 512, 4096};
  std::string format = "nvfp4", path = "w4a16";
  double read_tb_s = 0;  // 0: measured
  bool by_tile = false;
};

Expected<double> read_rate(const BenchOptions& options) {
  if (options.read_tb_s > 0) return options.read_tb_s * 1e12;
  return device::measure_read_rate(options.gpu, kMeasuredReadBytes);
}

Expected<kernels::MoeTimer> timer_of(const BenchOptions& options, const LiveGpu& gpu, const std::string& model) {
  const int64_t most = *std::max_element(options.tokens.begin(), options.tokens.end());
  return kernels::MoeTimer::make(options.gpu, gpu.facts, moe_desc(model, options.format, options.path, most));
}

/// The chosen tiles against the floor.
Status bench_layers(const BenchOptions& options, const LiveGpu& gpu) {
  TESSERA_ASSIGN_OR_RETURN(const double bytes_per_second, read_rate(options));
  const plan::TuningCache tuning = read_tuning(gpu);
  print("floor: bytes of the experts that a run reads, at {:.2f} TB/s ({}); tiles: {}\n\n", bytes_per_second / 1e12,
        options.read_tb_s > 0 ? "given" : "measured here",
        tuning.entries.empty() ? "the plan's, untuned" : "tuned where they are, else the plan's");
  for (const std::string& model : options.models) {
    TESSERA_ASSIGN_OR_RETURN(const auto timer, timer_of(options, gpu, model));
    std::vector<std::vector<std::string>> rows = {
        {"model", "tokens", "gate_up", "down", "us", "floor us", "of the floor", "us a token"}};
    for (const int64_t tokens : options.tokens) {
      TESSERA_ASSIGN_OR_RETURN(const kernels::MoeTime time, timer.time(tokens, tuning));
      const double floor_us = timer.weight_bytes(tokens) / bytes_per_second * 1e6;
      rows.push_back({model, std::to_string(tokens), plan::shape_name(time.gate_up), plan::shape_name(time.down),
                      fmt::format("{:.1f}", time.us), fmt::format("{:.1f}", floor_us),
                      fmt::format("{:.0f} %", 100 * floor_us / time.us),
                      fmt::format("{:.2f}", time.us / static_cast<double>(tokens))});
    }
    print("{}\n", format_table("<><<>>>>", rows));
  }
  return {};
}

/// The tiles that promise most for gate_up, each in both products, the fastest first.
Status bench_tiles(const BenchOptions& options, const LiveGpu& gpu) {
  for (const std::string& model : options.models) {
    TESSERA_ASSIGN_OR_RETURN(const auto timer, timer_of(options, gpu, model));
    for (const int64_t tokens : options.tokens) {
      const plan::Desc desc = moe_desc(model, options.format, options.path, tokens);
      const plan::Desc down = moe_desc(model, options.format, options.path, tokens, plan::Op::down);
      TESSERA_ASSIGN_OR_RETURN(const auto tiles, worth_measuring(desc, gpu.facts));
      std::vector<std::pair<double, const plan::Tile*>> measured;
      for (const plan::Tile& tile : tiles) {
        if (!kernels::MoeTimer::can_run(down, tile)) continue;
        TESSERA_ASSIGN_OR_RETURN(const kernels::MoeTime time, timer.time(tokens, tile, tile));
        measured.emplace_back(time.us, &tile);
      }
      std::sort(measured.begin(), measured.end());
      std::vector<std::vector<std::string>> rows = {{"model", "tokens", "tile", "blocks per SM", "stages", "us"}};
      for (const auto& [us, tile] : measured) {
        rows.push_back({model, std::to_string(tokens), plan::shape_name(*tile), std::to_string(tile->blocks_per_sm),
                        std::to_string(tile->stages), fmt::format("{:.1f}", us)});
      }
      print("{}\n", format_table("<><>>>", rows));
    }
  }
  return {};
}

Status bench_moe(const BenchOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(const LiveGpu gpu, live_gpu(options.gpu));
  print(
      "tessera {} bench moe: {}, {} {}, random weights, weights cold in L2, one CUDA graph\n"
      "from the router's logits to the sum of the routed experts; norm, router and shared expert are not in it\n",
      TESSERA_VERSION, gpu.facts.name, options.format, options.path);
  return options.by_tile ? bench_tiles(options, gpu) : bench_layers(options, gpu);
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "Measure a server, or parts of the engine");
  bench->require_subcommand(1);
  add_bench_serve(*bench, action);
  add_bench_engine(*bench, action);
  auto options = std::make_shared<BenchOptions>();
  CLI::App* moe = bench->add_subcommand("moe", "Time the routed experts of a layer on a GPU against their floor");
  moe->add_option("MODEL", options->models, "Shapes: " + moe_shape_keys() + " (default: the first five)")
      ->check(one_of_moe_shapes());
  add_gpu_flag(*moe, options->gpu);
  moe->add_option("--tokens", options->tokens, "Tokens of the step (default 1,8,64,512,4096)")
      ->type_name("N,N,...")
      ->delimiter(',')
      ->check(whole(1, plan::kTokensMax));
  moe->add_option("--format", options->format, "nvfp4 (default) or mxfp4")
      ->type_name("F")
      ->check(one_of({"nvfp4", "mxfp4"}));
  moe->add_option("--path", options->path, "w4a16 (default), or w4a4, which is emulated without FP4 MMA")
      ->type_name("P")
      ->check(one_of({"w4a16", "w4a4"}));
  moe->add_option("--read-tb-s", options->read_tb_s, "Read rate of the floor in TB/s, instead of the measured one")
      ->type_name("X")
      ->check(number(0.01, 100));
  moe->add_flag("--tiles", options->by_tile, "Time the most promising tiles, each in both products");
  moe->callback([options, &action] { action = [options] { return bench_moe(*options); }; });
}

}  // namespace tessera::cli
