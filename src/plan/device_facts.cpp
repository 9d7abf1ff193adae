#include "plan/device_facts.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/status.h"
#include "plan/budget.h"
#include "plan/registers.h"

namespace tessera::plan {
namespace {

constexpr int64_t kGb = 1'000'000'000;
constexpr int64_t kMiB = 1 << 20;
constexpr int64_t k99Kb = 101'376, k100Kb = 102'400, k227Kb = 232'448, k228Kb = 233'472;

// SMs, L2, memory, bandwidth and FP4 rates: the makers' sheets (dense: half of what is printed "with sparsity").
// The L2 of RTX PRO 5000 is on none; it is what reviews give, and only shown.
// Clocks of compute capability 12.x follow from the FP4 rate: SMs x 2048 FMA x 2 x clock. BF16 with fp32 accumulation
// is a quarter of FP4 on RTX PRO and, by the same ratio, assumed on DGX Spark; GeForce halves it. H200: read rate and
// BF16 rate through mma.sync as measured, not the sheet's 4,800 and 989, which needs wgmma. B200: mma.sync assumed to
// do per SM what it does on H200; it has no block-scaled mma.sync (FP4 is tcgen05 there).
const std::array<DeviceFacts, 6> kDevices = {{
    {"rtx-pro-6000", "RTX PRO 6000", 12, 0, 188, k99Kb, k100Kb, 1536, 128 * kMiB, 96 * kGb, 1792, 2.60, 500, 2000},
    {"rtx-pro-5000", "RTX PRO 5000", 12, 0, 110, k99Kb, k100Kb, 1536, 96 * kMiB, 72 * kGb, 1344, 2.62, 295, 1180},
    {"rtx-5090", "RTX 5090", 12, 0, 170, k99Kb, k100Kb, 1536, 96 * kMiB, 32 * kGb, 1792, 2.41, 209.5, 1676},
    {"dgx-spark", "DGX Spark", 12, 1, 48, k99Kb, k100Kb, 1536, 24 * kMiB, 128 * kGb, 273, 2.54, 125, 500},
    {"h200", "H200", 9, 0, 132, k227Kb, k228Kb, 2048, 60 * kMiB, 141 * kGb, 4550, 1.98, 620, 0},
    {"b200", "B200", 10, 0, 148, k227Kb, k228Kb, 2048, 126 * kMiB, 180 * kGb, 8000, 1.97, 695, 0},
}};

/// The known GPU whose unknown numbers a live one most likely shares.
const DeviceFacts& nearest(const LiveDevice& live) {
  // The longest name first found in the driver's ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition").
  for (const DeviceFacts& known : kDevices) {
    if (live.name.find(known.name) != std::string::npos) return known;
  }
  const auto distance = [&](const DeviceFacts& known) {
    return std::abs((known.compute_major - live.compute_major) * 100 + known.compute_minor - live.compute_minor);
  };
  return *std::min_element(kDevices.begin(), kDevices.end(),
                           [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
}

}  // namespace

std::span<const DeviceFacts> known_devices() { return kDevices; }

Expected<DeviceFacts> find_device(std::string_view key) {
  std::string keys;
  for (const DeviceFacts& device : kDevices) {
    if (device.key == key) return device;
    keys += (keys.empty() ? "" : ", ") + device.key;
  }
  return error(StatusCode::not_found, "no GPU \"{}\" is known; known are {}", key, keys);
}

DeviceFacts live_facts(const LiveDevice& live) {
  DeviceFacts facts = nearest(live);
  const double scale = static_cast<double>(live.sm_count) / facts.sm_count;
  facts.key = "live";
  facts.name = live.name;
  facts.bf16_tflops *= scale;
  // The instruction belongs to compute capability 12.x alone.
  facts.fp4_tflops = live.compute_major == 12 ? facts.fp4_tflops * scale : 0;
  facts.read_gb_s = live.read_gb_s > 0 ? live.read_gb_s : facts.read_gb_s * scale;
  facts.compute_major = live.compute_major;
  facts.compute_minor = live.compute_minor;
  facts.sm_count = live.sm_count;
  facts.smem_per_block_bytes = live.smem_per_block_bytes;
  facts.smem_per_sm_bytes = live.smem_per_sm_bytes;
  facts.l2_bytes = live.l2_bytes;
  facts.memory_bytes = live.memory_bytes;
  return facts;
}

int resident_blocks(const DeviceFacts& device, int smem_bytes, int threads, int registers_per_thread) {
  const int64_t smem = round_up(smem_bytes, kSmemUnit);
  if (smem > device.smem_per_block_bytes) return 0;
  const int64_t by_smem = device.smem_per_sm_bytes / (smem + kSmemReservedPerBlock);
  const int64_t scheduler_warps =
      kRegistersPerSm / kSchedulersPerSm / (32 * round_up(registers_per_thread, kRegisterUnit));
  const int64_t by_registers = kSchedulersPerSm * scheduler_warps / ((threads + 31) / 32);
  return static_cast<int>(std::min({by_smem, by_registers, int64_t{device.threads_per_sm / threads}}));
}

}  // namespace tessera::plan
