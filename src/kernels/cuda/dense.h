#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda.h"
#include "kernels/cuda/dense_gemm.h"
#include "kernels/cuda/norm.h"
#include "plan/desc.h"
#include "plan/device_facts.h"
#include "tessera/status.h"

// y = x W^T on a GPU, for one or more matrices that read the same x, with a residual add and RMSNorm before it where
// that is wanted.
//
// The bits of an output row depend on its own x and on the weights: the sum runs over K in steps of m16n8k16 MMAs, in
// the order of atom.h, serially within each of plan::k_segments segments, which are added in order; then one product
// with the row's factor; then one rounding to BF16, or none. Not on the number of rows, other matrices, tile, grid or
// PDL.
//
// Up to kDecodeRowsMax rows: one launch for all matrices, a warp a strip of 16 weight rows; weights are asked for
// before the PDL wait. More rows: one launch for all matrices of one format and number of K
// segments, in tiles that the planner chooses. The norm
// of a few rows that have room in shared memory is redone in every block of the one launch, else it is a launch of its
// own.
namespace tessera::kernels::cuda {

inline constexpr int32_t kDecodeRowsMax = 16;
inline constexpr int32_t kFusedNormRowsMax = 8;

/// A matrix and where its products go. Pointers are device memory, 16-byte aligned.
struct DenseMatrix {
  plan::WeightFormat format = plan::WeightFormat::bf16;  // bf16, fp8_e4m3, nvfp4, mxfp4
  const std::byte* weights = nullptr;                    // atoms (kernels/atom.h) of `rows` rows
  const float* row_alpha = nullptr;                      // [strips * 16] (row_alphas)
  int32_t rows = 0;                                      // SwiGLU: gate and up, a multiple of 16
  Epilogue epilogue = Epilogue::bf16;
  void* out = nullptr;     // [tokens, rows], SwiGLU [tokens, rows / 2]; BF16, with Epilogue::f32 fp32
  int64_t out_stride = 0;  // elements from token to token; of BF16 a multiple of 8
};

struct DenseArgs {
  // Either x, or norm.residual, whose rows are `depth` elements apart.
  const uint16_t* x = nullptr;  // rows of BF16, x_stride elements apart, a multiple of 8
  int64_t x_stride = 0;
  const int32_t* row_index =
      nullptr;  // [rows_max]: row i of the product reads x[row_index[i]]; null: x[i]. Not with a norm
  NormInput norm;
  // The kernel before neither writes x nor touches what the products go to, and triggers after its wait: they run
  // beside it (step_tables.h). Not with a norm.
  bool overlaps_previous = false;

  int32_t depth = 0;                   // K, a multiple of 16, with MXFP4 of 32
  const int32_t* live_rows = nullptr;  // how many rows count; null: rows_max
  int32_t rows_max = 0;                // what the launch is made for

  DenseMatrix matrices[kDenseMatricesMax];
  int count = 0;
  std::byte* workspace = nullptr;  // dense_workspace_bytes(args), 16-byte aligned
};

/// What dense() cannot run.
Status supports(const DenseArgs& args);

/// Device memory of one call: normed rows that the caller does not keep, should the norm be a launch of its own.
size_t dense_workspace_bytes(const DenseArgs& args);

/// Rows beyond live_rows are neither read nor written.
Status dense(const DenseArgs& args, const plan::DeviceFacts& device, const device::Queue& queue);

/// The products alone by one given tile, whatever the number of rows: for tests and tuning. unsupported: there is no
/// such kernel, or it has no registers for the weight's K segments.
Status dense_tiled(const DenseArgs& args, const plan::Tile& tile, const device::Queue& queue);

/// The planner's tile for a product of 17 rows and more; where that is not compiled, the cheapest that is.
Expected<plan::Tile> choose_dense_tile(const plan::Desc& desc, const plan::DeviceFacts& device);

/// Whether a tile's kernel is compiled and can sum the segments of such a weight.
bool can_run_dense(const plan::Desc& desc, const plan::Tile& tile);

}  // namespace tessera::kernels::cuda
