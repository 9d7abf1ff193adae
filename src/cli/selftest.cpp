#include "selftest/selftest.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/engine_flags.h"
#include "cli/live_gpu.h"

namespace tessera::cli {
namespace {

struct SelftestOptions {
  int gpu = 0;
};

/// What GPU, driver and build the report is about.
Status print_heading(int gpu) {
  TESSERA_ASSIGN_OR_RETURN(const LiveGpu live, live_gpu(gpu));
  const plan::DeviceFacts& facts = live.facts;
  TESSERA_ASSIGN_OR_RETURN(const std::string environment, kernels::selftest_environment(gpu));
  print("tessera {} selftest\n", TESSERA_VERSION);
  print("GPU {}: {}, compute capability {}.{}, {} SMs, {} bytes of shared memory a block\n", gpu, facts.name,
        facts.compute_major, facts.compute_minor, facts.sm_count, facts.smem_per_block_bytes);
  print("{}\n\n", environment);
  return {};
}

Status selftest(const SelftestOptions& options) {
  TESSERA_RETURN_IF_ERROR(print_heading(options.gpu));
  int checks = 0, differences = 0;
  TESSERA_RETURN_IF_ERROR(kernels::selftest(options.gpu, [&](const kernels::SelftestCheck& check) {
    print("{:<9}  {}: {}\n", check.equal ? "equal" : "DIFFERENT", check.name, check.detail);
    ++checks;
    differences += check.equal ? 0 : 1;
  }));
  if (differences > 0) {
    return error(StatusCode::internal, "{} of {} checks differ from the reference; please report the lines above",
                 differences, checks);
  }
  print("\nAll {} checks are equal to the reference.\n", checks);
  return {};
}

}  // namespace

void add_selftest(CLI::App& app, Action& action) {
  auto options = std::make_shared<SelftestOptions>();
  CLI::App* command =
      app.add_subcommand("selftest", "Check every GPU kernel against the CPU references and print a report to send");
  add_gpu_flag(*command, options->gpu);
  command->callback([options, &action] { action = [options] { return selftest(*options); }; });
}

}  // namespace tessera::cli
