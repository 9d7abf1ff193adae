#include "kernels/cuda/next_draft.h"

#include "device/cuda.h"
#include "kernels/ptx/griddepcontrol.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 256;

struct KernelArgs {
  StepCounts* counts;
  SequenceEntry* sequences;
  int32_t *tokens, *row_sequence, *row_position, *logit_rows;
  const int32_t* newest;  // [slots] of the drafts just drawn
  SampleHeader* samples;
  SampleEntry* entries;
  int32_t *wanted, *hidden_rows;
  int32_t made;
};

/// One block, a thread a sample. In place: rows, sequences and samples ascend, so that what is written has been read.
__global__ void __launch_bounds__(kThreads) advance_tables(const __grid_constant__ KernelArgs args) {
  __shared__ int32_t warp_kept[kThreads / 32];
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int samples = args.counts->logit_rows;
  int kept = 0;
  for (int first = 0; first < samples; first += kThreads) {
    const int i = first + thread;
    const int32_t wanted = i < samples ? args.wanted[i] : 0;
    const bool goes_on = wanted > args.made;
    int32_t row = 0, position = 0, token = 0;
    SequenceEntry sequence;
    SampleEntry sample;
    if (goes_on) {
      row = args.logit_rows[i];
      sequence = args.sequences[args.row_sequence[row]];
      position = args.row_position[row] + 1;
      sample = args.entries[i];
      token = args.newest[sequence.slot];
    }
    const uint32_t lanes = __ballot_sync(0xffffffffU, goes_on);
    if (lane == 0) warp_kept[warp] = __popc(lanes);
    __syncthreads();
    int at = kept + __popc(lanes & ((1U << lane) - 1));
    for (int w = 0; w < kThreads / 32; ++w) {
      if (w < warp) at += warp_kept[w];
      kept += warp_kept[w];
    }
    if (goes_on) {
      args.tokens[at] = token;
      args.row_sequence[at] = args.logit_rows[at] = at;
      args.row_position[at] = position;
      args.sequences[at] = {.first_row = at, .rows = 1, .first_position = position, .slot = sequence.slot};
      ++sample.position;
      ++sample.draft;
      args.entries[at] = sample;
      args.wanted[at] = wanted;
      args.hidden_rows[at] = row;
    }
    __syncthreads();
  }
  if (thread != 0) return;
  *args.counts = {.rows = kept, .decode_rows = kept, .sequences = kept, .decode_sequences = kept, .logit_rows = kept};
  args.samples->rows = kept;
}

}  // namespace

Status next_draft(const NextDraftArgs& args, const device::Queue& queue) {
  const DeviceStepLayout layout = device_step_layout(args.memory.bounds);
  const auto ints = [&](size_t offset) { return reinterpret_cast<int32_t*>(args.memory.device + offset); };
  KernelArgs kernel{};
  kernel.counts = reinterpret_cast<StepCounts*>(args.memory.device + layout.header);
  kernel.sequences = reinterpret_cast<SequenceEntry*>(args.memory.device + layout.sequences);
  kernel.tokens = ints(layout.tokens);
  kernel.row_sequence = ints(layout.row_sequence);
  kernel.row_position = ints(layout.row_position);
  kernel.logit_rows = ints(layout.logit_rows);
  kernel.newest = newest_draws(args.memory) + int64_t{args.made} * args.memory.bounds.slots;
  kernel.samples = reinterpret_cast<SampleHeader*>(args.samples);
  kernel.entries = reinterpret_cast<SampleEntry*>(args.samples + sizeof(SampleHeader));
  kernel.wanted = args.wanted;
  kernel.hidden_rows = args.hidden_rows;
  kernel.made = args.made;
  return device::launch(advance_tables, queue, 1U, kThreads, size_t{0}, kernel);
}

}  // namespace tessera::kernels::cuda
