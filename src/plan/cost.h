#pragma once

#include "plan/device_facts.h"
#include "plan/routing.h"
#include "plan/tile.h"

namespace tessera::plan {

/// Floors of one launch, in microseconds, and an estimate made of them. The estimate ranks tiles until the GPU has been
/// measured; the floors are what a measurement is compared with. Neither is a measurement.
struct Cost {
  double memory_us = 0;    // bytes over the read rate, or over what the bytes in flight sustain
  double l2_us = 0;        // bytes into shared memory over the SMs' L2 ports
  double smem_us = 0;      // bytes that warps read from shared memory
  double mma_us = 0;       // tensor cores, padding included
  double issue_us = 0;     // warp instructions over 4 a clock
  double floor_us = 0;     // the largest, with the SMs that idle at the end and the latency that few warps do not hide
  double start_us = 0;     // of blocks after one another, while each loads its first stage and writes its rows
  double estimate_us = 0;  // the floor, a share of the rest, and the starts
  const char* bound =
      "";  // which of them is the largest: "memory", "L2", "smem", "mma", "issue"; "nothing" for 0 tokens

  double blocks = 0;        // of the grid, expected
  double weight_bytes = 0;  // read from memory
};

/// `resident` blocks of this tile share an SM (reject.h has accepted it). `routing` is that of `desc`.
Cost estimate(const Desc& desc, const Routing& routing, const Tile& tile, const DeviceFacts& device, int resident);

}  // namespace tessera::plan
