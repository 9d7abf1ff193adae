// The arithmetic of gated attention, on rows and tiles.

#if defined(TESSERA_KERNELS_CPU_GATED_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_KERNELS_CPU_GATED_ATTENTION_INL_H_
#undef TESSERA_KERNELS_CPU_GATED_ATTENTION_INL_H_
#else
#define TESSERA_KERNELS_CPU_GATED_ATTENTION_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "kernels/cpu/gated_attention.h"
#include "kernels/cpu/small_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

// Rotates the first 2 * half values of a head: pairs (i, i + half).
HWY_INLINE void rotate(const float* cos, const float* sin, int64_t half, bool to_bf16, float* x) {
  for (int64_t i = 0; i < half; i += 16) {
    const int64_t n = half - i;
    const F32x16 c = load_n(cos + i, n), s = load_n(sin + i, n);
    const F32x16 a = load_n(x + i, n), b = load_n(x + half + i, n);
    const auto round = [&](const F32x16& v) HWY_ATTR { return round_if(to_bf16, v); };
    store_n(round(sub(round(mul(a, c)), round(mul(b, s)))), n, x + i);
    store_n(round(add(round(mul(b, c)), round(mul(a, s)))), n, x + half + i);
  }
}

void norm_and_rotate(const float* x, const float* weight, const AttentionShape& shape, const float* cos,
                     const float* sin, bool to_bf16, float* out) {
  rms_norm_row(x, weight, shape.head_dim, shape.norm_eps, to_bf16, out);
  rotate(cos, sin, shape.rotary_dim / 2, to_bf16, out);
}

// E4M3 codes as the fp32 values / 2^8, count rounded up to 32. E4M3 has half precision's layout with fewer bits:
// shifted into place a code is a half of 2^-8 times its value, subnormals included.
inline constexpr float kE4m3Factor = 256.0F;
HWY_INLINE void decode_e4m3(const uint8_t* codes, int64_t count, float* out) {
  const D d;
  const hn::Repartition<uint16_t, D> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const hn::Repartition<hwy::float16_t, D> half;
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(2 * kPartLanes)) {
    const auto shifted = hn::ShiftLeft<7>(hn::PromoteTo(d16, hn::LoadU(d8, codes + i)));
    const auto sign = hn::And(shifted, hn::Set(d16, uint16_t{0x4000}));
    const auto magnitude = hn::AndNot(sign, shifted);
    const auto is_nan = hn::Eq(magnitude, hn::Set(d16, uint16_t{0x7f << 7}));
    const auto bits = hn::Or(hn::Add(shifted, sign), hn::IfThenElseZero(is_nan, hn::Set(d16, uint16_t{0x7e00})));
    const auto halves = hn::BitCast(half, bits);
    hn::StoreU(from_half(hn::LowerHalf(halves)), d, out + i);
    hn::StoreU(from_half(hn::UpperHalf(hn::Half<decltype(half)>(), halves)), d, out + i + kPartLanes);
  }
}

// Elements as stored to fp32; for E4M3 see above.
HWY_INLINE void decode(DType dtype, const std::byte* from, int64_t count, float* out) {
  if (dtype == DType::f8_e4m3) return decode_e4m3(reinterpret_cast<const uint8_t*>(from), count, out);
  const auto copy = [&](const auto* p) HWY_ATTR {
    for (int64_t i = 0; i < count; i += 16) store(load_b(p + i), out + i);
  };
  dtype == DType::f32 ? copy(reinterpret_cast<const float*>(from)) : copy(reinterpret_cast<const uint16_t*>(from));
}

// Scores of one row, times `scale`, become p = exp(score - max) in place.
HWY_INLINE void softmax_split(float* scores, int64_t valid, float scale, float* max_out, float* sum_out) {
  const F32x16 factor = set(scale);
  const float lowest = -std::numeric_limits<float>::infinity();
  F32x16 largest = set(lowest);
  for (int64_t j = 0; j < valid; j += 16) {
    const F32x16 s = first_n_or(mul(load(scores + j), factor), valid - j, lowest);
    store(s, scores + j);
    largest = max(largest, s);
  }
  const float m = max_lane(largest);
  const F32x16 shift = set(m);
  F32x16 total = set(0.0F);
  for (int64_t j = 0; j < valid; j += 16) {
    const F32x16 p = exp(sub(load(scores + j), shift));
    store(p, scores + j);
    total = add(total, p);
  }
  *max_out = m;
  *sum_out = sum(total);
}

// Softmax state of every row of the tile over one split.
struct SplitPass {
  const AttentionTile& t;
  const int64_t split;
  const TileScratch& scratch;
  const RowStates& out;
  const int64_t head_dim = t.shape.head_dim, padded_dim = round_up_16(head_dim);
  // BF16 is worth decoding where more than two tiles of rows will read it.
  const bool as_stored = t.kv.dtype == DType::f32 || (t.kv.dtype == DType::bf16 && t.rows() <= 2 * kTileRows);
  // Tokens worked on at once: decoded, they shall fit the L1 cache.
  const int64_t step = as_stored ? kBlockTokens : kBlockTokens / 2;

  // Tokens of this split that a row sees; never falls as the row rises.
  [[nodiscard]] int64_t valid(int64_t row) const {
    return std::clamp<int64_t>(t.position(row) + 1 - split * kSplitTokens, 0, kSplitTokens);
  }
  [[nodiscard]] int64_t longest() const { return valid(t.rows() - 1); }

  // Where the products will read next: they fetch it as they go, for a page that was not foreseen costs more than its
  // bytes. Per step of a tile as much as spreads a piece over all steps.
  const std::byte* next_piece(int64_t begin, bool keys) const {
    if (begin + step < longest()) return keys ? t.keys(split, begin + step) : t.values(split, begin + step, 0);
    if (keys) return t.values(split, 0, 0);
    return split + 1 < t.splits() ? t.keys(split + 1, 0) : nullptr;
  }
  const int64_t fetch_bytes =
      step * t.element_bytes() / (step / 16 / kTileColumns * ((t.rows() + kTileRows - 1) / kTileRows));

  template <typename B>
  void multiply_keys(int64_t begin, int64_t first_row, int64_t groups, const B* keys) const {
    small_gemm<B>({.a = scratch.query + first_row * padded_dim,
                   .a_row = padded_dim,
                   .a_col = 1,
                   .b = keys,
                   .b_row = 16,
                   .b_block = head_dim * 16,
                   .c = scratch.scores + first_row * kSplitTokens + begin,
                   .c_row = kSplitTokens,
                   .m = t.rows() - first_row,
                   .n = groups * 16,
                   .k = head_dim,
                   .fetch = next_piece(begin, true),
                   .fetch_bytes = fetch_bytes});
  }

  void scores() const {
    int64_t first = 0;
    for (int64_t begin = 0; begin < longest(); begin += step) {
      while (valid(first) <= begin) ++first;
      const int64_t groups = (std::min(longest() - begin, step) + 15) / 16;
      const std::byte* stored = t.keys(split, begin);
      if (as_stored && t.kv.dtype == DType::f32) {
        multiply_keys(begin, first, groups, reinterpret_cast<const float*>(stored));
      } else if (as_stored) {
        multiply_keys(begin, first, groups, reinterpret_cast<const uint16_t*>(stored));
      } else {
        decode(t.kv.dtype, stored, groups * 16 * head_dim, scratch.decoded);
        multiply_keys<float>(begin, first, groups, scratch.decoded);
      }
    }
  }

  void softmax() const {
    float scale = 1.0F / std::sqrt(static_cast<float>(head_dim));
    if (t.kv.dtype == DType::f8_e4m3) scale *= t.kv.k_scale * kE4m3Factor;
    for (int64_t row = 0; row < t.rows(); ++row) {
      softmax_split(scratch.scores + row * kSplitTokens, valid(row), scale, out.max + row, out.sum + row);
    }
  }

  // Values of a piece where the products cannot read them as stored: [groups of 16 dims][step tokens][16 dims]. A
  // narrower last group is padded with zeros.
  const float* decode_values(int64_t begin, int64_t tokens) const {
    for (int64_t dim = 0; dim < padded_dim; dim += 16) {
      const std::byte* from = t.values(split, begin, dim);
      float* to = scratch.decoded + dim * step;
      if (dim + 16 <= head_dim) {
        decode(t.kv.dtype, from, tokens * 16, to);
        continue;
      }
      const int64_t bytes = (head_dim - dim) * t.element_bytes();
      for (int64_t token = 0; token < tokens; ++token) {
        alignas(64) std::byte sixteen[64] = {};
        std::memcpy(sixteen, from + token * bytes, static_cast<size_t>(bytes));
        alignas(64) float decoded[32];
        decode(t.kv.dtype, sixteen, 16, decoded);
        store(load(decoded), to + token * 16);
      }
    }
    return scratch.decoded;
  }

  // out += p V for tokens [begin, begin + tokens); values as [groups of 16 dims][token][16 dims], groups `block` apart.
  // Rows of a tile end at different tokens. What all of a few rows see is done at once, the rest row by row: a weight
  // of zero for a later token would let its NaN through.
  template <typename B>
  void weigh(int64_t begin, int64_t tokens, const B* values, int64_t block) const {
    const auto seen = [&](int64_t row) { return std::clamp<int64_t>(valid(row) - begin, 0, tokens); };
    const auto add = [&](int64_t row, int64_t rows, int64_t first, int64_t last) HWY_ATTR {
      small_gemm<B>({.a = scratch.scores + row * kSplitTokens + begin + first,
                     .a_row = kSplitTokens,
                     .a_col = 1,
                     .b = values + first * 16,
                     .b_row = 16,
                     .b_block = block,
                     .c = out.out + row * padded_dim,
                     .c_row = padded_dim,
                     .m = rows,
                     .n = padded_dim,
                     .k = last - first,
                     .accumulate = true,
                     .fetch = next_piece(begin, false),
                     .fetch_bytes = fetch_bytes});
    };
    for (int64_t row = 0; row < t.rows();) {
      int64_t rows = 1;
      const int64_t common = seen(row);
      while (row + rows < t.rows() && (rows < kTileRows || seen(row + rows) == common)) ++rows;
      add(row, rows, 0, common);
      for (int64_t r = row; r < row + rows; ++r) {
        if (seen(r) > common) add(r, 1, common, seen(r));
      }
      row += rows;
    }
  }

  void outputs() const {
    std::fill_n(out.out, t.rows() * padded_dim, 0.0F);
    for (int64_t begin = 0; begin < longest(); begin += step) {
      const int64_t tokens = std::min(longest() - begin, step);
      const std::byte* stored = t.values(split, begin, 0);
      if (as_stored && padded_dim == head_dim && t.kv.dtype == DType::f32) {
        weigh(begin, tokens, reinterpret_cast<const float*>(stored), 16 * kBlockTokens);
      } else if (as_stored && padded_dim == head_dim) {
        weigh(begin, tokens, reinterpret_cast<const uint16_t*>(stored), 16 * kBlockTokens);
      } else {
        weigh(begin, tokens, decode_values(begin, tokens), 16 * step);
      }
    }
  }
};

void attend_split(const AttentionTile& t, int64_t split, const TileScratch& scratch, const RowStates& out) {
  const SplitPass pass{t, split, scratch, out};
  pass.scores();
  pass.softmax();
  pass.outputs();
}

// Adds a later split to the rows' states.
void merge_split(int64_t rows, int64_t padded_dim, const RowStates& split, const RowStates& total) {
  for (int64_t row = 0; row < rows; ++row) {
    if (split.sum[row] == 0) continue;  // the row ends before this split
    const float m = std::max(total.max[row], split.max[row]);
    const F32x16 old_factor = exp(set(total.max[row] - m)), new_factor = exp(set(split.max[row] - m));
    const F32x16 l = fma(set(split.sum[row]), new_factor, mul(set(total.sum[row]), old_factor));
    store_n(l, 1, total.sum + row);
    total.max[row] = m;
    const float* from = split.out + row * padded_dim;
    float* to = total.out + row * padded_dim;
    for (int64_t i = 0; i < padded_dim; i += 16) {
      store(fma(load(from + i), new_factor, mul(load(to + i), old_factor)), to + i);
    }
  }
}

// out / sum, rounded, times sigmoid(gate).
void finish_row(const KvLayer& kv, const float* state, float total, const float* gate, int64_t head_dim, bool to_bf16,
                float* out) {
  const F32x16 divisor = set(total), scale = set(kv.dtype == DType::f8_e4m3 ? kv.v_scale * kE4m3Factor : 1.0F);
  for (int64_t i = 0; i < head_dim; i += 16) {
    const int64_t n = head_dim - i;
    const F32x16 attended = round_if(to_bf16, mul(div(load(state + i), divisor), scale));
    const F32x16 opened = round_if(to_bf16, sigmoid(load_n(gate + i, n)));
    store_n(round_if(to_bf16, mul(attended, opened)), n, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, once per target
