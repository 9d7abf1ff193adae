#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "engine/scheduler.h"
#include "kernels/noise.h"
#include "sequences.h"

// The scheduler over a model of hashes: every sequence gets the tokens it gets alone, whatever runs beside it.
namespace tessera::engine {
namespace {

using kernels::mix_bits;
using kernels::RowClass;

// A model whose tokens are hashes of everything that a real one's depend on: the recurrent state (whole chunks for
// prefill rows, single rows for decode), the KV cache read back through the block table, the slot's newest draw where
// the host does not know a token yet, and what a guide on the host says. Rows with drafts leave the state as it is and
// are kept in the slot as records, from which the next step's `held` are taken into the state.
class HashModel {
 public:
  HashModel(int32_t blocks, int32_t slots, int32_t pages = 0)
      : pages_(static_cast<size_t>(pages)),
        kv_(static_cast<size_t>(blocks) * 64),
        states_(static_cast<size_t>(slots)),
        records_(static_cast<size_t>(slots)),
        drawn_(static_cast<size_t>(slots)) {}

  /// What a runner does first in a step. A state's first page has it; each of the others has a share of it, and a state
  /// that comes back with another's is spoilt.
  void move(const std::vector<kernels::PageMove>& moves) {
    for (const kernels::PageMove& move : moves) {
      std::vector<uint64_t>& page = pages_.at(static_cast<size_t>(move.page));
      if (move.what == kernels::PageMove::What::state) {
        uint64_t& state = state_of(move.index);
        if (move.to_host) {
          page = {state + static_cast<uint64_t>(move.piece)};
        } else {
          state = move.piece == 0 ? page.at(0) : page.at(0) == state + static_cast<uint64_t>(move.piece) ? state : 0;
        }
        continue;
      }
      const auto block = kv_.begin() + std::ptrdiff_t{move.index} * 64;
      if (move.to_host) {
        page.assign(block, block + 64);
      } else {
        std::copy_n(page.begin(), 64, block);
      }
    }
  }

  /// As a runner takes a step: what it copies, then its rows, which leave states. The draws behind the last row that
  /// is no draft and behind each draft.
  std::vector<int32_t> run(const ScheduledRows& item, bool guided) {
    const Sequence& sequence = *item.sequence;
    if (sequence.restore_slot >= 0) state_of(sequence.slot) = state_of(sequence.restore_slot);
    if (item.saves_state) state_of(sequence.answer_slot) = state_of(sequence.slot);
    kept_slot_ = item.snapshot_slot;
    kept_position_ = item.snapshot_position;
    const std::vector<uint64_t>& records = records_.at(static_cast<size_t>(sequence.slot));
    for (int32_t i = 0; i < sequence.held; ++i) {
      state_of(sequence.slot) = behind_decode_row(state_of(sequence.slot), records.at(static_cast<size_t>(i)));
    }
    const uint64_t before = state_of(sequence.slot);
    std::vector<uint64_t> tokens;
    for (int32_t i = 0; i < item.rows; ++i) tokens.push_back(token_at(sequence, sequence.submitted + i));
    const int32_t rows = item.rows - item.drafts;
    std::vector<int32_t> draws = {forward(sequence, sequence.submitted, rows, item.row_class, guided)};
    for (int32_t i = 0; i < item.drafts; ++i) {
      draws.push_back(forward(sequence, sequence.submitted + rows + i, 1, item.row_class, guided));
    }
    if (item.drafts > 0) {
      state_of(sequence.slot) = before;
      records_.at(static_cast<size_t>(sequence.slot)) = std::move(tokens);
    }
    return draws;
  }

  /// Runs rows of a sequence; returns the next token after the last of them.
  int32_t forward(const Sequence& sequence, int64_t first, int32_t rows, RowClass row_class, bool guided) {
    uint64_t& state = state_of(sequence.slot);
    if (first == 0) state = 0;
    for (int64_t position = first; position < first + rows; ++position) {
      const uint64_t token = token_at(sequence, position);
      kv_[kv_index(sequence, position)] = mix_bits(token + 1);
      const bool chunk_ends = position + 1 == first + rows || (position + 1) % 64 == 0;
      if (row_class == RowClass::decode) {
        state = behind_decode_row(state, token);
      } else {
        state = mix_bits(state + token);
        if (chunk_ends) state = mix_bits(state + 0x2000);
      }
      if (kept_slot_ >= 0 && kept_position_ == position + 1) state_of(kept_slot_) = state;
    }
    uint64_t attended = state;
    for (int64_t position = 0; position < first + rows; ++position)
      attended = mix_bits(attended + kv_[kv_index(sequence, position)]);
    // The guide knows what the host does.
    const int64_t known = sequence.size() + static_cast<int64_t>(sequence.drafts.size());
    if (guided)
      attended = mix_bits(attended + static_cast<uint64_t>(sequence.token(std::min(first + rows, known) - 1)));
    const auto token = static_cast<int32_t>(attended % 50000);
    drawn_[static_cast<size_t>(sequence.slot)] = token;
    return token;
  }

 private:
  static uint64_t behind_decode_row(uint64_t state, uint64_t token) {
    return mix_bits(mix_bits(state + token) + 0x1000);
  }
  [[nodiscard]] uint64_t token_at(const Sequence& sequence, int64_t position) const {
    const bool known = position < sequence.size() + static_cast<int64_t>(sequence.drafts.size());
    return static_cast<uint64_t>(known ? sequence.token(position) : drawn_[static_cast<size_t>(sequence.slot)]);
  }
  uint64_t& state_of(int32_t slot) { return states_.at(static_cast<size_t>(slot)); }
  static size_t kv_index(const Sequence& sequence, int64_t position) {
    return static_cast<size_t>(sequence.blocks.at(static_cast<size_t>(position / 64))) * 64 +
           static_cast<size_t>(position % 64);
  }
  std::vector<std::vector<uint64_t>> pages_;
  std::vector<uint64_t> kv_;
  std::vector<uint64_t> states_;
  std::vector<std::vector<uint64_t>> records_;  // tokens of rows that may not hold, by slot
  std::vector<int32_t> drawn_;
  int32_t kept_slot_ = -1;
  int64_t kept_position_ = 0;
};

struct Job {
  std::unique_ptr<Sequence> sequence;
  int32_t first_token = 0;
  int64_t output_tokens = 0;
  int32_t stop_every = 0;  // a multiple of it ends the output; 0: none does
  int64_t arrival_step = 0;
  int64_t cancel_step = 0;  // or beyond the end
  int64_t drafts_max = 0;   // of a step; 0: it has none
  bool guided = false;
  std::vector<int32_t> alone;  // what it generates by itself
  bool gone = false;

  [[nodiscard]] bool stops(int32_t token) const { return stop_every > 0 && token % stop_every == 0; }
  [[nodiscard]] bool finished() const {
    const auto& output = sequence->output;
    return static_cast<int64_t>(output.size()) == output_tokens || (!output.empty() && stops(output.back()));
  }
};

std::vector<int32_t> generate_alone(const Job& job) {
  HashModel model(64, 1);
  auto sequence = make_sequence(job.sequence->prompt_size(), job.first_token);
  sequence->slot = 0;
  for (int32_t block = 0; block < 64; ++block) sequence->blocks.push_back(block);
  int32_t token =
      model.forward(*sequence, 0, static_cast<int32_t>(sequence->prompt_size()), RowClass::prefill, job.guided);
  while (static_cast<int64_t>(sequence->output.size()) < job.output_tokens) {
    sequence->output.push_back(token);
    if (job.stops(token)) break;
    token = model.forward(*sequence, sequence->size() - 1, 1, RowClass::decode, job.guided);
  }
  return sequence->output;
}

/// Running, then waiting: everything in order of arrival, which is the order of `jobs`.
void check_order(const Scheduler& scheduler, const std::vector<Job>& jobs) {
  std::vector<const Sequence*> seen(scheduler.running().begin(), scheduler.running().end());
  seen.insert(seen.end(), scheduler.waiting().begin(), scheduler.waiting().end());
  size_t next = 0;
  for (const Job& job : jobs) {
    if (next < seen.size() && seen[next] == job.sequence.get()) ++next;
  }
  RC_ASSERT(next == seen.size());
}

void check_plan(const Scheduler& scheduler, const std::vector<ScheduledRows>& plan, const SchedulerLimits& limits) {
  std::set<int32_t> blocks, slots;
  int32_t answers = 0;
  for (const Sequence* sequence : scheduler.running()) {
    for (size_t i = 0; i < sequence->blocks.size(); ++i) {
      const bool whole_of_prompt = static_cast<int64_t>(i + 1) * 64 <= sequence->prompt_size();
      const bool is_new = blocks.insert(sequence->blocks[i]).second;
      RC_ASSERT(is_new || (limits.prefix_caching && whole_of_prompt));
    }
    RC_ASSERT(slots.insert(sequence->slot).second);
    if (sequence->answer_slot < 0) continue;
    RC_ASSERT(slots.insert(sequence->answer_slot).second);
    ++answers;
  }
  for (const ScheduledRows& item : plan) {
    if (item.snapshot_slot >= 0) RC_ASSERT(slots.insert(item.snapshot_slot).second);
  }
  // A prompt's blocks may be kept and computed once more, by one who could not go on from them.
  RC_ASSERT(static_cast<int32_t>(blocks.size()) <= scheduler.blocks_in_use());
  if (!limits.prefix_caching) RC_ASSERT(static_cast<int32_t>(blocks.size()) == scheduler.blocks().used());
  RC_ASSERT(static_cast<int32_t>(slots.size()) - answers == scheduler.slots_in_use());
  RC_ASSERT(answers <= limits.kept_slots / 2);
  for (const Sequence* sequence : scheduler.waiting()) RC_ASSERT(sequence->blocks.empty() && sequence->slot == -1);

  std::set<const Sequence*> planned;
  int32_t rows = 0, decode_rows = 0, draws = 0;
  int all_logits = 0;
  for (const ScheduledRows& item : plan) {
    const Sequence& sequence = *item.sequence;
    RC_ASSERT(planned.insert(item.sequence).second);
    RC_ASSERT(item.rows >= 1);
    rows += item.rows;
    const int64_t end = sequence.submitted + item.rows;
    RC_ASSERT(item.drafts == std::max<int64_t>(end - sequence.length(), 0));
    RC_ASSERT(item.drafts == 0 || (sequence.steps_under_way == 0 && end <= sequence.size() + ssize(sequence.drafts)));
    RC_ASSERT(end <= std::max(sequence.prompt_size(), sequence.tokens_max - 1));
    RC_ASSERT(item.drafts_wanted >= 0 && item.drafts_wanted <= sequence.drafts_wanted);
    RC_ASSERT(item.drafts_wanted == 0 || (item.needs_next_token && end + item.drafts_wanted < sequence.tokens_max - 1));
    RC_ASSERT(ssize(sequence.blocks) * 64 >= end + item.drafts_wanted);
    if (sequence.decoding()) decode_rows += item.rows;
    draws += item.needs_next_token ? 1 + item.drafts : 0;
    if (item.row_class == RowClass::prefill) {
      RC_ASSERT(sequence.submitted % 64 == 0);
      RC_ASSERT(end <= sequence.prompt_size() && (end % 64 == 0 || end == sequence.prompt_size()));
    } else {
      RC_ASSERT(sequence.submitted >= sequence.prompt_size());
      RC_ASSERT(!(sequence.needs_host || sequence.needs_token) || end - item.drafts <= sequence.size());
    }
    RC_ASSERT(item.starts == (sequence.submitted == sequence.resumed));
    const bool state_comes = sequence.restore_slot >= 0 || sequence.from_tier > 0;
    RC_ASSERT(state_comes || !item.starts || sequence.resumed == 0);
    RC_ASSERT(sequence.restore_slot < 0 || (item.starts && sequence.resumed > 0));
    if (item.snapshot_slot >= 0) {
      RC_ASSERT(item.snapshot_position % 64 == 0 && item.row_class == RowClass::prefill);
      RC_ASSERT(item.snapshot_position > sequence.submitted && item.snapshot_position <= end);
    }
    const bool reaches_end = end - item.drafts == sequence.length();
    RC_ASSERT(item.needs_next_token == (reaches_end && sequence.length() < sequence.tokens_max));
    RC_ASSERT(item.ends == (reaches_end && sequence.length() >= sequence.tokens_max - 1));
    RC_ASSERT(item.needs_all_logits == (item.row_class == RowClass::prefill && sequence.wants_prompt_logits));
    if (item.needs_all_logits) {
      ++all_logits;
      RC_ASSERT(item.rows <= 64);
    }
  }
  RC_ASSERT(rows <= limits.max_batched_rows);
  RC_ASSERT(decode_rows <= std::max(limits.max_decode_rows, limits.slots));
  RC_ASSERT(draws <= std::max(limits.max_decode_rows, limits.slots));
  RC_ASSERT(all_logits <= 1);
}

/// Uniform in [low, high), at RapidCheck's full size from the first case on.
int64_t pick(int64_t low, int64_t high) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high)); }

std::vector<Job> pick_jobs(int64_t sequence_blocks, int64_t jobs_max) {
  std::vector<Job> jobs(static_cast<size_t>(pick(1, jobs_max)));
  for (Job& job : jobs) {
    const int64_t total = pick(2, sequence_blocks * 64 + 1);
    const int64_t prompt = pick(1, total + 1);
    job.first_token = static_cast<int32_t>(pick(0, 3));  // often the same prompt
    job.sequence = make_sequence(prompt, job.first_token);
    job.sequence->tokens_max = total;
    job.sequence->wants_prompt_logits = pick(0, 4) == 0;
    job.guided = job.sequence->needs_token = pick(0, 4) == 0;
    job.drafts_max = pick(0, 2) * pick(1, 7);
    job.output_tokens = total - prompt;
    job.stop_every = static_cast<int32_t>(pick(0, 2) * pick(1, 100));
    job.sequence->cache_salt = pick(0, 5) == 0 ? "other" : "";
    if (pick(0, 2) == 0) job.sequence->likely_ends = {pick(0, prompt + 1), pick(0, 800)};
    job.arrival_step = pick(0, 60);
    job.cancel_step = pick(0, 4) == 0 ? pick(0, 200) : 1'000'000;
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.arrival_step < b.arrival_step; });
  for (Job& job : jobs) job.alone = generate_alone(job);
  return jobs;
}

/// Drafts for the tokens that come next, right ones and wrong ones, and for more than may come. As in the step loop a
/// sequence needs the host while it drafts, and may stop drafting whatever is under way.
void propose_drafts(Job& job) {
  Sequence& sequence = *job.sequence;
  if (job.drafts_max == 0) return;
  const bool drafting = pick(0, 4) > 0;
  sequence.needs_host = drafting;
  sequence.drafts_wanted = drafting ? static_cast<int32_t>(pick(0, job.drafts_max + 1)) : 0;
  if (!drafting || sequence.steps_under_way == 0) sequence.drafts.clear();
  if (!drafting || sequence.steps_under_way > 0 || sequence.slot < 0 || !sequence.decoding()) return;
  for (size_t next = sequence.output.size(); ssize(sequence.drafts) < job.drafts_max && pick(0, 8) > 0; ++next) {
    const bool right = next < job.alone.size() && pick(0, 4) > 0;
    sequence.drafts.push_back(right ? job.alone[next] : 7);
  }
}

/// Rows under way, with the tokens that they draw.
struct UnderWay {
  Job* job = nullptr;
  int32_t rows = 0;
  bool ends = false;
  std::vector<int32_t> drafts = {};
  std::vector<int32_t> tokens = {};  // one more than drafts, if any
};

// The world of a step loop: steps are submitted and run at once, their results come up to `steps_ahead` steps later.
void every_sequence_gets_the_tokens_it_gets_alone(bool with_tier) {
  SchedulerLimits limits;
  limits.slots = static_cast<int32_t>(pick(1, 6));
  const int64_t sequence_blocks = pick(1, 12);
  limits.blocks = static_cast<int32_t>(sequence_blocks);
  limits.max_batched_rows = limits.slots + 64 + static_cast<int32_t>(pick(0, 200));
  limits.prefix_caching = with_tier || pick(0, 3) > 0;
  if (limits.prefix_caching) {
    limits.keeps_answers = pick(0, 2) == 0;  // of which no prompt here begins with one
    limits.kept_slots = static_cast<int32_t>(pick(0, 4));
    limits.blocks += static_cast<int32_t>(pick(0, 3) * pick(0, 20));
  }
  if (with_tier) {
    limits.state_pages = static_cast<int32_t>(pick(1, 4));
    limits.host_pages = static_cast<int32_t>(pick(1, 3) * pick(1, 30));
  }
  limits.max_decode_rows = static_cast<int32_t>(pick(0, 2) * (limits.slots + pick(0, 12)));
  const auto steps_ahead = static_cast<size_t>(pick(0, 4));  // more than any runner has
  Scheduler scheduler(limits);
  HashModel model(limits.blocks, limits.slots + limits.kept_slots, limits.host_pages);
  std::vector<Job> jobs = pick_jobs(sequence_blocks, with_tier ? 30 : 12);
  std::map<const Sequence*, Job*> job_of;
  for (Job& job : jobs) {
    RC_ASSERT(scheduler.check_fits(job.sequence->tokens_max).ok());
    job_of[job.sequence.get()] = &job;
  }

  std::deque<std::vector<UnderWay>> under_way;
  int64_t drafts_right = 0, drafts_wrong = 0;
  const auto remove = [&](Job& job) {
    scheduler.remove(job.sequence.get());
    job.gone = true;
  };
  const auto collect = [&] {
    for (const UnderWay& rows : under_way.front()) {
      if (rows.job->gone) continue;
      const auto wrong = std::ranges::mismatch(rows.drafts, rows.tokens).in1;
      const auto right = static_cast<int32_t>(wrong - rows.drafts.begin());
      drafts_right += right;
      drafts_wrong += wrong != rows.drafts.end() ? 1 : 0;
      scheduler.commit(rows.job->sequence.get(), rows.rows,
                       rows.rows - static_cast<int32_t>(rows.drafts.size()) + right);
      for (int32_t i = 0; !rows.tokens.empty() && i <= right && !rows.job->finished(); ++i) {
        rows.job->sequence->output.push_back(rows.tokens[static_cast<size_t>(i)]);
      }
      if (!rows.tokens.empty() ? rows.job->finished() : rows.ends) remove(*rows.job);
    }
    under_way.pop_front();
  };

  const bool bounded = pick(0, 1) == 0;  // what is read beside others
  size_t arrived = 0;
  for (int64_t step = 0;; ++step) {
    RC_ASSERT(step < 100'000);
    for (; arrived < jobs.size() && jobs[arrived].arrival_step <= step; ++arrived) {
      scheduler.add(jobs[arrived].sequence.get());
    }
    for (size_t i = 0; i < arrived; ++i) {
      if (!jobs[i].gone && jobs[i].cancel_step <= step) remove(jobs[i]);
    }
    for (size_t i = 0; i < arrived; ++i) propose_drafts(jobs[i]);
    if (bounded && pick(0, 3) == 0) scheduler.limit_chunk_rows(64 * pick(0, 3));
    if (pick(0, 8) == 0) static_cast<void>(scheduler.plan());  // and drop it
    const std::vector<ScheduledRows> plan = scheduler.plan();
    check_plan(scheduler, plan, limits);
    check_order(scheduler, jobs);
    if (!plan.empty()) {
      std::vector<UnderWay>& submitted = under_way.emplace_back();
      model.move(scheduler.take_moves());
      for (const ScheduledRows& item : plan) {
        Job& job = *job_of.at(item.sequence);
        const std::vector<int32_t> tokens = model.run(item, job.guided);
        submitted.push_back({.job = &job, .rows = item.rows, .ends = item.ends});
        submitted.back().drafts.assign(job.sequence->drafts.begin(), job.sequence->drafts.begin() + item.drafts);
        if (item.needs_next_token) submitted.back().tokens = tokens;
      }
      scheduler.mark_submitted();
    } else if (under_way.empty()) {
      RC_ASSERT(scheduler.running().empty() && scheduler.waiting().empty());
      if (arrived == jobs.size()) break;
    }
    if (under_way.size() > (plan.empty() ? 0 : steps_ahead)) collect();
  }
  RC_ASSERT(scheduler.blocks_in_use() == 0);
  RC_ASSERT(scheduler.slots_in_use() == 0);
  scheduler.clear_prefixes();
  RC_ASSERT(scheduler.blocks().used() == 0);
  RC_ASSERT(scheduler.slots().used() == 0);
  RC_ASSERT(scheduler.prefixes().tier().pages().used() == 0);
  for (const Job& job : jobs) {
    RC_ASSERT(job.gone);
    const auto& alone = job.alone;
    const auto& output = job.sequence->output;
    RC_ASSERT(output.size() <= alone.size());
    RC_ASSERT(std::equal(output.begin(), output.end(), alone.begin()));
    if (job.cancel_step == 1'000'000) RC_ASSERT(output.size() == alone.size());
  }
  RC_CLASSIFY(scheduler.counts().preemptions > 0, "preempted");
  RC_CLASSIFY(steps_ahead > 0, "steps ahead");
  RC_CLASSIFY(drafts_right > 0, "right drafts");
  RC_CLASSIFY(drafts_wrong > 0, "wrong drafts");
  RC_CLASSIFY(scheduler.counts().prefix_hits > 0, "prefixes hit");
  RC_CLASSIFY(scheduler.prefixes().points_given_up() > 0, "prefixes given up");
  RC_CLASSIFY(scheduler.counts().tier_hits > 0, "prefixes hit in the tier");
}

RC_GTEST_PROP(SchedulerProperty, EverySequenceGetsTheTokensItGetsAlone, ()) {
  every_sequence_gets_the_tokens_it_gets_alone(/*with_tier=*/false);
}
RC_GTEST_PROP(SchedulerProperty, AndSoItDoesWithATierInTheHostsMemory, ()) {
  every_sequence_gets_the_tokens_it_gets_alone(/*with_tier=*/true);
}

/// Runs a job that is alone to its end. Returns how many tokens it has gone on from, and how many only the tier had.
std::pair<int64_t, int64_t> run_through(Scheduler& scheduler, HashModel& model, Job& job) {
  Sequence& sequence = *job.sequence;
  scheduler.add(&sequence);
  std::pair<int64_t, int64_t> found;
  while (!job.finished()) {
    propose_drafts(job);
    const std::vector<ScheduledRows> plan = scheduler.plan();
    RC_ASSERT(plan.size() == 1U);
    model.move(scheduler.take_moves());
    const ScheduledRows& item = plan.front();
    if (item.starts) found = {sequence.resumed, sequence.from_tier};
    const std::vector<int32_t> drawn = model.run(item, job.guided);
    const std::vector<int32_t> drafts(sequence.drafts.begin(), sequence.drafts.begin() + item.drafts);
    scheduler.mark_submitted();
    const auto right = static_cast<int32_t>(std::ranges::mismatch(drafts, drawn).in1 - drafts.begin());
    scheduler.commit(&sequence, item.rows, item.rows - item.drafts + right);
    for (int32_t i = 0; item.needs_next_token && i <= right && !job.finished(); ++i) {
      sequence.output.push_back(drawn[static_cast<size_t>(i)]);
    }
  }
  scheduler.remove(&sequence);
  return found;
}

// Where answers are kept, the next turn goes on from the last block that one filled, from the state that decoding had.
RC_GTEST_PROP(SchedulerProperty, AnAnswerIsGoneOnFromAsItWasDecoded, ()) {
  const bool with_tier = pick(0, 2) == 0;
  const auto slots = static_cast<int32_t>(pick(1, 4));
  Scheduler scheduler({.blocks = 20,
                       .slots = slots,
                       .kept_slots = static_cast<int32_t>(pick(2, 6)),
                       .max_batched_rows = slots + 64 + static_cast<int32_t>(pick(0, 700)),
                       .max_decode_rows = slots + 8,
                       .prefix_caching = true,
                       .keeps_answers = true,
                       .host_pages = with_tier ? 60 : 0,
                       .state_pages = 2});
  HashModel model(20, slots + 6, 60);
  Job job;
  const int64_t prompt = pick(1, 300);
  job.output_tokens = pick(1, 300);
  job.sequence = make_sequence(prompt, job.first_token);
  job.sequence->tokens_max = prompt + job.output_tokens;
  job.drafts_max = pick(0, 2) * pick(1, 7);
  job.alone = generate_alone(job);
  run_through(scheduler, model, job);
  RC_ASSERT(job.sequence->output == job.alone);
  if (with_tier) {  // it all moves there
    Job other;
    other.output_tokens = 1;
    other.sequence = make_sequence(19 * 64, 10'000);
    other.sequence->tokens_max = 19 * 64 + 1;
    run_through(scheduler, model, other);
  }

  Job next;
  auto tokens = *job.sequence->prompt;
  tokens.insert(tokens.end(), job.alone.begin(), job.alone.end());
  const auto more = make_sequence(pick(1, 200), 20'000);
  tokens.insert(tokens.end(), more->prompt->begin(), more->prompt->end());
  next.sequence = std::make_unique<Sequence>();
  next.sequence->prompt = std::make_shared<const std::vector<int32_t>>(tokens);
  next.output_tokens = 1;
  next.sequence->tokens_max = ssize(tokens) + 1;
  const auto [from, from_tier] = run_through(scheduler, model, next);
  const int64_t last_row = prompt + job.output_tokens - 2;
  if (last_row > prompt) RC_ASSERT(from >= last_row / 64 * 64);

  HashModel reference(20, 1);
  next.sequence->output.swap(next.alone);
  next.sequence->slot = 0;
  for (int32_t block = 0; block < 20; ++block) next.sequence->blocks.push_back(block);
  const int64_t read = std::min(from, prompt);
  if (read > 0) reference.forward(*next.sequence, 0, static_cast<int32_t>(read), RowClass::prefill, false);
  for (int64_t row = read; row < from; ++row) reference.forward(*next.sequence, row, 1, RowClass::decode, false);
  const auto rows = static_cast<int32_t>(ssize(tokens) - from);
  RC_ASSERT(reference.forward(*next.sequence, from, rows, RowClass::prefill, false) == next.alone.front());
  RC_CLASSIFY(from > prompt, "from an answer");
  RC_CLASSIFY(from > prompt && from_tier > 0, "from one in the tier");
  RC_CLASSIFY(from > prompt && job.drafts_max > 0, "with drafts");
}

// As clients that leave do, at any time: nothing of them stays but what is kept, and of that nothing is lost.
TEST(SchedulerTier, TenThousandThatAreCancelledLeaveNothingBehind) {
  Scheduler scheduler({.blocks = 24,
                       .slots = 3,
                       .kept_slots = 2,
                       .max_batched_rows = 200,
                       .prefix_caching = true,
                       .host_pages = 40,
                       .state_pages = 2});
  uint64_t random = 1;
  const auto pick_below = [&](uint64_t n) { return static_cast<int64_t>((random = mix_bits(random)) % n); };
  std::deque<std::unique_ptr<Sequence>> open;
  for (int cancelled = 0; cancelled < 10'000;) {
    if (open.size() < 6) {
      const auto prompt = pick_below(900) + 1;
      auto sequence = make_sequence(prompt, static_cast<int32_t>(pick_below(4) * 1000));
      sequence->tokens_max = prompt + 300;
      sequence->likely_ends = {pick_below(900)};
      scheduler.add(open.emplace_back(std::move(sequence)).get());
    }
    const std::vector<ScheduledRows> plan = scheduler.plan();
    if (!plan.empty()) {
      static_cast<void>(scheduler.take_moves());
      scheduler.mark_submitted();
    }
    for (const ScheduledRows& item : plan) {
      scheduler.commit(item.sequence, item.rows, item.rows);
      if (item.needs_next_token) item.sequence->output.push_back(1);
    }
    if (pick_below(12) > 0) continue;
    const auto leaving = open.begin() + pick_below(open.size());
    scheduler.remove(leaving->get());
    open.erase(leaving);
    ++cancelled;
  }
  for (const auto& sequence : open) scheduler.remove(sequence.get());
  EXPECT_EQ(scheduler.blocks_in_use(), 0);
  EXPECT_EQ(scheduler.slots_in_use(), 0);
  EXPECT_GT(scheduler.counts().tier_hits, 1000U);
  EXPECT_GT(scheduler.counts().preemptions, 50U);
  scheduler.clear_prefixes();
  EXPECT_EQ(scheduler.blocks().used(), 0);
  EXPECT_EQ(scheduler.slots().used(), 0);
  EXPECT_EQ(scheduler.prefixes().tier().pages().used(), 0);
}

}  // namespace
}  // namespace tessera::engine
