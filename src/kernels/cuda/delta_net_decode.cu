#include "kernels/cuda/delta_net.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "plan/budget.h"

// Decode rows, one launch. A block is a value head of a sequence. It holds S in registers over all rows of the step: a
// warp has 16 columns of S, a lane 4 of them in one of 8 groups of rows, so that S^T k and S^T q are sums of a lane and
// three shuffles, and a row of the recurrence needs no barrier.
namespace tessera::kernels::cuda {
namespace {

using namespace delta;

/// Rows whose q, k, v are made before the recurrence runs over them: one token and eight drafts.
constexpr int kPieceRows = 9;
constexpr int kColumnsPerWarp = 16;

template <int kKey, int kValue>
struct alignas(16) Shared {
  static constexpr int kChannels = 2 * kKey + kValue;  // q | k | v, each padded
  float q[kPieceRows][kKey];                           // to unit norm, times key_dim^-0.5
  float k[kPieceRows][kKey];
  float v[kPieceRows][kValue];
  float silu_z[kPieceRows][kValue];
  float o[kPieceRows][kValue];
  float taps[kChannels][kTapsMax];  // oldest first; zeros before the first
  // As kept: [conv_width - 1, window_width()], before and after the step.
  uint16_t window[(kTapsMax - 1) * kChannels], next_window[(kTapsMax - 1) * kChannels];
  float norm_weight[kValue];
  float decay[kPieceRows], beta[kPieceRows];
};

/// The block's work.
struct Head {
  int head = 0, key_head = 0;
  SequenceEntry sequence;
};

/// x: of part 0 q, 1 k, 2 v of `row` in the sequence: convolution and SiLU, rounded to BF16; zeros beyond the head.
template <int kDim, typename SharedMemory>
__device__ void convolve(const DeltaNetArgs& args, const SharedMemory& shared, const Head& at, int part, int row,
                         int first_tap, float (&x)[kPer<kDim>]) {
  constexpr int n = kPer<kDim>;
  const DeltaNetShape& s = args.shape;
  const int dim = part == 2 ? s.value_dim : s.key_dim, first = lane() * n, c = part * s.key_dim + first;
  const bool exists = first < dim;
  const uint16_t* input = args.qkv + channel_of(s, at.head, at.key_head, c);
  const int kept = s.conv_width - 1;
  Packed<n> packed[kTapsMax]{};
#pragma unroll
  for (int tap = 0; tap < kTapsMax; ++tap) {
    const int from = row - (kTapsMax - 1 - tap);  // row of the step, or, below 0, of earlier ones
    if (!exists || tap < kTapsMax - s.conv_width) continue;
    if (from >= 0) {
      packed[tap] =
          __ldcg(reinterpret_cast<const Packed<n>*>(input + int64_t{at.sequence.first_row + from} * args.qkv_stride));
    } else if (at.sequence.first_position > 0) {
      packed[tap] = *reinterpret_cast<const Packed<n>*>(shared.window + (kept + from) * window_width(s) + c);
    }
  }
#pragma unroll
  for (int i = 0; i < n; ++i) x[i] = 0;
#pragma unroll
  for (int tap = 0; tap < kTapsMax; ++tap) {
    float values[n];
    unpack(packed[tap], values);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      if (exists) x[i] = __fmaf_rn(shared.taps[first_tap + first + i][tap], values[i], x[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < n; ++i) x[i] = round_bf16(spelt::silu(x[i]));
}

template <int kDim>
__device__ void store_row(const float (&x)[kPer<kDim>], float* row) {
#pragma unroll
  for (int i = 0; i < kPer<kDim>; ++i) row[lane() * kPer<kDim> + i] = x[i];
}

/// To unit L2 norm, times scale.
template <int n>
__device__ void normalise(float (&x)[n], float scale) {
  const float factor = inverse_norm(x, 1.0F, 1e-6F);
#pragma unroll
  for (int i = 0; i < n; ++i) x[i] = __fmul_rn(__fmul_rn(x[i], factor), scale);
}

/// One warp's share of the rows [first, first + rows): part 0 q, 1 k, 2 v, 3 silu(z).
template <int kKey, int kValue>
__device__ void prepare(const DeltaNetArgs& args, Shared<kKey, kValue>& shared, const Head& at, int first, int rows) {
  const DeltaNetShape& s = args.shape;
  for (int unit = warp(); unit < 4 * rows; unit += static_cast<int>(blockDim.x) / kWarp) {
    const int row = unit / 4, part = unit % 4;
    if (part < 2) {
      float x[kPer<kKey>];
      convolve<kKey>(args, shared, at, part, first + row, part * kKey, x);
      normalise(x, part == 0 ? __fdiv_rn(1.0F, __fsqrt_rn(static_cast<float>(s.key_dim))) : 1.0F);
      store_row<kKey>(x, part == 0 ? shared.q[row] : shared.k[row]);
    } else if (part == 2) {
      float x[kPer<kValue>];
      convolve<kValue>(args, shared, at, 2, first + row, 2 * kKey, x);
      store_row<kValue>(x, shared.v[row]);
    } else {
      constexpr int n = kPer<kValue>;
      float x[n] = {};
      if (lane() * n < s.value_dim) {
        const uint16_t* z = args.z + int64_t{at.sequence.first_row + first + row} * args.z_stride +
                            int64_t{at.head} * s.value_dim + lane() * n;
        unpack(__ldcg(reinterpret_cast<const Packed<n>*>(z)), x);
      }
#pragma unroll
      for (int i = 0; i < n; ++i) x[i] = spelt::silu(x[i]);
      store_row<kValue>(x, shared.silu_z[row]);
    }
  }
  // By the last threads, whose warps have the fewest parts.
  const int row = static_cast<int>(blockDim.x) - 1 - static_cast<int>(threadIdx.x);
  if (row < rows) {
    const int64_t source = at.sequence.first_row + first + row;
    shared.decay[row] = spelt::exp(log_decay_of(args, source, at.head));
    shared.beta[row] = beta_of(args, source, at.head);
  }
}

/// A lane's part of S: four columns from `column` on, of rows row(j, e).
template <int kKey>
struct State {
  static constexpr int kGroups = 8;  // of rows, each in other lanes
  static constexpr int kRun = 4;     // consecutive rows
  static constexpr int kRuns = kKey / (kGroups * kRun);
  float4 s[kRuns][kRun];

  static __device__ int row(int j, int e) { return (j * kGroups + lane() / 4) * kRun + e; }

  /// S <- decay S; u = beta (v - S^T k); S <- S + k u^T; returns S^T q.
  __device__ float4 advance(const float* q, const float* k, float4 v, float decay, float beta);
};

__device__ float4 fma4(float a, float4 b, float4 c) {
  return {__fmaf_rn(a, b.x, c.x), __fmaf_rn(a, b.y, c.y), __fmaf_rn(a, b.z, c.z), __fmaf_rn(a, b.w, c.w)};
}
__device__ float4 mul4(float a, float4 b) {
  return {__fmul_rn(a, b.x), __fmul_rn(a, b.y), __fmul_rn(a, b.z), __fmul_rn(a, b.w)};
}
/// Over the groups of rows.
__device__ float4 sum_of_groups(float4 x) {
#pragma unroll
  for (int by = 4; by < kWarp; by *= 2) {
    x = {__fadd_rn(x.x, __shfl_xor_sync(kAll, x.x, by)), __fadd_rn(x.y, __shfl_xor_sync(kAll, x.y, by)),
         __fadd_rn(x.z, __shfl_xor_sync(kAll, x.z, by)), __fadd_rn(x.w, __shfl_xor_sync(kAll, x.w, by))};
  }
  return x;
}

/// A run of q or k.
__device__ void load_run(const float* from, float (&run)[4]) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  run[0] = four.x;
  run[1] = four.y;
  run[2] = four.z;
  run[3] = four.w;
}

template <int kKey>
__device__ float4 State<kKey>::advance(const float* q, const float* k, float4 v, float decay, float beta) {
  float4 recalled{0, 0, 0, 0}, o{0, 0, 0, 0};
#pragma unroll
  for (int j = 0; j < kRuns; ++j) {
    float key[kRun];
    load_run(k + row(j, 0), key);
#pragma unroll
    for (int e = 0; e < kRun; ++e) {
      s[j][e] = mul4(decay, s[j][e]);
      recalled = fma4(key[e], s[j][e], recalled);
    }
  }
  recalled = sum_of_groups(recalled);
  const float4 u{__fmul_rn(beta, __fsub_rn(v.x, recalled.x)), __fmul_rn(beta, __fsub_rn(v.y, recalled.y)),
                 __fmul_rn(beta, __fsub_rn(v.z, recalled.z)), __fmul_rn(beta, __fsub_rn(v.w, recalled.w))};
#pragma unroll
  for (int j = 0; j < kRuns; ++j) {
    float key[kRun], query[kRun];
    load_run(k + row(j, 0), key);
    load_run(q + row(j, 0), query);
#pragma unroll
    for (int e = 0; e < kRun; ++e) {
      s[j][e] = fma4(key[e], u, s[j][e]);
      o = fma4(query[e], s[j][e], o);
    }
  }
  return sum_of_groups(o);
}

/// This thread's vectors of 8 of the window that the step leaves, on their way to shared memory.
template <typename SharedMemory>
__device__ void fetch_next_window(const DeltaNetArgs& args, SharedMemory& shared, const Head& at) {
  const DeltaNetShape& s = args.shape;
  const int width = window_width(s), kept = s.conv_width - 1;
  for (int i = static_cast<int>(threadIdx.x) * 8; i < kept * width; i += static_cast<int>(blockDim.x) * 8) {
    const int row = at.sequence.rows - kept + i / width, c = i % width;
    if (row >= 0) {
      const uint16_t* input = args.qkv + int64_t{at.sequence.first_row + row} * args.qkv_stride;
      ptx::cp_async_cg_16(ptx::shared_address(shared.next_window + i), input + channel_of(s, at.head, at.key_head, c));
      continue;
    }
    uint4 earlier{0, 0, 0, 0};
    if (at.sequence.first_position > 0) {
      earlier = *reinterpret_cast<const uint4*>(shared.window + (kept + row) * width + c);
    }
    *reinterpret_cast<uint4*>(shared.next_window + i) = earlier;
  }
  ptx::cp_async_commit_group();
}

/// Grid: x value heads, y sequences.
template <int kKey, int kValue>
__global__ void __launch_bounds__(kValue / kColumnsPerWarp * kWarp, kValue == 128 ? 2 : 1)
    delta_net_decode(const __grid_constant__ DeltaNetArgs args) {
  auto& shared = *reinterpret_cast<Shared<kKey, kValue>*>(ptx::dynamic_shared_memory());
  const DeltaNetShape& s = args.shape;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);

  // ---- before the wait: weights, the state and the window ----
  Head at;
  at.head = static_cast<int>(blockIdx.x);
  at.key_head = key_head_of(s, at.head);
  const int sequences = __ldcg(&args.tables.counts->decode_sequences);
  at.sequence = load_entry(args.tables.sequences + blockIdx.y);
  if (static_cast<int>(blockIdx.y) >= sequences || at.sequence.rows == 0) {
    ptx::griddepcontrol_wait();
    ptx::griddepcontrol_launch_dependents();
    return;
  }
  const bool starts = at.sequence.first_position == 0;
  float* kept_state = state_of(args, at.sequence.slot, at.head);
  const int column = warp() * kColumnsPerWarp + lane() % 4 * 4;
  State<kKey> state;
#pragma unroll
  for (int j = 0; j < State<kKey>::kRuns; ++j) {
#pragma unroll
    for (int e = 0; e < State<kKey>::kRun; ++e) {
      const int row = State<kKey>::row(j, e);
      const bool exists = !starts && row < s.key_dim && column < s.value_dim;
      state.s[j][e] = float4{0, 0, 0, 0};
      if (exists) state.s[j][e] = __ldcg(reinterpret_cast<const float4*>(kept_state + row * s.value_dim + column));
    }
  }
  const int width = window_width(s), vectors = (s.conv_width - 1) * width / 8;
  uint16_t* window = window_of(args, at.sequence.slot, at.head);
  if (!starts) {
    for (int i = thread; i < vectors; i += threads) {
      reinterpret_cast<uint4*>(shared.window)[i] = __ldcg(reinterpret_cast<const uint4*>(window) + i);
    }
  }
  for (int c = thread; c < width; c += threads) {
    const int part = c < s.key_dim ? 0 : c < 2 * s.key_dim ? 1 : 2;
    float* taps = shared.taps[part * kKey + c - part * s.key_dim];
    const float* weight = args.conv_weight + channel_of(s, at.head, at.key_head, c) * s.conv_width;
#pragma unroll
    for (int tap = 0; tap < kTapsMax; ++tap) {
      const int i = tap - (kTapsMax - s.conv_width);
      taps[tap] = i >= 0 ? weight[i] : 0.0F;
    }
  }
  for (int c = thread; c < s.value_dim; c += threads) shared.norm_weight[c] = args.norm_weight[c];
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  __syncthreads();

  // ---- rows, a piece at a time ----
  fetch_next_window(args, shared, at);
  for (int first = 0; first < at.sequence.rows; first += kPieceRows) {
    const int rows = min(kPieceRows, at.sequence.rows - first);
    prepare(args, shared, at, first, rows);
    __syncthreads();
#pragma unroll 1
    for (int row = 0; row < rows; ++row) {
      const float4 v = *reinterpret_cast<const float4*>(shared.v[row] + column);
      const float4 o = state.advance(shared.q[row], shared.k[row], v, shared.decay[row], shared.beta[row]);
      if (lane() < 4) *reinterpret_cast<float4*>(shared.o[row] + column) = o;
    }
    __syncthreads();
    for (int row = warp(); row < rows; row += threads / kWarp) {
      constexpr int n = kPer<kValue>;
      float o[n] = {}, silu_z[n] = {}, norm_weight[n] = {};
      const bool exists = lane() * n < s.value_dim;
#pragma unroll
      for (int i = 0; i < n; ++i) {
        if (!exists) continue;
        o[i] = shared.o[row][lane() * n + i];
        silu_z[i] = shared.silu_z[row][lane() * n + i];
        norm_weight[i] = shared.norm_weight[lane() * n + i];
      }
      gated_norm(o, norm_weight, silu_z, s.value_dim, s.norm_eps);
      const int64_t values = int64_t{s.value_heads} * s.value_dim;
      uint16_t* out = args.out + (at.sequence.first_row + first + row) * values + int64_t{at.head} * s.value_dim;
      if (exists) store_bf16(o, out + lane() * n);
    }
    if (first + kPieceRows < at.sequence.rows) __syncthreads();
  }

  // ---- the state and the window that the step leaves ----
#pragma unroll
  for (int j = 0; j < State<kKey>::kRuns; ++j) {
#pragma unroll
    for (int e = 0; e < State<kKey>::kRun; ++e) {
      const int row = State<kKey>::row(j, e);
      if (row < s.key_dim && column < s.value_dim) {
        *reinterpret_cast<float4*>(kept_state + row * s.value_dim + column) = state.s[j][e];
      }
    }
  }
  ptx::cp_async_wait_group<0>();
  for (int i = thread; i < vectors; i += threads) {
    reinterpret_cast<uint4*>(window)[i] = reinterpret_cast<const uint4*>(shared.next_window)[i];
  }
}

}  // namespace

Status decode_rows(const DeltaNetArgs& args, const device::Queue& queue) {
  const dim3 grid(static_cast<unsigned>(args.shape.value_heads),
                  static_cast<unsigned>(args.tables.decode_sequences_max));
  return with_padded(args.shape, [&](auto key, auto value) {
    constexpr int kKey = decltype(key)::value, kValue = decltype(value)::value;
    static_assert(sizeof(Shared<kKey, kValue>) <= plan::smem_limit(2));
    return device::launch(delta_net_decode<kKey, kValue>, queue, grid, kValue / kColumnsPerWarp * kWarp,
                          sizeof(Shared<kKey, kValue>), args);
  });
}

}  // namespace tessera::kernels::cuda
