#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/engine_flags.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/live_gpu.h"
#include "cli/moe_shapes.h"
#include "cli/moe_tiles.h"
#include "cli/progress.h"
#include "plan/candidates.h"
#include "selftest/moe_timer.h"

namespace tessera::cli {
namespace {

using kernels::MoeTime;
using kernels::MoeTimer;
using plan::Op;
using plan::Tile;

struct TuneOptions {
  int gpu = 0;
  std::vector<std::string> models = {"397b", "397b-tp4", "122b", "35b"};
  std::vector<std::string> formats = {"nvfp4"};
  int64_t tokens = 4096;
  bool quiet = false;
};

/// What is measured for one number of tokens.
struct Step {
  plan::Desc gate_up, down;
  std::vector<Tile> gate_up_tiles, down_tiles;
};

class Tuner {
 public:
  Tuner(const LiveGpu& gpu, bool quiet) : gpu_(gpu), quiet_(quiet), cache_(read_tuning(gpu)) {}

  /// One layer, for every bucket of tokens. Saves.
  Status tune(const std::string& model, const std::string& format, const std::string& path, int64_t tokens) {
    std::vector<Step> steps;
    uint64_t measurements = 0;
    for (int64_t bucket = 1; bucket <= tokens; bucket *= 2) {
      Step step{moe_desc(model, format, path, bucket), moe_desc(model, format, path, bucket, Op::down), {}, {}};
      TESSERA_ASSIGN_OR_RETURN(step.gate_up_tiles, worth_measuring(step.gate_up, gpu_.facts));
      TESSERA_ASSIGN_OR_RETURN(step.down_tiles, worth_measuring(step.down, gpu_.facts));
      measurements += step.gate_up_tiles.size() + step.down_tiles.size();
      steps.push_back(std::move(step));
    }
    TESSERA_ASSIGN_OR_RETURN(const MoeTimer timer, MoeTimer::make(gpu_.index, gpu_.facts, steps.back().gate_up));
    ProgressBar bar(fmt::format("tuning {} {} {}", model, format, path), quiet_, ProgressBar::Unit::steps);
    uint64_t done = 0;
    const auto measured = [&] { bar.update(++done, measurements); };
    Status status;
    for (const Step& step : steps) {
      status = measure(timer, step, measured);
      if (!status.ok()) break;
    }
    bar.clear();
    const Status saved = save();
    if (status.code() == StatusCode::unavailable) {  // a kernel hangs: to free its memory would wait for it
      note("{}; what was measured before is kept in {}", status.message(), gpu_.tuning_file.string());
      std::_Exit(1);
    }
    TESSERA_RETURN_IF_ERROR(status);
    return saved;
  }

  [[nodiscard]] size_t entries() const { return cache_.entries.size(); }

 private:
  /// The fastest of `tiles` for one product while the other keeps its tile.
  Expected<MoeTime> fastest(const MoeTimer& timer, const plan::Desc& desc, const std::vector<Tile>& tiles,
                            const Tile& other, const std::function<void()>& measured) {
    MoeTime best;
    for (const Tile& tile : tiles) {
      if (interrupt_.happened()) return error(StatusCode::cancelled, "interrupted");
      const bool gate_up = desc.op == Op::gate_up;
      TESSERA_ASSIGN_OR_RETURN(const MoeTime time,
                               timer.time(desc.tokens, gate_up ? tile : other, gate_up ? other : tile));
      measured();
      if (best.us == 0) {
        best = time;
      } else if (time.result_hash != best.result_hash) {
        note("{} {} gives other bits than {} and is not used; please run `tessera selftest` and report it",
             plan::name(desc.op), plan::shape_name(tile), plan::shape_name(tiles[0]));
      } else if (time.us < best.us) {
        best = time;
      }
    }
    return best;
  }

  Status measure(const MoeTimer& timer, const Step& step, const std::function<void()>& measured) {
    TESSERA_ASSIGN_OR_RETURN(const MoeTime first,
                             fastest(timer, step.gate_up, step.gate_up_tiles, step.down_tiles[0], measured));
    TESSERA_ASSIGN_OR_RETURN(const MoeTime best, fastest(timer, step.down, step.down_tiles, first.gate_up, measured));
    put({step.gate_up, best.gate_up, best.us});
    put({step.down, best.down, best.us});
    return {};
  }

  void put(const plan::TunedTile& tuned) {
    std::erase_if(cache_.entries, [&](const plan::TunedTile& old) { return old.is_for(tuned.desc); });
    cache_.entries.push_back(tuned);
  }

  [[nodiscard]] Status save() const {
    std::error_code failed;
    std::filesystem::create_directories(gpu_.tuning_file.parent_path(), failed);
    return plan::write_tuning(gpu_.tuning_file, cache_);
  }

  const LiveGpu& gpu_;
  bool quiet_;
  plan::TuningCache cache_;
  OnInterrupt interrupt_{[] {}};  // ends the measurements; what is done is saved
};

Status tune(const TuneOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(const LiveGpu gpu, live_gpu(options.gpu));
  Tuner tuner(gpu, options.quiet);
  for (const std::string& model : options.models) {
    for (const std::string& format : options.formats) {
      for (const std::string path : {"w4a16", "w4a4"}) {
        if (path == "w4a4" && !gpu.facts.has_fp4_mma()) continue;  // emulated: nothing to choose by speed
        const Status status = tuner.tune(model, format, path, options.tokens);
        if (status.code() == StatusCode::resource_exhausted) {
          note("{} skipped: {}", model, status.message());
          continue;
        }
        TESSERA_RETURN_IF_ERROR(status);
        print("{} {} {}: tuned for 1 to {} tokens\n", model, format, path, options.tokens);
      }
    }
  }
  print("{} choices for {} in {}\n", tuner.entries(), gpu.facts.name, gpu.tuning_file.string());
  return {};
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* command =
      app.add_subcommand("tune", "Measure the tiles of mixture-of-experts layers on a GPU and remember the fastest");
  command->add_option("MODEL", options->models, "Shapes: " + moe_shape_keys() + " (default: the four of Qwen3.5)")
      ->check(one_of_moe_shapes());
  add_gpu_flag(*command, options->gpu);
  command->add_option("--format", options->formats, "nvfp4 (default), mxfp4, or both with a comma between")
      ->type_name("F,...")
      ->delimiter(',')
      ->check(one_of({"nvfp4", "mxfp4"}));
  command
      ->add_option("--tokens", options->tokens,
                   fmt::format("Up to so many tokens of a step (default {})", options->tokens))
      ->type_name("N")
      ->check(whole(1, plan::kTokensMax));
  command->add_flag("-q,--quiet", options->quiet, "No progress");
  command->callback([options, &action] { action = [options] { return tune(*options); }; });
}

}  // namespace tessera::cli
