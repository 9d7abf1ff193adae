#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "drafting_runner.h"

// What the loop tells its policies of steps: they choose what is best, by a clock of the runner's.
namespace tessera::engine {
namespace {

using std::chrono::microseconds;

StepLoopParts drafting_parts(DraftingRunner& runner, int sequences) {
  return {.runner = &runner,
          .vocab_size = kDraftVocabSize,
          .kv_blocks = 200,
          .max_num_seqs = sequences,
          .max_model_len = 4000,
          .max_num_batched_tokens = 128,
          .max_decode_rows = sequences * (1 + kDrafts),
          .drafts_max = kDrafts,
          .eos_token_ids = {},
          .clock = [&runner] { return runner.now; }};
}

/// Answers by a runner whose steps take `row` for each row, and 4 ms besides, or `with_drafts` if they have drafts.
struct Drafted {
  Drafted(int wrong_from, microseconds row, int answers, microseconds with_drafts = microseconds(4000)) {
    runner.wrong_from = wrong_from;
    runner.cost = [=](const model::Step& step) {
      const bool drafts = ssize(step.tokens) > answers;
      return (drafts ? with_drafts : microseconds(4000)) + row * ssize(step.tokens);
    };
    StepLoop loop(drafting_parts(runner, 4));
    std::vector<std::shared_ptr<EventChannel>> channels;
    for (int i = 0; i < answers; ++i) {
      channels.push_back(*loop.submit({.prompt = {5}, .sampling = {.temperature = 0, .max_tokens = 3000}}));
    }
    while (loop.step()) {
    }
    for (const auto& channel : channels) {
      int64_t tokens = 0;
      while (const auto event = channel->try_next()) tokens += ssize(event->tokens);
      EXPECT_EQ(tokens, 3000);
    }
    for (const auto& [rows, count] : runner.steps_with_rows) all += count;
  }
  /// Of all steps, those with so many rows.
  [[nodiscard]] double share(size_t rows) { return static_cast<double>(runner.steps_with_rows[rows]) / all; }
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(runner.now.time_since_epoch()).count(); }

  DraftingRunner runner;
  int all = 0;
};

TEST(StepLoopPolicies, AsManyDraftsAreMadeAsPay) {
  for (const int answers : {1, 2}) {
    const auto rows = static_cast<size_t>(answers);
    Drafted right(kDrafts + 1, microseconds(50), answers);
    EXPECT_GT(right.share(4 * rows), 0.8) << "all three hold";
    EXPECT_LT(right.seconds(), 3000 * 0.005 / 3);
    Drafted one(2, microseconds(500), answers);
    EXPECT_GT(one.share(2 * rows), 0.7) << "the first one holds, and another row is not free";
    Drafted dear(kDrafts + 1, microseconds(50), answers, microseconds(18000));
    EXPECT_GT(dear.share(rows), 0.9) << "they hold, and cost more than they give";
    Drafted wrong(1, microseconds(50), answers);
    EXPECT_GT(wrong.share(rows), 0.9);
    EXPECT_LT(wrong.runner.drafts_asked, wrong.all / 5) << "nor is the head asked for them";
    EXPECT_LT(std::ranges::count(wrong.runner.head_reads, true), wrong.all / 5);
    // Nobody waits for what is not drafted: a step is submitted before the one before it is collected.
    EXPECT_GT(wrong.runner.steps_ahead_seen, wrong.all * 9 / 10);
    EXPECT_LT(right.runner.steps_ahead_seen, right.all / 2);
  }
}

/// Time in which nobody asks is no step's.
TEST(StepLoopPolicies, PausesChangeNothing) {
  const auto order = [](std::chrono::seconds pause) {
    DraftingRunner runner;
    runner.wrong_from = 2;
    runner.cost = [](const model::Step& step) { return microseconds(4000 + 500 * ssize(step.tokens)); };
    StepLoop loop(drafting_parts(runner, 1));
    for (int i = 0; i < 40; ++i) {
      const auto channel = *loop.submit({.prompt = {5}, .sampling = {.temperature = 0, .max_tokens = 100}});
      while (loop.step()) {
      }
      runner.now += pause;
    }
    return runner.order;
  };
  EXPECT_EQ(order(std::chrono::seconds(0)), order(std::chrono::seconds(10)));
}

/// What its last step would have given is neither a gain nor a loss, however many clients go away.
TEST(StepLoopPolicies, DraftsDoNotPayForAnswersThatAreCancelled) {
  DraftingRunner runner;
  runner.cost = [](const model::Step&) { return microseconds(4000); };
  StepLoop loop(drafting_parts(runner, 1));
  for (int i = 0; i < 60; ++i) {
    const auto channel = *loop.submit({.prompt = {5}, .sampling = {.temperature = 0, .max_tokens = 3000}});
    while (!channel->try_next()) loop.step();
    loop.step();
    channel->cancel();
    while (loop.step()) {
    }
  }
  EXPECT_GT(runner.steps_with_rows[1 + kDrafts], 45);
}

}  // namespace
}  // namespace tessera::engine
