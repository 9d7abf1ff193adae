#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::model {

/// What a pass on the device computes, and bounds of its batch.
struct PassSize {
  int drafts = 0;  // 0: a step; else the head's passes: the first has all rows, the others one of each sequence
  int32_t rows = 0, sequences = 0;                // of class decode
  int32_t prompt_rows = 0, prompt_sequences = 0;  // of class prefill
  int32_t samples = 0;

  [[nodiscard]] int32_t all_rows() const { return rows + prompt_rows; }
  [[nodiscard]] int32_t all_sequences() const { return sequences + prompt_sequences; }
  bool operator==(const PassSize&) const = default;
};

/// The sizes of passes for which graphs are kept: those that only decode, and those that read short prompts, too, which
/// take less time than launching their kernels one by one.
class GraphSizes {
 public:
  /// No pass has more sequences, rows and samples than these.
  GraphSizes(int32_t sequences_max, int32_t rows_max, int32_t samples_max);

  /// Of how many sequences, ascending; the last is the most.
  [[nodiscard]] const std::vector<int32_t>& sequences() const { return sequences_; }
  /// A step in which so many sequences draw behind a row each.
  [[nodiscard]] static PassSize plain_step(int32_t sequences) {
    return {.rows = sequences, .sequences = sequences, .samples = sequences};
  }
  /// The graph that runs a pass: its sequences rounded up, and as many rows for each as they have in the mean, so that
  /// a step of few drafts costs what few drafts cost. Those of the head make as many drafts as a step of such rows had,
  /// or have rows for as many as they make: where the number changes, the larger of the two. Beside prompts, whose rows
  /// are rounded up as well, sequences and their rows are rounded up further. nullopt: none is kept, since not all rows
  /// of a step draw, or it is too large.
  [[nodiscard]] std::optional<PassSize> of(const PassSize& pass) const;
  /// The graphs of steps with one to `most` drafts of each sequence, and of the head behind them; fewest sequences
  /// first.
  [[nodiscard]] std::vector<PassSize> with_drafts(int most) const;
  /// The graphs of steps that read prompts beside any number of sequences, with up to `most` drafts of each, and of the
  /// head behind them; fewest sequences first.
  [[nodiscard]] std::vector<PassSize> with_prompts(int most) const;

 private:
  [[nodiscard]] std::optional<PassSize> with_prompts_of(const PassSize& pass) const;
  void add(const PassSize& pass, std::vector<PassSize>& sizes) const;  // its graph, if it is not there

  int32_t sequences_max_, rows_max_, samples_max_;
  std::vector<int32_t> sequences_;
};

}  // namespace tessera::model
