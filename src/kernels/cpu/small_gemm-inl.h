// Small dense fp32 products whose operands lie in cache: scores and outputs of attention, chunks of the delta rule.

#if defined(TESSERA_KERNELS_CPU_SMALL_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_KERNELS_CPU_SMALL_GEMM_INL_H_
#undef TESSERA_KERNELS_CPU_SMALL_GEMM_INL_H_
#else
#define TESSERA_KERNELS_CPU_SMALL_GEMM_INL_H_
#endif

#include <type_traits>

#include "kernels/cpu/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

/// Sixteen elements of B: fp32, or BF16 as bits.
HWY_INLINE F32x16 load_b(const float* p) { return load(p); }
HWY_INLINE F32x16 load_b(const uint16_t* p) {
  const hn::Rebind<uint16_t, D> d16;
  F32x16 out;
  TESSERA_UNROLL
  for (size_t i = 0; i < kParts; ++i) {
    const auto bits = hn::PromoteTo(DU(), hn::LoadU(d16, p + i * kPartLanes));
    out.part[i] = hn::BitCast(D(), hn::ShiftLeft<16>(bits));
  }
  return out;
}

/// C[m, n] = (accumulate ? C : 0) + sum over k of A[m, k] B[k, n]: one fma a term, k ascending, so that an element's
/// bits depend on neither m, n nor the tile it falls into. A is read by strides (either may be 1: A or A^T); the 16
/// columns of block j of B's row k start at b + k * b_row + j * b_block.
template <typename B = float>
struct SmallGemm {
  const float* a = nullptr;
  int64_t a_row = 0, a_col = 0;  // distance of rows (m) and of columns (k)
  const B* b = nullptr;
  int64_t b_row = 0, b_block = 16;
  float* c = nullptr;
  int64_t c_row = 0;
  int64_t m = 0, n = 0, k = 0;  // n: multiple of 16
  bool accumulate = false;
  const std::byte* fetch = nullptr;  // memory to prefetch meanwhile, fetch_bytes a step of k of a tile
  int64_t fetch_bytes = 0;
};

// A tile of kRows x 16 kColumns, held in registers.
template <int kRows, int kColumns>
HWY_INLINE void load_tile(const float* c, int64_t c_row, F32x16 (&tile)[kRows][kColumns]) {
  TESSERA_UNROLL
  for (int i = 0; i < kRows; ++i) {
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j) tile[i][j] = load(c + i * c_row + 16 * j);
  }
}

template <int kRows, int kColumns>
HWY_INLINE void store_tile(const F32x16 (&tile)[kRows][kColumns], float* c, int64_t c_row) {
  TESSERA_UNROLL
  for (int i = 0; i < kRows; ++i) {
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j) store(tile[i][j], c + i * c_row + 16 * j);
  }
}

// tile[i] += a[i] * row, for i >= first.
template <int kRows, int kColumns>
HWY_INLINE void add_outer(const float* a, int64_t a_row, const F32x16 (&row)[kColumns], int first,
                          F32x16 (&tile)[kRows][kColumns]) {
  TESSERA_UNROLL
  for (int i = 0; i < kRows; ++i) {
    if (i < first) continue;
    const F32x16 factor = set(a[i * a_row]);
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j) tile[i][j] = fma(factor, row[j], tile[i][j]);
  }
}

template <int kRows, int kColumns, typename B>
HWY_INLINE void add_products(const SmallGemm<B>& g, const float* a, const B* b, F32x16 (&tile)[kRows][kColumns]) {
  const std::byte* fetch = g.fetch;
  for (int64_t k = 0; k < g.k; ++k, fetch += g.fetch_bytes) {
    __builtin_prefetch(fetch, 0, 2);
    F32x16 row[kColumns];
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j) row[j] = load_b(b + k * g.b_row + j * g.b_block);
    add_outer<kRows, kColumns>(a + k * g.a_col, g.a_row, row, 0, tile);
  }
}

template <int kRows, int kColumns, typename B>
HWY_INLINE void gemm_tile(const SmallGemm<B>& g, const float* a, const B* b, float* c) {
  F32x16 tile[kRows][kColumns];
  if (g.accumulate) {
    load_tile(c, g.c_row, tile);
  } else {
    TESSERA_UNROLL
    for (int i = 0; i < kRows; ++i) {
      TESSERA_UNROLL
      for (int j = 0; j < kColumns; ++j) tile[i][j] = set(0.0F);
    }
  }
  add_products<kRows, kColumns>(g, a, b, tile);
  store_tile(tile, c, g.c_row);
}

// Accumulators fill half of the 32 registers of AVX-512, or of 16 where vectors are shorter.
inline constexpr int kTileRows = kParts == 1 ? 8 : kParts == 2 ? 4 : 2;
inline constexpr int kTileColumns = kParts == 1 ? 2 : 1;

template <int kColumns, typename B>
HWY_INLINE void gemm_columns(SmallGemm<B>& g, const B* b, float* c) {
  int64_t m = 0;
  for (; m + kTileRows <= g.m; m += kTileRows) {
    gemm_tile<kTileRows, kColumns>(g, g.a + m * g.a_row, b, c + m * g.c_row);
    g.fetch += g.k * g.fetch_bytes;
  }
  for (; m < g.m; ++m) gemm_tile<1, kColumns>(g, g.a + m * g.a_row, b, c + m * g.c_row);
}

template <typename B>
void small_gemm(SmallGemm<B> g) {
  if (g.fetch == nullptr) g.fetch = reinterpret_cast<const std::byte*>(g.b);
  int64_t n = 0;
  for (; n + 16 * kTileColumns <= g.n; n += 16 * kTileColumns) {
    gemm_columns<kTileColumns>(g, g.b + n / 16 * g.b_block, g.c + n);
  }
  for (; n < g.n; n += 16) gemm_columns<1>(g, g.b + n / 16 * g.b_block, g.c + n);
}

// Rows [begin, begin + kRows) of the two triangular products below. The terms of earlier rows come first, then those of
// the rows of this block.
template <int kRows, int kColumns, bool kSolve>
HWY_INLINE void triangular_tile(const float* a, int64_t a_row, const float* b, int64_t b_row, float* c, int64_t c_row,
                                int64_t begin) {
  F32x16 tile[kRows][kColumns];
  load_tile(c + begin * c_row, c_row, tile);
  const float* a_block = a + begin * a_row;
  add_products<kRows, kColumns>({.a_row = a_row, .a_col = 1, .b_row = b_row, .k = begin}, a_block, b, tile);
  TESSERA_UNROLL
  for (int k = 0; k < kRows; ++k) {
    if constexpr (kSolve) {  // row k of the tile is final
      add_outer<kRows, kColumns>(a_block + begin + k, a_row, tile[k], k + 1, tile);
    } else {
      F32x16 next[kColumns];
      TESSERA_UNROLL
      for (int j = 0; j < kColumns; ++j) next[j] = load(b + (begin + k) * b_row + 16 * j);
      add_outer<kRows, kColumns>(a_block + begin + k, a_row, next, k, tile);
    }
  }
  store_tile(tile, c + begin * c_row, c_row);
}

template <bool kSolve>
HWY_INLINE void triangular(const float* a, int64_t a_row, const float* b, int64_t b_row, float* c, int64_t c_row,
                           int64_t rows, int64_t n) {
  int64_t column = 0;
  const auto columns = [&](auto width) HWY_ATTR {
    constexpr int kColumns = decltype(width)::value;
    for (; column + 16 * kColumns <= n; column += 16 * kColumns) {
      int64_t begin = 0;
      for (; begin + kTileRows <= rows; begin += kTileRows) {
        triangular_tile<kTileRows, kColumns, kSolve>(a, a_row, b + column, b_row, c + column, c_row, begin);
      }
      for (; begin < rows; ++begin)
        triangular_tile<1, kColumns, kSolve>(a, a_row, b + column, b_row, c + column, c_row, begin);
    }
  };
  columns(std::integral_constant<int, kTileColumns>());
  columns(std::integral_constant<int, 1>());
}

/// Forward substitution in place: C[i] += sum over j < i of A[i, j] C[j], C: [rows, n]. Of A nothing on or above the
/// diagonal is used.
inline void solve_lower(const float* a, int64_t a_row, float* c, int64_t c_row, int64_t rows, int64_t n) {
  triangular<true>(a, a_row, c, c_row, c, c_row, rows, n);
}

/// C[i] += sum over j <= i of A[i, j] B[j], B and C: [rows, n]. Of A nothing above the diagonal is used.
inline void add_lower(const float* a, int64_t a_row, const float* b, int64_t b_row, float* c, int64_t c_row,
                      int64_t rows, int64_t n) {
  triangular<false>(a, a_row, b, b_row, c, c_row, rows, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, once per target
