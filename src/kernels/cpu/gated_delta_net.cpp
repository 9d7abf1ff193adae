#include "kernels/gated_delta_net.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/cpu/gated_delta_net.h"
#include "kernels/cpu/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gated_delta_net.cpp"
#include "hwy/foreach_target.h"
#include "kernels/cpu/small_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

inline constexpr int64_t kChunk = kBlockTokens;

// A head's part of a row is too short for the hardware to guess where the next row's lies.
inline constexpr int64_t kRowsAhead = 4;
HWY_INLINE void prefetch_row(const float* row, int64_t n) {
  for (int64_t i = 0; i < n; i += 16) __builtin_prefetch(row + i);
}

// Convolution input of channel `channel` on in row `row` of this step, which may be negative: a row of earlier steps.
HWY_INLINE const float* input_row(const DeltaNetGroup& g, int64_t row, int64_t channel, const float* zeros) {
  const int64_t channels = g.args->shape.channels();
  if (row >= 0) return g.args->qkv + (g.sequence->first_row + row) * channels + channel;
  if (g.sequence->first_position == 0) return zeros;
  return g.inputs() + (g.args->shape.conv_width - 1 + row) * channels + channel;
}

// weight [dim, width] as taps [width, padded].
void transpose_taps(const float* weight, int64_t dim, int64_t width, int64_t padded, float* taps) {
  int64_t i = 0;
  if (width == 4) {
    const D d;
    const auto lanes = static_cast<int64_t>(kPartLanes);
    for (; i + lanes <= dim; i += lanes) {
      V tap[4];
      hn::LoadInterleaved4(d, weight + i * width, tap[0], tap[1], tap[2], tap[3]);
      for (int64_t t = 0; t < 4; ++t) hn::StoreU(tap[t], d, taps + t * padded + i);
    }
  }
  for (; i < dim; ++i) {
    for (int64_t t = 0; t < width; ++t) taps[t * padded + i] = weight[i * width + t];
  }
}

// One head, `channel` its first: causal depthwise convolution and SiLU of rows [first, first + rows). Per value: taps
// serially, the oldest first (fma).
void convolve(const DeltaNetGroup& g, int64_t channel, int64_t dim, int64_t first, int64_t rows, float* taps,
              float* out) {
  const int64_t width = g.args->shape.conv_width, padded = round_up_16(dim);
  float* zeros = taps + width * padded;
  std::fill_n(taps, (width + 1) * padded, 0.0F);
  transpose_taps(g.args->conv_weight + channel * width, dim, width, padded, taps);
  for (int64_t row = first; row < first + rows; ++row, out += padded) {
    if (row + kRowsAhead < g.sequence->rows) prefetch_row(input_row(g, row + kRowsAhead, channel, zeros), dim);
    for (int64_t tap = 0; tap < width; ++tap) {
      const float* input = input_row(g, row - (width - 1 - tap), channel, zeros);
      const float* weight = taps + tap * padded;
      for (int64_t i = 0; i < padded; i += 16) {
        store(fma(load(weight + i), load_n(input + i, dim - i), tap == 0 ? set(0.0F) : load(out + i)), out + i);
      }
    }
    for (int64_t i = 0; i < padded; i += 16) store(round_if(g.to_bf16, silu(load(out + i))), out + i);
  }
}

// Rows to unit L2 norm, times scale.
void normalise(int64_t rows, int64_t padded, float scale, float* x) {
  for (int64_t row = 0; row < rows; ++row, x += padded) {
    const F32x16 factor = set(inverse_norm(x, padded, 1.0F, 1e-6F));
    for (int64_t i = 0; i < padded; i += 16) store(mul(mul(load(x + i), factor), set(scale)), x + i);
  }
}

// A head's last conv_width - 1 inputs before row `row`, to those of a slot.
void keep_inputs(const DeltaNetGroup& g, int64_t channel, int64_t dim, const float* zeros, int64_t row, float* inputs) {
  const int64_t kept = g.args->shape.conv_width - 1;
  for (int64_t i = 0; i < kept; ++i) {  // ascending: what is overwritten is never needed again
    std::memmove(inputs + i * g.args->shape.channels() + channel, input_row(g, row - kept + i, channel, zeros),
                 static_cast<size_t>(dim) * sizeof(float));
  }
}

// What the value heads of a key head share in a chunk: K^T, K K^T and Q K^T.
void multiply_keys(int64_t rows, int64_t key_dim, const DeltaNetScratch& s) {
  const int64_t padded = round_up_16(key_dim), columns = round_up_16(rows);
  for (int64_t i = 0; i < key_dim; ++i) {
    for (int64_t row = 0; row < rows; ++row) s.transposed_keys[i * kChunk + row] = s.key[row * padded + i];
    for (int64_t row = rows; row < columns; ++row) s.transposed_keys[i * kChunk + row] = 0;
  }
  for (int64_t row = 0; row < rows; row += 16) {  // up to the diagonal
    SmallGemm<> g{.a = s.key + row * padded,
                  .a_row = padded,
                  .a_col = 1,
                  .b = s.transposed_keys,
                  .b_row = kChunk,
                  .c = s.keys_keys + row * kChunk,
                  .c_row = kChunk,
                  .m = std::min<int64_t>(16, rows - row),
                  .n = row + 16,
                  .k = key_dim};
    small_gemm(g);
    g.a = s.query + row * padded;
    g.c = s.queries_keys + row * kChunk;
    small_gemm(g);
  }
}

// S <- decay S; u = beta (v - S^T k); S <- S + k u^T; out = S^T q, for 16 * kColumns columns of S. The first pass over
// S waits for memory and the second does not, so the second fetches the state `ahead` floats on: that of the next head.
template <int kColumns>
HWY_INLINE void recur(float* state, int64_t ahead, int64_t stride, int64_t key_dim, const float* q, const float* k,
                      const float* v, float decay, float beta, float* out) {
  const F32x16 d = set(decay);
  F32x16 recalled[kColumns], u[kColumns], o[kColumns];
  TESSERA_UNROLL
  for (int j = 0; j < kColumns; ++j) recalled[j] = o[j] = set(0.0F);
  for (int64_t i = 0; i < key_dim; ++i) {
    const F32x16 factor = set(k[i]);
    const float* s = state + i * stride;
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j) recalled[j] = fma(factor, mul(d, load(s + 16 * j)), recalled[j]);
  }
  TESSERA_UNROLL
  for (int j = 0; j < kColumns; ++j) u[j] = mul(set(beta), sub(load(v + 16 * j), recalled[j]));
  for (int64_t i = 0; i < key_dim; ++i) {
    const F32x16 factor = set(k[i]), read = set(q[i]);
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      float* s = state + i * stride + 16 * j;
      __builtin_prefetch(s + ahead, 1, 2);
      const F32x16 updated = fma(factor, u[j], mul(d, load(s)));
      store(updated, s);
      o[j] = fma(read, updated, o[j]);
    }
  }
  TESSERA_UNROLL
  for (int j = 0; j < kColumns; ++j) store(o[j], out + 16 * j);
}

// One token at a time. state: [key_dim, columns].
void recurrence(int64_t rows, int64_t key_dim, int64_t columns, const float* beta, const float* decay, int64_t ahead,
                const DeltaNetScratch& s, float* state) {
  constexpr int kColumns = kParts == 1 ? 8 : 2;
  const int64_t padded = round_up_16(key_dim);
  for (int64_t row = 0; row < rows; ++row) {
    const float* q = s.query + row * padded;
    const float* k = s.key + row * padded;
    const float* v = s.value + row * columns;
    float* out = s.out + row * columns;
    int64_t c = 0;
    for (; c + 16 * kColumns <= columns; c += 16 * kColumns) {
      recur<kColumns>(state + c, ahead, columns, key_dim, q, k, v + c, decay[row], beta[row], out + c);
    }
    for (; c < columns; c += 16) {
      recur<1>(state + c, ahead, columns, key_dim, q, k, v + c, decay[row], beta[row], out + c);
    }
  }
}

// Up to 64 tokens at once; state: [key_dim, n + 16]. With G the inclusive running sum of g:
//   u_i = beta_i (v_i - e^{G_i} S^T k_i) - sum over j < i of beta_i (k_i . k_j) e^{G_i - G_j} u_j
//   o_i = e^{G_i} S^T q_i + sum over j <= i of (q_i . k_j) e^{G_i - G_j} u_j
//   S  <- e^{G_last} S + sum over j of e^{G_last - G_j} k_j u_j^T
void chunk(int64_t rows, int64_t key_dim, int64_t n, const float* beta, const float* g, const DeltaNetScratch& s,
           float* state) {
  const int64_t padded = round_up_16(key_dim), wide = n + 16;
  alignas(64) float running[kChunk] = {}, from_start[kChunk], to_end[kChunk];
  for (int64_t i = 0; i < rows; ++i) running[i] = (i == 0 ? 0.0F : running[i - 1]) + g[i];
  for (int64_t i = 0; i < kChunk; i += 16) {
    store(exp(load(running + i)), from_start + i);
    store(exp(sub(set(running[rows - 1]), load(running + i))), to_end + i);
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j <= i; j += 16) {
      const int64_t at = i * kChunk + j;
      const F32x16 decay = exp(sub(set(running[i]), load(running + j)));
      store(mul(mul(set(-beta[i]), load(s.keys_keys + at)), decay), s.mix_u + at);
      store(mul(load(s.queries_keys + at), decay), s.mix_out + at);
    }
  }

  SmallGemm<> read{.a = s.key,
                   .a_row = padded,
                   .a_col = 1,
                   .b = state,
                   .b_row = wide,
                   .c = s.u,
                   .c_row = wide,
                   .m = rows,
                   .n = n,
                   .k = key_dim};
  small_gemm(read);
  for (int64_t i = 0; i < rows; ++i) {
    const F32x16 decay = set(-from_start[i]), factor = set(beta[i]);
    float* u = s.u + i * wide;
    for (int64_t c = 0; c < n; c += 16) store(mul(factor, fma(decay, load(u + c), load(s.value + i * n + c))), u + c);
  }
  solve_lower(s.mix_u, kChunk, s.u, wide, rows, n);

  read.a = s.query;
  read.c = s.out;
  read.c_row = n;
  small_gemm(read);
  for (int64_t i = 0; i < rows; ++i) {
    const F32x16 decay = set(from_start[i]);
    float* o = s.out + i * n;
    for (int64_t c = 0; c < n; c += 16) store(mul(decay, load(o + c)), o + c);
  }
  add_lower(s.mix_out, kChunk, s.u, wide, s.out, n, rows, n);

  const F32x16 whole = set(from_start[rows - 1]);
  for (int64_t i = 0; i < key_dim; ++i) {
    for (int64_t j = 0; j < rows; j += 16) {
      const int64_t at = i * kChunk + j;
      store(mul(load(s.transposed_keys + at), load(to_end + j)), s.decayed_keys + at);
    }
    for (int64_t c = i * wide; c < i * wide + n; c += 16) store(mul(whole, load(state + c)), state + c);
  }
  small_gemm<float>({.a = s.decayed_keys,
                     .a_row = kChunk,
                     .a_col = 1,
                     .b = s.u,
                     .b_row = wide,
                     .c = state,
                     .c_row = wide,
                     .m = key_dim,
                     .n = n,
                     .k = rows,
                     .accumulate = true});
}

// beta = sigmoid(b) and g = -e^a_log softplus(a + dt_bias) of up to 64 rows.
HWY_INLINE void gates(const DeltaNetGroup& group, int64_t head, int64_t first, int64_t rows, float* beta, float* g) {
  const GatedDeltaNetArgs& args = *group.args;
  const int64_t heads = args.shape.value_heads;
  for (int64_t i = 0; i < kChunk; ++i) {
    const int64_t source = (group.sequence->first_row + first + std::min(i, rows - 1)) * heads + head;
    beta[i] = args.b[source];
    g[i] = args.a[source];
  }
  const F32x16 rate = sub(set(0.0F), exp(set(args.a_log[head]))), bias = set(args.dt_bias[head]);
  for (int64_t i = 0; i < rows; i += 16) {
    store(round_if(group.to_bf16, sigmoid(load(beta + i))), beta + i);
    store(mul(rate, softplus(add(load(g + i), bias))), g + i);
  }
}

// RMSNorm of one head's output (plain weight) times silu(z).
HWY_INLINE void gated_norm(const DeltaNetGroup& g, float* o, const float* z, float* out) {
  const int64_t dim = g.args->shape.value_dim;
  for (int64_t i = 0; i < round_up_16(dim); i += 16) store(round_if(g.to_bf16, load(o + i)), o + i);
  const F32x16 factor = set(inverse_norm(o, dim, static_cast<float>(dim), g.args->shape.norm_eps));
  for (int64_t i = 0; i < dim; i += 16) {
    const int64_t n = dim - i;
    const F32x16 normed = round_if(g.to_bf16, mul(load(o + i), factor));
    const F32x16 weighted = round_if(g.to_bf16, mul(load_n(g.args->norm_weight + i, n), normed));
    store_n(round_if(g.to_bf16, mul(weighted, silu(load_n(z + i, n)))), n, out + i);
  }
}

HWY_INLINE void write_outputs(const DeltaNetGroup& g, int64_t head, int64_t first, int64_t rows, float* o) {
  const DeltaNetShape& shape = g.args->shape;
  const int64_t dim = shape.value_dim, stride = shape.value_heads * dim;
  for (int64_t row = first; row < first + rows; ++row, o += round_up_16(dim)) {
    const int64_t at = (g.sequence->first_row + row) * stride + head * dim;
    if (row + kRowsAhead < g.sequence->rows) prefetch_row(g.args->z + at + kRowsAhead * stride, dim);
    gated_norm(g, o, g.args->z + at, g.args->out + at);
  }
}

// Between the state as kept and its padded copy.
HWY_INLINE void copy_rows(const float* from, int64_t from_row, int64_t rows, int64_t n, float* to, int64_t to_row) {
  for (int64_t i = 0; i < rows; ++i) std::copy_n(from + i * from_row, n, to + i * to_row);
}

// The inputs of all of the group's channels before row `row`, to those of a slot.
void keep_group_inputs(const DeltaNetGroup& g, int64_t row, float* taps, float* inputs) {
  const DeltaNetShape& shape = g.args->shape;
  const int64_t key_dim = shape.key_dim, value_dim = shape.value_dim;
  float* zeros = taps;
  std::fill_n(zeros, std::max(key_dim, value_dim), 0.0F);
  keep_inputs(g, g.query_channel(), key_dim, zeros, row, inputs);
  keep_inputs(g, g.key_channel(), key_dim, zeros, row, inputs);
  for (int64_t i = 0; i < g.value_heads(); ++i) {
    keep_inputs(g, g.value_channel(g.first_head() + i), value_dim, zeros, row, inputs);
  }
}

void advance_group(const DeltaNetGroup& g, const DeltaNetScratch& s) {
  const DeltaNetShape& shape = g.args->shape;
  const int64_t key_dim = shape.key_dim, value_dim = shape.value_dim, columns = round_up_16(value_dim);
  const int64_t first_head = g.first_head();
  const float q_scale = 1.0F / std::sqrt(static_cast<float>(key_dim));
  // Whole vectors decode in place. Chunks work on copies, whose longer rows do not fall into the same few sets of the
  // L1 cache.
  const bool in_place = !g.prefill() && columns == value_dim && !g.sequence->keeps_records;
  const int64_t state_row = g.prefill() ? columns + 16 : columns;
  const auto state_of = [&](int64_t i) {
    return in_place ? g.state(first_head + i) : s.states + i * key_dim * (columns + 16);
  };
  for (int64_t i = 0; i < g.value_heads(); ++i) {
    float* kept = g.state(first_head + i);
    if (g.sequence->first_position == 0) std::fill_n(kept, key_dim * value_dim, 0.0F);
    if (in_place) continue;
    std::fill_n(state_of(i), key_dim * state_row, 0.0F);
    copy_rows(kept, value_dim, key_dim, value_dim, state_of(i), state_row);
  }

  for (int64_t first = 0; first < g.sequence->rows; first += kChunk) {
    const int64_t rows = std::min<int64_t>(kChunk, g.sequence->rows - first);
    convolve(g, g.query_channel(), key_dim, first, rows, s.taps, s.query);
    convolve(g, g.key_channel(), key_dim, first, rows, s.taps, s.key);
    normalise(rows, round_up_16(key_dim), q_scale, s.query);
    normalise(rows, round_up_16(key_dim), 1.0F, s.key);
    if (g.prefill()) multiply_keys(rows, key_dim, s);
    for (int64_t i = 0; i < g.value_heads(); ++i) {
      const int64_t head = first_head + i;
      convolve(g, g.value_channel(head), value_dim, first, rows, s.taps, s.value);
      alignas(64) float beta[kChunk], decay[kChunk];
      gates(g, head, first, rows, beta, decay);
      if (g.prefill()) {
        chunk(rows, key_dim, columns, beta, decay, s, state_of(i));
      } else {
        for (int64_t j = 0; j < rows; j += 16) store(exp(load(decay + j)), decay + j);
        const bool next = i + 1 < g.value_heads() || g.next_follows;
        recurrence(rows, key_dim, columns, beta, decay, next ? key_dim * value_dim : 0, s, state_of(i));
      }
      if (!g.replays) write_outputs(g, head, first, rows, s.out);
      if (g.snapshot_after(first + rows)) {
        copy_rows(state_of(i), state_row, key_dim, value_dim, g.state(head, g.sequence->snapshot_slot), value_dim);
      }
    }
    if (g.snapshot_after(first + rows)) {
      keep_group_inputs(g, first + rows, s.taps, g.inputs(g.sequence->snapshot_slot));
    }
  }

  if (g.sequence->keeps_records) return;
  keep_group_inputs(g, g.sequence->rows, s.taps, g.inputs());
  for (int64_t i = 0; i < g.value_heads() && !in_place; ++i) {
    copy_rows(state_of(i), state_row, key_dim, value_dim, g.state(first_head + i), value_dim);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::kernels {
namespace cpu {
HWY_EXPORT(advance_group);
namespace {

DeltaNetScratch take_scratch(const DeltaNetShape& shape, Workspace::Frame& frame) {
  const int64_t k = round_up_16(shape.key_dim), v = round_up_16(shape.value_dim), chunk = kBlockTokens;
  const auto take = [&](int64_t rows, int64_t columns) {
    return frame.take<float>(static_cast<size_t>(rows * columns));
  };
  return {.query = take(chunk, k),
          .key = take(chunk, k),
          .value = take(chunk, v),
          .taps = take(shape.conv_width + 1, std::max(k, v)),
          .keys_keys = take(chunk, chunk),
          .queries_keys = take(chunk, chunk),
          .transposed_keys = take(k, chunk),
          .decayed_keys = take(k, chunk),
          .mix_u = take(chunk, chunk),
          .mix_out = take(chunk, chunk),
          .u = take(chunk, v + 16),
          .out = take(chunk, v),
          .states = take(shape.value_heads / shape.key_heads * k, v + 16)};
}

}  // namespace
}  // namespace cpu

namespace {

/// The records of a slot: qkv of all rows, then b, then a.
struct Records {
  float *qkv, *b, *a;
};

Records records_of(const GatedDeltaNetArgs& args, int32_t slot) {
  const DeltaNetShape& shape = args.shape;
  float* qkv = args.records + int64_t{slot} * args.record_rows * shape.record_floats();
  float* b = qkv + args.record_rows * shape.channels();
  return {.qkv = qkv, .b = b, .a = b + int64_t{args.record_rows} * shape.value_heads};
}

void keep_records(const GatedDeltaNetArgs& args, const SequenceRows& sequence) {
  const Records records = records_of(args, sequence.state_slot);
  const int64_t channels = args.shape.channels(), heads = args.shape.value_heads;
  std::copy_n(args.qkv + sequence.first_row * channels, sequence.rows * channels, records.qkv);
  std::copy_n(args.b + sequence.first_row * heads, sequence.rows * heads, records.b);
  std::copy_n(args.a + sequence.first_row * heads, sequence.rows * heads, records.a);
}

/// Advances the state by the records that hold, then runs the sequence's rows.
template <typename Advance>
void run_group(const Advance& advance, cpu::DeltaNetGroup group, const cpu::DeltaNetScratch& scratch) {
  const SequenceRows& sequence = *group.sequence;
  if (sequence.held > 0) {
    const Records records = records_of(*group.args, sequence.state_slot);
    GatedDeltaNetArgs args = *group.args;
    args.qkv = records.qkv;
    args.b = records.b;
    args.a = records.a;
    const SequenceRows held{.rows = sequence.held,
                            .first_position = sequence.first_position - sequence.held,
                            .state_slot = sequence.state_slot};
    cpu::DeltaNetGroup replay = group;
    replay.args = &args;
    replay.sequence = &held;
    replay.replays = true;
    advance(replay, scratch);
  }
  advance(group, scratch);
}

void check(const GatedDeltaNetArgs& args, const SequenceRows& sequence) {
  if (sequence.row_class == RowClass::decode) {
    TESSERA_CHECK(sequence.held >= 0 && sequence.held <= args.record_rows);
    TESSERA_CHECK(!sequence.keeps_records || sequence.rows <= args.record_rows);
    return;
  }
  TESSERA_CHECK(!sequence.keeps_records && sequence.held == 0);
  TESSERA_CHECK_EQ(sequence.first_position % kBlockTokens, 0);
  if (sequence.snapshot_slot < 0) return;
  TESSERA_CHECK_NE(sequence.snapshot_slot, sequence.state_slot);
  TESSERA_CHECK_EQ(sequence.snapshot_position % kBlockTokens, 0);
  TESSERA_CHECK_GT(sequence.snapshot_position, sequence.first_position);
  TESSERA_CHECK_LE(sequence.snapshot_position, sequence.first_position + sequence.rows);
}

}  // namespace

void gated_delta_net(const Context& context, const GatedDeltaNetArgs& args) {
  using namespace cpu;
  const DeltaNetShape& shape = args.shape;
  TESSERA_CHECK_EQ(shape.value_heads % shape.key_heads, 0);
  bool any_prefill = false;
  for (const SequenceRows& sequence : args.batch->sequences) {
    check(args, sequence);
    any_prefill |= sequence.row_class == RowClass::prefill;
  }
  Workspace::Frame frame(*context.workspace);
  const auto threads = static_cast<size_t>(context.pool->size());
  DeltaNetScratch* scratch = frame.take<DeltaNetScratch>(threads);
  for (size_t i = 0; i < threads; ++i) scratch[i] = take_scratch(shape, frame);

  const auto advance = HWY_DYNAMIC_DISPATCH(advance_group);
  const auto count = static_cast<int64_t>(args.batch->sequences.size()) * shape.key_heads;
  // Decoding, a thread takes a few heads at a time: while it works on one it fetches the next.
  const int64_t grain = any_prefill ? 1 : std::clamp<int64_t>(count / (2 * context.pool->size()), 1, 4);
  parallel_ranges(
      context, count,
      [&](int64_t begin, int64_t end, int thread) {
        for (int64_t index = begin; index < end; ++index) {
          const SequenceRows& sequence = args.batch->sequences[static_cast<size_t>(index / shape.key_heads)];
          const int64_t key_head = index % shape.key_heads;
          if (sequence.rows == 0) continue;
          run_group(advance,
                    {.args = &args,
                     .sequence = &sequence,
                     .key_head = key_head,
                     .to_bf16 = context.compute == Compute::bf16,
                     .next_follows = index + 1 < end && key_head + 1 < shape.key_heads},
                    scratch[thread]);
        }
      },
      grain);
  for (const SequenceRows& sequence : args.batch->sequences) {
    if (sequence.keeps_records) keep_records(args, sequence);
  }
}

void copy_state(const DeltaNetShape& shape, const StateCopy& copy, float* states) {
  const int64_t floats = shape.state_floats();
  std::copy_n(states + copy.from * floats, floats, states + copy.to * floats);
}

}  // namespace tessera::kernels
#endif
