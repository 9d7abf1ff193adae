#include "kernels/cuda/step.h"

#include "device/cuda.h"
#include "kernels/ptx/griddepcontrol.cuh"

namespace tessera::kernels::cuda {
namespace {

static_assert(offsetof(StagedHeader, counts) == 0);  // which tables point to

constexpr size_t round_up(size_t bytes) { return (bytes + 255) / 256 * 256; }

template <typename T>
size_t place(size_t& at, size_t count) {
  const size_t here = at;
  at = round_up(at + count * sizeof(T));
  return here;
}

constexpr int kThreads = 256;
constexpr int kBlocks = 16;  // enough to have a few hundred reads over PCIe under way

struct BeginArgs {
  const std::byte* staging;
  std::byte* device;
  StagingLayout from;
  DeviceStepLayout to;
  int64_t blocks_per_slot;
  int32_t slots;
};

template <typename T>
__device__ T* at(std::byte* base, size_t offset) {
  return reinterpret_cast<T*>(base + offset);
}
template <typename T>
__device__ const T* at(const std::byte* base, size_t offset) {
  return reinterpret_cast<const T*>(base + offset);
}

constexpr int words_of(size_t bytes) { return static_cast<int>((bytes + 15) / 16); }

/// Lists that a grid looks at together, one behind the other. Each begins with a warp of its own, and the lists of a
/// small step are so few that no thread has two of their entries: none waits for what another list has asked for.
class Spread {
 public:
  __device__ Spread()
      : at_(static_cast<int>(blockIdx.x * kThreads + threadIdx.x)), threads_(static_cast<int>(gridDim.x) * kThreads) {}

  /// f(i) for the next list's entries.
  template <typename F>
  __device__ void over(int count, F&& f) {
#pragma unroll 1
    for (; at_ < count; at_ += threads_) f(at_);
    at_ -= (count + 31) / 32 * 32;
    if (at_ < 0) at_ += threads_;
  }

  /// Copies `bytes`, rounded up to 16.
  __device__ void copy(std::byte* to, const std::byte* from, size_t bytes) {
    over(words_of(bytes), [&](int i) { at<uint4>(to, 0)[i] = at<uint4>(from, 0)[i]; });
  }

 private:
  int at_, threads_;
};

__global__ void __launch_bounds__(kThreads) fetch_step(const __grid_constant__ BeginArgs args) {
  // Everything this kernel writes may still be read by the step before.
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  // Both headers, before it is known whose turn it is; the other area may be being laid down meanwhile.
  const uint64_t epoch = *at<uint64_t>(args.device, args.to.epoch);
  const StagedHeader even = *at<StagedHeader>(args.staging, args.from.header);
  const StagedHeader odd = *at<StagedHeader>(args.staging + args.from.bytes, args.from.header);
  const StagedHeader header = epoch % 2 == 0 ? even : odd;
  const std::byte* staged = args.staging + (epoch % 2) * args.from.bytes;
  const StepCounts& counts = header.counts;

  Spread lists;
  const auto* rows = at<StagedRow>(staged, args.from.rows);
  const auto* newest = at<int32_t>(args.device, args.to.newest);
  lists.over(counts.rows, [&](int i) {
    const StagedRow row = rows[i];
    at<int32_t>(args.device, args.to.tokens)[i] =
        row.token >= 0 ? row.token : newest[(kNewestDraw - row.token) * args.slots + row.slot];
    at<int32_t>(args.device, args.to.row_sequence)[i] = row.sequence;
    at<int32_t>(args.device, args.to.row_position)[i] = row.position;
  });
  lists.copy(args.device + args.to.sequences, staged + args.from.sequences,
             static_cast<size_t>(counts.sequences) * sizeof(SequenceEntry));
  lists.copy(args.device + args.to.logit_rows, staged + args.from.logit_rows,
             static_cast<size_t>(counts.logit_rows) * sizeof(int32_t));
  const auto* updates = at<BlockUpdate>(staged, args.from.updates);
  lists.over(header.updates, [&](int i) {
    const BlockUpdate update = updates[i];
    at<int32_t>(args.device, args.to.block_tables)[update.slot * args.blocks_per_slot + update.index] = update.block;
  });
  lists.copy(args.device + args.to.payload, staged + args.from.payload, header.payload_bytes);
  if (blockIdx.x == 0 && threadIdx.x == 0) *at<StagedHeader>(args.device, args.to.header) = header;
}

struct EndArgs {
  std::byte* device;
  const std::byte* from_results;
  std::byte* results;
  uint64_t* done;
  DeviceStepLayout layout;
  size_t result_bytes_max;
};

/// One block: its barrier orders the results before the number that announces them.
__global__ void __launch_bounds__(kThreads) announce_step(const __grid_constant__ EndArgs args) {
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  uint64_t* epoch = at<uint64_t>(args.device, args.layout.epoch);
  const uint64_t step = *epoch;
  Spread().copy(args.results + (step % 2) * args.result_bytes_max, args.from_results,
                at<StagedHeader>(args.device, args.layout.header)->result_bytes);
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x != 0) return;
  *epoch = step + 1;
  *reinterpret_cast<volatile uint64_t*>(args.done) = step + 1;
}

Status too_large(const char* what, int64_t count, int64_t bound) {
  return {StatusCode::resource_exhausted, "a step has " + std::to_string(count) + " " + what +
                                              ", and the memory taken for steps has room for " + std::to_string(bound)};
}

Status check_batch(const StepBounds& bounds, const Batch& batch, std::span<const int32_t> logit_rows) {
  const auto sequences = static_cast<int64_t>(batch.sequences.size());
  const auto logits = static_cast<int64_t>(logit_rows.size());
  if (batch.rows() > bounds.rows_max) return too_large("rows", batch.rows(), bounds.rows_max);
  if (sequences > bounds.sequences_max) return too_large("sequences", sequences, bounds.sequences_max);
  if (logits > bounds.logit_rows_max) return too_large("rows with logits", logits, bounds.logit_rows_max);
  bool decodes = true;
  for (const SequenceRows& rows : batch.sequences) {
    if (rows.row_class == RowClass::decode && !decodes) {
      return {StatusCode::internal, "a step's decode sequences do not come first"};
    }
    decodes = rows.row_class == RowClass::decode;
    const auto blocks = static_cast<int64_t>(rows.block_table.size());
    if (blocks < blocks_for(int64_t{rows.first_position} + rows.rows)) {
      return {StatusCode::internal, "the block table of a sequence does not cover its rows"};
    }
    if (blocks > bounds.blocks_per_slot) return too_large("blocks a sequence", blocks, bounds.blocks_per_slot);
  }
  return {};
}

}  // namespace

StagingLayout staging_layout(const StepBounds& b) {
  StagingLayout layout;
  size_t at = 0;
  layout.header = place<StagedHeader>(at, 1);
  layout.rows = place<StagedRow>(at, static_cast<size_t>(b.rows_max));
  layout.sequences = place<SequenceEntry>(at, static_cast<size_t>(b.sequences_max));
  layout.logit_rows = place<int32_t>(at, static_cast<size_t>(b.logit_rows_max));
  layout.updates = place<BlockUpdate>(at, static_cast<size_t>(b.slots) * static_cast<size_t>(b.blocks_per_slot));
  layout.payload = place<std::byte>(at, b.payload_bytes);
  layout.bytes = at;
  return layout;
}

DeviceStepLayout device_step_layout(const StepBounds& b) {
  DeviceStepLayout layout;
  const auto rows = static_cast<size_t>(b.rows_max);
  size_t at = 0;
  layout.header = place<StagedHeader>(at, 1);
  layout.sequences = place<SequenceEntry>(at, static_cast<size_t>(b.sequences_max));
  layout.tokens = place<int32_t>(at, rows);
  layout.row_sequence = place<int32_t>(at, rows);
  layout.row_position = place<int32_t>(at, rows);
  layout.logit_rows = place<int32_t>(at, static_cast<size_t>(b.logit_rows_max));
  layout.block_tables = place<int32_t>(at, static_cast<size_t>(b.slots) * static_cast<size_t>(b.blocks_per_slot));
  layout.payload = place<std::byte>(at, b.payload_bytes);
  layout.newest = place<int32_t>(at, (1 + kDraftsMax) * static_cast<size_t>(b.slots));
  layout.result = place<std::byte>(at, b.result_bytes);
  layout.epoch = place<uint64_t>(at, 1);
  layout.bytes = at;
  return layout;
}

StepTables step_tables(const StepMemory& memory, const StepTables& bounds) {
  const DeviceStepLayout layout = device_step_layout(memory.bounds);
  const auto ints = [&](size_t offset) { return reinterpret_cast<const int32_t*>(memory.device + offset); };
  StepTables tables = bounds;
  tables.counts = reinterpret_cast<const StepCounts*>(memory.device + layout.header);
  tables.tokens = ints(layout.tokens);
  tables.row_sequence = ints(layout.row_sequence);
  tables.row_position = ints(layout.row_position);
  tables.sequences = reinterpret_cast<const SequenceEntry*>(memory.device + layout.sequences);
  tables.block_tables = ints(layout.block_tables);
  tables.block_table_stride = memory.bounds.blocks_per_slot;
  tables.logit_rows = ints(layout.logit_rows);
  return tables;
}

int32_t* newest_draws(const StepMemory& memory) {
  return reinterpret_cast<int32_t*>(memory.device + device_step_layout(memory.bounds).newest);
}
std::byte* payload(const StepMemory& memory) { return memory.device + device_step_layout(memory.bounds).payload; }
std::byte* result(const StepMemory& memory) { return memory.device + device_step_layout(memory.bounds).result; }

Status begin_step(const StepMemory& memory, const device::Queue& queue) {
  const BeginArgs args{memory.staging,
                       memory.device,
                       staging_layout(memory.bounds),
                       device_step_layout(memory.bounds),
                       memory.bounds.blocks_per_slot,
                       memory.bounds.slots};
  return device::launch(fetch_step, queue, kBlocks, kThreads, 0, args);
}

Status end_step(const StepMemory& memory, const std::byte* results, const device::Queue& queue) {
  const EndArgs args{memory.device,
                     results,
                     memory.results,
                     memory.done,
                     device_step_layout(memory.bounds),
                     memory.bounds.result_bytes};
  return device::launch(announce_step, queue, 1, kThreads, 0, args);
}

Status stage_batch(const StepBounds& bounds, const Batch& batch, std::span<const int32_t> logit_rows,
                   const SlotTable& tables, std::byte* area) {
  TESSERA_RETURN_IF_ERROR(check_batch(bounds, batch, logit_rows));  // before the first block is known
  const StagingLayout layout = staging_layout(bounds);
  StagedHeader header;
  header.counts.rows = batch.rows();
  header.counts.sequences = static_cast<int32_t>(batch.sequences.size());
  header.counts.logit_rows = static_cast<int32_t>(logit_rows.size());
  auto* entries = reinterpret_cast<SequenceEntry*>(area + layout.sequences);
  auto* updates = reinterpret_cast<BlockUpdate*>(area + layout.updates);
  auto* staged_rows = reinterpret_cast<StagedRow*>(area + layout.rows);
  for (size_t s = 0; s < batch.sequences.size(); ++s) {
    const SequenceRows& rows = batch.sequences[s];
    entries[s] = {.first_row = rows.first_row,
                  .rows = rows.rows,
                  .first_position = rows.first_position,
                  .slot = rows.state_slot,
                  .row_class = rows.row_class,
                  .keeps_records = rows.keeps_records,
                  .snapshot_slot = rows.snapshot_slot,
                  .snapshot_position = rows.snapshot_position,
                  .held = rows.held};
    for (int32_t i = 0; i < rows.rows; ++i) {
      const int32_t row = rows.first_row + i;
      staged_rows[row] = {.token = batch.tokens[static_cast<size_t>(row)],
                          .sequence = static_cast<int32_t>(s),
                          .position = rows.first_position + i,
                          .slot = rows.state_slot};
    }
    if (rows.row_class == RowClass::decode) {
      ++header.counts.decode_sequences;
      header.counts.decode_rows += rows.rows;
    }
    int32_t* known = tables.blocks + int64_t{rows.state_slot} * bounds.blocks_per_slot;
    for (size_t i = 0; i < rows.block_table.size(); ++i) {
      const int32_t block = rows.block_table[i];
      if (known[i] == block) continue;
      known[i] = block;
      updates[header.updates++] = {.slot = rows.state_slot, .index = static_cast<int32_t>(i), .block = block};
    }
  }
  std::copy(logit_rows.begin(), logit_rows.end(), reinterpret_cast<int32_t*>(area + layout.logit_rows));
  *reinterpret_cast<StagedHeader*>(area + layout.header) = header;
  return {};
}

}  // namespace tessera::kernels::cuda
