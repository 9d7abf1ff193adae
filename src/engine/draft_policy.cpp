#include "engine/draft_policy.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tessera::engine {
namespace {

constexpr double kMemory = 0.998;       // what a try leaves of those before it: it counts the last 500
constexpr double kHoped = 0.8;          // of drafts that were never tried
constexpr double kHopeWeight = 2;       // tries
constexpr int kFirstDrafts = 3;         // of the first try
constexpr int kTrySteps = 6;            // with a time
constexpr int kTrySeen = 24;            // steps at most, of which some cannot be counted
constexpr double kTryShare = 1 / 200.;  // of time, that tries take in the long run
constexpr double kShortPause = 4;       // times as long as the try before it
constexpr double kWorthMoving = 0.98;   // of what a token costs
constexpr double kPromptMemory = 0.98;  // what a step leaves of those before it
constexpr double kPromptUnit = 64;      // rows: what a step costs that reads any prompt, beside its rows
constexpr double kSlowest = 2;          // times the median: what is slower than that is not for the number of drafts

/// The least of the numbers of sequences that one is measured with: batches are rounded up to about as many on a GPU.
int range_of(int sequences) {
  int least = 1;
  for (const int next : {2, 3, 5, 9, 13, 17, 25, 33, 49, 65, 97, 129, 257, 513}) {
    if (next <= sequences) least = next;
  }
  return least;
}

}  // namespace

void DraftAcceptance::tried(int drafts, int held) {
  for (int i = 0; i < std::min(drafts, held + 1); ++i) {
    Position& position = positions_[static_cast<size_t>(i)];
    position.tried = kMemory * position.tried + 1;
    position.held = kMemory * position.held + (i < held ? 1 : 0);
  }
}

double DraftAcceptance::tokens(int drafts) const {
  double tokens = 1, all_hold = 1, share = kHoped;
  for (int i = 0; i < drafts; ++i) {
    const Position& position = positions_[static_cast<size_t>(i)];
    share = (position.held + kHopeWeight * share) / (position.tried + kHopeWeight);
    all_hold *= share;
    tokens += all_hold;
  }
  return tokens;
}

void DraftPolicy::Times::add(double seconds, bool estimated) {
  constexpr size_t kFew = 3;
  if (estimated && !estimated_ && count_ > 0) return;
  if (estimated != estimated_) count_ = 0;
  estimated_ = estimated;
  newest_[count_++ % newest_.size()] = seconds;
  if (count_ < kFew) return;
  auto sorted = newest_;
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(count_, sorted.size()));
  const auto middle = sorted.begin() + (end - sorted.begin()) / 2;
  std::nth_element(sorted.begin(), middle, end);
  median_ = *middle;
}

void DraftPolicy::PromptCost::add(double more_seconds, double more_rows) {
  seconds = kPromptMemory * seconds + std::max(more_seconds, 0.0);
  rows = kPromptMemory * rows + more_rows;
}

/// Of each sequence. Guessed along the line through the two numbers next to it that are known.
double DraftPolicy::step_seconds(const Range& range, int drafts) const {
  const auto known = [&](int n) { return range.times[static_cast<size_t>(n)].known(); };
  const auto median = [&](int n) { return range.times[static_cast<size_t>(n)].median(); };
  if (known(drafts)) return median(drafts);
  int below = drafts - 1, above = drafts + 1;
  while (below > 0 && !known(below)) --below;
  while (above <= most_ && !known(above)) ++above;
  if (above > most_) {
    above = below--;
    while (below > 0 && !known(below)) --below;
    if (below < 0) return median(0);
  }
  return median(below) + (median(above) - median(below)) / (above - below) * (drafts - below);
}

/// What reading a prompt's row takes longer where the head reads it too.
double DraftPolicy::head_reading_seconds() const {
  constexpr double kGuess = 0.1;  // of the whole, while it is not known
  constexpr double kMost = 0.5;   // times as long: prompts of other lengths may have been read with it
  if (without_head_.rows == 0 || with_head_.rows == 0) return kGuess * with_head_.of_row();
  return std::clamp(with_head_.of_row() - without_head_.of_row(), 0.0, kMost * without_head_.of_row());
}

double DraftPolicy::token_seconds(const Range& range, int drafts) const {
  const double decoding = step_seconds(range, drafts) / acceptance_.tokens(drafts);
  if (drafts == 0 || newest_tokens_ == 0) return decoding;
  return decoding + newest_prompts_ / newest_tokens_ * head_reading_seconds();
}

int DraftPolicy::most_promising(const Range& range) const {
  int found = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int drafts = 1; drafts <= most_; ++drafts) {
    const double seconds = token_seconds(range, drafts);
    if (seconds >= least) continue;
    least = seconds;
    found = drafts;
  }
  return found;
}

/// Of a range in which none have been made: what is best with fewer sequences.
int DraftPolicy::first_guess(int key) const {
  for (auto range = ranges_.lower_bound(key); range != ranges_.begin();) {
    --range;
    if (range->second.best > 0) return range->second.best;
  }
  return std::min(kFirstDrafts, most_);
}

DraftPolicy::Choice DraftPolicy::choose(int decoding) {
  if (most_ == 0 || always_) return {.drafts = most_, .reads_prompts = most_ > 0};
  const int key = range_of(decoding);
  Range& range = ranges_[key];
  if (overdrawn_ && range.lost >= 0) {
    if (range.tried > 0) end_try(range);
    return {};
  }
  if (range.tried < 0 && range.times[0].known() && seconds_ >= range.next_try) start_try(range, key);
  const int drafts = range.tried >= 0 ? range.tried : range.best;
  // Of prompts that are read while none are made for a try, the cost without the head is learnt.
  const bool reads = drafts > 0 || (range.best > 0 ? decoding == 0 : range.hopeful);
  return {.drafts = drafts, .reads_prompts = reads};
}

void DraftPolicy::start_try(Range& range, int key) {
  const auto next = [&] {
    if (range.best == 0) {
      const bool none_known =
          std::none_of(range.times.begin() + 1, range.times.end(), [](const Times& t) { return t.known(); });
      return none_known ? first_guess(key) : most_promising(range);
    }
    for (;; ++range.turn) {
      const int drafts = range.turn % 3 == 0 ? 0 : range.turn % 3 == 1 ? range.best + 1 : range.best - 1;
      if (drafts <= most_ && (drafts > 0 || range.turn % 3 == 0)) return drafts;
    }
  };
  range.tried = next();
  range.counted = range.seen = 0;
  range.try_seconds = 0;
  range.times[static_cast<size_t>(range.tried)].begin_anew();
}

void DraftPolicy::end_try(Range& range) {
  const int tried = std::exchange(range.tried, -1);
  const double best = token_seconds(range, range.best);
  const bool better = range.counted == kTrySteps && token_seconds(range, tried) < kWorthMoving * best;
  if (better) {
    range.best = tried;
  } else {
    ++range.turn;
  }
  range.hopeful = better || (range.best == 0 && token_seconds(range, most_promising(range)) < kWorthMoving * best);
  const double longest = range.try_seconds / kTryShare, shortest = kShortPause * range.try_seconds;
  range.pause = range.hopeful     ? shortest
                : range.best == 0 ? longest
                                  : std::clamp(2 * range.pause, shortest, std::max(shortest, longest));
  range.next_try = seconds_ + range.pause;
}

void DraftPolicy::collected(const Step& step) {
  if (most_ == 0 || always_) return;
  const int key = range_of(step.decoding);
  Range& range = ranges_[key];
  const bool settled = key == last_range_ && step.choice.drafts == last_drafts_;
  seconds_ += step.seconds;
  const bool counts = settled && measure(range, step);
  account(range, step, last_drafts_ > 0);
  last_range_ = key;
  last_drafts_ = step.choice.drafts;
  if (range.tried >= 0) {
    if (step.choice.drafts != range.tried) return;
    ++range.seen;
    range.try_seconds += step.seconds;
    if (counts) ++range.counted;
    if (range.counted == kTrySteps || range.seen == kTrySeen) end_try(range);
  } else if (range.best > 0 && settled && token_seconds(range, 0) < token_seconds(range, range.best)) {
    range.best = 0;  // at once; what it takes without may be long ago
    range.times[0].begin_anew();
    range.hopeful = true;
    range.pause = std::max(2 * range.pause, kShortPause * range.try_seconds);
    range.next_try = seconds_ + range.pause;
  }
}

/// Returns whether it says how long such steps take.
bool DraftPolicy::measure(Range& range, const Step& step) {
  newest_tokens_ = kMemory * newest_tokens_ + static_cast<double>(step.tokens);
  newest_prompts_ *= kMemory;
  Times& times = range.times[static_cast<size_t>(step.choice.drafts)];
  if (step.prompt_rows == 0) {
    if (step.sequences > 0) times.add(step.seconds / step.sequences, /*estimated=*/false);
    return step.sequences > 0;
  }
  const double rows = kPromptUnit + static_cast<double>(step.prompt_rows);
  newest_prompts_ += rows;
  PromptCost& cost = step.choice.reads_prompts ? with_head_ : without_head_;
  if (step.sequences == 0) {
    cost.add(step.seconds, rows);
    return false;
  }
  if (times.known() && !times.estimated()) {
    cost.add(step.seconds - times.median() * step.sequences, rows);
  } else if (cost.rows > 0) {
    times.add(std::max(step.seconds - cost.of_row() * rows, 0.0) / step.sequences, /*estimated=*/true);
    return true;
  }
  return false;
}

/// Of steps that read prompts, which take as long as their prompts are, only what is known to be lost on average.
void DraftPolicy::account(Range& range, const Step& step, bool was_drafting) {
  const double without = range.times[0].median();
  double lost = 0;
  if (step.prompt_rows > 0 && step.choice.reads_prompts) {
    lost += (kPromptUnit + static_cast<double>(step.prompt_rows)) * head_reading_seconds();
  }
  if (step.sequences > 0 && range.times[0].known() && (step.choice.drafts > 0 || was_drafting)) {
    const Times& times = range.times[static_cast<size_t>(step.choice.drafts)];
    // A draft that takes as long as a step is one that cannot pay.
    const double usual = step.sequences * (times.known() ? times.median() : without * (1 + step.choice.drafts));
    const double seconds = step.prompt_rows > 0 ? usual
                           : times.known()      ? std::min(step.seconds, kSlowest * usual)
                                                : step.seconds;
    lost += seconds - without * static_cast<double>(step.tokens);
  }
  const double free = std::max(kFreeLoss, kFreeSteps * without * step.sequences);
  const double written_off = kLossShare * step.seconds;
  constexpr double kMostGain = 4;  // times what is free, is remembered
  const double owed = std::max(range.lost, 0.0);
  range.lost = std::max(range.lost + lost, -kMostGain * free);
  lost_ = std::max(lost_ + std::max(range.lost, 0.0) - owed - written_off, 0.0);
  if (range.lost > 0) range.lost = std::max(range.lost - written_off, 0.0);
  overdrawn_ = lost_ > (overdrawn_ ? free / 2 : free);
}

}  // namespace tessera::engine
