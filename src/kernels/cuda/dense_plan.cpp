#include <algorithm>

#include "kernels/atom.h"
#include "kernels/cuda/dense_decode.h"

// Who does what in the decode kernel, and in what memory. No device code.
namespace tessera::kernels::cuda {
namespace {

int strips_of(const DenseMatrix& m) { return (m.rows + kAtomRows - 1) / kAtomRows; }

int segments_of(const DenseMatrix& m, int32_t depth) {
  return plan::k_segments(plan::dense_desc(m.format, m.rows, depth, 1));
}

DecodeMatrix decode_matrix(const DenseMatrix& m, int32_t depth) {
  const int slice_bytes = plan::weight_slice_bytes(m.format);
  return {.weights = m.weights,
          .row_alpha = m.row_alpha,
          .out = m.out,
          .out_stride = m.out_stride,
          .format = m.format,
          .epilogue = m.epilogue,
          .rows = m.rows,
          .strips = strips_of(m),
          .segments = segments_of(m, depth),
          .slice_bytes = slice_bytes,
          .stage_bytes = decode_stage_slices(m.format) * slice_bytes};
}

/// Gives every matrix its turns and its first block. Those of more segments come first, so that no turn between them is
/// left out.
void deal_turns(DecodeArgs& args, int blocks) {
  std::stable_sort(args.matrices, args.matrices + args.count,
                   [](const DecodeMatrix& a, const DecodeMatrix& b) { return a.segments > b.segments; });
  int block = 0;
  for (int i = 0; i < args.count; ++i) {
    DecodeMatrix& m = args.matrices[i];
    m.first_turn = args.turns;
    m.first_block = block;
    args.turns += (m.strips + blocks - 1) / blocks * m.segments;
    m.end_turn = args.turns;
    block = (block + m.strips) % blocks;
  }
}

}  // namespace

bool norm_is_fused(const DenseArgs& args) {
  return args.norm.residual != nullptr && args.rows_max <= kFusedNormRowsMax &&
         resident_bytes(args.rows_max, args.depth) <= kResidentBytesMax;
}

DecodeSmem decode_smem(const DecodeArgs& args) {
  const int columns = args.rows_max <= plan::kMmaCols ? 1 : 2;  // blocks of eight
  DecodeSmem smem;
  smem.x = args.working_warps * args.stages * args.ring_stage_bytes;
  smem.norm_parts = smem.x + args.resident_bytes;
  smem.exchange = smem.norm_parts + (args.norm.residual != nullptr ? kFusedNormRowsMax * kNormParts * 4 : 0);
  smem.total = smem.exchange + (args.exchanges ? kDecodeWarps * columns * 32 * 16 : 0);
  return smem;
}

DecodeLaunch decode_launch(const DenseArgs& args, int sm_count) {
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
  int64_t strips = 0, tasks = 0;
  int segments = 1;
  for (int i = 0; i < args.count; ++i) {
    DecodeMatrix& m = d.matrices[i] = decode_matrix(args.matrices[i], args.depth);
    strips += m.strips;
    tasks += int64_t{m.strips} * m.segments;
    segments = std::max(segments, m.segments);
    d.ring_stage_bytes = std::max(d.ring_stage_bytes, m.stage_bytes);
  }
  d.exchanges = segments > 1;

  // With fewer tasks than warps, fewer warps work, and share the ring's memory: what an SM has under way stays the
  // same.
  const int64_t most_blocks = int64_t{kDecodeBlocksPerSm} * sm_count;
  launch.blocks = static_cast<unsigned>(std::min(strips, most_blocks));
  d.working_warps = segments;
  while (d.working_warps < kDecodeWarps && d.working_warps * most_blocks < tasks) d.working_warps *= 2;
  deal_turns(d, static_cast<int>(launch.blocks));

  const int64_t resident = args.rows_max <= plan::kMmaCols ? resident_bytes(args.rows_max, args.depth) : 0;
  if (resident <= kResidentBytesMax) d.resident_bytes = static_cast<int32_t>(resident);
  const int rings = plan::smem_limit(kDecodeBlocksPerSm) - decode_smem(d).total;  // stages are 0 so far
  const int fit = rings / (d.working_warps * d.ring_stage_bytes);
  d.stages = *std::find_if(std::begin(kDecodeStages), std::end(kDecodeStages), [&](int n) { return n <= fit; });
  return launch;
}

}  // namespace tessera::kernels::cuda
