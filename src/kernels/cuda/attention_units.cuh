#pragma once

#include <cstdint>

#include "kernels/cuda/attention_row.cuh"

// How the work of a step is found on the device: sequences have units, numbered through; a block looks up its own.
namespace tessera::kernels::cuda::attn {

/// What one block takes in turn of a query tile or row group's splits.
enum class Grain { split, superblock, all };

/// The first words of a SequenceEntry.
struct Sequence {
  int first_row = 0, rows = 0, first_position = 0, slot = 0;

  [[nodiscard]] __device__ int last_position() const { return first_position + rows - 1; }
};

__device__ inline Sequence load_sequence(const StepTables& tables, int index) {
  const int4 words = __ldcg(reinterpret_cast<const int4*>(tables.sequences + index));
  return {words.x, words.y, words.z, words.w};
}

__device__ inline int sum_of_warp(int value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAll, value, step);
  return value;
}

struct FoundUnit {
  Sequence sequence;
  int first_unit;  // of the sequence
};

/// The sequence of a unit among sequences first to end, by a whole warp. count(sequence): its units.
template <typename Count>
__device__ inline FoundUnit find_unit(const StepTables& tables, int first, int end, int unit, int lane,
                                      const Count& count) {
  for (int base = 0;; first += 32) {
    Sequence mine;
    int units = 0;
    if (first + lane < end) {
      mine = load_sequence(tables, first + lane);
      units = mine.rows > 0 ? count(mine) : 0;
    }
    int inclusive = units;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(kAll, inclusive, step);
      if (lane >= step) inclusive += other;
    }
    const int total = __shfl_sync(kAll, inclusive, 31);
    if (unit >= base + total) {
      base += total;
      continue;
    }
    const int holder = __reduce_min_sync(kAll, base + inclusive > unit ? lane : 31);
    return {{__shfl_sync(kAll, mine.first_row, holder), __shfl_sync(kAll, mine.rows, holder),
             __shfl_sync(kAll, mine.first_position, holder), __shfl_sync(kAll, mine.slot, holder)},
            base + __shfl_sync(kAll, inclusive - units, holder)};
  }
}

/// Units of all sequences at each grain.
struct UnitCounts {
  int by_split = 0, by_superblock = 0, whole = 0;

  template <typename Parts>
  __device__ UnitCounts(const StepTables& tables, int first, int end, int lane, int superblock, const Parts& parts) {
    for (int i = first + lane; i < end; i += 32) {
      const Sequence s = load_sequence(tables, i);
      if (s.rows <= 0) continue;
      const int splits = parts.splits(s), each = parts.each(s);
      by_split += each * splits;
      by_superblock += each * ((splits + superblock - 1) / superblock);
      whole += each;
    }
    by_split = sum_of_warp(by_split);
    by_superblock = sum_of_warp(by_superblock);
    whole = sum_of_warp(whole);
  }

  [[nodiscard]] __device__ int units(Grain grain) const {
    return grain == Grain::split ? by_split : grain == Grain::superblock ? by_superblock : whole;
  }

  /// The finest grain whose states have slots, unless coarser ones fill the grid several times over.
  [[nodiscard]] __device__ Grain grain(int slots, int blocks) const {
    constexpr int kPlenty = 4;
    if (whole >= kPlenty * blocks) return Grain::all;
    if (by_split <= slots && by_superblock < kPlenty * blocks) return Grain::split;
    return by_superblock <= slots ? Grain::superblock : Grain::all;
  }
};

}  // namespace tessera::kernels::cuda::attn
