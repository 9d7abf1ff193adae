#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tessera/status.h"

// What the planner knows of a GPU, present or absent.
namespace tessera::plan {

struct DeviceFacts {
  std::string key;   // "rtx-pro-6000", as given to --gpu
  std::string name;  // "RTX PRO 6000"
  int compute_major = 0;
  int compute_minor = 0;
  int sm_count = 0;
  int64_t smem_per_block_bytes = 0;  // with opt-in
  int64_t smem_per_sm_bytes = 0;
  int threads_per_sm = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
  double read_gb_s = 0;    // 10^9 bytes a second
  double clock_ghz = 0;    // boost: floors assume it
  double bf16_tflops = 0;  // mma.sync, dense, fp32 accumulation
  double fp4_tflops = 0;   // block-scaled mma.sync, dense; 0: no such instruction, W4A4 is emulated

  [[nodiscard]] bool has_fp4_mma() const { return fp4_tflops > 0; }
};

/// RTX PRO 6000, RTX PRO 5000, RTX 5090, DGX Spark, H200, B200.
std::span<const DeviceFacts> known_devices();

/// By key; not_found lists the keys.
Expected<DeviceFacts> find_device(std::string_view key);

/// What the driver and a read-rate measurement say of a GPU in this machine, as plain numbers.
struct LiveDevice {
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int sm_count = 0;
  int64_t smem_per_block_bytes = 0;
  int64_t smem_per_sm_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
  double read_gb_s = 0;  // measured; 0: that of the nearest known GPU, by SMs
};

/// Facts of a live GPU, key "live". What the driver does not say (clock, MMA rates, threads of an SM) comes from the
/// known GPU that bears its name, else from the one nearest in compute capability, rates scaled by SMs.
DeviceFacts live_facts(const LiveDevice& live);

/// Blocks of these sizes that one SM holds at once, by shared memory, registers and threads.
int resident_blocks(const DeviceFacts& device, int smem_bytes, int threads, int registers_per_thread);

}  // namespace tessera::plan
