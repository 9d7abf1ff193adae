#include "engine/chunk_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/batch.h"

namespace tessera::engine {
namespace {

using kernels::kBlockTokens;

constexpr double kFirstRows = 1024;  // rows, before anything is known
constexpr double kMost = 0.050;      // seconds of a step: who reads an answer does not see it pause
constexpr double kWorthRows = 512;   // rows: with a few hundred the weights that are read cost no more than the rows
constexpr double kMadeUp = 0.85;     // by a step without prompts, of its time: behind one with them it is longer itself
constexpr size_t kMedianOf = 31;     // steps without prompts: some seconds at most, and a few slow ones count nothing
constexpr int kUnseen = 32;          // steps with prompts, until one without is wanted again
constexpr int kTooManyRemembered = 64;  // steps: so few of a hundred try again what was too long
// Of one step to the next: a step that was slow for another reason is soon forgotten.
constexpr double kShrinkMost = 0.5, kGrowMost = 1.25;

constexpr double kIdleSeconds = 0.010;  // who waits for them does not notice; steps of a GPU hardly take less

}  // namespace

std::optional<ChunkPolicy::Seconds> ChunkPolicy::fixed_bound(int milliseconds) {
  if (milliseconds < 0) return std::nullopt;
  return std::chrono::milliseconds(milliseconds);
}

ChunkPolicy::ChunkPolicy(std::optional<Seconds> fixed, int64_t rows_max)
    : fixed_(fixed),
      rows_max_(std::max<int64_t>(rows_max, kBlockTokens)),
      rows_(std::min(kFirstRows, static_cast<double>(rows_max_))),
      too_many_(std::numeric_limits<int64_t>::max()),
      worth_(fixed ? kBlockTokens : kWorthRows) {}

int64_t ChunkPolicy::rows() const {
  if (fixed_ && fixed_->count() <= 0) return rows_max_;
  if (!fixed_ && (decode_times_.empty() || steps_with_prompts_ >= kUnseen || owed_ >= median_)) return 0;
  const double rows = std::max(worth_, std::min(rows_, static_cast<double>(too_many_ - kBlockTokens)));
  return std::clamp<int64_t>(static_cast<int64_t>(rows) / kBlockTokens * kBlockTokens, kBlockTokens, rows_max_);
}

std::optional<ChunkPolicy::Seconds> ChunkPolicy::bound() const {
  if (fixed_) return fixed_;
  if (decode_times_.empty()) return std::nullopt;
  return Seconds(std::max(2 * median_, std::min((1 + part_) * median_, kMost)));
}

void ChunkPolicy::share(int decoding, int waiting) {
  if (fixed_ || decoding == 0) return;
  const double part = std::max(1.0, static_cast<double>(waiting) / decoding);
  if (part == part_) return;
  const double before = bound().value_or(Seconds(0)).count() - median_;
  part_ = part;
  const double after = bound().value_or(Seconds(0)).count() - median_;
  if (before <= 0 || before == after) return;
  // What there is more time for, takes in proportion.
  const double rows = std::min(rows_, static_cast<double>(too_many_ - kBlockTokens));
  rows_ = std::clamp(rows * after / before, static_cast<double>(kBlockTokens), static_cast<double>(rows_max_));
  too_many_ = std::numeric_limits<int64_t>::max();
}

void ChunkPolicy::took(Seconds time, int64_t rows) {
  if (rows == 0) {
    without_prompts(time.count());
    return owe(0);
  }
  if (steps_with_prompts_ < kUnseen) ++steps_with_prompts_;
  const double wanted = bound().value_or(Seconds(0)).count();
  if (wanted <= 0) return;
  if (!fixed_) owe(time.count() - median_);
  follow(time.count(), rows, wanted);
}

/// Of a step, prompts had so many seconds.
void ChunkPolicy::owe(double seconds) {
  const double part = (seconds > 0 ? 1 : kMadeUp) * part_ * median_;
  // A step that was slow for another reason holds prompts up no longer than others.
  owed_ = std::clamp(owed_ + seconds - part, 0.0, 2 * std::max(kMost, median_));
}

void ChunkPolicy::follow(double seconds, int64_t rows, double wanted) {
  // Half of the bound: rows take less than they did.
  if (--too_many_steps_ <= 0 || seconds < wanted / 2) too_many_ = std::numeric_limits<int64_t>::max();
  const bool too_long = seconds > wanted;
  if (too_long && rows > kBlockTokens) {
    too_many_ = std::min(too_many_, (rows + kBlockTokens - 1) / kBlockTokens * kBlockTokens);
    too_many_steps_ = kTooManyRemembered;
  }
  // A step that read less than it might have says nothing of one that reads more, unless it was too long already.
  if (!too_long && static_cast<double>(rows) < 0.75 * static_cast<double>(this->rows())) return;
  const auto read = static_cast<double>(rows);
  if (read > rows_ + kBlockTokens) {  // by what they were worth
    rows_ = std::min(rows_, read * (wanted - median_) / std::max(seconds - median_, 1e-9));
  } else {
    rows_ = std::min(rows_, read + kBlockTokens) * std::clamp(wanted / seconds, kShrinkMost, kGrowMost);
  }
  rows_ = std::clamp(rows_, static_cast<double>(kBlockTokens), static_cast<double>(rows_max_));
  if (fixed_) return;
  const double most = std::max(kMost, wanted);
  if (read < worth_ && seconds <= most) return;
  const double blocks = read / kBlockTokens * std::clamp(most / seconds, kShrinkMost, 2.0);
  worth_ = std::clamp((seconds > most ? std::floor(blocks) : std::round(blocks)) * kBlockTokens,
                      static_cast<double>(kBlockTokens), kWorthRows);
}

void ChunkPolicy::without_prompts(double seconds) {
  steps_with_prompts_ = 0;
  decode_times_.push_back(seconds);
  if (decode_times_.size() > kMedianOf) decode_times_.pop_front();
  std::vector<double> sorted(decode_times_.begin(), decode_times_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  median_ = *middle;
}

IdleChunk::IdleChunk(int64_t rows_max)
    : rows_max_(static_cast<double>(std::max<int64_t>(rows_max, kBlockTokens))), rows_(kBlockTokens) {}

int64_t IdleChunk::rows() const { return static_cast<int64_t>(rows_) / kBlockTokens * kBlockTokens; }

void IdleChunk::took(ChunkPolicy::Seconds time, int64_t rows) {
  if (rows < this->rows() && time.count() < kIdleSeconds) return;  // says nothing of more rows
  const double change = std::clamp(kIdleSeconds / std::max(time.count(), 1e-6), kShrinkMost, 2.0);
  rows_ = std::clamp(static_cast<double>(rows) * change, static_cast<double>(kBlockTokens), rows_max_);
}

}  // namespace tessera::engine
