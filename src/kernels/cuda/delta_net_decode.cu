#include <cmath>

#include "kernels/cuda/delta_net_decode.cuh"
#include "kernels/cuda/silu.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/shared_memory.cuh"
#include "plan/budget.h"

// Decode rows, one launch. A block is a value head of a sequence. It holds S in registers over all rows of the step: a
// thread has 4 columns of S in a few neighbouring rows, so that a warp reads and writes whole rows, S^T k and S^T q are
// sums of a thread and then of the block's groups of rows, and a row of the recurrence needs one barrier:
//   r = decay S^T k,  u = beta (v - r),  o = decay S^T q + (k q) u,  S <- decay S + k u^T
//
// Rows that may not hold leave S and the window as they are, and of each row its decay, k, u and inputs (record_bytes).
// The slot's next step first advances S by the records that hold, before its wait: the next kernel of a step that needs
// these is this one. A kernel of its own does so, so that what keeps no records pays nothing.
//
// Many small loads stand beside S; all that are known before the wait are under way at once, and the inputs follow at
// once after it, so that a block waits for memory twice and not once for each.
namespace tessera::kernels::cuda {
namespace {

using namespace delta;

struct DecodeArgs {
  DeltaNetArgs net;
  float query_scale = 0;  // key_dim^-0.5
};

/// The block's work.
struct Head {
  DeltaNetShape shape;
  int head = 0, key_head = 0;
  int start = 0;  // the position of what S and the window are before
  SequenceEntry sequence;
};

/// A lane's values of the part that its warp makes.
struct Part {
  int part = 0;
  int channel = 0;      // of q | k | v, the first value's
  bool exists = false;  // whether the values are the head's
};

__device__ Part part_of_lane(const DeltaNetShape& s) {
  Part mine;
  mine.part = warp() % kParts;
  mine.channel = min(mine.part, 2) * s.key_dim + lane() * kLaneValues;
  mine.exists = lane() * kLaneValues < (mine.part < 2 ? s.key_dim : s.value_dim);
  return mine;
}

/// The part's weights on their way to shared memory: the convolution's, where the lane that copies them reads them, or,
/// with z, the norm's.
template <typename SharedMemory>
__device__ void fetch_weights(const DeltaNetArgs& args, const Head& at, const Part& mine, SharedMemory& shared) {
  const DeltaNetShape& s = at.shape;
  if (warp() >= kParts || !mine.exists) return;
  if (mine.part == 3) {
    const int first = lane() * kLaneValues;
    ptx::cp_async_cg_16(ptx::shared_address(shared.norm_weight + first), args.norm_weight + first);
    return;
  }
  const float* weight = args.conv_weight + channel_of(s, at.head, at.key_head, mine.channel) * s.conv_width;
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) {
    float4& taps = shared.taps[mine.part][i][lane()];
    if (s.conv_width == kTapsMax) {
      ptx::cp_async_cg_16(ptx::shared_address(&taps), weight + i * kTapsMax);
    } else {
      const bool three = s.conv_width == 3;
      taps = {0.0F, three ? weight[i * 3] : 0.0F, weight[i * s.conv_width + three],
              weight[i * s.conv_width + three + 1]};
    }
  }
}

/// Inputs of the convolution at a row, oldest first.
struct Inputs {
  uint2 at[kTapsMax];
};

/// Those that the window has, for the first row.
__device__ Inputs load_window(const DeltaNetArgs& args, const Head& at, const Part& mine) {
  const DeltaNetShape& s = at.shape;
  Inputs inputs{};
  if (!mine.exists || mine.part == 3 || at.start == 0) return inputs;
  const uint16_t* window = window_of(args, at.sequence.slot, at.head) + mine.channel;
#pragma unroll
  for (int tap = 0; tap < kTapsMax - 1; ++tap) {
    const int kept = tap - (kTapsMax - s.conv_width);
    if (kept >= 0) inputs.at[tap] = __ldcg(reinterpret_cast<const uint2*>(window + kept * window_width(s)));
  }
  return inputs;
}

/// The record of a row of this step. Its place waits in shared memory, since registers are few.
__device__ float* new_record(std::byte* records, const Head& at, int row) {
  return reinterpret_cast<float*>(records + row * static_cast<int>(record_bytes(at.shape)));
}

/// A lane's inputs in a record.
template <int kKey, int kValue>
__device__ uint2* record_inputs(float* record, const Part& mine) {
  return reinterpret_cast<uint2*>(reinterpret_cast<uint16_t*>(record + 4 + kKey + kValue) + mine.channel);
}

/// What load_window() is once the records that hold are behind it.
template <int kKey, int kValue>
__device__ Inputs load_window_and_records(const DeltaNetArgs& args, const Head& at, const Part& mine) {
  const DeltaNetShape& s = at.shape;
  const int held = at.sequence.held, kept = s.conv_width - 1;
  Inputs inputs{};
  if (!mine.exists || mine.part == 3) return inputs;
  const uint16_t* window = window_of(args, at.sequence.slot, at.head) + mine.channel;
#pragma unroll
  for (int tap = 0; tap < kTapsMax - 1; ++tap) {
    const int row = tap - (kTapsMax - s.conv_width) + held;  // of the window, and the records behind it
    if (row < held) continue;
    const uint2* from = reinterpret_cast<const uint2*>(window + row * window_width(s));
    if (row >= kept) from = record_inputs<kKey, kValue>(record_of(args, at.sequence.slot, at.head, row - kept), mine);
    if (row >= kept || at.start > 0) inputs.at[tap] = __ldcg(from);
  }
  return inputs;
}

/// Leaves the last row's inputs, but for the oldest, as the window.
__device__ void store_window(const DeltaNetArgs& args, const Head& at, const Part& mine, int slot,
                             const Inputs& inputs) {
  const DeltaNetShape& s = at.shape;
  uint16_t* window = window_of(args, slot, at.head) + mine.channel;
#pragma unroll
  for (int tap = 1; tap < kTapsMax; ++tap) {
    const int kept = tap - 1 - (kTapsMax - s.conv_width);
    if (kept >= 0) *reinterpret_cast<uint2*>(window + kept * window_width(s)) = inputs.at[tap];
  }
}

__device__ void store_row(const float (&x)[kLaneValues], float* row) {
  *reinterpret_cast<float4*>(row + lane() * kLaneValues) = {x[0], x[1], x[2], x[3]};
}
__device__ void load_row(const float* row, float (&x)[kLaneValues]) {
  const float4 four = *reinterpret_cast<const float4*>(row + lane() * kLaneValues);
  x[0] = four.x;
  x[1] = four.y;
  x[2] = four.z;
  x[3] = four.w;
}

__device__ void silu(float (&x)[kLaneValues]) {
  bool ordinary = true;
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) ordinary &= ordinary_gate(x[i]);
  if (ordinary) {
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) x[i] = silu_ordinary(x[i]);
    return;
  }
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) x[i] = spelt::silu(x[i]);
}

/// To unit L2 norm, times scale.
__device__ void normalise(float (&x)[kLaneValues], float scale) {
  float squares = 0;
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) squares = __fmaf_rn(x[i], x[i], squares);
  const float factor = __fdiv_rn(1.0F, __fsqrt_rn(__fadd_rn(sum_of_warp(squares), 1e-6F)));
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) x[i] = __fmul_rn(__fmul_rn(x[i], factor), scale);
}

/// q, k or v of a row: convolution and SiLU, rounded to BF16, and the unit norms of q and k; zeros beyond the head.
template <int kKey, int kValue>
__device__ void convolve(const Part& mine, float query_scale, const Inputs& inputs, int row,
                         Shared<kKey, kValue>& shared) {
  float x[kLaneValues] = {}, values[kTapsMax][kLaneValues];
#pragma unroll
  for (int tap = 0; tap < kTapsMax; ++tap) unpack(inputs.at[tap], values[tap]);
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) {
    if (!mine.exists) continue;
    const float4 taps = shared.taps[mine.part][i][lane()];
    x[i] = __fmaf_rn(taps.x, values[0][i], x[i]);
    x[i] = __fmaf_rn(taps.y, values[1][i], x[i]);
    x[i] = __fmaf_rn(taps.z, values[2][i], x[i]);
    x[i] = __fmaf_rn(taps.w, values[3][i], x[i]);
  }
  silu(x);
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) x[i] = round_bf16(x[i]);
  if (mine.part == 2) {
    if (lane() * kLaneValues < kValue) store_row(x, shared.v[row]);
    return;
  }
  normalise(x, mine.part == 0 ? query_scale : 1.0F);
  if (lane() * kLaneValues < kKey) store_row(x, mine.part == 0 ? shared.q[row] : shared.k[row]);
}

/// The warp's input at a row of the sequence's, which this step has.
__device__ uint2 load_input(const DeltaNetArgs& args, const Head& at, const Part& mine, int row) {
  if (!mine.exists) return {0, 0};
  const uint16_t* from = mine.part < 3 ? args.qkv + channel_of(at.shape, at.head, at.key_head, mine.channel)
                                       : args.z + int64_t{at.head} * at.shape.value_dim + lane() * kLaneValues;
  const int64_t stride = mine.part < 3 ? args.qkv_stride : args.z_stride;
  return __ldcg(reinterpret_cast<const uint2*>(from + (at.sequence.first_row + row) * stride));
}

/// For the warp's first row of a piece. inputs: what the window has for row 0 of the step.
__device__ void load_inputs(const DeltaNetArgs& args, const Head& at, const Part& mine, int row, Inputs& inputs) {
  const Inputs window = inputs;
#pragma unroll
  for (int tap = 0; tap < kTapsMax; ++tap) {
    const int from = row - (kTapsMax - 1 - tap);
    if (from >= 0) {
      inputs.at[tap] = uint2{0, 0};
      if (tap >= kTapsMax - (mine.part < 3 ? at.shape.conv_width : 1)) {
        inputs.at[tap] = load_input(args, at, mine, from);
      }
    } else {
      static_assert(kWarpsPerPart == 2, "the first row is 0 or 1");
      inputs.at[tap] = row == 0 ? window.at[tap] : window.at[tap + 1];
    }
  }
}

/// This warp's rows of its part, of rows [first, first + rows) of the step. inputs: for its first row; afterwards, for
/// its last.
template <bool kRecords, int kKey, int kValue>
__device__ void prepare(const DecodeArgs& args, const Head& at, const Part& mine, int first, int rows, Inputs& inputs,
                        Shared<kKey, kValue>& shared) {
  for (int row = warp() / kParts; row < rows; row += kWarpsPerPart) {
    const bool last = row + kWarpsPerPart >= rows;
    uint2 next[kWarpsPerPart]{};
    if (!last) {
#pragma unroll
      for (int i = 0; i < kWarpsPerPart; ++i) next[i] = load_input(args.net, at, mine, first + row + 1 + i);
    }
    if (mine.part < 3) {
      if constexpr (kRecords) {
        if (shared.records != nullptr && mine.exists) {
          *record_inputs<kKey, kValue>(new_record(shared.records, at, first + row), mine) = inputs.at[kTapsMax - 1];
        }
      }
      convolve(mine, args.query_scale, inputs, row, shared);
    } else {
      float x[kLaneValues];
      unpack(inputs.at[kTapsMax - 1], x);
      silu(x);
      if (lane() * kLaneValues < kValue) store_row(x, shared.silu_z[row]);
    }
    if (last) return;
    inputs = {{inputs.at[2], inputs.at[3], next[0], next[1]}};
  }
}

/// a or b of a row of the step; 0 from row `end` on.
__device__ float load_gate(const DeltaNetArgs& args, const Head& at, int row, int end, bool is_a) {
  if (row >= end) return 0.0F;
  const uint16_t* from = is_a ? args.a : args.b;
  const int64_t stride = is_a ? args.a_stride : args.b_stride;
  return low_bf16(__ldcg(from + (at.sequence.first_row + row) * stride + at.head));
}

/// S as the records that hold leave it. They come to shared memory, where rows have k, v and decay.
template <int kKey, int kValue>
__device__ void advance_by_records(const DeltaNetArgs& args, const Head& at, State<kKey, kValue>& state,
                                   Shared<kKey, kValue>& shared) {
  constexpr int kChunks = (kKey + kValue) / 4;  // of 16 bytes
  const int rows = at.sequence.held;
#pragma unroll 1  // beside S there is no room for addresses
  for (int i = static_cast<int>(threadIdx.x); i < rows * kChunks; i += kThreads) {
    const int row = i / kChunks, value = i % kChunks * 4;
    float* to = value < kKey ? shared.k[row] + value : shared.v[row] + value - kKey;
    ptx::cp_async_cg_16(ptx::shared_address(to), record_of(args, at.sequence.slot, at.head, row) + 4 + value);
  }
  ptx::cp_async_commit_group();
  const int mine = static_cast<int>(threadIdx.x);
  if (mine < rows) shared.decay[mine] = __ldcg(record_of(args, at.sequence.slot, at.head, mine));
  ptx::cp_async_wait_group<0>();
  __syncthreads();
#pragma unroll 1
  for (int row = 0; row < rows; ++row) {
    state.update(shared.k[row], shared.decay[row],
                 *reinterpret_cast<const float4*>(shared.v[row] + State<kKey, kValue>::column()));
  }
}

/// Decay and k of a piece's rows, beside their u and inputs.
template <int kKey, int kValue>
__device__ void store_records(const Head& at, int first, int rows, const Shared<kKey, kValue>& shared) {
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < rows * kKey / 4; i += kThreads) {
    const int row = i / (kKey / 4), value = i % (kKey / 4) * 4;
    float* record = new_record(shared.records, at, first + row);
    *reinterpret_cast<float4*>(record + 4 + value) = *reinterpret_cast<const float4*>(shared.k[row] + value);
    if (value == 0) *record = shared.decay[row];
  }
}

/// Of the rows whose o this warp has: their norm and their gate.
template <int kKey, int kValue>
__device__ void store_outputs(const DeltaNetArgs& args, const Head& at, int first, int rows,
                              Shared<kKey, kValue>& shared) {
  const DeltaNetShape& s = at.shape;
  const bool exists = lane() * kLaneValues < s.value_dim;
  for (int row = warp(); row < rows; row += kWarps) {
    float o[kLaneValues] = {}, silu_z[kLaneValues] = {}, norm_weight[kLaneValues] = {};
    if (exists) {
      load_row(shared.o[row], o);
      load_row(shared.silu_z[row], silu_z);
      load_row(shared.norm_weight, norm_weight);
    }
    gated_norm(o, norm_weight, silu_z, s.value_dim, s.norm_eps);
    const int64_t values = int64_t{s.value_heads} * s.value_dim;
    uint16_t* out = args.out + (at.sequence.first_row + first + row) * values + int64_t{at.head} * s.value_dim;
    if (exists) store_bf16(o, out + lane() * kLaneValues);
  }
}

/// Whether the kernel of this padded size that knows its shape may run: that of every model released so far.
template <int kKey, int kValue>
bool is_exact(const DeltaNetShape& s) {
  return s.key_dim == kKey && s.value_dim == kValue && s.conv_width == kTapsMax;
}

/// Grid: x value heads of a key head, y key heads, z sequences. kRecords: there are records.
template <int kKey, int kValue, bool kExact, bool kRecords>
__global__ void __launch_bounds__(kThreads, kExact ? 2 : 1)
    delta_net_decode(const __grid_constant__ DecodeArgs decode) {
  auto& shared = *reinterpret_cast<Shared<kKey, kValue>*>(ptx::dynamic_shared_memory());
  const DeltaNetArgs& args = decode.net;

  // ---- before the wait: weights, the state and the window ----
  Head at;
  at.shape = args.shape;
  if constexpr (kExact) {
    at.shape.key_dim = kKey;
    at.shape.value_dim = kValue;
    at.shape.conv_width = kTapsMax;
  }
  const DeltaNetShape& s = at.shape;
  at.key_head = static_cast<int>(blockIdx.y);
  at.head = static_cast<int>(blockIdx.y * gridDim.x + blockIdx.x);
  const int sequences = __ldcg(&args.tables.counts->decode_sequences);
  at.sequence = load_entry(args.tables.sequences + blockIdx.z);
  const Part mine = part_of_lane(s);
  if (static_cast<int>(blockIdx.z) >= sequences || at.sequence.rows == 0) {
    ptx::griddepcontrol_wait();
    ptx::griddepcontrol_launch_dependents();
    return;
  }
  // The warps of z, which have least to do, make the gates, a lane those of a row.
  const bool makes_beta = warp() == kParts - 1, makes_decay = warp() == kWarps - 1;
  fetch_weights(args, at, mine, shared);
  if (makes_decay && lane() == 0) {
    ptx::cp_async_ca_4(ptx::shared_address(&shared.a_log), args.a_log + at.head);
    ptx::cp_async_ca_4(ptx::shared_address(&shared.dt_bias), args.dt_bias + at.head);
  }
  ptx::cp_async_commit_group();
  at.start = at.sequence.first_position - (kRecords ? at.sequence.held : 0);
  const bool has_held = kRecords && at.sequence.held > 0;
  Inputs inputs = has_held ? load_window_and_records<kKey, kValue>(args, at, mine) : load_window(args, at, mine);
  State<kKey, kValue> state;
  if (at.start > 0) {
    state.load(s, state_of(args, at.sequence.slot, at.head));
  } else {
    state = {};
  }
  if (threadIdx.x == 0) {
    shared.slot = at.sequence.slot;
    if constexpr (kRecords) {
      shared.records = at.sequence.keeps_records
                           ? reinterpret_cast<std::byte*>(record_of(args, at.sequence.slot, at.head, 0))
                           : nullptr;
    }
  }
  if (has_held) advance_by_records(args, at, state, shared);
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  // A barrier stands between what all have read of the slot and what is written from here on.
  if (has_held && shared.records != nullptr) {
    state.store(s, state_of(args, shared.slot, at.head));
    if (warp() < kParts && mine.part < 3 && mine.exists) {
      store_window(args, at, mine, shared.slot, {{{0, 0}, inputs.at[0], inputs.at[1], inputs.at[2]}});
    }
  }

  // ---- rows, a piece at a time ----
  for (int first = 0; first < at.sequence.rows; first += kPieceRows) {
    const int rows = min(kPieceRows, at.sequence.rows - first);
    if (warp() / kParts < rows) load_inputs(args, at, mine, first + warp() / kParts, inputs);
    float gate = 0;  // a or b
    if (makes_beta || makes_decay) gate = load_gate(args, at, first + lane(), first + rows, makes_decay);
    ptx::cp_async_wait_group<0>();
    if (kRecords || at.sequence.rows > 1) {
      __syncthreads();  // taps are another warp's too; of a further piece, all is free again
    } else {
      __syncwarp();
    }
    if (makes_beta && lane() < rows) shared.beta[lane()] = beta_of(gate);
    if (makes_decay && lane() < rows)
      shared.decay[lane()] = spelt::exp(log_decay_of(gate, shared.a_log, shared.dt_bias));
    prepare<kRecords>(decode, at, mine, first, rows, inputs, shared);
    __syncthreads();
    const bool ends = first + rows == at.sequence.rows && !(kRecords && shared.records != nullptr);
    // The window has been read, and the warps of the last row have its inputs.
    if (ends && (rows - 1) % kWarpsPerPart == warp() / kParts && mine.part < 3 && mine.exists) {
      store_window(args, at, mine, shared.slot, inputs);
    }
#pragma unroll 1
    for (int row = 0; row < rows; ++row) {
      state.advance(row, shared, [&](const float4& u) {
        if (!kRecords || shared.records == nullptr) return;
        float* to = new_record(shared.records, at, first + row) + 4 + kKey + State<kKey, kValue>::column();
        *reinterpret_cast<float4*>(to) = u;
      });
    }
    if (ends) state.store(s, state_of(args, shared.slot, at.head));
    if (kRecords && shared.records != nullptr) store_records(at, first, rows, shared);
    store_outputs(args, at, first, rows, shared);
  }
}

}  // namespace

Status decode_rows(const DeltaNetArgs& args, const device::Queue& queue) {
  const DeltaNetShape& s = args.shape;
  const dim3 grid(static_cast<unsigned>(s.value_heads / s.key_heads), static_cast<unsigned>(s.key_heads),
                  static_cast<unsigned>(args.tables.decode_sequences_max));
  const DecodeArgs decode{.net = args, .query_scale = 1.0F / std::sqrt(static_cast<float>(s.key_dim))};
  return with_padded(s, [&](auto key, auto value) {
    constexpr int kKey = decltype(key)::value, kValue = decltype(value)::value;
    static_assert(sizeof(Shared<kKey, kValue>) <= plan::smem_limit(2));
    const auto launch = [&](auto kernel) {
      return device::launch(kernel, queue, grid, kThreads, sizeof(Shared<kKey, kValue>), decode);
    };
    const bool records = args.records != nullptr;
    if constexpr (kKey == kHeadDimMax && kValue == kHeadDimMax) {
      if (is_exact<kKey, kValue>(s)) {
        return records ? launch(delta_net_decode<kKey, kValue, true, true>)
                       : launch(delta_net_decode<kKey, kValue, true, false>);
      }
    }
    return records ? launch(delta_net_decode<kKey, kValue, false, true>)
                   : launch(delta_net_decode<kKey, kValue, false, false>);
  });
}

}  // namespace tessera::kernels::cuda
