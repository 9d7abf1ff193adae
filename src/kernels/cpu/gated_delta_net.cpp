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

// Where the input `back` rows before row `row` of this step lies; `zeros` before the sequence's start.
HWY_INLINE const float* input_row(const ConvolutionHead& h, int64_t row, int64_t back, const float* zeros) {
  const int64_t index = row - back, channels = h.args->shape.channels();
  if (index >= 0) return h.args->qkv + (h.sequence->first_row + index) * channels + h.channel;
  if (h.sequence->first_position == 0) return zeros;
  return h.inputs + (h.args->shape.conv_width - 1 + index) * channels + h.channel;
}

// Causal depthwise convolution, SiLU, L2 norm; then the last inputs are kept for the next step.
// Per value: taps serially, the oldest first (fma).
void convolve_head(const ConvolutionHead& h) {
  const int64_t width = h.args->shape.conv_width, padded = round_up_16(h.dim);
  float* zeros = h.taps + width * padded;
  std::fill_n(h.taps, (width + 1) * padded, 0.0F);
  for (int64_t i = 0; i < h.dim; ++i) {
    for (int64_t tap = 0; tap < width; ++tap) {
      h.taps[tap * padded + i] = h.args->conv_weight[(h.channel + i) * width + tap];
    }
  }
  for (int64_t row = 0; row < h.sequence->rows; ++row) {
    float* out = h.out + row * padded;
    for (int64_t i = 0; i < padded; i += 16) {
      F16 total = set(0.0F);
      for (int64_t tap = 0; tap < width; ++tap) {
        const float* input = input_row(h, row, width - 1 - tap, zeros);
        total = fma(load(h.taps + tap * padded + i), load_n(input + i, h.dim - i), total);
      }
      store(round_if(h.to_bf16, silu(total)), out + i);
    }
    if (!h.normalise) continue;
    const F16 factor = set(inverse_norm(out, padded, 1.0F, 1e-6F)), scale = set(h.scale);
    for (int64_t i = 0; i < padded; i += 16) store(mul(mul(load(out + i), factor), scale), out + i);
  }
  for (int64_t slot = 0; slot < width - 1; ++slot) {  // ascending: an older slot never needs what was overwritten
    const float* from = input_row(h, h.sequence->rows - 1, width - 2 - slot, zeros);
    std::memmove(h.inputs + slot * h.args->shape.channels() + h.channel, from,
                 static_cast<size_t>(h.dim) * sizeof(float));
  }
}

// K K^T and Q K^T of one chunk, [64, 64] each; what lies above the diagonal is unspecified.
// transposed: scratch [key_dim, 64].
void chunk_products(const float* query, const float* key, int64_t rows, int64_t key_dim, float* transposed,
                    float* products) {
  const int64_t padded = round_up_16(key_dim), columns = round_up_16(rows);
  for (int64_t i = 0; i < key_dim; ++i) {
    for (int64_t row = 0; row < rows; ++row) transposed[i * 64 + row] = key[row * padded + i];
    for (int64_t row = rows; row < columns; ++row) transposed[i * 64 + row] = 0;
  }
  for (int64_t row = 0; row < rows; row += 16) {
    SmallGemm<> g{.a = key + row * padded,
                  .a_row = padded,
                  .a_col = 1,
                  .b = transposed,
                  .b_row = 64,
                  .c = products + row * 64,
                  .c_row = 64,
                  .m = std::min<int64_t>(16, rows - row),
                  .n = row + 16,
                  .k = key_dim};
    small_gemm(g);
    g.a = query + row * padded;
    g.c += 64 * 64;
    small_gemm(g);
  }
}

// S <- decay S; u = beta (v - S^T k); S <- S + k u^T; out = S^T q, for 16 * kColumns columns of S.
template <int kColumns>
HWY_INLINE void recur(float* state, int64_t stride, int64_t key_dim, const float* q, const float* k, const float* v,
                      float decay, float beta, float* out) {
  const F16 d = set(decay);
  F16 recalled[kColumns], u[kColumns], o[kColumns];
  TESSERA_UNROLL
  for (int j = 0; j < kColumns; ++j) recalled[j] = o[j] = set(0.0F);
  for (int64_t i = 0; i < key_dim; ++i) {
    const F16 factor = set(k[i]);
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j)
      recalled[j] = fma(factor, mul(d, load(state + i * stride + 16 * j)), recalled[j]);
  }
  TESSERA_UNROLL
  for (int j = 0; j < kColumns; ++j) u[j] = mul(set(beta), sub(load(v + 16 * j), recalled[j]));
  for (int64_t i = 0; i < key_dim; ++i) {
    const F16 factor = set(k[i]), read = set(q[i]);
    TESSERA_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      float* s = state + i * stride + 16 * j;
      const F16 updated = fma(factor, u[j], mul(d, load(s)));
      store(updated, s);
      o[j] = fma(read, updated, o[j]);
    }
  }
  TESSERA_UNROLL
  for (int j = 0; j < kColumns; ++j) store(o[j], out + 16 * j);
}

// One token at a time.
void recurrence(const DeltaNetHead& h, int64_t first, int64_t rows, const float* beta, const float* decay, float* state,
                float* out) {
  constexpr int kColumns = kParts == 1 ? 8 : 2;
  const int64_t key_dim = h.shape->key_dim, columns = round_up_16(h.shape->value_dim), padded = round_up_16(key_dim);
  for (int64_t row = 0; row < rows; ++row) {
    const float* q = h.query + (first + row) * padded;
    const float* k = h.key + (first + row) * padded;
    const float* v = h.value + (first + row) * columns;
    int64_t c = 0;
    for (; c + 16 * kColumns <= columns; c += 16 * kColumns) {
      recur<kColumns>(state + c, columns, key_dim, q, k, v + c, decay[row], beta[row], out + row * columns + c);
    }
    for (; c < columns; c += 16) {
      recur<1>(state + c, columns, key_dim, q, k, v + c, decay[row], beta[row], out + row * columns + c);
    }
  }
}

// The rows of x [rows, n] times factor[row].
HWY_INLINE void scale_rows(const float* x, const float* factor, int64_t rows, int64_t n, float* out) {
  for (int64_t row = 0; row < rows; ++row) {
    const F16 f = set(factor[row]);
    for (int64_t i = 0; i < n; i += 16) store(mul(load(x + row * n + i), f), out + row * n + i);
  }
}

// Up to 64 tokens at once. With G the inclusive running sum of g:
//   u_i = beta_i (v_i - e^{G_i} S^T k_i) - sum over j < i of beta_i (k_i . k_j) e^{G_i - G_j} u_j
//   o_i = e^{G_i} S^T q_i + sum over j <= i of (q_i . k_j) e^{G_i - G_j} u_j
//   S  <- e^{G_last} S + sum over j of e^{G_last - G_j} k_j u_j^T
void chunk(const DeltaNetHead& h, int64_t first, int64_t rows, const float* beta, const float* g, float* state,
           const DeltaNetScratch& scratch) {
  const int64_t key_dim = h.shape->key_dim, n = round_up_16(h.shape->value_dim), padded = round_up_16(key_dim);
  const float* query = h.query + first * padded;
  const float* key = h.key + first * padded;
  const float* value = h.value + first * n;
  const float* kk = h.products + first / 64 * h.products_stride;
  const float* qk = kk + 64 * 64;

  alignas(64) float running[64] = {}, from_start[64], to_end[64];
  for (int64_t i = 0; i < rows; ++i) running[i] = (i == 0 ? 0.0F : running[i - 1]) + g[i];
  const float last = running[rows - 1];
  for (int64_t i = 0; i < 64; i += 16) {
    store(exp(load(running + i)), from_start + i);
    store(exp(sub(set(last), load(running + i))), to_end + i);
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j <= i; j += 16) {
      const F16 decay = exp(sub(set(running[i]), load(running + j)));
      store(mul(mul(set(-beta[i]), load(kk + i * 64 + j)), decay), scratch.mix_u + i * 64 + j);
      store(mul(load(qk + i * 64 + j), decay), scratch.mix_out + i * 64 + j);
    }
  }

  small_gemm<float>({.a = key,
                     .a_row = padded,
                     .a_col = 1,
                     .b = state,
                     .b_row = n,
                     .c = scratch.u,
                     .c_row = n,
                     .m = rows,
                     .n = n,
                     .k = key_dim});
  for (int64_t i = 0; i < rows; ++i) {
    const F16 decay = set(-from_start[i]), factor = set(beta[i]);
    float* u = scratch.u + i * n;
    for (int64_t c = 0; c < n; c += 16) store(mul(factor, fma(decay, load(u + c), load(value + i * n + c))), u + c);
  }
  solve_lower(scratch.mix_u, 64, scratch.u, rows, n);

  small_gemm<float>({.a = query,
                     .a_row = padded,
                     .a_col = 1,
                     .b = state,
                     .b_row = n,
                     .c = scratch.out,
                     .c_row = n,
                     .m = rows,
                     .n = n,
                     .k = key_dim});
  scale_rows(scratch.out, from_start, rows, n, scratch.out);
  add_lower(scratch.mix_out, 64, scratch.u, scratch.out, rows, n);

  const F16 whole = set(from_start[rows - 1]);
  for (int64_t i = 0; i < key_dim * n; i += 16) store(mul(whole, load(state + i)), state + i);
  scale_rows(key, to_end, rows, padded, scratch.key);
  small_gemm<float>({.a = scratch.key,
                     .a_row = 1,
                     .a_col = padded,
                     .b = scratch.u,
                     .b_row = n,
                     .c = state,
                     .c_row = n,
                     .m = key_dim,
                     .n = n,
                     .k = rows,
                     .accumulate = true});
}

// beta = sigmoid(b) and g = -e^a_log softplus(a + dt_bias) of up to 64 rows.
HWY_INLINE void gates(const DeltaNetHead& h, int64_t first, int64_t rows, float* beta, float* g) {
  for (int64_t i = 0; i < 64; ++i) {
    const int64_t source = (first + std::min(i, rows - 1)) * h.shape->value_heads;
    beta[i] = h.b[source];
    g[i] = h.a[source];
  }
  const F16 rate = sub(set(0.0F), exp(set(h.a_log))), bias = set(h.dt_bias);
  for (int64_t i = 0; i < rows; i += 16) {
    store(round_if(h.to_bf16, sigmoid(load(beta + i))), beta + i);
    store(mul(rate, softplus(add(load(g + i), bias))), g + i);
  }
}

// RMSNorm of one head's output (plain weight) times silu(z).
HWY_INLINE void gated_norm(const DeltaNetHead& h, float* o, const float* z, float* out) {
  const int64_t dim = h.shape->value_dim;
  for (int64_t i = 0; i < round_up_16(dim); i += 16) store(round_if(h.to_bf16, load(o + i)), o + i);
  const F16 factor = set(inverse_norm(o, dim, static_cast<float>(dim), h.shape->norm_eps));
  for (int64_t i = 0; i < dim; i += 16) {
    const int64_t n = dim - i;
    const F16 normed = round_if(h.to_bf16, mul(load(o + i), factor));
    const F16 weighted = round_if(h.to_bf16, mul(load_n(h.norm_weight + i, n), normed));
    store_n(round_if(h.to_bf16, mul(weighted, silu(load_n(z + i, n)))), n, out + i);
  }
}

void advance_head(const DeltaNetHead& h, const DeltaNetScratch& scratch) {
  const int64_t key_dim = h.shape->key_dim, value_dim = h.shape->value_dim, padded = round_up_16(value_dim);
  if (h.rows == 0) return;
  if (h.from_zero) std::fill_n(h.state, key_dim * value_dim, 0.0F);
  float* state = h.state;
  if (padded != value_dim) {
    state = scratch.state;
    std::fill_n(state, key_dim * padded, 0.0F);
    for (int64_t i = 0; i < key_dim; ++i) std::copy_n(h.state + i * value_dim, value_dim, state + i * padded);
  }
  for (int64_t first = 0; first < h.rows; first += 64) {
    const int64_t rows = std::min<int64_t>(64, h.rows - first);
    alignas(64) float beta[64], g[64];
    gates(h, first, rows, beta, g);
    if (h.prefill) {
      chunk(h, first, rows, beta, g, state, scratch);
    } else {
      for (int64_t i = 0; i < rows; i += 16) store(exp(load(g + i)), g + i);
      recurrence(h, first, rows, beta, g, state, scratch.out);
    }
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t offset = (first + row) * h.z_stride;
      gated_norm(h, scratch.out + row * padded, h.z + offset, h.out + offset);
    }
  }
  if (padded != value_dim) {
    for (int64_t i = 0; i < key_dim; ++i) std::copy_n(state + i * padded, value_dim, h.state + i * value_dim);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::kernels {
namespace cpu {

HWY_EXPORT(convolve_head);
HWY_EXPORT(chunk_products);
HWY_EXPORT(advance_head);

namespace {

struct Chunk {
  const SequenceRows* sequence;
  int32_t first;
  int32_t rows;
};

/// The step's phases share these buffers.
struct DeltaNet {
  const Context& context;
  const GatedDeltaNetArgs& args;
  float* heads = nullptr;                // convolved q, k, v: [head][batch rows][padded dim]
  std::span<const Chunk> chunks;         // of all prefill sequences, in order
  const int64_t* first_chunk = nullptr;  // [sequences]
  float* products = nullptr;             // [chunks, key_heads, 2, 64, 64]

  static constexpr int64_t kProducts = 2LL * 64 * 64;

  [[nodiscard]] int64_t key_row() const { return round_up_16(args.shape.key_dim); }
  [[nodiscard]] int64_t value_row() const { return round_up_16(args.shape.value_dim); }
  [[nodiscard]] int64_t all_heads() const { return 2LL * args.shape.key_heads + args.shape.value_heads; }
  [[nodiscard]] float* slot(const SequenceRows& sequence) const {
    return args.states + sequence.state_slot * args.shape.state_floats();
  }
  /// Rows of one convolved head from batch row `row` on. Heads: q, then k, then v.
  [[nodiscard]] float* head_rows(int64_t head, int64_t row) const {
    const int64_t rows = args.batch->rows(), key_like = 2LL * args.shape.key_heads;
    if (head < key_like) return heads + (head * rows + row) * key_row();
    return heads + key_like * rows * key_row() + ((head - key_like) * rows + row) * value_row();
  }

  void convolve() const;
  void multiply_chunks() const;
  void advance() const;
};

void DeltaNet::convolve() const {
  Workspace::Frame frame(*context.workspace);
  const DeltaNetShape& shape = args.shape;
  const int64_t taps_length = (shape.conv_width + 1) * std::max(key_row(), value_row());
  float* taps = frame.take<float>(static_cast<size_t>(taps_length * context.pool->size()));
  const auto convolve_one = HWY_DYNAMIC_DISPATCH(convolve_head);
  const auto sequences = static_cast<int64_t>(args.batch->sequences.size());
  parallel_ranges(context, sequences * all_heads(), [&](int64_t begin, int64_t end, int thread) {
    for (int64_t index = begin; index < end; ++index) {
      const SequenceRows& sequence = args.batch->sequences[static_cast<size_t>(index / all_heads())];
      const int64_t head = index % all_heads(), key_like = 2LL * shape.key_heads;
      const bool is_value = head >= key_like;
      if (sequence.rows == 0) continue;
      convolve_one(
          {.args = &args,
           .sequence = &sequence,
           .channel = is_value ? key_like * shape.key_dim + (head - key_like) * shape.value_dim : head * shape.key_dim,
           .dim = is_value ? shape.value_dim : shape.key_dim,
           .to_bf16 = context.compute == Compute::bf16,
           .normalise = !is_value,
           .scale = head < shape.key_heads ? 1.0F / std::sqrt(static_cast<float>(shape.key_dim)) : 1.0F,
           .inputs = slot(sequence) + int64_t{shape.value_heads} * shape.key_dim * shape.value_dim,
           .taps = taps + taps_length * thread,
           .out = head_rows(head, sequence.first_row)});
    }
  });
}

void DeltaNet::multiply_chunks() const {
  Workspace::Frame frame(*context.workspace);
  const DeltaNetShape& shape = args.shape;
  const int64_t scratch_length = 64LL * shape.key_dim;
  float* scratch = frame.take<float>(static_cast<size_t>(scratch_length * context.pool->size()));
  const auto multiply = HWY_DYNAMIC_DISPATCH(chunk_products);
  parallel_ranges(context, static_cast<int64_t>(chunks.size()) * shape.key_heads,
                  [&](int64_t begin, int64_t end, int thread) {
                    for (int64_t index = begin; index < end; ++index) {
                      const Chunk& c = chunks[static_cast<size_t>(index / shape.key_heads)];
                      const int64_t head = index % shape.key_heads, row = c.sequence->first_row + c.first;
                      multiply(head_rows(head, row), head_rows(shape.key_heads + head, row), c.rows, shape.key_dim,
                               scratch + scratch_length * thread, products + index * kProducts);
                    }
                  });
}

void DeltaNet::advance() const {
  Workspace::Frame frame(*context.workspace);
  const DeltaNetShape& shape = args.shape;
  const auto threads = static_cast<size_t>(context.pool->size());
  const auto k = static_cast<size_t>(key_row()), v = static_cast<size_t>(value_row());
  DeltaNetScratch* scratch = frame.take<DeltaNetScratch>(threads);
  for (size_t i = 0; i < threads; ++i) {
    scratch[i] = {.state = frame.take<float>(k * v),
                  .u = frame.take<float>(64 * v),
                  .out = frame.take<float>(64 * v),
                  .key = frame.take<float>(64 * k),
                  .mix_u = frame.take<float>(64 * 64),
                  .mix_out = frame.take<float>(64 * 64)};
  }
  const auto advance_one = HWY_DYNAMIC_DISPATCH(advance_head);
  const auto sequences = static_cast<int64_t>(args.batch->sequences.size());
  const int64_t value_stride = int64_t{shape.value_heads} * shape.value_dim;
  parallel_ranges(
      context, sequences * shape.value_heads,
      [&](int64_t index, int64_t, int thread) {
        const int64_t s = index / shape.value_heads, head = index % shape.value_heads;
        const SequenceRows& sequence = args.batch->sequences[static_cast<size_t>(s)];
        const int64_t key_head = head / (shape.value_heads / shape.key_heads), row = sequence.first_row;
        const int64_t gate = row * shape.value_heads + head, output = row * value_stride + head * shape.value_dim;
        advance_one({.shape = &shape,
                     .rows = sequence.rows,
                     .prefill = sequence.row_class == RowClass::prefill,
                     .from_zero = sequence.first_position == 0,
                     .to_bf16 = context.compute == Compute::bf16,
                     .query = head_rows(key_head, row),
                     .key = head_rows(shape.key_heads + key_head, row),
                     .value = head_rows(2LL * shape.key_heads + head, row),
                     .products = products + (first_chunk[s] * shape.key_heads + key_head) * kProducts,
                     .products_stride = shape.key_heads * kProducts,
                     .b = args.b + gate,
                     .a = args.a + gate,
                     .a_log = args.a_log[head],
                     .dt_bias = args.dt_bias[head],
                     .z = args.z + output,
                     .norm_weight = args.norm_weight,
                     .z_stride = value_stride,
                     .state = slot(sequence) + head * shape.key_dim * shape.value_dim,
                     .out = args.out + output},
                    scratch[thread]);
      },
      1);
}

}  // namespace
}  // namespace cpu

void gated_delta_net(const Context& context, const GatedDeltaNetArgs& args) {
  using namespace cpu;
  const DeltaNetShape& shape = args.shape;
  const Batch& batch = *args.batch;
  TESSERA_CHECK_EQ(shape.value_heads % shape.key_heads, 0);
  if (batch.rows() == 0) return;

  Workspace::Frame frame(*context.workspace);
  int64_t* first_chunk = frame.take<int64_t>(batch.sequences.size());
  Chunk* chunks = frame.take<Chunk>(static_cast<size_t>(batch.rows()));
  size_t count = 0;
  for (size_t s = 0; s < batch.sequences.size(); ++s) {
    const SequenceRows& sequence = batch.sequences[s];
    first_chunk[s] = static_cast<int64_t>(count);
    if (sequence.row_class == RowClass::decode) continue;
    TESSERA_CHECK_EQ(sequence.first_position % kBlockTokens, 0);
    for (int32_t first = 0; first < sequence.rows; first += kBlockTokens) {
      chunks[count++] = {&sequence, first, std::min(kBlockTokens, sequence.rows - first)};
    }
  }
  DeltaNet net{.context = context, .args = args, .chunks = {chunks, count}, .first_chunk = first_chunk};
  const auto row_floats =
      static_cast<size_t>(2 * shape.key_heads * net.key_row() + shape.value_heads * net.value_row());
  net.heads = frame.take<float>(static_cast<size_t>(batch.rows()) * row_floats);
  net.products = frame.take<float>(count * static_cast<size_t>(shape.key_heads * DeltaNet::kProducts));
  net.convolve();
  net.multiply_chunks();
  net.advance();
}

}  // namespace tessera::kernels
#endif
