#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "base/status.h"
#include "engine/id_pool.h"
#include "engine/prefix_cache.h"
#include "engine/sequence.h"
#include "kernels/batch.h"

// Continuous batching. The scheduler decides which rows the next step computes; it knows sequences, blocks and slots,
// and no tensors.
//
// Contract
//  - A sequence waits, or runs, or is gone. A running one holds one state slot and KV blocks that cover the rows that
//    were submitted; a waiting one holds nothing. Waiting and running sequences are each in order of arrival, and every
//    running one is older than every waiting one.
//  - A sequence starts behind what the prefix cache has of its prompt, and leaves there what it computes of it. While
//    another one is computing the beginning of its prompt it waits for that.
//  - Admission is first come, first served: the oldest waiting sequence starts when a slot, the blocks for all its
//    tokens and one spare block for each running sequence are free. It never overtakes.
//  - A step holds first one row of every sequence that decodes, and behind it its drafts as far as rows and blocks are
//    left for them, then chunks of prompts, oldest first, up to
//    max_batched_rows. Chunks end at a multiple of 64 or at the end of the prompt, and leave one state at most for the
//    prefix cache. Replayed rows of class decode stand
//    with the decoding ones, before all rows of class prefill.
//  - When a sequence needs one more block, none is free and the prefix cache has none to give up, the youngest running
//  sequence is preempted: it gives
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
//  - A sequence that needs_host, or whose rows under way may not hold, is planned only when all its steps were
//    collected; so is one that needs_token, unless what is drawn of a step is said later.
//  - While one that needs_host decodes, nothing else is planned: what it would wait for, prompts too, is of the same
//    steps. Else sequences would go on in two steps by turns, each of which takes about as long as one of all.
//  - A preempted sequence waits for its steps under way before it runs again, with the token that they bring.
//
// Answers (SchedulerLimits::keeps_answers)
//  - Wherever a decoding sequence has filled a block, its state is copied to a slot of its own, at most half of those
//    that are the prefix cache's. When the sequence goes, all up to there is the prefix cache's: another prompt that
//    begins with it goes on there. Its rows are decoded ones: the bits of what goes on are not those of a prompt that
//    was read, so this is asked for.
//  - No step with drafts goes on to a block's last row, for behind one the state is not yet what holds.
//
// Idle prefills
//  - While no sequence waits or runs, and no step is under way, one that is neither may compute its prompt for the
//    prefix cache alone, in whole blocks and up to the last one that leaves a token: so a prompt that begins with it
//    can go on there. It draws nothing.
//  - It takes blocks as its rows want them, and for them and its slot the prefix cache gives up only what saves less
//    than all that it is to compute. Where there is no more room it ends.
//  - When it ends, and whenever it is to make room for others, all that it has computed stays in the prefix cache: the
//    slot that it ran in becomes that of a resume point there, so nothing is copied and nobody waits.
namespace tessera::engine {

struct SchedulerLimits {
  int32_t blocks = 0;            // KV blocks of 64 tokens
  int32_t slots = 0;             // sequences that run at once, each with a state slot
  int32_t kept_slots = 0;        // state slots besides, for the prefix cache; it has those that nobody runs in, too
  int32_t max_batched_rows = 0;  // rows of a step; at least slots + 64, so that prompts move whatever decodes
  int32_t max_decode_rows = 0;   // that draw in a step, with drafts; at least slots, which 0 means
  bool prefix_caching = false;
  bool keeps_answers = false;  // of at least two kept_slots: answers, too, as they were decoded
  bool has_states = true;      // the model has layers whose states are in slots
  int32_t host_pages = 0;      // of the prefix cache's tier in the host's memory, each for a block; 0: there is none
  int32_t state_pages = 0;     // that a state takes
  bool draws_later = false;    // a step is planned before it is known how its rows are drawn
};

/// Rows of one sequence in a step: positions [sequence->submitted, + rows).
struct ScheduledRows {
  Sequence* sequence = nullptr;
  int32_t rows = 0;
  kernels::RowClass row_class = kernels::RowClass::decode;
  bool starts = false;            // the first rows since the sequence was admitted
  int32_t snapshot_slot = -1;     // where the state before snapshot_position goes; -1 without states
  int64_t snapshot_position = 0;  // 0: none is kept
  bool saves_state = false;       // the state before the rows is copied to Sequence::answer_slot
  int32_t drafts = 0;             // the last rows, of tokens that may not hold
  int32_t drafts_wanted = 0;      // to be made behind these rows
  bool needs_all_logits = false;  // prompt log-probabilities: logits of every row
  bool needs_next_token = false;  // the last row is the last token's: its logits choose the next one
  bool ends = false;              // nothing is left to compute behind these rows
};

struct SchedulerCounts {
  uint64_t preemptions = 0;
  uint64_t prefix_queries = 0;  // tokens of prompts that the prefix cache was asked for
  uint64_t prefix_hits = 0;     // of those, the ones that it had
  uint64_t tier_hits = 0;       // of those, the ones that only its tier had
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
  /// What the planned step has to move before its rows, to the host's pages and back. Once, for a plan that is then
  /// submitted.
  [[nodiscard]] std::vector<kernels::PageMove> take_moves() { return prefixes_.take_moves(); }
  /// From the next plan on: rows of prompts, and of replays, in a step while another sequence decodes; 0: none, and
  /// otherwise at least 64.
  void limit_chunk_rows(int64_t rows) { chunk_rows_max_ = rows; }
  /// Records that the planned rows are under way.
  void mark_submitted();
  /// Records that a step with `rows` rows of `sequence` was collected: the first `accepted` of them hold. Where not all
  /// do, no later step may be under way with rows of it.
  void commit(Sequence* sequence, int32_t rows, int32_t accepted);

  /// The next rows of an idle prefill, `rows_max` at most and at least 64; no other has begun and not ended. Valid as a
  /// plan of plan() is. Empty: nothing is left that it could compute.
  [[nodiscard]] const std::vector<ScheduledRows>& plan_idle(Sequence* sequence, int64_t rows_max);
  /// Ends an idle prefill for now, all of whose steps were collected.
  void end_idle(Sequence* sequence);

  [[nodiscard]] const std::deque<Sequence*>& waiting() const { return waiting_; }
  [[nodiscard]] const std::vector<Sequence*>& running() const { return running_; }
  [[nodiscard]] const IdPool& blocks() const { return blocks_; }
  [[nodiscard]] const IdPool& slots() const { return slots_; }
  [[nodiscard]] const PrefixCache& prefixes() const { return prefixes_; }
  /// What is on disk behind the prefix cache's tier; it outlives the scheduler.
  void use_disk(DiskTier* disk) { prefixes_.use_disk(disk); }
  /// A step was collected, whatever it was about.
  void step_collected() { prefixes_.step_collected(); }
  /// Takes what the disk's thread has done, and gives it what is to be done next.
  void follow_disk(PrefixCache::Time now) {
    prefixes_.follow_disk(/*is_idle=*/running_.empty() && waiting_.empty(), now);
  }
  /// What failed is tried again now.
  void retry_disk() { prefixes_.retry_disk(); }
  /// Gives up what the prefix cache has and nobody uses.
  void clear_prefixes() { prefixes_.clear(); }
  /// Blocks that hold something for a sequence, kept or not.
  [[nodiscard]] int32_t blocks_in_use() const { return blocks_.used() - prefixes_.idle_blocks(); }
  [[nodiscard]] int32_t slots_in_use() const { return slots_.used() - prefixes_.kept_slots() - answer_slots_; }
  [[nodiscard]] const SchedulerCounts& counts() const { return counts_; }

 private:
  bool take_blocks_for(Sequence* sequence, int64_t tokens);
  bool take_blocks_below(Sequence* sequence, int64_t tokens, int64_t worth);
  void release(Sequence* sequence);
  void preempt_youngest();
  bool admit_one();
  bool begin_idle(Sequence* sequence, int64_t end);
  bool waits_for_prefix(const Sequence& sequence, const PrefixCache::Match& match);
  void plan_snapshot(ScheduledRows& chunk);
  void drop_plan();
  void plan_decodes();
  [[nodiscard]] bool drafts_under_way() const;
  [[nodiscard]] int64_t drafts_that_fit(const Sequence& sequence, int64_t spare_rows) const;
  bool plan_answer_state(Sequence& sequence);
  void keep_answer(Sequence& sequence);
  void plan_drafting(ScheduledRows& rows);
  void plan_chunks();
  [[nodiscard]] bool may_be_idle() const;

  SchedulerLimits limits_;
  IdPool blocks_, slots_;
  PrefixCache prefixes_;
  int32_t answer_slots_ = 0;  // Sequence::answer_slot of all
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;
  std::vector<ScheduledRows> plan_;
  int32_t rows_left_ = 0;  // of the step being planned
  int64_t chunk_rows_max_ = std::numeric_limits<int64_t>::max();
  int64_t idle_worth_ = 0;  // of what the idle prefill that has begun is to compute
  SchedulerCounts counts_;
};

}  // namespace tessera::engine
