// Matrix products with many rows of x: a slab of the weight (64 rows, kSlabColumns columns) is decoded to fp32 in the
// first-level cache once and met by all rows of x, a register tile at a time.

#if defined(TESSERA_KERNELS_CPU_MATMUL_SLAB_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_KERNELS_CPU_MATMUL_SLAB_INL_H_
#undef TESSERA_KERNELS_CPU_MATMUL_SLAB_INL_H_
#else
#define TESSERA_KERNELS_CPU_MATMUL_SLAB_INL_H_
#endif

#include "kernels/cpu/matmul_direct-inl.h"
#include "kernels/cpu/matmul_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

/// Rows of x in a full tile: with two vectors of weight rows, 24 accumulators of 32 registers, or 12 of 16.
inline constexpr int64_t kTileRows = kPartLanes == 16 ? 12 : 6;
static_assert(kTileRows <= kMaxTileRows && kDirectRows <= kMaxTileRows);

/// Some columns of one panel, decoded.
struct Slab {
  const float* values = nullptr;  // [columns, width]
  const float* scales = nullptr;  // [columns / 16, width]; formats without: unused
  int64_t columns = 0;
  int64_t width = 0;  // rows of the weight
};

template <WeightFormat kFormat>
void decode_slab(const uint8_t* panel, int64_t blocks, int64_t begin, int64_t end, float* values, float* scales) {
  constexpr int64_t kColumns = word_columns(kFormat);
  constexpr int kStep = kStepColumns<kFormat>;
  const int64_t width = blocks * kBlockRows;
  for (int64_t col = begin; col < end; col += kColumns) {
    const uint8_t* line = panel + word_offset(kFormat, blocks, col / kColumns, 0);
    for (int64_t block = 0; block < blocks; ++block) {
      float* to = values + (col - begin) * width + block * kBlockRows;
      for_each_constant<kColumns / kStep>([&]<int step>() HWY_ATTR {
        TESSERA_UNROLL
        for (size_t part = 0; part < kParts; ++part) {
          V columns[kStep];
          decode_step<kFormat, step>(line + block * kLineBytes, part, columns);
          TESSERA_UNROLL
          for (int i = 0; i < kStep; ++i) {
            hn::Store(columns[i], D(), to + (step * kStep + i) * width + static_cast<int64_t>(part * kPartLanes));
          }
        }
      });
    }
  }
  if constexpr (format::group_size(kFormat) > 0) {
    for (int64_t col = begin; col < end; col += kGroup) {
      const uint8_t* line = panel + scales_offset(kFormat, blocks, col / format::group_size(kFormat));
      float* to = scales + (col - begin) / kGroup * width;
      store(decode_scales<kFormat, 0>(line), to);
      if (blocks > 1) store(decode_scales<kFormat, 1>(line), to + 16);
      if (blocks > 2) store(decode_scales<kFormat, 2>(line), to + 32);
      if (blocks > 3) store(decode_scales<kFormat, 3>(line), to + 48);
    }
  }
}

/// sums[row][vector] += the slab's part of W x, for kVectors vectors of weight rows and kRows rows of x.
template <size_t kVectors, size_t kRows, bool kScaled>
HWY_NOINLINE void add_tile(const Slab& slab, int64_t first_row, const float* const* x, float* sums) {
  const D d;
  const float* w = slab.values + first_row;
  const float* scale = slab.scales + first_row;
  const float* rows[kRows];
  for (size_t r = 0; r < kRows; ++r) rows[r] = x[r];
  for (int64_t col = 0; col < slab.columns; col += kGroup) {
    V acc[kVectors][kRows];
    const auto step = [&](int64_t k) HWY_ATTR {
      V weights[kVectors];
      TESSERA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) weights[v] = hn::Load(d, w + k * slab.width + v * kPartLanes);
      TESSERA_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        const V factor = hn::Set(d, rows[r][col + k]);
        TESSERA_UNROLL
        for (size_t v = 0; v < kVectors; ++v) {
          acc[v][r] = k == 0 ? hn::Mul(weights[v], factor) : mul_add(weights[v], factor, acc[v][r]);
        }
      }
    };
    const int64_t count = slab.columns - col;
    step(0);
    if (count >= kGroup) {
      TESSERA_UNROLL  // one misprediction a group would cost a tenth
          for (int64_t k = 1; k < kGroup; ++k) step(k);
    } else {
      for (int64_t k = 1; k < count; ++k) step(k);
    }
    TESSERA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      V factor = hn::Zero(d);
      if constexpr (kScaled) factor = hn::Load(d, scale + v * kPartLanes);
      TESSERA_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        float* sum = sums + r * kPanelRows + v * kPartLanes;
        const V old = hn::Load(d, sum);
        hn::Store(kScaled ? mul_add(acc[v][r], factor, old) : hn::Add(old, acc[v][r]), d, sum);
      }
    }
    w += kGroup * slab.width;
    scale += slab.width;
  }
}

/// add_tile over the slab's width.
template <size_t kRows, bool kScaled>
void add_tiles(const Slab& slab, const float* const* x, float* sums) {
  constexpr int64_t kWide = 2 * static_cast<int64_t>(kPartLanes);
  int64_t row = 0;
  for (; row + kWide <= slab.width; row += kWide) add_tile<2, kRows, kScaled>(slab, row, x, sums + row);
  // A vector of 16 lanes can be left of an odd number of blocks.
  if (row < slab.width) add_tile<1, kRows, kScaled>(slab, row, x, sums + row);
}

/// For `count` <= kTileRows rows, rounded up to a third, two thirds or all of a tile: x has kTileRows pointers, the
/// last repeated, and sums as many rows.
template <bool kScaled>
void slab_rows(const Slab& slab, int64_t count, const float* const* x, float* sums) {
  if (count <= kTileRows / 3) return add_tiles<kTileRows / 3, kScaled>(slab, x, sums);
  if (count <= kTileRows * 2 / 3) return add_tiles<kTileRows * 2 / 3, kScaled>(slab, x, sums);
  add_tiles<kTileRows, kScaled>(slab, x, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, once per target
