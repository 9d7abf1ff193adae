#include "cli/bench_batch.h"

#include <algorithm>
#include <numeric>

namespace tessera::cli {

using kernels::RowClass;

BenchBatch::BenchBatch(model::StepRunner& runner, int64_t sequences, int64_t vocab,
                       const std::vector<std::vector<int32_t>>& blocks)
    : runner_(runner), vocab_(vocab), blocks_(blocks), lengths_(static_cast<size_t>(sequences)) {
  params_.temperature = 0.6F;
  params_.top_k = 20;
  params_.top_p = 0.95F;
}

Expected<double> BenchBatch::prefill(int64_t tokens, int64_t rows_max) {
  const auto begin = Clock::now();
  std::fill(lengths_.begin(), lengths_.end(), 0);
  size_t sequence = 0;
  while (sequence < lengths_.size()) {
    model::Step step;
    int64_t room = rows_max;
    while (sequence < lengths_.size() && room > 0) {
      int64_t rows = std::min(room, tokens - lengths_[sequence]);
      const bool last = lengths_[sequence] + rows == tokens;
      if (!last) rows -= rows % kernels::kBlockTokens;
      if (rows == 0) break;
      add_rows(step, sequence, rows, RowClass::prefill, last);
      room -= rows;
      if (last) ++sequence;
    }
    TESSERA_RETURN_IF_ERROR(submit(step));
  }
  TESSERA_RETURN_IF_ERROR(drain());
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Expected<BenchBatch::Decoded> BenchBatch::decode(int64_t steps, const engine::StepBytes& bytes) {
  Decoded decoded;
  ends_.clear();
  ends_.reserve(static_cast<size_t>(steps));
  Clock::time_point before = Clock::now();
  for (int64_t i = 0; i < steps; ++i) {
    const model::Step step = decode_step(/*draws=*/true);
    decoded.cache_bytes += bytes.cache_of(step) / static_cast<double>(steps);
    TESSERA_RETURN_IF_ERROR(submit(step));
  }
  TESSERA_RETURN_IF_ERROR(drain());
  for (const Clock::time_point end : ends_) {
    decoded.step_seconds.push_back(std::chrono::duration<double>(end - before).count());
    before = end;
  }
  return decoded;
}

Status BenchBatch::decode_plainly() {
  TESSERA_RETURN_IF_ERROR(submit(decode_step(/*draws=*/false)));
  return drain();
}

double BenchBatch::Decoded::seconds() const { return std::accumulate(step_seconds.begin(), step_seconds.end(), 0.0); }

model::Step BenchBatch::decode_step(bool draws) {
  model::Step step;
  for (size_t s = 0; s < lengths_.size(); ++s) add_rows(step, s, 1, RowClass::decode, draws);
  return step;
}

void BenchBatch::add_rows(model::Step& step, size_t sequence, int64_t rows, RowClass row_class, bool draws) {
  const auto first_row = static_cast<int32_t>(step.tokens.size());
  step.sequences.push_back({.first_row = first_row,
                            .rows = static_cast<int32_t>(rows),
                            .first_position = static_cast<int32_t>(lengths_[sequence]),
                            .row_class = row_class,
                            .state_slot = static_cast<int32_t>(sequence),
                            .block_table = blocks_[sequence]});
  for (int64_t i = 0; i < rows; ++i) {
    step.tokens.push_back(row_class == RowClass::decode
                              ? model::kLastDrawn
                              : static_cast<int32_t>(random_() % static_cast<uint64_t>(vocab_)));
  }
  lengths_[sequence] += rows;
  if (!draws) return;
  step.samples.push_back({.row = first_row + static_cast<int32_t>(rows) - 1,
                          .slot = static_cast<int32_t>(sequence),
                          .params = &params_,
                          .noise = {.key = sequence, .position = static_cast<uint64_t>(lengths_[sequence])}});
}

Status BenchBatch::submit(const model::Step& step) {
  TESSERA_RETURN_IF_ERROR(runner_.submit(step));
  if (++under_way_ > runner_.steps_ahead()) return collect();
  return {};
}

Status BenchBatch::collect() {
  --under_way_;
  TESSERA_ASSIGN_OR_RETURN(const auto results, runner_.collect());
  ends_.push_back(Clock::now());
  for (const kernels::SampleResult& result : results) TESSERA_RETURN_IF_ERROR(result.status);
  return {};
}

Status BenchBatch::drain() {
  while (under_way_ > 0) TESSERA_RETURN_IF_ERROR(collect());
  return {};
}

}  // namespace tessera::cli
