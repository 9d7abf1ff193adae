#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/status.h"

namespace tessera {

/// All of a regular file of at most `bytes_max` bytes. Pipes, devices and sockets, which may block or never end, are
/// refused without being read. Errors name the file: not_found (there is none), invalid_argument (not a regular file,
/// no permission), resource_exhausted (too large), unavailable (cannot be read).
Expected<std::string> read_regular_file(const std::filesystem::path& file, size_t bytes_max);

/// Adds what `descriptor` gives until its end to an empty `text`, at most one byte more than `bytes_max`. False, with
/// errno: it cannot be read.
bool read_to_end(int descriptor, size_t bytes_max, std::string& text);

/// What of a regular file is not one: "a directory", "a pipe", "a device", "a socket"; empty for a regular file.
/// `mode` is st_mode of stat(2).
std::string irregular_kind(unsigned mode);

}  // namespace tessera
