#pragma once

#include <string>
#include <string_view>

namespace tessera::format {

/// `text` as it may stand in a message: control characters, invalid UTF-8 bytes and quotes escaped, at most about
/// 200 bytes. Names come from files that anybody may have written; a terminal must not obey them.
std::string printable(std::string_view text);

/// `text` as a JSON string, with its quotes. UTF-8 is copied as it is.
std::string json_string(std::string_view text);

}  // namespace tessera::format
