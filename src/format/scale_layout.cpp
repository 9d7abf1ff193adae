#include "format/scale_layout.h"

#include <cstring>

namespace tessera::format {

void scales_to_128x4(const std::byte* linear, int64_t rows, int64_t cols, std::byte* tiled) {
  std::memset(tiled, 0, scale_128x4_bytes(rows, cols));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) tiled[scale_128x4_offset(row, col, cols)] = linear[row * cols + col];
  }
}

void scales_from_128x4(const std::byte* tiled, int64_t rows, int64_t cols, std::byte* linear) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) linear[row * cols + col] = tiled[scale_128x4_offset(row, col, cols)];
  }
}

}  // namespace tessera::format
