#include "kernels/gated_attention.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "format/e4m3.h"
#include "kernels/cpu/gated_attention.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/sin_cos.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gated_attention.cpp"
#include "hwy/foreach_target.h"
#include "kernels/cpu/small_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

// Rotates the first 2 * half values of a head: pairs (i, i + half).
HWY_INLINE void rotate(const float* cos, const float* sin, int64_t half, bool to_bf16, float* x) {
  for (int64_t i = 0; i < half; i += 16) {
    const int64_t n = half - i;
    const F16 c = load_n(cos + i, n), s = load_n(sin + i, n);
    const F16 a = load_n(x + i, n), b = load_n(x + half + i, n);
    const auto round = [&](const F16& v) HWY_ATTR { return round_if(to_bf16, v); };
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
    hn::StoreU(hn::PromoteTo(d, hn::LowerHalf(halves)), d, out + i);
    hn::StoreU(hn::PromoteTo(d, hn::UpperHalf(hn::Half<decltype(half)>(), halves)), d, out + i + kPartLanes);
  }
}

HWY_INLINE void decode_bf16(const uint16_t* values, int64_t count, float* out) {
  for (int64_t i = 0; i < count; i += 16) store(load_b(values + i), out + i);
}

// Calls body with the elements at `from`, as stored if the products can read them, else decoded into `decoded`.
// BF16 is worth decoding where more than two tiles of rows will read it.
template <typename Body>
HWY_INLINE void with_elements(DType dtype, bool as_stored, const std::byte* from, int64_t count, float* decoded,
                              const Body& body) {
  if (dtype == DType::f32) {
    body(reinterpret_cast<const float*>(from));
  } else if (dtype == DType::bf16 && as_stored) {
    body(reinterpret_cast<const uint16_t*>(from));
  } else if (dtype == DType::bf16) {
    decode_bf16(reinterpret_cast<const uint16_t*>(from), count, decoded);
    body(static_cast<const float*>(decoded));
  } else {
    decode_e4m3(reinterpret_cast<const uint8_t*>(from), count, decoded);
    body(static_cast<const float*>(decoded));
  }
}

// Where head_dim is no multiple of 16: rows of values one by one, as fp32, padded with zeros.
void pad_values(DType dtype, const std::byte* from, int64_t tokens, int64_t head_dim, float* out) {
  const int64_t padded_dim = round_up_16(head_dim);
  const auto row_bytes = static_cast<size_t>(head_dim) * size_bytes(dtype);
  for (int64_t token = 0; token < tokens; ++token) {
    for (int64_t i = 0; i < padded_dim; i += 16) {
      alignas(64) std::byte sixteen[64] = {};
      const auto n = static_cast<size_t>(std::min<int64_t>(16, head_dim - i));
      std::memcpy(sixteen, from + static_cast<size_t>(token) * row_bytes + static_cast<size_t>(i) * size_bytes(dtype),
                  n * size_bytes(dtype));
      alignas(64) float decoded[32];
      with_elements(dtype, true, sixteen, 16, decoded,
                    [&](auto* p) HWY_ATTR { store(load_b(p), out + token * padded_dim + i); });
    }
  }
}

// Scores of one row, times `scale`, become p = exp(score - max) in place.
HWY_INLINE void softmax_split(float* scores, int64_t valid, float scale, float* max_out, float* sum_out) {
  const F16 factor = set(scale);
  const float lowest = -std::numeric_limits<float>::infinity();
  F16 largest = set(lowest);
  for (int64_t j = 0; j < valid; j += 16) {
    const F16 s = first_n_or(mul(load(scores + j), factor), valid - j, lowest);
    store(s, scores + j);
    largest = max(largest, s);
  }
  const float m = max_lane(largest);
  const F16 shift = set(m);
  F16 total = set(0.0F);
  for (int64_t j = 0; j < valid; j += 16) {
    const F16 p = exp(sub(load(scores + j), shift));
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
  const bool as_stored = t.rows() <= 2 * kTileRows;
  // Tokens worked on at once: decoded, they shall fit the L1 cache.
  const int64_t step = as_stored || t.kv.dtype == DType::f32 ? kBlockTokens : kBlockTokens / 2;

  // Tokens of this split that a row sees; never falls as the row rises.
  [[nodiscard]] int64_t valid(int64_t row) const {
    return std::clamp<int64_t>(t.position(row) + 1 - split * kSplitTokens, 0, kSplitTokens);
  }
  [[nodiscard]] int64_t longest() const { return valid(t.rows() - 1); }

  void scores() const {
    int64_t first = 0;
    for (int64_t begin = 0; begin < longest(); begin += step) {
      while (valid(first) <= begin) ++first;
      const int64_t groups = (std::min(longest() - begin, step) + 15) / 16;
      with_elements(t.kv.dtype, as_stored, t.keys(split, begin), groups * 16 * head_dim, scratch.decoded,
                    [&](auto* keys) HWY_ATTR {
                      small_gemm<std::remove_const_t<std::remove_pointer_t<decltype(keys)>>>(
                          {.a = scratch.query + first * padded_dim,
                           .a_row = padded_dim,
                           .a_col = 1,
                           .b = keys,
                           .b_row = 16,
                           .b_block = head_dim * 16,
                           .c = scratch.scores + first * kSplitTokens + begin,
                           .c_row = kSplitTokens,
                           .m = t.rows() - first,
                           .n = groups * 16,
                           .k = head_dim});
                    });
    }
  }

  void softmax() const {
    float scale = 1.0F / std::sqrt(static_cast<float>(head_dim));
    if (t.kv.dtype == DType::f8_e4m3) scale *= t.kv.k_scale * kE4m3Factor;
    for (int64_t row = 0; row < t.rows(); ++row) {
      softmax_split(scratch.scores + row * kSplitTokens, valid(row), scale, out.max + row, out.sum + row);
    }
  }

  // out += p V for tokens [begin, begin + tokens). Rows of a tile end at different tokens. What all of a few rows see
  // is done at once, the rest row by row: a weight of zero for a later token would let its NaN through.
  template <typename B>
  void weigh(int64_t begin, int64_t tokens, const B* values) const {
    const auto seen = [&](int64_t row) { return std::clamp<int64_t>(valid(row) - begin, 0, tokens); };
    const auto add = [&](int64_t row, int64_t rows, int64_t first, int64_t last) HWY_ATTR {
      small_gemm<B>({.a = scratch.scores + row * kSplitTokens + begin + first,
                     .a_row = kSplitTokens,
                     .a_col = 1,
                     .b = values + first * padded_dim,
                     .b_row = padded_dim,
                     .c = out.out + row * padded_dim,
                     .c_row = padded_dim,
                     .m = rows,
                     .n = padded_dim,
                     .k = last - first,
                     .accumulate = true});
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
      if (padded_dim != head_dim) {
        pad_values(t.kv.dtype, t.values(split, begin), tokens, head_dim, scratch.decoded);
        weigh(begin, tokens, static_cast<const float*>(scratch.decoded));
      } else {
        with_elements(t.kv.dtype, as_stored, t.values(split, begin), tokens * head_dim, scratch.decoded,
                      [&](auto* values) HWY_ATTR { weigh(begin, tokens, values); });
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
    const F16 old_factor = exp(set(total.max[row] - m)), new_factor = exp(set(split.max[row] - m));
    const F16 l = fma(set(split.sum[row]), new_factor, mul(set(total.sum[row]), old_factor));
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
  const F16 divisor = set(total), scale = set(kv.dtype == DType::f8_e4m3 ? kv.v_scale * kE4m3Factor : 1.0F);
  for (int64_t i = 0; i < head_dim; i += 16) {
    const int64_t n = head_dim - i;
    const F16 attended = round_if(to_bf16, mul(div(load(state + i), divisor), scale));
    const F16 opened = round_if(to_bf16, sigmoid(load_n(gate + i, n)));
    store_n(round_if(to_bf16, mul(attended, opened)), n, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::kernels {
namespace cpu {

HWY_EXPORT(norm_and_rotate);
HWY_EXPORT(attend_split);
HWY_EXPORT(merge_split);
HWY_EXPORT(finish_row);

namespace {

/// Consecutive rows of a sequence, at most as many as the loop that asked for them wanted.
struct Piece {
  const SequenceRows* sequence;
  int32_t first;
  int32_t count;
};

std::span<const Piece> cut(const Batch& batch, int32_t rows_per_piece, Workspace::Frame& frame) {
  Piece* pieces = frame.take<Piece>(static_cast<size_t>(batch.rows()));
  size_t count = 0;
  for (const SequenceRows& sequence : batch.sequences) {
    for (int32_t first = 0; first < sequence.rows; first += rows_per_piece) {
      pieces[count++] = {&sequence, first, std::min(rows_per_piece, sequence.rows - first)};
    }
  }
  return {pieces, count};
}

void encode(DType dtype, float scale, float value, std::byte* base, int64_t index) {
  switch (dtype) {
    case DType::f32: reinterpret_cast<float*>(base)[index] = value; return;
    case DType::bf16: reinterpret_cast<uint16_t*>(base)[index] = float_to_bf16(value); return;
    default: reinterpret_cast<uint8_t*>(base)[index] = format::encode_e4m3(value / scale); return;
  }
}

/// Norm and rotation of one row's query heads into query[heads, padded_dim]; its K and V into the cache.
/// scratch: rotary_dim + head_dim floats.
void prepare_row(const Context& context, const GatedAttentionArgs& args, const SequenceRows& sequence, int64_t i,
                 float* scratch, float* query) {
  const AttentionShape& shape = args.shape;
  const bool to_bf16 = context.compute == Compute::bf16;
  const int64_t head_dim = shape.head_dim, padded_dim = round_up_16(head_dim), half = shape.rotary_dim / 2;
  const int64_t row = sequence.first_row + i, position = sequence.first_position + i;
  float* cos = scratch;
  float* sin = cos + half;
  float* key = sin + half;
  for (int64_t j = 0; j < half; ++j) {
    const SinCos angle = sin_cos(static_cast<float>(position) * args.inv_freq[j]);
    cos[j] = angle.cos * args.rope_scale;
    sin[j] = angle.sin * args.rope_scale;
    if (to_bf16) {
      cos[j] = round_to_bf16(cos[j]);
      sin[j] = round_to_bf16(sin[j]);
    }
  }
  const auto norm_and_rotate_head = HWY_DYNAMIC_DISPATCH(norm_and_rotate);
  for (int64_t head = 0; head < shape.heads; ++head) {
    const float* from = args.query_gate + (row * shape.heads + head) * 2 * head_dim;
    float* to = query + head * padded_dim;
    norm_and_rotate_head(from, args.q_norm, shape, cos, sin, to_bf16, to);
    std::fill(to + head_dim, to + padded_dim, 0.0F);
  }
  const int64_t block = sequence.block_table[static_cast<size_t>(position / kBlockTokens)];
  const int64_t token = position % kBlockTokens;
  for (int64_t head = 0; head < shape.kv_heads; ++head) {
    const int64_t source = (row * shape.kv_heads + head) * head_dim;
    const int64_t target = (block * shape.kv_heads + head) * kBlockTokens * head_dim;
    norm_and_rotate_head(args.key + source, args.k_norm, shape, cos, sin, to_bf16, key);
    for (int64_t d = 0; d < head_dim; ++d) {
      encode(args.kv.dtype, args.kv.k_scale, key[d], args.kv.keys,
             target + (token / 16 * head_dim + d) * 16 + token % 16);
      encode(args.kv.dtype, args.kv.v_scale, args.value[source + d], args.kv.values, target + token * head_dim + d);
    }
  }
}

/// The attention phase: every row's K and V are in the cache.
struct Attention {
  const Context& context;
  const GatedAttentionArgs& args;
  const float* query;  // [rows, heads, padded head_dim]
  std::span<const Piece> pieces;
  int64_t tile_rows;  // of the largest tile

  [[nodiscard]] int64_t padded_dim() const { return round_up_16(args.shape.head_dim); }
  [[nodiscard]] int64_t tiles() const { return static_cast<int64_t>(pieces.size()) * args.shape.kv_heads; }

  /// Tiles in order of falling cost within a sequence: the longest context first.
  [[nodiscard]] AttentionTile tile(int64_t index) const {
    const int64_t last = static_cast<int64_t>(pieces.size()) - 1;
    const Piece& piece = pieces[static_cast<size_t>(last - index / args.shape.kv_heads)];
    return {args.shape, args.kv, piece.sequence, piece.first, piece.count, index % args.shape.kv_heads};
  }

  [[nodiscard]] RowStates take_states(Workspace::Frame& frame) const {
    const auto rows = static_cast<size_t>(tile_rows);
    return {frame.take<float>(rows * static_cast<size_t>(padded_dim())), frame.take<float>(rows),
            frame.take<float>(rows)};
  }

  [[nodiscard]] TileScratch take_scratch(Workspace::Frame& frame) const {
    const auto rows = static_cast<size_t>(tile_rows), dim = static_cast<size_t>(padded_dim());
    return {frame.take<float>(kBlockTokens * dim), frame.take<float>(rows * dim),
            frame.take<float>(rows * kSplitTokens)};
  }

  void gather_query(const AttentionTile& t, float* out) const {
    const int64_t length = t.group() * padded_dim();
    for (int64_t i = 0; i < t.positions; ++i) {
      const int64_t row = t.sequence->first_row + t.first + i;
      std::copy_n(query + (row * t.shape.kv_heads + t.kv_head) * length, length, out + i * length);
    }
  }

  void finish(const AttentionTile& t, const RowStates& states) const {
    const int64_t head_dim = args.shape.head_dim;
    for (int64_t row = 0; row < t.rows(); ++row) {
      const int64_t batch_row = t.sequence->first_row + t.first + row / t.group();
      const int64_t head = batch_row * args.shape.heads + t.kv_head * t.group() + row % t.group();
      HWY_DYNAMIC_DISPATCH(finish_row)
      (args.kv, states.out + row * padded_dim(), states.sum[row], args.query_gate + head * 2 * head_dim + head_dim,
       head_dim, context.compute == Compute::bf16, args.out + head * head_dim);
    }
  }

  /// A tile is one thread's work.
  void by_tile() const;
  /// A split of a tile is one thread's work: for few sequences with long contexts.
  void by_split() const;
};

void Attention::by_tile() const {
  Workspace::Frame frame(*context.workspace);
  const auto threads = static_cast<size_t>(context.pool->size());
  TileScratch* scratch = frame.take<TileScratch>(threads);
  RowStates* splits = frame.take<RowStates>(threads);
  RowStates* totals = frame.take<RowStates>(threads);
  for (size_t i = 0; i < threads; ++i) {
    scratch[i] = take_scratch(frame);
    splits[i] = take_states(frame);
    totals[i] = take_states(frame);
  }
  const auto attend = HWY_DYNAMIC_DISPATCH(attend_split);
  const auto merge = HWY_DYNAMIC_DISPATCH(merge_split);
  parallel_ranges(
      context, tiles(),
      [&](int64_t index, int64_t, int thread) {
        const AttentionTile t = tile(index);
        gather_query(t, scratch[thread].query);
        attend(t, 0, scratch[thread], totals[thread]);
        for (int64_t split = 1; split < t.splits(); ++split) {
          attend(t, split, scratch[thread], splits[thread]);
          merge(t.rows(), padded_dim(), splits[thread], totals[thread]);
        }
        finish(t, totals[thread]);
      },
      1);
}

void Attention::by_split() const {
  Workspace::Frame frame(*context.workspace);
  const auto threads = static_cast<size_t>(context.pool->size());
  TileScratch* scratch = frame.take<TileScratch>(threads);
  for (size_t i = 0; i < threads; ++i) scratch[i] = take_scratch(frame);
  // A wave of splits of every tile at a time, so that memory does not grow with the context.
  const auto count = static_cast<size_t>(tiles());
  const size_t wave = (4 * threads + count - 1) / count;
  RowStates* splits = frame.take<RowStates>(wave * count);
  RowStates* totals = frame.take<RowStates>(count);
  for (size_t i = 0; i < wave * count; ++i) splits[i] = take_states(frame);
  for (size_t i = 0; i < count; ++i) totals[i] = take_states(frame);
  int64_t most = 0;
  for (int64_t i = 0; i < tiles(); ++i) most = std::max(most, tile(i).splits());

  const auto attend = HWY_DYNAMIC_DISPATCH(attend_split);
  const auto merge = HWY_DYNAMIC_DISPATCH(merge_split);
  for (int64_t begin = 0; begin < most; begin += static_cast<int64_t>(wave)) {
    parallel_ranges(
        context, static_cast<int64_t>(wave * count),
        [&](int64_t index, int64_t, int thread) {
          const AttentionTile t = tile(index % tiles());
          const int64_t split = begin + index / tiles();
          if (split >= t.splits()) return;
          gather_query(t, scratch[thread].query);
          attend(t, split, scratch[thread], split == 0 ? totals[index % tiles()] : splits[index]);
        },
        1);
    parallel_ranges(
        context, tiles(),
        [&](int64_t index, int64_t, int) {
          const AttentionTile t = tile(index);
          const int64_t end = std::min(t.splits(), begin + static_cast<int64_t>(wave));
          for (int64_t split = std::max<int64_t>(begin, 1); split < end; ++split) {
            merge(t.rows(), padded_dim(), splits[(split - begin) * tiles() + index], totals[index]);
          }
          if (begin < t.splits() && end == t.splits()) finish(t, totals[index]);
        },
        1);
  }
}

}  // namespace
}  // namespace cpu

size_t kv_block_bytes(DType dtype, int kv_heads, int head_dim) {
  return size_bytes(dtype) * static_cast<size_t>(kBlockTokens) * static_cast<size_t>(kv_heads) *
         static_cast<size_t>(head_dim);
}

void gated_attention(const Context& context, const GatedAttentionArgs& args) {
  using namespace cpu;
  const AttentionShape& shape = args.shape;
  const Batch& batch = *args.batch;
  TESSERA_CHECK_EQ(shape.heads % shape.kv_heads, 0);
  TESSERA_CHECK_LE(shape.rotary_dim, shape.head_dim);
  TESSERA_CHECK_EQ(shape.rotary_dim % 2, 0);
  for (const SequenceRows& sequence : batch.sequences) {
    const int64_t positions = int64_t{sequence.first_position} + sequence.rows;
    TESSERA_CHECK_LE(positions, static_cast<int64_t>(sequence.block_table.size()) * kBlockTokens);
  }
  if (batch.rows() == 0) return;

  Workspace::Frame frame(*context.workspace);
  const int64_t row_length = shape.heads * round_up_16(shape.head_dim);
  float* query = frame.take<float>(static_cast<size_t>(batch.rows() * row_length));
  const auto scratch_length = static_cast<size_t>(shape.rotary_dim + shape.head_dim);
  float* scratch = frame.take<float>(scratch_length * static_cast<size_t>(context.pool->size()));
  // Sixteen tokens of a block's keys lie side by side: one thread writes them all.
  const std::span<const Piece> groups = cut(batch, 16, frame);
  parallel_ranges(
      context, static_cast<int64_t>(groups.size()),
      [&](int64_t index, int64_t, int thread) {
        const Piece& piece = groups[static_cast<size_t>(index)];
        for (int64_t i = piece.first; i < piece.first + piece.count; ++i) {
          prepare_row(context, args, *piece.sequence, i, scratch + scratch_length * static_cast<size_t>(thread),
                      query + (piece.sequence->first_row + i) * row_length);
        }
      },
      1);

  // Tiles of about 64 rows: enough to repay the decoding of a block, few enough to stay in the L2 cache.
  const int32_t group = shape.heads / shape.kv_heads;
  const int32_t positions = std::max(1, 64 / group);
  int32_t longest = 0;
  for (const SequenceRows& sequence : batch.sequences) longest = std::max(longest, sequence.rows);
  const Attention attention{context, args, query, cut(batch, positions, frame),
                            int64_t{std::min(positions, longest)} * group};
  if (attention.tiles() < context.pool->size()) {
    attention.by_split();
  } else {
    attention.by_tile();
  }
}

}  // namespace tessera::kernels
#endif
