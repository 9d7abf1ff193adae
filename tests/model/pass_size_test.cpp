#include "model/pass_size.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::model {
namespace {

const GraphSizes kSizes(/*sequences_max=*/40, /*rows_max=*/512, /*samples_max=*/128 + 64);

PassSize step(int32_t sequences, int32_t rows) { return {.rows = rows, .sequences = sequences, .samples = rows}; }

PassSize head(int32_t sequences, int drafts) {
  return {.drafts = drafts, .rows = sequences * (1 + drafts), .sequences = sequences, .samples = sequences};
}

TEST(GraphSizes, SequencesAreRoundedUpAndRowsFollow) {
  EXPECT_EQ(kSizes.sequences().back(), 40);
  EXPECT_EQ(kSizes.of(step(1, 1)), GraphSizes::plain_step(1));
  EXPECT_EQ(kSizes.of(step(5, 5)), GraphSizes::plain_step(8));
  EXPECT_EQ(kSizes.of(step(33, 33)), GraphSizes::plain_step(40));
  for (int32_t drafts = 1; drafts <= 8; ++drafts) {
    EXPECT_EQ(kSizes.of(step(1, 1 + drafts)), step(1, 1 + drafts));
    EXPECT_EQ(kSizes.of(step(8, 8 * (1 + drafts))), step(8, 8 * (1 + drafts)));
  }
  EXPECT_EQ(kSizes.of(step(4, 4 + 9)), step(4, 16)) << "not all with as many";
  EXPECT_EQ(kSizes.of(step(5, 6)), step(8, 16)) << "one with two rows, which are less than one for each of eight";
}

TEST(GraphSizes, PassesOfTheHead) {
  const PassSize as_many{.drafts = 2, .rows = 20, .sequences = 5, .samples = 5};
  EXPECT_EQ(kSizes.of(as_many), head(8, 2));
  PassSize more = as_many, fewer = as_many, first = as_many;
  more.drafts = 4;
  EXPECT_EQ(kSizes.of(more), head(8, 4));
  fewer.rows = 40;
  EXPECT_EQ(kSizes.of(fewer), head(8, 4)) << "rows of four drafts, which the last step had";
  first.rows = 5;
  EXPECT_EQ(kSizes.of(first), head(8, 2)) << "behind a step without drafts";
}

TEST(GraphSizes, WhatHasNone) {
  PassSize silent = step(4, 4);
  silent.samples = 3;
  EXPECT_FALSE(kSizes.of(silent)) << "a row that draws nothing";
  EXPECT_FALSE(kSizes.of(step(41, 41)));
  EXPECT_FALSE(kSizes.of(step(40, 40 * 5)));
  EXPECT_TRUE(kSizes.of(step(40, 40 * 4)));
}

TEST(GraphSizes, NoneIsLargerThanAPass) {
  const GraphSizes few_rows(/*sequences_max=*/40, /*rows_max=*/10, /*samples_max=*/300);
  EXPECT_EQ(few_rows.sequences(), (std::vector<int32_t>{1, 2, 4, 8, 10}));
  EXPECT_EQ(GraphSizes(40, 300, 10).sequences(), few_rows.sequences());
  EXPECT_EQ(GraphSizes(32, 300, 300).sequences(), (std::vector<int32_t>{1, 2, 4, 8, 12, 16, 24, 32}));
  EXPECT_EQ(GraphSizes(500, 4000, 4000).sequences().back(), 128) << "beyond, a graph saves nothing";
  EXPECT_EQ(GraphSizes(8, 16, 16).of(step(8, 16)), step(8, 16)) << "as large as a pass may be";
  EXPECT_FALSE(GraphSizes(8, 15, 15).of(step(8, 15)));
  const PassSize behind_prompts{
      .drafts = 1, .rows = 33, .sequences = 33, .prompt_rows = 60, .prompt_sequences = 1, .samples = 34};
  EXPECT_TRUE(GraphSizes(40, 512, 40).of(behind_prompts));
  EXPECT_FALSE(GraphSizes(40, 512, 39).of(behind_prompts)) << "a draft of each of 40";
}

/// So that a step whose sequences all have as many drafts, and the head behind it, need no other.
TEST(GraphSizes, WithDraftsNoneIsMissing) {
  constexpr int kDrafts = 5;
  const std::vector<PassSize> sizes = kSizes.with_drafts(kDrafts);
  const auto has = [&](const PassSize& pass) {
    const auto size = kSizes.of(pass);
    return !size || std::ranges::find(sizes, *size) != sizes.end();
  };
  for (int32_t sequences = 1; sequences <= 40; ++sequences) {
    for (int32_t drafts = 0; drafts <= kDrafts; ++drafts) {
      const int32_t rows = sequences * (1 + drafts);
      EXPECT_TRUE(drafts == 0 || has(step(sequences, rows))) << sequences << " with " << drafts;
      for (int next = 1; next <= kDrafts; ++next) {
        EXPECT_TRUE(has({.drafts = next, .rows = rows, .sequences = sequences, .samples = sequences}));
      }
    }
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(kSizes.of(sizes[i]), sizes[i]);
    EXPECT_EQ(std::ranges::count(sizes, sizes[i]), 1);
    EXPECT_TRUE(i == 0 || sizes[i].sequences >= sizes[i - 1].sequences);
  }
  EXPECT_TRUE(kSizes.with_drafts(0).empty());
}

/// Whatever there is a graph for fits into it.
TEST(GraphSizes, HoldWhatTheyRun) {
  for (int32_t sequences = 1; sequences <= 41; ++sequences) {
    for (int32_t rows = sequences; rows <= 9 * sequences; ++rows) {
      for (const int drafts : {0, 1, 5}) {
        PassSize pass = step(sequences, rows);
        pass.drafts = drafts;
        if (drafts > 0) pass.samples = sequences;
        const auto size = kSizes.of(pass);
        if (!size) continue;
        EXPECT_EQ(size->drafts > 0, drafts > 0);
        EXPECT_GE(size->drafts, drafts);
        EXPECT_GE(size->rows, rows);
        EXPECT_GE(size->sequences, sequences);
        EXPECT_GE(size->samples, pass.samples);
        EXPECT_LE(size->rows, 192);
        EXPECT_TRUE(drafts > 0 || (size->rows > size->sequences) == (rows > sequences));
        EXPECT_EQ(kSizes.of(*size), size) << "it runs itself";
      }
    }
  }
}

PassSize beside_prompts(int32_t sequences, int32_t rows, int32_t prompts, int32_t prompt_rows) {
  return {.rows = rows,
          .sequences = sequences,
          .prompt_rows = prompt_rows,
          .prompt_sequences = prompts,
          .samples = rows + prompts};
}

TEST(GraphSizes, PromptsAreRoundedUp) {
  EXPECT_EQ(kSizes.of(beside_prompts(0, 0, 1, 1)), beside_prompts(0, 0, 2, 64));
  EXPECT_EQ(kSizes.of(beside_prompts(0, 0, 1, 65)), beside_prompts(0, 0, 4, 128));
  EXPECT_EQ(kSizes.of(beside_prompts(0, 0, 3, 3)), beside_prompts(0, 0, 4, 128)) << "room for three prompts";
  EXPECT_EQ(kSizes.of(beside_prompts(5, 5, 1, 100)), beside_prompts(8, 8, 4, 128));
  EXPECT_EQ(kSizes.of(beside_prompts(3, 7, 2, 20)), beside_prompts(4, 12, 2, 64)) << "three rows each";
  EXPECT_EQ(kSizes.of(beside_prompts(32, 32, 2, 200)), beside_prompts(32, 32, 8, 256)) << "40 sequences at most";
  EXPECT_EQ(kSizes.of(beside_prompts(33, 33, 1, 60)), beside_prompts(38, 38, 2, 64));
  PassSize many = beside_prompts(20, 100, 1, 8), size = beside_prompts(32, 32 * 6, 2, 64);
  size.samples = 192;
  EXPECT_EQ(kSizes.of(many), size) << "no more samples than there may be";
  EXPECT_FALSE(kSizes.of(beside_prompts(0, 0, 1, 513)));
  EXPECT_FALSE(kSizes.of(beside_prompts(8, 8, 33, 66)));
  EXPECT_FALSE(kSizes.of(beside_prompts(32, 32, 9, 90))) << "41 sequences";
  EXPECT_FALSE(kSizes.of(beside_prompts(8, 8, 1, 505))) << "512 rows in all";
  EXPECT_FALSE(kSizes.of(beside_prompts(32, 32 * 6, 1, 8))) << "192 samples";
  PassSize all_logits = beside_prompts(0, 0, 1, 64);
  all_logits.samples = 64;
  EXPECT_FALSE(kSizes.of(all_logits));
}

TEST(GraphSizes, TheHeadReadsPromptsAndDraftsOrNot) {
  PassSize pass = beside_prompts(5, 15, 1, 100);
  pass.drafts = 2;
  pass.samples = 6;
  PassSize size = beside_prompts(8, 24, 4, 128);
  size.drafts = 2;
  size.samples = 12;
  EXPECT_EQ(kSizes.of(pass), size);
  pass.drafts = size.drafts = 1;
  pass.samples = size.samples = 0;
  EXPECT_EQ(kSizes.of(pass), size);
}

TEST(GraphSizes, BesidePromptsNoneIsMissing) {
  for (const int most : {0, 3, 8}) {
    const std::vector<PassSize> sizes = kSizes.with_prompts(most);
    for (int32_t sequences = 0; sequences <= 39; ++sequences) {
      for (int32_t rows = sequences; rows <= sequences * (1 + most); rows += 1 + sequences / 3) {
        for (const int32_t prompts : {1, 2, 7}) {
          for (const int32_t prompt_rows : {prompts, 64, 65, 300, 512}) {
            for (int drafts = 0; drafts <= most; ++drafts) {
              PassSize pass = beside_prompts(sequences, rows, prompts, prompt_rows);
              pass.drafts = drafts;
              if (drafts > 0) pass.samples = sequences + prompts;
              const auto size = kSizes.of(pass);
              if (!size) continue;
              ASSERT_NE(std::ranges::find(sizes, *size), sizes.end())
                  << sequences << ", " << rows << " and " << prompts << ", " << prompt_rows << ", drafts " << drafts;
              EXPECT_EQ(size->drafts, drafts);
              EXPECT_TRUE(size->rows >= rows && size->sequences >= sequences && size->prompt_rows >= prompt_rows &&
                          size->prompt_sequences >= prompts && size->samples >= pass.samples);
              EXPECT_TRUE(size->all_rows() <= 512 && size->all_sequences() <= 40 && size->samples <= 192);
              EXPECT_EQ(kSizes.of(*size), size) << "it runs itself";
            }
          }
        }
      }
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(std::ranges::count(sizes, sizes[i]), 1);
      EXPECT_TRUE(i == 0 || sizes[i].sequences >= sizes[i - 1].sequences);
      EXPECT_TRUE(most > 0 || (sizes[i].drafts == 0 && sizes[i].rows == sizes[i].sequences)) << "nobody drafts";
    }
  }
}

}  // namespace
}  // namespace tessera::model
