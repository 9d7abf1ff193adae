#include "model/kept_step.h"

#include <algorithm>

#include "base/check.h"

namespace tessera::model {
namespace {

bool draws_several(const Step& step, size_t first, size_t end) {
  const auto draws = [](const kernels::SampleRow& row) { return row.target < 0; };
  return std::count_if(step.samples.begin() + static_cast<std::ptrdiff_t>(first),
                       step.samples.begin() + static_cast<std::ptrdiff_t>(end), draws) > 1;
}

}  // namespace

void HeadPass::clear() {
  tokens.clear();
  sequences.clear();
  samples.clear();
  hidden_rows.clear();
  drafts.clear();
  wanted.clear();
}

bool KeptStep::is_needed(const Step& step) {
  if (!step.drafting.empty()) return true;
  if (step.samples.size() <= step.sequences.size() && step.tokens.size() == step.sequences.size()) return false;
  bool several = false;
  for_samples(step, [&](const kernels::SequenceRows& /*sequence*/, size_t first, size_t end) {
    several |= draws_several(step, first, end);
  });
  return several;
}

KeptStep::KeptStep(const Step& step) : tokens_(step.tokens), samples_(step.samples), drafting_(step.drafting) {
  TESSERA_CHECK(drafting_.empty() || drafting_.size() == step.sequences.size());
  const size_t count = step.sequences.size();
  blocks_.reserve(count);
  banned_.reserve(count);
  params_.reserve(count);
  size_t drafts = 0;
  for_samples(step, [&](const kernels::SequenceRows& sequence, size_t first, size_t end) {
    const size_t i = sequences_.size();
    kernels::SequenceRows& rows = rows_.emplace_back(sequence);
    rows.snapshot_slot = -1;
    rows.keeps_records = false;
    rows.held = 0;
    sequences_.push_back({.slot = sequence.state_slot,
                          .held = sequence.rows,
                          .drawn = {},
                          .draws_several = draws_several(step, first, end),
                          .has_penalty = end > first && step.samples[end - 1].params->has_penalty(),
                          .first_sample = first,
                          .end_sample = end});
    if (drafting_.empty()) return;
    rows.block_table = blocks_.emplace_back(sequence.block_table.begin(), sequence.block_table.end());
    first_draft_.push_back(drafts);
    drafts += static_cast<size_t>(drafting_[i].count);
    if (drafting_[i].count == 0) return;
    TESSERA_CHECK(end > first && samples_[end - 1].target < 0);
    kernels::SampleRow& newest = samples_[end - 1];
    params_.push_back(*newest.params);
    params_.back().logprobs.reset();
    newest.params = &params_.back();
    newest.banned = banned_.emplace_back(newest.banned.begin(), newest.banned.end());
    newest.allowed = {};
  });
}

void KeptStep::set_drafts(const KnownDrafts& known) {
  for (const kernels::SequenceRows& rows : rows_) {
    for (int32_t row = rows.first_row; row < rows.first_row + rows.rows; ++row) {
      int32_t& token = tokens_[static_cast<size_t>(row)];
      token = known.resolve(rows.state_slot, token);
    }
  }
}

void KeptStep::assume(std::span<const double> shares, std::mt19937_64& random,
                      std::span<kernels::SampleResult> results) const {
  for (const Sequence& sequence : sequences_) {
    if (!sequence.draws_several) continue;
    const double one = std::uniform_real_distribution<double>()(random);
    const auto holding = static_cast<size_t>(std::ranges::count_if(shares, [&](double share) { return one < share; }));
    for (size_t s = sequence.first_sample; s + 1 < sequence.end_sample; ++s) {
      const int32_t draft = tokens_[static_cast<size_t>(samples_[s].row) + 1];
      const bool holds = s - sequence.first_sample < holding;
      if (holds || results[s].token == draft) results[s].token = holds ? draft : draft == 0 ? 1 : draft - 1;
    }
  }
}

void KeptStep::set_results(std::span<const kernels::SampleResult> results) {
  for (size_t i = 0; i < sequences_.size(); ++i) {
    Sequence& sequence = sequences_[i];
    for (size_t s = sequence.first_sample; s < sequence.end_sample; ++s) {
      if (samples_[s].target >= 0) continue;
      const int32_t row = samples_[s].row, token = results[s].token;
      sequence.drawn.push_back(token);
      if (s + 1 == sequence.end_sample || token == tokens_[static_cast<size_t>(row) + 1]) continue;
      sequence.held = row + 1 - rows_[i].first_row;
      break;
    }
  }
}

std::vector<HeadPass::Draft> KeptStep::all_drafts() const {
  std::vector<HeadPass::Draft> drafts;
  for (size_t i = 0; i < drafting_.size(); ++i) {
    for (int32_t number = 0; number < drafting_[i].count; ++number) drafts.push_back(draft(i, number));
  }
  return drafts;
}

HeadPass::Draft KeptStep::draft(size_t sequence, int32_t number) const {
  return {.place = first_draft_[sequence] + static_cast<size_t>(number),
          .slot = sequences_[sequence].slot,
          .number = number};
}

/// Draft number `number` of a sequence, drawn behind a row of the pass.
void KeptStep::add_sample(size_t sequence, int32_t row, int32_t number, HeadPass& pass) const {
  kernels::SampleRow& sample = pass.samples.emplace_back(samples_[sequences_[sequence].end_sample - 1]);
  sample.row = row;
  sample.draft = number + 1;
  // Behind the row at position p, the model draws token p + 1, and its head token p + 2.
  const int32_t position = rows_[sequence].first_position + sequences_[sequence].held - 1 + number;
  sample.noise.position = static_cast<uint64_t>(position) + 2;
  pass.drafts.push_back(draft(sequence, number));
  pass.wanted.push_back(drafting_[sequence].count);
}

void KeptStep::first_pass(HeadPass& pass) const {
  pass.clear();
  pass.tokens = tokens_;
  pass.sequences = rows_;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const kernels::SequenceRows& rows = rows_[i];
    const int32_t last = sequences_[i].held - 1;
    const auto begin = pass.tokens.begin() + rows.first_row;
    std::copy(begin + 1, begin + rows.rows, begin);
    const bool is_drawn = drafting_[i].next_token == kLastDrawn && !sequences_[i].drawn.empty();
    begin[last] = is_drawn ? sequences_[i].drawn.back() : drafting_[i].next_token;
    if (drafting_[i].count == 0) continue;
    // Of the passes behind this one, too.
    const int64_t positions = int64_t{rows.first_position} + sequences_[i].held + drafting_[i].count - 1;
    TESSERA_CHECK_LE(kernels::blocks_for(positions), static_cast<int64_t>(rows.block_table.size()));
    add_sample(i, rows.first_row + last, 0, pass);
  }
}

bool KeptStep::next_pass(int32_t number, HeadPass& pass) const {
  pass.clear();
  int32_t before = 0;  // rows that the pass before drew behind
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (drafting_[i].count <= number) continue;
    // The first pass has all rows of the step, each one after it a row of each sequence that still drafted.
    const int32_t hidden = number == 0 ? rows_[i].first_row + sequences_[i].held - 1 : before;
    ++before;
    if (drafting_[i].count <= number + 1) continue;
    const auto row = static_cast<int32_t>(pass.tokens.size());
    kernels::SequenceRows& rows = pass.sequences.emplace_back(rows_[i]);
    rows.first_row = row;
    rows.rows = 1;
    rows.first_position += sequences_[i].held + number;
    rows.row_class = kernels::RowClass::decode;
    pass.tokens.push_back(draft_token(number));
    pass.hidden_rows.push_back(hidden);
    add_sample(i, row, number + 1, pass);
  }
  return !pass.tokens.empty();
}

}  // namespace tessera::model
