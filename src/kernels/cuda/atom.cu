#include "kernels/cuda/atom.h"

#include "device/cuda.h"

namespace tessera::kernels::cuda {
namespace {

constexpr int kWarps = 4;  // of a block; a slice each

/// Scale byte of (row, group) of a part, 0 outside it. Notes what pack_atoms refuses.
__device__ uint32_t scale_at(const PackArgs& args, SourceRow from, int64_t group, int64_t groups, int64_t part_rows) {
  if (from.row >= part_rows || group >= groups) return 0;
  const auto byte = static_cast<uint32_t>(args.parts[from.part].scales[from.row * groups + group]);
  const bool bad = args.shape.format == WeightFormat::nvfp4 ? (byte & 0x7fU) == 0x7fU : byte > kUe8m0MaxCode;
  if (bad) atomicMin(args.bad_scale, static_cast<int32_t>((from.part * part_rows + from.row) * groups + group));
  return byte;
}

/// Eight codes in file order to the order of a word: nibbles 0 2 4 6 1 3 5 7.
__device__ uint32_t reorder(uint32_t codes) {
  uint32_t even = codes & 0x0f0f0f0fU, odd = codes >> 4 & 0x0f0f0f0fU;
  even = (even | even >> 4) & 0x00ff00ffU;
  odd = (odd | odd >> 4) & 0x00ff00ffU;
  even = (even | even >> 8) & 0xffffU;
  odd = (odd | odd >> 8) & 0xffffU;
  return even | odd << 16;
}

/// A warp packs a slice: each lane its four words, then the scales.
__global__ void __launch_bounds__(kWarps * 32) pack_slices(const __grid_constant__ PackArgs args, int64_t slices) {
  const AtomShape& shape = args.shape;
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, q = lane % 4;
  const int64_t slice = int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (slice >= slices) return;
  const int64_t strip_slices = atoms_per_strip(shape) * (kAtomDepth / kSliceDepth);
  const int64_t strip = slice / strip_slices, k0 = slice % strip_slices * kSliceDepth;
  const int group = plan::scale_group(shape.format);
  const int64_t groups = shape.cols / group, part_rows = shape.rows / shape.parts;
  std::byte* out = args.out + slice * plan::weight_slice_bytes(shape.format);

  uint32_t words[4];
  for (int w = 0; w < 4; ++w) {
    const SourceRow from = source_row(shape, strip, g + w % 2 * 8);
    const int64_t k = k0 + w / 2 * 32 + q * 8;
    words[w] = 0;
    if (from.row >= part_rows || k >= shape.cols) continue;
    words[w] =
        reorder(*reinterpret_cast<const uint32_t*>(args.parts[from.part].codes + (from.row * shape.cols + k) / 2));
    if (shape.format == WeightFormat::nvfp4 && (scale_at(args, from, k / group, groups, part_rows) & 0x80U) != 0) {
      words[w] ^= 0x88888888U;
    }
  }
  *reinterpret_cast<uint4*>(out + lane * 16) = {words[0], words[1], words[2], words[3]};

  const int slice_groups = kSliceDepth / group;
  for (int i = lane; i < kAtomRows * slice_groups; i += 32) {
    const int row = i / slice_groups, in_slice = i % slice_groups;
    uint32_t byte = scale_at(args, source_row(shape, strip, row), k0 / group + in_slice, groups, part_rows);
    if (shape.format == WeightFormat::nvfp4) byte &= 0x7fU;
    out[scale_place(shape.format, row, in_slice)] = static_cast<std::byte>(byte);
  }
}

}  // namespace

Status pack_atoms(const PackArgs& args, cudaStream_t stream) {
  const int64_t slices = strips(args.shape) * atoms_per_strip(args.shape) * (kAtomDepth / kSliceDepth);
  return device::launch(
      pack_slices,
      {.grid = static_cast<unsigned>((slices + kWarps - 1) / kWarps), .block = kWarps * 32, .stream = stream}, args,
      slices);
}

}  // namespace tessera::kernels::cuda
