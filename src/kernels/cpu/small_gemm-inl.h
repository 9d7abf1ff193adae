// Small dense fp32 products whose operands lie in cache: scores and outputs of attention, chunks of the delta rule.

#if defined(TESSERA_KERNELS_CPU_SMALL_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_KERNELS_CPU_SMALL_GEMM_INL_H_
#undef TESSERA_KERNELS_CPU_SMALL_GEMM_INL_H_
#else
#define TESSERA_KERNELS_CPU_SMALL_GEMM_INL_H_
#endif

#include "kernels/cpu/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

/// C[m, n] = (accumulate ? C : 0) + sum over k of A[m, k] B[k, n]: one fma a term, k ascending, so that an element's
/// bits depend on neither m, n nor the tile it falls into. A is read by strides (either may be 1: A or A^T).
struct SmallGemm {
  const float* a = nullptr;
  int64_t a_row = 0, a_col = 0;  // distance of rows (m) and of columns (k)
  const float* b = nullptr;
  int64_t b_row = 0;
  float* c = nullptr;
  int64_t c_row = 0;
  int64_t m = 0, n = 0, k = 0;  // n: multiple of 16
  bool accumulate = false;
};

template <int kRows, int kColumns>  // a tile of kRows x 16 kColumns, held in registers
HWY_INLINE void gemm_tile(const SmallGemm& g, const float* a, const float* b, float* c) {
  F16 sum[kRows][kColumns];
  TESSERA_UNROLL
  for (int i = 0; i < kRows; ++i) {
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j) sum[i][j] = g.accumulate ? load(c + i * g.c_row + 16 * j) : set(0.0F);
  }
  for (int64_t k = 0; k < g.k; ++k) {
    F16 column[kColumns];
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j) column[j] = load(b + k * g.b_row + 16 * j);
    TESSERA_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const F16 factor = set(a[i * g.a_row + k * g.a_col]);
      TESSERA_UNROLL
      for (int j = 0; j < kColumns; ++j) sum[i][j] = fma(factor, column[j], sum[i][j]);
    }
  }
  TESSERA_UNROLL
  for (int i = 0; i < kRows; ++i) {
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j) store(sum[i][j], c + i * g.c_row + 16 * j);
  }
}

template <int kColumns>
HWY_INLINE void gemm_columns(const SmallGemm& g, int64_t n) {
  // Accumulators fill at most half of 32 registers, or of 16 where vectors are shorter.
  constexpr int kRows = kParts == 1 ? 8 : kParts == 2 ? 4 : 2;
  int64_t m = 0;
  for (; m + kRows <= g.m; m += kRows) {
    gemm_tile<kRows, kColumns>(g, g.a + m * g.a_row, g.b + n, g.c + m * g.c_row + n);
  }
  for (; m < g.m; ++m) gemm_tile<1, kColumns>(g, g.a + m * g.a_row, g.b + n, g.c + m * g.c_row + n);
}

inline void small_gemm(const SmallGemm& g) {
  constexpr int kColumns = kParts == 1 ? 2 : 1;
  int64_t n = 0;
  for (; n + 16 * kColumns <= g.n; n += 16 * kColumns) gemm_columns<kColumns>(g, n);
  for (; n < g.n; n += 16) gemm_columns<1>(g, n);
}

/// C[i, :] += sum over j < limit(i) of A[i, j] B[j, :] for a lower-triangular A (limit i, or i + 1 with the diagonal).
/// Entries of A above the limit are never read. With `in_place`, B is C: forward substitution.
inline void triangular_gemm(const float* a, int64_t a_row, const float* b, int64_t b_row, float* c, int64_t c_row,
                            int64_t rows, int64_t n, bool diagonal) {
  constexpr int64_t kBlock = 8;
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    const int64_t end = begin + kBlock < rows ? begin + kBlock : rows;
    small_gemm({a + begin * a_row, a_row, 1, b, b_row, c + begin * c_row, c_row, end - begin, n, begin, true});
    for (int64_t i = begin; i < end; ++i) {
      small_gemm({a + i * a_row + begin, a_row, 1, b + begin * b_row, b_row, c + i * c_row, c_row, 1, n,
                  i - begin + (diagonal ? 1 : 0), true});
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, once per target
