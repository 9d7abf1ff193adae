#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "format/matrix.h"

namespace tessera::model {

/// Makes FP8 matrices, a scale a row (the row's largest magnitude over 448), of BF16, F16 or F32 ones, and keeps them.
class Requantizer {
 public:
  /// `pool` outlives it; null: the calling thread works alone.
  explicit Requantizer(ThreadPool* pool) : pool_(pool != nullptr ? *pool : alone_) {}
  /// A view of the result, good until clear(). corrupt_data names row and column of what is not finite.
  Expected<format::MatrixView> requantize(const format::MatrixView& view);
  void clear() { matrices_.clear(); }

 private:
  struct Matrix {
    std::vector<std::byte> codes;  // [rows, cols]
    std::vector<float> scales;     // [rows]
  };

  ThreadPool alone_{1};
  ThreadPool& pool_;
  std::deque<Matrix> matrices_;
};

}  // namespace tessera::model
