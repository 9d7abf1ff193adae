#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "model/runner.h"

namespace tessera::model {

/// One pass of the MTP head.
struct HeadPass {
  std::vector<int32_t> tokens;  // [rows], or draft_token()
  std::vector<kernels::SequenceRows> sequences;
  std::vector<kernels::SampleRow> samples;  // of the rows that a draft is drawn behind
  std::vector<int32_t> hidden_rows;         // [rows]: of the pass before; of the first pass none, since it has them all
  /// What a sample draws.
  struct Draft {
    size_t place = 0;  // among the step's drafts
    int32_t slot = 0, number = 0;
  };
  std::vector<Draft> drafts;    // [samples]
  std::vector<int32_t> wanted;  // [samples]: drafts of the sample's sequence in all, of all passes

  void clear();
};

/// The newest drafts for each slot, as far as the host knows them: what draft_token() stands for.
class KnownDrafts {
 public:
  explicit KnownDrafts(int32_t slots) : tokens_(static_cast<size_t>(slots) * kernels::kDraftsMax) {}

  void set(const HeadPass::Draft& draft, int32_t token) { tokens_[at(draft.slot, draft.number)] = token; }
  /// The token that another one of the slot's rows stands for, or is.
  [[nodiscard]] int32_t resolve(int32_t slot, int32_t token) const {
    return token <= draft_token(0) ? tokens_[at(slot, draft_token(0) - token)] : token;
  }

 private:
  static size_t at(int32_t slot, int32_t number) {
    return static_cast<size_t>(slot) * kernels::kDraftsMax + static_cast<size_t>(number);
  }
  std::vector<int32_t> tokens_;
};

/// What is left to do behind a step once its draws are known: which of its rows hold, and the passes of the head. It
/// copies what it needs of the step.
class KeptStep {
 public:
  /// Whether there is something: a sequence that draws behind several of its rows, or drafting.
  static bool is_needed(const Step& step);
  explicit KeptStep(const Step& step);
  KeptStep(KeptStep&&) = default;  // its parts point to one another
  KeptStep& operator=(KeptStep&&) = default;

  /// Its rows' drafts are known now. To be called before all else.
  void set_drafts(const KnownDrafts& known);
  /// For measuring with weights whose drafts say nothing: makes results of which the first i + 1 drafts of a sequence
  /// hold in a share shares[i] of the steps. To be called before set_results().
  void assume(std::span<const double> shares, std::mt19937_64& random, std::span<kernels::SampleResult> results) const;
  /// To be called before what follows, once.
  void set_results(std::span<const kernels::SampleResult> results);

  struct Sequence {
    int32_t slot = 0;
    int32_t held = 0;            // rows
    std::vector<int32_t> drawn;  // behind them; the last is the slot's newest draw
    bool draws_several = false;  // whether or not more than one holds
    bool has_penalty = false;    // of its draws
    size_t first_sample = 0, end_sample = 0;
  };
  [[nodiscard]] std::span<const Sequence> sequences() const { return sequences_; }

  [[nodiscard]] bool drafts() const { return !drafting_.empty(); }
  /// All that the head makes, of a pass and those behind it, each sequence's in their order.
  [[nodiscard]] std::vector<HeadPass::Draft> all_drafts() const;
  /// The head's first pass: all rows, each with the token behind it.
  void first_pass(HeadPass& pass) const;
  /// Behind pass number `number`, from 0: the rows of those that draft further. False where nobody does.
  [[nodiscard]] bool next_pass(int32_t number, HeadPass& pass) const;

 private:
  [[nodiscard]] HeadPass::Draft draft(size_t sequence, int32_t number) const;
  void add_sample(size_t sequence, int32_t row, int32_t number, HeadPass& pass) const;

  std::vector<int32_t> tokens_;
  std::vector<kernels::SequenceRows> rows_;  // of each sequence, as the head runs them
  std::vector<kernels::SampleRow> samples_;
  std::vector<Drafting> drafting_;
  std::vector<Sequence> sequences_;
  std::vector<size_t> first_draft_;  // [sequences]
  // What copies of the step's parts point to.
  std::vector<std::vector<int32_t>> blocks_, banned_;
  std::vector<kernels::SampleParams> params_;
};

}  // namespace tessera::model
