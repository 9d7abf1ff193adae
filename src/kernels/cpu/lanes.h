#pragma once

#include <cstdint>

namespace tessera::kernels::cpu {

/// Rows of scratch buffers are padded to whole vectors of 16 logical lanes.
constexpr int64_t round_up_16(int64_t n) { return (n + 15) / 16 * 16; }

}  // namespace tessera::kernels::cpu
