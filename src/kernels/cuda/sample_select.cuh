#pragma once

#include "kernels/cuda/sample_row.cuh"

// The best ids of a row, found by one thread block of kSampleThreads: by number or by mass. Counts and masses are
// integers, so that neither the order of atomic additions nor the way to the answer changes it. What lies on the way of
// a draw among few is short rather than unrolled: once a step, its instructions come from L2.
namespace tessera::kernels::cuda {

constexpr int kListMax = 2048;  // ranks that are sorted in shared memory
constexpr int kBinBits = 11;
constexpr int kBins = 1 << kBinBits;
static_assert(kBins == spelt::kBuckets);
constexpr int kBlocksListed = 256;            // that list_few() looks into, at most
constexpr int kFewBlocks = 4 * kSampleWarps;  // whose values a thread block keeps in registers
constexpr int kThreadBins = kBins / kSampleThreads;

/// Ids and their mass.
struct Amount {
  unsigned long long ids = 0, mass = 0;
};

/// A bin where a running sum crosses what is wanted.
struct Crossing {
  int bin = 0;
  Amount before;  // in the bins before it
  Amount inside;
};

/// Shared memory of the sums and maxima of a thread block.
struct BlockScratch {
  unsigned long long sums[kSampleWarps];
  Rank ranks[kSampleWarps];
};

struct SelectScratch : BlockScratch {
  union {
    alignas(16) Rank list[kListMax];
    struct {
      uint32_t ids[kBins];
      uint32_t mass_low[kBins], mass_high[kBins];
    } bins;
  };
  uint32_t listed;  // may exceed kListMax
  // Of list_few():
  uint32_t blocks_listed, least_key;
  int32_t listed_blocks[kBlocksListed];
  Crossing crossing;
};

/// How mass is measured: from the largest value of the row.
struct MassScale {
  float largest = 0, inverse = 0;
  [[nodiscard]] __device__ unsigned long long mass(Rank rank) const {
    return spelt::mass(spelt::depth(largest, value_of(rank), inverse));
  }
};

/// The sum over the threads before this one; *total: over all. With a __syncthreads() before and after.
__device__ inline unsigned long long sum_before(unsigned long long mine, BlockScratch& s, unsigned long long* total) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  unsigned long long sum = mine;
#pragma unroll 1
  for (int by = 1; by < 32; by *= 2) {
    const unsigned long long other = __shfl_up_sync(kAllLanes, sum, static_cast<unsigned>(by));
    if (lane >= by) sum += other;
  }
  __syncthreads();
  if (lane == 31) s.sums[warp] = sum;
  __syncthreads();
  unsigned long long before = sum - mine;
  *total = 0;
#pragma unroll 1
  for (int i = 0; i < kSampleWarps; ++i) {
    if (i < warp) before += s.sums[i];
    *total += s.sums[i];
  }
  __syncthreads();
  return before;
}

/// The largest rank of the thread block, in every thread. With a __syncthreads() before and after.
__device__ inline Rank block_best(Rank mine, BlockScratch& s) {
  const Rank best = warp_best(mine);
  __syncthreads();
  if (threadIdx.x % 32 == 0) s.ranks[threadIdx.x / 32] = best;
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Rank all = warp_best(lane < kSampleWarps ? s.ranks[lane] : kNoRank);
  __syncthreads();
  return all;
}

__device__ inline void clear_bins(SelectScratch& s) {
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kSampleThreads) {
    s.bins.ids[i] = s.bins.mass_low[i] = s.bins.mass_high[i] = 0;
  }
  __syncthreads();
}

__device__ inline void add_to_bin(SelectScratch& s, int bin, unsigned long long mass) {
  atomicAdd(&s.bins.ids[bin], 1U);
  const auto low = static_cast<uint32_t>(mass);
  // Shared memory adds 32 bits at a time; exactly one of the additions to a word sees each of its overflows.
  const uint32_t carry = atomicAdd(&s.bins.mass_low[bin], low) > ~low ? 1U : 0U;
  const uint32_t high = static_cast<uint32_t>(mass >> 32) + carry;
  if (high != 0) atomicAdd(&s.bins.mass_high[bin], high);
}

__device__ inline Amount bin_amount(const SelectScratch& s, int bin) {
  return {s.bins.ids[bin], static_cast<unsigned long long>(s.bins.mass_high[bin]) << 32 | s.bins.mass_low[bin]};
}

/// What a sum is of.
enum class Measure { ids, mass };
__device__ inline unsigned long long measured(Measure measure, const Amount& amount) {
  return measure == Measure::ids ? amount.ids : amount.mass;
}

/// The bins' total, and in s.crossing the first bin with which the sum from bin 0 on reaches want(total), which is at
/// least 1; if it is more than there is, s.crossing stays as it was. With a __syncthreads() before and after.
template <typename Want>
__device__ Amount find_crossing(SelectScratch& s, Measure measure, Want&& want) {
  __syncthreads();
  const int first = static_cast<int>(threadIdx.x) * kThreadBins;
  Amount mine;
  for (int i = 0; i < kThreadBins; ++i) {
    const Amount bin = bin_amount(s, first + i);
    mine.ids += bin.ids;
    mine.mass += bin.mass;
  }
  Amount total, before;
  before.ids = sum_before(mine.ids, s, &total.ids);
  before.mass = sum_before(mine.mass, s, &total.mass);
  const unsigned long long wanted = want(total);
  for (int i = 0; i < kThreadBins; ++i) {
    const Amount bin = bin_amount(s, first + i);
    const unsigned long long sum = measured(measure, before);
    if (sum < wanted && sum + measured(measure, bin) >= wanted) s.crossing = {first + i, before, bin};
    before.ids += bin.ids;
    before.mass += bin.mass;
  }
  __syncthreads();
  return total;
}

/// Lists the ranks from `low` to `high`. Returns how many there are, which may be more than were listed.
__device__ inline int gather(const SampleRowView& row, Rank low, Rank high, SelectScratch& s) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  __syncthreads();
  if (threadIdx.x == 0) s.listed = 0;
  __syncthreads();
  for_blocks(row, low, [&](int block, const float(&values)[kLaneIds]) {
#pragma unroll
    for (int i = 0; i < kLaneIds; ++i) {
      const Rank rank = rank_of(values[i], lane_id(block, lane, i));
      const bool in_range = rank >= low && rank <= high;
      const uint32_t lanes = __ballot_sync(kAllLanes, in_range);
      if (lanes == 0) continue;
      uint32_t at = 0;
      if (lane == 0) at = atomicAdd(&s.listed, static_cast<uint32_t>(__popc(lanes)));
      at = __shfl_sync(kAllLanes, at, 0) + static_cast<uint32_t>(__popc(lanes & ((1U << lane) - 1)));
      if (in_range && at < kListMax) s.list[at] = rank;
    }
  });
  __syncthreads();
  return static_cast<int>(s.listed);
}

/// Sorts the first `count` of the list, best first. With a __syncthreads() before and after. Pairs up to 32 apart are
/// those of 64 neighbours that one warp has throughout, so that other warps are waited for in few of the steps.
__device__ inline void sort_list(SelectScratch& s, int count) {
  int size = 2;
  while (size < count) size *= 2;
  for (int i = count + static_cast<int>(threadIdx.x); i < size; i += kSampleThreads) s.list[i] = kNoRank;
  bool own = false;  // what a warp looks at was last written by itself
  for (int run = 2; run <= size; run *= 2) {
    for (int stride = run / 2; stride > 0; stride /= 2) {
      if (own && stride <= 32) {
        __syncwarp();
      } else {
        __syncthreads();
      }
      own = stride <= 32;
      for (int i = static_cast<int>(threadIdx.x); i < size / 2; i += kSampleThreads) {
        const int at = 2 * i - (i & (stride - 1));
        const Rank a = s.list[at], b = s.list[at + stride];
        const bool descending = (at & run) == 0;
        if ((a < b) != descending) continue;
        s.list[at] = b;
        s.list[at + stride] = a;
      }
    }
  }
  __syncthreads();
}

/// The same of no more than there are threads: each counts those before its own.
__device__ inline void sort_few(SelectScratch& s, int count) {
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  const Rank mine = thread < count ? s.list[thread] : kNoRank;
  int before = 0;
  if (thread < count) {
#pragma unroll 4
    for (int i = 0; i < count; ++i) before += s.list[i] > mine ? 1 : 0;
  }
  __syncthreads();
  if (thread < count) s.list[before] = mine;
  __syncthreads();
}

/// Lists a lane's ranks with values from `least` on, as far as there are threads.
__device__ inline void list_from(float least, const float (&values)[kLaneIds], int block, int lane, SelectScratch& s) {
  uint32_t pending = 0;
#pragma unroll
  for (int i = 0; i < kLaneIds; ++i) pending |= values[i] >= least ? 1U << i : 0U;
#pragma unroll 1
  while (pending != 0) {
    const int at = __ffs(static_cast<int>(pending)) - 1;
    pending &= pending - 1;
    float value = values[0];
#pragma unroll
    for (int i = 1; i < kLaneIds; ++i) value = i == at ? values[i] : value;
    const uint32_t place = atomicAdd(&s.listed, 1U);
    if (place < kSampleThreads) s.list[place] = rank_of(value, lane_id(block, lane, at));
  }
}

/// Sorts what was listed. Returns how many there are of the `count` best; -1: they were too many.
__device__ inline int sort_listed(int count, SelectScratch& s) {
  __syncthreads();
  const auto listed = static_cast<int>(s.listed);
  if (listed > kSampleThreads) return -1;
  sort_few(s, listed);
  return min(listed, count);
}

/// The count-th best of `groups` keys at the front of the list, a multiple of 4 and at most kSampleThreads. With a
/// __syncthreads() before and after.
__device__ inline uint32_t key_reached_by(int count, int groups, SelectScratch& s) {
  const int thread = static_cast<int>(threadIdx.x);
  const auto* keys = reinterpret_cast<const uint32_t*>(s.list);
  const auto* fours = reinterpret_cast<const uint4*>(s.list);
  __syncthreads();
  if (thread < groups) {
    int before = 0;
#pragma unroll 2
    for (int i = 0; i < groups / 4; ++i) {
      const uint4 four = fours[i];
      int at = 4 * i;
      for (const uint32_t other : {four.x, four.y, four.z, four.w}) {
        before += other > keys[thread] || (other == keys[thread] && at < thread) ? 1 : 0;
        ++at;
      }
    }
    if (before == count - 1) s.least_key = keys[thread];
  }
  __syncthreads();
  return s.least_key;
}

/// list_few() of a row of few blocks, all of whose values are looked at: their groups are those of a thread.
__device__ inline int list_few_of_few(const SampleRowView& row, int count, SelectScratch& s) {
  constexpr int kEach = kFewBlocks / kSampleWarps;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  float values[kEach][kLaneIds];
  uint32_t best = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int block = warp + i * kSampleWarps;
    if (block >= row.blocks) continue;
    load_values(row, block, lane, values[i]);
    if (!row.raw) edit_values(row, block, lane, values[i]);
#pragma unroll
    for (const float value : values[i]) best = max(best, spelt::order_key(value));
  }
  __syncthreads();
  reinterpret_cast<uint32_t*>(s.list)[thread] = best;
  if (thread == 0) s.listed = 0;
  const float least = value_of(larger(Rank{key_reached_by(count, kSampleThreads, s)} << 32, kLeastRank));
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int block = warp + i * kSampleWarps;
    if (block < row.blocks) list_from(least, values[i], block, lane, s);
  }
  return sort_listed(count, s);
}

/// The `count` best ids of a row, listed and sorted, where they are few and found in one look at each block's best.
/// Returns how many; -1: they are not.
__device__ inline int list_few(const SampleRowView& row, int count, SelectScratch& s) {
  if (row.blocks <= kFewBlocks) return count <= kSampleThreads ? list_few_of_few(row, count, s) : -1;
  constexpr int kEach = 4;  // blocks of a thread
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  if (row.blocks > kEach * kSampleThreads) return -1;
  // Groups of lanes have a best each. At least `count` ids reach the count-th of those, and few more if there are twice
  // as many.
  const int threads = min(row.blocks, kSampleThreads);
  const int lanes = threads / 4 >= 2 * count ? 4 : threads / 2 >= 2 * count ? 2 : 1;
  if (threads / lanes < count) return -1;

  uint32_t keys[kEach], best = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int block = thread + i * kSampleThreads;
    keys[i] = block < row.blocks ? static_cast<uint32_t>(__ldcg(row.best + block) >> 32) : 0;
  }
#pragma unroll
  for (const uint32_t key : keys) best = max(best, key);
#pragma unroll 1
  for (int by = 1; by < lanes; by *= 2) best = max(best, __shfl_xor_sync(kAllLanes, best, by));
  __syncthreads();
  if (thread % lanes == 0) reinterpret_cast<uint32_t*>(s.list)[thread / lanes] = best;
  if (thread == 0) s.listed = s.blocks_listed = 0;
  const uint32_t low = max(key_reached_by(count, kSampleThreads / lanes, s), static_cast<uint32_t>(kLeastRank >> 32));
  const float least = spelt::of_order_key(low);

  // ---- the blocks that have any of them, then those ----
  uint32_t pending = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) pending |= keys[i] >= low ? 1U << i : 0U;
#pragma unroll 1
  for (; pending != 0; pending &= pending - 1) {
    const uint32_t at = atomicAdd(&s.blocks_listed, 1U);
    if (at < kBlocksListed) s.listed_blocks[at] = thread + (__ffs(static_cast<int>(pending)) - 1) * kSampleThreads;
  }
  __syncthreads();
  if (s.blocks_listed > kBlocksListed) return -1;
  const auto listed_blocks = static_cast<int>(s.blocks_listed);
  float ahead[kLaneIds] = {};  // of the next block, which is under way while one is looked at
#pragma unroll 1
  for (int i = warp - kSampleWarps; i < listed_blocks; i += kSampleWarps) {
    float values[kLaneIds];
#pragma unroll
    for (int j = 0; j < kLaneIds; ++j) values[j] = ahead[j];
    if (i + kSampleWarps < listed_blocks) load_values(row, s.listed_blocks[i + kSampleWarps], lane, ahead);
    if (i < 0) continue;
    if (!row.raw) edit_values(row, s.listed_blocks[i], lane, values);
    list_from(least, values, s.listed_blocks[i], lane, s);
  }
  return sort_listed(count, s);
}

/// A rank that at least `count` ids of the row reach, and few more: the count-th best of the blocks' best, or, of few,
/// of those of groups of blocks, which are sooner sorted. count: less than there are blocks.
__device__ inline Rank reached_by(const SampleRowView& row, int count, SelectScratch& s) {
  const int groups = count <= kSampleThreads / 4 ? min(row.blocks, kSampleThreads) : row.blocks;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < groups; i += kSampleThreads) {
    Rank best = kNoRank;
    for (int block = i; block < row.blocks; block += groups) best = larger(best, __ldcg(row.best + block));
    s.list[i] = best;
  }
  sort_list(s, groups);
  return s.list[count - 1];
}

/// Narrows [low, high] to a range of at most kListMax ids in which the sum from `high` down reaches `wanted`, by the
/// bits of ranks, kBinBits at a time. Returns what the ids above the narrower range make up.
__device__ inline Amount narrow(const SampleRowView& row, const MassScale& scale, Measure measure,
                                unsigned long long wanted, Rank& low, Rank& high, SelectScratch& s) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Amount above;
  while (true) {
    const int shift = max(64 - __clzll(static_cast<long long>(low ^ high)) - kBinBits, 0);
    __syncthreads();
    clear_bins(s);
    for_blocks(row, low, [&](int block, const float(&values)[kLaneIds]) {
#pragma unroll
      for (int i = 0; i < kLaneIds; ++i) {
        const Rank rank = rank_of(values[i], lane_id(block, lane, i));
        if (rank < low || rank > high) continue;
        add_to_bin(s, kBins - 1 - static_cast<int>(rank >> shift & (kBins - 1)), scale.mass(rank));
      }
    });
    find_crossing(s, measure, [&](const Amount&) { return wanted; });
    const Crossing found = s.crossing;
    above.ids += found.before.ids;
    above.mass += found.before.mass;
    wanted -= measured(measure, found.before);
    const Rank prefix = low >> shift >> kBinBits << kBinBits | static_cast<Rank>(kBins - 1 - found.bin);
    const Rank begin = prefix << shift, last = begin + ((Rank{1} << shift) - 1);
    low = larger(begin, low);
    high = last < high ? last : high;
    if (found.inside.ids <= kListMax) return above;
  }
}

/// The rank in [low, high] with which the sum from `high` down reaches `wanted` (at least 1, at most what the range
/// has), and the mass of it and those above it.
struct Selected {
  Rank rank = kNoRank;
  unsigned long long mass = 0;
};
__device__ inline Selected select(const SampleRowView& row, const MassScale& scale, Measure measure,
                                  unsigned long long wanted, Rank low, Rank high, SelectScratch& s) {
  Amount above;
  int listed = 0;
  while ((listed = gather(row, low, high, s)) > kListMax) {
    above = narrow(row, scale, measure, wanted, low, high, s);
    wanted -= measured(measure, above);
  }
  sort_list(s, listed);
  constexpr int kThreadRanks = kListMax / kSampleThreads;
  const int first = static_cast<int>(threadIdx.x) * kThreadRanks, end = min(first + kThreadRanks, listed);
  unsigned long long mine = 0, total = 0;
  for (int i = first; i < end; ++i) mine += scale.mass(s.list[i]);
  Amount sum{static_cast<unsigned long long>(first), sum_before(mine, s, &total)};
  for (int i = first; i < end; ++i) {
    const unsigned long long before = measured(measure, sum);
    ++sum.ids;
    sum.mass += scale.mass(s.list[i]);
    if (before < wanted && measured(measure, sum) >= wanted) s.crossing = {i, {}, sum};
  }
  __syncthreads();
  return {s.list[s.crossing.bin], above.mass + s.crossing.inside.mass};
}

/// The `count` best ids from `low` to `high` (all there are, if fewer), listed and sorted; count <= kListMax. Returns
/// how many.
__device__ inline int list_best(const SampleRowView& row, int count, Rank low, Rank high, SelectScratch& s) {
  int listed = 0;
  while ((listed = gather(row, low, high, s)) > kListMax) {
    low = select(row, {}, Measure::ids, static_cast<unsigned long long>(count), low, high, s).rank;
  }
  sort_list(s, listed);
  return min(listed, count);
}

/// The smallest key that `holds` says yes to, if it says yes to `yes`, no to `no`, and to all keys on either side of
/// the change alike. By a warp.
template <typename Holds>
__device__ uint32_t first_key(uint32_t no, uint32_t yes, int lane, Holds&& holds) {
  while (yes - no > 1) {
    const uint32_t left = yes - no, step = (left + 31) / 32, at = static_cast<uint32_t>(lane + 1) * step;
    const uint32_t probe = at < left ? no + at : yes;
    const int nos = __popc(__ballot_sync(kAllLanes, probe != yes && !holds(probe)));
    const uint32_t begin = no + static_cast<uint32_t>(nos) * step;
    const uint32_t end = yes - begin > step ? begin + step : yes;
    no = begin;
    yes = end;
  }
  return yes;
}

}  // namespace tessera::kernels::cuda
