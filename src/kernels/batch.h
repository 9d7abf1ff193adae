#pragma once

#include <cstdint>
#include <span>

namespace tessera::kernels {

/// Prefill rows run Gated DeltaNet in chunks of 64 aligned to absolute position; decode rows (drafts and replayed
/// answers are decode rows too) run the recurrence one token at a time. Everything else treats them alike.
enum class RowClass : uint8_t { prefill, decode };

/// The rows of one sequence in a step: consecutive rows of the batch, consecutive positions of one class.
struct SequenceRows {
  int32_t first_row = 0;
  int32_t rows = 0;
  int32_t first_position = 0;  // position of first_row; 0 starts from an empty state. Prefill: multiple of 64
  RowClass row_class = RowClass::decode;
  int32_t state_slot = 0;  // Gated DeltaNet slot; unused by models without one
  /// Prefill rows: the state after position snapshot_position - 1 is also written to this slot; -1: none.
  int32_t snapshot_slot = -1;
  int32_t snapshot_position = 0;  // a multiple of 64 in (first_position, first_position + rows]
  /// Decode rows that may not hold, because some of their tokens are drafts: the state stays as it is before them, and
  /// the rows are kept in the slot as records. The slot's next step has decode rows, and says in `held` how many of
  /// them do: the state is advanced by these first. 0 without records.
  bool keeps_records = false;
  int32_t held = 0;
  std::span<const int32_t> block_table = {};  // KV block of positions [64 i, 64 i + 64); covers all rows of this step
};

/// One ragged step. Rows of all sequences are stacked; neighbours never change a row's bits.
struct Batch {
  std::span<const int32_t> tokens;  // [rows]
  std::span<const SequenceRows> sequences;

  [[nodiscard]] int32_t rows() const { return static_cast<int32_t>(tokens.size()); }
};

/// Tokens of one KV block: the alignment of prefill chunks and of state snapshots.
inline constexpr int32_t kBlockTokens = 64;
/// Drafts of a sequence in a step, at most.
inline constexpr int32_t kDraftsMax = 8;

/// KV blocks that hold `tokens` tokens.
constexpr int64_t blocks_for(int64_t tokens) { return (tokens + kBlockTokens - 1) / kBlockTokens; }

}  // namespace tessera::kernels
