#include "kernels/cuda/route.h"

#include "device/cuda.h"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/spelt_math.h"

namespace tessera::kernels::cuda {
namespace {

constexpr unsigned kAll = 0xffffffffU;
constexpr int kExpertsMax = 1024;
constexpr int kLaneExperts = kExpertsMax / 32;
constexpr int kMaskWords = kChunkTokens / 32;
constexpr int kBlock = 1024;
constexpr int kRouteWarps = 8;

/// Larger for larger logits; 0 for NaN. -0 ties with 0.
__device__ uint32_t rank_key(float logit) {
  if (logit != logit) return 0;
  const uint32_t bits = __float_as_uint(logit == 0 ? 0.0F : logit);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ float logit_of(uint32_t key) {
  if (key == 0) return __uint_as_float(0x7fc00000U);
  return __uint_as_float((key >> 31) != 0 ? key & 0x7fffffffU : ~key);
}

/// One token, by one warp. Lane L holds experts L, L + 32, ...; afterwards lane j the j-th choice.
__device__ void route_token(const RouteArgs& args, int token, int lane) {
  const float* logits = args.logits + int64_t{token} * args.experts;
  uint32_t keys[kLaneExperts];
  uint32_t free = 0;  // experts of this lane that are not chosen yet
  bool nan = false;
#pragma unroll
  for (int i = 0; i < kLaneExperts; ++i) {
    const int id = i * 32 + lane;
    keys[i] = 0;
    if (id < args.experts) {
      keys[i] = rank_key(logits[id]);
      nan |= keys[i] == 0;
      free |= 1U << i;
    }
  }
  const bool any_nan = __any_sync(kAll, nan) != 0;
  int32_t my_id = 0;
  uint32_t my_key = 0;
  for (int j = 0; j < args.experts_per_token; ++j) {
    uint32_t best = 0;
    int32_t best_id = INT32_MAX;
#pragma unroll
    for (int i = 0; i < kLaneExperts; ++i) {
      const bool takes = (free >> i & 1U) != 0 && (best_id == INT32_MAX || keys[i] > best);
      best = takes ? keys[i] : best;
      best_id = takes ? i * 32 + lane : best_id;
    }
    const uint32_t largest = __reduce_max_sync(kAll, best);
    const int32_t id = __reduce_min_sync(kAll, best == largest ? best_id : INT32_MAX);
    if (id % 32 == lane) free &= ~(1U << (id / 32));
    if (j == lane) {
      my_id = id;
      my_key = largest;
    }
  }
  const bool mine = lane < args.experts_per_token;
  const float largest = logit_of(__shfl_sync(kAll, my_key, 0));
  const float p = spelt::exp(__fsub_rn(logit_of(my_key), largest));
  float total = 0;
  int rank = 0;
  for (int j = 0; j < args.experts_per_token; ++j) {
    total = __fadd_rn(total, __shfl_sync(kAll, p, j));
    rank += __shfl_sync(kAll, my_id, j) < my_id ? 1 : 0;
  }
  if (!mine) return;
  const int64_t row = int64_t{token} * args.experts_per_token;
  args.ids[row + rank] = my_id;
  args.weights[row + rank] = any_nan ? __uint_as_float(0x7fc00000U) : __fdiv_rn(p, total);
  if (args.chosen != nullptr) args.chosen[row + lane] = my_id;
}

__device__ int chunk_tokens(const RouteArgs& args, int chunk) {
  return min(kChunkTokens, args.tokens - chunk * kChunkTokens);
}

/// Bit t of masks[expert]: token t of the chunk takes it.
__device__ void build_masks(const RouteArgs& args, int chunk, uint32_t (*masks)[kMaskWords]) {
  for (int i = static_cast<int>(threadIdx.x); i < args.experts * kMaskWords; i += static_cast<int>(blockDim.x)) {
    masks[i / kMaskWords][i % kMaskWords] = 0;
  }
  __syncthreads();
  const int k = args.experts_per_token;
  const int32_t* ids = args.ids + int64_t{chunk} * kChunkTokens * k;
  for (int i = static_cast<int>(threadIdx.x); i < chunk_tokens(args, chunk) * k; i += static_cast<int>(blockDim.x)) {
    const int token = i / k;
    atomicOr(&masks[ids[i]][token / 32], 1U << (token % 32));
  }
  __syncthreads();
}

__device__ int count(const uint32_t (&mask)[kMaskWords]) {
  int bits = 0;
  for (const uint32_t word : mask) bits += __popc(word);
  return bits;
}

/// Gives the chunk's pairs their slots. first[expert]: slot of the chunk's first token that takes it.
template <typename First>
__device__ void place(const RouteArgs& args, int chunk, const uint32_t (*masks)[kMaskWords], First&& first) {
  const int k = args.experts_per_token, tokens = chunk_tokens(args, chunk);
  const int64_t begin = int64_t{chunk} * kChunkTokens;
  for (int i = static_cast<int>(threadIdx.x); i < tokens * k; i += static_cast<int>(blockDim.x)) {
    const int token = i / k;
    const int expert = args.ids[begin * k + i];
    int rank = __popc(masks[expert][token / 32] & ((1U << (token % 32)) - 1));
    for (int word = 0; word < token / 32; ++word) rank += __popc(masks[expert][word]);
    const int slot = first(expert) + rank;
    args.slots[begin * k + i] = slot;
    args.slot_token[slot] = static_cast<int32_t>(begin + token);
  }
  if (!args.shared) return;
  const int64_t routed = int64_t{args.tokens} * k;
  for (int t = static_cast<int>(threadIdx.x); t < tokens; t += static_cast<int>(blockDim.x)) {
    args.slot_token[routed + begin + t] = static_cast<int32_t>(begin + t);
  }
}

/// Sum of `value` over lower threads of the block, of kBlock threads; `total` of all.
__device__ int exclusive_sum(int value, int* warp_sums, int& total) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  int sum = value;
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(kAll, sum, step);
    if (lane >= step) sum += other;
  }
  __syncthreads();  // the last call's readers are done
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    int of_warps = warp_sums[lane];
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(kAll, of_warps, step);
      if (lane >= step) of_warps += other;
    }
    warp_sums[lane] = of_warps;
  }
  __syncthreads();
  total = warp_sums[31];
  return sum - value + (warp > 0 ? warp_sums[warp - 1] : 0);
}

__device__ void write_tiles(SlotTile* tiles, int n, int group, int first_slot, int slots, int thread, int threads) {
  for (int i = thread; i * n < slots; i += threads) {
    tiles[i] = {group, first_slot + i * n, min(n, slots - i * n), 0};
  }
}

/// Thread e has the number of expert e's slots. Writes first_slot and both tile lists; returns e's first slot.
__device__ int lay_out(const RouteArgs& args, int slots, int* warp_sums) {
  const int expert = static_cast<int>(threadIdx.x);
  int routed = 0;
  const int first = exclusive_sum(slots, warp_sums, routed);
  if (expert < args.experts) args.first_slot[expert] = first;
  if (expert == 0) {
    args.first_slot[args.experts] = routed;
    if (args.shared) args.first_slot[args.experts + 1] = routed + args.tokens;
  }
  for (int op = 0; op < 2; ++op) {
    const int n = args.tile_columns[op];
    int tiles = 0;
    const int before = exclusive_sum((slots + n - 1) / n, warp_sums, tiles);
    const int shared_tiles = args.shared ? (args.tokens + n - 1) / n : 0;
    write_tiles(args.tiles[op] + shared_tiles + before, n, expert, first, slots, 0, 1);
    if (args.shared) write_tiles(args.tiles[op], n, args.experts, routed, args.tokens, expert, kBlock);
    if (expert == 0) *args.tile_count[op] = tiles + shared_tiles;
  }
  return first;
}

/// Grouping of up to one chunk. Routing is a launch of its own: a block of 1024 threads has too few registers for it.
__global__ void __launch_bounds__(kBlock) group_one_chunk(const __grid_constant__ RouteArgs args) {
  __shared__ uint32_t masks[kExpertsMax][kMaskWords];
  __shared__ int first[kExpertsMax];
  __shared__ int warp_sums[32];
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int thread = static_cast<int>(threadIdx.x);
  build_masks(args, 0, masks);
  first[thread] = lay_out(args, thread < args.experts ? count(masks[thread]) : 0, warp_sums);
  __syncthreads();
  place(args, 0, masks, [&](int expert) { return first[expert]; });
}

__global__ void __launch_bounds__(kRouteWarps * 32) route_tokens(const __grid_constant__ RouteArgs args) {
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int token = static_cast<int>(blockIdx.x) * kRouteWarps + static_cast<int>(threadIdx.x) / 32;
  if (token < args.tokens) route_token(args, token, static_cast<int>(threadIdx.x) % 32);
}

__global__ void __launch_bounds__(256) count_chunks(const __grid_constant__ RouteArgs args) {
  __shared__ uint32_t masks[kExpertsMax][kMaskWords];
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int chunk = static_cast<int>(blockIdx.x);
  build_masks(args, chunk, masks);
  for (int e = static_cast<int>(threadIdx.x); e < args.experts; e += static_cast<int>(blockDim.x)) {
    args.chunk_counts[int64_t{chunk} * args.experts + e] = count(masks[e]);
  }
}

/// Counts become each chunk's first slot of an expert.
__global__ void __launch_bounds__(kBlock) lay_out_chunks(const __grid_constant__ RouteArgs args) {
  __shared__ int warp_sums[32];
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int expert = static_cast<int>(threadIdx.x);
  const int last = (args.tokens + kChunkTokens - 1) / kChunkTokens;
  int slots = 0;
  if (expert < args.experts) {
    for (int c = 0; c < last; ++c) slots += args.chunk_counts[int64_t{c} * args.experts + expert];
  }
  int at = lay_out(args, slots, warp_sums);
  if (expert >= args.experts) return;
  for (int c = 0; c < last; ++c) {
    int32_t& entry = args.chunk_counts[int64_t{c} * args.experts + expert];
    const int of_chunk = entry;
    entry = at;
    at += of_chunk;
  }
}

__global__ void __launch_bounds__(256) place_chunks(const __grid_constant__ RouteArgs args) {
  __shared__ uint32_t masks[kExpertsMax][kMaskWords];
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int chunk = static_cast<int>(blockIdx.x);
  build_masks(args, chunk, masks);
  const int32_t* first = args.chunk_counts + int64_t{chunk} * args.experts;
  place(args, chunk, masks, [&](int expert) { return first[expert]; });
}

}  // namespace

Status route(const RouteArgs& args, cudaStream_t stream) {
  if (args.tokens == 0) return {};
  const auto how = [&](int64_t blocks, unsigned threads) {
    return device::Launch{.grid = static_cast<unsigned>(blocks),
                          .block = threads,
                          .programmatic_dependent_launch = true,
                          .stream = stream};
  };
  TESSERA_RETURN_IF_ERROR(
      device::launch(route_tokens, how((args.tokens + kRouteWarps - 1) / kRouteWarps, kRouteWarps * 32), args));
  const int64_t blocks = chunks(args.tokens);
  if (blocks == 1) return device::launch(group_one_chunk, how(1, kBlock), args);
  TESSERA_RETURN_IF_ERROR(device::launch(count_chunks, how(blocks, 256), args));
  TESSERA_RETURN_IF_ERROR(device::launch(lay_out_chunks, how(1, kBlock), args));
  return device::launch(place_chunks, how(blocks, 256), args);
}

}  // namespace tessera::kernels::cuda
