#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/cuda.h"
#include "kernels/batch.h"
#include "kernels/cuda/step_tables.h"

// How a step gets to the GPU and its end back, without a copy call or a wait: the host lays a step into mapped pinned
// memory (two of them in turn, so that one can be laid while the one before runs), the first kernel of the step fetches
// it from there, the last one writes results and then the step's number into mapped memory, which the host polls.
//
// What the host has laid down is read over PCIe in two rounds, whatever a step is made of: both areas' headers, then
// all lists at once. A step n uses staging area n mod 2. The device counts steps by itself, so that a captured graph
// serves both areas.
namespace tessera::kernels::cuda {

/// Bounds of every step of a pass.
struct StepBounds {
  int32_t rows_max = 0;
  int32_t sequences_max = 0;
  int32_t logit_rows_max = 0;
  int32_t slots = 0;
  int32_t blocks_per_slot = 0;
  size_t payload_bytes = 0;  // of what the step's last kernels read: samples
  size_t result_bytes = 0;
};

/// Rows' tokens that only the device knows: what was drawn last for the row's slot; kFirstDraft - n: the newest draft
/// n + 1 for it.
inline constexpr int32_t kNewestDraw = -1, kFirstDraft = -2;

/// One new entry of a slot's block table.
struct BlockUpdate {
  int32_t slot = 0, index = 0, block = 0;
};

/// A row of the step.
struct StagedRow {
  int32_t token = 0;  // or kNewestDraw, kFirstDraft - n
  int32_t sequence = 0, position = 0, slot = 0;
};
static_assert(sizeof(StagedRow) == 16);

/// What the host lays down. Offsets of one area; arrays have room for the bounds.
struct StagingLayout {
  size_t header = 0;      // StagedHeader
  size_t rows = 0;        // StagedRow [rows_max]
  size_t sequences = 0;   // SequenceEntry [sequences_max]
  size_t logit_rows = 0;  // int32 [logit_rows_max]
  size_t updates = 0;     // BlockUpdate [slots * blocks_per_slot]
  size_t payload = 0;
  size_t bytes = 0;
};
struct StagedHeader {
  StepCounts counts;  // first
  int32_t updates = 0;
  uint32_t payload_bytes = 0;  // used
  uint32_t result_bytes = 0;   // wanted back
};
StagingLayout staging_layout(const StepBounds& bounds);

/// The step on the device: what begin_step writes.
struct DeviceStepLayout {
  size_t header = 0, sequences = 0, tokens = 0, row_sequence = 0, row_position = 0, logit_rows = 0, block_tables = 0,
         payload = 0, newest = 0, result = 0, epoch = 0;  // header: StagedHeader; newest: int32 [1 + kDraftsMax, slots]
  size_t bytes = 0;
};
DeviceStepLayout device_step_layout(const StepBounds& bounds);

/// The same in pinned memory, area n mod 2 behind each other, as the device sees it.
struct StepMemory {
  StepBounds bounds;
  const std::byte* staging = nullptr;  // mapped: 2 * staging_layout(bounds).bytes
  std::byte* device = nullptr;         // device_step_layout(bounds).bytes, zero before the first step
  std::byte* results = nullptr;        // mapped: 2 * result_bytes
  uint64_t* done = nullptr;            // mapped: number of steps that have ended
};

/// Tables of a step with these bounds of its own (a graph's bucket), at most the memory's.
StepTables step_tables(const StepMemory& memory, const StepTables& bounds);
/// [1 + kDraftsMax, slots]: the newest draw of each slot, and the newest ones of its drafts.
int32_t* newest_draws(const StepMemory& memory);
/// payload_bytes of the step, 16-byte aligned, in device memory.
std::byte* payload(const StepMemory& memory);
/// result_bytes, 16-byte aligned, in device memory.
std::byte* result(const StepMemory& memory);

/// First kernel of a step.
Status begin_step(const StepMemory& memory, const device::Queue& queue);
/// Last kernel of a step. It takes the results that the host wants back from `results`, in the step's device memory.
Status end_step(const StepMemory& memory, const std::byte* results, const device::Queue& queue);

/// Lays `batch` and logit_rows down in an area of host memory; decode sequences come first. `tables` are the slots'
/// block tables as the device has them; all that the batch's say is brought up to date, so that passes behind it may go
/// further. resource_exhausted where a bound is exceeded; what is refused changes no table.
struct SlotTable {
  int32_t* blocks = nullptr;  // [slots, blocks_per_slot], -1: not there yet
};
Status stage_batch(const StepBounds& bounds, const Batch& batch, std::span<const int32_t> logit_rows,
                   const SlotTable& tables, std::byte* area);

}  // namespace tessera::kernels::cuda
