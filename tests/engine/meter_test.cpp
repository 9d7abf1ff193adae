#include "engine/meter.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tessera::engine {
namespace {

using kernels::RowClass;
using namespace std::chrono_literals;

constexpr StepMeter::Clock::time_point kStart{};

struct Rows {
  int32_t rows = 0, first_position = 0;
  RowClass row_class = RowClass::decode;
};

model::Step step_of(std::initializer_list<Rows> sequences) {
  model::Step step;
  for (const Rows& rows : sequences) {
    kernels::SequenceRows& sequence = step.sequences.emplace_back();
    sequence.first_row = static_cast<int32_t>(step.tokens.size());
    sequence.rows = rows.rows;
    sequence.first_position = rows.first_position;
    sequence.row_class = rows.row_class;
    step.tokens.resize(step.tokens.size() + static_cast<size_t>(rows.rows));
  }
  return step;
}

model::Step decode_step() { return step_of({{.rows = 1, .first_position = 63}, {.rows = 1, .first_position = 127}}); }

StepBytes bytes_of_dense_model() {
  return {.weights = {.fixed_bytes = 1e6}, .cache = {.kv_block = 6400, .state_slot = 50}};
}

TEST(StepBytes, WeightsOnceThenEachSequence) {
  EXPECT_DOUBLE_EQ(bytes_of_dense_model().of(decode_step()), 1e6 + 3 * 6400 + 2 * 2 * 50);
  EXPECT_DOUBLE_EQ(bytes_of_dense_model().of(step_of({{.rows = 64, .row_class = RowClass::prefill}})),
                   1e6 + 6400 + 2 * 50);
}

TEST(StepBytes, ExpertsThatTheStepsRowsReach) {
  StepBytes bytes = bytes_of_dense_model();
  bytes.cache = {};
  bytes.weights.routed_bytes = 8e6;
  bytes.weights.experts = 8;
  bytes.weights.experts_per_token = 2;
  EXPECT_DOUBLE_EQ(bytes.of(step_of({{.rows = 1}})), 1e6 + 2e6);
  EXPECT_DOUBLE_EQ(bytes.of(decode_step()), 1e6 + 8e6 * (1 - 0.75 * 0.75));
}

TEST(StepMeter, AStepBeginsWhenTheStepBeforeHasEnded) {
  StepMeter meter(bytes_of_dense_model());
  const double bytes = bytes_of_dense_model().of(decode_step());
  meter.submitting(decode_step(), kStart + 10ms);
  meter.submitting(decode_step(), kStart + 11ms);  // a step ahead
  meter.collected(kStart + 14ms);
  EXPECT_EQ(meter.decode().steps, 1U);
  EXPECT_DOUBLE_EQ(meter.decode().seconds, 0.004);
  meter.collected(kStart + 17ms);
  EXPECT_EQ(meter.decode().steps, 2U);
  EXPECT_DOUBLE_EQ(meter.decode().seconds, 0.007);
  EXPECT_DOUBLE_EQ(meter.decode().bytes, 2 * bytes);
  meter.submitting(decode_step(), kStart + 1000ms);  // nothing ran since
  meter.collected(kStart + 1002ms);
  EXPECT_DOUBLE_EQ(meter.decode().seconds, 0.009);
}

TEST(StepMeter, StepsThatReadPromptsAreLeftOut) {
  StepMeter meter(bytes_of_dense_model());
  meter.submitting(step_of({{.rows = 1}, {.rows = 64, .row_class = RowClass::prefill}}), kStart);
  meter.submitting(decode_step(), kStart + 1ms);
  meter.collected(kStart + 100ms);
  EXPECT_EQ(meter.decode().steps, 0U);
  EXPECT_EQ(meter.decode().seconds, 0);
  meter.collected(kStart + 103ms);
  EXPECT_EQ(meter.decode().steps, 1U);
  EXPECT_DOUBLE_EQ(meter.decode().seconds, 0.003);
}

/// Pages that go to the host's memory or come from there are no reading of weights.
TEST(StepMeter, StepsThatMovePagesAreLeftOut) {
  StepMeter meter(bytes_of_dense_model());
  model::Step moving = decode_step();
  moving.moves.emplace_back();
  meter.submitting(moving, kStart);
  meter.collected(kStart + 10ms);
  EXPECT_EQ(meter.decode().steps, 0U);
}

TEST(ReadFraction, OfTheStepsBetweenTwoReadings) {
  const DecodeTraffic before = {.steps = 10, .bytes = 5e12, .seconds = 100};
  const DecodeTraffic now = {.steps = 11, .bytes = 6e12, .seconds = 100.5};
  EXPECT_DOUBLE_EQ(read_fraction(before, now, 4e12).value(), 0.5);
  EXPECT_FALSE(read_fraction(now, now, 4e12));
  EXPECT_FALSE(read_fraction(before, now, 0));
}

}  // namespace
}  // namespace tessera::engine
