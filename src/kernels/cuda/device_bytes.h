#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/backend.h"

// Sizes of weights on a GPU, before there is one. No CUDA.
namespace tessera::kernels::cuda {

/// Bytes that load() of the CUDA backend takes for a block: atoms, factors of rows, vectors. A matrix that it would
/// refuse counts nothing.
size_t device_bytes(const BlockSource& source);

/// Bytes of staging memory for the largest matrix of a block, which lies there as it is stored while it is re-laid.
size_t staging_bytes(const BlockSource& source);
/// The parts of a matrix lie there side by side, elements and scales each from a multiple of 256 on.
constexpr size_t staging_aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }
size_t staging_bytes(std::span<const format::MatrixView> parts);

/// A gate_up's gate and up as two parts, also where they are stored as one matrix.
std::vector<format::MatrixView> gate_and_up(const MatrixSource& gate_up);

}  // namespace tessera::kernels::cuda
