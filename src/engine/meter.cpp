#include "engine/meter.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/batch.h"

namespace tessera::engine {

double StepBytes::cache_of(const model::Step& step) const {
  double tokens = 0;
  for (const kernels::SequenceRows& sequence : step.sequences) tokens += sequence.first_position + sequence.rows;
  return tokens / kernels::kBlockTokens * static_cast<double>(cache.kv_block) +
         2.0 * static_cast<double>(step.sequences.size()) * static_cast<double>(cache.state_slot);
}

double StepBytes::of(const model::Step& step) const {
  return weights.bytes_per_step(static_cast<int64_t>(step.tokens.size())) + cache_of(step);
}

std::optional<double> read_fraction(const DecodeTraffic& before, const DecodeTraffic& now, double bytes_per_second) {
  const double seconds = now.seconds - before.seconds;
  if (seconds <= 0 || bytes_per_second <= 0) return std::nullopt;
  return (now.bytes - before.bytes) / seconds / bytes_per_second;
}

void StepMeter::submitting(const model::Step& step, Clock::time_point now) {
  const bool decode = !step.sequences.empty() && step.moves.empty() &&
                      std::all_of(step.sequences.begin(), step.sequences.end(),
                                  [](const auto& sequence) { return sequence.row_class == kernels::RowClass::decode; });
  under_way_.push_back({.submitted = now, .bytes = decode ? bytes_.of(step) : 0});
}

void StepMeter::collected(Clock::time_point now) {
  TESSERA_CHECK(!under_way_.empty());
  const UnderWay step = under_way_.front();
  under_way_.pop_front();
  const Clock::time_point begin = std::max(step.submitted, last_end_);
  last_end_ = now;
  if (step.bytes == 0) return;
  ++decode_.steps;
  decode_.bytes += step.bytes;
  decode_.seconds += std::chrono::duration<double>(now - begin).count();
}

}  // namespace tessera::engine
