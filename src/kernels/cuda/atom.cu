#include "kernels/cuda/atom.h"

#include "device/cuda.h"
#include "format/f16.h"
#include "kernels/ptx/mma_bf16.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kWarps = 4;  // of a block; a slice each

/// A row of a part.
struct PartRow {
  const AtomPart* part = nullptr;  // null: padding
  int64_t row = 0;
};
__device__ PartRow find_row(const PackArgs& args, int64_t strip, int row_in_strip) {
  const SourceRow from = source_row(args.shape, strip, row_in_strip);
  if (args.shape.parts > 1) {
    const AtomPart* part = args.parts + from.part;
    return from.row < part->rows ? PartRow{part, from.row} : PartRow{};
  }
  int64_t row = from.row;
  for (int i = 0; i < args.part_count; ++i) {
    if (row < args.parts[i].rows) return {args.parts + i, row};
    row -= args.parts[i].rows;
  }
  return {};
}

__device__ void note_bad(const PackArgs& args) { atomicMin(args.first_bad, args.number); }

// ---- 4-bit codes ----

/// Scale byte of (row, group) of a part, 0 outside it. Notes what pack_atoms refuses.
__device__ uint32_t scale_at(const PackArgs& args, const PartRow& from, int64_t group, int64_t groups) {
  if (from.part == nullptr || group >= groups) return 0;
  const auto byte = static_cast<uint32_t>(from.part->scales[from.row * groups + group]);
  const bool bad = args.shape.format == WeightFormat::nvfp4 ? (byte & 0x7fU) == 0x7fU : byte > kUe8m0MaxCode;
  if (bad) note_bad(args);
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

/// Each lane its four words, then the scales.
__device__ void pack_codes(const PackArgs& args, int64_t strip, int64_t k0, int lane, std::byte* out) {
  const AtomShape& shape = args.shape;
  const int g = lane / 4, q = lane % 4, group = plan::scale_group(shape.format);
  const int64_t groups = shape.cols / group;
  uint32_t words[4];
  for (int w = 0; w < 4; ++w) {
    const PartRow from = find_row(args, strip, g + w % 2 * 8);
    const int64_t k = k0 + w / 2 * 32 + q * 8;
    words[w] = 0;
    if (from.part == nullptr || k >= shape.cols) continue;
    words[w] = reorder(*reinterpret_cast<const uint32_t*>(from.part->data + (from.row * shape.cols + k) / 2));
    if (shape.format == WeightFormat::nvfp4 && (scale_at(args, from, k / group, groups) & 0x80U) != 0) {
      words[w] ^= 0x88888888U;
    }
  }
  *reinterpret_cast<uint4*>(out + lane * 16) = {words[0], words[1], words[2], words[3]};

  const int slice_groups = kSliceDepth / group;
  for (int i = lane; i < kAtomRows * slice_groups; i += 32) {
    const int row = i / slice_groups, in_slice = i % slice_groups;
    uint32_t byte = scale_at(args, find_row(args, strip, row), k0 / group + in_slice, groups);
    if (shape.format == WeightFormat::nvfp4) byte &= 0x7fU;
    out[scale_place(shape.format, row, in_slice)] = static_cast<std::byte>(byte);
  }
}

// ---- elements ----

/// Eight elements of a row as four pairs of BF16.
__device__ void load_bf16(const PackArgs& args, const PartRow& from, int64_t k, uint32_t (&pairs)[4]) {
  const int64_t first = from.row * args.shape.cols + k;
  const auto* words = reinterpret_cast<const uint32_t*>(
      from.part->data + first * static_cast<int64_t>(format::row_bytes(args.source, 1)));
  for (int i = 0; i < 4; ++i) {
    if (args.source == WeightFormat::f32) {
      pairs[i] = ptx::cvt_bf16x2(__uint_as_float(words[2 * i + 1]), __uint_as_float(words[2 * i]));
    } else if (args.source == WeightFormat::f16) {
      pairs[i] = ptx::cvt_bf16x2(format::f16_to_float(static_cast<uint16_t>(words[i] >> 16)),
                                 format::f16_to_float(static_cast<uint16_t>(words[i])));
    } else {
      pairs[i] = words[i];
    }
    if ((pairs[i] & 0x7f80U) == 0x7f80U || (pairs[i] & 0x7f800000U) == 0x7f800000U) note_bad(args);
  }
}

/// Two halves of K, each 16 elements of the lane: eight of row g, eight of row g + 8.
__device__ void pack_bf16(const PackArgs& args, int64_t strip, int64_t k0, int lane, std::byte* out) {
  const PartRow rows[2] = {find_row(args, strip, lane / 4), find_row(args, strip, lane / 4 + 8)};
  for (int half = 0; half < 2; ++half) {
    const int64_t k = k0 + half * 32 + lane % 4 * 8;
    uint32_t pairs[2][4] = {};
    for (int row = 0; row < 2; ++row) {
      if (rows[row].part != nullptr && k < args.shape.cols) load_bf16(args, rows[row], k, pairs[row]);
    }
    for (int mma = 0; mma < 2; ++mma) {
      *reinterpret_cast<uint4*>(out + (2 * half + mma) * 512 + lane * 16) = {
          pairs[0][2 * mma], pairs[1][2 * mma], pairs[0][2 * mma + 1], pairs[1][2 * mma + 1]};
    }
  }
}

__device__ void pack_fp8(const PackArgs& args, int64_t strip, int64_t k0, int lane, std::byte* out) {
  const PartRow rows[2] = {find_row(args, strip, lane / 4), find_row(args, strip, lane / 4 + 8)};
  for (int half = 0; half < 2; ++half) {
    const int64_t k = k0 + half * 32 + lane % 4 * 8;
    uint32_t words[2][2] = {};  // of a row, of an MMA
    for (int row = 0; row < 2; ++row) {
      if (rows[row].part == nullptr || k >= args.shape.cols) continue;
      const auto* from = reinterpret_cast<const uint32_t*>(rows[row].part->data + rows[row].row * args.shape.cols + k);
      for (int mma = 0; mma < 2; ++mma) {
        for (int byte = 0; byte < 4; ++byte) {
          if ((from[mma] >> (8 * byte) & 0x7fU) == 0x7fU) note_bad(args);
        }
        words[row][mma] = __byte_perm(from[mma], 0, 0x3120);
      }
    }
    *reinterpret_cast<uint4*>(out + half * 512 + lane * 16) = {words[0][0], words[1][0], words[0][1], words[1][1]};
  }
}

/// A warp packs a slice.
__global__ void __launch_bounds__(kWarps * 32) pack_slices(const __grid_constant__ PackArgs args, int64_t slices) {
  const AtomShape& shape = args.shape;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t slice = int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (slice >= slices) return;
  const int64_t strip = slice / strip_slices(shape), k0 = slice % strip_slices(shape) * kSliceDepth;
  std::byte* out = args.out + slice * plan::weight_slice_bytes(shape.format);
  if (shape.format == WeightFormat::bf16) {
    pack_bf16(args, strip, k0, lane, out);
  } else if (shape.format == WeightFormat::fp8_e4m3) {
    pack_fp8(args, strip, k0, lane, out);
  } else {
    pack_codes(args, strip, k0, lane, out);
  }
}

}  // namespace

Status pack_atoms(const PackArgs& args, cudaStream_t stream) {
  const int64_t slices = strips(args.shape) * strip_slices(args.shape);
  return device::launch(
      pack_slices,
      {.grid = static_cast<unsigned>((slices + kWarps - 1) / kWarps), .block = kWarps * 32, .stream = stream}, args,
      slices);
}

}  // namespace tessera::kernels::cuda
