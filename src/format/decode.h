#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "format/matrix.h"

namespace tessera::format {

/// out[cols] = row `row` of `matrix`, which is in memory (row_copy.h), in fp32. Plain formats are exact. Scaled formats
/// round once: the product of code and block scale is exact, the product with `scale` (times the row's scale) is
/// rounded to nearest. This is the definition that every other decoder is compared with.
void decode_row(const MatrixView& matrix, int64_t row, std::span<float> out);

/// The largest magnitude in `matrix`, which may lie in a file; 0 if it has no elements. corrupt_data names row and
/// column of a NaN or infinity.
Expected<float> max_magnitude(const MatrixView& matrix);

}  // namespace tessera::format
