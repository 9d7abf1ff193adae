#pragma once

#include "kernels/cuda/sample.h"
#include "kernels/noise.h"
#include "kernels/sample_math.h"

// A row of logits as the sampler's kernels see it: read by warps in blocks of 256 ids, edited on the way, as ranks.
namespace tessera::kernels::cuda {

constexpr unsigned kAllLanes = 0xffffffffU;
constexpr int kSampleThreads = 256;
constexpr int kSampleWarps = kSampleThreads / 32;
constexpr int kIdBlock = 256;  // ids that a warp reads at once, 8 a lane
constexpr int kLaneIds = 8;

/// An id and its value, larger for what comes first: the larger value, of equals the lower id. 0 is none.
using Rank = unsigned long long;
constexpr Rank kNoRank = 0;
/// What is ruled out, by a logit of -infinity, ranks below this.
constexpr Rank kLeastRank = Rank{0x00800000} << 32;

__device__ inline Rank rank_of(float value, int32_t id) {
  return Rank{spelt::order_key(value)} << 32 | ~static_cast<uint32_t>(id);
}
__device__ inline int32_t id_of(Rank rank) { return static_cast<int32_t>(~static_cast<uint32_t>(rank)); }
__device__ inline float value_of(Rank rank) { return spelt::of_order_key(static_cast<uint32_t>(rank >> 32)); }
__device__ inline Rank larger(Rank a, Rank b) { return a > b ? a : b; }

/// The largest of a warp's ranks, in every lane.
__device__ inline Rank warp_best(Rank mine) {
  const auto high = static_cast<uint32_t>(mine >> 32);
  const uint32_t key = __reduce_max_sync(kAllLanes, high);
  const uint32_t low = __reduce_max_sync(kAllLanes, high == key ? static_cast<uint32_t>(mine) : 0U);
  return Rank{key} << 32 | low;
}

struct SampleRowView {
  const float* logits = nullptr;       // [vocab]
  const SampleEntry* entry = nullptr;  // in shared memory
  const uint16_t* counts = nullptr;    // [vocab] of the row's slot
  const uint32_t* pool = nullptr;
  const Rank* best = nullptr;  // [blocks] the largest rank of each block, edited or raw as the view is
  int32_t vocab = 0, known_ids = 0, blocks = 0;
  bool raw = false;  // logits as they came, of the whole vocabulary
};

/// The id of a lane's i-th value in a block.
__device__ inline int32_t lane_id(int block, int lane, int i) {
  return block * kIdBlock + i / 4 * 128 + lane * 4 + i % 4;
}

/// A lane's values of a block; -infinity beyond the vocabulary.
__device__ inline void load_values(const SampleRowView& row, int block, int lane, float (&values)[kLaneIds]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int32_t first = lane_id(block, lane, half * 4);
    if (row.vocab % 4 == 0) {
      float4 four = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
      if (first < row.vocab) four = __ldcg(reinterpret_cast<const float4*>(row.logits + first));
      values[half * 4] = four.x;
      values[half * 4 + 1] = four.y;
      values[half * 4 + 2] = four.z;
      values[half * 4 + 3] = four.w;
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        values[half * 4 + i] = first + i < row.vocab ? __ldcg(row.logits + first + i) : -INFINITY;
      }
    }
  }
}

/// The first of `count` ascending ids, `stride` words apart, that is not below `id`. By a warp: 32 probes at a time.
__device__ inline int first_not_below(const uint32_t* ids, int stride, int count, int32_t id, int lane) {
  int low = 0, left = count;
  while (left > 0) {
    const int step = (left + 31) / 32;
    const int at = low + min((lane + 1) * step, left) - 1;
    const bool below = static_cast<int32_t>(__ldcg(ids + int64_t{at} * stride)) < id;
    const int parts = __popc(__ballot_sync(kAllLanes, below));
    if (parts == 32) return low + left;
    low += parts * step;
    left = min(step, left - parts * step) - 1;
  }
  return low;
}

/// f(index, id) for the list's ids of a block, in their order.
template <typename F>
__device__ void for_listed(const uint32_t* ids, int stride, int count, int block, int lane, F&& f) {
  for (int i = first_not_below(ids, stride, count, block * kIdBlock, lane); i < count; ++i) {
    const auto id = static_cast<int32_t>(__ldcg(ids + int64_t{i} * stride));
    if (id >= (block + 1) * kIdBlock) return;
    f(i, id);
  }
}

/// TokenCounts::apply.
__device__ inline float penalise(const SampleEntry& entry, float logit, uint32_t word) {
  if (word == 0) return logit;
  const uint32_t count = word & 0x7fffU;
  logit = logit > 0 ? __fdiv_rn(logit, entry.repetition_penalty) : __fmul_rn(logit, entry.repetition_penalty);
  logit = __fsub_rn(logit, __fmul_rn(entry.frequency_penalty, static_cast<float>(count)));
  return count > 0 ? __fsub_rn(logit, entry.presence_penalty) : logit;
}

/// Counts as the row's drafts leave them.
__device__ inline void count_drafts(const SampleRowView& row, int32_t first, uint32_t (&words)[4]) {
#pragma unroll 1
  for (int d = 0; d < row.entry->draft_count; ++d) {
    const auto id = static_cast<int32_t>(__ldcg(row.pool + row.entry->drafts + d));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (first + i == id && (words[i] & 0x7fffU) < 0x7fffU) ++words[i];
    }
  }
}

/// Of four ids from `first` on.
__device__ inline void load_counts(const SampleRowView& row, int32_t first, uint32_t (&words)[4]) {
  if (row.vocab % 4 == 0) {
    if (first >= row.vocab) return;
    const uint2 pairs = __ldcg(reinterpret_cast<const uint2*>(row.counts + first));
    words[0] = pairs.x & 0xffffU;
    words[1] = pairs.x >> 16;
    words[2] = pairs.y & 0xffffU;
    words[3] = pairs.y >> 16;
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (first + i < row.vocab) words[i] = __ldcg(row.counts + first + i);
    }
  }
}

/// Bias, penalties, what is allowed or banned, ids that the tokenizer does not know.
__device__ inline void edit_values(const SampleRowView& row, int block, int lane, float (&values)[kLaneIds]) {
  const SampleEntry& entry = *row.entry;
  if (entry.bias_count > 0) {
    const uint32_t* biases = row.pool + entry.biases;
    for_listed(biases, 2, static_cast<int>(entry.bias_count), block, lane, [&](int index, int32_t id) {
      const float addend = __uint_as_float(__ldcg(biases + 2 * int64_t{index} + 1));
#pragma unroll
      for (int i = 0; i < kLaneIds; ++i) {
        if (lane_id(block, lane, i) == id) values[i] = __fadd_rn(values[i], addend);
      }
    });
  }
  if (entry.has_penalty != 0) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int32_t first = lane_id(block, lane, half * 4);
      uint32_t words[4] = {};
      load_counts(row, first, words);
      count_drafts(row, first, words);
#pragma unroll
      for (int i = 0; i < 4; ++i) values[half * 4 + i] = penalise(entry, values[half * 4 + i], words[i]);
    }
  }
  if (entry.has_allowed != 0) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int32_t first = lane_id(block, lane, half * 4);
      if (first >= row.vocab) continue;
      const uint32_t keeps = __ldcg(row.pool + entry.allowed + first / 32) >> (first % 32);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& value = values[half * 4 + i];
        // What is no number stays, to be found out.
        if ((keeps >> i & 1U) == 0 && fabsf(value) <= 3.40282347e+38F) value = -INFINITY;
      }
    }
  } else if (entry.banned_count > 0) {
    for_listed(row.pool + entry.banned, 1, static_cast<int>(entry.banned_count), block, lane, [&](int, int32_t id) {
#pragma unroll
      for (int i = 0; i < kLaneIds; ++i) {
        if (lane_id(block, lane, i) == id) values[i] = -INFINITY;
      }
    });
  }
  if ((block + 1) * kIdBlock > row.known_ids) {
#pragma unroll
    for (int i = 0; i < kLaneIds; ++i) {
      if (lane_id(block, lane, i) >= row.known_ids) values[i] = -INFINITY;
    }
  }
}

__device__ inline bool any_not_finite(const float (&values)[kLaneIds]) {
  bool bad = false;
#pragma unroll
  for (const float value : values) bad |= !(value <= 3.40282347e+38F);
  return bad;
}

/// The best of a lane's values. Ids rise with i, so that the first of equals stays.
__device__ inline Rank best_of_lane(int block, int lane, const float (&values)[kLaneIds]) {
  uint32_t key = 0;
  int32_t id = 0;
#pragma unroll
  for (int i = 0; i < kLaneIds; ++i) {
    const uint32_t other = spelt::order_key(values[i]);
    if (other <= key) continue;
    key = other;
    id = lane_id(block, lane, i);
  }
  return Rank{key} << 32 | ~static_cast<uint32_t>(id);
}

/// f(block, values) for the blocks whose best rank is at least `low`, by all warps of a thread block. The next block,
/// and the ranks after these, are under way while f looks at one.
template <typename F>
__device__ void for_blocks(const SampleRowView& row, Rank low, F&& f) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const auto rank_at = [&](int block) { return block < row.blocks ? __ldcg(row.best + block) : kNoRank; };
  Rank mine = rank_at(warp * 32 + lane);
  for (int first = warp * 32; first < row.blocks; first += kSampleThreads) {
    uint32_t pending = __ballot_sync(kAllLanes, mine >= low && mine != kNoRank);
    mine = rank_at(first + kSampleThreads + lane);
    float ahead[kLaneIds];
    if (pending != 0) load_values(row, first + __ffs(static_cast<int>(pending)) - 1, lane, ahead);
    while (pending != 0) {
      const int block = first + __ffs(static_cast<int>(pending)) - 1;
      pending &= pending - 1;
      float values[kLaneIds];
#pragma unroll
      for (int i = 0; i < kLaneIds; ++i) values[i] = ahead[i];
      if (pending != 0) load_values(row, first + __ffs(static_cast<int>(pending)) - 1, lane, ahead);
      if (!row.raw) edit_values(row, block, lane, values);
      f(block, values);
    }
  }
}

/// noise_bits.
__device__ inline uint32_t noise_of(const SampleEntry& entry, int32_t token) {
  const auto id = static_cast<uint32_t>(token);
  const auto four =
      philox({id / 4, static_cast<uint32_t>(entry.position), static_cast<uint32_t>(entry.position >> 32), entry.choice},
             entry.key);
  const uint32_t low = (id & 1U) != 0 ? four[1] : four[0], high = (id & 1U) != 0 ? four[3] : four[2];
  return (id & 2U) != 0 ? high : low;
}

}  // namespace tessera::kernels::cuda
