#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "device/cuda.h"
#include "kernels/cuda/dense.h"
#include "plan/budget.h"

// The dense product of up to 16 rows: a warp a strip, all matrices in one launch. Host side: who does what, and where
// shared memory goes. dense.h is the operation.
namespace tessera::kernels::cuda {

inline constexpr int kDecodeWarps = 7;  // of a block, that multiply; an eighth brings their weights
inline constexpr int kDecodeThreads = (kDecodeWarps + 1) * 32;
/// A block an SM, which leaves half of it to the next kernel's: its blocks then come to all SMs alike, and have their
/// weights under way when their turn comes.
inline constexpr int kDecodeKernelsPerSm = 2;
/// Shared memory that a block may take. Of one row a block takes kSmemPerBlockMax at most: longer rings made a step of
/// an H200 longer. What x of more rows takes, its rings may have beyond that: with shorter ones fewer bytes are under
/// way than the memory's latency needs.
constexpr int decode_smem_limit(const plan::DeviceFacts& device, int64_t x_beyond_one_row) {
  const int64_t share = device.smem_per_sm_bytes / kDecodeKernelsPerSm - plan::kSmemReservedPerBlock;
  const int64_t least = plan::smem_limit(kDecodeKernelsPerSm);
  return static_cast<int>(
      std::max(least, std::min(share / plan::kSmemUnit * plan::kSmemUnit, plan::kSmemPerBlockMax + x_beyond_one_row)));
}
/// A stage of a warp's ring holds whole slices: four of 4-bit weights, two of FP8, one of BF16, times a factor where a
/// warp has much memory.
inline constexpr int kDecodeStageBytes = 2'304;
inline constexpr int kDecodeStageFactorMax = 4;
inline constexpr int kDecodeStagesMin = 2;
/// Stages that are kept where x of many rows, or longer stages, could have their place.
inline constexpr int kDecodeStagesBesideX = 3;
inline constexpr int kDecodeBarrierBytes = 16;  // of a stage
/// Bytes of x beside which all warps have kDecodeStagesMin stages each, and what else a block may need.
inline constexpr int kResidentBytesMax = 10 * 1024;

constexpr int decode_stage_slices(plan::WeightFormat format) {
  return kDecodeStageBytes / plan::weight_slice_bytes(format);
}
static_assert(decode_stage_slices(plan::WeightFormat::nvfp4) == 4 &&
              decode_stage_slices(plan::WeightFormat::bf16) == 1);

/// Shared memory of a block without its rings and x: of a norm, and of K segments.
static_assert(kFusedNormRowsMax <= plan::kMmaCols);
inline constexpr int kDecodeNormBytes = kFusedNormRowsMax * (kNormParts + 1) * 4;
inline constexpr int kDecodeOtherBytes = kDecodeNormBytes + kDecodeWarps * 32 * 16;
static_assert(kDecodeWarps * kDecodeStagesMin * (kDecodeStageBytes + kDecodeBarrierBytes) + kResidentBytesMax +
                  kDecodeOtherBytes <=
              plan::smem_limit(kDecodeKernelsPerSm));

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
  int32_t segments = 1;  // a power of two, 1 << segment_bits
  int32_t segment_bits = 0;
  int32_t segment_slices = 0;  // of each, as they are of one length: plan::segment_begin
  int32_t slice_bytes = 0;
  int32_t stage_slices = 0;
  // Its turns. A turn is one warp of every block: turn t is warp t % working_warps, and that warp's t /
  // working_warps-th task. Matrices of equal segments share their turns, as if they were one below the other: turn
  // first_turn + i * segments + s gives block b segment s of strip i * blocks + b - first_strip. Segments of a strip
  // are so neighbouring warps of one block.
  int32_t first_turn = 0;
  int32_t end_turn = 0;
  int32_t first_strip = 0;
};

struct DecodeArgs {
  DecodeMatrix matrices[kDenseMatricesMax];
  int32_t count = 0;
  int32_t turns = 0;
  int32_t working_warps = 0;     // of a block, that own strips; fewer have longer rings
  int32_t stages = 0;            // of each one's ring
  int32_t ring_stage_bytes = 0;  // of the largest stage
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
  bool overlaps_previous = false;  // DenseArgs
};

/// plan::k_segments of one of a launch's matrices.
int launch_segments(const DenseArgs& args, const DenseMatrix& matrix);

/// Shared memory of a block, all parts but the last multiples of 16 bytes:
///   rings of the working warps | x | sums of the norm's parts | sums of K segments | barriers of the rings
struct DecodeSmem {
  int x = 0, norm_parts = 0, exchange = 0, barriers = 0, total = 0;
};
DecodeSmem decode_smem(const DecodeArgs& args);

/// Whether the norm is redone in every block of the product. One that sums experts is not: its rows are too many.
bool norm_is_fused(const DenseArgs& args, const plan::DeviceFacts& device);

/// Bytes of x in shared memory for so many rows: whole slices.
constexpr int64_t resident_bytes(int64_t rows, int64_t depth) {
  return rows * plan::slices(depth) * plan::kMmaDepth * 2;
}

/// Arguments and grid.
struct DecodeLaunch {
  DecodeArgs args;
  unsigned blocks = 0;
  int smem_limit = 0;
};
/// How these products, of at most kDecodeRowsMax rows, with a norm only if it is fused, are dealt out over a GPU.
DecodeLaunch decode_launch(const DenseArgs& args, const plan::DeviceFacts& device);

Status dense_decode(const DecodeLaunch& launch, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
