#include "kernels/gated_attention.h"

#include <algorithm>

#include "base/check.h"
#include "format/e4m3.h"
#include "kernels/cpu/gated_attention.h"
#include "kernels/cpu/parallel.h"
#include "kernels/sin_cos.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gated_attention.cpp"
#include "hwy/foreach_target.h"
#include "kernels/cpu/gated_attention-inl.h"

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
      const int64_t group = d / 16 * 16, width = std::min<int64_t>(16, head_dim - group);
      encode(args.kv.dtype, args.kv.v_scale, args.value[source + d], args.kv.values,
             target + group * kBlockTokens + token * width + d % 16);
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
  TESSERA_CHECK_EQ(shape.head_dim % 2, 0);
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

  // Tiles of about 128 rows: enough to repay the decoding of a block, few enough to stay in the L2 cache.
  const int32_t group = shape.heads / shape.kv_heads;
  const int32_t positions = std::max(1, 128 / group);
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
