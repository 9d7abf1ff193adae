#pragma once

#include "kernels/batch.h"
#include "kernels/cuda/delta_net.h"

// The launches that delta_net() is made of.
namespace tessera::kernels::cuda {

/// Prefill takes a step's chunks in segments of at most so many: 2,048 rows, 100 MB for 16 key heads and 32 value heads
/// of 128. A sequence's state goes from one segment to the next by its slot, with the same bits.
inline constexpr int kSegmentChunks = 32;
inline constexpr int kChunk = kBlockTokens;

/// What the kernels of a segment pass on, for its chunks [chunks, ...]. k, v: padded dims. Matrices stand in the order
/// in which a warp's lanes hold the MMA's operands: tiles of 16x16 as operand A in FP16 or BF16 (16 bytes a lane), or
/// of 16x8 as its fp32 result (16 bytes a lane), tiles of a row of them one after another.
struct ChunkBuffers {
  uint16_t* q = nullptr;             // [key_heads, 64, k] FP16, to unit norm, unscaled
  uint16_t* k = nullptr;             // [key_heads, 64, k] FP16, to unit norm
  uint16_t* k_transposed = nullptr;  // [key_heads, k, 64] FP16
  uint16_t* v_transposed = nullptr;  // [value_heads, v, 64] BF16
  uint16_t* w = nullptr;             // [value_heads, 64, k] FP16
  uint16_t* mix = nullptr;           // [value_heads, 64, 64] FP16, on and below the diagonal's tiles
  float* u = nullptr;                // [value_heads, 64, v], results
  float* log_decay = nullptr;        // [value_heads, 64]: G, the running sum of g
};

struct PrefillArgs {
  DeltaNetArgs net;
  ChunkBuffers buffers;
  int first_chunk = 0, chunks = 0;  // of the step's, sequence by sequence
};

Status decode_rows(const DeltaNetArgs& args, const device::Queue& queue);
/// Convolution, SiLU, unit norms: q, k, v.
Status prepare_chunks(const PrefillArgs& args, const device::Queue& queue);
/// All that does not depend on S: w, mix, u, log_decay.
Status solve_chunks(const PrefillArgs& args, const device::Queue& queue);
/// Chunk after chunk: S, windows, snapshots, and outputs before their norm, to args.net.out.
Status advance_states(const PrefillArgs& args, const device::Queue& queue);
/// Gated norm of the outputs of all prefill rows, in place.
Status norm_outputs(const DeltaNetArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
