#pragma once

#include <cstdint>

#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/expert_sum.h"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/spelt_math.h"
#include "plan/desc.h"

// The sum over a token's experts by a block, eight columns a thread at a time.
namespace tessera::kernels::cuda {

/// A token's experts, in shared memory.
struct TokenExperts {
  int64_t rows[plan::kExpertsPerTokenMax];       // where they begin, in elements
  float weights[plan::kExpertsPerTokenMax + 1];  // the shared one's behind the others
};

__device__ inline float shared_weight(const ExpertSum& sum, int64_t token) {
  if (sum.shared_gate == nullptr) return 1.0F;
  return spelt::sigmoid(low_bf16(ptx::cvt_bf16x2(0.0F, __ldcg(sum.shared_gate + token * sum.gate_stride))));
}

/// By all threads of a block of more than kExpertsPerTokenMax; who reads `experts` synchronizes first. All of it was
/// written before the products of down, so that it may be read before the PDL wait (step_tables.h).
__device__ inline void load_token_experts(const ExpertSum& sum, int64_t token, int hidden, TokenExperts& experts) {
  const int k = sum.experts_per_token, thread = static_cast<int>(threadIdx.x);
  if (thread < k) {
    experts.rows[thread] = int64_t{__ldcg(sum.slots + token * k + thread)} * hidden;
    experts.weights[thread] = __ldcg(sum.weights + token * k + thread);
  } else if (thread == k && sum.shared_rows != nullptr) {
    experts.weights[k] = shared_weight(sum, token);
  }
}

/// sums += weight * eight BF16 values.
__device__ inline void add_row(const uint4& values, float weight, float (&sums)[8]) {
  const uint32_t pairs[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sums[2 * i] = __fmaf_rn(weight, low_bf16(pairs[i]), sums[2 * i]);
    sums[2 * i + 1] = __fmaf_rn(weight, high_bf16(pairs[i]), sums[2 * i + 1]);
  }
}

/// Eight columns of the token's delta, from `column` on. shared_row: those of the shared expert's row, if there is one.
__device__ inline uint4 sum_columns(const ExpertSum& sum, const TokenExperts& experts, const uint4& shared_row,
                                    int column) {
  constexpr int kAtOnce = 10;  // rows under way: those of published models at once
  const int k = sum.experts_per_token;
  float sums[8] = {};
#pragma unroll 1
  for (int first = 0; first < k; first += kAtOnce) {
    uint4 values[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i < k) values[i] = *reinterpret_cast<const uint4*>(sum.rows + experts.rows[first + i] + column);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i < k) add_row(values[i], experts.weights[first + i], sums);
    }
  }
  if (sum.shared_rows != nullptr) add_row(shared_row, experts.weights[k], sums);
  return {ptx::cvt_bf16x2(sums[1], sums[0]), ptx::cvt_bf16x2(sums[3], sums[2]), ptx::cvt_bf16x2(sums[5], sums[4]),
          ptx::cvt_bf16x2(sums[7], sums[6])};
}

}  // namespace tessera::kernels::cuda
