#include "model/pass_size.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::model {
namespace {

const GraphSizes kSizes(/*sequences_max=*/40, /*rows_max=*/512, /*samples_max=*/128 + 64);

PassSize step(int32_t sequences, int32_t rows) {
  return {.work = Work::step, .rows = rows, .sequences = sequences, .samples = rows};
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
  const PassSize first{.work = Work::first_drafts, .rows = 20, .sequences = 5, .samples = 5};
  EXPECT_EQ(kSizes.of(first), (PassSize{.work = Work::first_drafts, .rows = 24, .sequences = 8, .samples = 8}));
  const PassSize more{.work = Work::more_drafts, .mtp_layer = 1, .rows = 3, .sequences = 3, .samples = 3};
  EXPECT_EQ(kSizes.of(more),
            (PassSize{.work = Work::more_drafts, .mtp_layer = 1, .rows = 4, .sequences = 4, .samples = 4}));
}

TEST(GraphSizes, WhatHasNone) {
  PassSize silent = step(4, 4);
  silent.samples = 3;
  EXPECT_FALSE(kSizes.of(silent)) << "a row that draws nothing";
  EXPECT_FALSE(kSizes.of(step(41, 41)));
  EXPECT_FALSE(kSizes.of(step(40, 40 * 5)));
  EXPECT_TRUE(kSizes.of(step(40, 40 * 4)));
}

/// So that a step whose sequences all have as many drafts, and the head behind it, need no other.
TEST(GraphSizes, WithDraftsNoneIsMissing) {
  constexpr int kDrafts = 5, kMtpLayers = 2;
  const std::vector<PassSize> sizes = kSizes.with_drafts(kDrafts, kMtpLayers);
  const auto has = [&](const PassSize& pass) {
    const auto size = kSizes.of(pass);
    return !size || std::ranges::find(sizes, *size) != sizes.end();
  };
  for (int32_t sequences = 1; sequences <= 40; ++sequences) {
    for (int32_t drafts = 0; drafts <= kDrafts; ++drafts) {
      const int32_t rows = sequences * (1 + drafts);
      if (drafts > 0) EXPECT_TRUE(has(step(sequences, rows))) << sequences << " with " << drafts;
      EXPECT_TRUE(has({.work = Work::first_drafts, .rows = rows, .sequences = sequences, .samples = sequences}));
    }
    for (int layer = 0; layer < kMtpLayers; ++layer) {
      EXPECT_TRUE(has({.work = Work::more_drafts,
                       .mtp_layer = layer,
                       .rows = sequences,
                       .sequences = sequences,
                       .samples = sequences}));
    }
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(kSizes.of(sizes[i]), sizes[i]);
    EXPECT_EQ(std::ranges::count(sizes, sizes[i]), 1);
    if (i > 0) EXPECT_GE(sizes[i].sequences, sizes[i - 1].sequences);
  }
  EXPECT_TRUE(kSizes.with_drafts(0, 1).empty());
}

/// Whatever there is a graph for fits into it.
TEST(GraphSizes, HoldWhatTheyRun) {
  for (int32_t sequences = 1; sequences <= 41; ++sequences) {
    for (int32_t rows = sequences; rows <= 9 * sequences; ++rows) {
      for (const Work work : {Work::step, Work::first_drafts}) {
        PassSize pass = step(sequences, rows);
        pass.work = work;
        if (work != Work::step) pass.samples = sequences;
        const auto size = kSizes.of(pass);
        if (!size) continue;
        EXPECT_EQ(size->work, work);
        EXPECT_GE(size->rows, rows);
        EXPECT_GE(size->sequences, sequences);
        EXPECT_GE(size->samples, pass.samples);
        EXPECT_LE(size->rows, 192);
        EXPECT_EQ(size->rows > size->sequences, rows > sequences);
        EXPECT_EQ(kSizes.of(*size), size) << "it runs itself";
      }
    }
  }
}

}  // namespace
}  // namespace tessera::model
