#include "engine/chunk_policy.h"

#include <algorithm>

namespace tessera::engine {
namespace {

constexpr double kFirst = 1024;  // before anything is known
constexpr double kLeast = 64;
// Of one step to the next: a step that was slow for another reason is soon forgotten.
constexpr double kShrinkMost = 0.5, kGrowMost = 1.25;

}  // namespace

ChunkPolicy::ChunkPolicy(std::chrono::duration<double> wanted, int64_t rows_max)
    : wanted_(wanted.count()),
      rows_max_(static_cast<double>(rows_max)),
      rows_(wanted_ > 0 ? std::min(kFirst, rows_max_) : rows_max_) {}

void ChunkPolicy::took(std::chrono::duration<double> time, int64_t rows) {
  // A step that read less than it might have says nothing of one that reads more, unless it was too long already.
  const bool too_long = time.count() > wanted_;
  if (wanted_ <= 0 || rows == 0 || (!too_long && static_cast<double>(rows) < 0.75 * rows_)) return;
  const double change = std::clamp(wanted_ / time.count(), kShrinkMost, kGrowMost);
  rows_ = std::clamp(std::min(rows_, static_cast<double>(rows) + kLeast) * change, kLeast, rows_max_);
}

}  // namespace tessera::engine
