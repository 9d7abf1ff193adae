#include "cli/bench_batch.h"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <utility>
#include <vector>

namespace tessera::cli {
namespace {

using kernels::RowClass;

/// Keeps what each step was, counts experts as a backend does, answers every draw with kDrawn, and drafts `draft`.
class RecordingRunner final : public model::StepRunner {
 public:
  [[nodiscard]] int steps_ahead() const override { return 1; }
  Status submit(const model::Step& step) override {
    EXPECT_LE(under_way_.size(), 1U);
    steps.push_back(step);
    if (experts_read.on) {
      experts_read.layers += kLayers;
      experts_read.experts += kLayers * experts;
    }
    size_t drafts = 0;
    for (const model::Drafting& drafting : step.drafting) drafts += static_cast<size_t>(drafting.count);
    under_way_.emplace_back(step.samples.size(), drafts);
    return {};
  }
  Expected<std::span<const kernels::SampleResult>> collect() override {
    const auto [samples, drafts] = under_way_.front();
    under_way_.pop_front();
    results_.assign(samples, {.token = kDrawn});
    drafts_.assign(drafts, draft);
    return std::span<const kernels::SampleResult>(results_);
  }
  [[nodiscard]] int drafts_max() const override { return 8; }
  Expected<std::span<const int32_t>> drafts() override { return std::span<const int32_t>(drafts_); }
  [[nodiscard]] bool idle() const { return under_way_.empty(); }

  static constexpr int32_t kDrawn = 7;
  static constexpr int64_t kLayers = 4;
  kernels::ExpertsRead experts_read;
  int64_t experts = 0;  // that each layer reads
  int32_t draft = kDrawn;
  std::vector<model::Step> steps;

 private:
  std::vector<int32_t> drafts_;
  std::deque<std::pair<size_t, size_t>> under_way_;  // how many samples and drafts
  std::vector<kernels::SampleResult> results_;
};

class BenchBatchTest : public ::testing::Test {
 protected:
  BenchBatchTest() {
    for (auto& table : blocks_) table.resize(8);
  }
  std::vector<std::vector<int32_t>> blocks_ = std::vector<std::vector<int32_t>>(3);
  RecordingRunner runner_;
  BenchBatch batch_{runner_, 3, 1000, blocks_};
};

TEST_F(BenchBatchTest, PromptsArePackedAndSplitAtBlocks) {
  ASSERT_TRUE(batch_.prefill(/*tokens=*/150, /*rows_max=*/256, /*drafts=*/0).ok());
  EXPECT_TRUE(runner_.idle());
  std::vector<int64_t> read(3);
  size_t draws = 0;
  for (const model::Step& step : runner_.steps) {
    EXPECT_LE(step.tokens.size(), 256U);
    draws += step.samples.size();
    for (const kernels::SequenceRows& rows : step.sequences) {
      EXPECT_EQ(rows.row_class, RowClass::prefill);
      EXPECT_EQ(rows.first_position % 64, 0);
      EXPECT_EQ(rows.first_position, read[static_cast<size_t>(rows.state_slot)]);
      read[static_cast<size_t>(rows.state_slot)] += rows.rows;
    }
  }
  EXPECT_EQ(read, std::vector<int64_t>(3, 150));
  EXPECT_EQ(draws, 3U);
  EXPECT_EQ(runner_.steps.size(), 2U);  // 150 + 64, then 86 + 150
}

TEST_F(BenchBatchTest, DecodingTimesEachStepAndCountsItsCaches) {
  ASSERT_TRUE(batch_.prefill(64, 256, 0).ok());
  runner_.steps.clear();
  const engine::StepBytes bytes{.weights = {}, .cache = {.kv_block = 64, .state_slot = 5}};
  const auto decoded = batch_.decode(4, bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_TRUE(runner_.idle());
  EXPECT_EQ(decoded->step_seconds.size(), 4U);
  EXPECT_GE(decoded->seconds(), 0);
  EXPECT_DOUBLE_EQ(decoded->cache_bytes, 3 * ((65 + 66 + 67 + 68) / 4.0 + 2 * 5));
  ASSERT_EQ(runner_.steps.size(), 4U);
  EXPECT_EQ(runner_.steps[3].sequences[2].first_position, 67);
  EXPECT_EQ(runner_.steps[3].samples.size(), 3U);
}

/// Those of steps before are in no mean.
TEST_F(BenchBatchTest, ExpertsAreCountedInTheirOwnStepsAlone) {
  for (const int64_t experts : {8, 3}) {
    runner_.experts = 100;
    ASSERT_TRUE(batch_.prefill(64, 256, 0).ok());
    ASSERT_TRUE(batch_.decode(4, {}).ok());
    runner_.steps.clear();
    runner_.experts = experts;
    const auto counted = batch_.count_experts(2, runner_.experts_read);
    ASSERT_TRUE(counted.ok());
    EXPECT_EQ(*counted, static_cast<double>(experts));
    EXPECT_FALSE(runner_.experts_read.on);  // a layer that counts waits
    EXPECT_TRUE(runner_.idle());
    ASSERT_EQ(runner_.steps.size(), 2U);
    for (const model::Step& step : runner_.steps) {
      EXPECT_TRUE(step.samples.empty());
      EXPECT_EQ(step.tokens, std::vector<int32_t>(3, model::kLastDrawn));
    }
    EXPECT_EQ(runner_.steps[1].sequences[2].first_position, 64 + 4 + 1);
  }
}

TEST_F(BenchBatchTest, DraftsAreTriedAndThoseThatHoldAreCounted) {
  for (const int32_t right : {0, 1}) {
    runner_.draft = RecordingRunner::kDrawn + 1 - right;
    ASSERT_TRUE(batch_.prefill(64, 256, /*drafts=*/2).ok());
    runner_.steps.clear();
    const auto decoded = batch_.decode(2, {});
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->tokens, right == 1 ? 2 * 3 * 3 : 2 * 3);
    EXPECT_EQ(decoded->step_seconds.size(), 2U);
    ASSERT_EQ(runner_.steps.size(), 2U);
    const model::Step& second = runner_.steps[1];
    EXPECT_EQ(second.samples.size(), 9U);
    EXPECT_EQ(second.drafting.size(), 3U);
    for (const kernels::SequenceRows& rows : second.sequences) {
      EXPECT_EQ(rows.rows, 3);
      EXPECT_TRUE(rows.keeps_records);
      EXPECT_EQ(rows.held, right == 1 ? 3 : 1);
      EXPECT_EQ(rows.first_position, 64 + rows.held);
    }
    EXPECT_EQ(second.tokens[0], RecordingRunner::kDrawn);
    EXPECT_EQ(second.tokens[1], model::draft_token(0));  // submitted before it is known
    EXPECT_EQ(second.tokens[2], model::draft_token(1));
    EXPECT_EQ(runner_.steps[0].tokens[1], runner_.draft);
  }
}

/// As in the engine, where drafts hold only if they were drawn with the noise of the token's place.
TEST_F(BenchBatchTest, ADrawHasTheNoiseOfItsSequenceAndPlace) {
  for (const int32_t drafts : {0, 2}) {
    runner_.steps.clear();
    ASSERT_TRUE(batch_.prefill(70, 256, drafts).ok());
    ASSERT_TRUE(batch_.decode(3, {}).ok());
    size_t draws = 0;
    for (const model::Step& step : runner_.steps) {
      for (const kernels::SequenceRows& rows : step.sequences) {
        for (const kernels::SampleRow& sample : step.samples) {
          if (sample.row < rows.first_row || sample.row >= rows.first_row + rows.rows) continue;
          ++draws;
          EXPECT_EQ(sample.slot, rows.state_slot);
          EXPECT_EQ(sample.noise.key, static_cast<uint64_t>(rows.state_slot));
          const int32_t place = rows.first_position + sample.row - rows.first_row + 1;
          EXPECT_EQ(sample.noise.position, static_cast<uint64_t>(place));
        }
      }
    }
    EXPECT_EQ(draws, 3U + 3U * 3U * static_cast<size_t>(1 + drafts));
  }
}

}  // namespace
}  // namespace tessera::cli
