#include <algorithm>

#include "kernels/cuda/delta_net.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mma_f16.cuh"

// What prefill does to its rows one by one: convolution, SiLU and unit norms before the chunks, the gated norm after
// them; and copies of states.
namespace tessera::kernels::cuda {
namespace {

using namespace delta;

constexpr int kPrepareWarps = 4;
constexpr int kWarpRows = kChunk / kPrepareWarps;
constexpr int kPad = 8;  // values between a tile's rows: words of one column in rows 0 to 7 fall into different banks

/// One head of q, k or v in one chunk.
struct HeadRows {
  SequenceEntry sequence;
  int first = 0, rows = 0;  // of the sequence's rows in this step
  int channel = 0, dim = 0;
  int window_head = 0, window_channel = 0;  // where its inputs of earlier steps are kept
};

/// Convolution and SiLU, rounded to BF16, of a warp's rows of the chunk; rows that are none, and values beyond the
/// head, are zeros. normalise: to unit norm, in FP16; else in BF16. tile: [64, kDim + kPad].
template <int kDim>
__device__ void convolve(const DeltaNetArgs& args, const HeadRows& at, bool normalise, uint16_t* tile) {
  constexpr int n = kPer<kDim>;
  const DeltaNetShape& s = args.shape;
  const int c = lane() * n, begin = warp() * kWarpRows, kept = s.conv_width - 1;
  const bool exists = c < at.dim;
  Packed<n> packed[kWarpRows + kTapsMax - 1];  // all loads are under way before the first is looked at
#pragma unroll
  for (int i = 0; i < kWarpRows + kTapsMax - 1; ++i) {
    const int in_chunk = begin + i - (kTapsMax - 1), row = at.first + in_chunk;
    packed[i] = Packed<n>{};
    if (!exists || in_chunk >= at.rows) continue;
    if (row >= 0) {
      packed[i] = __ldcg(reinterpret_cast<const Packed<n>*>(
          args.qkv + int64_t{at.sequence.first_row + row} * args.qkv_stride + at.channel + c));
    } else if (at.sequence.first_position > 0 && row >= -kept) {
      packed[i] = __ldcg(reinterpret_cast<const Packed<n>*>(window_of(args, at.sequence.slot, at.window_head) +
                                                            (kept + row) * window_width(s) + at.window_channel + c));
    }
  }
  float taps[kTapsMax][n] = {};
#pragma unroll
  for (int tap = 0; tap < kTapsMax; ++tap) {
    const int kept_tap = tap - (kTapsMax - s.conv_width);
    if (!exists || kept_tap < 0) continue;
#pragma unroll
    for (int j = 0; j < n; ++j) taps[tap][j] = args.conv_weight[(at.channel + c + j) * s.conv_width + kept_tap];
  }
#pragma unroll
  for (int i = 0; i < kWarpRows; ++i) {
    float x[n] = {};
#pragma unroll
    for (int tap = 0; tap < kTapsMax; ++tap) {
      float input[n];
      unpack(packed[i + tap], input);
#pragma unroll
      for (int j = 0; j < n; ++j) {
        if (tap >= kTapsMax - s.conv_width) x[j] = __fmaf_rn(taps[tap][j], input[j], x[j]);
      }
    }
    const bool live = begin + i < at.rows;
#pragma unroll
    for (int j = 0; j < n; ++j) x[j] = live ? round_bf16(spelt::silu(x[j])) : 0.0F;
    uint16_t* to = tile + (begin + i) * (kDim + kPad) + c;
    if (normalise) {
      const float factor = inverse_norm(x, 1.0F, 1e-6F);
#pragma unroll
      for (int j = 0; j < n; ++j) to[j] = static_cast<uint16_t>(ptx::cvt_f16x2(0.0F, __fmul_rn(x[j], factor)));
    } else {
      store_bf16(x, to);
    }
  }
}

/// The tile as operand A: 16 rows by 16 columns after one another.
template <int kDim>
__device__ void write_tiles(const uint16_t* tile, uint16_t* to) {
  constexpr int kAcross = kDim / 16;
  const auto pair = [&](int row, int column) {
    return *reinterpret_cast<const uint32_t*>(tile + row * (kDim + kPad) + column);
  };
  for (int i = static_cast<int>(threadIdx.x); i < kChunk / 16 * kAcross * kWarp; i += kPrepareWarps * kWarp) {
    const int row = i / (kAcross * kWarp) * 16 + i % kWarp / 4, column = i / kWarp % kAcross * 16 + i % 4 * 2;
    reinterpret_cast<uint4*>(to)[i] = {pair(row, column), pair(row + 8, column), pair(row, column + 8),
                                       pair(row + 8, column + 8)};
  }
}

/// The tile's transpose as operand A.
template <int kDim>
__device__ void write_transposed(const uint16_t* tile, uint16_t* to) {
  constexpr int kAcross = kChunk / 16;
  const auto pair = [&](int column, int row) {  // of rows `row` and `row` + 1
    const uint16_t* at = tile + row * (kDim + kPad) + column;
    return uint32_t{at[kDim + kPad]} << 16 | at[0];
  };
  for (int i = static_cast<int>(threadIdx.x); i < kDim / 16 * kAcross * kWarp; i += kPrepareWarps * kWarp) {
    const int column = i / (kAcross * kWarp) * 16 + i % kWarp / 4, row = i / kWarp % kAcross * 16 + i % 4 * 2;
    reinterpret_cast<uint4*>(to)[i] = {pair(column, row), pair(column + 8, row), pair(column, row + 8),
                                       pair(column + 8, row + 8)};
  }
}

/// Grid: x chunks of the segment, y heads of q, of k, of v, those from first_unit on; all of padded size kDim.
template <int kDim>
__global__ void __launch_bounds__(kPrepareWarps* kWarp)
    delta_net_prepare(const __grid_constant__ PrefillArgs args, int first_unit) {
  __shared__ __align__(16) uint16_t tile[kChunk * (kDim + kPad)];
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const DeltaNetArgs& net = args.net;
  const DeltaNetShape& s = net.shape;
  const int chunk = static_cast<int>(blockIdx.x), unit = first_unit + static_cast<int>(blockIdx.y);
  const ChunkPlace place = find_chunk(net.tables, args.first_chunk + chunk);
  if (place.sequence < 0) return;
  HeadRows at;
  at.sequence = load_entry(net.tables.sequences + place.sequence);
  at.first = place.index * kChunk;
  at.rows = min(kChunk, at.sequence.rows - at.first);
  if (unit < 2 * s.key_heads) {
    const bool is_key = unit >= s.key_heads;
    const int head = is_key ? unit - s.key_heads : unit;
    at.channel = unit * s.key_dim;
    at.dim = s.key_dim;
    at.window_head = head * (s.value_heads / s.key_heads);
    at.window_channel = is_key ? s.key_dim : 0;
    convolve<kDim>(net, at, true, tile);
    __syncthreads();
    const int64_t to = (int64_t{chunk} * s.key_heads + head) * kChunk * kDim;
    write_tiles<kDim>(tile, (is_key ? args.buffers.k : args.buffers.q) + to);
    if (is_key) write_transposed<kDim>(tile, args.buffers.k_transposed + to);
  } else {
    const int head = unit - 2 * s.key_heads;
    at.channel = 2 * s.key_heads * s.key_dim + head * s.value_dim;
    at.dim = s.value_dim;
    at.window_head = head;
    at.window_channel = 2 * s.key_dim;
    convolve<kDim>(net, at, false, tile);
    __syncthreads();
    write_transposed<kDim>(tile, args.buffers.v_transposed + (int64_t{chunk} * s.value_heads + head) * kChunk * kDim);
  }
}

constexpr int kNormWarps = 8;
constexpr int kNormRows = 4;  // of a warp, one head

/// Grid: x runs of rows of all kinds, y value heads.
template <int kValue>
__global__ void __launch_bounds__(kNormWarps* kWarp) delta_net_norm(const __grid_constant__ DeltaNetArgs args) {
  constexpr int n = kPer<kValue>;
  const DeltaNetShape& s = args.shape;
  const int head = static_cast<int>(blockIdx.y), c = lane() * n;
  const bool exists = c < s.value_dim;
  float weight[n] = {};
#pragma unroll
  for (int i = 0; i < n; ++i) {
    if (exists) weight[i] = args.norm_weight[c + i];
  }
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int end = args.tables.counts->rows;
  const int first = args.tables.counts->decode_rows + (static_cast<int>(blockIdx.x) * kNormWarps + warp()) * kNormRows;
  uint16_t* out = args.out + int64_t{head} * s.value_dim + c;
  const int64_t values = int64_t{s.value_heads} * s.value_dim;
  Packed<n> outputs[kNormRows]{}, gates[kNormRows]{};
#pragma unroll
  for (int i = 0; i < kNormRows; ++i) {
    if (!exists || first + i >= end) continue;
    outputs[i] = __ldcg(reinterpret_cast<const Packed<n>*>(out + (first + i) * values));
    gates[i] = __ldcg(
        reinterpret_cast<const Packed<n>*>(args.z + (first + i) * args.z_stride + int64_t{head} * s.value_dim + c));
  }
#pragma unroll
  for (int i = 0; i < kNormRows; ++i) {
    if (first + i >= end) return;
    float o[n], silu_z[n];
    unpack(outputs[i], o);
    unpack(gates[i], silu_z);
#pragma unroll
    for (int j = 0; j < n; ++j) silu_z[j] = spelt::silu(silu_z[j]);
    gated_norm(o, weight, silu_z, s.value_dim, s.norm_eps);
    if (exists) store_bf16(o, out + (first + i) * values);
  }
}

constexpr int kCopiesMax = 32;  // a launch
constexpr int kCopyThreads = 256;
constexpr int kCopyVectors = 4;  // of 16 bytes, a thread

struct CopyArgs {
  float* states = nullptr;
  uint16_t* windows = nullptr;
  int64_t state_bytes = 0, window_bytes = 0;  // of a slot, multiples of 16
  int64_t slots = 0;
  StateCopy copies[kCopiesMax];
};

/// Grid: x parts of a slot, S and then its window, y copies, of one layer after another.
__global__ void __launch_bounds__(kCopyThreads) copy_slots(const __grid_constant__ CopyArgs args, int copies) {
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const StateCopy copy = args.copies[static_cast<int>(blockIdx.y) % copies];
  const int64_t layer = static_cast<int>(blockIdx.y) / copies;
  const int64_t from = layer * args.slots + copy.from, to = layer * args.slots + copy.to;
  auto* states = reinterpret_cast<std::byte*>(args.states);
  auto* windows = reinterpret_cast<std::byte*>(args.windows);
  uint4 values[kCopyVectors];
  const int64_t first = (int64_t{blockIdx.x} * kCopyThreads * kCopyVectors + threadIdx.x) * 16;
  const auto place = [&](int64_t slot, int64_t at) {
    return reinterpret_cast<uint4*>(at < args.state_bytes ? states + slot * args.state_bytes + at
                                                          : windows + slot * args.window_bytes + at - args.state_bytes);
  };
#pragma unroll
  for (int i = 0; i < kCopyVectors; ++i) {
    const int64_t at = first + int64_t{i} * kCopyThreads * 16;
    if (at < args.state_bytes + args.window_bytes) values[i] = __ldcg(place(from, at));
  }
#pragma unroll
  for (int i = 0; i < kCopyVectors; ++i) {
    const int64_t at = first + int64_t{i} * kCopyThreads * 16;
    if (at < args.state_bytes + args.window_bytes) *place(to, at) = values[i];
  }
}

}  // namespace

Status prepare_chunks(const PrefillArgs& args, const device::Queue& queue) {
  const DeltaNetShape& s = args.net.shape;
  const auto launch = [&](int dim, int first_unit, int units) {
    const dim3 grid(static_cast<unsigned>(args.chunks), static_cast<unsigned>(units));
    return with_padded(dim, [&](auto padded) {
      return device::launch(delta_net_prepare<decltype(padded)::value>, queue, grid, kPrepareWarps * kWarp, 0, args,
                            first_unit);
    });
  };
  if (padded_dim(s.key_dim) == padded_dim(s.value_dim)) return launch(s.key_dim, 0, 2 * s.key_heads + s.value_heads);
  TESSERA_RETURN_IF_ERROR(launch(s.key_dim, 0, 2 * s.key_heads));
  return launch(s.value_dim, 2 * s.key_heads, s.value_heads);
}

Status norm_outputs(const DeltaNetArgs& args, const device::Queue& queue) {
  constexpr int kRows = kNormWarps * kNormRows;
  const dim3 grid(static_cast<unsigned>((args.tables.rows_max + kRows - 1) / kRows),
                  static_cast<unsigned>(args.shape.value_heads));
  return with_padded(args.shape.value_dim, [&](auto value) {
    return device::launch(delta_net_norm<decltype(value)::value>, queue, grid, kNormWarps * kWarp, 0, args);
  });
}

Status copy_states(const CopyStatesArgs& args, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(supports(args.shape));
  CopyArgs copy;
  copy.states = args.states;
  copy.windows = args.windows;
  copy.state_bytes = state_values(args.shape) * static_cast<int64_t>(sizeof(float));
  copy.window_bytes = window_values(args.shape) * static_cast<int64_t>(sizeof(uint16_t));
  copy.slots = args.slots;
  constexpr int64_t kBlockBytes = int64_t{16} * kCopyThreads * kCopyVectors;
  const auto parts = static_cast<unsigned>((copy.state_bytes + copy.window_bytes + kBlockBytes - 1) / kBlockBytes);
  for (size_t first = 0; first < args.copies.size(); first += kCopiesMax) {
    const auto some = args.copies.subspan(first, std::min<size_t>(kCopiesMax, args.copies.size() - first));
    std::copy(some.begin(), some.end(), copy.copies);
    const auto count = static_cast<int>(some.size());
    TESSERA_RETURN_IF_ERROR(device::launch(copy_slots, queue, dim3(parts, static_cast<unsigned>(count * args.layers)),
                                           kCopyThreads, 0, copy, count));
  }
  return {};
}

}  // namespace tessera::kernels::cuda
