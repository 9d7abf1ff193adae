#pragma once

#include <cstdint>

#include "device/cuda.h"
#include "tessera/status.h"

// What the experts of a layer leave: a row for each (token, expert), which are still to be weighed and summed. A launch
// of its own makes rows of it, or the norm that comes next takes it as its delta (NormInput::experts); both give the
// same bits.
namespace tessera::kernels::cuda {

/// delta = bf16(sum of weight * row over a token's experts, ascending, the shared one last), in fp32 by serial fma. All
/// pointers are device memory, rows 16-byte aligned.
struct ExpertSum {
  const uint16_t* rows = nullptr;         // [slots, hidden] BF16; null: there is no sum
  const int32_t* slots = nullptr;         // [tokens, experts_per_token]
  const float* weights = nullptr;         // [tokens, experts_per_token]
  const uint16_t* shared_rows = nullptr;  // [tokens, hidden] BF16; null: no shared expert
  const float* shared_gate = nullptr;     // [tokens], before the sigmoid; null: weight 1
  int64_t gate_stride = 0;                // floats from token to token
  int32_t experts_per_token = 0;          // at most plan::kExpertsPerTokenMax
};

struct SumExpertsArgs {
  ExpertSum experts;
  const int32_t* live_tokens = nullptr;  // the first so many count; null: all
  uint16_t* delta = nullptr;             // out: [tokens, hidden] BF16; rows of tokens that do not count are not written
  int32_t tokens = 0;
  int32_t hidden = 0;  // a multiple of 8
};

/// The sum as rows. It reads experts.rows alone of what the kernel before it writes.
Status sum_experts(const SumExpertsArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
