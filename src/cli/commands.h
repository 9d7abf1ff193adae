#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "base/status.h"

// The commands of `tessera`: one file and one function each.
//
// A command is added in three steps:
//   1. src/cli/<command>.cpp defines add_<command>, which makes a subcommand and its flags and, once they are parsed,
//      leaves in `action` what is to be done:
//
//        void add_inspect(CLI::App& app, Action& action) {
//          auto options = std::make_shared<InspectOptions>();
//          CLI::App* command = app.add_subcommand("inspect", "Show what a checkpoint holds");
//          command->add_option("MODEL", options->model, "A directory, or ...")->required();
//          command->callback([options, &action] { action = [options] { return inspect(*options); }; });
//        }
//
//   2. it is declared below and listed in kCommands of command_line.cpp, in the order of `tessera --help`;
//   3. the file is listed in CMakeLists.txt.
//
// Flags get checks from flags.h, whose errors say what was found and what was expected; flags that contradict each
// other are reported by throwing CLI::ValidationError from the callback (exit code 2). Results go to standard output
// through print(), everything else to standard error through note() (console.h). A Status that is not ok ends the
// program with its message and exit code 1; `cancelled` with 130.
namespace tessera::cli {

using Action = std::function<Status()>;

void add_run(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_score(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_manual(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_quantize(CLI::App& app, Action& action);
void add_selftest(CLI::App& app, Action& action);
void add_synth(CLI::App& app, Action& action);
void add_tiles(CLI::App& app, Action& action);
void add_tokenize(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);

}  // namespace tessera::cli
