#pragma once

#include <cstddef>
#include <vector>

#include "kernels/backend.h"

// Sizes of weights on a GPU, before there is one. No CUDA.
namespace tessera::kernels::cuda {

/// Bytes that load() of the CUDA backend takes for a block: atoms, factors of rows, vectors. A matrix that it would
/// refuse counts nothing.
size_t device_bytes(const BlockSource& source);

/// A gate_up's gate and up as two parts, also where they are stored as one matrix.
std::vector<format::MatrixView> gate_and_up(const MatrixSource& gate_up);

}  // namespace tessera::kernels::cuda
