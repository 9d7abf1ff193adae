#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>

namespace tessera::engine {

inline constexpr int kMostDrafts = 8;

/// How many drafts a step should make for each of its sequences: what has given most tokens a second at about this many
/// sequences. Measures only what steps do: acceptance and cost are both in the rate. Now and then a few steps try one
/// draft more or less, or none at all, ever more seldom where that has been slower.
class DraftPolicy {
 public:
  using Clock = std::chrono::steady_clock;

  /// `most`: drafts of a sequence at most, 0 to kMostDrafts.
  explicit DraftPolicy(int most) : most_(most) {}

  /// For the next step, of `sequences` decoding sequences.
  [[nodiscard]] int drafts(int sequences);
  /// A step of `sequences` sequences was collected, in which each had `drafts` drafts (-1: not all had so many, or
  /// prompts were read too), and gave `tokens` tokens in all.
  void collected(Clock::time_point now, int sequences, int drafts, int64_t tokens);

 private:
  /// What steps with one number of drafts have given, older steps counting less and less.
  struct Rate {
    double tokens = 0, seconds = 0;
    [[nodiscard]] bool known() const { return seconds > 0; }
    [[nodiscard]] double value() const { return seconds > 0 ? tokens / seconds : 0; }
  };
  /// Of a range of numbers of sequences.
  struct Range {
    std::array<Rate, kMostDrafts + 1> rates = {};
    int best = -1;       // -1: nothing is known
    int tried = -1;      // in place of best; -1: none
    int turn = 0;        // of what is tried next
    int steps_left = 0;  // until a try ends, or until the next one
    int pause = 0;       // steps between tries
  };

  void measured(Range& range, int drafts, double seconds, int64_t tokens);
  void next_try(Range& range) const;

  int most_;
  std::map<int, Range> ranges_;  // by the logarithm of the number of sequences
  Clock::time_point last_;
  int last_drafts_ = -1, last_range_ = -1;
};

}  // namespace tessera::engine
