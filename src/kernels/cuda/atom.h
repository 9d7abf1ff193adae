#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/atom.h"

namespace tessera::kernels::cuda {

/// One part of a matrix of atoms, in device memory: codes [rows, cols / 2] and scales [rows, cols / group] as a
/// checkpoint stores them, 4-byte aligned.
struct AtomPart {
  const std::byte* codes = nullptr;
  const std::byte* scales = nullptr;
};

struct PackArgs {
  AtomShape shape;
  AtomPart parts[2];             // shape.parts of them
  std::byte* out = nullptr;      // atom_matrix_bytes(shape), 16-byte aligned
  int32_t* bad_scale = nullptr;  // out: becomes 1 if a scale is one that pack_atoms refuses; never cleared here
};

/// The bytes of pack_atoms (kernels/atom.h).
Status pack_atoms(const PackArgs& args, cudaStream_t stream);

}  // namespace tessera::kernels::cuda
