#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/budget.h"
#include "plan/desc.h"
#include "plan/tile.h"

// Dense products of one x in tiles: weights (M) times tokens (N), for 17 rows and more; matrices of one format share a
// launch. One kernel template (dense_gemm.cuh), instantiated for every tile of plan::dense_candidates; all of them give
// the same bits, which are those of the decode kernel (dense_decode.cu). dense.h is the operation.
namespace tessera::kernels::cuda {

/// What becomes of the sums of a row, times its factor.
enum class Epilogue : int32_t {
  bf16,    // rounded
  f32,     // as they are: logits
  swiglu,  // of kernels/spelt_math.h, gate and up rows interleaved by 8: half as many results as rows
};

inline constexpr int kDenseMatricesMax = 6;

/// A matrix in its launch.
struct GemmMatrix {
  const std::byte* weights = nullptr;  // atoms
  const float* row_alpha = nullptr;    // [strips * 16]
  void* out = nullptr;                 // [rows_max, rows], or with SwiGLU rows / 2; BF16 or fp32
  int64_t out_stride = 0;
  int32_t strips = 0;
  int32_t rows = 0;      // of weights
  int32_t segments = 1;  // of K (plan::k_segments)
  Epilogue epilogue = Epilogue::bf16;
  int32_t first_row_tile = 0;  // of the launch
};

struct DenseGemmArgs {
  GemmMatrix matrices[kDenseMatricesMax];
  int32_t count = 0;
  int32_t depth = 0;  // K, a multiple of 16

  const uint16_t* x = nullptr;  // rows of BF16, x_stride elements apart
  int64_t x_stride = 0;
  const int32_t* x_rows = nullptr;     // [rows_max]: row of x; null: the row itself
  const int32_t* live_rows = nullptr;  // how many rows count; null: all
  int32_t rows_max = 0;                // of tokens
  bool overlaps_previous = false;      // DenseArgs

  int32_t row_tiles = 0, column_tiles = 0;

  // What the block of w4a16_gemm.cuh asks; a group is a matrix.
  static constexpr bool kSegments = true;
  [[nodiscard]] constexpr int64_t x_row_elements() const { return x_stride; }
  [[nodiscard]] constexpr const std::byte* group_weights(int group) const { return matrices[group].weights; }
  [[nodiscard]] constexpr int segments(int group) const { return matrices[group].segments; }
  /// First slice of a segment: plan::segment_begin.
  [[nodiscard]] constexpr int segment_slice(int group, int segment) const {
    return static_cast<int>(plan::slices(plan::segment_begin(depth, segments(group), segment)));
  }
};

struct DenseKernel {
  plan::Tile tile;
  void (*function)(DenseGemmArgs) = nullptr;
};

/// Every kernel of a format, in the order of plan::dense_candidates: those that plan::compiled() names.
std::span<const DenseKernel> dense_kernels(plan::WeightFormat format);

/// The kernels of one format; function is null where plan::compiled() says no. Source files of their own, so that they
/// compile side by side.
template <plan::WeightFormat format>
std::span<const DenseKernel> dense_family();

}  // namespace tessera::kernels::cuda
