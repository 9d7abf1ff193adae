#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace tessera::cli {

/// `bench engine`: whole steps of a model on a GPU, without HTTP.
void add_bench_engine(CLI::App& bench, Action& action);

}  // namespace tessera::cli
