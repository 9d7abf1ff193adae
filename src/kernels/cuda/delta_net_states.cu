#include "kernels/cuda/delta_net.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/ptx/mma_f16.cuh"
#include "kernels/ptx/mma_tf32.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "plan/budget.h"

// The serial part of prefill: S from chunk to chunk. A block has a value head of a sequence and 32 columns of its S.
// For each chunk, with w, u and mix of delta_net_chunks.cu:
//   u  <- u - e^G w S            warps 0 to 3, 16 rows each
//   o  = scale e^G Q S + mix u   warps 4 to 7, 16 rows each
//   S  <- e^{G_last} S + K^T (e^{G_last - G} u)   all warps, 16 keys each
// S stays in registers as fp32 results of the third product; the first two read it, and the last two read u, as TF32
// from shared memory. The operands on the left (w, Q, K^T, mix) are read by one warp each: from global memory straight
// to registers, in the order of the MMA, a product ahead.
namespace tessera::kernels::cuda {
namespace {

using namespace delta;

constexpr int kWarps = 8;
constexpr int kThreads = kWarps * kWarp;
constexpr int kTiles = kChunk / 16;
constexpr int kSlice = 32;  // columns of S
constexpr int kColumnTiles = kSlice / 8;

/// A matrix of kRows x 32 as operand B in TF32, by tiles of 8x8: lane 4 n + q has rows 2q and 2q + 1 of column
/// n. So operand A's k slots q and q + 4 are columns 2q and 2q + 1 of the tile: a pair of FP16 as it is packed.
template <int kRows>
struct OperandB {
  float2 at[kRows / 8][kColumnTiles][kWarp];

  /// The lane's two elements of a result, of row g of 8 and columns 2q and 2q + 1.
  __device__ void store(int row_tile, int column_tile, float x, float y) {
    float* to = reinterpret_cast<float*>(at[row_tile][column_tile]) + lane() % 4 * 16 + lane() / 4;
    to[0] = ptx::cvt_tf32(x);
    to[8] = ptx::cvt_tf32(y);
  }
};

/// The block's work. Registers are short: in the loop it is read from shared memory, and the rest of the sequence's
/// entry from the tables.
struct Slice {
  int sequence = 0;             // of the tables
  int first_row = 0, rows = 0;  // of the sequence
  int head = 0, key_head = 0;
  int column = 0;           // of the head's values, the slice's first
  int begin = 0, end = 0;   // chunks of the sequence in this segment
  int in_segment = 0;       // place of chunk 0 in the segment; may be negative
  int snapshot_chunk = -1;  // after which a snapshot is taken
};

/// Of a chunk's rows: e^G, and e^{G_last - G}.
struct Decays {
  float from_start[kChunk], to_end[kChunk];
};

template <int kKey>
struct alignas(16) Shared {
  OperandB<kKey> s;
  OperandB<kChunk> u, decayed_u;
  Decays decays[2];  // of even and of odd chunks
  Slice at;
};

/// sums += A B, where a holds kSteps tiles of 16x16 in FP16 and B has 16 kSteps rows; steps beyond `steps` are left
/// out.
template <int kSteps, int kRows>
__device__ void multiply(const uint4 (&a)[kSteps], const OperandB<kRows>& b, int steps,
                         float (&sums)[kColumnTiles][4]) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    if (step >= steps) continue;
    const float first[4] = {ptx::low_f16(a[step].x), ptx::low_f16(a[step].y), ptx::high_f16(a[step].x),
                            ptx::high_f16(a[step].y)};
    const float second[4] = {ptx::low_f16(a[step].z), ptx::low_f16(a[step].w), ptx::high_f16(a[step].z),
                             ptx::high_f16(a[step].w)};
#pragma unroll
    for (int i = 0; i < kColumnTiles; ++i) {
      const float2 top = b.at[2 * step][i][lane()], bottom = b.at[2 * step + 1][i][lane()];
      ptx::mma_m16n8k8_tf32(sums[i], first, top.x, top.y);
      ptx::mma_m16n8k8_tf32(sums[i], second, bottom.x, bottom.y);
    }
  }
}

/// Tiles of a segment are few enough for 32 bits.
__device__ uint4 load_tile(const void* tiles, int tile) {
  return __ldcg(reinterpret_cast<const uint4*>(tiles) + tile * kWarp + lane());
}

/// What a warp reads of a chunk, on its way a product ahead.
template <int kKey, int kValue>
struct Operands {
  static_assert(kColumnTiles == kTiles);
  uint4 left[kKey / 16];  // w, or Q
  uint4 rest[kTiles];     // u as fp32 results, or mix
  uint4 keys[kTiles];     // K^T

  __device__ void load_left(const PrefillArgs& args, const Slice& at, int chunk) {
    constexpr int kAcross = kKey / 16;
    const DeltaNetShape& s = args.net.shape;
    const bool is_w = warp() < kTiles;
    const int place = at.in_segment + chunk;
    const int matrix = is_w ? place * s.value_heads + at.head : place * s.key_heads + at.key_head;
    const int first = matrix * kTiles * kAcross + warp() % kTiles * kAcross;
#pragma unroll
    for (int i = 0; i < kAcross; ++i) left[i] = load_tile(is_w ? args.buffers.w : args.buffers.q, first + i);
  }
  __device__ void load_rest(const PrefillArgs& args, const Slice& at, int chunk) {
    const int row_tile = warp() % kTiles;
    const int matrix = (at.in_segment + chunk) * args.net.shape.value_heads + at.head;
    if (warp() < kTiles) {
      const int first = (matrix * kTiles + row_tile) * (kValue / 8) + at.column / 8;
#pragma unroll
      for (int i = 0; i < kColumnTiles; ++i) rest[i] = load_tile(args.buffers.u, first + i);
    } else {
      const int first = (matrix * kTiles + row_tile) * kTiles;
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        if (i <= row_tile) rest[i] = load_tile(args.buffers.mix, first + i);
      }
    }
  }
  __device__ void load_keys(const PrefillArgs& args, const Slice& at, int chunk) {
    if (warp() >= kKey / 16) return;
    const int matrix = (at.in_segment + chunk) * args.net.shape.key_heads + at.key_head;
    const int first = (matrix * (kKey / 16) + warp()) * kTiles;
#pragma unroll
    for (int i = 0; i < kTiles; ++i) keys[i] = load_tile(args.buffers.k_transposed, first + i);
  }
};

/// G of the thread's row of a chunk and of its last row, for the first 64 threads.
struct LogDecays {
  float mine = 0, last = 0;

  __device__ void load(const PrefillArgs& args, const Slice& at, int chunk) {
    if (static_cast<int>(threadIdx.x) >= kChunk) return;
    const int first = ((at.in_segment + chunk) * args.net.shape.value_heads + at.head) * kChunk;
    mine = __ldcg(args.buffers.log_decay + first + static_cast<int>(threadIdx.x));
    last = __ldcg(args.buffers.log_decay + first + kChunk - 1);
  }
  __device__ void publish(Decays& to) const {
    if (static_cast<int>(threadIdx.x) >= kChunk) return;
    to.from_start[threadIdx.x] = spelt::exp(mine);
    to.to_end[threadIdx.x] = spelt::exp(__fsub_rn(last, mine));
  }
};

/// A warp's 16 keys of the slice of S, as results of the MMA.
template <int kKey>
struct State {
  float s[kColumnTiles][4];

  /// each(row, column, x, y): the two values side by side, of those that exist.
  template <typename Each>
  __device__ void for_each(const DeltaNetShape& shape, int first_column, const Each& each) {
    if (warp() >= kKey / 16) return;
#pragma unroll
    for (int i = 0; i < kColumnTiles; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = 16 * warp() + lane() / 4 + 8 * half, column = first_column + 8 * i + lane() % 4 * 2;
        if (row < shape.key_dim && column < shape.value_dim) each(row, column, s[i][2 * half], s[i][2 * half + 1]);
      }
    }
  }
  __device__ void load(const DeltaNetArgs& net, const Slice& at, const SequenceEntry& sequence) {
#pragma unroll
    for (auto& tile : s) {
#pragma unroll
      for (float& x : tile) x = 0;
    }
    if (at.begin == 0 && sequence.first_position == 0) return;
    const float* from = state_of(net, sequence.slot, at.head);
    for_each(net.shape, at.column, [&](int row, int column, float& x, float& y) {
      const float2 pair = __ldcg(reinterpret_cast<const float2*>(from + row * net.shape.value_dim + column));
      x = pair.x;
      y = pair.y;
    });
  }
  __device__ void store(const DeltaNetArgs& net, const Slice& at, int slot) {
    float* to = state_of(net, slot, at.head);
    for_each(net.shape, at.column, [&](int row, int column, float x, float y) {
      *reinterpret_cast<float2*>(to + row * net.shape.value_dim + column) = {x, y};
    });
  }
  __device__ void publish(OperandB<kKey>& to) const {
    if (warp() >= kKey / 16) return;
#pragma unroll
    for (int i = 0; i < kColumnTiles; ++i) {
      to.store(2 * warp(), i, s[i][0], s[i][1]);
      to.store(2 * warp() + 1, i, s[i][2], s[i][3]);
    }
  }
};

/// The inputs before row `rows` of this step, to a slot's window of the head: by the block of the head's first slice.
__device__ void write_window(const DeltaNetArgs& net, const Slice& at, const SequenceEntry& sequence, int rows,
                             int slot) {
  const DeltaNetShape& s = net.shape;
  const int width = window_width(s), kept = s.conv_width - 1;
  const uint16_t* before = window_of(net, sequence.slot, at.head);
  uint16_t* window = window_of(net, slot, at.head);
  for (int c = static_cast<int>(threadIdx.x) * 8; c < width; c += kThreads * 8) {
    for (int i = 0; i < kept; ++i) {  // ascending: what is overwritten is never needed again
      const int row = rows - kept + i;
      uint4 values{0, 0, 0, 0};
      if (row >= 0) {
        const uint16_t* input = net.qkv + int64_t{sequence.first_row + row} * net.qkv_stride;
        values = __ldcg(reinterpret_cast<const uint4*>(input + channel_of(s, at.head, at.key_head, c)));
      } else if (sequence.first_position > 0) {
        values = __ldcg(reinterpret_cast<const uint4*>(before + (kept + row) * width + c));
      }
      *reinterpret_cast<uint4*>(window + i * width + c) = values;
    }
  }
}

/// o of a warp's 16 rows, in BF16, before its norm.
__device__ void write_outputs(const DeltaNetArgs& net, const Slice& at, int chunk, const float (&o)[kColumnTiles][4]) {
  const DeltaNetShape& s = net.shape;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = chunk * kChunk + 16 * (warp() % kTiles) + lane() / 4 + 8 * half;
    if (row >= at.rows) continue;
    uint16_t* out = net.out + (int64_t{at.first_row + row} * s.value_heads + at.head) * s.value_dim;
#pragma unroll
    for (int i = 0; i < kColumnTiles; ++i) {
      const int column = at.column + 8 * i + lane() % 4 * 2;
      if (column >= s.value_dim) continue;
      *reinterpret_cast<uint32_t*>(out + column) = ptx::cvt_bf16x2(o[i][2 * half + 1], o[i][2 * half]);
    }
  }
}

template <int kKey, int kValue>
__device__ void advance(const PrefillArgs& args, int chunk, float scale, Operands<kKey, kValue>& operands,
                        State<kKey>& state, Shared<kKey>& shared) {
  const Slice& at = shared.at;
  const int row_tile = warp() % kTiles;
  const bool another = chunk + 1 < at.end;
  const Decays& decays = shared.decays[chunk % 2];
  LogDecays next_decays;
  if (another) next_decays.load(args, at, chunk + 1);

  // ---- w S, Q S ----
  float sums[kColumnTiles][4] = {};
  multiply(operands.left, shared.s, kKey / 16, sums);
  if (another) operands.load_left(args, at, chunk + 1);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = 16 * row_tile + lane() / 4 + 8 * half;
    const float from_start = decays.from_start[row];
    if (warp() < kTiles) {
      const float to_end = decays.to_end[row];
#pragma unroll
      for (int i = 0; i < kColumnTiles; ++i) {
        const uint4& before = operands.rest[i];
        const float x = __fmaf_rn(-from_start, sums[i][2 * half], __uint_as_float(half == 0 ? before.x : before.z));
        const float y = __fmaf_rn(-from_start, sums[i][2 * half + 1], __uint_as_float(half == 0 ? before.y : before.w));
        shared.u.store(2 * row_tile + half, i, x, y);
        shared.decayed_u.store(2 * row_tile + half, i, __fmul_rn(to_end, x), __fmul_rn(to_end, y));
      }
    } else {
      const float factor = __fmul_rn(scale, from_start);
#pragma unroll
      for (int i = 0; i < kColumnTiles; ++i) {
        sums[i][2 * half] = __fmul_rn(factor, sums[i][2 * half]);
        sums[i][2 * half + 1] = __fmul_rn(factor, sums[i][2 * half + 1]);
      }
    }
  }
  __syncthreads();

  // ---- S, and in the other warps' rows mix u ----
  if (another) next_decays.publish(shared.decays[(chunk + 1) % 2]);
  if (warp() >= kTiles) {
    uint4 mix[kTiles];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) mix[i] = operands.rest[i];
    multiply(mix, shared.u, row_tile + 1, sums);
    write_outputs(args.net, at, chunk, sums);
  }
  if (another) operands.load_rest(args, at, chunk + 1);
  if (warp() < kKey / 16) {
    const float whole = decays.from_start[kChunk - 1];
#pragma unroll
    for (int i = 0; i < kColumnTiles; ++i) {
#pragma unroll
      for (float& x : state.s[i]) x = __fmul_rn(whole, x);
    }
    multiply(operands.keys, shared.decayed_u, kTiles, state.s);
    if (another) operands.load_keys(args, at, chunk + 1);
  }
  if (another) state.publish(shared.s);
  __syncthreads();
}

/// Grid: x slices of value heads, y prefill sequences.
template <int kKey, int kValue>
__global__ void __launch_bounds__(kThreads, 2) delta_net_advance(const __grid_constant__ PrefillArgs args) {
  auto& shared = *reinterpret_cast<Shared<kKey>*>(ptx::dynamic_shared_memory());
  constexpr int kSlices = kValue / kSlice;
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const DeltaNetArgs& net = args.net;
  const int sequence = net.tables.counts->decode_sequences + static_cast<int>(blockIdx.y);
  if (sequence >= net.tables.counts->sequences) return;

  // ---- the sequence's chunks in this segment ----
  Slice at;
  at.sequence = sequence;
  const SequenceEntry before = load_entry(net.tables.sequences + sequence);
  at.first_row = before.first_row;
  at.rows = before.rows;
  at.head = static_cast<int>(blockIdx.x) / kSlices;
  at.key_head = key_head_of(net.shape, at.head);
  at.column = static_cast<int>(blockIdx.x) % kSlices * kSlice;
  at.in_segment = chunks_before(net.tables, sequence) - args.first_chunk;
  at.begin = max(0, -at.in_segment);
  at.end = min(chunks_of(before.rows), args.chunks - at.in_segment);
  if (before.snapshot_slot >= 0) at.snapshot_chunk = (before.snapshot_position - before.first_position) / kChunk - 1;
  if (at.begin >= at.end || at.column >= net.shape.value_dim) return;

  // ---- chunk after chunk ----
  State<kKey> state;
  Operands<kKey, kValue> operands;
  operands.load_left(args, at, at.begin);
  operands.load_rest(args, at, at.begin);
  operands.load_keys(args, at, at.begin);
  LogDecays decays;
  decays.load(args, at, at.begin);
  state.load(net, at, before);
  decays.publish(shared.decays[at.begin % 2]);
  state.publish(shared.s);
  if (threadIdx.x == 0) shared.at = at;
  __syncthreads();
  const float scale = __fdiv_rn(1.0F, __fsqrt_rn(static_cast<float>(net.shape.key_dim)));
#pragma unroll 1
  for (int chunk = at.begin; chunk < shared.at.end; ++chunk) {
    advance(args, chunk, scale, operands, state, shared);
    if (chunk == shared.at.snapshot_chunk) {
      const SequenceEntry now = load_entry(net.tables.sequences + shared.at.sequence);
      state.store(net, shared.at, now.snapshot_slot);
      if (shared.at.column == 0) write_window(net, shared.at, now, (chunk + 1) * kChunk, now.snapshot_slot);
    }
  }

  // ---- what the segment leaves ----
  const Slice& done = shared.at;
  const SequenceEntry now = load_entry(net.tables.sequences + done.sequence);
  state.store(net, done, now.slot);
  if (done.end == chunks_of(done.rows) && done.column == 0) write_window(net, done, now, done.rows, now.slot);
}

}  // namespace

Status advance_states(const PrefillArgs& args, const device::Queue& queue) {
  const DeltaNetShape& s = args.net.shape;
  return with_padded(s, [&](auto key, auto value) {
    constexpr int kKey = decltype(key)::value, kValue = decltype(value)::value;
    static_assert(sizeof(Shared<kKey>) <= plan::smem_limit(2));
    const dim3 grid(static_cast<unsigned>(s.value_heads * (kValue / kSlice)),
                    static_cast<unsigned>(args.net.tables.sequences_max));
    return device::launch(delta_net_advance<kKey, kValue>, queue, grid, kThreads, sizeof(Shared<kKey>), args);
  });
}

}  // namespace tessera::kernels::cuda
