// Matrix products with few rows of x: packed words are decoded in registers and multiplied at once, nothing is written
// between memory and the accumulators. For one row the speed is that of the decoder (NVFP4 on AVX-512: 16 weights cost
// one permutation, half a shift and one fma, 1.25 cycles of two ports), so a core outruns its share of the memory.

#if defined(TESSERA_KERNELS_CPU_MATMUL_DIRECT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_KERNELS_CPU_MATMUL_DIRECT_INL_H_
#undef TESSERA_KERNELS_CPU_MATMUL_DIRECT_INL_H_
#else
#define TESSERA_KERNELS_CPU_MATMUL_DIRECT_INL_H_
#endif

#include <utility>

#include "kernels/cpu/decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

inline constexpr int64_t kGroup = 16;  // columns of one partial sum, by the contract (kernels/linear.h)

/// Rows of x in one pass over a panel.
inline constexpr int64_t kDirectRows = kPartLanes == 16 ? 8 : 4;

/// Blocks whose partial sums are held in registers at once: enough chains to hide the latency of fma, few enough to
/// leave registers for the decoded words.
constexpr int direct_blocks(size_t rows) {
  if (kPartLanes == 16) return rows <= 4 ? 4 : 2;
  return rows <= 2 ? 2 : 1;
}

/// Lines of the weight are fetched into the second-level cache this far ahead of the arithmetic, then into the first.
/// Left to themselves the hardware prefetchers stay too close, reading and arithmetic take turns: one core then reads
/// cold NVFP4 at 9.4 GB/s; fetched 4 KB ahead to the first level 13.1, 8 KB to the second 14.3, both 15.1 (plain reads:
/// 17.5, the arithmetic alone: 19.5). More than 8 KB gains nothing and may reach into a panel of another thread.
inline constexpr int64_t kFarBytes = 8192;
inline constexpr int64_t kNearBytes = 2048;

HWY_INLINE void fetch_ahead(const uint8_t* line) {
  __builtin_prefetch(line + kFarBytes, 0, 2);
  __builtin_prefetch(line + kNearBytes, 0, 3);
}

/// Calls f.operator()<i>() for i = 0 .. kCount - 1.
template <int kCount, typename Function>
HWY_INLINE void for_each_constant(const Function& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) HWY_ATTR { (f.template operator()<i>(), ...); }
  (std::make_integer_sequence<int, kCount>());
}

/// Multiply-adds of one word of blocks [0, kBlocks) at `line`; x[r] points at its first column.
template <WeightFormat kFormat, size_t kRows, int kBlocks>
HWY_INLINE void add_word(const uint8_t* line, const float* const* x, int64_t column, V (&acc)[kBlocks][kParts][kRows]) {
  constexpr int kStep = kStepColumns<kFormat>;
  TESSERA_UNROLL
  for (int block = 0; block < kBlocks; ++block) fetch_ahead(line + block * kLineBytes);
  for_each_constant<word_columns(kFormat) / kStep>([&]<int step>() HWY_ATTR {
    V columns[kBlocks][kParts][kStep];
    TESSERA_UNROLL
    for (int block = 0; block < kBlocks; ++block) {
      TESSERA_UNROLL
      for (size_t part = 0; part < kParts; ++part) {
        decode_step<kFormat, step>(line + block * kLineBytes, part, columns[block][part]);
      }
    }
    TESSERA_UNROLL
    for (int i = 0; i < kStep; ++i) {
      TESSERA_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        const V factor = hn::Set(D(), x[r][column + step * kStep + i]);
        TESSERA_UNROLL
        for (int block = 0; block < kBlocks; ++block) {
          TESSERA_UNROLL
          for (size_t part = 0; part < kParts; ++part) {
            acc[block][part][r] = mul_add(columns[block][part][i], factor, acc[block][part][r]);
          }
        }
      }
    }
  });
}

/// One group of 16 columns of blocks [kFirst, kFirst + direct_blocks).
template <WeightFormat kFormat, size_t kRows, int kFirst>
HWY_INLINE void add_group(const uint8_t* words, const uint8_t* scale_line, const float* const* x, int64_t column,
                          float* sums) {
  constexpr int kBlocks = direct_blocks(kRows);
  constexpr bool kScaled = format::group_size(kFormat) > 0;
  const D d;
  // A partial sum that begins with fma(w, x, +0) instead of w * x can differ in the sign of a zero; the total, which
  // begins with +0, cannot.
  V acc[kBlocks][kParts][kRows];
  TESSERA_UNROLL
  for (int block = 0; block < kBlocks; ++block) {
    TESSERA_UNROLL
    for (size_t part = 0; part < kParts; ++part) {
      TESSERA_UNROLL
      for (size_t r = 0; r < kRows; ++r) acc[block][part][r] = hn::Zero(d);
    }
  }
  for (int64_t i = 0; i < kGroup; i += word_columns(kFormat)) {
    add_word<kFormat, kRows, kBlocks>(words + kFirst * kLineBytes, x, column + i, acc);
    words += kPanelBlocks * kLineBytes;
  }
  if constexpr (kScaled && kFirst == 0) fetch_ahead(scale_line);
  for_each_constant<kBlocks>([&]<int block>() HWY_ATTR {
    F32x16 scale;
    if constexpr (kScaled) scale = decode_scales<kFormat, kFirst + block>(scale_line);
    TESSERA_UNROLL
    for (size_t part = 0; part < kParts; ++part) {
      TESSERA_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        float* sum = sums + r * kPanelRows + (kFirst + block) * kBlockRows + part * kPartLanes;
        const V old = hn::Load(d, sum);
        if constexpr (kScaled) {
          hn::Store(mul_add(acc[block][part][r], scale.part[part], old), d, sum);
        } else {
          hn::Store(hn::Add(old, acc[block][part][r]), d, sum);
        }
      }
    }
  });
}

/// sums[row] += W x over `groups` groups of a panel of four blocks.
template <WeightFormat kFormat, size_t kRows>
HWY_NOINLINE void direct_panel(const uint8_t* panel, int64_t groups, const float* const* x, float* sums) {
  constexpr int kBlocks = direct_blocks(kRows);
  constexpr int64_t kScaleGroup = format::group_size(kFormat);
  const float* rows[kRows];
  for (size_t r = 0; r < kRows; ++r) rows[r] = x[r];
  for (int64_t g = 0; g < groups; ++g) {
    const uint8_t* words = panel + word_offset(kFormat, kPanelBlocks, g * kGroup / word_columns(kFormat), 0);
    const uint8_t* scales = words;
    if constexpr (kScaleGroup > 0) scales = panel + scales_offset(kFormat, kPanelBlocks, g * kGroup / kScaleGroup);
    for_each_constant<4 / kBlocks>(
        [&]<int i>() HWY_ATTR { add_group<kFormat, kRows, i * kBlocks>(words, scales, rows, g * kGroup, sums); });
  }
}

/// direct_panel for `count` <= kDirectRows rows. Five rows cost as much as six, and seven as eight: x has kDirectRows
/// pointers, the last repeated, and sums as many rows.
template <WeightFormat kFormat>
void direct_rows(const uint8_t* panel, int64_t groups, int64_t count, const float* const* x, float* sums) {
  if (count <= 1) return direct_panel<kFormat, 1>(panel, groups, x, sums);
  if (count <= 2) return direct_panel<kFormat, 2>(panel, groups, x, sums);
  if (count <= 3) return direct_panel<kFormat, 3>(panel, groups, x, sums);
  if (count <= 4) return direct_panel<kFormat, 4>(panel, groups, x, sums);
  if constexpr (kDirectRows > 4) {
    if (count <= 6) return direct_panel<kFormat, 6>(panel, groups, x, sums);
    direct_panel<kFormat, 8>(panel, groups, x, sums);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, once per target
