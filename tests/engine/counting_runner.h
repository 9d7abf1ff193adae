#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/step_loop.h"

// A runner whose next token is the last one plus one, and what tests of the loop ask of it.
namespace tessera::engine {

inline constexpr int32_t kVocabSize = 200;
inline constexpr int32_t kBadToken = 150;  // rows of it give logits that are not numbers

/// Steps ahead, and whether what is drawn of a step may be said later.
enum class Ahead { no, yes, draws_later };

class CountingRunner final : public model::StepRunner {
 public:
  explicit CountingRunner(Ahead ahead)
      : steps_ahead_(ahead == Ahead::no ? 0 : 1), draws_later_(ahead == Ahead::draws_later) {}

  [[nodiscard]] int steps_ahead() const override { return steps_ahead_; }
  [[nodiscard]] bool draws_later() const override { return draws_later_; }

  Status submit(const model::Step& step) override {
    EXPECT_LE(static_cast<int>(under_way_.size()), steps_ahead_);
    EXPECT_FALSE(awaits_draws_);
    if (submitted == fail_submit_at) {
      before_failing();
      return {StatusCode::internal, "the device fell off the bus"};
    }
    ++submitted;
    rows += static_cast<int>(step.tokens.size());
    moves += step.moves.size();
    step_rows.push_back(static_cast<int>(step.tokens.size()));
    int32_t rows_of_sequences = 0;
    for (const kernels::SequenceRows& sequence : step.sequences) rows_of_sequences += sequence.rows;
    EXPECT_EQ(rows_of_sequences, static_cast<int32_t>(step.tokens.size()));
    std::map<int32_t, const kernels::SequenceRows*> sequence_of;  // by row
    for (const kernels::SequenceRows& sequence : step.sequences) {
      for (int32_t i = 0; i < sequence.rows; ++i) sequence_of[sequence.first_row + i] = &sequence;
    }
    drawn_behind_.clear();
    places_.clear();
    for (const kernels::SampleRow& sample : step.samples) {
      places_.emplace_back(sample.row, sample.slot);
      EXPECT_EQ(sequence_of.at(sample.row)->state_slot, sample.slot);
      int32_t token = step.tokens[static_cast<size_t>(sample.row)];
      if (token == model::kLastDrawn) {
        ++unknown_tokens;
        token = last_drawn_.at(sample.slot);
      }
      drawn_behind_.push_back(token);
    }
    for (const kernels::TokenHistory& history : step.histories) histories.push_back(history.output.size());
    under_way_.emplace_back();
    awaits_draws_ = step.draws_later;
    if (!step.draws_later) draw_all(step.samples);
    device_free_ = std::max(device_free_, now) + cost(step);
    ends_.push_back(device_free_);
    if (steps_ahead_ == 0) now = device_free_;
    return {};
  }

  Status draw(std::span<const kernels::SampleRow> samples) override {
    EXPECT_TRUE(awaits_draws_);
    EXPECT_EQ(under_way_.size(), 1U);
    EXPECT_EQ(samples.size(), drawn_behind_.size());
    for (size_t i = 0; i < samples.size(); ++i) EXPECT_EQ(std::pair(samples[i].row, samples[i].slot), places_.at(i));
    if (submitted == fail_draw_at) return {StatusCode::internal, "the device fell off the bus"};
    awaits_draws_ = false;
    ++late_draws;
    draw_all(samples);
    return {};
  }

  Expected<std::span<const kernels::SampleResult>> collect() override {
    EXPECT_TRUE(!awaits_draws_ || under_way_.size() > 1);
    if (collected == fail_collect_at) return Status(StatusCode::unavailable, "the device does not answer");
    ++collected;
    collected_ = std::move(under_way_.front());
    under_way_.pop_front();
    now = std::max(now, ends_.front());
    ends_.pop_front();
    return std::span<const kernels::SampleResult>(collected_);
  }

  Expected<bool> prepare_ahead() override {
    EXPECT_TRUE(under_way_.empty());
    ++asked_to_prepare;
    if (to_prepare == fail_prepare_at) return Status(StatusCode::internal, "the device fell off the bus");
    if (to_prepare == 0) {
      all_prepared();
      return false;
    }
    --to_prepare;
    return true;
  }

  std::atomic<int> submitted = 0, collected = 0;
  int rows = 0, unknown_tokens = 0, late_draws = 0;
  int fail_submit_at = -1, fail_collect_at = -1, fail_draw_at = -1;
  uint64_t moves = 0;          // of pages
  std::vector<int> step_rows;  // of each step
  bool heeds_masks = true;
  int to_prepare = 0, asked_to_prepare = 0, fail_prepare_at = -1;
  std::function<void()> before_failing = [] {}, all_prepared = [] {};
  std::vector<size_t> histories;  // output tokens of each
  // A clock, and what steps take of its time.
  std::chrono::steady_clock::time_point now = {};
  std::function<std::chrono::microseconds(const model::Step&)> cost = [](const model::Step&) {
    return std::chrono::microseconds(1);
  };

 private:
  void draw_all(std::span<const kernels::SampleRow> samples) {
    for (size_t i = 0; i < samples.size(); ++i) {
      under_way_.back().push_back(result(samples[i], drawn_behind_[i]));
      if (samples[i].target < 0) last_drawn_[samples[i].slot] = under_way_.back().back().token;
    }
  }

  [[nodiscard]] kernels::SampleResult result(const kernels::SampleRow& sample, int32_t token) const {
    if (token == kBadToken) return {.status = {StatusCode::corrupt_data, "not numbers"}};
    if (sample.target >= 0) {
      const auto others = static_cast<size_t>(sample.params->logprobs.value_or(0));
      return {.logprobs = std::vector<TokenLogprob>(1 + others, {.token = sample.target})};
    }
    const std::set<int32_t> banned(sample.banned.begin(), sample.banned.end());
    const auto may_be = [&](int32_t id) {
      if (sample.allowed.empty() || !heeds_masks) return !banned.contains(id);
      return (sample.allowed[static_cast<size_t>(id) / 32] >> (id % 32) & 1U) != 0;
    };
    int32_t next = (token + 1) % kVocabSize;
    while (!may_be(next)) next = (next + 1) % kVocabSize;
    return {.token = next};
  }

  int steps_ahead_;
  bool draws_later_, awaits_draws_ = false;
  std::vector<int32_t> drawn_behind_;                // of the newest step: each sample's own token
  std::vector<std::pair<int32_t, int32_t>> places_;  // and its row and slot
  std::deque<std::vector<kernels::SampleResult>> under_way_;
  std::deque<std::chrono::steady_clock::time_point> ends_;
  std::chrono::steady_clock::time_point device_free_ = {};
  std::vector<kernels::SampleResult> collected_;
  std::map<int32_t, int32_t> last_drawn_;  // by slot
};

inline StepLoopParts parts(CountingRunner& runner, int blocks = 8, int slots = 4) {
  return {.runner = &runner,
          .vocab_size = kVocabSize,
          .kv_blocks = blocks,
          .max_num_seqs = slots,
          .max_model_len = int64_t{blocks} * 64,
          .max_num_batched_tokens = slots + 64,
          .eos_token_ids = {}};
}

struct Answer {
  std::vector<int32_t> tokens;
  FinishReason finish_reason = FinishReason::none;
  Status error;
};

inline Answer drain(EventChannel& channel) {
  Answer answer;
  while (auto event = channel.try_next()) {
    EXPECT_EQ(answer.finish_reason, FinishReason::none) << "an event after the last";
    answer.tokens.insert(answer.tokens.end(), event->tokens.begin(), event->tokens.end());
    answer.finish_reason = event->finish_reason;
    answer.error = event->error;
  }
  return answer;
}

inline std::shared_ptr<EventChannel> submit(StepLoop& loop, Request request) {
  auto channel = loop.submit(std::move(request));
  EXPECT_TRUE(channel.ok()) << channel.status().message();
  return *channel;
}

inline Request count_from(int32_t token, int64_t max_tokens) {
  return {.prompt = {token}, .sampling = {.temperature = 0, .max_tokens = max_tokens}};
}

inline std::vector<int32_t> from_to(int32_t first, int32_t last) {
  std::vector<int32_t> tokens;
  for (int32_t token = first; token <= last; ++token) tokens.push_back(token);
  return tokens;
}

inline void run_to_the_end(StepLoop& loop) {
  while (loop.step()) {
  }
  EXPECT_EQ(loop.stats().kv_blocks_used, 0);
  EXPECT_EQ(loop.stats().state_slots_used, 0);
  EXPECT_EQ(loop.stats().running + loop.stats().waiting, 0);
}

class StepLoopTest : public testing::TestWithParam<Ahead> {
 protected:
  [[nodiscard]] bool ahead() const { return GetParam() != Ahead::no; }
  [[nodiscard]] bool draws_later() const { return GetParam() == Ahead::draws_later; }
  CountingRunner runner_{GetParam()};
};

}  // namespace tessera::engine
