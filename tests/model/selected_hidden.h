#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "model/loaded_model.h"

namespace tessera::model::test {

/// What the MTP head goes on from: of all rows of a pass, the selected ones, in the order in which they are named.
inline void expect_hidden_rows_are_those_selected(LoadedModel& loaded) {
  constexpr int kRows = 70;
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < kRows; ++i) tokens.push_back(i * 7 % static_cast<int32_t>(loaded.vocab()));
  const std::vector<int32_t> blocks = {2, 0, 1, 3};
  const std::vector<kernels::SequenceRows> sequences = {
      {.rows = kRows, .row_class = kernels::RowClass::prefill, .block_table = blocks}};
  kernels::Backend& runs = loaded->backend();
  const auto size = static_cast<size_t>(loaded->config().hidden_size);
  std::unique_ptr<kernels::Pass> pass;
  const auto hidden_of = [&](std::span<const int32_t> logit_rows) {
    auto cache = *loaded->make_cache(DType::bf16, 4, 1, /*with_mtp=*/false);
    pass = *loaded->make_pass({.rows_max = kRows,
                               .sequences_max = 1,
                               .logit_rows_max = 1,
                               .state_slots = 1,
                               .sequence_blocks_max = 4,
                               .keeps_hidden = true});
    std::vector<float> hidden(kRows * size);
    EXPECT_TRUE(runs.begin(*pass, *cache, {.tokens = tokens, .sequences = sequences}, logit_rows).ok());
    EXPECT_TRUE(loaded->forward(*pass).ok());
    EXPECT_TRUE(runs.read_hidden(*pass, hidden).ok());
    return hidden;
  };
  const std::vector<int32_t> last = {kRows - 1};
  const std::vector<float> with_logits = hidden_of(last), before = hidden_of({});
  EXPECT_TRUE(before == with_logits) << "a pass without logits has other hidden rows";
  std::vector<float> after(kRows * size);
  const std::vector<int32_t> rows = {1, 4, 5, 69};
  ASSERT_TRUE(runs.select_hidden(*pass, rows).ok());
  ASSERT_TRUE(runs.read_hidden(*pass, after).ok());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = [&](const std::vector<float>& all, size_t row) {
      return std::vector(all.begin() + static_cast<std::ptrdiff_t>(row * size),
                         all.begin() + static_cast<std::ptrdiff_t>((row + 1) * size));
    };
    EXPECT_EQ(at(after, i), at(before, static_cast<size_t>(rows[i]))) << "row " << i;
  }
}

}  // namespace tessera::model::test
