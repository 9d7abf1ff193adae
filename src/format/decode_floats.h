#pragma once

#include <span>

#include "base/status.h"
#include "format/safetensors.h"

namespace tessera::format {

/// Decodes a BF16, F16 or F32 tensor of out.size() elements: norms, biases, scales. Exact. Another dtype or size is
/// corrupt_data.
Status decode_floats(const TensorView& tensor, std::span<float> out);

}  // namespace tessera::format
