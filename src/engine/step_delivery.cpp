#include <algorithm>

#include "base/check.h"
#include "engine/step_loop.h"

// What a step that was collected gives: tokens to choices, their events to clients, what policies learn of it.
namespace tessera::engine {

using Time = std::chrono::steady_clock::time_point;

void StepLoop::deliver(const StepUnderWay& step, std::span<const kernels::SampleResult> results) {
  const Time now = parts_.clock();
  const Time before = step.beside_decodes ? collected_ : std::max(step.submitted, collected_);
  follow_wait(step, now - before);
  collected_ = now;
  scheduler_.step_collected();
  DraftPolicy::Step measured{.seconds = std::chrono::duration<double>(now - before).count(),
                             .decoding = step.decoding,
                             .choice = step.drafts,
                             .prompt_rows = step.chunk_rows};
  for (const AwaitedRows& rows : step.rows) {
    TESSERA_CHECK_LE(rows.results, results.size());
    const bool goes_on = !rows.choice->finished;
    const int64_t tokens = goes_on ? deliver_rows(rows, results.first(rows.results)) : 0;
    if (rows.decodes) {
      ++measured.sequences;
      measured.tokens += goes_on ? tokens : 1;  // a row too many is one without drafts, too
    }
    results = results.subspan(rows.results);
  }
  TESSERA_CHECK(results.empty());
  draft_policy_.collected(measured);
  settle();
}

/// Of the step that was collected, whose last drafts are still made. The next step is submitted before they are known,
/// unless one of its draws depends on what they are.
bool StepLoop::expect_drafts(std::vector<AwaitedRows> step) {
  std::erase_if(step, [](const AwaitedRows& rows) { return rows.drafts_wanted == 0; });
  drafted_ = std::move(step);
  bool known_first = false;
  for (const AwaitedRows& rows : drafted_) {
    Choice& choice = *rows.choice;
    if (choice.finished || choice.slot < 0) continue;
    for (int32_t i = 0; i < rows.drafts_wanted; ++i) choice.drafts.push_back(model::draft_token(i));
    known_first |= choice.follows_drafts();
  }
  return known_first ? take_drafts() : true;
}

bool StepLoop::take_drafts() {
  if (drafted_.empty()) return true;
  const auto made = parts_.runner->drafts();
  if (!made.ok()) return fail(made.status());
  std::span<const int32_t> drafts = *made;
  for (const AwaitedRows& rows : drafted_) {
    const auto wanted = static_cast<size_t>(rows.drafts_wanted);
    TESSERA_CHECK_LE(wanted, drafts.size());
    Choice& choice = *rows.choice;
    choice.made_drafts.assign(drafts.begin(), drafts.begin() + rows.drafts_wanted);
    std::copy_n(drafts.begin(), std::min(choice.drafts.size(), wanted), choice.drafts.begin());
    drafts = drafts.subspan(wanted);
  }
  drafted_.clear();
  return true;
}

/// A step was collected that took so long. Steps without rows of sequences that decode are part of what those wait for.
void StepLoop::follow_wait(const StepUnderWay& step, ChunkPolicy::Seconds time) {
  if (step.beside_decodes) {
    wait_.time += time;
    wait_.chunk_rows += step.chunk_rows;
    wait_.moves |= step.moves;
    if (!step.decodes) return;
    if (!wait_.moves) chunk_policy_.took(wait_.time, wait_.chunk_rows);
  }
  wait_ = {};
}

/// How many of the rows hold: all but the drafts that are not what was drawn before them, and those behind.
int32_t StepLoop::count_held(const AwaitedRows& rows, std::span<const kernels::SampleResult> results) {
  const auto drafts = static_cast<int32_t>(rows.drafts.size());
  int32_t right = 0;
  while (right < drafts) {
    const auto at = static_cast<size_t>(right);
    const int32_t draft = rows.drafts[at] < 0 ? rows.choice->made_drafts[at] : rows.drafts[at];
    if (!results[at].status.ok() || results[at].token != draft) break;
    ++right;
  }
  for (DraftStats* stats : {&counts_.drafts, &rows.choice->draft_stats}) {
    stats->count(static_cast<size_t>(drafts), static_cast<size_t>(right));
  }
  return rows.rows - drafts + right;
}

/// Returns how many tokens there were.
int64_t StepLoop::deliver_rows(const AwaitedRows& rows, std::span<const kernels::SampleResult> results) {
  Choice& choice = *rows.choice;
  choice.row_guides.clear();
  choice.drafts.clear();
  const int32_t held = count_held(rows, results);
  scheduler_.commit(&choice, rows.rows, held);
  const int64_t tokens = deliver_held(rows, results.first(results.size() - static_cast<size_t>(rows.rows - held)));
  if (!rows.drafts.empty()) {
    draft_policy_.acceptance().tried(static_cast<int>(rows.drafts.size()), static_cast<int>(tokens) - 1);
  }
  if (choice.finished) return tokens;
  if (rows.ends) {
    finish(choice, {.prompt_logprobs = std::move(choice.prompt_logprobs), .finish_reason = FinishReason::length});
  }
  return tokens;
}

/// The same, of rows that hold. What was drawn behind an answer's end is dropped.
int64_t StepLoop::deliver_held(const AwaitedRows& rows, std::span<const kernels::SampleResult> results) {
  Choice& choice = *rows.choice;
  int64_t position = rows.first_position, tokens = 0;
  for (const kernels::SampleResult& result : results) {
    if (!result.status.ok()) {
      finish(choice, {.finish_reason = FinishReason::error,
                      .error = result.status.with_context(fmt::format("at position {}", position))});
      break;
    }
    if (position < choice.prompt_size()) {
      choice.prompt_logprobs[static_cast<size_t>(position)] = result.logprobs;
    } else {
      deliver_token(choice, result);
      ++tokens;
      if (choice.finished) break;
    }
    ++position;
  }
  return tokens;
}

void StepLoop::deliver_token(Choice& choice, const kernels::SampleResult& result) {
  const OpenRequest& request = *choice.request;
  const int32_t token = result.token;
  choice.output.push_back(token);
  choice.guide.advance(token);
  choice.update_needs(choice.drafts_wanted > 0);
  ++counts_.generated_tokens;

  Event event;
  event.tokens = {token};
  if (request.params.logprobs) event.logprobs.push_back(result.logprobs);
  event.prompt_logprobs = std::move(choice.prompt_logprobs);
  choice.prompt_logprobs.clear();
  choice.wants_prompt_logits = false;

  const auto generated = static_cast<int64_t>(choice.output.size());
  const bool stop_token = std::ranges::binary_search(request.stop_ids(), token);
  const bool may_stop = generated > request.params.min_tokens, ends = stop_token || generated == request.max_tokens;
  std::optional<std::string> stop;
  if (!stop_token || request.params.include_stop_str_in_output) stop = choice.text.feed(token, may_stop, event.text);
  if (ends && !stop) stop = choice.text.flush(may_stop, event.text);
  if (stop_token || stop) {
    event.finish_reason = FinishReason::stop;
    event.stop_cause = stop ? StopCause::string : request.is_end_of_turn(token) ? StopCause::model : StopCause::token;
    event.stop_reason = stop ? *stop : std::to_string(token);
  } else if (ends) {
    event.finish_reason = FinishReason::length;
  }
  if (event.finish_reason == FinishReason::none) {
    post(choice, std::move(event));
  } else {
    finish(choice, std::move(event));
  }
}

/// Frees what the choice holds; its last event goes out with settle().
void StepLoop::finish(Choice& choice, Event event) {
  scheduler_.remove(&choice);
  choice.finished = true;
  post(choice, std::move(event));
}

/// Goes out with settle().
void StepLoop::post(const Choice& choice, Event event) {
  event.choice = choice.index;
  event.scheduled = choice.scheduled;
  event.cached_tokens = choice.cached_tokens;
  event.matched_tokens = choice.matched_tokens;
  event.tier_tokens = choice.tier_tokens;
  if (event.finish_reason != FinishReason::none) event.drafts = choice.draft_stats;
  outgoing_.emplace_back(choice.request->channel, std::move(event));
}

/// In this order: who sees the last event of a choice sees numbers without it.
void StepLoop::settle() {
  forget_finished();
  publish_stats();
  send_events();
}

void StepLoop::forget_finished() {
  int finished_requests = 0;
  std::erase_if(choices_, [&](const std::shared_ptr<Choice>& choice) {
    if (choice->finished && --choice->request->open_choices == 0) ++finished_requests;
    return choice->finished;
  });
  const std::lock_guard lock(mutex_);
  open_requests_ -= finished_requests;
}

void StepLoop::publish_stats() {
  counts_.running = static_cast<int>(scheduler_.running().size());
  counts_.waiting = static_cast<int>(scheduler_.waiting().size());
  counts_.kv_blocks_used = scheduler_.blocks_in_use();
  counts_.kv_blocks_total = scheduler_.blocks().size();
  counts_.state_slots_used = scheduler_.slots_in_use();
  counts_.state_slots_total = parts_.max_num_seqs;
  counts_.kept_blocks = scheduler_.prefixes().idle_blocks();
  counts_.kept_states = scheduler_.prefixes().kept_slots();
  counts_.preemptions = scheduler_.counts().preemptions;
  counts_.prefix_queries = scheduler_.counts().prefix_queries;
  counts_.prefix_hits = scheduler_.counts().prefix_hits;
  const HostTier& tier = scheduler_.prefixes().tier();
  counts_.tier.hits = scheduler_.counts().tier_hits;
  counts_.tier.bytes_used = static_cast<uint64_t>(tier.pages().used()) * parts_.page_bytes;
  counts_.tier.bytes_total = static_cast<uint64_t>(tier.pages().size()) * parts_.page_bytes;
  counts_.tier.bytes_saved = tier.saved() * parts_.page_bytes;
  counts_.tier.bytes_loaded = tier.loaded() * parts_.page_bytes;
  if (parts_.disk != nullptr) {
    const KvDirectory& directory = parts_.disk->directory();
    const PrefixCache::DiskCounts& disk = scheduler_.prefixes().disk_counts();
    counts_.disk = {.entries = directory.entries(),
                    .bytes_used = directory.bytes_used(),
                    .bytes_total = directory.bytes_max(),
                    .hits = disk.hits,
                    .writes = disk.writes,
                    .failures = disk.failures};
  }
  if (meter_) counts_.decode = meter_->decode();
  const std::lock_guard lock(mutex_);
  stats_ = counts_;
}

void StepLoop::send_events() {
  for (auto& [channel, event] : outgoing_) channel->push(std::move(event));
  outgoing_.clear();
}

}  // namespace tessera::engine
