#include "engine/draft_policy.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace tessera::engine {
namespace {

constexpr int kFirstDrafts = 3;  // drafts, before anything is known
constexpr int kTrySteps = 12;    // of one try; acceptance differs from step to step
constexpr int kPause = 24;       // steps between tries at first
constexpr int kLongestPause = 4000;
constexpr double kMemory = 0.98;  // what a step leaves of those before it
constexpr double kWorthMoving = 1.01;

int range_of(int sequences) { return std::bit_width(static_cast<unsigned>(std::max(sequences, 1))); }

}  // namespace

int DraftPolicy::drafts(int sequences) {
  if (most_ == 0) return 0;
  Range& range = ranges_[range_of(sequences)];
  if (range.best < 0) {
    range.best = std::min(kFirstDrafts, most_);
    range.pause = kPause;
    range.steps_left = kTrySteps;
  }
  return range.tried >= 0 ? range.tried : range.best;
}

void DraftPolicy::collected(Clock::time_point now, int sequences, int drafts, int64_t tokens) {
  const int key = range_of(sequences);
  // From result to result, where the step before was of the same kind.
  if (drafts >= 0 && drafts == last_drafts_ && key == last_range_) {
    measured(ranges_[key], drafts, std::chrono::duration<double>(now - last_).count(), tokens);
  }
  last_ = now;
  last_drafts_ = drafts;
  last_range_ = key;
}

void DraftPolicy::measured(Range& range, int drafts, double seconds, int64_t tokens) {
  Rate& rate = range.rates[static_cast<size_t>(drafts)];
  rate.tokens = kMemory * rate.tokens + static_cast<double>(tokens);
  rate.seconds = kMemory * rate.seconds + seconds;
  const int wanted = range.tried >= 0 ? range.tried : range.best;
  if (drafts != wanted || --range.steps_left > 0) return;
  if (range.tried >= 0) {
    const bool better = rate.value() > kWorthMoving * range.rates[static_cast<size_t>(range.best)].value();
    if (better) {
      if (std::abs(range.tried - range.best) > 1) ++range.turn;  // on from there by single drafts
      range.best = range.tried;
      range.pause = kPause;
    } else {
      ++range.turn;
      range.pause = std::min(2 * range.pause, kLongestPause);
    }
    range.tried = -1;
    range.steps_left = better ? kTrySteps : range.pause;  // on in a direction that pays
    return;
  }
  next_try(range);
}

/// With no drafts the next step does not wait for this one's tokens: none may be better than few where many are too.
void DraftPolicy::next_try(Range& range) const {
  const std::array<int, 3> others = {range.best > 0 ? 0 : std::min(kFirstDrafts, most_), range.best + 1,
                                     range.best - 1};
  for (size_t looked = 0; looked < others.size(); ++looked) {
    const int next = others[static_cast<size_t>(range.turn % 3)];
    if (next >= 0 && next <= most_ && next != range.best) {
      range.rates[static_cast<size_t>(next)] = {};  // what it was long ago says nothing
      range.tried = next;
      range.steps_left = kTrySteps;
      return;
    }
    ++range.turn;
  }
}

}  // namespace tessera::engine
