#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/cuda.h"
#include "kernels/cuda/step_tables.h"
#include "kernels/gated_delta_net.h"

// Gated DeltaNet between its projections on a GPU, the twin of kernels/gated_delta_net.h: what it computes and where it
// rounds to BF16 is said there. All of it may be captured in a CUDA graph.
//
// A row's bits depend on its sequence alone. Decode rows: n rows in one step are n steps of one row. Prefill rows:
// chunks of 64 aligned to absolute position, so any split at multiples of 64 gives the same bits; a NaN or infinity in
// a row may spoil earlier rows of its chunk.
//
// Precision. Decode: fp32 throughout. Prefill: the state S is fp32 between chunks. Matrix products sum in fp32 and read
// their operands with 11 significant bits or more: S and u as TF32; what is bounded by 1 (unit keys and queries,
// (I + tril(beta K K^T))^-1 and its product with K) as FP16, which has TF32's fraction; T V as two BF16 parts of T,
// since V is BF16. The inverse is fp32.
namespace tessera::kernels::cuda {

struct DeltaNetArgs {
  DeltaNetShape shape;
  StepTables tables;
  // BF16 rows of the projections' outputs: any columns of a wider matrix. Pointers are aligned to 16 bytes, and
  // qkv_stride and z_stride are multiples of 8.
  const uint16_t* qkv = nullptr;  // [rows, channels()]
  const uint16_t* z = nullptr;    // [rows, value_heads * value_dim]
  const uint16_t* b = nullptr;    // [rows, value_heads]
  const uint16_t* a = nullptr;    // [rows, value_heads]
  int64_t qkv_stride = 0, z_stride = 0, b_stride = 0, a_stride = 0;
  const float* conv_weight = nullptr;  // [channels(), conv_width]
  const float* a_log = nullptr;        // [value_heads]
  const float* dt_bias = nullptr;      // [value_heads]
  const float* norm_weight = nullptr;  // [value_dim]
  float* states = nullptr;             // S: [slots, value_heads, key_dim, value_dim]
  uint16_t* windows = nullptr;         // [slots, window_values(shape)] BF16
  std::byte* records = nullptr;        // [slots, value_heads, record_rows, record_bytes(shape)]; null: none are kept
  int32_t record_rows = 0;             // at most kRecordRowsMax
  uint16_t* out = nullptr;             // [rows, value_heads * value_dim] BF16
  std::byte* workspace = nullptr;      // delta_net_workspace_bytes(); holds nothing between calls
};

/// A slot's window: the last conv_width - 1 convolution inputs that each value head reads, oldest first:
/// [value_heads, conv_width - 1, q | k | v of the head]. Value heads that share a key head have copies of its q and k,
/// so that each is read and written by the block of one head alone: 1 to 2 % more than S takes, and no second launch.
constexpr int64_t window_values(const DeltaNetShape& shape) {
  return static_cast<int64_t>(shape.value_heads) * (shape.conv_width - 1) * (2LL * shape.key_dim + shape.value_dim);
}
constexpr int64_t state_values(const DeltaNetShape& shape) {
  return static_cast<int64_t>(shape.value_heads) * shape.key_dim * shape.value_dim;
}

/// Heads run at one of two sizes, the rest of it zeros: 128 is that of every model released so far, 32 that of small
/// ones made for tests. A size more would add code for every pair of key and value sizes.
inline constexpr int kHeadDimSmall = 32, kHeadDimMax = 128;
constexpr int padded_dim(int dim) { return dim <= kHeadDimSmall ? kHeadDimSmall : kHeadDimMax; }

/// Rows of one step that may not hold: a token and eight drafts.
inline constexpr int32_t kRecordRowsMax = 1 + kDraftsMax;

/// What a decode row that may not hold leaves of a value head: decay, k and u, by which S is advanced as the row itself
/// would have (S <- decay S + k u^T), without its sums, and the convolution's inputs. 1.8 KB for heads of 128.
constexpr size_t record_bytes(const DeltaNetShape& shape) {
  const auto floats = static_cast<size_t>(4 + padded_dim(shape.key_dim) + padded_dim(shape.value_dim));
  return floats * sizeof(float) + (2 * static_cast<size_t>(shape.key_dim) + static_cast<size_t>(shape.value_dim)) * 2;
}

/// What delta_net() cannot run, with every parameter in the message.
Status supports(const DeltaNetShape& shape);

/// For any step within the bounds. Decode needs none.
size_t delta_net_workspace_bytes(const DeltaNetShape& shape, const StepTables& bounds);

/// The launches: decode's if bounds.decode_sequences_max > 0, prefill's if rows_max > decode_rows_max. Decode reads
/// tables, states, windows and records before its griddepcontrol.wait: at least one other kernel stands between it and
/// the last one that wrote any of them.
Status delta_net(const DeltaNetArgs& args, const device::Queue& queue);

struct CopyStatesArgs {
  DeltaNetShape shape;
  int layers = 0;
  float* states = nullptr;      // [layers, slots, state_values(shape)]
  uint16_t* windows = nullptr;  // [layers, slots, window_values(shape)]
  int64_t slots = 0;
  std::span<const StateCopy> copies;  // read before the call returns; no slot that is written is in another copy
};

/// S and window of each copy's slots, in all layers.
Status copy_states(const CopyStatesArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
