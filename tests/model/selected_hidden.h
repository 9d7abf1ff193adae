#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "model/loaded_model.h"

namespace tessera::model::test {

/// What the MTP head goes on from: of all rows of a pass, the selected ones, in the order in which they are named.
inline void expect_hidden_rows_are_those_selected(LoadedModel& loaded) {
  constexpr int kRows = 70;
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < kRows; ++i) tokens.push_back(i * 7 % static_cast<int32_t>(loaded.vocab()));
  auto cache = *loaded->make_cache(DType::bf16, 4, 1, /*with_mtp=*/false);
  auto pass = *loaded->make_pass({.rows_max = kRows,
                                  .sequences_max = 1,
                                  .logit_rows_max = 1,
                                  .state_slots = 1,
                                  .sequence_blocks_max = 4,
                                  .keeps_hidden = true});
  const std::vector<int32_t> blocks = {2, 0, 1, 3};
  const std::vector<kernels::SequenceRows> sequences = {
      {.rows = kRows, .row_class = kernels::RowClass::prefill, .block_table = blocks}};
  kernels::Backend& runs = loaded->backend();
  ASSERT_TRUE(runs.begin(*pass, *cache, {.tokens = tokens, .sequences = sequences}, {}).ok());
  ASSERT_TRUE(loaded->forward(*pass).ok());
  const auto size = static_cast<size_t>(loaded->config().hidden_size);
  std::vector<float> before(kRows * size), after(kRows * size);
  ASSERT_TRUE(runs.read_hidden(*pass, before).ok());
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
