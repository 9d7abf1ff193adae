#pragma once

#include "kernels/cuda/delta_net.cuh"

// How a block of the decode kernel holds a value head's state: S in registers, everything else in shared memory.
namespace tessera::kernels::cuda::delta {

inline constexpr int kWarps = 8;
inline constexpr int kThreads = kWarps * kWarp;
/// Rows whose q, k, v are made before the recurrence runs over them: one token and eight drafts.
inline constexpr int kPieceRows = kRecordRowsMax;
/// Values of a row that a lane has, whatever the size of the head: those beyond it are none.
inline constexpr int kLaneValues = 4;
/// The parts of a row, each made by other warps: 0 q, 1 k, 2 v, 3 silu(z).
inline constexpr int kParts = 4, kWarpsPerPart = kWarps / kParts;

/// How the threads share S.
template <int kKey, int kValue>
struct Tiling {
  static constexpr int kLanes = kValue / 4;          // of a row
  static constexpr int kGroups = kThreads / kLanes;  // of rows, each in other threads
  static constexpr int kRows = kKey / kGroups;       // of a group, consecutive
  static_assert(kRows * kGroups == kKey);
};

template <int kKey, int kValue>
struct alignas(16) Shared {
  static constexpr int kGroups = Tiling<kKey, kValue>::kGroups;
  float q[kPieceRows][kKey];  // to unit norm, times key_dim^-0.5
  float k[kPieceRows][kKey];
  float v[kPieceRows][kValue];
  float silu_z[kPieceRows][kValue];
  float o[kPieceRows][kValue];
  // Sums of the groups of rows, of every other row of the step: S^T k, S^T q, k q.
  float recalled[2][kGroups][kValue], read[2][kGroups][kValue], alike[2][kGroups];
  float decay[kPieceRows], beta[kPieceRows];
  float a_log, dt_bias;  // in registers they would be spilled beside S
  std::byte* records;    // where the rows are kept; null: nowhere
  int slot;
  float4 taps[kParts - 1][kLaneValues][kWarp];  // oldest first, zeros before the first
  float norm_weight[kValue];
};

__device__ inline float4 fma4(float a, float4 b, float4 c) {
  return {__fmaf_rn(a, b.x, c.x), __fmaf_rn(a, b.y, c.y), __fmaf_rn(a, b.z, c.z), __fmaf_rn(a, b.w, c.w)};
}
__device__ inline float4 mul4(float a, float4 b) {
  return {__fmul_rn(a, b.x), __fmul_rn(a, b.y), __fmul_rn(a, b.z), __fmul_rn(a, b.w)};
}
__device__ inline float4 add4(float4 a, float4 b) {
  return {__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y), __fadd_rn(a.z, b.z), __fadd_rn(a.w, b.w)};
}

/// A thread's part of S: four columns from `column` on, of kRows rows.
template <int kKey, int kValue>
struct State {
  using Threads = Tiling<kKey, kValue>;
  float4 s[Threads::kRows];

  static __device__ int group() { return static_cast<int>(threadIdx.x) / Threads::kLanes; }
  static __device__ int row(int i) { return group() * Threads::kRows + i; }
  static __device__ int column() { return static_cast<int>(threadIdx.x) % Threads::kLanes * 4; }

  __device__ void load(const DeltaNetShape& shape, const float* kept);
  __device__ void store(const DeltaNetShape& shape, float* kept) const;
  /// One row of the piece, o but for its norm to shared memory, by the lanes that norm it. keep(u): by the same.
  template <typename Keep>
  __device__ void advance(int at, Shared<kKey, kValue>& shared, const Keep& keep);
  /// S <- decay S + k u^T.
  __device__ void update(const float* k, float decay, float4 u);
};

/// kept: [key_dim, value_dim]; a head of full size has constant addresses within it.
template <int kKey, int kValue>
__device__ void State<kKey, kValue>::load(const DeltaNetShape& shape, const float* kept) {
  if (shape.key_dim == kKey && shape.value_dim == kValue) {
    const float* from = kept + row(0) * kValue + column();
#pragma unroll
    for (int i = 0; i < Threads::kRows; ++i) s[i] = __ldcg(reinterpret_cast<const float4*>(from + i * kValue));
    return;
  }
#pragma unroll
  for (int i = 0; i < Threads::kRows; ++i) {
    s[i] = float4{0, 0, 0, 0};
    if (row(i) >= shape.key_dim || column() >= shape.value_dim) continue;
    s[i] = __ldcg(reinterpret_cast<const float4*>(kept + row(i) * shape.value_dim + column()));
  }
}

template <int kKey, int kValue>
__device__ void State<kKey, kValue>::store(const DeltaNetShape& shape, float* kept) const {
  if (shape.key_dim == kKey && shape.value_dim == kValue) {
    float* to = kept + row(0) * kValue + column();
#pragma unroll
    for (int i = 0; i < Threads::kRows; ++i) *reinterpret_cast<float4*>(to + i * kValue) = s[i];
    return;
  }
#pragma unroll
  for (int i = 0; i < Threads::kRows; ++i) {
    if (row(i) >= shape.key_dim || column() >= shape.value_dim) continue;
    *reinterpret_cast<float4*>(kept + row(i) * shape.value_dim + column()) = s[i];
  }
}

/// The thread's rows of q or k.
template <int n>
__device__ void load_run(const float* from, float (&run)[n]) {
  if constexpr (n % 4 == 0) {
#pragma unroll
    for (int i = 0; i < n; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + i);
      run[i] = four.x;
      run[i + 1] = four.y;
      run[i + 2] = four.z;
      run[i + 3] = four.w;
    }
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) run[i] = from[i];
  }
}

template <int kGroups, int kValue>
__device__ float4 sum_of_groups(const float (&sums)[kGroups][kValue], int column) {
  float4 sum{0, 0, 0, 0};
#pragma unroll
  for (int group = 0; group < kGroups; ++group) sum = add4(sum, *reinterpret_cast<const float4*>(sums[group] + column));
  return sum;
}

template <int kKey, int kValue>
__device__ void State<kKey, kValue>::update(const float* k, float decay, float4 u) {
  float key[Threads::kRows];
  load_run(k + row(0), key);
#pragma unroll
  for (int i = 0; i < Threads::kRows; ++i) s[i] = fma4(key[i], u, mul4(decay, s[i]));
}

template <int kKey, int kValue>
template <typename Keep>
__device__ void State<kKey, kValue>::advance(int at, Shared<kKey, kValue>& shared, const Keep& keep) {
  const int side = at % 2;
  {
    float key[Threads::kRows], query[Threads::kRows];
    load_run(shared.k[at] + row(0), key);
    load_run(shared.q[at] + row(0), query);
    float4 recalled{0, 0, 0, 0}, read{0, 0, 0, 0};
    float alike = 0;
#pragma unroll
    for (int i = 0; i < Threads::kRows; ++i) {
      recalled = fma4(key[i], s[i], recalled);
      read = fma4(query[i], s[i], read);
      alike = __fmaf_rn(key[i], query[i], alike);
    }
    *reinterpret_cast<float4*>(shared.recalled[side][group()] + column()) = recalled;
    *reinterpret_cast<float4*>(shared.read[side][group()] + column()) = read;
    if (column() == 0) shared.alike[side][group()] = alike;
  }
  __syncthreads();
  const float decay = shared.decay[at], beta = shared.beta[at];
  const float4 v = *reinterpret_cast<const float4*>(shared.v[at] + column());
  const float4 recalled = mul4(decay, sum_of_groups(shared.recalled[side], column()));
  const float4 u{__fmul_rn(beta, __fsub_rn(v.x, recalled.x)), __fmul_rn(beta, __fsub_rn(v.y, recalled.y)),
                 __fmul_rn(beta, __fsub_rn(v.z, recalled.z)), __fmul_rn(beta, __fsub_rn(v.w, recalled.w))};
  if (warp() == at % kWarps && lane() < Threads::kLanes) {
    float alike = 0;
#pragma unroll
    for (int group = 0; group < Threads::kGroups; ++group) alike = __fadd_rn(alike, shared.alike[side][group]);
    const float4 o = fma4(alike, u, mul4(decay, sum_of_groups(shared.read[side], column())));
    *reinterpret_cast<float4*>(shared.o[at] + column()) = o;
    keep(u);
  }
  update(shared.k[at], decay, u);
}

}  // namespace tessera::kernels::cuda::delta
