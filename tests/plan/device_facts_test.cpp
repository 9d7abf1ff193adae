#include "plan/device_facts.h"

#include <gmock/gmock.h>

#include <set>

namespace tessera::plan {
namespace {

using ::testing::HasSubstr;

TEST(DeviceFacts, KnownDevices) {
  std::set<std::string> keys;
  for (const DeviceFacts& device : known_devices()) {
    EXPECT_TRUE(keys.insert(device.key).second) << device.key;
    EXPECT_EQ(find_device(device.key)->name, device.name);
    EXPECT_EQ(device.has_fp4_mma(), device.compute_major == 12) << device.name;
    EXPECT_EQ(device.smem_per_block_bytes, device.smem_per_sm_bytes - 1024) << device.name;
    if (device.compute_major == 12) {
      // The sheet's FP4 rate and the clock agree: 2048 FMA a clock and SM.
      EXPECT_NEAR(device.fp4_tflops, device.sm_count * 4096 * device.clock_ghz / 1e3, 0.02 * device.fp4_tflops);
    }
  }
  const auto unknown = find_device("rtx-4090");
  EXPECT_EQ(unknown.status().code(), StatusCode::not_found);
  EXPECT_THAT(unknown.status().message(), HasSubstr("rtx-pro-6000, rtx-pro-5000, rtx-5090, dgx-spark, h200, b200"));
}

TEST(DeviceFacts, LiveGpuBorrowsOnlyWhatTheDriverDoesNotSay) {
  const DeviceFacts max_q = live_facts({.name = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
                                        .compute_major = 12,
                                        .compute_minor = 0,
                                        .sm_count = 94,
                                        .smem_per_block_bytes = 101'376,
                                        .smem_per_sm_bytes = 102'400,
                                        .l2_bytes = 5,
                                        .memory_bytes = 6,
                                        .read_gb_s = 1500});
  EXPECT_EQ(max_q.key, "live");
  EXPECT_EQ(max_q.sm_count, 94);
  EXPECT_EQ(max_q.read_gb_s, 1500);
  EXPECT_EQ(max_q.fp4_tflops, 1000);  // half of the SMs
  EXPECT_EQ(max_q.bf16_tflops, 250);
  EXPECT_EQ(max_q.l2_bytes, 5);
  EXPECT_EQ(max_q.memory_bytes, 6);

  const DeviceFacts ada = live_facts({.name = "NVIDIA L40S",
                                      .compute_major = 8,
                                      .compute_minor = 9,
                                      .sm_count = 142,
                                      .smem_per_block_bytes = 101'376,
                                      .smem_per_sm_bytes = 102'400});
  EXPECT_FALSE(ada.has_fp4_mma());
  EXPECT_EQ(ada.smem_per_block_bytes, 101'376);
  EXPECT_EQ(ada.smem_per_sm_bytes, 102'400);
  const DeviceFacts h200 = *find_device("h200");  // the nearest below 9.0: versions, not their digits, are compared
  EXPECT_EQ(ada.clock_ghz, h200.clock_ghz);
  EXPECT_DOUBLE_EQ(ada.read_gb_s, h200.read_gb_s * 142 / 132);  // nobody measured: as many SMs more read more

  // As near to 12.0 as to 10.0; the instruction belongs to 12.x alone.
  const DeviceFacts between = live_facts({.name = "NVIDIA Thor",
                                          .compute_major = 11,
                                          .compute_minor = 0,
                                          .sm_count = 20,
                                          .smem_per_block_bytes = 232'448,
                                          .smem_per_sm_bytes = 233'472});
  EXPECT_FALSE(between.has_fp4_mma());

  const DeviceFacts laptop = live_facts({.name = "NVIDIA GeForce RTX 5070",
                                         .compute_major = 12,
                                         .sm_count = 48,
                                         .smem_per_block_bytes = 101'376,
                                         .smem_per_sm_bytes = 102'400});
  EXPECT_TRUE(laptop.has_fp4_mma());
}

TEST(DeviceFacts, ResidentBlocks) {
  const DeviceFacts pro = *find_device("rtx-pro-6000"), h200 = *find_device("h200");
  EXPECT_EQ(resident_blocks(pro, 101'376, 288, 128), 1);
  EXPECT_EQ(resident_blocks(pro, 101'377, 288, 128), 0);
  EXPECT_EQ(resident_blocks(pro, 50'176, 160, 128), 2);
  EXPECT_EQ(resident_blocks(pro, 50'177, 160, 128), 1);  // shared memory is handed out in units of 128 bytes
  EXPECT_EQ(resident_blocks(h200, 101'376, 288, 96), 2);
  EXPECT_EQ(resident_blocks(h200, 101'376, 288, 112), 1);  // of 18 warps a scheduler has 5: 5 x 32 x 112 > 16384
  EXPECT_EQ(resident_blocks(h200, 50'176, 160, 96), 4);
  EXPECT_EQ(resident_blocks(h200, 50'176, 160, 97), 3);  // registers are handed out in units of 8
  EXPECT_EQ(resident_blocks(pro, 1024, 800, 32), 1);     // threads: 1536 an SM
}

}  // namespace
}  // namespace tessera::plan
