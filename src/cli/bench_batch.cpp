#include "cli/bench_batch.h"

#include <algorithm>
#include <numeric>

namespace tessera::cli {

using kernels::RowClass;

BenchBatch::BenchBatch(model::StepRunner& runner, int64_t sequences, int64_t vocab,
                       const std::vector<std::vector<int32_t>>& blocks)
    : runner_(runner), vocab_(vocab), blocks_(blocks), sequences_(static_cast<size_t>(sequences)) {
  params_.temperature = 0.6F;
  params_.top_k = 20;
  params_.top_p = 0.95F;
}

Expected<double> BenchBatch::prefill(int64_t tokens, int64_t rows_max, int32_t drafts) {
  const auto begin = Clock::now();
  drafts_ = drafts;
  std::fill(sequences_.begin(), sequences_.end(), Sequence{});
  size_t sequence = 0;
  while (sequence < sequences_.size()) {
    const size_t first = sequence;
    model::Step step;
    int64_t room = rows_max;
    while (sequence < sequences_.size() && room > 0) {
      int64_t rows = std::min(room, tokens - sequences_[sequence].length);
      const bool last = sequences_[sequence].length + rows == tokens;
      if (!last) rows -= rows % kernels::kBlockTokens;
      if (rows == 0) break;
      add_prompt(step, sequence, rows, last);
      room -= rows;
      if (last) ++sequence;
    }
    TESSERA_RETURN_IF_ERROR(submit(step));
    if (drafts_ == 0) continue;
    TESSERA_RETURN_IF_ERROR(drain());
    TESSERA_ASSIGN_OR_RETURN(std::span<const int32_t> made, runner_.drafts());
    for (size_t s = first; s < sequence; ++s, made = made.subspan(static_cast<size_t>(drafts_))) {
      sequences_[s].newest = results_[s - first].token;
      sequences_[s].drafts.assign(made.begin(), made.begin() + drafts_);
    }
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
    if (drafts_ == 0) continue;
    if (i > 0) {
      TESSERA_ASSIGN_OR_RETURN(const std::span<const int32_t> made, runner_.drafts());
      take_drafts(made);
    }
    TESSERA_RETURN_IF_ERROR(drain());
    decoded.tokens += take_results();
  }
  TESSERA_RETURN_IF_ERROR(drain());
  if (drafts_ == 0) decoded.tokens = steps * static_cast<int64_t>(sequences_.size());
  for (const Clock::time_point end : ends_) {
    decoded.step_seconds.push_back(std::chrono::duration<double>(end - before).count());
    before = end;
  }
  return decoded;
}

Expected<double> BenchBatch::count_experts(int64_t steps, kernels::ExpertsRead& read) {
  read = {.on = true};
  for (int64_t i = 0; i < steps; ++i) {
    TESSERA_RETURN_IF_ERROR(submit(decode_step(/*draws=*/false)));
    TESSERA_RETURN_IF_ERROR(drain());
  }
  read.on = false;
  return static_cast<double>(read.experts) / static_cast<double>(read.layers);
}

double BenchBatch::Decoded::seconds() const { return std::accumulate(step_seconds.begin(), step_seconds.end(), 0.0); }

model::Step BenchBatch::decode_step(bool draws) {
  model::Step step;
  for (size_t s = 0; s < sequences_.size(); ++s) add_decode(step, s, draws);
  return step;
}

void BenchBatch::add_prompt(model::Step& step, size_t s, int64_t rows, bool draws) {
  Sequence& sequence = sequences_[s];
  const auto first_row = static_cast<int32_t>(step.tokens.size());
  step.sequences.push_back({.first_row = first_row,
                            .rows = static_cast<int32_t>(rows),
                            .first_position = static_cast<int32_t>(sequence.length),
                            .row_class = RowClass::prefill,
                            .state_slot = static_cast<int32_t>(s),
                            .block_table = blocks_[s]});
  for (int64_t i = 0; i < rows; ++i) {
    step.tokens.push_back(static_cast<int32_t>(random_() % static_cast<uint64_t>(vocab_)));
  }
  sequence.length += rows;
  if (draws) add_sample(step, first_row + static_cast<int32_t>(rows) - 1, s, sequence.length);
  if (drafts_ == 0) return;
  step.drafting.push_back(draws ? model::Drafting{.count = drafts_} : model::Drafting{.next_token = 0});
}

void BenchBatch::add_decode(model::Step& step, size_t s, bool draws) {
  Sequence& sequence = sequences_[s];
  const auto first_row = static_cast<int32_t>(step.tokens.size());
  const auto rows = static_cast<int32_t>(sequence.drafts.size()) + 1;
  step.sequences.push_back({.first_row = first_row,
                            .rows = rows,
                            .first_position = static_cast<int32_t>(sequence.length),
                            .row_class = RowClass::decode,
                            .state_slot = static_cast<int32_t>(s),
                            .keeps_records = rows > 1,
                            .held = sequence.held,
                            .block_table = blocks_[s]});
  step.tokens.push_back(rows > 1 ? sequence.newest : model::kLastDrawn);
  step.tokens.insert(step.tokens.end(), sequence.drafts.begin(), sequence.drafts.end());
  sequence.held = rows > 1 ? 1 : 0;
  sequence.length += 1;
  if (draws) {
    for (int32_t row = 0; row < rows; ++row) add_sample(step, first_row + row, s, sequence.length + row);
    if (drafts_ > 0) step.drafting.push_back({.count = drafts_});
  }
}

void BenchBatch::add_sample(model::Step& step, int32_t row, size_t sequence, int64_t position) {
  step.samples.push_back({.row = row,
                          .slot = static_cast<int32_t>(sequence),
                          .params = &params_,
                          .noise = {.key = sequence, .position = static_cast<uint64_t>(position)}});
}

/// Of all sequences, for what stands for them in the step under way.
void BenchBatch::take_drafts(std::span<const int32_t> made) {
  for (Sequence& sequence : sequences_) {
    sequence.drafts.assign(made.begin(), made.begin() + drafts_);
    made = made.subspan(static_cast<size_t>(drafts_));
  }
}

/// Reads the step that has ended, of all sequences: which drafts hold. Returns its tokens.
int64_t BenchBatch::take_results() {
  int64_t tokens = 0;
  std::span<const kernels::SampleResult> results = results_;
  for (Sequence& sequence : sequences_) {
    const size_t rows = sequence.drafts.size() + 1;
    size_t held = 1;
    while (held < rows && results[held - 1].token == sequence.drafts[held - 1]) ++held;
    sequence.newest = results[held - 1].token;
    sequence.held = rows > 1 ? static_cast<int32_t>(held) : 0;
    sequence.length += static_cast<int64_t>(held) - 1;
    for (int32_t i = 0; i < drafts_; ++i) sequence.drafts[static_cast<size_t>(i)] = model::draft_token(i);
    tokens += static_cast<int64_t>(held);
    results = results.subspan(rows);
  }
  return tokens;
}

Status BenchBatch::submit(const model::Step& step) {
  TESSERA_RETURN_IF_ERROR(runner_.submit(step));
  if (++under_way_ > runner_.steps_ahead()) return collect();
  return {};
}

Status BenchBatch::collect() {
  --under_way_;
  TESSERA_ASSIGN_OR_RETURN(results_, runner_.collect());
  ends_.push_back(Clock::now());
  for (const kernels::SampleResult& result : results_) TESSERA_RETURN_IF_ERROR(result.status);
  return {};
}

Status BenchBatch::drain() {
  while (under_way_ > 0) TESSERA_RETURN_IF_ERROR(collect());
  return {};
}

}  // namespace tessera::cli
