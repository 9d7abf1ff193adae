#pragma once

#include <string>

#include "base/status.h"

namespace tessera::cli {

/// All of a file or a pipe (which a shell makes of <(command)), or of standard input for "-". At most 1 GiB.
Expected<std::string> read_input(const std::string& file);

}  // namespace tessera::cli
