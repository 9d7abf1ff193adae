#include "kernels/cuda/step.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "kernels/cuda/dense_fixture.h"

// Steps laid down by the host and fetched by the device, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

using testing::ElementsAre;

constexpr StepBounds kBounds = {.rows_max = 8,
                                .sequences_max = 4,
                                .logit_rows_max = 4,
                                .slots = 4,
                                .blocks_per_slot = 4,
                                .payload_bytes = 64,
                                .result_bytes = 32};

class StepGpu : public testing::Test {
 protected:
  StepGpu() {
    memory_ = {.bounds = kBounds,
               .staging = staging_.get(),
               .device = device_.get(),
               .results = results_.get(),
               .done = done_.get()};
  }

  /// A step of one sequence in slot 2.
  void run(const std::vector<int32_t>& tokens, const std::vector<int32_t>& blocks, std::byte result) {
    const std::vector<SequenceRows> rows = {{.rows = static_cast<int32_t>(tokens.size()),
                                             .first_position = 100,
                                             .row_class = RowClass::decode,
                                             .state_slot = 2,
                                             .block_table = blocks}};
    auto staging = staging_.read();
    std::byte* area = staging.data() + steps_++ % 2 * layout_.bytes;
    const std::vector<int32_t> logit_rows = {0};
    const Status staged = stage_batch(kBounds, {tokens, rows}, logit_rows, {known_.data()}, area);
    ASSERT_TRUE(staged.ok()) << staged.message();
    reinterpret_cast<StagedHeader*>(area + layout_.header)->result_bytes = kBounds.result_bytes;
    staging_.write(staging);
    run_on_stream([&](const device::Queue& queue) {
      if (Status status = begin_step(memory_, queue); !status.ok()) return status;
      return cudaMemsetAsync(cuda::result(memory_), std::to_integer<int>(result), kBounds.result_bytes, queue.stream) ==
                     cudaSuccess
                 ? end_step(memory_, cuda::result(memory_), queue)
                 : Status(StatusCode::internal, "memset");
    });
  }
  [[nodiscard]] std::vector<int32_t> ints(size_t offset, size_t count) const {
    const auto all = device_.read();
    std::vector<int32_t> values(count);
    std::memcpy(values.data(), all.data() + offset, count * sizeof(int32_t));
    return values;
  }
  [[nodiscard]] std::vector<int32_t> blocks_of_slot_2(size_t count) const {
    return ints(on_device_.block_tables + 2 * kBounds.blocks_per_slot * sizeof(int32_t), count);
  }

  const StagingLayout layout_ = staging_layout(kBounds);
  const DeviceStepLayout on_device_ = device_step_layout(kBounds);
  OnDevice<std::byte> staging_{std::vector<std::byte>(2 * layout_.bytes)},
      device_{std::vector<std::byte>(on_device_.bytes)}, results_{std::vector<std::byte>(2 * kBounds.result_bytes)};
  OnDevice<uint64_t> done_{std::vector<uint64_t>(1)};
  std::vector<int32_t> known_ = std::vector<int32_t>(kBounds.slots * kBounds.blocks_per_slot, -1);
  StepMemory memory_;
  size_t steps_ = 0;
};

TEST_F(StepGpu, TokensAreThoseGivenOrTheNewestOfTheirSlot) {
  auto all = device_.read();
  std::memset(all.data() + on_device_.payload, 1, on_device_.newest - on_device_.payload);  // what is no draw of a slot
  auto* newest = reinterpret_cast<int32_t*>(all.data() + on_device_.newest);
  for (int32_t i = 0; i < 3 * kBounds.slots; ++i) newest[i] = 500 + i;
  device_.write(all);
  run({0, 7, kNewestDraw, kFirstDraft, kFirstDraft - 1}, {5, 6}, {});
  EXPECT_THAT(ints(on_device_.tokens, 5), ElementsAre(0, 7, 502, 506, 510));
  EXPECT_THAT(ints(on_device_.row_position, 5), ElementsAre(100, 101, 102, 103, 104));
}

TEST_F(StepGpu, ASlotsBlocksAreThoseOfItsNewestSequence) {
  run({1}, {5, 6, 7, 8}, {});
  EXPECT_THAT(blocks_of_slot_2(4), ElementsAre(5, 6, 7, 8));
  run({1}, {9, 6, 4}, {});
  EXPECT_THAT(blocks_of_slot_2(3), ElementsAre(9, 6, 4));
  run({1}, {5, 6, 7, 8}, {});
  EXPECT_THAT(blocks_of_slot_2(4), ElementsAre(5, 6, 7, 8));
}

TEST_F(StepGpu, ResultsOfTwoStepsLieSideBySide) {
  for (uint64_t step = 0; step < 3; ++step) {
    run({1}, {5, 6}, static_cast<std::byte>(step + 1));
    EXPECT_EQ(done_.read()[0], step + 1);
    const auto results = results_.read();
    for (uint64_t before = step < 2 ? 0 : step - 1; before <= step; ++before) {
      EXPECT_EQ(results[before % 2 * kBounds.result_bytes], static_cast<std::byte>(before + 1)) << "step " << before;
    }
  }
}

}  // namespace
}  // namespace tessera::kernels::cuda
