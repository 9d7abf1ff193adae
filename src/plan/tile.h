#pragma once

#include "plan/desc.h"

namespace tessera::plan {

// One MMA shape serves every tile of a path, and all of K is summed in steps of it: tiles differ in schedule, not in
// bits.
inline constexpr int kMmaRows = 16;   // M of mma.m16n8
inline constexpr int kMmaCols = 8;    // N
inline constexpr int kMmaDepth = 64;  // K of the FP4 MMA; four k16 steps of the BF16 MMA

/// Elements along K that share a scale, of the two formats that tiles are made for.
constexpr int scale_group(WeightFormat format) { return format == WeightFormat::mxfp4 ? 32 : 16; }
static_assert(scale_group(WeightFormat::nvfp4) == format::group_size(WeightFormat::nvfp4));
static_assert(scale_group(WeightFormat::mxfp4) == format::group_size(WeightFormat::mxfp4));

/// A kernel variant. Everything here is a template argument; nothing depends on the GPU, so that the source which an
/// H200 executes is the one that SM120 runs.
struct Tile {
  Path path = Path::w4a16;
  WeightFormat format = WeightFormat::nvfp4;
  int m = 0;              // weight rows of a block
  int n = 0;              // token columns
  int k = 0;              // elements of a stage
  int blocks_per_sm = 1;  // that must fit on an SM together: 2 for decode, 1 for prefill
  int warps_m = 0;        // consumer warps over m and n; producer_warps() more
  int warps_n = 0;
  int stages = 0;

  friend constexpr bool operator==(const Tile&, const Tile&) = default;
};

constexpr int consumer_warps(const Tile& t) { return t.warps_m * t.warps_n; }
/// W4A4: one warp issues all copies, which are bulk. W4A16: consumers load their own weights, and BF16 rows are
/// gathered in copies of 16 bytes, in decode by one warp more, in prefill by the consumers as well.
constexpr int producer_warps(const Tile& t) { return t.path == Path::w4a4 || t.blocks_per_sm > 1 ? 1 : 0; }
constexpr int threads(const Tile& t) { return (consumer_warps(t) + producer_warps(t)) * 32; }

/// Whether the MMA can be tiled so: m and n divide into warp tiles of whole MMAs, k into MMA steps.
constexpr bool legal_shape(const Tile& t) {
  return t.warps_m > 0 && t.warps_n > 0 && t.m > 0 && t.n > 0 && t.k > 0 && t.m % (t.warps_m * kMmaRows) == 0 &&
         t.n % (t.warps_n * kMmaCols) == 0 && t.k % kMmaDepth == 0;
}

}  // namespace tessera::plan
