#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "model/runner.h"

// What an engine does with drafts, over any runner.
namespace tessera::model {

/// A sequence whose rows are its newest token and drafts behind it.
struct Speculating {
  std::vector<int32_t> prompt;
  const kernels::SampleParams* params = nullptr;
  int32_t slot = 0;
  std::vector<int32_t> blocks;
  uint64_t noise_key = 0;
  int begins = 0;  // the step that reads its prompt, beside those before it, which decode

  std::vector<kernels::SampleResult> results = {};  // of rows that hold
  std::vector<int32_t> drafts = {};                 // for the next step
  int32_t held = 0;                                 // of its records
  std::vector<int> right = {}, wrong = {};          // drafts, by their place

  [[nodiscard]] int32_t length() const { return static_cast<int32_t>(prompt.size() + results.size()); }
};

/// Steps, in which sequences decode once their prompts are read, until each has `draws` results or more. Every other
/// one names drafts, and is submitted before they are known where no draw has penalties.
/// wanted(sequence, step): how many drafts it wants behind that step.
template <typename Wanted>
void speculate(StepRunner& runner, std::vector<Speculating>& all, size_t draws, const Wanted& wanted) {
  std::vector<size_t> drafted;  // the sequences of the step before; their drafts so far are only counted
  const auto take_drafts = [&] {
    const auto made = runner.drafts();
    ASSERT_TRUE(made.ok()) << made.status().message();
    auto draft = made->begin();
    for (const size_t i : drafted) {
      ASSERT_LE(static_cast<std::ptrdiff_t>(all[i].drafts.size()), made->end() - draft);
      for (int32_t& own : all[i].drafts) own = *draft++;
    }
    ASSERT_EQ(draft, made->end());
    drafted.clear();
  };
  const bool has_penalty = std::ranges::any_of(all, [](const Speculating& s) { return s.params->has_penalty(); });
  for (int number = 0;; ++number) {
    const bool names = number % 2 == 1, known_first = !names || has_penalty;
    if (number > 0 && known_first) take_drafts();
    Step step;
    std::vector<size_t> running;
    for (size_t i = 0; i < all.size(); ++i) {
      Speculating& sequence = all[i];
      if (number < sequence.begins || sequence.results.size() >= draws) continue;
      running.push_back(i);
      const bool prefill = number == sequence.begins;
      const auto first_row = static_cast<int32_t>(step.tokens.size());
      if (prefill) {
        step.tokens.insert(step.tokens.end(), sequence.prompt.begin(), sequence.prompt.end());
        if (sequence.params->has_penalty()) {
          step.histories.push_back({.slot = sequence.slot, .prompt = sequence.prompt, .output = {}});
        }
      } else {
        step.tokens.push_back(sequence.drafts.empty() ? kLastDrawn : sequence.results.back().token);
        for (size_t k = 0; k < sequence.drafts.size(); ++k) {
          const bool by_name = names && !sequence.params->has_penalty();
          step.tokens.push_back(by_name ? draft_token(static_cast<int32_t>(k)) : sequence.drafts[k]);
        }
      }
      const auto rows = static_cast<int32_t>(step.tokens.size()) - first_row;
      const int32_t first_position = prefill ? 0 : sequence.length() - 1;
      step.sequences.push_back({.first_row = first_row,
                                .rows = rows,
                                .first_position = first_position,
                                .row_class = prefill ? kernels::RowClass::prefill : kernels::RowClass::decode,
                                .state_slot = sequence.slot,
                                .keeps_records = !sequence.drafts.empty(),
                                .held = sequence.held,
                                .block_table = sequence.blocks});
      for (int32_t row = prefill ? rows - 1 : 0; row < rows; ++row) {
        step.samples.push_back(
            {.row = first_row + row,
             .slot = sequence.slot,
             .params = sequence.params,
             .noise = {.key = sequence.noise_key, .position = static_cast<uint64_t>(first_position + row) + 1}});
      }
      if (runner.drafts_max() > 0) step.drafting.push_back({.next_token = kLastDrawn, .count = wanted(i, number)});
    }
    if (running.empty()) return;
    const Status status = runner.submit(step);
    ASSERT_TRUE(status.ok()) << status.message();
    if (number > 0 && !known_first) take_drafts();
    const auto results = runner.collect();
    ASSERT_TRUE(results.ok()) << results.status().message();

    size_t result = 0;
    for (size_t i = 0; i < running.size(); ++i) {
      Speculating& sequence = all[running[i]];
      const size_t rows = sequence.drafts.size() + 1;
      size_t held = 1;
      while (held < rows && (*results)[result + held - 1].token == sequence.drafts[held - 1]) ++held;
      sequence.right.resize(std::max(sequence.right.size(), rows));
      sequence.wrong.resize(std::max(sequence.wrong.size(), rows));
      for (size_t k = 0; k + 1 < held; ++k) ++sequence.right[k];
      if (held < rows) ++sequence.wrong[held - 1];
      sequence.results.insert(sequence.results.end(), results->begin() + static_cast<std::ptrdiff_t>(result),
                              results->begin() + static_cast<std::ptrdiff_t>(result + held));
      sequence.held = sequence.drafts.empty() ? 0 : static_cast<int32_t>(held);
      sequence.drafts.assign(step.drafting.empty() ? size_t{0} : static_cast<size_t>(step.drafting[i].count), -1);
      result += rows;
    }
    ASSERT_EQ(result, results->size());
    drafted = running;
  }
}

}  // namespace tessera::model
