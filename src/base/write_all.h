#pragma once

#include <filesystem>
#include <string_view>

namespace tessera {

/// Writes all of `text` to an open descriptor: 0, or the error number.
int write_all(int descriptor, std::string_view text);

/// Makes `file` hold `text`: a reader finds what was there before or all of this. The file keeps its mode;
/// a new one has the usual. 0, or the error number.
int replace_file(const std::filesystem::path& file, std::string_view text);

}  // namespace tessera
