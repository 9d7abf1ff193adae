#include "kernels/cuda/sample_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/sample_math.h"

namespace tessera::kernels::cuda {
namespace {

constexpr SampleLimits kLimits{.vocab = 100, .slots = 4, .has_counts = true};

struct Written {
  Status status;
  std::vector<std::byte> memory;
  SampleTables tables;

  Written(std::span<const SampleRow> rows, const SampleCapacity& capacity, const SampleLimits& limits = kLimits)
      : memory(capacity.bytes(), std::byte{0xcd}), tables(capacity.tables(memory.data())) {
    status = write_sample_tables(rows, limits, capacity, memory);
  }
};

SampleRow row_of(const SampleParams& params, int32_t slot = 0) { return {.slot = slot, .params = &params}; }

TEST(SampleTables, DraftsAreThereForPenalties) {
  const SampleParams penalised{.presence_penalty = 1}, plain;
  const std::vector<SampleRow> rows = {row_of(penalised), row_of(penalised), row_of(plain)};
  const std::vector<int32_t> drafts = {40, 7};
  std::vector<UnsureDraw> unsure = {{}, {.is_unsure = true, .drafts = drafts}, {.is_unsure = true, .drafts = drafts}};
  const SampleCapacity capacity{.rows_max = 3, .pool_words = 2};
  std::vector<std::byte> memory(capacity.bytes());
  const Status status = write_sample_tables(rows, kLimits, capacity, memory, unsure);
  ASSERT_TRUE(status.ok()) << status.message();
  const SampleTables tables = capacity.tables(memory.data());
  EXPECT_EQ(tables.entries[0].is_counted, 1);
  EXPECT_EQ(tables.entries[0].draft_count, 0);
  EXPECT_EQ(tables.entries[1].is_counted, 0);
  ASSERT_EQ(tables.entries[1].draft_count, 2);
  EXPECT_EQ(tables.pool[tables.entries[1].drafts], 40U);
  EXPECT_EQ(tables.pool[tables.entries[1].drafts + 1], 7U);
  EXPECT_EQ(tables.entries[2].draft_count, 0);
  const std::vector<int32_t> unknown = {100};
  unsure[1].drafts = unknown;
  EXPECT_EQ(write_sample_tables(rows, kLimits, capacity, memory, unsure).code(), StatusCode::invalid_argument);
}

TEST(SampleTables, ARowIsThereInWhole) {
  const SampleParams params{.temperature = 0.5F,
                            .top_k = 20,
                            .top_p = 0.5F,
                            .min_p = 0.25F,
                            .repetition_penalty = 1.5F,
                            .presence_penalty = 0.25F,
                            .frequency_penalty = -0.5F,
                            .logit_bias = {{9, 1}, {3, 2}, {9, -4}},
                            .logprobs = 7};
  const std::vector<int32_t> banned{70, 5};
  SampleRow row = row_of(params, 3);
  row.banned = banned;
  row.noise = {.key = 0x123456789abcdefULL, .choice = 4, .position = 0x100000002ULL};
  const Written written(std::vector<SampleRow>{row}, {.rows_max = 2, .pool_words = 8});
  ASSERT_TRUE(written.status.ok()) << written.status.message();
  EXPECT_EQ(written.tables.header->rows, 1);
  EXPECT_EQ(written.tables.header->pool_words, 8U);
  const SampleEntry& entry = written.tables.entries[0];
  EXPECT_EQ(entry.slot, 3);
  EXPECT_TRUE(entry.draws());
  EXPECT_EQ(entry.inverse_temperature, 2);
  EXPECT_EQ(entry.top_k, 20);
  EXPECT_EQ(entry.top_p, 0x80000000U);
  EXPECT_EQ(entry.deepest, spelt::min_p_depth(0.25F));
  EXPECT_EQ(entry.repetition_penalty, 1.5F);
  EXPECT_EQ(entry.presence_penalty, 0.25F);
  EXPECT_EQ(entry.frequency_penalty, -0.5F);
  EXPECT_EQ(entry.has_penalty, 1);
  EXPECT_EQ(entry.logprobs, 7);
  EXPECT_EQ(entry.key, row.noise.key);
  EXPECT_EQ(entry.choice, 4U);
  EXPECT_EQ(entry.position, row.noise.position);
  ASSERT_EQ(entry.bias_count, 3U);
  const uint32_t* biases = written.tables.pool + entry.biases;
  const auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
  EXPECT_THAT(std::vector<uint32_t>(biases, biases + 6), testing::ElementsAre(3U, bits(2), 9U, bits(1), 9U, bits(-4)));
  ASSERT_EQ(entry.banned_count, 2U);
  EXPECT_EQ(written.tables.pool[entry.banned], 5U);
  EXPECT_EQ(written.tables.pool[entry.banned + 1], 70U);
  EXPECT_EQ(entry.has_allowed, 0);
}

TEST(SampleTables, GreedyAndNeutralRowsFilterNothing) {
  const SampleParams greedy{.temperature = 0, .top_k = 5, .top_p = 0.5F, .min_p = 0.5F}, neutral;
  const Written written(std::vector<SampleRow>{row_of(greedy), row_of(neutral)}, {.rows_max = 2, .pool_words = 0});
  ASSERT_TRUE(written.status.ok());
  for (int i = 0; i < 2; ++i) {
    const SampleEntry& entry = written.tables.entries[i];
    EXPECT_EQ(entry.inverse_temperature, i == 0 ? 0 : 1);
    EXPECT_EQ(entry.top_k, 0);
    EXPECT_EQ(entry.top_p, 0U);
    EXPECT_EQ(entry.has_penalty, 0);
    EXPECT_EQ(entry.logprobs, -1);
  }
  EXPECT_EQ(written.tables.entries[1].deepest, std::numeric_limits<float>::infinity());
}

TEST(SampleTables, TargetRowsWantLogprobsAloneAndAllowedWinsOverBanned) {
  const SampleParams params{.logit_bias = {{1, 1}}, .logprobs = 2}, silent;
  SampleRow target = row_of(params), silent_target = row_of(silent), masked = row_of(params);
  target.target = 42;
  silent_target.target = 0;
  const std::vector<uint32_t> mask{1, 2, 3, 4};
  const std::vector<int32_t> banned{8};
  masked.allowed = mask;
  masked.banned = banned;
  const Written written(std::vector<SampleRow>{target, silent_target, masked}, {.rows_max = 3, .pool_words = 6});
  ASSERT_TRUE(written.status.ok()) << written.status.message();
  EXPECT_EQ(written.tables.entries[0].target, 42);
  EXPECT_EQ(written.tables.entries[0].logprobs, 2);
  EXPECT_EQ(written.tables.entries[0].bias_count, 0U);
  EXPECT_EQ(written.tables.entries[1].logprobs, 0);
  const SampleEntry& entry = written.tables.entries[2];
  EXPECT_EQ(entry.banned_count, 0U);
  EXPECT_EQ(entry.has_allowed, 1);
  EXPECT_THAT(std::vector<uint32_t>(written.tables.pool + entry.allowed, written.tables.pool + entry.allowed + 4),
              testing::ElementsAreArray(mask));
}

TEST(SampleTables, PenaltiesOfARowWithATargetNeedNoCounts) {
  const SampleParams penalised{.presence_penalty = 1};
  SampleRow row = row_of(penalised);
  for (const int32_t target : {-1, 42}) {
    row.target = target;
    const Written written(std::vector<SampleRow>{row}, {.rows_max = 1}, {.vocab = 100, .slots = 4});
    EXPECT_EQ(written.status.ok(), target >= 0) << written.status.message();
  }
}

TEST(SampleTables, WhatDoesNotFitIsAnError) {
  const SampleParams plain, biased{.logit_bias = {{1, 1}, {2, 2}}};
  const std::vector<SampleRow> three{row_of(plain), row_of(plain), row_of(plain)};
  const Written rows(three, {.rows_max = 2, .pool_words = 0});
  EXPECT_EQ(rows.status.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(rows.status.message(), testing::HasSubstr("3 rows; the sample tables have room for 2"));
  EXPECT_EQ(rows.tables.header->rows, 0);

  const Written pool(std::vector<SampleRow>{row_of(biased)}, {.rows_max = 2, .pool_words = 3});
  EXPECT_EQ(pool.status.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(pool.status.message(), testing::HasSubstr("need 4 words; the sample tables have room for 3"));
  EXPECT_EQ(pool.tables.header->rows, 0);

  std::vector<std::byte> small(SampleCapacity{.rows_max = 1}.bytes());
  EXPECT_EQ(write_sample_tables(three, kLimits, {.rows_max = 3}, small).code(), StatusCode::invalid_argument);
}

TEST(SampleTables, WhatTheDeviceCouldNotRunIsAnError) {
  const auto code = [](const SampleParams& params, auto&& change, const SampleLimits& limits = kLimits) {
    SampleRow row = row_of(params);
    change(row);
    return Written(std::vector<SampleRow>{row}, {.rows_max = 1, .pool_words = 100}, limits).status.code();
  };
  const auto same = [](SampleRow&) {};
  constexpr auto kBad = StatusCode::invalid_argument;
  EXPECT_EQ(code({}, same), StatusCode::ok);
  EXPECT_EQ(code({.top_p = 1, .min_p = 1, .logit_bias = {{99, 1}}, .logprobs = 20},
                 [](SampleRow& r) {
                   r.slot = 3;
                   r.target = 99;
                 }),
            StatusCode::ok);
  EXPECT_EQ(code({}, [](SampleRow& r) { r.slot = 4; }), kBad);
  EXPECT_EQ(code({}, [](SampleRow& r) { r.slot = -1; }), kBad);
  EXPECT_EQ(code({}, [](SampleRow& r) { r.target = 100; }), kBad);
  EXPECT_EQ(code({.logprobs = 21}, same), kBad);
  EXPECT_EQ(code({.logit_bias = {{100, 1}}}, same), kBad);
  EXPECT_EQ(code({.presence_penalty = 1}, same, {.vocab = 100, .slots = 4, .has_counts = false}), kBad);
  EXPECT_EQ(code({.temperature = std::numeric_limits<float>::infinity()}, same), kBad);
  EXPECT_EQ(code({.temperature = -1}, same), kBad);
  EXPECT_EQ(code({.top_p = 0}, same), kBad);
  EXPECT_EQ(code({.min_p = 2}, same), kBad);
  EXPECT_EQ(code({.top_k = -1}, same), kBad);
  const std::vector<int32_t> banned{-1};
  EXPECT_EQ(code({}, [&](SampleRow& r) { r.banned = banned; }), kBad);
  const std::vector<uint32_t> mask(3);
  EXPECT_EQ(code({}, [&](SampleRow& r) { r.allowed = mask; }), kBad);
}

TEST(SampleTables, ResultsSayWhatTheCpuSays) {
  SampleOutput output;
  output.token = 7;
  output.logprob_count = 2;
  output.logprobs[0] = {7, -1.0F, 2};
  output.logprobs[1] = {3, -0.5F, 1};
  const SampleResult good = sample_result(output, 100);
  EXPECT_TRUE(good.status.ok());
  EXPECT_EQ(good.token, 7);
  ASSERT_EQ(good.logprobs.size(), 2U);
  EXPECT_EQ(good.logprobs[1].token, 3);
  output.status = SampleStatus::non_finite;
  EXPECT_EQ(sample_result(output, 100).status.code(), StatusCode::corrupt_data);
  output.status = SampleStatus::none_left;
  EXPECT_THAT(sample_result(output, 100).status.message(), testing::HasSubstr("all 100 are ruled out"));
}

}  // namespace
}  // namespace tessera::kernels::cuda
