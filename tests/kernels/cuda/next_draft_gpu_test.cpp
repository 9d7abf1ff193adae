#include "kernels/cuda/next_draft.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "kernels/cuda/dense_fixture.h"

// A pass's tables made of those of the pass before, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

constexpr StepBounds kBounds = {.rows_max = 1200,
                                .sequences_max = 400,
                                .logit_rows_max = 400,
                                .slots = 400,
                                .blocks_per_slot = 4,
                                .payload_bytes = 400 * sizeof(int32_t),
                                .result_bytes = 64};
constexpr SampleCapacity kCapacity = {.rows_max = 400, .pool_words = 8};

/// What a pass knows of a sequence.
struct Drafting {
  int32_t slot = 0, row = 0, position = 0, wanted = 0;  // the row and position that a draft was drawn behind
};

class NextDraftGpu : public testing::Test {
 protected:
  /// Lays a pass down in which each of so many sequences has one to three rows and most draw behind one of them.
  void lay_down(int32_t sequences) {
    std::vector<SequenceRows> rows;
    std::vector<int32_t> tokens, logit_rows, wanted;
    std::vector<SampleRow> samples;
    drafting_.clear();
    const std::vector<int32_t> blocks = {1, 2, 3};
    for (int32_t s = 0; s < sequences; ++s) {
      const int32_t count = 1 + s % 3, slot = kBounds.slots - 1 - s, first = static_cast<int32_t>(tokens.size());
      rows.push_back({.first_row = first,
                      .rows = count,
                      .first_position = 3 * s % 100,
                      .row_class = s < sequences - 1 ? RowClass::decode : RowClass::prefill,
                      .state_slot = slot,
                      .block_table = blocks});
      for (int32_t i = 0; i < count; ++i) tokens.push_back(1000 + first + i);
      if (s % 5 == 4) continue;  // one that drafts nothing
      const int32_t row = first + s % count, position = rows.back().first_position + s % count;
      drafting_.push_back({.slot = slot, .row = row, .position = position, .wanted = 1 + s % 4});
      logit_rows.push_back(row);
      wanted.push_back(1 + s % 4);
      samples.push_back({.row = row,
                         .slot = slot,
                         .draft = 1,
                         .params = &params_,
                         .noise = {.key = 9, .position = static_cast<uint64_t>(position) + 2}});
    }
    std::vector<std::byte> area(2 * staging_layout(kBounds).bytes);
    std::vector<int32_t> known(static_cast<size_t>(kBounds.slots * kBounds.blocks_per_slot), -1);
    const Status staged = stage_batch(kBounds, {tokens, rows}, logit_rows, {known.data()}, area.data());
    ASSERT_TRUE(staged.ok()) << staged.message();
    reinterpret_cast<StagedHeader*>(area.data())->payload_bytes = static_cast<uint32_t>(wanted.size() * 4);
    std::memcpy(area.data() + staging_layout(kBounds).payload, wanted.data(), wanted.size() * 4);
    staging_.emplace(area);
    device_.emplace(device_step_layout(kBounds).bytes);
    std::vector<std::byte> tables(kCapacity.bytes());
    ASSERT_TRUE(write_sample_tables(samples, {.vocab = 50, .slots = kBounds.slots}, kCapacity, tables).ok());
    samples_.emplace(tables);
    memory_ = {.bounds = kBounds, .staging = staging_->get(), .device = device_->get()};
    run_on_stream([&](const device::Queue& queue) { return begin_step(memory_, queue); });
  }

  /// The drafts that pass number `made` drew: a token that says for which slot.
  static int32_t draft(int32_t made, int32_t slot) { return 10'000 * made + slot; }
  void draw(int32_t made) {
    auto all = device_->read();
    auto* newest = reinterpret_cast<int32_t*>(all.data() + device_step_layout(kBounds).newest);
    for (int32_t slot = 0; slot < kBounds.slots; ++slot) newest[made * kBounds.slots + slot] = draft(made, slot);
    device_->write(all);
  }

  void advance(int32_t made) {
    NextDraftArgs args{.memory = memory_, .samples = samples_->get(), .hidden_rows = hidden_.get(), .made = made};
    args.wanted = reinterpret_cast<int32_t*>(payload(memory_));
    run_on_stream([&](const device::Queue& queue) { return next_draft(args, queue); });
  }

  /// The tables are those of the sequences that go on, which drafting_ has from then on.
  void expect_advanced(int32_t made) {
    const auto all = device_->read(), tables = samples_->read();
    const DeviceStepLayout layout = device_step_layout(kBounds);
    const auto ints = [&](size_t offset) { return reinterpret_cast<const int32_t*>(all.data() + offset); };
    const auto* entries = reinterpret_cast<const SequenceEntry*>(all.data() + layout.sequences);
    const auto* counts = reinterpret_cast<const StepCounts*>(all.data() + layout.header);
    const SampleTables samples = kCapacity.tables(tables.data());
    const std::vector<int32_t> hidden = hidden_.read();
    std::erase_if(drafting_, [&](const Drafting& d) { return d.wanted <= made; });
    const auto size = static_cast<int32_t>(drafting_.size());
    EXPECT_EQ(counts->rows, size);
    EXPECT_EQ(counts->decode_rows, size);
    EXPECT_EQ(counts->sequences, size);
    EXPECT_EQ(counts->decode_sequences, size);
    EXPECT_EQ(counts->logit_rows, size);
    EXPECT_EQ(samples.header->rows, size);
    for (int32_t i = 0; i < size; ++i) {
      Drafting& d = drafting_[static_cast<size_t>(i)];
      EXPECT_EQ(hidden[static_cast<size_t>(i)], d.row) << "sequence " << i << " behind " << made;
      d.row = i;
      ++d.position;
      EXPECT_EQ(ints(layout.tokens)[i], draft(made, d.slot));
      EXPECT_EQ(ints(layout.row_sequence)[i], i);
      EXPECT_EQ(ints(layout.row_position)[i], d.position);
      EXPECT_EQ(ints(layout.logit_rows)[i], i);
      EXPECT_EQ(entries[i].first_row, i);
      EXPECT_EQ(entries[i].rows, 1);
      EXPECT_EQ(entries[i].first_position, d.position);
      EXPECT_EQ(entries[i].slot, d.slot);
      EXPECT_EQ(entries[i].row_class, RowClass::decode);
      EXPECT_FALSE(entries[i].keeps_records);
      EXPECT_EQ(entries[i].snapshot_slot, -1);
      EXPECT_EQ(entries[i].held, 0);
      EXPECT_EQ(samples.entries[i].slot, d.slot);
      EXPECT_EQ(samples.entries[i].draft, made + 1);
      EXPECT_EQ(samples.entries[i].position, static_cast<uint64_t>(d.position) + 2);
      EXPECT_EQ(samples.entries[i].key, 9U);
      EXPECT_EQ(samples.entries[i].inverse_temperature, 2);
    }
  }

  SampleParams params_ = {.temperature = 0.5F};
  std::vector<Drafting> drafting_;
  std::optional<OnDevice<std::byte>> staging_, device_, samples_;
  OnDevice<int32_t> hidden_{size_t{400}};
  StepMemory memory_;
};

TEST_F(NextDraftGpu, TablesAreThoseOfTheSequencesThatGoOn) {
  for (const int32_t sequences : {0, 1, 2, 5, 37, 255, 257, 400}) {
    SCOPED_TRACE(sequences);
    ASSERT_NO_FATAL_FAILURE(lay_down(sequences));
    for (int32_t made = 1; made <= 4; ++made) {
      draw(made);
      advance(made);
      expect_advanced(made);
    }
    EXPECT_TRUE(drafting_.empty());
  }
}

}  // namespace
}  // namespace tessera::kernels::cuda
