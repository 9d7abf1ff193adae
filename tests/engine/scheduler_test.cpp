#include "engine/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "kernels/noise.h"

namespace tessera::engine {
using kernels::mix_bits;

namespace {

using kernels::RowClass;

std::unique_ptr<Sequence> make_sequence(int64_t prompt_tokens, int32_t first_token = 1) {
  std::vector<int32_t> prompt(static_cast<size_t>(prompt_tokens));
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = first_token + static_cast<int32_t>(i);
  auto sequence = std::make_unique<Sequence>();
  sequence->prompt = std::make_shared<const std::vector<int32_t>>(std::move(prompt));
  return sequence;
}

/// Commits the plan and appends a token to every sequence whose turn it is.
void run_step(Scheduler& scheduler) {
  std::vector<Sequence*> sampled;
  for (const ScheduledRows& rows : scheduler.plan()) {
    if (rows.needs_next_token) sampled.push_back(rows.sequence);
  }
  scheduler.commit();
  for (Sequence* sequence : sampled) sequence->output.push_back(7);
}

TEST(Scheduler, PrefillsInChunksOf64) {
  Scheduler scheduler({.blocks = 10, .slots = 2, .max_batched_rows = 200});
  const auto sequence = make_sequence(300);
  scheduler.add(sequence.get());

  const auto first = scheduler.plan();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].rows, 192);  // the multiple of 64 below 200
  EXPECT_EQ(first[0].row_class, RowClass::prefill);
  EXPECT_FALSE(first[0].needs_next_token);
  scheduler.commit();

  const auto second = scheduler.plan();
  EXPECT_EQ(second[0].rows, 108);
  EXPECT_TRUE(second[0].needs_next_token);
  scheduler.commit();
  sequence->output.push_back(5);

  const auto third = scheduler.plan();
  EXPECT_EQ(third[0].rows, 1);
  EXPECT_EQ(third[0].row_class, RowClass::decode);
  scheduler.remove(sequence.get());
  EXPECT_EQ(scheduler.blocks().used(), 0);
  EXPECT_EQ(scheduler.slots().used(), 0);
  EXPECT_TRUE(scheduler.plan().empty());
}

TEST(Scheduler, DecodeRowsComeFirst) {
  Scheduler scheduler({.blocks = 20, .slots = 2, .max_batched_rows = 66});
  const auto decoding = make_sequence(3);
  scheduler.add(decoding.get());
  run_step(scheduler);
  const auto prefilling = make_sequence(300);
  scheduler.add(prefilling.get());
  const auto plan = scheduler.plan();
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].sequence, decoding.get());
  EXPECT_EQ(plan[1].sequence, prefilling.get());
  EXPECT_EQ(plan[1].rows, 64);
}

TEST(Scheduler, PromptLogitsComeOneChunkAStep) {
  Scheduler scheduler({.blocks = 20, .slots = 2, .max_batched_rows = 500});
  const auto a = make_sequence(100);
  const auto b = make_sequence(100);
  a->wants_prompt_logits = b->wants_prompt_logits = true;
  scheduler.add(a.get());
  scheduler.add(b.get());
  const auto plan = scheduler.plan();
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].sequence, a.get());
  EXPECT_EQ(plan[0].rows, 64);
  EXPECT_TRUE(plan[0].needs_all_logits);
}

TEST(Scheduler, PreemptsTheYoungestAndReplaysIt) {
  Scheduler scheduler({.blocks = 4, .slots = 2, .max_batched_rows = 256});
  const auto old = make_sequence(64);
  const auto young = make_sequence(64);
  scheduler.add(old.get());
  scheduler.add(young.get());
  // Both start (1 block each and a spare one); after 65 tokens they hold 2 each; at 129 the old one needs a third.
  while (old->size() < 129) run_step(scheduler);
  EXPECT_EQ(scheduler.preemptions(), 0U);
  run_step(scheduler);
  EXPECT_EQ(scheduler.preemptions(), 1U);
  EXPECT_EQ(young->slot, -1);
  EXPECT_THAT(scheduler.waiting(), testing::ElementsAre(young.get()));

  const int64_t young_size = young->size();
  scheduler.remove(old.get());
  auto plan = scheduler.plan();
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].row_class, RowClass::prefill);
  EXPECT_EQ(plan[0].rows, 64);
  EXPECT_FALSE(plan[0].needs_next_token);
  scheduler.commit();
  plan = scheduler.plan();
  EXPECT_EQ(plan[0].row_class, RowClass::decode);
  EXPECT_EQ(plan[0].rows, young_size - 64);
  EXPECT_TRUE(plan[0].needs_next_token);
}

TEST(Scheduler, RefusesWhatCanNeverRun) {
  const Scheduler scheduler({.blocks = 4, .slots = 2, .max_batched_rows = 256});
  EXPECT_TRUE(scheduler.check_fits(256).ok());
  const Status status = scheduler.check_fits(257);
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(status.message(), testing::HasSubstr("needs 5 KV blocks of 64 tokens, and there are 4"));
}

// A model whose tokens are hashes of everything that a real one's depend on: the recurrent state (whole chunks for
// prefill rows, single rows for decode) and the KV cache read back through the block table.
class HashModel {
 public:
  HashModel(int32_t blocks, int32_t slots)
      : kv_(static_cast<size_t>(blocks) * 64), states_(static_cast<size_t>(slots)) {}

  /// Runs rows of a sequence; returns the next token after the last of them.
  int32_t forward(const Sequence& sequence, int64_t first, int32_t rows, RowClass row_class) {
    uint64_t& state = states_[static_cast<size_t>(sequence.slot)];
    if (first == 0) state = 0;
    for (int64_t position = first; position < first + rows; ++position) {
      kv_[kv_index(sequence, position)] = mix_bits(static_cast<uint64_t>(sequence.token(position)) + 1);
      state = mix_bits(state + static_cast<uint64_t>(sequence.token(position)));
      const bool chunk_ends = position + 1 == first + rows || (position + 1) % 64 == 0;
      if (row_class == RowClass::decode || chunk_ends)
        state = mix_bits(state + 0x1000 + static_cast<uint64_t>(row_class));
    }
    uint64_t attended = state;
    for (int64_t position = 0; position < first + rows; ++position)
      attended = mix_bits(attended + kv_[kv_index(sequence, position)]);
    return static_cast<int32_t>(attended % 50000);
  }

 private:
  static size_t kv_index(const Sequence& sequence, int64_t position) {
    return static_cast<size_t>(sequence.blocks.at(static_cast<size_t>(position / 64))) * 64 +
           static_cast<size_t>(position % 64);
  }
  std::vector<uint64_t> kv_;
  std::vector<uint64_t> states_;
};

std::vector<int32_t> generate_alone(int64_t prompt_tokens, int32_t first_token, int64_t output_tokens) {
  HashModel model(64, 1);
  auto sequence = make_sequence(prompt_tokens, first_token);
  sequence->slot = 0;
  for (int32_t block = 0; block < 64; ++block) sequence->blocks.push_back(block);
  sequence->output.push_back(model.forward(*sequence, 0, static_cast<int32_t>(prompt_tokens), RowClass::prefill));
  while (static_cast<int64_t>(sequence->output.size()) < output_tokens) {
    sequence->output.push_back(model.forward(*sequence, sequence->size() - 1, 1, RowClass::decode));
  }
  return sequence->output;
}

struct Job {
  std::unique_ptr<Sequence> sequence;
  int32_t first_token = 0;
  int64_t output_tokens = 0;
  int64_t arrival_step = 0;
  int64_t cancel_step = 0;  // or beyond the end
  bool gone = false;
};

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
  for (const Sequence* sequence : scheduler.running()) {
    for (const int32_t block : sequence->blocks) RC_ASSERT(blocks.insert(block).second);
    RC_ASSERT(slots.insert(sequence->slot).second);
  }
  RC_ASSERT(static_cast<int32_t>(blocks.size()) == scheduler.blocks().used());
  RC_ASSERT(static_cast<int32_t>(slots.size()) == scheduler.slots().used());
  for (const Sequence* sequence : scheduler.waiting()) RC_ASSERT(sequence->blocks.empty() && sequence->slot == -1);

  std::set<const Sequence*> planned;
  int32_t rows = 0;
  int all_logits = 0;
  for (const ScheduledRows& item : plan) {
    const Sequence& sequence = *item.sequence;
    RC_ASSERT(planned.insert(item.sequence).second);
    RC_ASSERT(item.rows >= 1);
    rows += item.rows;
    const int64_t end = sequence.computed + item.rows;
    RC_ASSERT(end <= sequence.size());
    RC_ASSERT(static_cast<int64_t>(sequence.blocks.size()) * 64 >= end);
    if (item.row_class == RowClass::prefill) {
      RC_ASSERT(sequence.computed % 64 == 0);
      RC_ASSERT(end <= sequence.prompt_size() && (end % 64 == 0 || end == sequence.prompt_size()));
    } else {
      RC_ASSERT(sequence.computed >= sequence.prompt_size());
    }
    RC_ASSERT(item.needs_next_token == (end == sequence.size()));
    if (item.needs_all_logits) {
      ++all_logits;
      RC_ASSERT(item.rows <= 64);
    }
  }
  RC_ASSERT(rows <= limits.max_batched_rows);
  RC_ASSERT(all_logits <= 1);
}

/// Uniform in [low, high), at RapidCheck's full size from the first case on.
int64_t pick(int64_t low, int64_t high) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high)); }

RC_GTEST_PROP(SchedulerProperty, EverySequenceGetsTheTokensItGetsAlone, ()) {
  SchedulerLimits limits;
  limits.slots = static_cast<int32_t>(pick(1, 6));
  limits.blocks = static_cast<int32_t>(pick(1, 12));
  limits.max_batched_rows = limits.slots + 64 + static_cast<int32_t>(pick(0, 200));
  Scheduler scheduler(limits);
  HashModel model(limits.blocks, limits.slots);

  std::vector<Job> jobs;
  const int64_t count = pick(1, 12);
  for (int64_t i = 0; i < count; ++i) {
    Job job;
    const int64_t total = pick(2, limits.blocks * 64 + 1);
    const int64_t prompt = pick(1, total);
    job.first_token = static_cast<int32_t>(pick(0, 3));  // often the same prompt
    job.sequence = make_sequence(prompt, job.first_token);
    job.sequence->wants_prompt_logits = pick(0, 4) == 0;
    job.output_tokens = total - prompt;
    job.arrival_step = pick(0, 60);
    job.cancel_step = pick(0, 4) == 0 ? pick(0, 200) : 1'000'000;
    RC_ASSERT(scheduler.check_fits(total).ok());
    jobs.push_back(std::move(job));
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.arrival_step < b.arrival_step; });

  int64_t step = 0;
  for (size_t arrived = 0;; ++step) {
    RC_ASSERT(step < 100'000);
    for (; arrived < jobs.size() && jobs[arrived].arrival_step <= step; ++arrived)
      scheduler.add(jobs[arrived].sequence.get());
    for (size_t i = 0; i < arrived; ++i) {
      if (jobs[i].gone || jobs[i].cancel_step > step) continue;
      scheduler.remove(jobs[i].sequence.get());
      jobs[i].gone = true;
    }
    const std::vector<ScheduledRows> plan = scheduler.plan();
    check_plan(scheduler, plan, limits);
    check_order(scheduler, jobs);
    if (plan.empty()) {
      RC_ASSERT(scheduler.running().empty() && scheduler.waiting().empty());
      if (arrived == jobs.size()) break;
      continue;
    }
    std::vector<std::pair<Sequence*, int32_t>> sampled;
    for (const ScheduledRows& item : plan) {
      const int32_t token = model.forward(*item.sequence, item.sequence->computed, item.rows, item.row_class);
      if (item.needs_next_token) sampled.emplace_back(item.sequence, token);
    }
    scheduler.commit();
    for (const auto& [sequence, token] : sampled) sequence->output.push_back(token);
    for (Job& job : jobs) {
      if (job.gone || static_cast<int64_t>(job.sequence->output.size()) < job.output_tokens) continue;
      scheduler.remove(job.sequence.get());
      job.gone = true;
    }
  }
  RC_ASSERT(scheduler.blocks().used() == 0);
  RC_ASSERT(scheduler.slots().used() == 0);
  for (const Job& job : jobs) {
    const auto alone = generate_alone(job.sequence->prompt_size(), job.first_token, job.output_tokens);
    const auto& output = job.sequence->output;
    RC_ASSERT(output.size() <= alone.size());
    RC_ASSERT(std::equal(output.begin(), output.end(), alone.begin()));
    if (job.cancel_step == 1'000'000) RC_ASSERT(output.size() == alone.size());
  }
  RC_CLASSIFY(scheduler.preemptions() > 0, "preempted");
}

}  // namespace
}  // namespace tessera::engine
