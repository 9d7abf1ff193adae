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
  int32_t* bad_scale = nullptr;  // in and out: kNoBadScale, or the index of a scale (find_scale of kernels/atom.h)
};

/// Larger than any index, and of equal bytes, so that cudaMemset can write it.
inline constexpr int32_t kNoBadScale = 0x7f7f7f7f;
static_assert(2 * plan::kWidthMax * plan::kWidthMax / plan::scale_group(WeightFormat::nvfp4) < kNoBadScale);

/// The bytes of pack_atoms (kernels/atom.h). *bad_scale becomes the first index, if it is below what is there, of a
/// scale that pack_atoms refuses: check_scale says why.
Status pack_atoms(const PackArgs& args, cudaStream_t stream);

}  // namespace tessera::kernels::cuda
