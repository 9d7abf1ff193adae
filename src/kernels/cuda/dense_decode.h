#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda.h"
#include "kernels/cuda/dense.h"
#include "plan/budget.h"

// The dense product of up to 16 rows: a warp a strip, all matrices in one launch. Host side: who does what, and where
// shared memory goes. dense.h is the operation.
namespace tessera::kernels::cuda {

inline constexpr int kDecodeWarps = 4;  // of a block
inline constexpr int kDecodeBlocksPerSm = 2;
/// The most that a stage of a warp's ring holds: whole slices, four of 4-bit weights, two of FP8, one of BF16.
inline constexpr int kDecodeStageBytes = 2'304;
/// Stages that a ring may have, as waiting for a copy names its place at compile time. Two of them are being read.
inline constexpr int kDecodeStages[] = {20, 12, 8, 6, 5, 4};
/// Bytes of x beside which four warps have four stages each, and what else a block may need.
inline constexpr int kResidentBytesMax = 10 * 1024;
static_assert(kDecodeWarps * (4 * kDecodeStageBytes + 32 * 16) + kResidentBytesMax + 512 <=
              plan::smem_limit(kDecodeBlocksPerSm));

constexpr int decode_stage_slices(plan::WeightFormat format) {
  return kDecodeStageBytes / plan::weight_slice_bytes(format);
}
static_assert(decode_stage_slices(plan::WeightFormat::nvfp4) == 4 &&
              decode_stage_slices(plan::WeightFormat::bf16) == 1);

/// A matrix in its launch.
struct DecodeMatrix {
  const std::byte* weights = nullptr;
  const float* row_alpha = nullptr;
  void* out = nullptr;
  int64_t out_stride = 0;
  plan::WeightFormat format = plan::WeightFormat::bf16;
  Epilogue epilogue = Epilogue::bf16;
  int32_t rows = 0;
  int32_t strips = 0;
  int32_t segments = 1;
  int32_t slice_bytes = 0;
  int32_t stage_bytes = 0;
  // Its turns. A turn is one warp of every block: turn t is warp t % working_warps, and that warp's t /
  // working_warps-th task. Turn first_turn + i * segments + s gives block (first_block + b) % blocks segment s of strip
  // i * blocks + b: segments of a strip are neighbouring warps of one block, and a matrix begins where the one before
  // ended.
  int32_t first_turn = 0;
  int32_t end_turn = 0;
  int32_t first_block = 0;
};

struct DecodeArgs {
  DecodeMatrix matrices[kDenseMatricesMax];
  int32_t count = 0;
  int32_t turns = 0;
  int32_t working_warps = 0;     // of a block, that own strips: 1, 2 or 4; fewer have longer rings
  int32_t stages = 0;            // of each one's ring, one of kDecodeStages
  int32_t ring_stage_bytes = 0;  // the largest stage_bytes
  int32_t resident_bytes = 0;    // of x in shared memory; 0: x is read where it lies
  bool exchanges = false;        // some matrix has segments

  const uint16_t* x = nullptr;
  int64_t x_stride = 0;
  const int32_t* row_index = nullptr;
  NormInput norm;
  int32_t depth = 0;
  int32_t slices = 0;
  const int32_t* live_rows = nullptr;
  int32_t rows_max = 0;

  /// First slice of a segment of `segments`: plan::segment_begin.
  [[nodiscard]] constexpr int segment_slice(int segments, int segment) const {
    return static_cast<int>(plan::slices(plan::segment_begin(depth, segments, segment)));
  }
};

/// Shared memory of a block, all parts multiples of 16 bytes:
///   rings of the working warps | x | sums of the norm's parts | sums of K segments
struct DecodeSmem {
  int x = 0, norm_parts = 0, exchange = 0, total = 0;
};
DecodeSmem decode_smem(const DecodeArgs& args);

/// Whether the norm is redone in every block of the product.
bool norm_is_fused(const DenseArgs& args);

/// Bytes of x in shared memory for so many rows: whole slices.
constexpr int64_t resident_bytes(int64_t rows, int64_t depth) {
  return rows * plan::slices(depth) * plan::kMmaDepth * 2;
}

/// Arguments and grid.
struct DecodeLaunch {
  DecodeArgs args;
  unsigned blocks = 0;
};
/// How these products, of at most kDecodeRowsMax rows, with a norm only if it is fused, are dealt out over `sm_count`
/// SMs.
DecodeLaunch decode_launch(const DenseArgs& args, int sm_count);

Status dense_decode(const DecodeLaunch& launch, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
