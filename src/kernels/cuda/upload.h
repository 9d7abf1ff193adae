#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kernels/atom.h"
#include "kernels/backend.h"
#include "kernels/cuda/dense.h"
#include "kernels/cuda/memory.h"

// Weights on their way from a mapped checkpoint to atoms in device memory: host threads copy into pinned buffers in
// turn, the GPU fetches them from there and re-lays them.
namespace tessera::kernels::cuda {

/// A matrix as dense() takes it, with its memory.
struct DeviceMatrix {
  format::WeightFormat format = format::WeightFormat::bf16;  // of the atoms
  int64_t rows = 0, depth = 0;
  DeviceBuffer weights;
  DeviceBuffer row_alpha;  // fp32 [strips * 16]

  [[nodiscard]] DenseMatrix product(Epilogue epilogue, void* out, int64_t out_stride) const {
    return {.format = format,
            .weights = weights.as<std::byte>(),
            .row_alpha = row_alpha.as<float>(),
            .rows = static_cast<int32_t>(rows),
            .epilogue = epilogue,
            .out = out,
            .out_stride = out_stride};
  }
};

/// The routed experts of a layer: matrices of atoms behind each other, as the grouped product takes them.
struct DeviceExperts {
  format::WeightFormat format = format::WeightFormat::nvfp4;
  int64_t experts = 0, hidden = 0, inner = 0;
  DeviceBuffer gate_up, down;              // [experts]
  DeviceBuffer gate_up_alpha, down_alpha;  // fp32 [experts, 2]
};

class Uploader {
 public:
  static Expected<Uploader> create();

  /// Bytes of device memory that its results take so far.
  [[nodiscard]] size_t weight_bytes() const { return weight_bytes_; }
  /// Gives back the device memory that uploads pass through; another upload takes it again.
  Status rest();

  /// Errors name `source.name`, and what was found in it.
  Expected<DeviceMatrix> matrix(const MatrixSource& source, RowOrder order = RowOrder::stacked);
  /// gate_up interleaved for SwiGLU.
  Expected<DeviceMatrix> gate_up(const SwigluSource& source);
  Expected<DeviceExperts> experts(std::span<const SwigluSource> sources, int64_t hidden);
  Expected<DeviceBuffer> floats(std::span<const float> values);
  Expected<DeviceBuffer> bytes(const std::byte* data, size_t size);

 private:
  struct PinnedBuffer {
    device::Handle<void*, cudaFreeHost> memory;
    device::Event copied;
  };

  Status copy(const std::byte* from, size_t size, std::byte* to);
  Status pack(const MatrixSource& source, std::span<const format::MatrixView> parts, RowOrder order, std::byte* out);
  Status check(const MatrixSource& source, std::span<const format::MatrixView> parts, RowOrder order);
  Status stage(size_t size);

  device::Stream stream_;
  std::vector<PinnedBuffer> pinned_;
  size_t next_ = 0;       // of pinned_
  DeviceBuffer staging_;  // a matrix as the checkpoint has it
  DeviceBuffer bad_scale_;
  size_t weight_bytes_ = 0;
  uint32_t dummies_ = 0;  // matrices without bytes so far: seeds
};

}  // namespace tessera::kernels::cuda
