#include "kernels/cuda/sample.h"

#include "device/cuda.h"
#include "kernels/cuda/sample_select.cuh"
#include "kernels/ptx/griddepcontrol.cuh"

namespace tessera::kernels::cuda {
namespace {

/// Up to this top_k one thread block draws, a thread an id. The best ranks of groups of ids leave little more than
/// top_k of them to look at as long as there are twice as many groups: blocks, or of a row of few the ids of a thread.
constexpr int kSmallTopK = kSampleThreads;
__device__ bool one_block_draws(int top_k, int blocks) {
  if (top_k == 0 || top_k > kSmallTopK) return false;
  return blocks * kIdBlock <= kListMax || 2 * top_k <= (blocks <= kFewBlocks ? kSampleThreads : blocks);
}

// What a row still needs after scan_rows().
constexpr uint32_t kNeedsDrawOfFew = 1, kNeedsCut = 2, kNeedsDraw = 4, kNeedsLogprobs = 8;
constexpr uint32_t kEditedNotFinite = 1, kRawNotFinite = 2;

/// What the thread blocks of a row leave for its last one.
struct Chunk {
  Rank best, raw_best;      // scan
  Rank drawn;               // draw: of scores
  unsigned long long mass;  // weigh: of raw logits at temperature 1
  uint32_t not_finite;      // scan
  uint32_t unused;
};

struct RowState {
  Rank best, raw_best;
  Rank cut;       // ids that rank below are left out
  int32_t token;  // once there is nothing to draw
  uint32_t needs;
};

struct Workspace {
  uint32_t* tickets = nullptr;             // [3, kSampleRowsMax], zero between calls
  RowState* states = nullptr;              // [rows_max]
  Chunk* chunks = nullptr;                 // [rows_max, chunks_max]
  Rank* best = nullptr;                    // [rows_max, blocks]
  Rank* raw_best = nullptr;                // [rows_max, blocks]
  uint32_t* bin_ids = nullptr;             // [rows_max, kBins], zero from scan_rows() on
  unsigned long long* bin_mass = nullptr;  // [rows_max, kBins], the same
  size_t bytes = 0;
};

constexpr int64_t id_blocks(int64_t vocab) { return (vocab + kIdBlock - 1) / kIdBlock; }
constexpr int64_t chunks_max(int64_t vocab) { return (id_blocks(vocab) + kSampleWarps - 1) / kSampleWarps; }

Workspace lay_out(std::byte* memory, int64_t rows_max, int64_t vocab) {
  Workspace w;
  const auto take = [&]<typename T>(T*& p, int64_t count) {
    p = reinterpret_cast<T*>(memory + w.bytes);
    w.bytes += (static_cast<size_t>(count) * sizeof(T) + 255) / 256 * 256;
  };
  take(w.tickets, 3 * kSampleRowsMax);  // first, and as many whatever rows_max
  take(w.states, rows_max);
  take(w.chunks, rows_max * chunks_max(vocab));
  take(w.best, rows_max * id_blocks(vocab));
  take(w.raw_best, rows_max * id_blocks(vocab));
  take(w.bin_ids, rows_max * kBins);
  take(w.bin_mass, rows_max * kBins);
  return w;
}

struct KernelArgs {
  SampleArgs sample;
  Workspace workspace;
  int32_t blocks = 0;        // of 256 ids
  int32_t chunk_blocks = 0;  // of a thread block
  int32_t chunks = 0;        // thread blocks of a row
  int32_t chunks_max = 0;
};

/// A thread block's row, in shared memory.
struct RowContext {
  SampleEntry entry;
  RowState state;
  uint32_t ticket;
};
template <typename Scratch>
struct RowShared : RowContext {
  Scratch scratch;
};
using ScanShared = RowShared<BlockScratch>;
using SelectShared = RowShared<SelectScratch>;

__device__ Chunk* chunks_of(const KernelArgs& args, int row) {
  return args.workspace.chunks + int64_t{row} * args.chunks_max;
}

/// Copies to shared memory, past L1, by the first threads.
template <typename T>
__device__ void load_words(const T* from, T& to) {
  static_assert(sizeof(T) % 4 == 0 && sizeof(T) / 4 <= kSampleThreads);
  if (threadIdx.x >= sizeof(T) / 4) return;
  reinterpret_cast<uint32_t*>(&to)[threadIdx.x] = __ldcg(reinterpret_cast<const uint32_t*>(from) + threadIdx.x);
}
/// The row's entry, and what scan_rows() found; of a row behind those that there are anything. With a __syncthreads()
/// after.
__device__ void load_entry(const KernelArgs& args, int row, RowContext& context) {
  load_words(args.sample.tables.entries + row, context.entry);
  __syncthreads();
}
__device__ void load_entry_and_state(const KernelArgs& args, int row, RowContext& context) {
  load_words(args.workspace.states + row, context.state);
  load_entry(args, row, context);
}

__device__ SampleRowView view_of(const KernelArgs& args, int row, const RowContext& context, bool raw) {
  SampleRowView view;
  view.logits = args.sample.logits + row * args.sample.vocab;
  view.entry = &context.entry;
  view.counts = args.sample.counts + context.entry.slot * args.sample.vocab;
  view.pool = args.sample.tables.pool;
  view.best = (raw ? args.workspace.raw_best : args.workspace.best) + int64_t{row} * args.blocks;
  view.vocab = static_cast<int32_t>(args.sample.vocab);
  view.known_ids = static_cast<int32_t>(args.sample.known_ids);
  view.blocks = args.blocks;
  view.raw = raw;
  return view;
}

__device__ bool wants_raw(const SampleEntry& entry) { return entry.logprobs >= 0; }

/// Whether this thread block is the last of its row to get here; it sees what the others wrote before. The ticket is 0
/// again then.
__device__ bool is_last(const KernelArgs& args, int kernel, int row, RowContext& context) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t* ticket = args.workspace.tickets + kernel * kSampleRowsMax + row;
    context.ticket = atomicInc(ticket, static_cast<uint32_t>(args.chunks) - 1);
  }
  __syncthreads();
  if (context.ticket != static_cast<uint32_t>(args.chunks) - 1) return false;
  __threadfence();
  return true;
}

/// Writes a row's result, by one thread. The log-probabilities are there already.
__device__ void finish_row(const KernelArgs& args, int row, const SampleEntry& entry, SampleStatus status,
                           int32_t token, int logprobs) {
  SampleOutput& out = args.sample.out[row];
  out.token = token;
  out.status = status;
  out.logprob_count = logprobs;
  if (!entry.draws()) return;
  args.sample.last_token[entry.draft * args.sample.slots + entry.slot] = token;
  if (entry.is_counted == 0 || status != SampleStatus::ok) return;
  uint16_t* count = args.sample.counts + entry.slot * args.sample.vocab + token;
  const uint32_t word = __ldcg(count);
  if ((word & 0x7fffU) < 0x7fffU) *count = static_cast<uint16_t>(word + 1);
}

__device__ MassScale mass_scale(const RowContext& context) {
  return {value_of(context.state.best), context.entry.inverse_temperature};
}

/// An id's part in the draw: its score, if min_p keeps it.
__device__ Rank score_of(const SampleEntry& entry, int32_t id, float depth, uint32_t noise) {
  return depth <= entry.deepest ? rank_of(__fsub_rn(spelt::gumbel(noise), depth), id) : kNoRank;
}

/// What is known of a row once all of it has been looked at. By its last thread block.
__device__ void end_scan(const KernelArgs& args, int row, ScanShared& context) {
  const SampleEntry& entry = context.entry;
  Rank best = kNoRank, raw_best = kNoRank;
  uint32_t bad = 0;
  for (int i = static_cast<int>(threadIdx.x); i < args.chunks; i += kSampleThreads) {
    const Chunk& chunk = chunks_of(args, row)[i];
    best = larger(best, __ldcg(&chunk.best));
    raw_best = larger(raw_best, __ldcg(&chunk.raw_best));
    bad |= __ldcg(&chunk.not_finite);
  }
  best = block_best(best, context.scratch);
  raw_best = block_best(raw_best, context.scratch);
  const bool edited_bad = __syncthreads_or((bad & kEditedNotFinite) != 0) != 0;
  const bool raw_bad = __syncthreads_or((bad & kRawNotFinite) != 0) != 0;

  SampleStatus status = SampleStatus::ok;
  if (entry.draws() && edited_bad) {
    status = SampleStatus::non_finite;
  } else if (entry.draws() && best < kLeastRank) {
    status = entry.rules_out() ? SampleStatus::none_left : SampleStatus::non_finite;
  } else if (raw_bad || (wants_raw(entry) && raw_best < kLeastRank)) {
    status = SampleStatus::non_finite;
  }
  RowState state{best, raw_best, kLeastRank, 0, 0};
  if (status == SampleStatus::ok) {
    state.needs = wants_raw(entry) ? kNeedsLogprobs : 0;
    state.token = entry.draws() ? id_of(best) : entry.target;
    if (entry.inverse_temperature > 0) {
      const bool few = one_block_draws(entry.top_k, args.blocks);
      const uint32_t cut = entry.top_k > 0 || entry.top_p != 0 ? kNeedsCut : 0;
      state.needs |= few ? kNeedsDrawOfFew : kNeedsDraw | cut;
    }
  }
  if (threadIdx.x != 0) return;
  args.workspace.states[row] = state;
  if (state.needs == 0) finish_row(args, row, entry, status, state.token, 0);
}

__global__ void __launch_bounds__(kSampleThreads, 4) scan_rows(const __grid_constant__ KernelArgs args) {
  __shared__ __align__(16) std::byte memory[sizeof(ScanShared)];
  ScanShared& context = *reinterpret_cast<ScanShared*>(memory);
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int row = static_cast<int>(blockIdx.y), chunk = static_cast<int>(blockIdx.x);
  const int rows = __ldcg(&args.sample.tables.header->rows);
  load_entry(args, row, context);
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const SampleEntry& entry = context.entry;
  const SampleRowView view = view_of(args, row, context, false);

  // ---- this thread block's ids ----
  Rank best = kNoRank, raw_best = kNoRank;
  uint32_t bad = 0;
  const int first = chunk * args.chunk_blocks, end = min(first + args.chunk_blocks, args.blocks);
  const auto look_at = [&](int block, float(&values)[kLaneIds]) {
    if (wants_raw(entry)) {
      if (any_not_finite(values)) bad |= kRawNotFinite;
      const Rank rank = warp_best(best_of_lane(block, lane, values));
      if (lane == 0) args.workspace.raw_best[int64_t{row} * args.blocks + block] = rank;
      raw_best = larger(raw_best, rank);
    }
    if (!entry.draws()) return;
    edit_values(view, block, lane, values);
    if (any_not_finite(values)) bad |= kEditedNotFinite;
    const Rank rank = warp_best(best_of_lane(block, lane, values));
    if (lane == 0) args.workspace.best[int64_t{row} * args.blocks + block] = rank;
    best = larger(best, rank);
  };
  float ahead[kLaneIds];
  if (first + warp < end) load_values(view, first + warp, lane, ahead);
  for (int block = first + warp; block < end; block += kSampleWarps) {
    float values[kLaneIds];
#pragma unroll
    for (int i = 0; i < kLaneIds; ++i) values[i] = ahead[i];
    if (block + kSampleWarps < end) load_values(view, block + kSampleWarps, lane, ahead);
    look_at(block, values);
  }
  if (entry.top_k > 0 || entry.top_p != 0) {
    for (int i = chunk * kSampleThreads + static_cast<int>(threadIdx.x); i < kBins; i += args.chunks * kSampleThreads) {
      args.workspace.bin_ids[int64_t{row} * kBins + i] = 0;
      args.workspace.bin_mass[int64_t{row} * kBins + i] = 0;
    }
  }

  // ---- the row ----
  best = block_best(best, context.scratch);
  raw_best = block_best(raw_best, context.scratch);
  const bool edited_bad = __syncthreads_or((bad & kEditedNotFinite) != 0) != 0;
  const bool raw_bad = __syncthreads_or((bad & kRawNotFinite) != 0) != 0;
  if (threadIdx.x == 0) {
    chunks_of(args, row)[chunk] = {
        best, raw_best, kNoRank, 0, (edited_bad ? kEditedNotFinite : 0) | (raw_bad ? kRawNotFinite : 0), 0};
  }
  if (is_last(args, 0, row, context)) end_scan(args, row, context);
}

/// The token of a row whose top_k is small, by one thread block.
__device__ int32_t draw_of_few(const KernelArgs& args, int row, SelectShared& context) {
  SelectScratch& s = context.scratch;
  const SampleEntry& entry = context.entry;
  const SampleRowView view = view_of(args, row, context, false);
  const MassScale scale = mass_scale(context);
  int kept = list_few(view, entry.top_k, s);
  if (kept < 0) {
    Rank low = kLeastRank;
    if (entry.top_k < args.blocks) low = larger(low, reached_by(view, entry.top_k, s));
    kept = list_best(view, entry.top_k, low, context.state.best, s);
  }
  // ---- top_p ----
  const int place = static_cast<int>(threadIdx.x);
  const Rank rank = place < kept ? s.list[place] : kNoRank;
  const float depth = spelt::depth(scale.largest, value_of(rank), scale.inverse);
  if (entry.top_p != 0) {
    const unsigned long long mass = place < kept ? spelt::mass(depth) : 0;
    unsigned long long total = 0;
    const unsigned long long before = sum_before(mass, s, &total), wanted = spelt::share(total, entry.top_p);
    if (before < wanted && before + mass >= wanted) s.crossing.bin = place;
    __syncthreads();
    kept = s.crossing.bin + 1;
  }
  // ---- Gumbel-max ----
  const Rank score = place < kept ? score_of(entry, id_of(rank), depth, noise_of(entry, id_of(rank))) : kNoRank;
  return id_of(block_best(score, s));
}

/// The cut of top_k and top_p from the row's masses by depth. By its last thread block.
__device__ Rank find_cut(const KernelArgs& args, int row, SelectShared& context) {
  SelectScratch& s = context.scratch;
  const SampleEntry& entry = context.entry;
  const SampleRowView view = view_of(args, row, context, false);
  const MassScale scale = mass_scale(context);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto load_bins = [&] {
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kSampleThreads) {
      s.bins.ids[i] = __ldcg(args.workspace.bin_ids + int64_t{row} * kBins + i);
      const unsigned long long mass = __ldcg(args.workspace.bin_mass + int64_t{row} * kBins + i);
      s.bins.mass_low[i] = static_cast<uint32_t>(mass);
      s.bins.mass_high[i] = static_cast<uint32_t>(mass >> 32);
    }
  };
  // Ranks of the ids of one bin, which are those between two keys.
  const uint32_t ruled_out = static_cast<uint32_t>(kLeastRank >> 32) - 1;
  const auto best_key = static_cast<uint32_t>(context.state.best >> 32);
  const auto last_key = [&](int bin) {
    return first_key(ruled_out, best_key, lane, [&](uint32_t key) {
      return spelt::depth(scale.largest, spelt::of_order_key(key), scale.inverse) * spelt::kBucketsPerUnit <
             static_cast<float>(bin + 1);
    });
  };
  const auto low_of = [&](int bin) { return Rank{last_key(bin)} << 32; };
  const auto high_of = [&](int bin) { return bin == 0 ? ~Rank{0} : (Rank{last_key(bin - 1)} << 32) - 1; };

  Rank cut = kLeastRank;
  unsigned long long cut_mass = ~0ULL;  // of what top_k leaves; all by default
#pragma unroll 1
  for (int filter = 0; filter < 2; ++filter) {  // top_k, then top_p of what it left
    const bool by_ids = filter == 0;
    const Measure measure = by_ids ? Measure::ids : Measure::mass;
    if (by_ids ? entry.top_k == 0 : entry.top_p == 0) continue;
    load_bins();
    unsigned long long wanted = 0;
    const Amount total = find_crossing(s, measure, [&](const Amount& all) {
      wanted = by_ids ? static_cast<unsigned long long>(entry.top_k)
                      : spelt::share(cut_mass < all.mass ? cut_mass : all.mass, entry.top_p);
      return wanted;
    });
    if (measured(measure, total) < wanted) continue;  // what is deeper than the bins can be neither drawn nor weighed
    const Crossing at = s.crossing;
    const Selected last =
        select(view, scale, measure, wanted - measured(measure, at.before), low_of(at.bin), high_of(at.bin), s);
    cut = last.rank;
    cut_mass = at.before.mass + last.mass;
  }
  return cut;
}

__global__ void __launch_bounds__(kSampleThreads, 2) weigh_rows(const __grid_constant__ KernelArgs args) {
  __shared__ __align__(16) std::byte memory[sizeof(SelectShared)];
  SelectShared& context = *reinterpret_cast<SelectShared*>(memory);
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int row = static_cast<int>(blockIdx.y), chunk = static_cast<int>(blockIdx.x);
  const int rows = __ldcg(&args.sample.tables.header->rows);
  load_entry_and_state(args, row, context);
  if (row >= rows) return;
  const uint32_t needs = context.state.needs;
  const bool draws = (needs & kNeedsDrawOfFew) != 0 && chunk == 0;
  if ((needs & (kNeedsCut | kNeedsLogprobs)) == 0 && !draws) return;
  const bool cuts = (needs & kNeedsCut) != 0, weighs = (needs & kNeedsLogprobs) != 0;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const MassScale scale = mass_scale(context);
  const float raw_largest = value_of(context.state.raw_best);
  const SampleRowView view = view_of(args, row, context, false);
  const Rank* raw_best = args.workspace.raw_best + int64_t{row} * args.blocks;
  SelectScratch& s = context.scratch;
  if (cuts) clear_bins(s);

  // ---- this thread block's ids ----
  unsigned long long raw_mass = 0;
  const int first = chunk * args.chunk_blocks, end = min(first + args.chunk_blocks, args.blocks);
  for (int block = first + warp; block < end; block += kSampleWarps) {
    // A block whose best is beyond the end of depth has no mass.
    const bool has_raw =
        weighs && spelt::depth(raw_largest, value_of(__ldcg(raw_best + block)), 1.0F) < spelt::kDepthEnd;
    const bool has_mass =
        cuts && spelt::depth(scale.largest, value_of(__ldcg(view.best + block)), scale.inverse) < spelt::kDepthEnd;
    if (!has_raw && !has_mass) continue;
    float values[kLaneIds];
    load_values(view, block, lane, values);
    if (has_raw) {
#pragma unroll
      for (const float value : values) raw_mass += spelt::mass(spelt::depth(raw_largest, value, 1.0F));
    }
    if (!has_mass) continue;
    edit_values(view, block, lane, values);
#pragma unroll
    for (const float value : values) {
      const float depth = spelt::depth(scale.largest, value, scale.inverse);
      if (depth < spelt::kDepthEnd) add_to_bin(s, spelt::bucket(depth), spelt::mass(depth));
    }
  }

  // ---- the row ----
  if (weighs) {
    unsigned long long total = 0;
    sum_before(raw_mass, s, &total);
    if (threadIdx.x == 0) chunks_of(args, row)[chunk].mass = total;
  }
  if (draws) {
    const int32_t token = draw_of_few(args, row, context);
    if (threadIdx.x == 0) {
      args.workspace.states[row].token = token;
      if (!weighs) finish_row(args, row, context.entry, SampleStatus::ok, token, 0);
    }
  }
  if (!cuts) return;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kSampleThreads) {
    const Amount bin = bin_amount(s, i);
    if (bin.ids == 0) continue;
    atomicAdd(args.workspace.bin_ids + int64_t{row} * kBins + i, static_cast<uint32_t>(bin.ids));
    if (bin.mass != 0) atomicAdd(args.workspace.bin_mass + int64_t{row} * kBins + i, bin.mass);
  }
  if (!is_last(args, 1, row, context)) return;
  const Rank cut = find_cut(args, row, context);
  if (threadIdx.x == 0) args.workspace.states[row].cut = cut;
}

/// The token's and the best alternatives' log-probabilities, of a row that has a logit above -infinity. Returns how
/// many entries there are.
__device__ int write_logprobs(const KernelArgs& args, int row, SelectShared& context, int32_t token) {
  SelectScratch& s = context.scratch;
  const SampleRowView view = view_of(args, row, context, true);
  const float largest = value_of(context.state.raw_best);
  unsigned long long mine = 0, mass = 0, ahead = 0;
  for (int i = static_cast<int>(threadIdx.x); i < args.chunks; i += kSampleThreads) {
    mine += __ldcg(&chunks_of(args, row)[i].mass);
  }
  sum_before(mine, s, &mass);
  const float log_sum = spelt::log_of_mass(mass);
  SampleOutput& out = args.sample.out[row];
  const auto write = [&](int at, int32_t id, float logit, int64_t rank) {
    const float logprob = logit == -INFINITY ? logit : __fsub_rn(__fsub_rn(logit, largest), log_sum);
    out.logprobs[at] = {id, logprob, rank};
  };

  // ---- the token's rank ----
  const float chosen = __ldcg(view.logits + token);
  const Rank rank = rank_of(chosen, token);
  mine = 0;
  for_blocks(view, rank, [&](int block, const float(&values)[kLaneIds]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kLaneIds; ++i) mine += rank_of(values[i], lane_id(block, lane, i)) > rank ? 1 : 0;
  });
  sum_before(mine, s, &ahead);
  if (threadIdx.x == 0) write(0, token, chosen, static_cast<int64_t>(ahead) + 1);
  const int wanted = context.entry.logprobs;
  if (wanted == 0) return 1;

  // ---- the best ----
  Rank low = kLeastRank;
  if (wanted < args.blocks) low = larger(low, reached_by(view, wanted, s));
  const int listed = list_best(view, wanted, low, context.state.raw_best, s);
  if (static_cast<int>(threadIdx.x) < listed) {
    const Rank other = s.list[threadIdx.x];
    write(1 + static_cast<int>(threadIdx.x), id_of(other), value_of(other), static_cast<int64_t>(threadIdx.x) + 1);
  }
  return 1 + listed;
}

/// The best score of this thread block's ids, no worse than `best`, that of the row's best id.
__device__ Rank draw_of_chunk(const KernelArgs& args, int row, int chunk, const RowContext& context, Rank best) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const SampleEntry& entry = context.entry;
  const SampleRowView view = view_of(args, row, context, false);
  const MassScale scale = mass_scale(context);
  const int first = chunk * args.chunk_blocks, end = min(first + args.chunk_blocks, args.blocks);
  for (int block = first + warp; block < end; block += kSampleWarps) {
    const Rank block_rank = __ldcg(view.best + block);
    if (block_rank < context.state.cut) continue;
    // Rounding keeps order: no score of the block is above this difference.
    const float block_depth = spelt::depth(scale.largest, value_of(block_rank), scale.inverse);
    const float to_beat = value_of(best);
    if (block_depth > entry.deepest || __fsub_rn(spelt::kNoiseMax, block_depth) < to_beat) continue;
    const uint32_t least = spelt::least_winning_bits(__fadd_rn(to_beat, block_depth));
    float values[kLaneIds];
    load_values(view, block, lane, values);
    edit_values(view, block, lane, values);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto noise =
          philox({static_cast<uint32_t>(lane_id(block, lane, half * 4)) / 4, static_cast<uint32_t>(entry.position),
                  static_cast<uint32_t>(entry.position >> 32), entry.choice},
                 entry.key);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float value = values[half * 4 + i];
        const int32_t id = lane_id(block, lane, half * 4 + i);
        if (noise[static_cast<size_t>(i)] < least || rank_of(value, id) < context.state.cut) continue;
        const float depth = spelt::depth(scale.largest, value, scale.inverse);
        best = larger(best, score_of(entry, id, depth, noise[static_cast<size_t>(i)]));
      }
    }
    best = warp_best(best);
  }
  return best;
}

__global__ void __launch_bounds__(kSampleThreads, 3) draw_rows(const __grid_constant__ KernelArgs args) {
  __shared__ __align__(16) std::byte memory[sizeof(SelectShared)];
  SelectShared& context = *reinterpret_cast<SelectShared*>(memory);
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int row = static_cast<int>(blockIdx.y), chunk = static_cast<int>(blockIdx.x);
  const int rows = __ldcg(&args.sample.tables.header->rows);
  load_entry_and_state(args, row, context);
  if (row >= rows) return;
  const uint32_t needs = context.state.needs;
  if ((needs & (kNeedsDraw | kNeedsLogprobs)) == 0 || ((needs & kNeedsDraw) == 0 && chunk != 0)) return;
  int32_t token = context.state.token;
  if ((needs & kNeedsDraw) != 0) {
    // The best id is always kept, at depth 0.
    const Rank start = score_of(context.entry, token, 0.0F, noise_of(context.entry, token));
    Rank best = block_best(draw_of_chunk(args, row, chunk, context, start), context.scratch);
    if (threadIdx.x == 0) chunks_of(args, row)[chunk].drawn = best;
    if (!is_last(args, 2, row, context)) return;
    for (int i = static_cast<int>(threadIdx.x); i < args.chunks; i += kSampleThreads) {
      best = larger(best, __ldcg(&chunks_of(args, row)[i].drawn));
    }
    token = id_of(block_best(best, context.scratch));
  }
  const int logprobs = (needs & kNeedsLogprobs) != 0 ? write_logprobs(args, row, context, token) : 0;
  if (threadIdx.x == 0) finish_row(args, row, context.entry, SampleStatus::ok, token, logprobs);
}

/// Id blocks of a thread block: as few as there are warps, for the shortest way through a row, until the rows alone
/// fill a GPU.
int chunk_blocks(int32_t rows_max) {
  if (rows_max <= 4) return kSampleWarps;
  return rows_max <= 16 ? 2 * kSampleWarps : 4 * kSampleWarps;
}

std::string describe(const SampleArgs& args) {
  return "rows_max " + std::to_string(args.tables.rows_max) + ", vocab " + std::to_string(args.vocab) + ", known_ids " +
         std::to_string(args.known_ids);
}

Status supports(const SampleArgs& args) {
  if (args.vocab < 1 || args.vocab > kSampleVocabMax || args.known_ids < 1 || args.known_ids > args.vocab ||
      args.tables.rows_max < 0 || args.tables.rows_max > kSampleRowsMax) {
    return {StatusCode::unsupported, "no sampler for " + describe(args) + "; at most " +
                                         std::to_string(kSampleRowsMax) + " rows of " +
                                         std::to_string(kSampleVocabMax) + " logits, known_ids from 1 to vocab"};
  }
  if (args.logits == nullptr || args.last_token == nullptr || args.out == nullptr || args.workspace == nullptr ||
      args.tables.header == nullptr || reinterpret_cast<uintptr_t>(args.logits) % 16 != 0) {
    return {StatusCode::invalid_argument,
            "the sampler (" + describe(args) +
                ") needs logits aligned to 16 bytes, tables, last_token, out and a workspace"};
  }
  return {};
}

}  // namespace

size_t sample_workspace_bytes(int32_t rows_max, int64_t vocab) { return lay_out(nullptr, rows_max, vocab).bytes; }

Status sample(const SampleArgs& args, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(supports(args));
  const int32_t rows = args.tables.rows_max;
  if (rows == 0) return {};
  KernelArgs kernel;
  kernel.sample = args;
  kernel.workspace = lay_out(args.workspace, rows, args.vocab);
  kernel.blocks = static_cast<int32_t>(id_blocks(args.vocab));
  kernel.chunk_blocks = chunk_blocks(rows);
  kernel.chunks = (kernel.blocks + kernel.chunk_blocks - 1) / kernel.chunk_blocks;
  kernel.chunks_max = static_cast<int32_t>(chunks_max(args.vocab));
  const dim3 grid(static_cast<unsigned>(kernel.chunks), static_cast<unsigned>(rows));
  TESSERA_RETURN_IF_ERROR(device::launch(scan_rows, queue, grid, kSampleThreads, 0, kernel));
  TESSERA_RETURN_IF_ERROR(device::launch(weigh_rows, queue, grid, kSampleThreads, 0, kernel));
  return device::launch(draw_rows, queue, grid, kSampleThreads, 0, kernel);
}

}  // namespace tessera::kernels::cuda
