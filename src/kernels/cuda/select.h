#pragma once

#include <cstdint>

#include "tessera/status.h"

// Some rows of a matrix, moved to its front.
namespace tessera::device {
struct Queue;
}

namespace tessera::kernels::cuda {

/// Pointers are device or mapped memory; x is aligned to 16 bytes.
struct SelectRowsArgs {
  uint16_t* x = nullptr;          // [rows, columns]
  int64_t columns = 0;            // a multiple of 8
  const int32_t* rows = nullptr;  // [count], ascending, none twice
  int32_t count = 0;
};

/// Row i becomes what row rows[i] was. In place: since rows ascend, what is written has been read. invalid_argument for
/// what the comments above exclude.
Status select_rows(const SelectRowsArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
