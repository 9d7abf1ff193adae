#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/scheduler.h"
#include "sequences.h"

// A scheduler's steps, and what comes of them.
namespace tessera::engine {

/// Plans a step and submits it.
inline std::vector<ScheduledRows> submit_step(Scheduler& scheduler) {
  const std::vector<ScheduledRows> plan = scheduler.plan();
  scheduler.mark_submitted();
  return plan;
}

/// Its results: a token for every sequence whose turn it was.
inline void collect_step(Scheduler& scheduler, const std::vector<ScheduledRows>& step) {
  for (const ScheduledRows& item : step) {
    if (item.needs_next_token) item.sequence->output.push_back(7);
    scheduler.commit(item.sequence, item.rows, item.rows);
  }
}

inline std::vector<ScheduledRows> run_step(Scheduler& scheduler) {
  std::vector<ScheduledRows> step = submit_step(scheduler);
  collect_step(scheduler, step);
  return step;
}

inline const SchedulerLimits kWithPrefixes = {
    .blocks = 40, .slots = 2, .kept_slots = 2, .max_batched_rows = 2000, .prefix_caching = true};

/// Plans a step of an idle prefill and runs it; its rows, 0 if there are none.
inline int64_t idle_step(Scheduler& scheduler, Sequence& sequence, int64_t rows_max) {
  const std::vector<ScheduledRows> plan = scheduler.plan_idle(&sequence, rows_max);
  if (plan.empty()) return 0;
  EXPECT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].row_class, kernels::RowClass::prefill);
  EXPECT_FALSE(plan[0].needs_next_token || plan[0].ends);
  scheduler.mark_submitted();
  scheduler.commit(&sequence, plan[0].rows, plan[0].rows);
  return plan[0].rows;
}

/// To its end; the tokens that it computed.
inline int64_t prefill_idle(Scheduler& scheduler, Sequence& sequence) {
  int64_t computed = 0;
  while (const int64_t rows = idle_step(scheduler, sequence, 128)) computed += rows;
  scheduler.end_idle(&sequence);
  return computed;
}

/// Runs `sequence` to its second token, and what it could go on from.
inline int64_t run_and_leave(Scheduler& scheduler, Sequence& sequence) {
  scheduler.add(&sequence);
  while (sequence.output.empty()) run_step(scheduler);
  const int64_t resumed = sequence.resumed;
  scheduler.remove(&sequence);
  return resumed;
}

}  // namespace tessera::engine
