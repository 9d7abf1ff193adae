#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/step_loop.h"

namespace tessera::engine {

inline constexpr int32_t kDraftVocabSize = 200;
inline constexpr int kDrafts = 3;

/// The next token is the last one plus one. Of three drafts those from `wrong_from` on, counted from 1, are wrong.
/// `order` has a letter for each call: n, a step that names drafts; s, another one; d, drafts are asked for; c, a step
/// is collected.
class DraftingRunner final : public model::StepRunner {
 public:
  [[nodiscard]] int steps_ahead() const override { return 1; }
  [[nodiscard]] int drafts_max() const override { return kDrafts; }

  Status submit(const model::Step& step) override {
    EXPECT_TRUE(step.drafting.empty() || step.drafting.size() == step.sequences.size());
    head_reads.push_back(!step.drafting.empty());
    for (const auto& drafting : step.drafting) next_tokens.push_back(drafting.next_token);
    if (!under_way_.empty()) ++steps_ahead_seen;
    bool names = false;
    Results& results = under_way_.emplace_back();
    size_t next_sample = 0;
    for (size_t s = 0; s < step.sequences.size(); ++s) {
      const kernels::SequenceRows& rows = step.sequences[s];
      EXPECT_EQ(rows.keeps_records, rows.row_class == kernels::RowClass::decode && rows.rows > 1);
      std::vector<int32_t>& drafts = drafts_[rows.state_slot];
      std::vector<int32_t> tokens;
      for (int32_t row = rows.first_row; row < rows.first_row + rows.rows; ++row) {
        const int32_t token = step.tokens[static_cast<size_t>(row)];
        names |= token < model::kLastDrawn;
        tokens.push_back(token == model::kLastDrawn  ? drawn_.at(rows.state_slot)
                         : token < model::kLastDrawn ? drafts.at(static_cast<size_t>(model::draft_token(0) - token))
                                                     : token);
      }
      bool holds = true;
      for (; next_sample < step.samples.size() && step.samples[next_sample].row < rows.first_row + rows.rows;
           ++next_sample) {
        const auto at = static_cast<size_t>(step.samples[next_sample].row - rows.first_row);
        results.samples.push_back({.token = (tokens[at] + 1) % kDraftVocabSize});
        if (!holds) continue;
        drawn_[rows.state_slot] = results.samples.back().token;
        holds = at + 1 < tokens.size() && tokens[at + 1] == results.samples.back().token;
      }
      const int32_t count = step.drafting.empty() ? 0 : step.drafting[s].count;
      drafts_asked += count;
      drafts.clear();
      for (int32_t k = 1; k <= count; ++k) {
        drafts.push_back((drawn_.at(rows.state_slot) + k + (k >= wrong_from ? 1 : 0)) % kDraftVocabSize);
      }
      results.drafts.insert(results.drafts.end(), drafts.begin(), drafts.end());
    }
    order += names ? 'n' : 's';
    ++steps_with_rows[step.tokens.size()];
    device_free_ = std::max(device_free_, now) + cost(step);
    ends_.push_back(device_free_);
    return {};
  }
  Expected<std::span<const kernels::SampleResult>> collect() override {
    order += 'c';
    collected_ = std::move(under_way_.front());
    under_way_.pop_front();
    now = std::max(now, ends_.front());
    ends_.pop_front();
    return std::span<const kernels::SampleResult>(collected_.samples);
  }
  Expected<std::span<const int32_t>> drafts() override {
    order += 'd';
    if (fails) return Status(StatusCode::unavailable, "the device does not answer");
    return std::span<const int32_t>(collected_.drafts);
  }

  int wrong_from = kDrafts + 1;
  bool fails = false;
  std::string order;
  int drafts_asked = 0;
  int steps_ahead_seen = 0;               // submitted while another was under way
  std::vector<bool> head_reads;           // of each step: its rows go through the head that drafts, too
  std::vector<int32_t> next_tokens;       // that it reads behind those of a sequence
  std::map<size_t, int> steps_with_rows;  // how many
  // A clock, and what steps take of its time.
  std::chrono::steady_clock::time_point now = {};
  std::function<std::chrono::microseconds(const model::Step&)> cost = [](const model::Step&) {
    return std::chrono::microseconds(1);
  };

 private:
  struct Results {
    std::vector<kernels::SampleResult> samples;
    std::vector<int32_t> drafts;
  };
  std::map<int32_t, int32_t> drawn_;                // by slot, as the next
  std::map<int32_t, std::vector<int32_t>> drafts_;  // the newest
  std::deque<Results> under_way_;
  Results collected_;
  std::deque<std::chrono::steady_clock::time_point> ends_;
  std::chrono::steady_clock::time_point device_free_ = {};
};

}  // namespace tessera::engine
