#include "engine/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"

namespace tessera::engine {
namespace {

using kernels::blocks_for;
using kernels::kBlockTokens;
using kernels::RowClass;

/// The next `rows` rows of a sequence, and what they are for. Those behind its length are drafts.
ScheduledRows next_rows(Sequence* sequence, int64_t rows, RowClass row_class) {
  const int64_t length = sequence->length();
  const int64_t drafts = std::max<int64_t>(sequence->submitted + rows - length, 0);
  const bool reaches_end = sequence->submitted + rows >= length;
  const bool draws = reaches_end && length < sequence->tokens_max;
  return {.sequence = sequence,
          .rows = static_cast<int32_t>(rows),
          .row_class = row_class,
          .starts = sequence->submitted == sequence->resumed,
          .drafts = static_cast<int32_t>(drafts),
          .needs_next_token = draws,
          .ends = reaches_end && length + (draws ? 1 : 0) == sequence->tokens_max};
}

/// The next rows of a sequence that is not decoding, `rows_left` at most. Rows of one step are of one class. Rows are 0
/// when not even 64 are left.
ScheduledRows next_chunk(Sequence* sequence, int64_t rows_left) {
  const bool in_prompt = sequence->submitted < sequence->prompt_size();
  const bool all_logits = in_prompt && sequence->wants_prompt_logits;
  const int64_t end = in_prompt ? sequence->prompt_size() : sequence->size();
  // Logits of a whole chunk take memory: 64 rows of 248,320 are 64 MB.
  int64_t rows =
      std::min(end - sequence->submitted, all_logits ? std::min<int64_t>(rows_left, kBlockTokens) : rows_left);
  if (in_prompt && sequence->submitted + rows < end) rows -= rows % kBlockTokens;
  const std::vector<int64_t>& points = sequence->next_points;
  if (points.size() > 1 && points[1] <= sequence->submitted + rows) rows = points[0] - sequence->submitted;
  ScheduledRows chunk = next_rows(sequence, rows, in_prompt ? RowClass::prefill : RowClass::decode);
  chunk.needs_all_logits = all_logits;
  return chunk;
}

}  // namespace

Scheduler::Scheduler(const SchedulerLimits& limits)
    : limits_(limits),
      blocks_(limits.blocks),
      slots_(limits.slots + limits.kept_slots),
      prefixes_(blocks_, slots_, limits.prefix_caching, limits.has_states, {limits.host_pages, limits.state_pages}) {
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

void Scheduler::add(Sequence* sequence) {
  TESSERA_CHECK_GE(sequence->tokens_max, sequence->prompt_size());
  waiting_.push_back(sequence);
}

void Scheduler::remove(Sequence* sequence) {
  release(sequence);
  std::erase(running_, sequence);
  std::erase(waiting_, sequence);
  drop_plan();
}

const std::vector<ScheduledRows>& Scheduler::plan() {
  drop_plan();
  if (drafts_under_way()) return plan_;
  rows_left_ = limits_.max_batched_rows;
  plan_decodes();
  if (std::ranges::any_of(running_, [](const Sequence* sequence) { return sequence->decoding(); })) {
    const int64_t most = chunk_rows_max_ == 0 ? 0 : std::max<int64_t>(chunk_rows_max_, kBlockTokens);
    rows_left_ = static_cast<int32_t>(std::min<int64_t>(rows_left_, most));
  }
  plan_chunks();
  std::stable_partition(plan_.begin(), plan_.end(),
                        [](const ScheduledRows& item) { return item.row_class == RowClass::decode; });
  TESSERA_CHECK(!plan_.empty() || may_be_idle());
  return plan_;
}

void Scheduler::mark_submitted() {
  for (const ScheduledRows& item : plan_) {
    Sequence* sequence = item.sequence;
    if (item.saves_state) sequence->answer_tokens = sequence->submitted;
    sequence->submitted += item.rows;
    ++sequence->steps_under_way;
    sequence->held = 0;
    sequence->keeps_records = item.drafts > 0;
    prefixes_.forget_restore(*sequence);
    prefixes_.extend(*sequence);
    if (item.snapshot_position > 0) prefixes_.keep_state(*sequence, item.snapshot_position, item.snapshot_slot);
    std::erase_if(sequence->next_points, [&](int64_t point) { return point <= sequence->submitted; });
    if (!item.ends) continue;
    release(sequence);
    std::erase(running_, sequence);
  }
  plan_.clear();
  prefixes_.step_submitted();
}

void Scheduler::commit(Sequence* sequence, int32_t rows, int32_t accepted) {
  TESSERA_CHECK(accepted >= 0 && accepted <= rows);
  TESSERA_CHECK_GE(sequence->steps_under_way, 1);
  --sequence->steps_under_way;
  if (sequence->slot < 0) return;  // it gave back what the step computed
  sequence->confirmed += accepted;
  if (sequence->keeps_records) sequence->held = accepted;
  if (accepted == rows) return;
  TESSERA_CHECK_EQ(sequence->steps_under_way, 0);
  sequence->submitted = sequence->confirmed;
}

const std::vector<ScheduledRows>& Scheduler::plan_idle(Sequence* sequence, int64_t rows_max) {
  TESSERA_CHECK(running_.empty() && waiting_.empty() && sequence->steps_under_way == 0);
  drop_plan();
  const int64_t end = (sequence->prompt_size() - 1) / kBlockTokens * kBlockTokens;
  if (sequence->slot < 0 && !begin_idle(sequence, end)) return plan_;
  const int64_t chunk_end = std::min(sequence->submitted + rows_max / kBlockTokens * kBlockTokens, end);
  take_blocks_below(sequence, chunk_end, idle_worth_);
  const int64_t rows = static_cast<int64_t>(sequence->blocks.size()) * kBlockTokens - sequence->submitted;
  if (rows > 0) plan_.push_back(next_rows(sequence, rows, RowClass::prefill));
  return plan_;
}

/// Behind what the prefix cache has of its prompt, if that is not all.
bool Scheduler::begin_idle(Sequence* sequence, int64_t end) {
  const PrefixCache::Match match = prefixes_.find(*sequence);
  if (match.tokens >= end) return false;
  sequence->ahead = true;
  prefixes_.begin(*sequence, match);
  idle_worth_ = prefixes_.worth_of(end - match.tokens);
  if (!take_blocks_below(sequence, match.tokens, idle_worth_) || !prefixes_.make_slot_available(idle_worth_)) {
    release(sequence);
    return false;
  }
  sequence->slot = *slots_.take();
  prefixes_.bring_in(*sequence);
  return true;
}

void Scheduler::end_idle(Sequence* sequence) {
  drop_plan();
  if (sequence->submitted > sequence->resumed) {
    prefixes_.keep_state(*sequence, sequence->submitted, limits_.has_states ? std::exchange(sequence->slot, -1) : -1);
  }
  release(sequence);
}

void Scheduler::plan_decodes() {
  int64_t spare_rows = std::clamp(limits_.max_decode_rows, limits_.slots,
                                  static_cast<int32_t>(limits_.max_batched_rows - kBlockTokens));  // for drafts
  // Beside the draw of each sequence: prompts that end in this step draw, too.
  spare_rows -= std::min<int64_t>(limits_.slots, static_cast<int64_t>(running_.size() + waiting_.size()));
  for (size_t i = 0; i < running_.size(); ++i) {
    Sequence* sequence = running_[i];
    if (!sequence->decoding()) continue;
    const bool waits = sequence->keeps_records || (sequence->needs_token && !limits_.draws_later);
    if (sequence->steps_under_way > 0 && waits) continue;
    int64_t drafts = drafts_that_fit(*sequence, spare_rows);
    if (drafts > 0 && !take_blocks_for(sequence, sequence->length() + drafts)) drafts = 0;
    while (i < running_.size() && !take_blocks_for(sequence, sequence->length())) preempt_youngest();
    if (i == running_.size()) break;  // it was itself the youngest
    plan_.push_back(next_rows(sequence, 1 + drafts, RowClass::decode));
    plan_.back().saves_state = plan_answer_state(*sequence);
    plan_drafting(plan_.back());
    spare_rows -= drafts;
    rows_left_ -= static_cast<int32_t>(1 + drafts);
  }
}

/// Of a decoding sequence's drafts, those that get rows: a draft is of use only if what is drawn behind it is.
int64_t Scheduler::drafts_that_fit(const Sequence& sequence, int64_t spare_rows) const {
  auto all = static_cast<int64_t>(sequence.drafts.size());
  if (limits_.keeps_answers) all = std::min(all, kBlockTokens - 2 - sequence.submitted % kBlockTokens);
  return std::max<int64_t>(std::min({all, spare_rows, sequence.tokens_max - sequence.length() - 1}), 0);
}

/// Whether the state before a decoding sequence's next row is to be kept.
bool Scheduler::plan_answer_state(Sequence& sequence) {
  if (!limits_.keeps_answers || sequence.standing == nullptr || sequence.submitted % kBlockTokens != 0) return false;
  TESSERA_CHECK(sequence.held == 0 && !sequence.keeps_records);
  if (!limits_.has_states) return true;
  if (sequence.answer_slot < 0 && answer_slots_ < limits_.kept_slots / 2) {
    sequence.answer_slot = prefixes_.slot_for_state(sequence, sequence.submitted).value_or(-1);
    if (sequence.answer_slot >= 0) ++answer_slots_;
  }
  return sequence.answer_slot >= 0;
}

void Scheduler::keep_answer(Sequence& sequence) {
  const int32_t slot = std::exchange(sequence.answer_slot, -1);
  const int64_t tokens = std::exchange(sequence.answer_tokens, 0);
  if (slot >= 0) --answer_slots_;
  if (tokens > 0 && tokens <= sequence.size()) {
    prefixes_.keep_answer(sequence, tokens, slot);
  } else if (slot >= 0) {
    slots_.give_back(slot);
  }
}

/// Drafts to be made behind `rows`, as many as can be of use, where there are blocks for the head's keys and values.
void Scheduler::plan_drafting(ScheduledRows& rows) {
  Sequence& sequence = *rows.sequence;
  if (!rows.needs_next_token) return;
  // If all rows hold, a token follows, and each draft wants one behind it.
  const int64_t end = sequence.submitted + rows.rows;
  const int64_t wanted = std::min<int64_t>(sequence.drafts_wanted, sequence.tokens_max - end - 2);
  if (wanted <= 0 || !take_blocks_for(&sequence, end + wanted)) return;
  rows.drafts_wanted = static_cast<int32_t>(wanted);
}

void Scheduler::plan_chunks() {
  bool all_logits_taken = false;  // one such chunk a step, so that the logits buffer has a bound
  const auto plan_chunk = [&](Sequence* sequence) {
    ScheduledRows chunk = next_chunk(sequence, rows_left_);
    if (chunk.rows == 0 || (chunk.needs_all_logits && all_logits_taken)) return;
    all_logits_taken |= chunk.needs_all_logits;
    plan_snapshot(chunk);
    plan_drafting(chunk);
    plan_.push_back(chunk);
    rows_left_ -= chunk.rows;
  };
  for (Sequence* sequence : running_) {
    if (!sequence->decoding()) plan_chunk(sequence);
  }
  while (rows_left_ >= kBlockTokens && admit_one()) plan_chunk(running_.back());
}

bool Scheduler::admit_one() {
  if (waiting_.empty() || static_cast<int32_t>(running_.size()) == limits_.slots) return false;
  Sequence* sequence = waiting_.front();
  if (sequence->steps_under_way > 0) return false;
  const PrefixCache::Match match = prefixes_.find(*sequence);
  if (waits_for_prefix(*sequence, match)) return false;
  if (prefixes_.waits_for_disk(*sequence, match)) return false;
  prefixes_.begin(*sequence, match);
  const auto spare = static_cast<int64_t>(running_.size());
  const auto missing = blocks_for(sequence->size()) - static_cast<int64_t>(sequence->blocks.size());
  if (missing + spare > int64_t{blocks_.available()} + prefixes_.idle_blocks() || !prefixes_.make_slot_available()) {
    release(sequence);
    return false;
  }
  waiting_.pop_front();
  sequence->slot = *slots_.take();
  TESSERA_CHECK(take_blocks_for(sequence, sequence->size()));
  prefixes_.bring_in(*sequence);
  sequence->next_points = prefixes_.points_of(*sequence, match);
  running_.push_back(sequence);
  if (!std::exchange(sequence->has_begun, true)) {
    counts_.prefix_queries += static_cast<uint64_t>(sequence->prompt_size());
    counts_.prefix_hits += static_cast<uint64_t>(sequence->resumed);
    counts_.tier_hits += static_cast<uint64_t>(sequence->from_tier);
  }
  return true;
}

/// Whether a running sequence is computing what `sequence` would compute again. It then leaves a state there.
bool Scheduler::waits_for_prefix(const Sequence& sequence, const PrefixCache::Match& match) {
  for (Sequence* other : running_) {
    if (other->submitted >= other->prompt_size()) continue;
    const int64_t common = prefixes_.common_tokens(sequence, *other);
    const int64_t point = std::min(common, sequence.prompt_size() - 1) / kBlockTokens * kBlockTokens;
    if (point - match.tokens < kLeastPointTokens || other->submitted >= point) continue;
    const auto next = std::ranges::lower_bound(other->next_points, point);
    if (next == other->next_points.end() || *next != point) other->next_points.insert(next, point);
    return true;
  }
  return false;
}

/// The state that a chunk leaves: where its sequence is to leave one, or far behind the last one at its end.
void Scheduler::plan_snapshot(ScheduledRows& chunk) {
  const Sequence& sequence = *chunk.sequence;
  const int64_t end = sequence.submitted + chunk.rows;
  const std::vector<int64_t>& points = sequence.next_points;
  int64_t position = 0;
  if (!points.empty() && points[0] <= end) {
    position = points[0];
  } else if (end < sequence.prompt_size() && end - sequence.point_tokens >= kMostPointTokens) {
    position = end;
  }
  if (position == 0) return;
  const std::optional<int32_t> slot = prefixes_.slot_for_state(sequence, position);
  if (!slot) return;
  chunk.snapshot_slot = *slot;
  chunk.snapshot_position = position;
}

/// Of a plan that is not submitted.
void Scheduler::drop_plan() {
  for (const ScheduledRows& item : plan_) {
    if (item.snapshot_slot >= 0) slots_.give_back(item.snapshot_slot);
  }
  plan_.clear();
}

bool Scheduler::drafts_under_way() const {
  return std::ranges::any_of(
      running_, [](const Sequence* s) { return s->needs_host && s->steps_under_way > 0 && s->decoding(); });
}

/// Whether there may be nothing to plan: the oldest sequence can always go on, unless it waits for results, or is not
/// to be read beside others that wait for theirs.
bool Scheduler::may_be_idle() const {
  if (chunk_rows_max_ == 0 && std::ranges::any_of(running_, [](const Sequence* s) { return s->steps_under_way > 0; })) {
    return true;
  }
  if (prefixes_.reads_disk()) return true;
  const Sequence* oldest = !running_.empty() ? running_.front() : !waiting_.empty() ? waiting_.front() : nullptr;
  return oldest == nullptr || oldest->steps_under_way > 0;
}

/// Takes what is missing for `tokens` tokens, all or nothing.
bool Scheduler::take_blocks_for(Sequence* sequence, int64_t tokens) {
  const int64_t missing = blocks_for(tokens) - static_cast<int64_t>(sequence->blocks.size());
  if (!prefixes_.make_blocks_available(missing)) return false;
  for (int64_t i = 0; i < missing; ++i) sequence->blocks.push_back(*blocks_.take());
  return true;
}

/// The same for an idle prefill, as far as nothing of so much worth has to go.
bool Scheduler::take_blocks_below(Sequence* sequence, int64_t tokens, int64_t worth) {
  while (static_cast<int64_t>(sequence->blocks.size()) < blocks_for(tokens)) {
    if (!prefixes_.make_block_available(worth)) return false;
    sequence->blocks.push_back(*blocks_.take());
  }
  return true;
}

void Scheduler::release(Sequence* sequence) {
  keep_answer(*sequence);
  for (const int32_t block : sequence->blocks) blocks_.give_back(block);
  sequence->blocks.clear();
  if (sequence->slot >= 0) slots_.give_back(sequence->slot);
  sequence->slot = -1;
  sequence->held = 0;
  sequence->keeps_records = false;
  sequence->drafts.clear();
  sequence->next_points.clear();
  prefixes_.end(*sequence);
}

void Scheduler::preempt_youngest() {
  Sequence* sequence = running_.back();
  running_.pop_back();
  sequence->answer_tokens = 0;  // nobody goes on from a part of an answer
  release(sequence);
  waiting_.push_front(sequence);
  ++counts_.preemptions;
}

}  // namespace tessera::engine
