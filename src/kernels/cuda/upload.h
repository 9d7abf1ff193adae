#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/read_ahead.h"
#include "kernels/atom.h"
#include "kernels/backend.h"
#include "kernels/cuda/dense.h"
#include "kernels/cuda/memory.h"

// Weights on their way from a checkpoint's files to atoms in device memory. Threads read what was announced into a ring
// of pinned memory, in the order in which it will be asked for; the GPU fetches each piece from there and re-lays each
// matrix once it is whole. What was not announced, and vectors, are copied from where they are. The host waits for the
// GPU where the ring is full, and at the end of a block.
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

  /// Begins to read these blocks' matrices (Backend::read_ahead).
  Status read_ahead(const format::Checkpoint& checkpoint, std::span<const BlockSource* const> sources);
  /// Waits for what was asked for since the last call. corrupt_data or unsupported if the GPU met a weight or scale
  /// that cannot be: names the matrix, row and column. Sources must live until then.
  Status settle();
  /// Gives back the memory that uploads pass through; another upload takes it again.
  Status rest();
  /// Bytes of device memory that its results take so far.
  [[nodiscard]] size_t weight_bytes() const { return weight_bytes_; }

  // Results may be used after settle(). Errors name `source.name`, and what was found in it.
  Expected<DeviceMatrix> matrix(const MatrixSource& source, RowOrder order = RowOrder::stacked);
  /// gate_up interleaved for SwiGLU.
  Expected<DeviceMatrix> gate_up(const SwigluSource& source);
  Expected<DeviceExperts> experts(std::span<const SwigluSource> sources, int64_t hidden);
  Expected<DeviceBuffer> floats(std::span<const float> values);

 private:
  struct PinnedBuffer {
    device::Handle<void*, cudaFreeHost> memory;
    device::Event copied;
  };
  /// A matrix whose weights the GPU has not judged yet.
  struct Pending {
    const MatrixSource* source = nullptr;
    std::vector<format::MatrixView> parts;
  };

  Expected<DeviceBuffer> take(size_t size);
  Status copy(const std::byte* from, size_t size, std::byte* to);
  Status copy_memory(const std::byte* from, size_t size, std::byte* to);
  Status copy_read(size_t size, std::byte* to);
  Status free_pieces();
  Status pack(const MatrixSource& source, std::span<const format::MatrixView> parts, RowOrder order, std::byte* out);
  Status pack_expert(const MatrixSource& source, RowOrder order, const AtomShape& want, std::byte* out,
                     std::vector<float>& alphas);
  Status stage(size_t size);
  Status forget_bad();

  device::Stream stream_;
  std::vector<PinnedBuffer> pinned_;
  size_t next_ = 0;                            // of pinned_
  device::Handle<void*, cudaFreeHost> ring_;   // what reader_ fills
  std::vector<device::Event> piece_copied_;    // of each slot
  std::deque<size_t> pieces_;                  // slots that the GPU may still read
  std::deque<const std::byte*> announced_;     // where what reader_ brings next is mapped
  std::unique_ptr<format::ReadAhead> reader_;  // stops before the ring goes
  DeviceBuffer staging_;                       // a matrix as the checkpoint has it
  DeviceBuffer first_bad_;                     // number of a pending matrix
  std::vector<Pending> pending_;
  size_t weight_bytes_ = 0;
  uint32_t dummies_ = 0;  // matrices without bytes so far: seeds
};

}  // namespace tessera::kernels::cuda
