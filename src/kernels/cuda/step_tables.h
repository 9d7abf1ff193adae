#pragma once

#include <cstdint>

#include "kernels/batch.h"

// What the kernels of a step know of its batch. The first kernel of a step writes all of it, from what the host has
// laid down; every other kernel reads it on the device, so that one captured graph serves any batch that fits its
// bounds. The passes of the MTP head behind a step are steps in this sense, too: the first kernel of each but the first
// makes the tables of those before (next_draft.h).
//
// What a kernel may read before its griddepcontrol.wait, the one rule: memory that nothing writes after loading
// (weights, constants), and what the kernel before the one before it, or an earlier one of the same stream, has
// written, past L1 (__ldcg, cp.async.cg, bulk copies). It holds because of three things that every kernel of a step
// keeps to: each thread of it that reads, writes or triggers waits first, on every path out of the kernel; it triggers
// (griddepcontrol.launch_dependents) only after its own wait; and it writes nothing before its wait.
// The first two kernels of a step read nothing of that step before their wait.
//
// Two kinds of kernels are too short to hide the start of the one after them, and take more:
//  - Sums of experts and norms, in one launch or in two, trigger before their wait. What comes after them is a norm or
//    a dense product, which read nothing before their wait but what nothing writes after loading and the step's counts.
//    (A norm that sums experts reads more, and comes after experts.)
//  - A dense product that overlaps the kernel before it (DenseArgs::overlaps_previous) reads x, triggers and writes
//    without a wait, which comes last. The kernel before triggers after its own wait, so x is complete if that one did
//    not write it; the one after waits before all else.
namespace tessera::kernels::cuda {

/// The rows of one sequence in a step (kernels/batch.h: SequenceRows).
struct SequenceEntry {
  int32_t first_row = 0;
  int32_t rows = 0;
  int32_t first_position = 0;
  int32_t slot = 0;  // state slot, and row of block_tables
  RowClass row_class = RowClass::decode;
  bool keeps_records = false;     // decode: the rows may not hold
  int32_t snapshot_slot = -1;     // prefill: where the state after position snapshot_position - 1 goes; -1: nowhere
  int32_t snapshot_position = 0;  // a multiple of 64 in (first_position, first_position + rows]
  int32_t held = 0;               // decode: of the slot's records, those that do
};
static_assert(sizeof(SequenceEntry) == 32);

/// How much of the tables is in use. Rows and sequences of decode come first, those of prefill follow.
struct StepCounts {
  int32_t rows = 0;
  int32_t decode_rows = 0;
  int32_t sequences = 0;
  int32_t decode_sequences = 0;
  int32_t logit_rows = 0;
};

/// Pointers are device memory. Entries beyond the counts may hold anything.
struct StepTables {
  const StepCounts* counts = nullptr;
  const int32_t* tokens = nullptr;           // [rows_max]
  const int32_t* row_sequence = nullptr;     // [rows_max]: index into sequences
  const int32_t* row_position = nullptr;     // [rows_max]
  const SequenceEntry* sequences = nullptr;  // [sequences_max]
  const int32_t* block_tables = nullptr;     // [slots, block_table_stride]: KV block of positions [64 i, 64 i + 64)
  int64_t block_table_stride = 0;
  const int32_t* logit_rows = nullptr;  // [logit_rows_max]: rows of the batch whose logits are wanted

  // Host knowledge: what grids are made for. Counts never exceed them.
  int32_t rows_max = 0;
  int32_t decode_rows_max = 0;
  int32_t sequences_max = 0;
  int32_t decode_sequences_max = 0;
  int32_t logit_rows_max = 0;
};

}  // namespace tessera::kernels::cuda
