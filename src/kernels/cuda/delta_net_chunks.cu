#include "kernels/cuda/delta_net.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/mma_f16.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "plan/budget.h"

// What a chunk of 64 rows needs that does not depend on S, all chunks side by side. Unrolled, the delta rule is
//   u_i = beta_i (v_i - e^{G_i} S^T k_i) - sum over j < i of beta_i (k_i . k_j) e^{G_i - G_j} u_j,
// G the running sum of g. With T the inverse of I + tril(diag(beta) K K^T, -1), which has no decay in it,
//   u_i = sum_j T_ij e^{G_i - G_j} beta_j v_j  -  e^{G_i} S^T (sum_j T_ij beta_j k_j)
// This kernel makes the first sum (u before S is known), the second one's factor w, and mix, what rows give each other
// in o_i = e^{G_i} S^T q_i + sum over j <= i of mix_ij u_j. Elements of T, and rows of w, are at most 1 in size: each
// is a product of factors (I - beta k k^T), which only shrink. So they keep their precision in FP16, whatever the
// decay.
namespace tessera::kernels::cuda {
namespace {

using namespace delta;

constexpr int kWarps = 8;
constexpr int kThreads = kWarps * kWarp;
constexpr int kTiles = kChunk / 16;
constexpr int kStride = kChunk + 4;  // of fp32 rows: 16-byte aligned, and rows fall into different banks

struct Triangle {
  float at[kChunk][kStride];
};

template <int kKey, int kValue>
struct alignas(16) Shared {
  union {
    uint16_t keys[kChunk * kKey];  // tiles, until K K^T is made
    Triangle inverse;              // T
  };
  Triangle products;  // beta_i k_i . k_j below the diagonal; scratch in the tiles above it
  uint16_t keys_transposed[kKey * kChunk];
  uint16_t values_transposed[kValue * kChunk];
  float beta[kChunk], log_decay[kChunk];
};

template <int bytes>
__device__ void copy_async(void* to, const void* from) {
  static_assert(bytes % 16 == 0);
  const uint32_t address = ptx::shared_address(to);
  for (int i = static_cast<int>(threadIdx.x) * 16; i < bytes; i += kThreads * 16) {
    ptx::cp_async_cg_16(address + static_cast<uint32_t>(i), static_cast<const std::byte*>(from) + i);
  }
}

/// beta and G of the chunk's rows, by warp 0, two rows a lane; rows that are none have beta 0 and g 0.
template <typename SharedMemory>
__device__ void make_gates(const DeltaNetArgs& net, int head, int64_t first_row, int rows, SharedMemory& shared) {
  float g[2] = {}, beta[2] = {};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = 2 * lane() + i;
    if (row >= rows) continue;
    g[i] = log_decay_of(net, first_row + row, head);
    beta[i] = beta_of(net, first_row + row, head);
  }
  float sum = __fadd_rn(g[0], g[1]);
#pragma unroll
  for (int by = 1; by < kWarp; by *= 2) {
    const float lower = __shfl_up_sync(kAll, sum, by);
    if (lane() >= by) sum = __fadd_rn(lower, sum);
  }
  const float before = __shfl_up_sync(kAll, sum, 1);
  shared.log_decay[2 * lane()] = lane() == 0 ? g[0] : __fadd_rn(before, g[0]);
  shared.log_decay[2 * lane() + 1] = sum;
  shared.beta[2 * lane()] = beta[0];
  shared.beta[2 * lane() + 1] = beta[1];
}

/// A warp's 16 rows of X K^T, columns [0, 16 (row_tile + 1)); x: X's tiles, keys: K's.
template <int kKey>
__device__ void multiply_by_keys(const uint16_t* x, const uint16_t* keys, int row_tile, float (&sums)[2 * kTiles][4]) {
  constexpr int kSteps = kKey / 16;
#pragma unroll
  for (int i = 0; i < 2 * kTiles; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) sums[i][j] = 0;
  }
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const uint4 left = __ldcg(reinterpret_cast<const uint4*>(x) + (row_tile * kSteps + step) * kWarp + lane());
    const uint32_t a[4] = {left.x, left.y, left.z, left.w};
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      if (tile > row_tile) continue;
      // Operand A of 16 rows of K is operand B of two groups of 8 columns of K^T.
      const uint4 right = reinterpret_cast<const uint4*>(keys)[(tile * kSteps + step) * kWarp + lane()];
      ptx::mma_m16n8k16_f16(sums[2 * tile], a, right.x, right.z);
      ptx::mma_m16n8k16_f16(sums[2 * tile + 1], a, right.y, right.w);
    }
  }
}

/// Where a warp's results lie: element j of column group i, in its 16 rows.
__device__ int result_row(int row_tile, int j) { return 16 * row_tile + lane() / 4 + (j < 2 ? 0 : 8); }
__device__ int result_column(int i, int j) { return 8 * i + lane() % 4 * 2 + j % 2; }

template <typename SharedMemory>
__device__ void keep_products(const float (&sums)[2 * kTiles][4], int row_tile, SharedMemory& shared) {
#pragma unroll
  for (int i = 0; i < 2 * kTiles; ++i) {
    if (i / 2 > row_tile) continue;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = result_row(row_tile, j), column = result_column(i, j);
      shared.products.at[row][column] = __fmul_rn(shared.beta[row], sums[i][j]);
    }
  }
}

/// mix_ij = scale q_i . k_j e^{G_i - G_j} on and below the diagonal, as operand A in FP16.
template <typename SharedMemory>
__device__ void write_mix(const float (&sums)[2 * kTiles][4], int row_tile, float scale, const SharedMemory& shared,
                          uint16_t* mix) {
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile > row_tile) continue;
    float x[2][4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int row = result_row(row_tile, j), column = result_column(2 * tile + half, j);
        const float decay = spelt::exp(__fsub_rn(shared.log_decay[row], shared.log_decay[column]));
        const float mixed = __fmul_rn(__fmul_rn(sums[2 * tile + half][j], scale), decay);
        x[half][j] = column <= row ? mixed : 0.0F;
      }
    }
    reinterpret_cast<uint4*>(mix)[(row_tile * kTiles + tile) * kWarp + lane()] = {
        ptx::cvt_f16x2(x[0][1], x[0][0]), ptx::cvt_f16x2(x[0][3], x[0][2]), ptx::cvt_f16x2(x[1][1], x[1][0]),
        ptx::cvt_f16x2(x[1][3], x[1][2])};
  }
}

/// A tile of 16x16 on the diagonal, by a warp: a lane solves for one column (lanes 16 and up repeat).
__device__ void invert_diagonal(const Triangle& a, int tile, Triangle& inverse) {
  const int first = 16 * tile, column = lane() % 16;
  float x[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = i == column ? 1.0F : 0.0F;
#pragma unroll
  for (int j = 0; j < 15; ++j) {
#pragma unroll
    for (int i = j + 1; i < 16; ++i) x[i] = __fmaf_rn(-a.at[first + i][first + j], x[j], x[i]);
  }
  if (lane() < 16) {
#pragma unroll
    for (int i = 0; i < 16; ++i) inverse.at[first + i][first + column] = x[i];
  }
}

/// Four elements of a product of 16x16 tiles, added to sum: row of a times columns of b.
__device__ void add_product(const float* a_row, const float* b, float4& sum) {
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const float factor = a_row[k];
    const float4 row = *reinterpret_cast<const float4*>(b + k * kStride);
    sum = {__fmaf_rn(factor, row.x, sum.x), __fmaf_rn(factor, row.y, sum.y), __fmaf_rn(factor, row.z, sum.z),
           __fmaf_rn(factor, row.w, sum.w)};
  }
}

/// T = (I + A)^-1, A strictly lower, by tiles: T_ij = -T_ii (sum over j <= k < i of A_ik T_kj). By the whole block; the
/// inner sums stand in A's unused tiles above the diagonal. Needs a barrier before it and has one at its end.
__device__ void invert(Triangle& a, Triangle& inverse) {
  if (warp() < kTiles) invert_diagonal(a, warp(), inverse);
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x), row = thread % 64 / 4, column = thread % 4 * 4;
#pragma unroll
  for (int distance = 1; distance < kTiles; ++distance) {
    const int j = thread / 64, i = j + distance;  // tile row and column
    const bool mine = i < kTiles;
    if (mine) {
      float4 sum{0, 0, 0, 0};
#pragma unroll
      for (int d = 0; d < distance; ++d) {
        const int k = j + d;
        add_product(&a.at[16 * i + row][16 * k], &inverse.at[16 * k][16 * j + column], sum);
      }
      *reinterpret_cast<float4*>(&a.at[16 * j + row][16 * i + column]) = sum;
    }
    __syncthreads();
    if (mine) {
      float4 sum{0, 0, 0, 0};
      add_product(&inverse.at[16 * i + row][16 * i], &a.at[16 * j][16 * i + column], sum);
      *reinterpret_cast<float4*>(&inverse.at[16 * i + row][16 * j + column]) = {-sum.x, -sum.y, -sum.z, -sum.w};
    }
    __syncthreads();
  }
}

/// Operands A of a warp's 16 rows of T and 16 of its columns: times beta_j in FP16, and that times e^{G_i - G_j} in two
/// BF16 parts.
struct Factors {
  uint32_t plain[4], high[4], low[4];
};
template <typename SharedMemory>
__device__ Factors factors_of(const SharedMemory& shared, int row_tile, int step) {
  Factors f;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = 16 * row_tile + lane() / 4 + (i % 2) * 8, column = 16 * step + lane() % 4 * 2 + i / 2 * 8;
    const float2 t = *reinterpret_cast<const float2*>(&shared.inverse.at[row][column]);
    const float x = __fmul_rn(t.x, shared.beta[column]), y = __fmul_rn(t.y, shared.beta[column + 1]);
    // Above the diagonal T is zero, and e^{G_i - G_j} might be infinite.
    const float decay_x = column <= row ? spelt::exp(__fsub_rn(shared.log_decay[row], shared.log_decay[column])) : 0.0F;
    const float decay_y =
        column < row ? spelt::exp(__fsub_rn(shared.log_decay[row], shared.log_decay[column + 1])) : 0.0F;
    const float decayed_x = __fmul_rn(x, decay_x), decayed_y = __fmul_rn(y, decay_y);
    f.plain[i] = ptx::cvt_f16x2(y, x);
    f.high[i] = ptx::cvt_bf16x2(decayed_y, decayed_x);
    f.low[i] = ptx::cvt_bf16x2(__fsub_rn(decayed_y, high_bf16(f.high[i])), __fsub_rn(decayed_x, low_bf16(f.high[i])));
  }
  return f;
}

/// A warp's part of w and u: 16 rows, every second column of tiles.
template <int kKey, int kValue>
__device__ void write_w_and_u(const Shared<kKey, kValue>& shared, int row_tile, int half, uint16_t* w, float* u) {
  constexpr int kKeyTiles = kKey / 16, kValueTiles = kValue / 16;
  constexpr int kMine[2] = {(kKeyTiles + 1) / 2, (kValueTiles + 1) / 2};
  float w_sums[kMine[0]][2][4] = {}, u_sums[kMine[1]][2][4] = {};
  const auto* keys = reinterpret_cast<const uint4*>(shared.keys_transposed);
  const auto* values = reinterpret_cast<const uint4*>(shared.values_transposed);
#pragma unroll 1
  for (int step = 0; step <= row_tile; ++step) {
    const Factors f = factors_of(shared, row_tile, step);
#pragma unroll
    for (int i = 0; i < kMine[0]; ++i) {
      const int tile = 2 * i + half;
      if (tile >= kKeyTiles) continue;
      const uint4 right = keys[(tile * kTiles + step) * kWarp + lane()];
      ptx::mma_m16n8k16_f16(w_sums[i][0], f.plain, right.x, right.z);
      ptx::mma_m16n8k16_f16(w_sums[i][1], f.plain, right.y, right.w);
    }
#pragma unroll
    for (int i = 0; i < kMine[1]; ++i) {
      const int tile = 2 * i + half;
      if (tile >= kValueTiles) continue;
      const uint4 right = values[(tile * kTiles + step) * kWarp + lane()];
      ptx::mma_m16n8k16_bf16(u_sums[i][0], f.low, right.x, right.z);
      ptx::mma_m16n8k16_bf16(u_sums[i][1], f.low, right.y, right.w);
      ptx::mma_m16n8k16_bf16(u_sums[i][0], f.high, right.x, right.z);
      ptx::mma_m16n8k16_bf16(u_sums[i][1], f.high, right.y, right.w);
    }
  }
#pragma unroll
  for (int i = 0; i < kMine[0]; ++i) {
    const int tile = 2 * i + half;
    if (tile >= kKeyTiles) continue;
    const float(&x)[2][4] = w_sums[i];
    reinterpret_cast<uint4*>(w)[(row_tile * kKeyTiles + tile) * kWarp + lane()] = {
        ptx::cvt_f16x2(x[0][1], x[0][0]), ptx::cvt_f16x2(x[0][3], x[0][2]), ptx::cvt_f16x2(x[1][1], x[1][0]),
        ptx::cvt_f16x2(x[1][3], x[1][2])};
  }
#pragma unroll
  for (int i = 0; i < kMine[1]; ++i) {
    const int tile = 2 * i + half;
    if (tile >= kValueTiles) continue;
    auto* to = reinterpret_cast<float4*>(u) + (row_tile * 2 * kValueTiles + 2 * tile) * kWarp + lane();
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      to[j * kWarp] = {u_sums[i][j][0], u_sums[i][j][1], u_sums[i][j][2], u_sums[i][j][3]};
    }
  }
}

/// Grid: x chunks of the segment, y value heads.
template <int kKey, int kValue>
__global__ void __launch_bounds__(kThreads, 2) delta_net_solve(const __grid_constant__ PrefillArgs args) {
  auto& shared = *reinterpret_cast<Shared<kKey, kValue>*>(ptx::dynamic_shared_memory());
  const DeltaNetArgs& net = args.net;
  const DeltaNetShape& s = net.shape;
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int chunk = static_cast<int>(blockIdx.x), head = static_cast<int>(blockIdx.y);
  const ChunkPlace place = find_chunk(net.tables, args.first_chunk + chunk);
  if (place.sequence < 0) return;
  const int64_t of_key = int64_t{chunk} * s.key_heads + key_head_of(s, head);
  const int64_t of_value = int64_t{chunk} * s.value_heads + head;

  // ---- operands under way; gates ----
  const ChunkBuffers& buffers = args.buffers;
  const uint16_t* keys = buffers.k + of_key * kChunk * kKey;
  copy_async<kChunk * kKey * 2>(shared.keys, keys);
  ptx::cp_async_commit_group();
  copy_async<kChunk * kKey * 2>(shared.keys_transposed, buffers.k_transposed + of_key * kChunk * kKey);
  copy_async<kChunk * kValue * 2>(shared.values_transposed, buffers.v_transposed + of_value * kChunk * kValue);
  ptx::cp_async_commit_group();
  if (warp() == 0) {
    const SequenceEntry sequence = load_entry(net.tables.sequences + place.sequence);
    const int first = place.index * kChunk;
    make_gates(net, head, sequence.first_row + first, min(kChunk, sequence.rows - first), shared);
  }
  ptx::cp_async_wait_group<1>();
  __syncthreads();

  // ---- K K^T by the first four warps, Q K^T by the others ----
  const int row_tile = warp() % kTiles, half = warp() / kTiles;
  const uint16_t* rows = half == 0 ? keys : buffers.q + of_key * kChunk * kKey;
  float sums[2 * kTiles][4];
  multiply_by_keys<kKey>(rows, shared.keys, row_tile, sums);
  if (half == 0) {
    keep_products(sums, row_tile, shared);
  } else {
    const float scale = __fdiv_rn(1.0F, __fsqrt_rn(static_cast<float>(s.key_dim)));
    write_mix(sums, row_tile, scale, shared, buffers.mix + of_value * kChunk * kChunk);
  }
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kChunk) buffers.log_decay[of_value * kChunk + thread] = shared.log_decay[thread];
  ptx::cp_async_wait_group<0>();
  __syncthreads();

  // ---- T, over the keys ----
  invert(shared.products, shared.inverse);

  // ---- w = T diag(beta) K, u = (T decayed) diag(beta) V ----
  write_w_and_u(shared, row_tile, half, buffers.w + of_value * kChunk * kKey, buffers.u + of_value * kChunk * kValue);
}

}  // namespace

Status solve_chunks(const PrefillArgs& args, const device::Queue& queue) {
  const dim3 grid(static_cast<unsigned>(args.chunks), static_cast<unsigned>(args.net.shape.value_heads));
  return with_padded(args.net.shape, [&](auto key, auto value) {
    constexpr int kKey = decltype(key)::value, kValue = decltype(value)::value;
    static_assert(sizeof(Shared<kKey, kValue>) <= plan::smem_limit(1));
    return device::launch(delta_net_solve<kKey, kValue>, queue, grid, kThreads, sizeof(Shared<kKey, kValue>), args);
  });
}

}  // namespace tessera::kernels::cuda
