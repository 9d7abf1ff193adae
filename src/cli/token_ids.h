#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tessera::cli {

/// Token ids as people write them: a JSON array, or numbers separated by white space or commas. Negative numbers, and
/// numbers above 2^31 - 1, are errors that say where they stand.
Expected<std::vector<int32_t>> parse_token_ids(std::string_view text);

}  // namespace tessera::cli
