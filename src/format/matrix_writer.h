#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/matrix.h"
#include "format/safetensors.h"

namespace tessera::format {

/// The two spellings of the same NVFP4 numbers. MXFP4 and plain formats are spelled alike in both.
enum class Dialect { modelopt, compressed_tensors };

/// The tensors that hold matrix `module` [rows, cols] in `format`, in the order in which their bytes
/// are written: elements, block scales (4-bit formats), the scalar scale (NVFP4, FP8).
std::vector<SafetensorsWriter::Declaration> declare_matrix(Dialect dialect, const std::string& module,
                                                           WeightFormat format, int64_t rows, int64_t cols);

/// The scalar as the dialect stores it: ModelOpt the multiplier itself, compressed-tensors its inverse for NVFP4. A
/// multiplier that is itself the fp32 inverse of a number (TensorScale, quantize.h) comes back exactly; another may
/// change by one unit in the last place on the way through compressed-tensors.
float stored_scale(Dialect dialect, WeightFormat format, float multiplier);

}  // namespace tessera::format
