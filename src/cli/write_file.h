#pragma once

#include <filesystem>
#include <string_view>

#include "tessera/status.h"

namespace tessera::cli {

/// Makes `file` hold `text`, at once; unavailable names the file and the reason.
Status write_file(const std::filesystem::path& file, std::string_view text);

}  // namespace tessera::cli
