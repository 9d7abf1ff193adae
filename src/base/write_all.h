#pragma once

#include <string_view>

namespace tessera {

/// Writes all of `text` to an open descriptor: 0, or the error number.
int write_all(int descriptor, std::string_view text);

}  // namespace tessera
