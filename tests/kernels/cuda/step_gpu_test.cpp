#include "kernels/cuda/step.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/cuda/dense_fixture.h"

// A step's way to the GPU and back, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

constexpr StepBounds kBounds = {.rows_max = 6000,
                                .sequences_max = 90,
                                .logit_rows_max = 300,
                                .slots = 100,
                                .blocks_per_slot = 100,
                                .payload_bytes = 90'000,
                                .result_bytes = 70'000};

/// A step of so many sequences with one to nine rows, and one that is prefilled.
struct Step {
  int32_t decoding = 0, prefill_rows = 0, logit_rows = 0;
  size_t payload = 0, results = 0;
};

class StepGpu : public testing::Test {
 protected:
  StepGpu() : memory_{.bounds = kBounds, .staging = staging_.get(), .device = device_.get()} {
    memory_.results = results_.get();
    memory_.done = done_.get();
    auto all = device_.read();
    auto* newest = reinterpret_cast<int32_t*>(all.data() + device_step_layout(kBounds).newest);
    for (int32_t i = 0; i < (1 + kDraftsMax) * kBounds.slots; ++i)
      newest[i] = drawn(i / kBounds.slots, i % kBounds.slots);
    device_.write(all);
  }

  /// What was drawn last for a slot: the token (0), or a draft.
  static int32_t drawn(int32_t draft, int32_t slot) { return 100'000 * (draft + 1) + slot; }
  static uint8_t byte(uint64_t step, size_t i) { return static_cast<uint8_t>(i * 31 + i / 255 + step * 7); }

  /// Lays step number `n` down, runs its first and its last kernel, and looks at what both leave.
  void run(uint64_t n, const Step& step) {
    const StagingLayout staged = staging_layout(kBounds);
    std::vector<SequenceRows> sequences;
    std::vector<int32_t> tokens, want_tokens, want_sequence, want_position, logit_rows, blocks;
    for (int32_t i = 0; i < kBounds.blocks_per_slot; ++i) blocks.push_back((9 - static_cast<int32_t>(n)) * 1000 + i);
    int32_t decode_rows = 0;
    for (int32_t s = 0; s <= step.decoding; ++s) {
      const bool decodes = s < step.decoding;
      const int32_t count = decodes ? 1 + s % 9 : step.prefill_rows, position = decodes ? 5 * s : 128;
      if (count == 0) continue;
      decode_rows += decodes ? count : 0;
      const int32_t slot = (s * 7 + static_cast<int32_t>(n)) % kBounds.slots;
      sequences.push_back({.first_row = static_cast<int32_t>(tokens.size()),
                           .rows = count,
                           .first_position = position,
                           .row_class = decodes ? RowClass::decode : RowClass::prefill,
                           .state_slot = slot,
                           .snapshot_slot = decodes ? -1 : 17,
                           .snapshot_position = decodes ? 0 : 192,
                           .keeps_records = decodes && s % 2 == 0,
                           .held = decodes ? s % 5 : 0,
                           .block_table = blocks});
      for (int32_t i = 0; i < count; ++i) {
        const bool known = !decodes || s % 3 == 0;  // of others the token, then drafts are where they were drawn
        tokens.push_back(known ? 10 * s + i : i == 0 ? kNewestDraw : kFirstDraft - (i - 1));
        want_tokens.push_back(known ? 10 * s + i : drawn(i, slot));
        want_sequence.push_back(s);
        want_position.push_back(position + i);
      }
    }
    for (int32_t i = 0; i < step.logit_rows; ++i) logit_rows.push_back(i * 3);
    auto areas = staging_.read();
    std::byte* area = areas.data() + (n % 2) * staged.bytes;
    const Status status = stage_batch(kBounds, {tokens, sequences}, logit_rows, {known_.data()}, area);
    ASSERT_TRUE(status.ok()) << status.message();
    auto* header = reinterpret_cast<StagedHeader*>(area + staged.header);
    header->payload_bytes = static_cast<uint32_t>(step.payload);
    header->result_bytes = static_cast<uint32_t>(step.results);
    for (size_t i = 0; i < step.payload; ++i) area[staged.payload + i] = std::byte{byte(n, i)};
    staging_.write(areas);
    const std::vector<std::byte> before = results_.read();
    run_on_stream([&](const device::Queue& queue) {
      TESSERA_RETURN_IF_ERROR(begin_step(memory_, queue));
      return end_step(memory_, payload(memory_), queue);
    });

    const auto all = device_.read();
    const DeviceStepLayout layout = device_step_layout(kBounds);
    const auto ints = [&](size_t offset, size_t count) {
      const auto* from = reinterpret_cast<const int32_t*>(all.data() + offset);
      return std::vector<int32_t>(from, from + count);
    };
    const auto* counts = reinterpret_cast<const StepCounts*>(all.data() + layout.header);
    EXPECT_EQ(counts->rows, static_cast<int32_t>(tokens.size()));
    EXPECT_EQ(counts->sequences, static_cast<int32_t>(sequences.size()));
    EXPECT_EQ(counts->decode_rows, decode_rows);
    EXPECT_EQ(counts->decode_sequences, step.decoding);
    EXPECT_EQ(counts->logit_rows, step.logit_rows);
    EXPECT_EQ(ints(layout.tokens, tokens.size()), want_tokens);
    EXPECT_EQ(ints(layout.row_sequence, tokens.size()), want_sequence);
    EXPECT_EQ(ints(layout.row_position, tokens.size()), want_position);
    EXPECT_EQ(ints(layout.logit_rows, logit_rows.size()), logit_rows);
    const auto* entries = reinterpret_cast<const SequenceEntry*>(all.data() + layout.sequences);
    for (size_t s = 0; s < sequences.size(); ++s) {
      const SequenceRows& rows = sequences[s];
      EXPECT_EQ(entries[s].first_row, rows.first_row);
      EXPECT_EQ(entries[s].rows, rows.rows);
      EXPECT_EQ(entries[s].first_position, rows.first_position);
      EXPECT_EQ(entries[s].slot, rows.state_slot);
      EXPECT_EQ(entries[s].row_class, rows.row_class);
      EXPECT_EQ(entries[s].keeps_records, rows.keeps_records);
      EXPECT_EQ(entries[s].snapshot_slot, rows.snapshot_slot);
      EXPECT_EQ(entries[s].snapshot_position, rows.snapshot_position);
      EXPECT_EQ(entries[s].held, rows.held);
    }
    EXPECT_EQ(std::memcmp(all.data() + layout.payload, area + staged.payload, step.payload), 0);
    for (const SequenceRows& rows : sequences) {
      EXPECT_EQ(
          ints(layout.block_tables + static_cast<size_t>(rows.state_slot * kBounds.blocks_per_slot) * 4, blocks.size()),
          blocks)
          << "slot " << rows.state_slot;
    }
    EXPECT_EQ(done_.read()[0], n + 1);
    const std::vector<std::byte> after = results_.read();
    const size_t mine = (n % 2) * kBounds.result_bytes, others = kBounds.result_bytes - mine;
    EXPECT_EQ(std::memcmp(after.data() + mine, area + staged.payload, step.results), 0);
    EXPECT_EQ(std::memcmp(after.data() + others, before.data() + others, kBounds.result_bytes), 0)
        << "the results of the step before may be being read";
  }

  OnDevice<std::byte> staging_{2 * staging_layout(kBounds).bytes};
  OnDevice<std::byte> device_{device_step_layout(kBounds).bytes};
  OnDevice<std::byte> results_{2 * kBounds.result_bytes};
  OnDevice<uint64_t> done_{1};
  std::vector<int32_t> known_ = std::vector<int32_t>(static_cast<size_t>(kBounds.slots * kBounds.blocks_per_slot), -1);
  StepMemory memory_;
};

TEST_F(StepGpu, SmallStepsArriveWhole) {
  const Step steps[] = {{.decoding = 1, .logit_rows = 1, .payload = 4, .results = 4},
                        {.decoding = 0, .prefill_rows = 64, .logit_rows = 0, .payload = 16, .results = 0},
                        {.decoding = 33, .prefill_rows = 31, .logit_rows = 33, .payload = 1000, .results = 999},
                        {.decoding = 2, .prefill_rows = 0, .logit_rows = 2, .payload = 48, .results = 17}};
  for (uint64_t n = 0; n < std::size(steps); ++n) run(n, steps[n]);
}

TEST_F(StepGpu, RowsBehindTheirBlockTableAreRefused) {
  std::vector<std::byte> area(staging_layout(kBounds).bytes);
  const std::vector<int32_t> blocks = {1, 2};
  for (const int32_t rows : {1, 2}) {
    const std::vector<int32_t> tokens(static_cast<size_t>(rows), 7);
    const SequenceRows sequence{.rows = rows, .first_position = 127, .block_table = blocks};
    const Status status = stage_batch(kBounds, {tokens, {&sequence, 1}}, {}, {known_.data()}, area.data());
    EXPECT_EQ(status.ok(), rows == 1) << "up to position " << 126 + rows;
  }
}

TEST_F(StepGpu, DecodeSequencesBehindPrefillAreRefused) {
  std::vector<std::byte> area(staging_layout(kBounds).bytes);
  const std::vector<int32_t> blocks = {1}, tokens = {7, 8};
  for (const bool ordered : {true, false}) {
    std::vector<SequenceRows> sequences(2, {.rows = 1, .block_table = blocks});
    sequences[1].first_row = sequences[1].state_slot = 1;
    sequences[ordered ? 1 : 0].row_class = RowClass::prefill;
    EXPECT_EQ(stage_batch(kBounds, {tokens, sequences}, {}, {known_.data()}, area.data()).ok(), ordered);
  }
}

TEST_F(StepGpu, MoreThanThereIsMemoryForIsRefused) {
  constexpr StepBounds kSmall = {
      .rows_max = 5, .sequences_max = 2, .logit_rows_max = 3, .slots = 9, .blocks_per_slot = 4};
  std::vector<std::byte> area(staging_layout(kSmall).bytes);
  std::vector<int32_t> known(36, -1);
  /// Sequences of a row each but the last, which has the others.
  const auto stage = [&](int32_t rows, int32_t sequences, size_t logit_rows, size_t blocks) {
    const std::vector<int32_t> tokens(static_cast<size_t>(rows)), logits(logit_rows), table(blocks);
    std::vector<SequenceRows> all;
    for (int32_t s = 0; s < sequences; ++s) {
      all.push_back({.first_row = s,
                     .rows = s + 1 < sequences ? 1 : rows - s,
                     .row_class = RowClass::prefill,
                     .state_slot = s,
                     .block_table = table});
    }
    return stage_batch(kSmall, {tokens, all}, logits, {known.data()}, area.data()).code();
  };
  EXPECT_EQ(stage(5, 2, 3, 4), StatusCode::ok);
  EXPECT_EQ(stage(6, 2, 3, 4), StatusCode::resource_exhausted);
  EXPECT_EQ(stage(5, 3, 3, 4), StatusCode::resource_exhausted);
  EXPECT_EQ(stage(5, 2, 4, 4), StatusCode::resource_exhausted);
  EXPECT_EQ(stage(5, 2, 3, 5), StatusCode::resource_exhausted);
}

/// The device would never hear of what the host took for known.
TEST_F(StepGpu, WhatIsRefusedChangesNoTable) {
  const auto before = known_;
  std::vector<std::byte> area(staging_layout(kBounds).bytes);
  const std::vector<int32_t> blocks = {1, 2}, tokens = {7, 8}, too_many(kBounds.blocks_per_slot + 1);
  for (const std::span<const int32_t> second : {std::span<const int32_t>(), std::span(too_many)}) {
    const std::vector<SequenceRows> sequences = {{.rows = 1, .block_table = blocks},
                                                 {.first_row = 1, .rows = 1, .state_slot = 1, .block_table = second}};
    EXPECT_FALSE(stage_batch(kBounds, {tokens, sequences}, {}, {known_.data()}, area.data()).ok());
    EXPECT_EQ(known_, before);
  }
}

/// Of sizes that need no rounding, which would hide that a part is too small.
TEST_F(StepGpu, PartsOfTheDevicesMemoryDoNotOverlap) {
  constexpr StepBounds kEven = {.rows_max = 128,
                                .sequences_max = 64,
                                .logit_rows_max = 64,
                                .slots = 64,
                                .blocks_per_slot = 64,
                                .payload_bytes = 512,
                                .result_bytes = 256};
  const DeviceStepLayout at = device_step_layout(kEven);
  EXPECT_EQ(at.tokens - at.sequences, 64 * sizeof(SequenceEntry));
  EXPECT_EQ(at.row_sequence - at.tokens, 128U * 4);
  EXPECT_EQ(at.row_position - at.row_sequence, 128U * 4);
  EXPECT_EQ(at.logit_rows - at.row_position, 128U * 4);
  EXPECT_EQ(at.block_tables - at.logit_rows, 64U * 4);
  EXPECT_EQ(at.payload - at.block_tables, 64U * 64 * 4);
  EXPECT_EQ(at.newest - at.payload, 512U);
  EXPECT_EQ(at.result - at.newest, (1U + kDraftsMax) * 64 * 4);
  EXPECT_EQ(at.epoch - at.result, 256U);
}

TEST_F(StepGpu, StepsOfMoreThanTheGridArriveWhole) {
  const Step steps[] = {{.decoding = 80, .prefill_rows = 5500, .logit_rows = 300, .payload = 90'000, .results = 70'000},
                        {.decoding = 1, .logit_rows = 1, .payload = 88'000, .results = 4096},
                        {.decoding = 0, .prefill_rows = 6000, .logit_rows = 1, .payload = 16, .results = 16}};
  for (uint64_t n = 0; n < std::size(steps); ++n) run(n, steps[n]);
}

}  // namespace
}  // namespace tessera::kernels::cuda
