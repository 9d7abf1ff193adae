#include "engine/scheduler.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"

namespace tessera::engine {
namespace {

using kernels::kBlockTokens;
using kernels::RowClass;

int64_t blocks_for(int64_t tokens) { return (tokens + kBlockTokens - 1) / kBlockTokens; }

/// The next rows of a sequence that is not decoding, `rows_left` at most. Rows of one step are of one class. Rows are 0
/// when not even 64 are left.
ScheduledRows next_chunk(Sequence* sequence, int64_t rows_left) {
  ScheduledRows chunk{.sequence = sequence};
  const int64_t computed = sequence->computed;
  const bool in_prompt = computed < sequence->prompt_size();
  const int64_t end = in_prompt ? sequence->prompt_size() : sequence->size();
  chunk.row_class = in_prompt ? RowClass::prefill : RowClass::decode;
  chunk.needs_all_logits = in_prompt && sequence->wants_prompt_logits;
  // Logits of a whole chunk take memory: 64 rows of 248,320 are 64 MB.
  int64_t rows =
      std::min(end - computed, chunk.needs_all_logits ? std::min<int64_t>(rows_left, kBlockTokens) : rows_left);
  if (in_prompt && computed + rows < end) rows -= rows % kBlockTokens;
  chunk.rows = static_cast<int32_t>(rows);
  chunk.needs_next_token = computed + rows == sequence->size();
  return chunk;
}

}  // namespace

Scheduler::Scheduler(const SchedulerLimits& limits) : limits_(limits), blocks_(limits.blocks), slots_(limits.slots) {
  TESSERA_CHECK_GE(limits.slots, 1);
  TESSERA_CHECK_GE(limits.max_batched_rows, limits.slots + kBlockTokens);
  running_.reserve(static_cast<size_t>(limits.slots));
  plan_.reserve(static_cast<size_t>(limits.slots));
}

Status Scheduler::check_fits(int64_t tokens) const {
  const int64_t needed = blocks_for(tokens);
  if (needed <= blocks_.size()) return {};
  return error(
      StatusCode::resource_exhausted,
      "a sequence of {} tokens needs {} KV blocks of {} tokens, and there are {} in all; shorten the prompt or "
      "max_tokens, or give the KV cache more memory (memory_bytes) or a smaller type (kv_cache_dtype fp8)",
      tokens, needed, kBlockTokens, blocks_.size());
}

void Scheduler::add(Sequence* sequence) { waiting_.push_back(sequence); }

void Scheduler::remove(Sequence* sequence) {
  release(sequence);
  std::erase(running_, sequence);
  std::erase(waiting_, sequence);
  plan_.clear();
}

const std::vector<ScheduledRows>& Scheduler::plan() {
  plan_.clear();
  rows_left_ = limits_.max_batched_rows;
  plan_decodes();
  plan_chunks();
  TESSERA_CHECK(!plan_.empty() || (running_.empty() && waiting_.empty()));
  return plan_;
}

void Scheduler::commit() {
  for (const ScheduledRows& rows : plan_) rows.sequence->computed += rows.rows;
}

void Scheduler::plan_decodes() {
  for (size_t i = 0; i < running_.size(); ++i) {
    Sequence* sequence = running_[i];
    if (!sequence->decoding()) continue;
    while (i < running_.size() && !take_blocks_for(sequence, sequence->size())) preempt_youngest();
    if (i == running_.size()) break;  // it was itself the youngest
    plan_.push_back({.sequence = sequence, .rows = 1, .row_class = RowClass::decode, .needs_next_token = true});
    --rows_left_;
  }
}

void Scheduler::plan_chunks() {
  bool all_logits_taken = false;  // one such chunk a step, so that the logits buffer has a bound
  const auto plan_chunk = [&](Sequence* sequence) {
    const ScheduledRows chunk = next_chunk(sequence, rows_left_);
    if (chunk.rows == 0 || (chunk.needs_all_logits && all_logits_taken)) return;
    all_logits_taken |= chunk.needs_all_logits;
    plan_.push_back(chunk);
    rows_left_ -= chunk.rows;
  };
  for (Sequence* sequence : running_) {
    if (!sequence->decoding()) plan_chunk(sequence);
  }
  while (rows_left_ >= kBlockTokens && admit_one()) plan_chunk(running_.back());
}

bool Scheduler::admit_one() {
  if (waiting_.empty() || slots_.available() == 0) return false;
  Sequence* sequence = waiting_.front();
  const auto spare = static_cast<int64_t>(running_.size());
  if (blocks_for(sequence->size()) + spare > blocks_.available()) return false;
  waiting_.pop_front();
  sequence->slot = *slots_.take();
  TESSERA_CHECK(take_blocks_for(sequence, sequence->size()));
  running_.push_back(sequence);
  return true;
}

/// Takes what is missing for `tokens` tokens, all or nothing.
bool Scheduler::take_blocks_for(Sequence* sequence, int64_t tokens) {
  const int64_t missing = blocks_for(tokens) - static_cast<int64_t>(sequence->blocks.size());
  if (missing > blocks_.available()) return false;
  for (int64_t i = 0; i < missing; ++i) sequence->blocks.push_back(*blocks_.take());
  return true;
}

void Scheduler::release(Sequence* sequence) {
  for (const int32_t block : sequence->blocks) blocks_.give_back(block);
  sequence->blocks.clear();
  if (sequence->slot >= 0) slots_.give_back(sequence->slot);
  sequence->slot = -1;
  sequence->computed = 0;
}

void Scheduler::preempt_youngest() {
  Sequence* sequence = running_.back();
  running_.pop_back();
  release(sequence);
  waiting_.push_front(sequence);
  ++preemptions_;
}

}  // namespace tessera::engine
