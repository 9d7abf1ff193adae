#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::model {

/// What a pass on the device computes, and bounds of its batch.
struct PassSize {
  int drafts =
      0;  // 0: a step; else the head's passes, the first of which has all rows, the others one of each sequence
  int32_t rows = 0, sequences = 0, samples = 0;

  bool operator==(const PassSize&) const = default;
};

/// The sizes of passes that only decode, for which graphs are kept.
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
  /// or have rows for as many as they make: where the number changes, the larger of the two. nullopt: none is kept,
  /// since not all rows of a step draw, or it is too large.
  [[nodiscard]] std::optional<PassSize> of(const PassSize& pass) const;
  /// The graphs of steps with one to `most` drafts of each sequence, and of the head behind them; fewest sequences
  /// first.
  [[nodiscard]] std::vector<PassSize> with_drafts(int most) const;

 private:
  int32_t rows_max_;
  std::vector<int32_t> sequences_;
};

}  // namespace tessera::model
