#include <algorithm>
#include <bit>

#include "kernels/atom.h"
#include "kernels/cuda/dense_decode.h"

// Who does what in the decode kernel, and in what memory. No device code.
namespace tessera::kernels::cuda {
namespace {

int strips_of(const DenseMatrix& m) { return (m.rows + kAtomRows - 1) / kAtomRows; }

DecodeMatrix decode_matrix(const DenseArgs& args, const DenseMatrix& m) {
  const int slice_bytes = plan::weight_slice_bytes(m.format), segments = launch_segments(args, m);
  return {.weights = m.weights,
          .row_alpha = m.row_alpha,
          .out = m.out,
          .out_stride = m.out_stride,
          .format = m.format,
          .epilogue = m.epilogue,
          .rows = m.rows,
          .strips = strips_of(m),
          .segments = segments,
          .segment_bits = std::countr_zero(static_cast<unsigned>(segments)),
          .segment_slices = static_cast<int32_t>(plan::slices(plan::segment_begin(args.depth, segments, 1))),
          .slice_bytes = slice_bytes,
          .stage_slices = decode_stage_slices(m.format)};
}

/// Gives every matrix its turns. Those of more segments come first, so that no turn between them is left out.
void deal_turns(DecodeArgs& args, int blocks) {
  DecodeMatrix* end = args.matrices + args.count;
  std::stable_sort(args.matrices, end,
                   [](const DecodeMatrix& a, const DecodeMatrix& b) { return a.segments > b.segments; });
  for (DecodeMatrix* first = args.matrices; first != end;) {
    DecodeMatrix* next = first;
    int strips = 0;
    for (; next != end && next->segments == first->segments; ++next) {
      next->first_strip = strips;
      strips += next->strips;
    }
    const int turns = (strips + blocks - 1) / blocks * first->segments;
    for (; first != next; ++first) {
      first->first_turn = args.turns;
      first->end_turn = args.turns + turns;
    }
    args.turns += turns;
  }
}

/// Where x of more than eight rows is not beside the rings they take less, and leave L1 to it.
int smem_limit(const DecodeArgs& args, const plan::DeviceFacts& device) {
  const bool leaves_l1 = args.resident_bytes == 0 && args.rows_max > plan::kMmaCols;
  if (leaves_l1) return plan::smem_limit(kDecodeKernelsPerSm);
  return decode_smem_limit(device, std::max<int64_t>(0, args.resident_bytes - resident_bytes(1, args.depth)));
}

/// Stages of a warp's ring beside all else, each `factor` times as long.
int stages_beside(const DecodeArgs& args, const plan::DeviceFacts& device, int factor = 1) {
  const int rings = smem_limit(args, device) - decode_smem(args).total;  // args.stages is 0 so far
  return std::max(0, rings) / (args.working_warps * (args.ring_stage_bytes * factor + kDecodeBarrierBytes));
}

}  // namespace

int launch_segments(const DenseArgs& args, const DenseMatrix& matrix) {
  plan::Desc desc = plan::dense_desc(matrix.format, matrix.rows, args.depth, 1);
  for (int i = 0; i < args.count; ++i) desc.launch_rows += int64_t{strips_of(args.matrices[i])} * kAtomRows;
  return plan::k_segments(desc);
}

bool norm_is_fused(const DenseArgs& args, const plan::DeviceFacts& device) {
  return args.norm.residual != nullptr && args.norm.experts.rows == nullptr && args.rows_max <= kFusedNormRowsMax &&
         decode_launch(args, device).args.resident_bytes > 0;
}

DecodeSmem decode_smem(const DecodeArgs& args) {
  const int columns = args.rows_max <= plan::kMmaCols ? 1 : 2;  // blocks of eight
  DecodeSmem smem;
  smem.x = args.working_warps * args.stages * args.ring_stage_bytes;
  smem.norm_parts = smem.x + args.resident_bytes;
  smem.exchange = smem.norm_parts + (args.norm.residual != nullptr ? kDecodeNormBytes : 0);
  smem.barriers = smem.exchange + (args.exchanges ? kDecodeWarps * columns * 32 * 16 : 0);
  smem.total = smem.barriers + args.working_warps * args.stages * kDecodeBarrierBytes;
  return smem;
}

DecodeLaunch decode_launch(const DenseArgs& args, const plan::DeviceFacts& device) {
  DecodeLaunch launch;
  DecodeArgs& d = launch.args;
  d.count = args.count;
  d.x = args.x;
  d.x_stride = args.x_stride;
  d.row_index = args.row_index;
  d.norm = args.norm;
  d.depth = args.depth;
  d.slices = static_cast<int32_t>(plan::slices(args.depth));
  d.live_rows = args.live_rows;
  d.rows_max = args.rows_max;
  d.overlaps_previous = args.overlaps_previous;
  int64_t strips = 0, tasks = 0;
  int segments = 1;
  for (int i = 0; i < args.count; ++i) {
    DecodeMatrix& m = d.matrices[i] = decode_matrix(args, args.matrices[i]);
    strips += m.strips;
    tasks += int64_t{m.strips} * m.segments;
    segments = std::max(segments, m.segments);
    d.ring_stage_bytes = std::max(d.ring_stage_bytes, m.stage_slices * m.slice_bytes);
  }
  d.exchanges = segments > 1;

  const int64_t sms = device.sm_count;
  launch.blocks = static_cast<unsigned>(std::min(strips, tasks > 2 * kDecodeWarps * sms ? 2 * sms : sms));
  // Fewer tasks than warps leave their rings to those that work. Segments of a strip are warps of one block.
  const auto tasks_of_a_block =
      static_cast<int>(std::min<int64_t>((tasks + launch.blocks - 1) / launch.blocks, kDecodeWarps));
  d.working_warps = std::min((tasks_of_a_block + segments - 1) / segments, kDecodeWarps / segments) * segments;
  deal_turns(d, static_cast<int>(launch.blocks));

  // x lies beside the rings where they keep stages enough.
  d.resident_bytes = static_cast<int32_t>(resident_bytes(args.rows_max, args.depth));
  if (d.resident_bytes > kResidentBytesMax && stages_beside(d, device) < kDecodeStagesBesideX) d.resident_bytes = 0;
  int factor = 1;
  while (factor < kDecodeStageFactorMax && stages_beside(d, device, factor * 2) >= kDecodeStagesBesideX) factor *= 2;
  launch.smem_limit = smem_limit(d, device);
  d.stages = stages_beside(d, device, factor);
  d.ring_stage_bytes *= factor;
  for (int i = 0; i < d.count; ++i) d.matrices[i].stage_slices *= factor;
  return launch;
}

}  // namespace tessera::kernels::cuda
