// A warm engine allocates nothing: each operation is run twice and the second run counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "kernels/context.h"
#include "kernels/gated_attention.h"
#include "kernels/gated_delta_net.h"
#include "kernels/moe.h"
#include "matrix_fixture.h"

namespace {
std::atomic<int64_t> allocations{0};

void* allocate(size_t bytes, size_t alignment) {
  ++allocations;
  if (void* p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)) return p;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(size_t bytes) { return allocate(bytes, 16); }
void* operator new[](size_t bytes) { return allocate(bytes, 16); }
void* operator new(size_t bytes, std::align_val_t a) { return allocate(bytes, static_cast<size_t>(a)); }
void* operator new[](size_t bytes, std::align_val_t a) { return allocate(bytes, static_cast<size_t>(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace tessera::kernels {
namespace {

template <typename Body>
void expect_warm(const Body& body) {
  body();
  const int64_t before = allocations.load();
  body();
  EXPECT_EQ(allocations.load() - before, 0);
}

TEST(Allocation, AWorkspaceTakesBackWhatItHasGiven) {
  Workspace workspace;
  constexpr size_t kMiB = size_t{1} << 20;
  std::vector<std::byte*> before, now;
  now.reserve(5);
  before.reserve(5);
  const auto take = [&](Workspace::Frame& frame, size_t bytes) {
    now.push_back(frame.take<std::byte>(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(now.back()) % 64, 0U);
    std::memset(now.back(), static_cast<int>(now.size()), bytes);
  };
  const auto body = [&] {
    before.swap(now);
    now.clear();
    Workspace::Frame outer(workspace);
    take(outer, 100);
    {
      Workspace::Frame inner(workspace);
      for (const size_t bytes : {kMiB - 128, kMiB, 3 * kMiB}) take(inner, bytes);  // the first one fits to the byte
    }
    take(outer, 1);
    EXPECT_EQ(now[4], now[1]) << "where the inner one began";
    EXPECT_EQ(now[1] - now[0], 128) << "100 bytes to a multiple of 64";
    EXPECT_EQ(now[0][99], std::byte{1}) << "nobody else wrote there";
  };
  expect_warm(body);
  EXPECT_EQ(before, now);
}

TEST(Allocation, NoneInAWarmAttention) {
  TestContext test(3);
  const AttentionShape shape{.heads = 4, .kv_heads = 1, .head_dim = 16, .rotary_dim = 8, .norm_eps = 1e-6F};
  const auto x = random_floats(70 * 4 * 32, 1);
  const std::vector<int32_t> tokens(70), table = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<std::byte> keys(8 * kv_block_bytes(DType::bf16, 1, 16)), values(keys.size());
  std::vector<float> out(70 * 64);
  for (const int32_t first_position : {0, 400}) {
    const std::vector<SequenceRows> rows = {{.rows = 70, .first_position = first_position, .block_table = table}};
    const Batch batch{tokens, rows};
    expect_warm([&] {
      gated_attention(test.context, {.shape = shape,
                                     .batch = &batch,
                                     .query_gate = x.data(),
                                     .key = x.data(),
                                     .value = x.data(),
                                     .q_norm = x.data(),
                                     .k_norm = x.data(),
                                     .inv_freq = x.data(),
                                     .kv = {DType::bf16, keys.data(), values.data()},
                                     .out = out.data()});
    });
  }
}

TEST(Allocation, NoneInAWarmDeltaNet) {
  TestContext test(3);
  const DeltaNetShape shape{.key_heads = 2, .value_heads = 4, .key_dim = 16, .value_dim = 16, .norm_eps = 1e-6F};
  const auto x = random_floats(70 * shape.channels(), 1);
  const std::vector<int32_t> tokens(70);
  std::vector<float> states(static_cast<size_t>(shape.state_floats())), out(70 * 64);
  for (const RowClass row_class : {RowClass::prefill, RowClass::decode}) {
    const std::vector<SequenceRows> rows = {{.rows = 70, .row_class = row_class, .block_table = {}}};
    const Batch batch{tokens, rows};
    expect_warm([&] {
      gated_delta_net(test.context, {.shape = shape,
                                     .batch = &batch,
                                     .qkv = x.data(),
                                     .z = x.data(),
                                     .b = x.data(),
                                     .a = x.data(),
                                     .conv_weight = x.data(),
                                     .a_log = x.data(),
                                     .dt_bias = x.data(),
                                     .norm_weight = x.data(),
                                     .states = states.data(),
                                     .out = out.data()});
    });
  }
}

TEST(Allocation, NoneInAWarmMoe) {
  TestContext test(3);
  const auto weight = [&](int64_t rows, int64_t cols) {
    const RandomMatrix matrix(format::WeightFormat::bf16, rows, cols, 1);
    const auto view = matrix.view();
    return std::move(*pack_weight(test.context, {&view, 1}));
  };
  std::vector<SwigluWeights> experts;
  for (int e = 0; e < 8; ++e) experts.push_back({weight(32, 32), weight(32, 16)});
  const SwigluWeights shared{weight(32, 32), weight(32, 16)};
  const Weight router = weight(8, 32), shared_gate = weight(1, 32);
  const auto x = random_floats(40 * 32, 3);
  std::vector<float> out(x.size());
  expect_warm([&] {
    moe(test.context, {.x = x.data(),
                       .rows = 40,
                       .hidden = 32,
                       .experts_per_token = 3,
                       .router = &router,
                       .experts = experts,
                       .shared = &shared,
                       .shared_gate = &shared_gate,
                       .out = out.data()});
  });
  expect_warm([&] { mlp(test.context, {x.data(), 40, 32, &shared, out.data()}); });
}

}  // namespace
}  // namespace tessera::kernels
