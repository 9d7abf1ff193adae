#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "format/matrix.h"

namespace tessera::model {

/// Makes FP8 matrices, a scale a row (the row's largest magnitude over 448), or NVFP4 ones of BF16, F16 or F32 ones,
/// and keeps them.
class Requantizer {
 public:
  /// `pool` outlives it; null: the calling thread works alone.
  explicit Requantizer(ThreadPool* pool) : pool_(pool != nullptr ? *pool : alone_) {}
  /// A view of the result, good until clear(). corrupt_data names row and column of what is not finite.
  Expected<format::MatrixView> requantize(const format::MatrixView& view, format::WeightFormat format);
  void clear() { matrices_.clear(); }

 private:
  struct Matrix {
    std::vector<std::byte> codes;         // [rows, row_bytes]
    std::vector<std::byte> block_scales;  // [rows, cols / group_size], of NVFP4
    std::vector<float> scales;            // [rows], of FP8
  };

  ThreadPool alone_{1};
  ThreadPool& pool_;
  std::deque<Matrix> matrices_;
};

}  // namespace tessera::model
