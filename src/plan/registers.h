#pragma once

#include <algorithm>

#include "plan/tile.h"

// Registers a thread. Accumulators are exact, the rest an estimate; the compiled kernel is the judge.
namespace tessera::plan {

inline constexpr int kRegistersPerSm = 65'536;  // every GPU from compute capability 8.0
inline constexpr int kSchedulersPerSm = 4;      // with a quarter of the registers each, for whole warps
inline constexpr int kRegistersPerThreadMax = 255;
inline constexpr int kRegisterUnit = 8;

/// W4A16. Fragments of the next MMA step beside the current one, per 16 rows: 8 of BF16 (two k16 steps), 4 of codes, 1
/// of scales; 8 for columns, which are streamed, and one for every 4 columns, whose loads the compiler starts early.
/// The rest is addresses of its loads, loop state, barrier phases. Fitted to what nvcc 13.0 makes of all tiles for
/// sm_90a and sm_120f: none that this allows spills.
inline constexpr int kRowFragmentW4A16 = 13;
inline constexpr int kColumnFragments = 8;
inline constexpr int kColumnsPerRegister = 4;
inline constexpr int kRegistersOverhead = 30;

/// W4A16 tiles whose consumers load activations: what the widest of them take at least besides accumulators, of the 255
/// that eight warps may have. Narrower ones take what is free.
inline constexpr int kRegistersWhereConsumersLoad = 124;

/// W4A4: codes and scales of two strips and of one column block, and what the compiled 256x128x64 kernel takes besides
/// (168 in all).
inline constexpr int kRowFragmentW4A4 = 5;
inline constexpr int kStripsAtOnceW4A4 = 2;
inline constexpr int kColumnFragmentW4A4 = 3;
inline constexpr int kRegistersOverheadW4A4 = 26;

constexpr int accumulator_registers(const Tile& t) { return t.m / t.warps_m * (t.n / t.warps_n) / 32; }

constexpr int register_estimate(const Tile& t) {
  const int row_fragments = t.m / t.warps_m / kMmaRows;
  if (t.path == Path::w4a4) {
    return accumulator_registers(t) + kRowFragmentW4A4 * std::min(row_fragments, kStripsAtOnceW4A4) +
           kColumnFragmentW4A4 + kRegistersOverheadW4A4;
  }
  if (producer_warps(t) == 0) return accumulator_registers(t) + kRegistersWhereConsumersLoad;
  return accumulator_registers(t) + kRowFragmentW4A16 * row_fragments + kColumnFragments + t.n / kColumnsPerRegister +
         kRegistersOverhead;
}

/// What a thread may have for blocks_per_sm blocks to share an SM: what ptxas makes of the kernel's __launch_bounds__.
/// Nine warps put three on one scheduler, so that a block of 288 threads gets 168 a thread and not 224; eight get 255.
constexpr int register_limit(const Tile& t) {
  const int warps = t.blocks_per_sm * threads(t) / 32;
  const int on_one_scheduler = (warps + kSchedulersPerSm - 1) / kSchedulersPerSm;
  const int share = kRegistersPerSm / kSchedulersPerSm / (on_one_scheduler * 32) / kRegisterUnit * kRegisterUnit;
  return std::min(share, kRegistersPerThreadMax);
}

/// Whether a W4A16 block has registers for the sum of K segments beside the running one: a dense product's, where it is
/// summed in more than one.
constexpr bool folds_segments(const Tile& t) {
  return register_estimate(t) + accumulator_registers(t) <= register_limit(t);
}

}  // namespace tessera::plan
