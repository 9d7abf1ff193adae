#include "kernels/cuda/pass.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/delta_net.h"
#include "kernels/cuda/on_device.h"

// The memory of caches and passes, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

using Bytes = std::vector<uint8_t>;

/// Device memory with random bytes, and a copy of them.
struct Filled {
  uint8_t* memory;
  Bytes bytes;

  Filled(const void* at, size_t size) : memory(static_cast<uint8_t*>(const_cast<void*>(at))), bytes(size) {
    std::mt19937 random(static_cast<uint32_t>(size));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    upload(memory, std::span<const uint8_t>(bytes));
  }
  /// What is at `from` is expected at `to`, too.
  void expect_copied(const void* from, const void* to, size_t size) {
    const auto at = [&](const void* p) { return bytes.data() + (static_cast<const uint8_t*>(p) - memory); };
    std::memcpy(at(to), at(from), size);
  }
  [[nodiscard]] Bytes read() const {
    Bytes now(bytes.size());
    EXPECT_EQ(cudaMemcpy(now.data(), memory, now.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    return now;
  }
};

class CacheGpu : public testing::Test {
 protected:
  CacheGpu() {
    shape_.attention = {.heads = 4, .kv_heads = 2, .head_dim = 32, .rotary_dim = 32};
    shape_.attention_layers = 2;
    shape_.delta_net = {.key_heads = 2, .value_heads = 4, .key_dim = 32, .value_dim = 64};
    shape_.linear_layers = 3;
    shape_.record_rows = 2;
    shape_.blocks = 5;
    shape_.state_slots = 4;
    cache_ = *Cache::create(shape_);
    pages_ = *PinnedPages::create(cache_bytes(shape_).kv_block, 1 + pages_of_state(cache_bytes(shape_)));
    EXPECT_EQ(cudaStreamCreateWithFlags(stream_.fill(), cudaStreamNonBlocking), cudaSuccess);
  }
  /// Out to a page each, then in to another place.
  void move(PageMove::What what, int32_t from, int32_t to, int32_t pieces) {
    for (const bool to_host : {true, false}) {
      for (int32_t piece = 0; piece < pieces; ++piece) {
        const PageMove one{.what = what,
                           .to_host = to_host,
                           .index = to_host ? from : to,
                           .piece = piece,
                           .page = pages_->count() - 1 - piece};
        ASSERT_TRUE(cache_->move(one, *pages_, stream_.get()).ok());
      }
    }
    ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
  }

  CacheShape shape_;
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<HostPages> pages_;
  device::Stream stream_;
};

TEST_F(CacheGpu, ABlockIsMovedInAllLayersAndNothingElse) {
  Filled kv(cache_->kv_pool(0).keys, 5 * cache_bytes(shape_).kv_block);
  const size_t bytes = kv_block_bytes(shape_.kv_dtype, shape_.attention);
  move(PageMove::What::block, 4, 1, 1);
  for (int layer = 0; layer < shape_.attention_layers; ++layer) {
    const KvPool pool = cache_->kv_pool(layer);
    for (const std::byte* part : {pool.keys, pool.values}) kv.expect_copied(part + 4 * bytes, part + bytes, bytes);
  }
  EXPECT_EQ(kv.read(), kv.bytes);
}

TEST_F(CacheGpu, AStateIsMovedInAllLayersWithItsWindowAndNothingElse) {
  const auto values = static_cast<size_t>(state_values(shape_.delta_net));
  const auto window = static_cast<size_t>(window_values(shape_.delta_net));
  Filled states(cache_->states(0), size_t{3} * 4 * values * sizeof(float));
  Filled windows(cache_->windows(0), size_t{3} * 4 * window * sizeof(uint16_t));
  const Filled records(cache_->records(0), 3 * (4 * (cache_bytes(shape_).state_slot - cache_bytes(shape_).state) / 3));
  const int32_t pieces = pages_of_state(cache_bytes(shape_));
  EXPECT_GT(pieces, 1);
  move(PageMove::What::state, 3, 2, pieces);
  for (int layer = 0; layer < shape_.linear_layers; ++layer) {
    float* const s = cache_->states(layer);
    uint16_t* const w = cache_->windows(layer);
    states.expect_copied(s + 3 * values, s + 2 * values, values * sizeof(float));
    windows.expect_copied(w + 3 * window, w + 2 * window, window * sizeof(uint16_t));
  }
  EXPECT_EQ(states.read(), states.bytes);
  EXPECT_EQ(windows.read(), windows.bytes);
  EXPECT_EQ(records.read(), records.bytes);
}

TEST(PassGpu, StepsTakeTurnsWithWhatTheyCarry) {
  constexpr size_t kPayload = 48, kResults = 32;
  const auto cache = *Cache::create({});
  const auto pass = *Pass::create({.rows_max = 2, .sequences_max = 1, .state_slots = 1, .sequence_blocks_max = 1},
                                  /*pdl=*/true, {.payload_bytes = kPayload, .result_bytes = kResults});
  pass->cache = cache.get();
  const std::vector<int32_t> tokens = {7, 8}, blocks = {0};
  const SequenceRows sequence{.rows = 2, .block_table = blocks};
  const auto byte = [](uint64_t step, size_t i) { return static_cast<std::byte>(50 * step + i + 1); };
  for (uint64_t step = 0; step < 4; ++step) {
    const std::span<std::byte> area = pass->payload_area();
    ASSERT_EQ(area.size(), kPayload);
    for (size_t i = 0; i < area.size(); ++i) area[i] = byte(step, i);
    ASSERT_TRUE(pass->stage({tokens, {&sequence, 1}}, {}, kPayload, kResults).ok());
    pass->tables = step_tables(pass->step_memory, bounds_of({tokens, {&sequence, 1}}, 0));
    ASSERT_TRUE(pass->begin().ok());
    ASSERT_TRUE(pass->end(payload(pass->step_memory) + 16).ok());
    ASSERT_EQ(cudaStreamSynchronize(pass->stream.get()), cudaSuccess);
    EXPECT_EQ(pass->done(), step + 1);
    for (uint64_t of = step == 0 ? 0 : step - 1; of <= step; ++of) {
      for (size_t i = 0; i < kResults; ++i)
        ASSERT_EQ(pass->results(of)[i], byte(of, 16 + i)) << of << " after " << step;
    }
  }
}

TEST(PassGpu, BoundsOfAStepAreThoseOfItsBatch) {
  const std::vector<int32_t> tokens(40);
  const std::vector<SequenceRows> sequences = {{.rows = 3}, {.rows = 1}, {.rows = 36, .row_class = RowClass::prefill}};
  const StepTables bounds = bounds_of({tokens, sequences}, 5);
  EXPECT_EQ(bounds.rows_max, 40);
  EXPECT_EQ(bounds.sequences_max, 3);
  EXPECT_EQ(bounds.decode_rows_max, 4);
  EXPECT_EQ(bounds.decode_sequences_max, 2);
  EXPECT_EQ(bounds.logit_rows_max, 5);
}

TEST(PassGpu, MemoryOfAttentionGrowsUntilItIsFrozen) {
  const auto pass = *Pass::create({}, /*pdl=*/true);
  std::byte* const first = *pass->attention_memory(1000);
  EXPECT_EQ(*pass->attention_memory(1000), first);
  EXPECT_EQ(*pass->attention_memory(10), first) << "it keeps counters between calls";
  ASSERT_TRUE(pass->attention_memory(5000).ok());
  pass->arena.freeze();
  EXPECT_TRUE(pass->attention_memory(5000).ok());
  const Status status = pass->attention_memory(5001).status();
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_NE(status.message().find("5001 bytes, and 5000"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace tessera::kernels::cuda
