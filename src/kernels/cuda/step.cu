#include "kernels/cuda/step.h"

#include "device/cuda.h"
#include "kernels/ptx/griddepcontrol.cuh"

namespace tessera::kernels::cuda {
namespace {

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

/// Copies `bytes`, rounded up to 16, by the whole grid.
__device__ void copy_words(std::byte* to, const std::byte* from, size_t bytes) {
  const auto words = static_cast<int64_t>((bytes + 15) / 16);
#pragma unroll 1  // a step's words are seldom more than the grid's threads
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < words; i += int64_t{gridDim.x} * kThreads) {
    at<uint4>(to, 0)[i] = at<uint4>(from, 0)[i];
  }
}

/// A block takes every kBlocks-th sequence; the grid copies the rest together.
__global__ void __launch_bounds__(kThreads) fetch_step(const __grid_constant__ BeginArgs args) {
  // Everything this kernel writes may still be read by the step before.
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const uint64_t epoch = *at<uint64_t>(args.device, args.to.epoch);
  const std::byte* staged = args.staging + (epoch % 2) * args.from.bytes;
  const StagedHeader header = *at<StagedHeader>(staged, args.from.header);
  const auto* sequences = at<SequenceEntry>(staged, args.from.sequences);
  const auto* tokens = at<int32_t>(staged, args.from.tokens);
  const auto* newest = at<int32_t>(args.device, args.to.newest);
  for (int s = static_cast<int>(blockIdx.x); s < header.counts.sequences; s += static_cast<int>(gridDim.x)) {
    const SequenceEntry entry = sequences[s];
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < entry.rows; i += kThreads) {
      const int row = entry.first_row + i;
      const int32_t given = tokens[row];
      at<int32_t>(args.device, args.to.tokens)[row] =
          given >= 0 ? given : newest[(kNewestDraw - given) * args.slots + entry.slot];
      at<int32_t>(args.device, args.to.row_sequence)[row] = s;
      at<int32_t>(args.device, args.to.row_position)[row] = entry.first_position + i;
    }
    if (threadIdx.x == 0) at<SequenceEntry>(args.device, args.to.sequences)[s] = entry;
  }
  copy_words(args.device + args.to.logit_rows, staged + args.from.logit_rows,
             static_cast<size_t>(header.counts.logit_rows) * sizeof(int32_t));
  copy_words(args.device + args.to.payload, staged + args.from.payload, header.payload_bytes);
  const auto* updates = at<BlockUpdate>(staged, args.from.updates);
#pragma unroll 1
  for (int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x); i < header.updates;
       i += static_cast<int>(gridDim.x) * kThreads) {
    const BlockUpdate update = updates[i];
    at<int32_t>(args.device, args.to.block_tables)[update.slot * args.blocks_per_slot + update.index] = update.block;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *at<StepCounts>(args.device, args.to.counts) = header.counts;
}

struct EndArgs {
  const std::byte* staging;
  std::byte* device;
  const std::byte* from_results;
  std::byte* results;
  uint64_t* done;
  StagingLayout from;
  DeviceStepLayout to;
  size_t result_bytes_max;
};

/// One block: its barrier orders the results before the number that announces them.
__global__ void __launch_bounds__(kThreads) announce_step(const __grid_constant__ EndArgs args) {
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  uint64_t* epoch = at<uint64_t>(args.device, args.to.epoch);
  const uint64_t step = *epoch;
  const uint32_t bytes = at<StagedHeader>(args.staging + (step % 2) * args.from.bytes, args.from.header)->result_bytes;
  copy_words(args.results + (step % 2) * args.result_bytes_max, args.from_results, bytes);
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

}  // namespace

StagingLayout staging_layout(const StepBounds& b) {
  StagingLayout layout;
  size_t at = 0;
  layout.header = place<StagedHeader>(at, 1);
  layout.sequences = place<SequenceEntry>(at, static_cast<size_t>(b.sequences_max));
  layout.tokens = place<int32_t>(at, static_cast<size_t>(b.rows_max));
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
  layout.counts = place<StepCounts>(at, 1);
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
  tables.counts = reinterpret_cast<const StepCounts*>(memory.device + layout.counts);
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
  const EndArgs args{memory.staging,
                     memory.device,
                     results,
                     memory.results,
                     memory.done,
                     staging_layout(memory.bounds),
                     device_step_layout(memory.bounds),
                     memory.bounds.result_bytes};
  return device::launch(announce_step, queue, 1, kThreads, 0, args);
}

Status stage_batch(const StepBounds& bounds, const Batch& batch, std::span<const int32_t> logit_rows,
                   const SlotTable& tables, std::byte* area) {
  const StagingLayout layout = staging_layout(bounds);
  const auto sequences = static_cast<int64_t>(batch.sequences.size());
  const auto logits = static_cast<int64_t>(logit_rows.size());
  if (batch.rows() > bounds.rows_max) return too_large("rows", batch.rows(), bounds.rows_max);
  if (sequences > bounds.sequences_max) return too_large("sequences", sequences, bounds.sequences_max);
  if (logits > bounds.logit_rows_max) return too_large("rows with logits", logits, bounds.logit_rows_max);

  StagedHeader header;
  header.counts.rows = batch.rows();
  header.counts.sequences = static_cast<int32_t>(sequences);
  header.counts.logit_rows = static_cast<int32_t>(logits);
  auto* entries = reinterpret_cast<SequenceEntry*>(area + layout.sequences);
  auto* updates = reinterpret_cast<BlockUpdate*>(area + layout.updates);
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
    if (rows.row_class == RowClass::decode) {
      if (header.counts.decode_sequences != static_cast<int32_t>(s)) {
        return {StatusCode::internal, "a step's decode sequences do not come first"};
      }
      ++header.counts.decode_sequences;
      header.counts.decode_rows += rows.rows;
    }
    const auto blocks = static_cast<int64_t>(rows.block_table.size());
    if (blocks < blocks_for(int64_t{rows.first_position} + rows.rows)) {
      return {StatusCode::internal, "the block table of a sequence does not cover its rows"};
    }
    if (blocks > bounds.blocks_per_slot) return too_large("blocks a sequence", blocks, bounds.blocks_per_slot);
    int32_t* known = tables.blocks + int64_t{rows.state_slot} * bounds.blocks_per_slot;
    for (int32_t i = 0; i < blocks; ++i) {
      const int32_t block = rows.block_table[static_cast<size_t>(i)];
      if (known[i] == block) continue;
      known[i] = block;
      updates[header.updates++] = {.slot = rows.state_slot, .index = i, .block = block};
    }
  }
  std::copy(batch.tokens.begin(), batch.tokens.end(), reinterpret_cast<int32_t*>(area + layout.tokens));
  std::copy(logit_rows.begin(), logit_rows.end(), reinterpret_cast<int32_t*>(area + layout.logit_rows));
  *reinterpret_cast<StagedHeader*>(area + layout.header) = header;
  return {};
}

}  // namespace tessera::kernels::cuda
