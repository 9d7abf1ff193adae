#include "engine/step_loop.h"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "base/check.h"

namespace tessera::engine {

using Time = std::chrono::steady_clock::time_point;

namespace {

/// With the time that requests have to end (30 s by default), less than the 90 s that systemd waits.
constexpr std::chrono::seconds kLastWrites(20);

}  // namespace

StepLoop::StepLoop(StepLoopParts parts)
    : parts_(std::move(parts)),
      scheduler_({.blocks = parts_.kv_blocks,
                  .slots = parts_.max_num_seqs,
                  .kept_slots = parts_.kept_states,
                  .max_batched_rows = parts_.max_num_batched_tokens,
                  .max_decode_rows = parts_.max_decode_rows,
                  .prefix_caching = parts_.prefix_caching,
                  .keeps_answers = parts_.keeps_answers && parts_.prefix_caching,
                  .has_states = parts_.has_states,
                  .host_pages = parts_.host_pages,
                  .state_pages = parts_.state_pages,
                  .draws_later = parts_.runner->draws_later() && parts_.drafts_max == 0}),
      draft_policy_(parts_.drafts_max, parts_.drafts_always),
      chunk_policy_(parts_.chunk_time, parts_.max_num_batched_tokens),
      idle_chunk_(parts_.max_num_batched_tokens) {
  TESSERA_CHECK_LE(parts_.drafts_max, parts_.runner->drafts_max());
  TESSERA_CHECK(scheduler_.check_fits(parts_.max_model_len).ok());
  if (parts_.step_bytes) meter_.emplace(*parts_.step_bytes);
  scheduler_.use_disk(parts_.disk);
  if (parts_.disk != nullptr) {
    parts_.disk->on_done([this] {
      const std::lock_guard lock(mutex_);
      wake_.notify_one();
    });
  }
  publish_stats();
}

StepLoop::~StepLoop() {
  if (parts_.disk != nullptr) parts_.disk->on_done({});
}

Expected<std::shared_ptr<EventChannel>> StepLoop::submit(Request request) {
  TESSERA_ASSIGN_OR_RETURN(const auto open,
                           OpenRequest::create(std::move(request), {.tokenizer = parts_.tokenizer,
                                                                    .max_model_len = parts_.max_model_len,
                                                                    .vocab_size = parts_.vocab_size,
                                                                    .eos_token_ids = parts_.eos_token_ids}));
  const std::lock_guard lock(mutex_);
  if (!stopped_.ok()) return stopped_;
  if (open_requests_ == kMaxOpenRequests) {
    return error(StatusCode::resource_exhausted, "{} requests are open already; try again when some have finished",
                 kMaxOpenRequests);
  }
  ++open_requests_;
  inbox_.push_back(open);
  wake_.notify_one();
  return open->channel;
}

void StepLoop::prefill_when_idle(IdlePrefill prefill) {
  const std::lock_guard lock(mutex_);
  if (!stopped_.ok()) return;
  idle_inbox_.push_back(std::move(prefill));
  if (idle_inbox_.size() > kIdlePrefillsMax) idle_inbox_.pop_front();
  wake_.notify_one();
}

EngineStats StepLoop::stats() const {
  const std::lock_guard lock(mutex_);
  EngineStats stats = stats_;
  for (const auto& request : inbox_) stats.waiting += request->open_choices;
  return stats;
}

Status StepLoop::status() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

Status StepLoop::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

void StepLoop::on_failure(std::function<void()> callback) {
  const std::lock_guard lock(failure_mutex_);
  on_failure_ = std::move(callback);
  if (!failure_.ok() && on_failure_) on_failure_();
}

void StepLoop::set_failure(const Status& status) {
  const std::lock_guard lock(failure_mutex_);
  failure_ = status;
  if (on_failure_) on_failure_();
}

void StepLoop::close() { stop({StatusCode::cancelled, "the engine is shutting down"}); }

void StepLoop::stop(Status why) {
  const std::lock_guard lock(mutex_);
  if (stopped_.ok()) stopped_ = std::move(why);
  wake_.notify_one();
}

void StepLoop::run() {
  while (wait_for_work()) step();
  end_everything({.finish_reason = FinishReason::cancelled});
  collect_the_rest();
  write_the_rest();
}

bool StepLoop::wait_for_work() {
  if (choices_.empty() && under_way_.empty()) follow_disk();
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] {
    return !stopped_.ok() || !inbox_.empty() || !choices_.empty() || !under_way_.empty() || !idle_inbox_.empty() ||
           !idle_.empty() || !prepared_ ||
           (parts_.disk != nullptr && (parts_.disk->has_done() || scheduler_.prefixes().disk_wants_moves()));
  });
  return stopped_.ok();
}

bool StepLoop::step() {
  take_submissions();
  follow_disk();
  choose_drafts();
  prepare_guides();
  drop_cancelled();
  limit_chunks();
  const std::vector<ScheduledRows>& plan = scheduler_.plan();
  const bool planned = !plan.empty();
  if (planned) {
    build_step(plan);
    if (meter_) meter_->submitting(step_, StepMeter::Clock::now());
    if (const Status status = parts_.runner->submit(step_); !status.ok()) return fail(status);
    scheduler_.mark_submitted();
    ++counts_.steps;
    counts_.step_tokens.count(step_.tokens.size());
  }
  if (!take_drafts()) return false;
  const int ahead = planned ? parts_.runner->steps_ahead() : 0;
  if (under_way_.empty()) {
    return step_for_disk() || (choices_.empty() && (prefill_idle() || prepare_ahead()));
  }
  if (static_cast<int>(under_way_.size()) <= ahead) return planned;
  const auto results = parts_.runner->collect();
  if (!results.ok()) return fail(results.status());
  if (meter_) meter_->collected(StepMeter::Clock::now());
  StepUnderWay collected = std::move(under_way_.front());
  under_way_.pop_front();
  deliver(collected, *results);
  if (!expect_drafts(std::move(collected.rows))) return false;
  return planned && step_.draws_later ? draw() : true;
}

/// Of the newest step, now that the tokens of those before are known.
bool StepLoop::draw() {
  TESSERA_CHECK_EQ(under_way_.size(), size_t{1});
  std::vector<Choice*> stale;
  for (const AwaitedRows& rows : under_way_.back().rows) {
    if (rows.draws_later && !rows.choice->finished && rows.choice->guide.needs_preparation()) {
      stale.push_back(rows.choice.get());
    }
  }
  prepare(stale);
  size_t sample = 0;
  for (const AwaitedRows& rows : under_way_.back().rows) {
    sample += rows.results;
    if (!rows.draws_later || rows.choice->finished) continue;
    kernels::SampleRow& row = step_.samples[sample - 1];
    const auto [number, slot] = std::pair(row.row, row.slot);
    row = rows.choice->draw_of(rows.first_position, 0);
    row.row = number;
    row.slot = slot;
  }
  if (const Status status = parts_.runner->draw(step_.samples); !status.ok()) return fail(status);
  return true;
}

void StepLoop::follow_disk() {
  if (parts_.disk != nullptr) scheduler_.follow_disk(parts_.clock());
}

/// Nobody computes: what the disk's thread is to do next may need moves, and what it reads is waited for.
bool StepLoop::step_for_disk() {
  if (scheduler_.prefixes().disk_wants_moves()) return make_moves();
  if (!scheduler_.prefixes().reads_disk()) return false;
  parts_.disk->wait_for_one();
  return true;
}

/// In a step of their own.
bool StepLoop::make_moves() {
  step_.clear();
  step_.moves = scheduler_.take_moves();
  if (const Status status = parts_.runner->submit(step_); !status.ok()) return fail(status);
  scheduler_.mark_submitted();
  if (const auto results = parts_.runner->collect(); !results.ok()) return fail(results.status());
  scheduler_.step_collected();
  return true;
}

/// False: the runner has nothing left to prepare.
bool StepLoop::prepare_ahead() {
  if (prepared_) return false;
  const auto more = parts_.runner->prepare_ahead();
  if (!more.ok()) return fail(more.status());
  prepared_ = !*more;
  return *more;
}

/// One more step of the newest idle prefill that has something to compute; false if none has.
bool StepLoop::prefill_idle() {
  for (; !idle_.empty(); idle_.pop_back()) {
    Sequence& sequence = *idle_.back();
    const auto& plan = scheduler_.plan_idle(&sequence, idle_chunk_.rows());
    if (plan.empty()) {
      rest_idle();
      continue;
    }
    const int32_t rows = plan.front().rows;
    const Time begin = parts_.clock();
    step_.clear();
    step_.moves = scheduler_.take_moves();
    add_rows(plan.front(), wants_drafting(plan));
    if (const Status status = parts_.runner->submit(step_); !status.ok()) return fail(status);
    scheduler_.mark_submitted();
    if (const auto results = parts_.runner->collect(); !results.ok()) return fail(results.status());
    scheduler_.step_collected();
    scheduler_.commit(&sequence, rows, rows);
    idle_chunk_.took(parts_.clock() - begin, rows);
    counts_.idle_prefill_tokens += static_cast<uint64_t>(rows);
    publish_stats();
    return true;
  }
  return false;
}

/// What the newest idle prefill has is the prefix cache's.
void StepLoop::rest_idle() {
  if (idle_.empty() || idle_.back()->slot < 0) return;
  Sequence& sequence = *idle_.back();
  spdlog::debug("while idle, {} tokens of {} were prefilled for prompts to come; {} were there",
                sequence.submitted - sequence.resumed, sequence.prompt_size(), sequence.resumed);
  scheduler_.end_idle(&sequence);
  publish_stats();
}

void StepLoop::take_submissions() {
  std::vector<std::shared_ptr<OpenRequest>> arrived;
  std::deque<IdlePrefill> idle;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(inbox_);
    idle.swap(idle_inbox_);
  }
  if (!arrived.empty() || !idle.empty()) rest_idle();
  for (IdlePrefill& prefill : idle) {
    idle_.push_back(std::make_unique<Sequence>());
    idle_.back()->prompt = std::make_shared<const std::vector<int32_t>>(std::move(prefill.tokens));
    idle_.back()->cache_salt = std::move(prefill.cache_salt);
    if (idle_.size() > kIdlePrefillsMax) idle_.pop_front();
  }
  for (const auto& request : arrived) open_choices(request);
}

void StepLoop::open_choices(const std::shared_ptr<OpenRequest>& request) {
  counts_.prompt_tokens += request->prompt->size();
  for (int i = 0; i < request->params.n; ++i) {
    choices_.push_back(std::make_shared<Choice>(request, i, parts_.vocab_size));
    if (i > 0) choices_.back()->reuse_after = 0;  // the first one counts
    scheduler_.add(choices_.back().get());
  }
}

/// How many rows of prompts the next step may read.
void StepLoop::limit_chunks() {
  const int waiting = std::min(static_cast<int>(choices_.size()), parts_.max_num_seqs) - decoding_;
  chunk_policy_.share(decoding_, std::max(waiting, 0));
  scheduler_.limit_chunk_rows(chunk_policy_.rows());
}

/// As many for every choice, so that the steps tell what drafts cost and give.
void StepLoop::choose_drafts() {
  decoding_ = static_cast<int>(std::ranges::count_if(choices_, [](const auto& choice) { return choice->decoding(); }));
  if (parts_.drafts_max == 0) return;
  drafts_ = draft_policy_.choose(decoding_);
  for (const auto& choice : choices_) {
    choice->drafts_wanted = drafts_.drafts;
    if (static_cast<int>(choice->drafts.size()) > drafts_.drafts) {
      choice->drafts.resize(static_cast<size_t>(drafts_.drafts));
    }
    choice->update_needs(drafts_.drafts > 0);
  }
}

/// What guides allow next, for the choices that have a new token or drafts.
void StepLoop::prepare_guides() {
  std::vector<Choice*> stale;
  for (const auto& choice : choices_) {
    if (choice->finished || (choice->steps_under_way > 0 && (choice->needs_host || choice->needs_token))) continue;
    const bool follows_drafts = !choice->drafts.empty() && !choice->guide.settled();
    if (choice->guide.needs_preparation() || follows_drafts) stale.push_back(choice.get());
  }
  prepare(stale);
}

void StepLoop::prepare(std::span<Choice* const> stale) {
  std::vector<Status> statuses(stale.size());
  const auto prepare = [&](int64_t i, int /*thread*/) {
    statuses[static_cast<size_t>(i)] = stale[static_cast<size_t>(i)]->prepare_guide();
  };
  constexpr size_t kAlone = 2;  // waking threads takes as long
  if (parts_.pool != nullptr && stale.size() > kAlone) {
    parts_.pool->run_chunks(static_cast<int64_t>(stale.size()), prepare);
  } else {
    for (size_t i = 0; i < stale.size(); ++i) prepare(static_cast<int64_t>(i), 0);
  }
  for (size_t i = 0; i < stale.size(); ++i) {
    if (!statuses[i].ok()) finish(*stale[i], {.finish_reason = FinishReason::error, .error = statuses[i]});
  }
}

void StepLoop::drop_cancelled() {
  for (const auto& choice : choices_) {
    if (choice->finished) continue;
    if (choice->request->channel->cancelled()) finish(*choice, {.finish_reason = FinishReason::cancelled});
  }
  settle();
}

void StepLoop::build_step(std::span<const ScheduledRows> plan) {
  step_.clear();
  const Time now = parts_.clock();
  StepUnderWay& step = under_way_.emplace_back();
  step.submitted = now;
  step.decoding = decoding_;
  step.drafts = drafts_;
  step_.moves = scheduler_.take_moves();
  step.moves = !step_.moves.empty();
  step.beside_decodes = std::ranges::any_of(scheduler_.running(), [](const Sequence* s) { return s->decoding(); });
  const bool drafting = wants_drafting(plan);
  for (const ScheduledRows& item : plan) {
    auto& choice = static_cast<Choice&>(*item.sequence);
    if (choice.scheduled == Time()) {
      choice.scheduled = now;
      choice.cached_tokens = choice.resumed;
      choice.matched_tokens = choice.matched;
      choice.tier_tokens = choice.from_tier;
    }
    const auto first_row = static_cast<int32_t>(step_.tokens.size());
    add_rows(item, drafting);
    if (item.starts && choice.request->sample.has_penalty()) {
      step_.histories.push_back({.slot = choice.slot, .prompt = *choice.prompt, .output = choice.output});
    }
    const bool decodes = choice.decoding();
    if (!decodes) step.chunk_rows += item.rows;
    step.decodes |= decodes;
    step.rows.push_back(add_samples(item, first_row));
    step.rows.back().decodes = decodes;
  }
}

void StepLoop::add_rows(const ScheduledRows& item, bool drafting) {
  const Sequence& sequence = *item.sequence;
  step_.sequences.push_back({.first_row = static_cast<int32_t>(step_.tokens.size()),
                             .rows = item.rows,
                             .first_position = static_cast<int32_t>(sequence.submitted),
                             .row_class = item.row_class,
                             .state_slot = sequence.slot,
                             .snapshot_slot = item.snapshot_slot,
                             .snapshot_position = static_cast<int32_t>(item.snapshot_position),
                             .keeps_records = item.drafts > 0,
                             .held = sequence.held,
                             .block_table = sequence.blocks});
  const int64_t end = sequence.submitted + item.rows, known = sequence.size() + item.drafts;
  for (int64_t position = sequence.submitted; position < end; ++position) {
    step_.tokens.push_back(position < known ? sequence.token(position) : model::kLastDrawn);
  }
  if (drafting) {
    step_.drafting.push_back(
        {.next_token = end < sequence.size() ? sequence.token(end) : model::kLastDrawn, .count = item.drafts_wanted});
  }
  if (sequence.restore_slot >= 0) step_.copies.push_back({.from = sequence.restore_slot, .to = sequence.slot});
  if (item.saves_state && sequence.answer_slot >= 0) {
    step_.copies.push_back({.from = sequence.slot, .to = sequence.answer_slot});
  }
}

StepLoop::AwaitedRows StepLoop::add_samples(const ScheduledRows& item, int32_t first_row) {
  auto& choice = static_cast<Choice&>(*item.sequence);
  const size_t samples_before = step_.samples.size();
  const auto add = [&](int64_t position, kernels::SampleRow sample) {
    sample.row = first_row + static_cast<int32_t>(position - 1 - choice.submitted);
    sample.slot = choice.slot;
    step_.samples.push_back(sample);
  };
  const int64_t end = choice.submitted + item.rows;
  const int64_t targets_end = item.needs_all_logits ? std::min(end + 1, choice.prompt_size()) : 0;
  for (int64_t position = choice.submitted + 1; position < targets_end; ++position) {
    add(position, {.target = choice.token(position), .params = &choice.request->prompt_sample});
  }
  const int64_t next = end - item.drafts;
  const bool draws_later = item.needs_next_token && choice.needs_token && next > choice.size();
  step_.draws_later |= draws_later;
  if (draws_later) {
    add(next, {.params = &choice.request->sample});
  } else if (item.needs_next_token) {
    for (int32_t draft = 0; draft <= item.drafts; ++draft) add(next + draft, choice.draw_of(next + draft, draft));
  }
  return {.choice = choice.shared_from_this(),
          .rows = item.rows,
          .drafts = {choice.drafts.begin(), choice.drafts.begin() + item.drafts},
          .drafts_wanted = item.drafts_wanted,
          .first_position = item.needs_all_logits ? choice.submitted + 1 : next,
          .results = step_.samples.size() - samples_before,
          .ends = item.ends && !item.needs_next_token,
          .draws_later = draws_later};
}

/// Whether the MTP head has work: it is to draft, or it reads what prompts say.
bool StepLoop::wants_drafting(std::span<const ScheduledRows> plan) const {
  return parts_.drafts_max > 0 && std::ranges::any_of(plan, [this](const ScheduledRows& item) {
           return item.drafts_wanted > 0 || (drafts_.reads_prompts && item.row_class == kernels::RowClass::prefill);
         });
}

/// The runner is lost, and with it all that was computed.
bool StepLoop::fail(const Status& status) {
  const Status why = status.with_context("the engine has stopped");
  stop({StatusCode::unavailable, why.message() + "; start it again"});
  under_way_.clear();
  drafted_.clear();
  prepared_ = true;
  end_everything({.finish_reason = FinishReason::error, .error = why});
  set_failure(why);
  return false;
}

/// Every open choice ends with `last`.
void StepLoop::end_everything(const Event& last) {
  take_submissions();
  rest_idle();
  idle_.clear();
  for (const auto& choice : choices_) finish(*choice, last);
  settle();
}

/// Nothing of this loop stays in the runner.
void StepLoop::collect_the_rest() {
  for (; !under_way_.empty(); under_way_.pop_front()) {
    const auto results = parts_.runner->collect();
    if (!results.ok()) return set_failure(results.status().with_context("the engine has stopped"));
    scheduler_.step_collected();
  }
}

/// What the disk does not have yet, as far as time allows: who ends a server does not wait for ever. A write that has
/// begun is ended.
void StepLoop::write_the_rest() {
  if (parts_.disk == nullptr || !failure().ok()) return;
  const Time deadline = std::chrono::steady_clock::now() + kLastWrites;
  scheduler_.retry_disk();
  follow_disk();
  while (scheduler_.prefixes().writes_disk()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      spdlog::warn("not all that the prefix cache has was written to its directory within {} s", kLastWrites.count());
      break;
    }
    if (!scheduler_.prefixes().disk_wants_moves()) {
      parts_.disk->wait_for_all(deadline);
    } else if (!make_moves()) {
      break;
    }
    follow_disk();
  }
}

}  // namespace tessera::engine
