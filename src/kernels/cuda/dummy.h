#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda.h"
#include "format/matrix.h"

namespace tessera::kernels::cuda {

/// Atoms (kernels/atom.h) of random weights, for a model without a checkpoint: of order 1 in every format, `bytes` of
/// them, whole slices. The same seed gives the same bytes.
Status fill_dummy_atoms(format::WeightFormat format, uint32_t seed, std::byte* out, size_t bytes, cudaStream_t stream);

}  // namespace tessera::kernels::cuda
