#pragma once

#include <string>
#include <string_view>

namespace tessera::text {

/// `text` in double quotes for a message: control characters and bytes that are not ASCII as \xHH, cut after 80 bytes.
std::string quote(std::string_view text);

}  // namespace tessera::text
