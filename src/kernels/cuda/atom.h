#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/atom.h"

namespace tessera::kernels::cuda {

/// One matrix that a matrix of atoms is made of, in device memory as a checkpoint stores it, 4-byte aligned: elements
/// [rows, cols], or codes [rows, cols / 2] and scales [rows, cols / group].
struct AtomPart {
  const std::byte* data = nullptr;
  const std::byte* scales = nullptr;
  int64_t rows = 0;
};

struct PackArgs {
  AtomShape shape;
  WeightFormat source = WeightFormat::nvfp4;  // of the parts; shape.format is atom_format(source)
  AtomPart parts[kAtomPartsMax];              // as pack_atoms takes them: stacked, or two that are interleaved
  int part_count = 1;
  std::byte* out = nullptr;      // atom_matrix_bytes(shape), 16-byte aligned
  int32_t number = 0;            // of this matrix
  int32_t* first_bad = nullptr;  // out: the least number of a matrix with a scale or weight that pack_atoms refuses
};

/// The bytes of pack_atoms (kernels/atom.h).
Status pack_atoms(const PackArgs& args, cudaStream_t stream);

}  // namespace tessera::kernels::cuda
