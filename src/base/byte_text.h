#pragma once

#include <cstdint>
#include <string>

namespace tessera {

/// "512 B", "1.5 MB", "233 GB": decimal units, three digits.
std::string format_bytes(uint64_t bytes);

}  // namespace tessera
