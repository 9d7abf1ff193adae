#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/status.h"
#include "engine/id_pool.h"
#include "engine/sequence.h"
#include "kernels/batch.h"

// Continuous batching. The scheduler decides which rows the next step computes; it knows sequences, blocks and slots,
// and no tensors.
//
// Contract
//  - A sequence waits, or runs, or is gone. A running one holds one state slot and KV blocks that cover the rows that
//    were submitted; a waiting one holds nothing. Waiting and running sequences are each in order of arrival, and every
//    running one is older than every waiting one.
//  - Admission is first come, first served: the oldest waiting sequence starts when a slot, the blocks for all its
//    tokens and one spare block for each running sequence are free. It never overtakes.
//  - A step holds first one row of every sequence that decodes, then chunks of prompts, oldest first, up to
//    max_batched_rows. Chunks end at a multiple of 64 or at the end of the prompt. Replayed rows of class decode stand
//    with the decoding ones, before all rows of class prefill.
//  - When a sequence needs one more block and none is free, the youngest running sequence is preempted: it gives
//    everything back and waits again with the tokens it has. Replaying computes rows of the prompt as prefill and
//    rows it had generated as decode, the classes that computed them first; so the same bits come out.
//  - The oldest sequence is preempted by nobody, and no sequence is accepted that could not run alone. So the oldest
//    always finishes, and hence everything does.
//
// Steps ahead of their results
//  - plan, mark_submitted, and for each sequence of a step, once the step was collected, commit. Steps may be planned
//    and submitted before earlier ones were collected; they run in that order, so what a sequence gives back may be
//    given to another at once, whatever steps under way still use it.
//  - A sequence whose tokens_max the draw under way reaches computes nothing more: it gives everything back when that
//    step is submitted. No row is ever planned beyond tokens_max.
//  - A sequence that needs_host is planned only when all its steps were collected.
//  - A preempted sequence waits for its steps under way before it runs again, with the token that they bring.
namespace tessera::engine {

struct SchedulerLimits {
  int32_t blocks = 0;            // KV blocks of 64 tokens
  int32_t slots = 0;             // state slots = sequences that run at once
  int32_t max_batched_rows = 0;  // rows of a step; at least slots + 64, so that prompts move whatever decodes
};

/// Rows of one sequence in a step: positions [sequence->submitted, + rows).
struct ScheduledRows {
  Sequence* sequence = nullptr;
  int32_t rows = 0;
  kernels::RowClass row_class = kernels::RowClass::decode;
  bool starts = false;            // the first rows since the sequence was admitted
  bool needs_all_logits = false;  // prompt log-probabilities: logits of every row
  bool needs_next_token = false;  // the last row is the last token's: its logits choose the next one
  bool ends = false;              // nothing is left to compute behind these rows
};

class Scheduler {
 public:
  explicit Scheduler(const SchedulerLimits& limits);

  /// resource_exhausted when a sequence of `tokens` tokens could not run even alone.
  [[nodiscard]] Status check_fits(int64_t tokens) const;

  /// Appends to the waiting. The sequence stays its owner's, at the same address, until remove().
  void add(Sequence* sequence);
  /// Frees what `sequence` holds and forgets it: finished, cancelled or failed.
  void remove(Sequence* sequence);

  /// Chooses the rows of the next step: preempts, admits, takes blocks. Valid until the next call to plan,
  /// mark_submitted or remove. Empty only if there is no sequence, or if steps under way have to be collected first.
  [[nodiscard]] const std::vector<ScheduledRows>& plan();
  /// Records that the planned rows are under way.
  void mark_submitted();
  /// Records that a step with `rows` rows of `sequence` was collected: the first `accepted` of them hold. Where not all
  /// do, no later step may be under way with rows of it.
  void commit(Sequence* sequence, int32_t rows, int32_t accepted);

  [[nodiscard]] const std::deque<Sequence*>& waiting() const { return waiting_; }
  [[nodiscard]] const std::vector<Sequence*>& running() const { return running_; }
  [[nodiscard]] const IdPool& blocks() const { return blocks_; }
  [[nodiscard]] const IdPool& slots() const { return slots_; }
  [[nodiscard]] uint64_t preemptions() const { return preemptions_; }

 private:
  bool take_blocks_for(Sequence* sequence, int64_t tokens);
  void release(Sequence* sequence);
  void preempt_youngest();
  bool admit_one();
  void plan_decodes();
  void plan_chunks();
  [[nodiscard]] bool may_be_idle() const;

  SchedulerLimits limits_;
  IdPool blocks_, slots_;
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;
  std::vector<ScheduledRows> plan_;
  int32_t rows_left_ = 0;  // of the step being planned
  uint64_t preemptions_ = 0;
};

}  // namespace tessera::engine
