#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace tessera::cli {

/// `bench serve`: load on any server of OpenAI's API, measured from outside.
void add_bench_serve(CLI::App& bench, Action& action);

}  // namespace tessera::cli
