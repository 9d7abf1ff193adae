#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/status.h"

namespace tessera::cli {

/// `args` of `command`, with "--config FILE" replaced by what FILE says, as vllm reads it: YAML of one level whose keys
/// are flags without their dashes. true is a switch that is given, a list several values, a mapping the JSON of a
/// value. What the command line says too wins, MODEL included.
Expected<std::vector<std::string>> with_config_file(const CLI::App& command, std::vector<std::string> args);

}  // namespace tessera::cli
