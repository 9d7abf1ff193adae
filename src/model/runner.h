#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/status.h"
#include "kernels/batch.h"
#include "kernels/gated_delta_net.h"
#include "kernels/page_move.h"
#include "kernels/sample.h"

// The seam between engine and model: an asynchronous step. Tokens come back, never logits.
//
// Contract
//  - Steps run in the order of submit(), each as if all before it had ended. So what one step's rows need may be given
//    back or given to others as soon as it has been submitted: blocks, slots, state copies, pages of the host. What a
//    step moves is there once the step was collected.
//  - submit() does not wait for the device, but for a step without rows: it has moves and nothing else. At most
//    steps_ahead() + 1 steps are submitted and not collected.
//  - submit() takes what it needs of a Step: neither the Step nor what it points to has to outlive the call.
//  - A step whose draws come later is computed up to its logits; draw() follows before anything else is submitted, and
//    once all steps before were collected.
//  - Rows of a sequence whose tokens are drafts are drawn one behind the other: where a draw is not the token of the
//    row behind it, the results of that row and the ones after it mean nothing, and the draw is the slot's newest.
//  - After an error a runner is not used again.
//  - One thread at a time uses a runner.
namespace tessera::model {

/// Stands for a row's token: the one that the newest draw of the row's slot chose; any token where that draw failed.
inline constexpr int32_t kLastDrawn = -1;
/// Stands for a row's token: the newest draft of that number, from 0, for the row's slot.
constexpr int32_t draft_token(int32_t number) { return -2 - number; }

/// What the MTP head does for a sequence of a step, behind it.
struct Drafting {
  /// The token behind the sequence's last row; kLastDrawn: the last one that the step draws for it.
  int32_t next_token = kLastDrawn;
  /// Tokens that it proposes behind that, with the sequence's own noise and parameters.
  int32_t count = 0;
};

struct Step {
  std::vector<int32_t> tokens;  // [rows], or kLastDrawn, or draft_token()
  std::vector<kernels::SequenceRows> sequences;
  std::vector<kernels::SampleRow> samples;       // by ascending row
  std::vector<kernels::TokenHistory> histories;  // before the step's samples; for slots whose samples have penalties
  std::vector<kernels::PageMove> moves;          // to and from the host's pages, in their order, before the copies
  std::vector<kernels::StateCopy> copies;        // of all layers' states, before the step's rows
  std::vector<Drafting> drafting;                // [sequences], or none: the MTP head does nothing
  /// What draws need is not known yet: of samples only row, slot and target are, and draw() brings the rest. Nothing is
  /// drafted, and no sequence draws behind several rows.
  bool draws_later = false;

  [[nodiscard]] kernels::Batch batch() const { return {.tokens = tokens, .sequences = sequences}; }
  void clear() {
    tokens.clear();
    sequences.clear();
    samples.clear();
    histories.clear();
    moves.clear();
    copies.clear();
    drafting.clear();
    draws_later = false;
  }
};

/// f(sequence, first, end) with the samples [first, end) of each sequence's rows.
template <typename F>
void for_samples(const Step& step, const F& f) {
  size_t sample = 0;
  for (const kernels::SequenceRows& sequence : step.sequences) {
    const size_t first = sample;
    while (sample < step.samples.size() && step.samples[sample].row < sequence.first_row + sequence.rows) ++sample;
    f(sequence, first, sample);
  }
  TESSERA_CHECK_EQ(sample, step.samples.size());
}

class StepRunner {
 public:
  virtual ~StepRunner() = default;

  /// Steps that may be under way while the next one is submitted: 0 where submit() computes.
  [[nodiscard]] virtual int steps_ahead() const = 0;
  /// Whether it takes steps whose draws come later. Such a runner is at most one step ahead.
  [[nodiscard]] virtual bool draws_later() const { return false; }
  /// An error ends the engine: the step has not run, and the caches may hold anything.
  virtual Status submit(const Step& step) = 0;
  /// The samples of the step that was submitted last, as they are to be drawn. Errors as of submit().
  virtual Status draw(std::span<const kernels::SampleRow> /*samples*/) {
    return {StatusCode::unsupported, "this runner draws what a step says when it is submitted"};
  }
  /// Waits for the oldest step not collected: a result for each of its samples, in their order. The results stay until
  /// the next collect(). What went wrong for one row is in its result; an error ends the engine.
  virtual Expected<std::span<const kernels::SampleResult>> collect() = 0;
  /// Waits for the drafts of the step that was collected last: those of each sequence, one sequence behind the other.
  /// They stay as long as its results. What a draft is decides nothing but time. Rows of a step that is submitted
  /// before may have them as draft_token(), unless a draw has penalties, or a mask that follows them.
  virtual Expected<std::span<const int32_t>> drafts() { return std::span<const int32_t>(); }
  /// The most Drafting::count; 0: nothing here drafts.
  [[nodiscard]] virtual int drafts_max() const { return 0; }
  /// While no step is under way: does some of what later steps would have to wait for once, for about 10 ms. It changes
  /// no result. False: there is nothing left.
  virtual Expected<bool> prepare_ahead() { return false; }
};

}  // namespace tessera::model
