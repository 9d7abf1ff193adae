#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "kernels/batch.h"

namespace tessera::engine {

/// How often drafts hold, by position; older ones count less and less.
class DraftAcceptance {
 public:
  /// Of one sequence's drafts in a step so many were right and of use.
  void tried(int drafts, int held);
  /// Tokens that a step with so many drafts gives a sequence. Of positions that were not tried yet it is hoped that
  /// they hold as often as the one before.
  [[nodiscard]] double tokens(int drafts) const;

 private:
  struct Position {
    double tried = 0, held = 0;
  };
  std::array<Position, kernels::kDraftsMax> positions_ = {};
};

/// How many drafts a step should make for each of its sequences, so that it is never noticeably slower than without.
///
/// What a token costs is the time of a step over the tokens that it gives, and its share of reading prompts, which take
/// longer where the head reads them too. How long steps with so many drafts take is measured for about so many
/// sequences, how often drafts hold is measured over all, and what has not been tried is guessed from what has. At
/// first no drafts are made, and then what costs least. Now and then something else is tried: soon where it is likely
/// to be better, seldom where not; and where drafts are made, none, since what steps take without them changes too.
///
/// An account is kept of the time that is lost against steps without drafts. What one number of sequences has gained
/// pays for its own losses only; those of all others are added up, and kLossShare of all time is written off them. If
/// more than kFreeLoss is left, none are made but where they have gained. So whatever is guessed or measured wrong, and
/// however many numbers of sequences are tried, no more is lost.
///
/// It has no clock: times are given.
class DraftPolicy {
 public:
  static constexpr double kLossShare = 0.005;
  static constexpr double kFreeLoss = 0.05;  // seconds, or the time of kFreeSteps steps, if that is more
  static constexpr int kFreeSteps = 4;

  /// `most`: drafts of a sequence at most, 0 to kernels::kDraftsMax; `always`: so many in every step, whatever they
  /// cost.
  explicit DraftPolicy(int most, bool always = false) : most_(most), always_(always) {}

  struct Choice {
    int drafts = 0;
    /// The head reads prompts, which drafts behind them are better for. It does not where drafts are not likely to be
    /// made soon.
    bool reads_prompts = false;
    bool operator==(const Choice&) const = default;
  };
  /// For the next step, while so many sequences decode.
  [[nodiscard]] Choice choose(int decoding);

  /// A step that was collected.
  struct Step {
    double seconds = 0;  // since the one before was
    int decoding = 0;    // as it was planned for,
    Choice choice = {};  // and with
    int sequences = 0;   // that decode in it
    int64_t tokens = 0;  // that they were given
    int64_t prompt_rows = 0;
  };
  void collected(const Step& step);
  DraftAcceptance& acceptance() { return acceptance_; }

 private:
  /// The newest times of a kind of step, of each of its sequences.
  class Times {
   public:
    /// estimated: the step read prompts, too, and what these take was subtracted. Counts only where there is no other.
    void add(double seconds, bool estimated);
    /// From now on what was before counts only until there are some new ones.
    void begin_anew() { count_ = 0; }
    [[nodiscard]] bool known() const { return median_ > 0; }
    [[nodiscard]] bool estimated() const { return estimated_; }
    [[nodiscard]] double median() const { return median_; }

   private:
    std::array<double, 15> newest_ = {};
    size_t count_ = 0;
    double median_ = 0;
    bool estimated_ = true;
  };

  /// Steps of about so many sequences.
  struct Range {
    std::array<Times, kernels::kDraftsMax + 1> times;  // by drafts
    int best = 0;
    int tried = -1;                     // in place of best; -1: none
    int turn = 0;                       // of what is tried next, where drafts are made
    bool hopeful = true;                // something is likely to be better than best
    int counted = 0, seen = 0;          // steps of the try: with a time; all
    double try_seconds = 0, pause = 0;  // of the try; until the next one
    double next_try = 0;                // of all time
    double lost = 0;                    // and not gained: below 0 it is what losses to come are paid from
  };

  /// What steps take longer because they read prompts, the newest ones.
  struct PromptCost {
    double seconds = 0, rows = 0;
    void add(double more_seconds, double more_rows);
    [[nodiscard]] double of_row() const { return rows > 0 ? seconds / rows : 0; }
  };

  [[nodiscard]] double step_seconds(const Range& range, int drafts) const;
  [[nodiscard]] double token_seconds(const Range& range, int drafts) const;
  [[nodiscard]] double head_reading_seconds() const;
  [[nodiscard]] int most_promising(const Range& range) const;
  [[nodiscard]] int first_guess(int key) const;
  bool measure(Range& range, const Step& step);
  void account(Range& range, const Step& step, bool was_drafting);
  void start_try(Range& range, int key);
  void end_try(Range& range);

  int most_;
  bool always_;
  DraftAcceptance acceptance_;
  std::map<int, Range> ranges_;  // by the least number of sequences
  int last_range_ = -1, last_drafts_ = 0;
  double seconds_ = 0;                             // all time
  double lost_ = 0;                                // by all ranges that have not gained it, and not written off
  bool overdrawn_ = false;                         // more than is free was lost, and half of it is not back yet
  PromptCost without_head_, with_head_;            // that reads them too
  double newest_tokens_ = 0, newest_prompts_ = 0;  // how many rows come with a token
};

}  // namespace tessera::engine
