#include "kernels/cuda/route.h"

#include "kernels/cuda/bf16_pair.cuh"
#include "kernels/cuda/live_tokens.cuh"
#include "kernels/ptx/griddepcontrol.cuh"
#include "kernels/ptx/mma_bf16.cuh"
#include "kernels/spelt_math.h"
#include "plan/desc.h"

namespace tessera::kernels::cuda {
namespace {

constexpr unsigned kAll = 0xffffffffU;
constexpr int kExpertsMax = plan::kExpertsMax;
constexpr int kMaskWords = kChunkTokens / 32;
constexpr int kBlock = 512;
constexpr int kThreadExperts = kExpertsMax / kBlock;
constexpr int kRouteWarps = 8;
constexpr int kFewTokens = kBlock / 32;  // that one block routes and groups

/// Of a logit that is a BF16 value, in 16 bits: larger for larger ones; -0 ties with 0. 0 is no expert, or one that is
/// taken.
constexpr uint32_t kNoKey = 0, kNanKey = 1;
__device__ uint32_t rank_key(float logit) {
  if (logit != logit) return kNanKey;
  const uint32_t bits = __float_as_uint(logit == 0 ? 0.0F : logit) >> 16;
  return (bits >> 15) != 0 ? bits ^ 0xffffU : bits | 0x8000U;
}
__device__ float logit_of(uint32_t key) {
  if (key == kNanKey) return __uint_as_float(0x7fc00000U);
  return __uint_as_float(((key >> 15) != 0 ? key & 0x7fffU : key ^ 0xffffU) << 16);
}

/// What a lane knows of a token's experts.
struct Choice {
  int32_t id;    // of the lane-th choice, by descending logit
  int rank;      // of that id among the token's ids
  float weight;  // of that expert; the weights of a token sum to 1
};

/// Of up to 32 * size experts. Lane L looks at L, L + 32, ... A key stands above the complement of its expert's id, so
/// that the largest is the lowest id's of those that tie.
template <int size>
__device__ Choice choose_of(const float* logits, int experts, int count, int lane) {
  constexpr uint32_t kIds = 0xffffU;
  uint32_t keys[size];
  float values[size];  // all loads are under way before the first is looked at
#pragma unroll
  for (int i = 0; i < size; ++i) values[i] = __ldcg(logits + min(i * 32 + lane, experts - 1));
  bool nan = false;
#pragma unroll
  for (int i = 0; i < size; ++i) {
    const int id = i * 32 + lane;
    const uint32_t key = rank_key(low_bf16(ptx::cvt_bf16x2(0.0F, values[i])));
    keys[i] = id < experts ? key << 16 | (kIds - static_cast<uint32_t>(id)) : kNoKey;
    nan |= id < experts && key == kNanKey;
  }
  const bool any_nan = __any_sync(kAll, nan) != 0;
  uint32_t mine = 0;
#pragma unroll 1
  for (int j = 0; j < count; ++j) {
    uint32_t best = kNoKey;
#pragma unroll
    for (int i = 0; i < size; ++i) best = max(best, keys[i]);
    best = __reduce_max_sync(kAll, best);
#pragma unroll
    for (int i = 0; i < size; ++i) keys[i] = keys[i] == best ? kNoKey : keys[i];
    if (j == lane) mine = best;
  }
  const auto id = static_cast<int32_t>(kIds - (mine & kIds));
  const float largest = logit_of(__shfl_sync(kAll, mine, 0) >> 16);
  const float p = spelt::exp(__fsub_rn(logit_of(mine >> 16), largest));
  float total = 0;
  int rank = 0;
#pragma unroll 1
  for (int j = 0; j < count; ++j) {
    total = __fadd_rn(total, __shfl_sync(kAll, p, j));
    rank += __shfl_sync(kAll, id, j) < id ? 1 : 0;
  }
  const float nan_weight = __uint_as_float(0x7fc00000U);
  return {id, rank, any_nan ? nan_weight : __fdiv_rn(p, total)};
}

/// The `count` largest of a row of logits, as route() defines them, by one warp; of lanes below `count`. Past L1. Short
/// code, since each launch fetches it anew.
__device__ Choice choose_experts(const float* logits, int experts, int count, int lane) {
  if (experts <= 256) return choose_of<256 / 32>(logits, experts, count, lane);
  return choose_of<kExpertsMax / 32>(logits, experts, count, lane);
}

/// One token, by one warp. ids: out, [experts_per_token].
__device__ void route_token(const RouteArgs& args, int token, int lane, int32_t* ids) {
  const Choice choice =
      choose_experts(args.logits + token * args.logits_stride, args.experts, args.experts_per_token, lane);
  if (lane >= args.experts_per_token) return;
  const int64_t row = int64_t{token} * args.experts_per_token;
  ids[choice.rank] = choice.id;
  args.weights[row + choice.rank] = choice.weight;
  if (args.chosen != nullptr) args.chosen[row + lane] = choice.id;
}

/// Of `live` tokens those of a chunk.
__device__ int chunk_tokens(int live, int chunk) { return min(kChunkTokens, live - chunk * kChunkTokens); }

/// Bit t of word t / 32: token t of the chunk takes the expert.
template <int words>
using Mask = uint32_t[words];

template <int words>
__device__ void clear(const RouteArgs& args, Mask<words>* masks) {
  for (int e = static_cast<int>(threadIdx.x); e < args.experts; e += static_cast<int>(blockDim.x)) {
#pragma unroll
    for (uint32_t& word : masks[e]) word = 0;
  }
}

/// The masks of cleared ones. ids: of a chunk of `tokens` tokens. With a __syncthreads() before and after.
template <int words>
__device__ void mark(const RouteArgs& args, int tokens, const int32_t* ids, Mask<words>* masks) {
  __syncthreads();
  const int k = args.experts_per_token;
  for (int i = static_cast<int>(threadIdx.x); i < tokens * k; i += static_cast<int>(blockDim.x)) {
    const int token = i / k;
    atomicOr(&masks[ids[i]][token / 32], 1U << (token % 32));
  }
  __syncthreads();
}

__device__ const int32_t* chunk_ids(const RouteArgs& args, int chunk) {
  return args.ids + int64_t{chunk} * kChunkTokens * args.experts_per_token;
}

template <int words>
__device__ int count(const Mask<words>& mask) {
  int bits = 0;
  for (const uint32_t word : mask) bits += __popc(word);
  return bits;
}

/// Gives the pairs of a chunk of `tokens` tokens their slots. first(expert): slot of its first token that takes it.
template <int words, typename First>
__device__ void place(const RouteArgs& args, int chunk, int tokens, const int32_t* ids, const Mask<words>* masks,
                      First&& first) {
  const int k = args.experts_per_token;
  const int64_t begin = int64_t{chunk} * kChunkTokens;
  for (int i = static_cast<int>(threadIdx.x); i < tokens * k; i += static_cast<int>(blockDim.x)) {
    const int token = i / k;
    const int expert = ids[i];
    int rank = __popc(masks[expert][token / 32] & ((1U << (token % 32)) - 1));
    for (int word = 0; word < token / 32; ++word) rank += __popc(masks[expert][word]);
    const int slot = first(expert) + rank;
    args.slots[begin * k + i] = slot;
    args.slot_token[slot] = static_cast<int32_t>(begin + token);
  }
}

/// Slots, and column tiles of both products.
struct Counts {
  int slots = 0, tiles[2] = {};

  __device__ void add(const Counts& other) {
    slots += other.slots;
    tiles[0] += other.tiles[0];
    tiles[1] += other.tiles[1];
  }
};

/// Sum over this lane and lower ones.
__device__ Counts inclusive_sum(Counts sum, int lane) {
  for (int step = 1; step < 32; step *= 2) {
    const Counts other = {__shfl_up_sync(kAll, sum.slots, step),
                          {__shfl_up_sync(kAll, sum.tiles[0], step), __shfl_up_sync(kAll, sum.tiles[1], step)}};
    if (lane >= step) sum.add(other);
  }
  return sum;
}

/// Sum of `value` over this thread and lower ones of the block, of kBlock threads; `total` of all. Once a kernel.
__device__ Counts inclusive_sum_of_block(const Counts& value, Counts& total) {
  constexpr int kWarps = kBlock / 32;
  __shared__ Counts warp_sums[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  Counts sum = inclusive_sum(value, lane);
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  const Counts of_warps = inclusive_sum(lane < kWarps ? warp_sums[lane] : Counts(), lane);  // by every warp
  const int before = warp > 0 ? warp - 1 : 0;
  const Counts lower = {__shfl_sync(kAll, of_warps.slots, before),
                        {__shfl_sync(kAll, of_warps.tiles[0], before), __shfl_sync(kAll, of_warps.tiles[1], before)}};
  if (warp > 0) sum.add(lower);
  total = {__shfl_sync(kAll, of_warps.slots, kWarps - 1),
           {__shfl_sync(kAll, of_warps.tiles[0], kWarps - 1), __shfl_sync(kAll, of_warps.tiles[1], kWarps - 1)}};
  return sum;
}

__device__ void write_tiles(SlotTile* tiles, int n, int group, int first_slot, int slots) {
  for (int i = 0; i * n < slots; ++i) tiles[i] = {group, first_slot + i * n, min(n, slots - i * n), 0};
}

/// Of n columns each; most experts have one, and a division would be the longest part.
__device__ int column_tiles(int slots, int n) {
  if (slots <= n) return slots > 0 ? 1 : 0;
  return (slots + n - 1) / n;
}

/// slots[i]: of expert kThreadExperts * thread + i; becomes its first slot. Writes first_slot and both tile lists.
__device__ void lay_out(const RouteArgs& args, int (&slots)[kThreadExperts]) {
  const int thread = static_cast<int>(threadIdx.x);
  const auto of_expert = [&](int i) {
    return Counts{slots[i],
                  {column_tiles(slots[i], args.tile_columns[0]), column_tiles(slots[i], args.tile_columns[1])}};
  };
  Counts mine;
  for (int i = 0; i < kThreadExperts; ++i) mine.add(of_expert(i));
  Counts all;
  const Counts end = inclusive_sum_of_block(mine, all);
  Counts at = {end.slots - mine.slots, {end.tiles[0] - mine.tiles[0], end.tiles[1] - mine.tiles[1]}};
  for (int i = 0; i < kThreadExperts; ++i) {
    const int expert = thread * kThreadExperts + i;
    const Counts counts = of_expert(i);
    if (expert < args.experts) args.first_slot[expert] = at.slots;
    for (int op = 0; op < 2; ++op) {
      write_tiles(args.tiles[op] + at.tiles[op], args.tile_columns[op], expert, at.slots, slots[i]);
    }
    slots[i] = at.slots;
    at.add(counts);
  }
  if (thread == 0) {
    args.first_slot[args.experts] = all.slots;
    for (int op = 0; op < 2; ++op) *args.tile_count[op] = all.tiles[op];
  }
}

/// One token, by one warp: its experts in ascending order are the slots. Short code, since one SM fetches all of it,
/// each launch anew. first_slot comes last and takes as long as the rest, which costs nothing: the shared expert's
/// product runs beside it, and starts later where this kernel ends before that one is launched
/// (docs/benchmarks/gpu.md).
__global__ void __launch_bounds__(32) route_one(const __grid_constant__ RouteArgs args) {
  const int lane = static_cast<int>(threadIdx.x);
  const int count = live_tokens(args.live_tokens, 1) > 0 ? args.experts_per_token : 0;
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const Choice choice = choose_experts(args.logits, args.experts, args.experts_per_token, lane);
  if (lane < count) {
    args.ids[choice.rank] = choice.id;
    args.weights[choice.rank] = choice.weight;
    if (args.chosen != nullptr) args.chosen[lane] = choice.id;
    args.slots[lane] = lane;
    args.slot_token[lane] = 0;
    for (SlotTile* tiles : args.tiles) tiles[choice.rank] = {choice.id, choice.rank, 1, 0};
  }
  if (lane == 0) {
    for (int32_t* tile_count : args.tile_count) *tile_count = count;
  }
#pragma unroll 1
  for (int first = 0; first <= args.experts; first += 32) {
    const int expert = first + lane;
    int slot = 0;  // ids below the expert's
#pragma unroll 1
    for (int j = 0; j < count; ++j) slot += __shfl_sync(kAll, choice.id, j) < expert ? 1 : 0;
    if (expert <= args.experts) args.first_slot[expert] = slot;
  }
}

/// Grouping of up to one chunk, and with `routes`, for kFewTokens, routing before it: a launch less.
template <bool routes>
__global__ void __launch_bounds__(kBlock) group_one_chunk(const __grid_constant__ RouteArgs args) {
  constexpr int kWords = routes ? (kFewTokens + 31) / 32 : kMaskWords;
  __shared__ Mask<kWords> masks[kExpertsMax];
  __shared__ int first[kExpertsMax];
  __shared__ int32_t few_ids[routes ? kFewTokens * plan::kExpertsPerTokenMax : 1];
  clear<kWords>(args, masks);
  const int thread = static_cast<int>(threadIdx.x), tokens = live_tokens(args.live_tokens, args.tokens);
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int32_t* ids = routes ? few_ids : args.ids;
  if constexpr (routes) {
    const int token = thread / 32;
    if (token < tokens) route_token(args, token, thread % 32, few_ids + token * args.experts_per_token);
  }
  mark<kWords>(args, tokens, ids, masks);
  int slots[kThreadExperts];
  for (int i = 0; i < kThreadExperts; ++i) {
    const int expert = thread * kThreadExperts + i;
    slots[i] = expert < args.experts ? count<kWords>(masks[expert]) : 0;
  }
  lay_out(args, slots);
  for (int i = 0; i < kThreadExperts; ++i) first[thread * kThreadExperts + i] = slots[i];
  __syncthreads();
  place<kWords>(args, 0, tokens, ids, masks, [&](int expert) { return first[expert]; });
  if constexpr (routes) {
    for (int i = thread; i < tokens * args.experts_per_token; i += kBlock) args.ids[i] = ids[i];
  }
}

__global__ void __launch_bounds__(kRouteWarps * 32) route_tokens(const __grid_constant__ RouteArgs args) {
  const int token = static_cast<int>(blockIdx.x) * kRouteWarps + static_cast<int>(threadIdx.x) / 32;
  const int tokens = live_tokens(args.live_tokens, args.tokens);
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  if (token >= tokens) return;
  route_token(args, token, static_cast<int>(threadIdx.x) % 32, args.ids + int64_t{token} * args.experts_per_token);
}

__global__ void __launch_bounds__(256) count_chunks(const __grid_constant__ RouteArgs args) {
  __shared__ Mask<kMaskWords> masks[kExpertsMax];
  clear<kMaskWords>(args, masks);
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int chunk = static_cast<int>(blockIdx.x),
            tokens = chunk_tokens(live_tokens(args.live_tokens, args.tokens), chunk);
  if (tokens <= 0) return;
  mark<kMaskWords>(args, tokens, chunk_ids(args, chunk), masks);
  for (int e = static_cast<int>(threadIdx.x); e < args.experts; e += static_cast<int>(blockDim.x)) {
    args.chunk_counts[int64_t{chunk} * args.experts + e] = count<kMaskWords>(masks[e]);
  }
}

/// Counts become each chunk's first slot of an expert.
__global__ void __launch_bounds__(kBlock) lay_out_chunks(const __grid_constant__ RouteArgs args) {
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int last = (live_tokens(args.live_tokens, args.tokens) + kChunkTokens - 1) / kChunkTokens;
  const auto entry = [&](int chunk, int i) {
    return args.chunk_counts + int64_t{chunk} * args.experts + static_cast<int>(threadIdx.x) * kThreadExperts + i;
  };
  const auto exists = [&](int i) { return static_cast<int>(threadIdx.x) * kThreadExperts + i < args.experts; };
  int slots[kThreadExperts] = {};
  for (int i = 0; i < kThreadExperts && exists(i); ++i) {
    for (int c = 0; c < last; ++c) slots[i] += *entry(c, i);
  }
  lay_out(args, slots);
  for (int i = 0; i < kThreadExperts && exists(i); ++i) {
    int at = slots[i];
    for (int c = 0; c < last; ++c) {
      const int of_chunk = *entry(c, i);
      *entry(c, i) = at;
      at += of_chunk;
    }
  }
}

__global__ void __launch_bounds__(256) place_chunks(const __grid_constant__ RouteArgs args) {
  __shared__ Mask<kMaskWords> masks[kExpertsMax];
  clear<kMaskWords>(args, masks);
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int chunk = static_cast<int>(blockIdx.x),
            tokens = chunk_tokens(live_tokens(args.live_tokens, args.tokens), chunk);
  if (tokens <= 0) return;
  const int32_t* ids = chunk_ids(args, chunk);
  mark<kMaskWords>(args, tokens, ids, masks);
  const int32_t* first = args.chunk_counts + int64_t{chunk} * args.experts;
  place<kMaskWords>(args, chunk, tokens, ids, masks, [&](int expert) { return first[expert]; });
}

}  // namespace

Status route(const RouteArgs& args, const device::Queue& queue) {
  if (args.tokens == 0) return {};
  const auto launch = [&](void (*kernel)(RouteArgs), int64_t blocks, unsigned threads) {
    return device::launch(kernel, queue, static_cast<unsigned>(blocks), threads, 0, args);
  };
  if (args.tokens == 1) return launch(route_one, 1, 32);
  if (args.tokens <= kFewTokens) return launch(group_one_chunk<true>, 1, kBlock);
  TESSERA_RETURN_IF_ERROR(launch(route_tokens, (args.tokens + kRouteWarps - 1) / kRouteWarps, kRouteWarps * 32));
  const int64_t blocks = chunks(args.tokens);
  if (blocks == 1) return launch(group_one_chunk<false>, 1, kBlock);
  TESSERA_RETURN_IF_ERROR(launch(count_chunks, blocks, 256));
  TESSERA_RETURN_IF_ERROR(launch(lay_out_chunks, 1, kBlock));
  return launch(place_chunks, blocks, 256);
}

}  // namespace tessera::kernels::cuda
