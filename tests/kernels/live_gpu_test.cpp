#include "kernels/live_gpu.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

namespace tessera::kernels {
namespace {

TEST(LiveGpu, HasWhatTheDriverSaysOfIt) {
  const std::vector<device::GpuFacts> gpus = {{.index = 0, .name = "NVIDIA H200"},
                                              {.index = 1,
                                               .name = "NVIDIA Thor",
                                               .compute_major = 11,
                                               .compute_minor = 3,
                                               .sm_count = 20,
                                               .smem_per_block_bytes_max = 232448,
                                               .smem_per_sm_bytes = 233472,
                                               .l2_bytes = 33554432,
                                               .memory_bytes = 131072000000}};
  EXPECT_EQ(facts_of(gpus, 0)->name, "NVIDIA H200");
  const auto found = facts_of(gpus, 1);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->name, "NVIDIA Thor");
  EXPECT_EQ(found->compute_major, 11);
  EXPECT_EQ(found->compute_minor, 3);
  EXPECT_EQ(found->sm_count, 20);
  EXPECT_EQ(found->smem_per_block_bytes, 232448);
  EXPECT_EQ(found->smem_per_sm_bytes, 233472);
  EXPECT_EQ(found->l2_bytes, 33554432);
  EXPECT_EQ(found->memory_bytes, 131072000000);
}

TEST(LiveGpu, IndicesAreCountedFromZero) {
  const std::vector<device::GpuFacts> two(2), none;
  for (const int index : {-1, 2, 1 << 30}) {
    const Status status = facts_of(two, index).status();
    EXPECT_EQ(status.code(), StatusCode::not_found);
    EXPECT_EQ(status.message(), fmt::format("no GPU {}; this machine has 2, counted from 0", index));
  }
  EXPECT_EQ(facts_of(none, 0).status().code(), StatusCode::not_found);
}

}  // namespace
}  // namespace tessera::kernels
